"""The nodes of a cluster as a table."""

from __future__ import annotations

from collections.abc import Sequence

from numalign.render.page.document import Document, Line, Table
from numalign.render.text.amounts import amount_text
from numalign.results.nodes import NodeLine

COLUMNS = ("NODE", "POLICY", "SCOPE", "PODS", "FREE ON EACH NUMA NODE")


def nodes_document(nodes: Sequence[NodeLine]) -> Document:
    """Lay the nodes out."""
    rows = tuple((one.name, one.policy or "-", one.scope or "-", str(one.pods), _free(one)) for one in nodes)
    unknown = sum(one.policy is None for one in nodes)
    document: list[Line | Table] = [Table(COLUMNS, rows, frozenset({"PODS"}))]
    if unknown:
        document += [Line(), Line(f"{unknown} of {len(nodes)} nodes publish no topology object", "warn")]
    return document


def _free(node: NodeLine) -> str:
    if node.policy is None:
        return "unknown"
    zones = []
    for zone, amounts in node.free.items():
        told = ", ".join(f"{amount_text(name, amount)} {name.rpartition('/')[2]}" for name, amount in amounts.items())
        zones.append(f"{zone}: {told or 'nothing'}")
    return "; ".join(zones)
