"""Why a container is spread over NUMA nodes, in sentences: which nodes the kubelet chose for it, and why these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from numalign.model.resources import CPU
from numalign.model.words import few_of
from numalign.render.text.amounts import MAX_IDS_NAMED, amount_of, listed, nodes_count, nodes_text
from numalign.values import grouped

if TYPE_CHECKING:
    from numalign.analysis.apart import Apart, Chosen, Tied, Wanted
    from numalign.results.admit import ContainerResult


def sentences(parts: Iterable[str]) -> str:
    """Write parts as sentences."""
    texts = list(parts)
    return ". ".join(texts) + "." * bool(texts)


def apart_sentences(container: ContainerResult, newcomers: Sequence[str], *, of_fix: bool) -> Iterator[str]:
    """Say of a container that is spread which nodes were chosen for it, and why; nothing where that is not known.

    Args:
        container: what it got.
        newcomers: pods that are not there today, and that hold something when the container gets it.
        of_fix: why the pod is rejected is said above, so only what is not: init containers, and too little there.
    """
    found = container.apart
    if found is None:
        return
    if found.nodes is None:
        yield from ["The kubelet chose no NUMA nodes"] * (found.policy != "none")
        return
    one_side = one_side_text(container)
    if not one_side and (found.outside or not of_fix):
        any_of = ": each resource may come from any of these NUMA nodes" * _any_of(container)
        yield f"The kubelet chose {nodes_text(found.nodes)}{' for the whole pod' * found.whole_pod}{any_of}"
    if found.why.large:
        yield f"The pod requests {_amounts(found.why.large)}"
    yield from _why_chosen(found.why, container.alignment.least)
    if one_side and not of_fix:
        yield one_side
    if found.outside:
        yield from _outside(found, container, newcomers)
    elif found.first:
        yield from _first(found.first)
    if found.by_socket:
        yield "align-by-socket takes CPUs of the whole socket"


def _any_of(container: ContainerResult) -> bool:
    """Tell whether a container is spread only because each resource may come from any of the nodes chosen."""
    found = container.apart
    if found is None or found.nodes is None or found.outside or found.first or found.by_socket:
        return False
    return bool(found.nodes & (found.nodes - 1) and container.alignment.remote)


def one_side_text(container: ContainerResult) -> str:
    """Say what needs several nodes, where the CPUs need fewer and all come from fewer; empty: they do not."""
    if not _any_of(container):
        return ""
    judged = container.alignment
    cpus = judged.places.get(CPU, 0)
    counts = {name: len(ids) for name, ids in container.devices.items() if name in judged.widest}
    if CPU in judged.widest or len(counts) < len(judged.widest) or not 0 < cpus.bit_count() < judged.least:
        return ""
    need = "needs" if list(counts.values()) == [1] else "need"
    wide = listed([amount_of(name, count) for name, count in counts.items()])
    own = len(container.cpu_ids)
    fit = f"{own} CPU{'s fit' if own > 1 else ' fits'} on {cpus.bit_count()}"
    return f"{wide} {need} {nodes_count(judged.least)}. {fit}, so the kubelet took all CPUs from {nodes_text(cpus)}"


def _outside(found: Apart, container: ContainerResult, newcomers: Sequence[str]) -> Iterator[str]:
    """Say what the chosen nodes have too little of, and where the rest comes from."""
    chosen = found.nodes or 0
    has = "have" if chosen & (chosen - 1) else "has"
    if found.never == found.outside:
        text = f"{nodes_text(chosen)} {has} too little {listed(found.outside)}, even on an empty node"
    else:
        there = f" with {few_of(newcomers, MAX_IDS_NAMED)} there" * bool(newcomers)
        text = f"{nodes_text(chosen)} {has} too little {listed(found.outside)} free{there}"
    places = reduce(or_, (container.alignment.places[name] for name in found.outside)) & ~chosen
    along = f", with {listed(found.along)}" * bool(found.along)
    yield f"{text}{f': the rest comes from {nodes_text(places)}{along}' * bool(places)}"


def _first(every: Sequence[Tied]) -> Iterator[str]:
    """Say what comes from elsewhere, as init containers left it there."""
    there: dict[tuple[str, ...], dict[str, int]] = {}
    for one in every:
        nodes = there.setdefault(one.containers, {})
        nodes[one.resource] = nodes.get(one.resource, 0) | one.nodes
    for containers, places in there.items():
        what = listed([f"{name} on {nodes_text(nodes)}" for name, nodes in places.items()])
        yield f"Init containers ({', '.join(containers)}) left {what}, which the kubelet allocates first"


def unused_text(found: Apart) -> Iterator[str]:
    """Say of what init containers left, and the container has none of, why it need not have it."""
    there = grouped(((one.nodes, one.containers), one.resource) for one in found.unused)
    for (nodes, containers), names in there.items():
        among = not nodes & ~(found.nodes or 0)
        why = "the container may use any chosen NUMA node" if among else "The kubelet chose other NUMA nodes"
        left = f"Init containers ({', '.join(containers)}) left {listed(names)} on {nodes_text(nodes)}"
        yield f"{left}, unused: {why}"


def _why_chosen(why: Chosen, least: int) -> Iterator[str]:
    """Say why no fewer nodes were chosen."""
    few = "No single NUMA node" if least == 1 else f"No set of {nodes_count(least)}"
    for one in why.tied:
        yield f"Init containers ({', '.join(one.containers)}) left {one.resource} on {nodes_text(one.nodes)}"
    if why.scarce:
        yield f"{few} had {_amounts(why.scarce)} free"
    held = listed([f"{nodes_text(one)}{' together' * bool(one & (one - 1))}" for one in why.groups])
    if why.groups and all(mask & (mask - 1) for mask in why.groups):
        yield f"Memory is held on {held}, which the Memory Manager uses only as a whole"
    elif why.held or why.clash:
        what = f"{_amounts(why.held)} free" if why.held else "all of it free"
        yield f"{few}{' that the Memory Manager may combine' * bool(why.groups)} had {what}"
        if why.groups:
            yield f"Memory is held on {held}"


def _amounts(every: Sequence[Wanted]) -> str:
    return listed([amount_of(one.resource, one.requested, up=True) for one in every])
