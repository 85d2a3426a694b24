"""What `nrt check` shows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from numalign.model.quantity import NANO
from numalign.notices import CODES
from numalign.render.page.document import Block, Cell, Document, Note, Paragraph, Style, Styled, Table
from numalign.render.text.amounts import amount_text, with_point

if TYPE_CHECKING:
    from numalign.results.cluster import CheckedNRT, NRTCheckResult
    from numalign.scheduler.nrt.differences import Difference

COLUMNS = ("WHAT", "FIELD", "PUBLISHED", "NOW")


def check_document(result: NRTCheckResult) -> Document:
    """Build a block an object: what differs, and what readers stumble over."""
    document: list[Block] = []
    for one in result.objects:
        document += [*([Paragraph()] if document else []), *_object(one)]
    return document


def _object(checked: CheckedNRT) -> Iterator[Block]:
    said, style = _verdict(checked)
    yield Note(f"{checked.name}: {said}", style)
    if checked.actual is not None and checked.actual.name != checked.name:
        yield Note(f"compared with {checked.actual.name}, the only known node", "dim")
    if checked.differences:
        yield Table(COLUMNS, tuple(_row(one) for one in checked.differences))
    for code, notices in groupby(checked.oddities, lambda one: one.code):
        for notice in notices:
            yield Note(f"{notice.path}: {notice.message}", "warn" if notice in checked.skipped else "dim")
        yield from [Paragraph(f"fix: {fix}", 2)] if (fix := CODES[code][1]) else []


def _verdict(checked: CheckedNRT) -> tuple[str, Style]:
    if checked.differences is None:
        return "no known node has this name, so only the object was checked", "warn"
    if checked.stale:
        return "outdated: the pods of the node have changed since", "bad"
    if checked.differences:
        return "outdated or wrong: the node would publish other values", "bad"
    if checked.skipped:
        return "correct values, but some readers do not see all of them", "warn"
    return "correct: the node would publish the same values", "good"


def _row(one: Difference) -> tuple[Cell, ...]:
    return (
        Styled(one.what, "bad"),
        one.path,
        *_values(one),
    )


def _values(one: Difference) -> list[str]:
    """Write both values so that one sees what differs: exactly where they look the same when rounded."""
    texts = [_value(one, value) for value in (one.published, one.actual)]
    alike = len({text.replace(".0", "") for text in texts}) == 1
    if not alike or not isinstance(one.published, int) or not isinstance(one.actual, int):
        return texts
    return [with_point(value, 9).rstrip("0").rstrip(".") for value in (one.published, one.actual)]


def _value(one: Difference, value: str | int | None) -> str:
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    resource = one.path.partition(".resources.")[2].removesuffix(".capacity")
    resource = resource.removesuffix(".allocatable").removesuffix(".available")
    return amount_text(resource, value // NANO)
