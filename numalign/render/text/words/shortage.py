"""There is too little, or a number is never allocated, or the kubelet does not survive it: in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from numalign.analysis.reasons import facts
from numalign.analysis.reasons.asked import MAX_NODES_NAMED, Spread
from numalign.kubelet.releases import NEWEST_TEXT
from numalign.kubelet.topology.options import PREFER_CLOSEST
from numalign.model.quantity import of_thousandths, parse, readable_near, value, with_decimals
from numalign.model.resources import CPU, NATIVE, is_hugepages, page_size, unit_of
from numalign.render.text.amounts import amount_of, amount_text, bytes_text, listed, nodes_text
from numalign.render.text.words.asked import (
    Writers,
    all_devices,
    asked_text,
    each_node,
    how_many,
    left_text,
    names_text,
    own_text,
    reduced_text,
)

if TYPE_CHECKING:
    from numalign.analysis.in_the_way import Amount

BUG = f"The kubelet crashes over this (a bug, also in {NEWEST_TEXT})."

MILLI_OF_CPU = 1000
"""Thousandths, in which the fit check counts CPUs."""


def missing(one: facts.Missing) -> str:
    """Say which nodes lack what the kubelet looks up there."""
    has = "has" if one.nodes.bit_count() == 1 else "have"
    which = f"only {nodes_text(one.nodes)} {has} any, not {nodes_text(one.others)}"
    which = which if one.nodes else "no NUMA node of this machine has any"
    amount = amount_text(one.resource, one.amount, up=True)
    return f"{one.resource}: {amount} requested by {listed(one.names)}, {which}. {BUG}"


def no_distance(one: facts.NoDistance) -> str:
    """Say that ids of nodes go beyond the lists of distances."""
    looks = f"Option {PREFER_CLOSEST} looks up distances by the id of a NUMA node."
    return f"{looks} The ids here ({nodes_text(one.nodes)}) are larger than the lists. {BUG}"


def no_node_chosen(_: facts.NoNodeChosen) -> str:
    """Say that memory is to come from no node."""
    return f"Memory must come from the chosen NUMA nodes, but the kubelet chose none. {BUG}"


def node_too_small(one: facts.NodeTooSmall) -> str:
    """Say what the node totals lack, in the units in which people request it, and who requests how much of it."""
    asked, name = one.asked, one.asked.resource
    left, used, capacity = max(one.capacity - one.used, 0), as_taken(name, one.used), as_taken(name, one.capacity)
    parts = " + ".join(f"{each} {as_taken(name, amount, up=True)}" for each, amount in asked.parts)
    by = f" by {asked.parts[0][0]}" if len(asked.parts) == 1 else f" ({parts})" * bool(parts)
    text = f"{name}: {as_taken(name, asked.amount, up=True)} requested{by}{reduced_text(asked)}"
    if not one.capacity:
        return f"{text}, 0 on the node{_how_to_add(name, one.hint)}"
    if asked.amount > one.capacity:
        others = f" (other pods request {used})" * bool(one.used)
        return f"{text}, {capacity} allocatable on the node{others}"
    whole = name == CPU and not asked.amount % MILLI_OF_CPU and left % MILLI_OF_CPU
    rest = f" ({left // MILLI_OF_CPU} whole)" * bool(whole)
    return f"{text}, {as_taken(name, left)}{rest} of {capacity} left: other pods request {used}"


def taken_text(one: Amount) -> str:
    """Say how much of a node other pods request: `25 of 30`."""
    used, there = (nano // unit_of(one.resource) for nano in (one.used, one.capacity))
    return f"{as_taken(one.resource, used)} of {as_taken(one.resource, there)}"


def as_taken(resource: str, amount: int, *, up: bool = False) -> str:
    """Write an amount as the fit check counts it: CPUs in thousandths."""
    return of_thousandths(amount) if resource == CPU else amount_text(resource, amount, up=up)


def node_refuses(one: facts.NodeRefuses) -> str:
    """Say in the kubelet's own words that the node rejects a pod."""
    return f"{one.reason}: {one.message}"


def no_whole_bytes(one: facts.NoWholeBytes) -> str:
    """An amount that the Memory Manager cannot hold."""
    write = " or ".join(readable_near(one.nano)) or "less"
    amount = f"{with_decimals(one.nano)} of container {one.container}"
    return f"{one.resource}: {amount} is not a whole number of bytes for the Memory Manager. Request {write}."


def odd_cores(one: facts.OddCores) -> str:
    """Say that a number of CPUs is no whole cores, and which numbers next to it are."""
    are = "is not a whole core" if one.amount == 1 else "are not whole cores"
    what = f"{amount_of(CPU, one.amount)}{f' of {one.by}' * (one.by is not None)}"
    text = f"{what} {are}, and full-pcpus-only allocates whole cores ({one.threads} CPUs each)."
    others = "".join(
        f" The same is true of {name} ({cpus}{f': request {_near(cpus, one.threads)}' * (cpus != one.amount)})."
        for name, cpus in one.others
    )
    return f"{text}{f' Request {_near(one.amount, one.threads)}.{others}' * one.advised}"


