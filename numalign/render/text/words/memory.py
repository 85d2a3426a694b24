"""Memory that is held, and what the pod's own containers hold, leave or request together: in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from numalign.analysis.reasons import facts, memory_facts
from numalign.analysis.reasons.asked import MAX_NODES_NAMED
from numalign.model.resources import is_bytes
from numalign.model.words import few_of
from numalign.render.text.amounts import amount_of, amount_text, listed, nodes_count, nodes_text
from numalign.render.text.words.asked import Writers, all_devices, left_text, names_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numalign.analysis.memory_together import Group

MAX_PODS_NAMED = 3
"""How many pods are named that hold the memory of some nodes."""


def memory_held(one: memory_facts.MemoryHeld) -> str:
    """Say which nodes' memory is held, and by whom."""
    texts = list(map(_group, one.groups[:MAX_NODES_NAMED]))
    more = len(one.groups) - MAX_NODES_NAMED
    held = f"{', '.join(texts)} and {more} more" if more > 0 else listed(texts)
    return f"Memory is held on {held}. {_rule([group.nodes for group in one.groups])}"


def _group(one: Group) -> str:
    own = f"{names_text(one.own)} of this pod" if one.own else ""
    who = " and ".join(filter(None, [few_of(one.pods, MAX_PODS_NAMED), own])) or "pods that have ended"
    return f"{nodes_text(one.nodes)}{' together' * bool(one.nodes & (one.nodes - 1))} (by {who})"


def _rule(groups: Sequence[int]) -> str:
    """Say what follows for the nodes whose memory is held (docs/rules/memory-manager.md 23)."""
    alone = [mask for mask in groups if not mask & (mask - 1)]
    if not alone:
        return "The Memory Manager uses a group only as a whole."
    if len(alone) < len(groups):
        return "The Memory Manager combines no NUMA node in single use with others, and splits no group."
    return "The Memory Manager combines no NUMA node in single use with others."


def one_node(one: memory_facts.OneNode) -> str:
    """Say what the policy does where no nodes are bound to each other."""
    return f"{one.policy} takes all of it from 1 NUMA node."


def has_to_fit(one: memory_facts.HasToFit) -> str:
    """Say which nodes' memory may be used together, and how much of it is free."""
    places = []
    for mask, free in one.sets[:MAX_NODES_NAMED]:
        texts = (f"{amount_of(asked.resource, each)}" for asked, each in zip(one.asked, free, strict=True))
        places.append(f"{nodes_text(mask)} ({', '.join(texts)} free)")
    more = ", …" if len(one.sets) > MAX_NODES_NAMED else ""
    return f"The request must fit on {' or '.join(places)}{more}."


def chosen_before(one: memory_facts.ChosenBefore) -> str:
    """Say that nodes had been chosen before the memory."""
    which = " or ".join(map(nodes_text, one.nodes[:MAX_NODES_NAMED])) or "Each of these"
    return f"{which} has enough, but the kubelet chose {nodes_text(one.chosen)} for all resources first."


def too_many(one: memory_facts.TooMany) -> str:
    """Say that nodes are more than a container needs; the kubelet takes memory from no more than that."""
    enough = "is" if one.width == 1 else "are"
    return (
        f"{nodes_text(one.nodes)} have enough, but the kubelet takes as few NUMA nodes as possible. "
        f"For container {one.container} {one.width} {enough} enough on an empty node."
    )


def short_there(one: memory_facts.ShortThere) -> str:
    """Say what the nodes chosen for a container have of its memory."""
    held = listed([f"{name} holds {amount_text(one.resource, amount)}" for name, amount in one.own])
    return (
        f"{one.resource}: {amount_text(one.resource, one.amount, up=True)} requested by container {one.container}, "
        f"{amount_text(one.resource, one.free)} free on {nodes_text(one.chosen)}, the chosen NUMA "
        f"node{'s' * bool(one.chosen & (one.chosen - 1))}{f' ({held})' * bool(held)}"
    )


def left_counts(_: memory_facts.LeftCounts) -> str:
    """Say where what init containers leave counts."""
    return "Memory that init containers leave does not count for the hints, only for the allocation."


def looked_again(one: memory_facts.LookedAgain) -> str:
    """Say that the kubelet looks for other nodes."""
    return f"The kubelet looks for other NUMA nodes, with {nodes_text(one.chosen)} among them."


def sum_too_large(one: memory_facts.SumTooLarge) -> str:
    """Say what containers together request, and which of them request less already."""
    name = one.resource
    parts = " + ".join(f"{each} {amount_text(name, amount, up=True)}" for each, amount in one.parts)
    asked = f"containers request {amount_text(name, one.amount, up=True)} ({parts})"
    if one.less:
        less = listed([f"{amount_text(name, amount, up=True)} in {each}" for each, amount in one.less])
        asked = f"with {less}, {asked}"
    where = f" ({all_devices(one.loose)})" if one.loose is not None else ""
    return f"{name}: {asked}, {amount_text(name, one.capacity)} on the machine{where}"


def held_by_own(one: memory_facts.HeldByOwn) -> str:
    """Say which earlier containers of the pod hold some of it."""
    held = listed([f"{name} {amount_text(one.resource, amount)} on {nodes_text(at)}" for name, amount, at in one.held])
    return f"{one.resource}: earlier containers of this pod hold some ({held})"


def left_by_init(one: memory_facts.LeftByInit) -> str:
    """Say what init containers leave of one resource, and what follows; the sum, where it does not do."""
    left, free, nodes, name = one.left, one.free, nodes_text(one.left.nodes), one.resource
    leave = left_text(left, amount_of(name, left.amount))
    text = f"{leave[0].upper()}{leave[1:]}{f' on {nodes}' * one.there} to later containers"
    if not is_bytes(name):
        return f"{text}, which must use {nodes}." if one.there else f"{text}."
    total = ""
    if free is not None:
        asked, both = amount_text(name, one.amount, up=True), amount_text(name, free + left.amount)
        total = f" {amount_text(name, free)} + {amount_text(name, left.amount)} = {both}, {asked} requested."
    but = f" Needed: {nodes_count(one.width)}, not {left.nodes.bit_count()}." * bool(one.width)
    return f"{text}, usable only with free memory of {nodes}.{but}{total}"


def same_goes(one: facts.SameGoes) -> str:
    """Say that a sentence is true of another resource."""
    return f"The same is true of {one.name}."


WRITERS: Final[Writers] = {
    memory_facts.ChosenBefore: chosen_before,
    memory_facts.HasToFit: has_to_fit,
    memory_facts.HeldByOwn: held_by_own,
    memory_facts.LeftByInit: left_by_init,
    memory_facts.LeftCounts: left_counts,
    memory_facts.LookedAgain: looked_again,
    memory_facts.MemoryHeld: memory_held,
    memory_facts.OneNode: one_node,
    facts.SameGoes: same_goes,
    memory_facts.ShortThere: short_there,
    memory_facts.SumTooLarge: sum_too_large,
    memory_facts.TooMany: too_many,
}
