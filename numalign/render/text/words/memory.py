"""Memory that is held, and what the pod's own containers hold, leave or ask for together: in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numalign.analysis.reasons.asked import MAX_NODES_NAMED
from numalign.model.resources import is_bytes
from numalign.render.text.amounts import amount_text, listed, nodes_text
from numalign.render.text.words.asked import all_devices, amounts_of, left_text, names_text
from numalign.render.text.written import written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numalign.analysis.memory_together import Group
    from numalign.analysis.reasons import facts

MAX_PODS_NAMED = 3
"""How many pods are named that hold the memory of some nodes."""


def memory_held(one: facts.MemoryHeld) -> str:
    """Say which nodes' memory is held, and by whom: `node 0 alone (by a) and nodes 1-2 together (by b)`."""
    texts = list(map(_group, one.groups[:MAX_NODES_NAMED]))
    more = len(one.groups) - MAX_NODES_NAMED
    held = f"{', '.join(texts)} and on {more} more" if more > 0 else listed(texts)
    return f"memory is held already on {held}, so {_rule([group.nodes for group in one.groups])}"


def _group(one: Group) -> str:
    names = ", ".join(one.pods[:MAX_PODS_NAMED])
    names += f" and {len(one.pods) - MAX_PODS_NAMED} more" if len(one.pods) > MAX_PODS_NAMED else ""
    own = f"this pod's own {names_text(one.own)}" if one.own else ""
    who = " and ".join(filter(None, [names, own])) or "pods that have ended"
    return f"{nodes_text(one.nodes)} {'together' if one.nodes & (one.nodes - 1) else 'alone'} (by {who})"


def _rule(groups: Sequence[int]) -> str:
    """Say what follows for the nodes whose memory is held (docs/rules/memory-manager.md 23)."""
    alone = [mask for mask in groups if not mask & (mask - 1)]
    if not alone:
        return "these are used only together" if len(groups) == 1 else "each of these is used only as a whole"
    if len(alone) < len(groups):
        return "a node held alone is not combined with others, and nodes held together are used only together"
    return "these cannot be combined" if len(alone) > 1 else f"{nodes_text(alone[0])} is not combined with another"


def one_node(one: facts.OneNode) -> str:
    """Say what the policy does where no nodes are bound to each other."""
    return f"policy {one.policy} takes all of it from one node"


def has_to_fit(one: facts.HasToFit) -> str:
    """Say which nodes' memory may be used together, and how much of it is free."""
    every = zip(one.asked, one.had, strict=True)
    says = [amounts_of(*both, [free[place] for _, free in one.sets]) for place, both in enumerate(every)]
    places = []
    for mask, free in one.sets[:MAX_NODES_NAMED]:
        texts = (f"{say(each)} {asked.resource}" for asked, say, each in zip(one.asked, says, free, strict=True))
        places.append(f"{nodes_text(mask)} ({', '.join(texts)} free)")
    one_of = "one of these: " * (len(places) > 1)
    return f"so what is asked has to fit {one_of}{', '.join(places)}{', …' * (len(one.sets) > MAX_NODES_NAMED)}"


def chosen_before(one: facts.ChosenBefore) -> str:
    """Say that nodes had been chosen before the memory."""
    which = " or ".join(map(nodes_text, one.nodes[:MAX_NODES_NAMED])) or "each of these"
    before = f"before the memory {nodes_text(one.chosen)} had been chosen for all that is asked"
    return f"{which} would do, but {before}, and memory is taken from there"


def too_many(one: facts.TooMany) -> str:
    """Say that nodes are more than a container needs; the kubelet takes memory from no more than that."""
    needs = "one node is" if one.width == 1 else f"{one.width} nodes are"
    return (
        f"{nodes_text(one.nodes)} would do, but the kubelet takes no more nodes than it must: for what container "
        f"{one.container} itself asks {needs} enough on an empty machine, and these are {one.nodes.bit_count()}"
    )


def short_there(one: facts.ShortThere) -> str:
    """Say what the nodes chosen for a container have of its memory."""
    say = written(one.resource, [one.free, *(amount for _, amount in one.own)], [one.amount])
    held = listed([f"{name} holds {say(amount)}" for name, amount in one.own])
    have = "have" if one.chosen & (one.chosen - 1) else "has"
    return (
        f"{one.resource}: container {one.container} asks for {say(one.amount)}, and {nodes_text(one.chosen)}, chosen "
        f"for it, {have} {say(one.free)} free{f', as {held}' * bool(held)}"
    )


def left_counts(_: facts.LeftCounts) -> str:
    """Say where what init containers leave counts."""
    return "what init containers leave does not count in this; it does in what follows"


def looked_again(one: facts.LookedAgain) -> str:
    """Say that the kubelet looks for other nodes."""
    return f"so nodes are looked for again, with {nodes_text(one.chosen)} among them"


def sum_too_large(one: facts.SumTooLarge) -> str:
    """Say what containers together ask for, and which of them ask for less already."""
    say = written(one.resource, [one.capacity], parts=[amount for _, amount in one.parts])
    parts = " + ".join(f"{name} {say(amount)}" for name, amount in one.parts)
    asked = f"the pod's containers together ask for {say(one.amount)} ({parts})"
    if one.less:
        less = listed([f"{amount_text(one.resource, amount)} in {name}" for name, amount in one.less])
        asked = f"with {less} still {say(one.amount)} ({parts})"
    where = f" ({all_devices(one.loose)})" if one.loose is not None else ""
    return f"{one.resource}: {asked}, and the machine never has more than {say(one.capacity)}{where}"


def held_by_own(one: facts.HeldByOwn) -> str:
    """Say which earlier containers of the pod hold some of it."""
    say = written(one.resource, [amount for _, amount, _ in one.held])
    held = ", ".join(f"{name} {say(amount)} on {nodes_text(nodes)}" for name, amount, nodes in one.held)
    return f"{one.resource}: the pod's own earlier containers hold some of it: {held}"


def left_by_init(one: facts.LeftByInit) -> str:
    """Say what init containers leave of one resource, and what follows; the sum, where it does not do."""
    left, free = one.left, one.free
    both = {} if free is None else {free + left.amount: (free, left.amount)}
    amounts = [left.amount, *both, *(() if free is None else (free,))]
    say, nodes = written(one.resource, amounts, [one.amount], sums=both), nodes_text(left.nodes)
    there = f" on {nodes}" * one.there
    text = f"{one.resource}: {left_text(left, say(left.amount))}{there} to the containers after it"
    if not is_bytes(one.resource):
        return f"{text}, which must use {nodes}, too" if there else text
    total = ""
    if free is not None:
        total = f": {say(free)} + {say(left.amount)} = {say(free + left.amount)}, {say(one.amount)} asked"
    takes = f"where it takes {'one' if one.width == 1 else one.width}"
    but = f": {left.nodes.bit_count()} nodes, {takes}" * bool(one.width)
    return f"{text}, to be used only with what is free on {nodes}{but}{total}"
