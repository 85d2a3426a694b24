"""An admission as a picture, and as one HTML page: the picture, and below it what the table says."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from numalign.render.page.document import Document, plain
from numalign.render.picture.occupants import draw_occupants
from numalign.render.text.admit import admit_document

if TYPE_CHECKING:
    from numalign.results.admit import AdmitResult


def admit_picture(result: AdmitResult) -> str:
    """Draw who sits where, as SVG."""
    return draw_occupants(result)


def admit_page(result: AdmitResult, origin: str) -> str:
    """Write a page that needs nothing else: no script, no style sheet, no picture from elsewhere."""
    return page(result, admit_document(result, origin))


def page(result: AdmitResult, document: Document) -> str:
    """Write a page of the picture, and a document below it."""
    picture = draw_occupants(result).partition("\n")[2]
    name = escape(result.setup.machine.name)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>numalign: {name}</title></head>\n'
        f"<body>\n{picture}<pre>{escape(plain(document))}</pre>\n</body>\n</html>\n"
    )
