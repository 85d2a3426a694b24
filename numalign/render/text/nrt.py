"""What `nrt check` shows, and the manifests that `nrt export` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from numalign.model.quantity import NANO
from numalign.render.json import head, warnings
from numalign.render.page.document import Cell, Document, Line, Styled, Table
from numalign.render.text.amounts import amount_text, with_point
from numalign.scheduler.nrt.manifest import manifest

if TYPE_CHECKING:
    from numalign.errors import Notice
    from numalign.results.nrt import CheckedNRT, NRTCheckResult
    from numalign.scheduler.nrt.differences import Difference
    from numalign.scheduler.nrt.value import NodeResourceTopology

FLOAT_BITS = 1000
"""A number of more bits, as only a hostile file has, loses its decimals: no float holds it."""

COLUMNS = ("WHAT", "FIELD", "PUBLISHED", "NOW")


def manifests(objects: Sequence[NodeResourceTopology]) -> dict[str, object]:
    """Write one object as it is, several as a List, as `kubectl apply` takes them."""
    written = [manifest(one) for one in objects]
    return written[0] if len(written) == 1 else {"apiVersion": "v1", "kind": "List", "items": written}


def check_document(result: NRTCheckResult) -> Document:
    """Build a block an object: what differs, and what readers stumble over."""
    document: list[Line | Table] = []
    for one in result.objects:
        document += [*([Line()] if document else []), *_object(one)]
    return document


def _object(checked: CheckedNRT) -> Iterator[Line | Table]:
    yield Line(checked.name, "bold")
    if checked.actual is not None and checked.actual.name != checked.name:
        yield Line(f"held against {checked.actual.name}, the only node that is known", "dim")
    if checked.differences:
        yield Table(COLUMNS, tuple(_row(one) for one in checked.differences))
    for notice in checked.oddities:
        yield Line(f"{notice.path}: {notice.message}", "warn" if notice in checked.skipped else "dim")
    if checked.differences is None:
        yield Line("no node of this name is known, so only the object itself was checked", "warn")
    elif checked.stale:
        yield Line("stale: it was written when other pods were on the node", "bad")
    elif checked.differences:
        yield Line("not true: the node would publish other values", "bad")
    elif checked.skipped:
        yield Line("the values are the node's own, but not every reader sees them", "warn")
    else:
        yield Line("true: the node would publish the same", "good")


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


def check_json(result: NRTCheckResult, notices: Sequence[Notice]) -> dict[str, object]:
    """Write the result of `nrt check` for programs; amounts are whole units."""
    return {
        **head("NRTCheckResult"),
        "objects": [
            {
                "name": one.name,
                "known": one.differences is not None,
                "node": None if one.actual is None else one.actual.name,
                "true": one.true,
                "stale": one.stale,
                "differences": [
                    {
                        "what": found.what,
                        "path": found.path,
                        "published": _plain(found.published),
                        "actual": _plain(found.actual),
                    }
                    for found in one.differences or ()
                ],
                "oddities": [notice._asdict() for notice in one.oddities],
            }
            for one in result.objects
        ],
        "warnings": warnings(notices),
    }


def _plain(value: str | int | None) -> str | int | float | None:
    if not isinstance(value, int):
        return value
    exact = value % NANO == 0 or value.bit_length() > FLOAT_BITS
    return value // NANO if exact else value / NANO
