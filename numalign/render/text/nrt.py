"""What `nrt check` shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from numalign.model.quantity import NANO
from numalign.render.page.document import Block, Cell, Document, Note, Paragraph, Styled, Table, Title
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
    yield Title(checked.name)
    if checked.actual is not None and checked.actual.name != checked.name:
        yield Note(f"held against {checked.actual.name}, the only node that is known", "dim")
    if checked.differences:
        yield Table(COLUMNS, tuple(_row(one) for one in checked.differences))
    for notice in checked.oddities:
        yield Note(f"{notice.path}: {notice.message}", "warn" if notice in checked.skipped else "dim")
    if checked.differences is None:
        yield Note("no node of this name is known, so only the object itself was checked", "warn")
    elif checked.stale:
        yield Note("stale: it was written when other pods were on the node", "bad")
    elif checked.differences:
        yield Note("not true: the node would publish other values", "bad")
    elif checked.skipped:
        yield Note("the values are the node's own, but not every reader sees them", "warn")
    else:
        yield Note("true: the node would publish the same", "good")


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
