"""An admission as a picture, and as one HTML page: the picture, and below it what the table says."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from numalign.render.page.document import Document, plain
from numalign.render.picture.occupants import draw_occupants, draw_scenes
from numalign.render.text.admit import admit_document

if TYPE_CHECKING:
    from numalign.results.admit import AdmitResult
    from numalign.results.compare import Scene


def admit_picture(result: AdmitResult) -> str:
    """Draw who sits where, as SVG."""
    return draw_occupants(result)


def scenes_text(output: str, scenes: Sequence[Scene], document: Document) -> str:
    """Draw several nodes one below the other, as `svg`; as `html` with a document below them."""
    picture = draw_scenes(scenes)
    names = dict.fromkeys(scene.result.setup.machine.name for scene in scenes if scene.result)
    return picture if output == "svg" else _page(picture, ", ".join(names), document)


def admit_page(result: AdmitResult, origin: str) -> str:
    """Write a page that needs nothing else: no script, no style sheet, no picture from elsewhere."""
    return page(result, admit_document(result, origin))


def page(result: AdmitResult, document: Document) -> str:
    """Write a page of the picture, and a document below it."""
    return _page(draw_occupants(result), result.setup.machine.name, document)


def _page(picture: str, name: str, document: Document) -> str:
    drawing = picture.partition("\n")[2]  # without the XML declaration
    head = f'<meta charset="utf-8"><meta name="color-scheme" content="light"><title>numalign: {escape(name)}</title>'
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>{head}</head>\n'
        f"<body>\n{drawing}<pre>{escape(plain(document))}</pre>\n</body>\n</html>\n"
    )
