"""There is too little, or a number is never handed out, or the kubelet does not survive it: in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numalign.analysis.reasons.asked import MAX_NODES_NAMED, Spread
from numalign.kubelet.releases import NEWEST_TEXT
from numalign.kubelet.topology.options import PREFER_CLOSEST
from numalign.model.quantity import of_thousandths, parse, readable_near, value, with_decimals
from numalign.model.resources import CPU, NATIVE, is_hugepages, page_size, unit_of
from numalign.render.text.amounts import amount_text, bytes_text, listed, nodes_text
from numalign.render.text.words.asked import (
    all_devices,
    amounts_of,
    asked_text,
    each_node,
    how_many,
    left_text,
    names_text,
    own_text,
    verb_text,
)
from numalign.render.text.written import Written, written

if TYPE_CHECKING:
    from numalign.analysis.in_the_way import Amount
    from numalign.analysis.reasons import facts

BUG = f"the kubelet crashes over that (a bug, still there in {NEWEST_TEXT})"

MILLI_OF_CPU = 1000
"""Thousandths, in which the fit check counts CPUs."""


def missing(one: facts.Missing) -> str:
    """Say which nodes lack what the kubelet looks up there."""
    have = "has" if one.nodes.bit_count() == 1 else "have"
    who = f"only {nodes_text(one.nodes)} {have} any, not {nodes_text(one.others)}"
    which = who if one.nodes else "no NUMA node of this machine has any"
    return f"{one.resource}: {amount_text(one.resource, one.amount)} asked by {listed(one.names)}, {which}, and {BUG}"


def no_distance(one: facts.NoDistance) -> str:
    """Say that ids of nodes go beyond the lists of distances."""
    return (
        f"option {PREFER_CLOSEST} looks distances up by the id of a NUMA node, the ids of this machine "
        f"({nodes_text(one.nodes)}) go beyond its lists of distances, and {BUG}"
    )


def no_node_chosen(_: facts.NoNodeChosen) -> str:
    """Say that memory is to come from no node."""
    return f"memory is to come from the NUMA nodes that were chosen, none were, and {BUG}"


def node_too_small(one: facts.NodeTooSmall) -> str:
    """Say what the node as a whole lacks, in the units in which people ask for it, and who asks for how much of it."""
    asked, left = one.asked, max(one.capacity - one.used, 0)
    say: Written = of_thousandths
    if asked.resource != CPU:
        sums = {one.used: (one.capacity, -left)} if max(asked.amount, one.used) <= one.capacity else {}
        pairs, each = [(asked.amount, one.capacity), (asked.amount, left)], [amount for _, amount in asked.parts]
        there = [one.used, one.capacity, left]
        say = written(asked.resource, there, [asked.amount], parts=each, pairs=pairs, sums=sums)
    text, used, capacity = asked_text(asked, say), say(one.used), say(one.capacity)
    if not one.capacity:
        return f"{text}, and the node has none{_how_to_add(asked.resource, one.hint)}"
    if asked.amount > one.capacity:
        return f"{text}, and the node has {capacity}{f', of which other pods ask for {used}' * bool(one.used)}"
    whole = asked.resource == CPU and not asked.amount % MILLI_OF_CPU and left % MILLI_OF_CPU
    rest = f", which leaves {say(left)}{f': {left // MILLI_OF_CPU} whole' * bool(whole)}"
    return f"{text}, {used} of the node's {capacity} requested by other pods{rest}"


def taken_text(one: Amount) -> str:
    """Say how much of a node other pods ask for: `25 of 30`."""
    used, there = (nano // unit_of(one.resource) for nano in (one.used, one.capacity))
    say = as_taken(one.resource, used, there)
    return f"{say(used)} of {say(there)}"


def as_taken(resource: str, used: int, capacity: int) -> Written:
    """Choose how to write what other pods ask for, as the fit check counts it: it adds up with what they leave."""
    if resource == CPU:
        return of_thousandths
    return written(resource, [used, capacity, capacity - used], sums={used: (capacity, used - capacity)})


def node_refuses(one: facts.NodeRefuses) -> str:
    """Say in the kubelet's own words that the node does not want a pod."""
    return f"{one.reason}: {one.message}"


def no_whole_bytes(one: facts.NoWholeBytes) -> str:
    """An amount that the Memory Manager cannot hold."""
    return (
        f"{one.resource}: {with_decimals(one.nano)} of container {one.container} is not read as a whole number of "
        f"bytes, and the Memory Manager takes no other: write {' or '.join(readable_near(one.nano)) or 'less'}"
    )


def odd_cores(one: facts.OddCores) -> str:
    """Say that a number of CPUs is no whole cores, and which numbers next to it are."""
    text = f"{_cpus_asked(one)}, but full-pcpus-only gives out whole cores of {one.threads} threads"
    others = " and ".join(
        f"the {cpus} of {name}{f' (ask for {_near(cpus, one.threads)})' * (cpus != one.amount)}"
        for name, cpus in one.others
    )
    advice = f": ask for {_near(one.amount, one.threads)}{f'; the same goes for {others}' * bool(others)}"
    return f"{text}{advice * one.advised}"


