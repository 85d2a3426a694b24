"""Small regular machines for tests of what looks at the whole node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numalign.model.machine import Machine, NUMANode, Unit

GI = 1 << 30


def regular(
    nodes: int = 2,
    cores: int = 4,
    threads: int = 2,
    memory: int = 32 * GI,
    hugepages: Mapping[str, int] | None = None,
    distances: bool = True,
    **more: Any,
) -> Machine:
    """Build a machine: a socket each node, sibling threads numbered after all cores."""
    total = nodes * cores
    core_sets = [sum(1 << core + thread * total for thread in range(threads)) for core in range(total)]
    node_sets = [sum(core_sets[node * cores : (node + 1) * cores]) for node in range(nodes)]
    return Machine(
        "regular",
        tuple(
            NUMANode(
                node,
                cpus,
                memory,
                hugepages or {},
                tuple(10 if node == other else 20 for other in range(nodes)) if distances else None,
            )
            for node, cpus in enumerate(node_sets)
        ),
        tuple(Unit(node, cpus) for node, cpus in enumerate(node_sets)),
        tuple(core_sets),
        **more,
    )