def cores_taken(one: facts.CoresTaken) -> str:
    """Say how many CPUs `full-pcpus-only` finds free."""
    asked, single = f"cpu: {one.amount} requested{f' by {one.by}' * (one.by is not None)}", one.threads == 1
    free = one.free
    if one.left is not None:
        leave = f"does not count {one.left.amount} that {left_text(one.left)}"
        return f"{asked}. full-pcpus-only finds {free or 0} free and {leave}{' (cores have 1 CPU here)' * single}."
    now = f"{free} free {one.when}, " * (free is not None)
    if single:
        return f"{asked}, {now}{one.total} on an empty node"
    only = "full-pcpus-only counts free CPUs of cores without a reserved CPU"
    return f"{asked}. {only}: {now}{one.total} on an empty node."


def _near(cpus: int, threads: int) -> str:
    """Write the numbers of CPUs next to one that are whole cores."""
    below = cpus - cpus % threads
    return f"{below} or {below + threads}" if below else str(threads)


def none_there(one: facts.NoneThere) -> str:
    """Say that the machine has none."""
    return f"{asked_text(one.asked)}, 0 on this machine{_how_to_add(one.asked.resource, one.hint)}"


def _how_to_add(resource: str, amount: int) -> str:
    """Say how a node gets a resource of which it has none."""
    if not is_hugepages(resource):
        return "" if resource in NATIVE else ": no device plugin offers a healthy one"
    size = page_size(resource)
    pages = -(-amount // value(parse(size)))
    boot = f"boot with hugepagesz={size.removesuffix('i')} hugepages={pages} or more"
    return f". Fix: {boot} (uses {bytes_text(pages * value(parse(size)))} of memory)." * bool(amount)


def too_little(one: facts.TooLittle) -> str:
    """Say that there is not enough on the whole machine."""
    asked, had, name = one.asked, one.had, one.asked.resource

    def say(amount: int) -> str:
        return amount_text(name, amount)

    text = asked_text(asked, one.too)
    if one.when == "ever" or (one.never and not one.free_too and not one.left):
        return f"{text}, {say(had.total)} on the machine{_where_ever(name, had)}"
    free, by_the_pod = f"{say(had.free)} of {say(had.total)} free", _by_the_pod(one)
    where = f" ({each_node(name, one.there)})" if one.left or had.left or had.loose is not None else ""
    if one.left:
        leave = f"{say(had.left)} left by {names_text(one.leavers)}"
        free, by_the_pod = f"{say(had.free)} free and {leave}" if had.free else f"only {leave}", ""
    apart = ", but not combinable" * (had.free + had.left >= asked.amount)
    machine = f", {say(had.total)} on the machine" * (one.never and one.free_too)
    return f"{text}, {free}{by_the_pod}{apart}{machine}{where}"


def _where_ever(resource: str, had: Spread) -> str:
    """List what the nodes have on an empty node, of several or of devices that lie on none or on several."""
    if had.loose is not None:
        return f" ({all_devices(had.loose)})"
    if not 1 < len(had.places) <= MAX_NODES_NAMED:
        return ""
    return f" ({', '.join(f'NUMA {one.node}: {amount_text(resource, one.total)}' for one in had.places)})"


def _by_the_pod(one: facts.TooLittle) -> str:
    """Say what the pod's own containers have to do with what is free: what they leave to each other, or hold."""
    name = one.asked.resource
    if one.leavers:
        return f" besides {amount_text(name, one.had.left)} left by {names_text(one.leavers)}"
    others = f", other pods {amount_text(name, one.others)}" if one.others > 0 else ""
    return f"{own_text(one.own, name)}{others}"


def enough_in_all(one: facts.EnoughInAll) -> str:
    """Say where it is free."""
    name, had = one.asked.resource, one.had
    return f"{asked_text(one.asked, one.too)}, {amount_text(name, had.free)} free in total ({each_node(name, had)})"


def placed(one: facts.Placed) -> str:
    """Say how many of the devices that lie on known nodes are free."""
    there = f"{one.free} of {one.total} free on known NUMA nodes" if one.total else "0 on a known NUMA node"
    return f"{asked_text(one.asked, one.too)}, {there}. {one.policy} counts only devices with a known NUMA node."


def unplaced(one: facts.Unplaced) -> str:
    """Say that free devices of no known node do not count."""
    ids = f"NUMA {', '.join(map(str, one.told))}"
    if one.misplaced:
        return f"{one.resource}: the device plugin reports {ids}, not on this machine. {one.policy} counts none."
    wrong = f" (the device plugin reports {ids}, not on this machine)" if one.told else ""
    known = f"{one.policy} counts only devices with a known NUMA node: {how_many(one.placed, one.total)}."
    return f"{one.resource}: NUMA node unknown for {one.free} free{wrong}. {known}"


def chosen_elsewhere(one: facts.ChosenElsewhere) -> str:
    """Say why what is free may not be used."""
    if one.nodes is None:
        return f"{one.resource} is not free on the NUMA nodes of the container's other resources."
    return f"{one.resource} must come from {nodes_text(one.nodes)}, chosen for the other requests of the pod."


WRITERS: Final[Writers] = {
    facts.ChosenElsewhere: chosen_elsewhere,
    facts.CoresTaken: cores_taken,
    facts.EnoughInAll: enough_in_all,
    facts.Missing: missing,
    facts.NoDistance: no_distance,
    facts.NoNodeChosen: no_node_chosen,
    facts.NoWholeBytes: no_whole_bytes,
    facts.NodeRefuses: node_refuses,
    facts.NodeTooSmall: node_too_small,
    facts.NoneThere: none_there,
    facts.OddCores: odd_cores,
    facts.Placed: placed,
    facts.TooLittle: too_little,
    facts.Unplaced: unplaced,
}
