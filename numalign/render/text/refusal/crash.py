"""The kubelet does not survive a pod: what to do first, who asks for what, and what the machine does not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from numalign.kubelet.topology.options import PREFER_CLOSEST
from numalign.render.text.amounts import amount_text, listed, nodes_text

if TYPE_CHECKING:
    from numalign.analysis.crash import Crash, Missing

BUG = "the kubelet crashes over that (a bug, still there in 1.36)"


def first_of_all(crash: Crash) -> str:
    """Say what an operator does about it before anything else."""
    again = "hangs again" if crash.kind == "endless" else "crashes again"
    return f"first of all: delete the pod or keep it off this node; a kubelet that comes up again meets it and {again}"


def not_survived(crash: Crash) -> Iterator[str]:
    """Say what the kubelet falls over."""
    for one in crash.missing:
        yield _missing(one, crash.nodes)
    if crash.kind == "distances":
        yield (
            f"option {PREFER_CLOSEST} looks distances up by the id of a NUMA node, the ids of this machine "
            f"({nodes_text(crash.nodes)}) go beyond its lists of distances, and {BUG}"
        )
    elif crash.kind == "no-nodes":
        yield f"memory is to come from the NUMA nodes that were chosen, none were, and {BUG}"


def _missing(one: Missing, nodes: int) -> str:
    have = "has" if one.nodes.bit_count() == 1 else "have"
    who = f"only {nodes_text(one.nodes)} {have} any, not {nodes_text(nodes & ~one.nodes)}"
    which = who if one.nodes else "no NUMA node of this machine has any"
    asked = f"{amount_text(one.resource, one.requested)} asked by {listed(one.containers)}"
    return f"{one.resource}: {asked}, {which}, and {BUG}"
