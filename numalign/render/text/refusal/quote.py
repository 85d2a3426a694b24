"""What the kubelet's own words about a refusal mean: its numbers, and what its managers did not find."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numalign.kubelet.memory.allocate import GROUP_BROKEN, NO_DEFAULT
from numalign.model.resources import CPU
from numalign.render.text.amounts import listed, nodes_text

if TYPE_CHECKING:
    from numalign.analysis.refusal import Refusal


def meant(refusal: Refusal) -> str:
    """Say what a message means whose numbers are not those of the request, or that names no resource; else nothing."""
    numbers = numbers_text(refusal)
    if numbers or refusal.stage != "allocation":
        return numbers
    chosen, lacking = refusal.around.chosen or 0, refusal.around.lacking
    several = chosen & (chosen - 1)
    nodes = refusal.matrix.nodes if refusal.matrix is not None else ()
    if chosen and lacking:
        more = chosen.bit_count() < len(nodes)
        where = nodes_text(chosen) + ", chosen for it," * more
        there = f"{where} {'have' if several else 'has'} too little {listed(lacking)} free"
        them = "these" if several else "it"
        return f"that is: {there}{f', and combining {them} with other nodes does not help' * more}"
    if NO_DEFAULT in refusal.message and len(nodes) > 1:
        return "that is: no node has all the memory that it asks for free, nor have nodes that may be combined"
    if several and GROUP_BROKEN in refusal.message:
        return f"that is: {nodes_text(chosen)}, chosen for it, may not be combined, as memory of them is held already"
    return ""


def numbers_text(refusal: Refusal) -> str:
    """Say what the numbers in the kubelet's message are, where they are not those of the request; empty: they are."""
    found = refusal.rest
    if found is None:
        return ""
    if found.taken:
        return f"by then {' and '.join(f'{name} of this pod had taken {amount}' for name, amount in found.taken)}"
    several = found.nodes & (found.nodes - 1)
    whose = f"the socket{'s' * (found.sockets > 1)} of " * bool(found.sockets)
    first = f"{whose}{nodes_text(found.nodes)}, chosen for it," if found.nodes else "init containers"
    gave = "gives" if found.sockets == 1 or (found.nodes and not found.sockets and not several) else "give"
    asked = f"what is still missing of the {found.requested} {found.resource} that container {found.container} asks for"
    word = "requested=" if found.resource == CPU else "Requested: "
    return f"{word}{found.left} is {asked}: {first} {gave} {found.requested - found.left} first"
