"""A plugin's preferred sets and their hints, for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numalign.model.cpuset import ids
from numalign.render.json import Data, head
from numalign.render.json.admit import hint_json
from numalign.render.page.document import Document, Line, Table
from numalign.render.text.amounts import nodes_text
from numalign.render.text.hint_policies import short_hint

if TYPE_CHECKING:
    from numalign.analysis.compare.preferred_sets import PreferredSets
    from numalign.kubelet.topology.hints import HintList

LABEL = "beyond the kubelet: GetPreferredAllocations as proposed in 2019"


def sets_document(found: PreferredSets) -> Document:
    """Lay the sets out in the plugin's order, and both hint lists below."""
    document: list[Line | Table] = [Line(LABEL, "dim"), Line()]
    if found.sets is None:
        document.append(Line(f"the plugin of {found.resource} prefers no set of {found.size}"))
    else:
        rows = tuple((",".join(names), nodes_text(mask)) for names, mask in found.sets)
        document.append(Table((f"{found.resource}, {found.size}", "NUMA NODES"), rows))
    return [
        *document,
        Line(),
        Table(
            ("HINTS", ""),
            (("as proposed", _hints(found.proposal, found)), ("in the kubelet", _hints(found.kubelet, found))),
        ),
    ]


def _hints(hints: HintList, found: PreferredSets) -> str:
    return " ".join(short_hint(hint, found.nodes) for hint in hints)


def sets_json(found: PreferredSets, machine: str) -> Data:
    """Write the sets and the hints for programs."""
    return {
        **head("PreferredSets"),
        "machine": machine,
        "resource": found.resource,
        "size": found.size,
        "sets": None
        if found.sets is None
        else [{"ids": list(names), "numaNodes": list(ids(mask))} for names, mask in found.sets],
        "hints": {
            "proposal": [hint_json(hint) for hint in found.proposal],
            "kubelet": [hint_json(hint) for hint in found.kubelet],
        },
        "warnings": [{"code": "beyond-preferred-allocation", "message": LABEL, "path": "--preferred-sets"}],
    }
