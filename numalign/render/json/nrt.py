"""What `nrt check` found, for programs, and the manifests that `nrt export` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from numalign.model.quantity import NANO
from numalign.render.json import Data, head, warnings
from numalign.scheduler.nrt.value import NodeResourceTopology, manifest

if TYPE_CHECKING:
    from numalign.errors import Notice
    from numalign.results.cluster import NRTCheckResult

FLOAT_BITS = 1000
"""A number of more bits, as only a hostile file has, loses its decimals: no float holds it."""


def check_json(result: NRTCheckResult, notices: Sequence[Notice]) -> Data:
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
                    {**found._asdict(), "published": _plain(found.published), "actual": _plain(found.actual)}
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


def manifests(objects: Sequence[NodeResourceTopology]) -> Data:
    """Write one object as it is, several as a List, as `kubectl apply` takes them."""
    written = [manifest(one) for one in objects]
    return written[0] if len(written) == 1 else {"apiVersion": "v1", "kind": "List", "items": written}