def cores_taken(one: facts.CoresTaken) -> str:
    """Say how many CPUs `full-pcpus-only` finds free."""
    asked, single, free = _cpus_asked(one), one.threads == 1, one.free
    if one.left is not None:
        any_number = " (cores have 1 thread here, so any number is whole)" * single
        finds = f"full-pcpus-only finds {free or 'none'} free"
        return f"{asked}; {finds}, and does not count the {one.left.amount} that {left_text(one.left)}{any_number}"
    if single:
        return f"{asked}, {f'{free} free {one.when}, ' * (free is not None)}{one.total} on an empty machine"
    only = "counts only free CPUs on cores without a reserved CPU, on any node"
    now = f"{free} {one.when}, " * (free is not None)
    return f"{asked}, but full-pcpus-only {only}: {now}{one.total} on an empty machine"


def _cpus_asked(one: facts.OddCores | facts.CoresTaken) -> str:
    return f"cpu: {one.amount} asked{f' by {one.by}' * (one.by is not None)}"


def _near(cpus: int, threads: int) -> str:
    """Write the numbers of CPUs next to one that are whole cores."""
    below = cpus - cpus % threads
    return f"{below} or {below + threads}" if below else str(threads)


def none_there(one: facts.NoneThere) -> str:
    """Say that the machine has none."""
    text = asked_text(one.asked, amounts_of(one.asked, Spread(0, 0)))
    return f"{text}, and this machine has none to give on any node{_how_to_add(one.asked.resource, one.hint)}"


def _how_to_add(resource: str, amount: int) -> str:
    """Say how a node gets a resource of which it has none."""
    if not is_hugepages(resource):
        return "" if resource in NATIVE else " (a device plugin has to offer healthy ones)"
    size = page_size(resource)
    pages = -(-amount // value(parse(size)))
    boot = f"boot it with hugepagesz={size.removesuffix('i')} and hugepages={pages} at least"
    return f"; to have them, {boot}, which takes {bytes_text(pages * value(parse(size)))} off its memory" * bool(amount)


def too_little(one: facts.TooLittle) -> str:
    """Say that there is not enough on the whole machine."""
    asked, had = one.asked, one.had
    say = amounts_of(asked, had)
    text, never = asked_text(asked, say, one.too), f"the whole machine never has more than {say(had.total)}"
    if one.when == "ever":
        return f"{text}, {never}{_where_ever(had, say)}"
    then, each, by_the_pod = " then" * (one.when == "then"), each_node(had, say), _by_the_pod(one, say)
    free = f"{say(had.free)} free"
    if one.left and not had.free:
        leave = f"{names_text(one.leavers)} {verb_text('leave', one.leavers)}"
        free, by_the_pod = f"only the {say(had.left)} that {leave} to it", ""
    elif one.left:
        by_the_pod = f", {say(had.left)} of it left by {names_text(one.leavers)}"
        say_all = amounts_of(asked, one.there)
        free, each = f"{say_all(one.there.free)} for it", each_node(one.there, say_all)
    if one.never:
        now = f", and has {free} {one.when}{by_the_pod}"
        has = f"{never}{now * one.free_too}"
    else:
        has = f"the whole machine has {free}{then}{by_the_pod}"
    apart = ", but that may not be put together" * (had.free + had.left >= asked.amount)
    return f"{text}, {has}{apart} ({each})"


def _where_ever(had: Spread, say: Written) -> str:
    """List what the nodes ever have, of several or of devices that lie on none or on several."""
    if had.loose is not None:
        return f" ({all_devices(had.loose)})"
    if not 1 < len(had.places) <= MAX_NODES_NAMED:
        return ""
    return f" ({', '.join(f'node {one.node}: {say(one.total)}' for one in had.places)})"


def _by_the_pod(one: facts.TooLittle, say: Written) -> str:
    """Say what the pod's own containers have to do with what is free: what they leave to each other, or hold."""
    if one.leavers:
        leave = f"{names_text(one.leavers)} {verb_text('leave', one.leavers)}"
        return f" besides the {say(one.had.left)} that {leave} to it"
    others = f" and other pods hold {say(one.others)}" if one.others > 0 else ""
    return f"{own_text(one.own, say)}{others}"


def enough_in_all(one: facts.EnoughInAll) -> str:
    """Say where it is free."""
    say = amounts_of(one.asked, one.had)
    then = " then" * (one.when == "then")
    return f"{asked_text(one.asked, say, one.too)}, {say(one.had.free)} free in all{then} ({each_node(one.had, say)})"


def placed(one: facts.Placed) -> str:
    """Say how many of the devices that lie on known nodes are free."""
    there = f"{one.free} of {one.total} free on known nodes" if one.total else "none on a known node"
    return f"{asked_text(one.asked, str, one.too)}, {there}; policy {one.policy} counts no others"


def unplaced(one: facts.Unplaced) -> str:
    """Say that free devices of no known node do not count."""
    if one.short:
        return f"{one.resource}: those of no known node do not count, as told above"
    ids = f"NUMA node{'s' * (len(one.told) > 1)} {', '.join(map(str, one.told))}"
    if one.misplaced:
        which = f"the plugin puts them on {ids}, which this machine does not have"
        return f"{one.resource}: {which}, so policy {one.policy} takes none of them"
    wrong = f" (the plugin names {ids}, which this machine does not have)" if one.told else ""
    have = f"{one.free} of the free ones {'has' if one.free == 1 else 'have'} no known NUMA node{wrong}"
    there = how_many(one.placed, one.total)
    return f"{one.resource}: {have}; policy {one.policy} counts only devices whose node is known: {there}"


def chosen_elsewhere(one: facts.ChosenElsewhere) -> str:
    """Say why what is free may not be used."""
    if one.nodes is None:
        return f"{one.resource}: but it is not free on the nodes where the container's other resources have to be"
    return f"{one.resource}: but it has to come from {nodes_text(one.nodes)}, chosen for what else the pod asks for"
