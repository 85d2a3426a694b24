"""The bundled machines, and the nodes of a cluster, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from numalign.render.page.document import Block, Document, Note, Paragraph, Table
from numalign.render.text.amounts import amount_text, bytes_text
from numalign.results.cluster import NodeLine

if TYPE_CHECKING:
    from numalign.results.about import BundledMachine


COLUMNS = ("NAME", "SOCKETS", "NUMA NODES", "CPUS", "MEMORY", "DEVICES", "DESCRIPTION")


def machines_document(machines: Sequence[BundledMachine]) -> Document:
    """Return the table of machines."""
    rows = tuple(
        (
            machine.name,
            str(len(machine.sockets)),
            str(len(machine.numa_nodes)),
            str(machine.cpus.bit_count()),
            bytes_text(machine.memory) if machine.memory else "unknown",
            ", ".join(f"{len(all_)} {name.rpartition('/')[2]}" for name, all_ in sorted(machine.devices.items()))
            or "-",
            about,
        )
        for machine, about in machines
    )
    hint = Note("For a machine file to edit, run: numalign machines NAME > machine.yaml", "dim")
    return [Table(COLUMNS, rows, frozenset(COLUMNS[1:5]), droppable=("SOCKETS", "DESCRIPTION")), Paragraph(), hint]


NODE_COLUMNS = ("NODE", "POLICY", "SCOPE", "PODS", "FREE ON EACH NUMA NODE")


def nodes_document(nodes: Sequence[NodeLine]) -> Document:
    """Lay the nodes out."""
    rows = tuple((one.name, one.policy or "-", one.scope or "-", str(one.pods), _free(one)) for one in nodes)
    unknown = sum(one.policy is None for one in nodes)
    document: list[Block] = [Table(NODE_COLUMNS, rows, frozenset({"PODS"}))]
    if unknown:
        document += [Paragraph(), Note(f"{unknown} of {len(nodes)} nodes publish no topology object", "warn")]
    return document


def _free(node: NodeLine) -> str:
    if node.policy is None:
        return "unknown"
    zones = []
    for zone, amounts in node.free.items():
        told = ", ".join(f"{amount_text(name, amount)} {name.rpartition('/')[2]}" for name, amount in amounts.items())
        zones.append(f"{zone}: {told or 'nothing'}")
    return "; ".join(zones)
