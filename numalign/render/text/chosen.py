"""Which nodes were chosen for a container that lies apart, and why not fewer, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from numalign.model.words import few_of
from numalign.render.text.amounts import amount_text, listed, nodes_text
from numalign.render.text.device_ids import MAX_IDS_NAMED

if TYPE_CHECKING:
    from numalign.analysis.apart import Apart, Chosen, Tied, Wanted
    from numalign.results.admit import ContainerResult


def apart_text(container: ContainerResult, newcomers: Sequence[str]) -> str:
    """Go on about a container that is spread: which nodes were chosen for it, and why; empty: that is not known."""
    found = container.apart
    if found is None:
        return ""
    if found.nodes is None:
        return ", as policy none chooses no nodes" if found.policy == "none" else ", as no nodes were chosen"
    several = found.nodes & (found.nodes - 1)
    whom = " for the whole pod" * found.whole_pod
    large = f", which asks for {_amounts(found.why.large)}," if found.why.large else ""
    why = "; ".join(_why_chosen(found.why, container.alignment.least))
    text = f", as {nodes_text(found.nodes)} {'were' if several else 'was'} chosen{whom}{large}{f' ({why})' * bool(why)}"
    if found.outside and found.never == found.outside:
        text += f" and never {'have' if several else 'has'} enough {listed(found.outside)}"
    elif found.outside:
        text += f" and {'have' if several else 'has'} too little {listed(found.outside)} free"
        text += f" once {few_of(newcomers, MAX_IDS_NAMED)} {_are(len(newcomers))} there" * bool(newcomers)
    if found.outside:
        places = reduce(or_, (container.alignment.places[name] for name in found.outside))
        what = "the rest" if places & found.nodes else "it"
        rest = f", so {what} comes from {nodes_text(places & ~found.nodes)}"
        text += f"{rest}{f' (and {listed(found.along)} with it)' if found.along else ''}" * bool(places & ~found.nodes)
    elif found.first:
        text = f"{text.removesuffix(',')}, and {'; '.join(_first(found.first))}"
    if found.by_socket:
        return f"{text.removesuffix(',')}, and option align-by-socket takes CPUs of the whole socket"
    inside = several and container.alignment.remote and not (found.outside or found.first)
    return f"{text} and each resource may come from any of them" if inside else text.removesuffix(",")


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _first(every: Sequence[Tied]) -> Iterator[str]:
    """Say what comes from elsewhere, as init containers left it there."""
    there: dict[tuple[str, ...], dict[str, int]] = {}
    for one in every:
        nodes = there.setdefault(one.containers, {})
        nodes[one.resource] = nodes.get(one.resource, 0) | one.nodes
    for containers, places in there.items():
        what = listed([f"{name} on {nodes_text(nodes)}" for name, nodes in places.items()])
        yield f"what {listed(containers)} left of {what} is handed out first"


def unused_text(found: Apart) -> Iterator[str]:
    """Say of what init containers left, and the container has none of, why it need not have it."""
    for (nodes, containers), names in _by_place(found.unused).items():
        among = not nodes & ~(found.nodes or 0)
        these = "these nodes were not all" if nodes & (nodes - 1) else "that node was not"
        why = ": it may lie on any of the chosen nodes" if among else f", as {these} chosen"
        yield f"what {listed(containers)} left of {listed(names)} on {nodes_text(nodes)} is not used{why}"


def _by_place(every: Sequence[Tied]) -> dict[tuple[int, tuple[str, ...]], list[str]]:
    """Put resources together that the same init containers left on the same nodes."""
    there: dict[tuple[int, tuple[str, ...]], list[str]] = {}
    for one in every:
        there.setdefault((one.nodes, one.containers), []).append(one.resource)
    return there


def _why_chosen(why: Chosen, least: int) -> Iterator[str]:
    """Say why no fewer nodes were chosen."""
    few = "no node alone" if least == 1 else f"no {least} nodes"
    left = _by_place(why.tied).items()
    taken = [f"{nodes_text(nodes)}, as {listed(by)} left {listed(names)} there" for (nodes, by), names in left]
    if taken:
        yield f"its nodes must include {listed(taken)}"
    if why.scarce:
        yield f"{few} had {_amounts(why.scarce)} free"
    held = f"memory is held already on {listed(list(map(_held, why.groups)))}"
    if why.groups and all(mask & (mask - 1) for mask in why.groups):
        only = "these are used only together" if len(why.groups) == 1 else "each of these is used only as a whole"
        yield f"{held}, so {only}"
    elif why.held or why.clash:
        what = f"{_amounts(why.held)} free" if why.held else "all of it free"
        yield f"{few} that may be combined had {what}: {held}" if why.groups else f"{few} had {what}"


def _held(group: int) -> str:
    """Name nodes whose memory is held: `node 0 alone`, `nodes 1-2 together`."""
    return f"{nodes_text(group)} {'together' if group & (group - 1) else 'alone'}"


def _amounts(every: Sequence[Wanted]) -> str:
    return listed([f"{amount_text(one.resource, one.requested)} {one.resource}" for one in every])
