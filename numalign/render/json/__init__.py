"""What scripts read: JSON as promised in docs/json.md, as plain data for `json.dumps` and `yaml.dump`.

Here is what every document begins and ends with, and what several have inside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numalign.analysis.closeness import Neighbours
    from numalign.errors import Notice

Data = dict[str, Any]
"""An object of JSON; docs/json.md describes each."""


def head(kind: str) -> Data:
    """Begin a document: the version of its format, and its kind. Keys are only ever added to a kind."""
    return {"apiVersion": "numalign/v1", "kind": kind}


def warnings(notices: Iterable[Notice]) -> list[Data]:
    """Write what was said on standard error, too, for those who only read the document."""
    found = tuple(notices)
    if not found:
        return []
    from numalign.notices import with_fix

    return [with_fix(notice)._asdict() for notice in found]


def closeness_json(pairs: Iterable[Neighbours]) -> list[Data]:
    """Write how close devices are on the PCI bus, each with the nearest of another resource, and pairs of GPUs."""
    return [
        {
            "resource": pair.resource,
            "device": pair.device,
            "otherResource": pair.other_resource,
            "otherDevice": pair.other_device,
            "closeness": pair.closeness,
            **({"joined": pair.joined} if pair.joined is not None else {}),
        }
        for pair in pairs
    ]
