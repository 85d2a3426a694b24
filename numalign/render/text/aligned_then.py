"""Whether a refused pod is aligned with a change, in words: where it goes then, or why it is not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from numalign.analysis.settings import MEMORY_POLICY
from numalign.model.resources import CPU
from numalign.model.words import few_of
from numalign.render.text.alignment import aligned_where, cause_text, nearby_texts, reason_of
from numalign.render.text.amounts import MAX_IDS_NAMED, listed, named, nodes_text, part_text
from numalign.render.text.tables import untied_text
from numalign.values import grouped

if TYPE_CHECKING:
    from numalign.analysis.alignment import Alignment
    from numalign.analysis.matrix import Matrix
    from numalign.analysis.placed import Part
    from numalign.analysis.untied import Untied
    from numalign.analysis.whatif.change import WayOut
    from numalign.model.pod import QoS
    from numalign.results.admit import ContainerResult, PodResult
    from numalign.results.explain import ExplainedPod

MAX_CONTAINERS_PLACED = 4
"""Of how many containers the nodes are told apart; of more none are."""

ALIGNED: Mapping[bool | None, str] = {
    True: ": aligned",
    False: ": admitted, NOT aligned",
    None: "",
}


def aligned_then(change: WayOut, after: PodResult | None, told: ExplainedPod) -> str:
    """Say whether the pod is aligned after a change."""
    containers = after.containers if after is not None else ()
    verdicts = {one.alignment.verdict for one in containers}
    if after is not None and after.missing:
        return f": admitted without {listed(after.missing)}"
    if change.aligned is None and "unknown" in verdicts:
        return _not_known(containers, () if change.machine or change.hardware else told.matrices)
    if verdicts == {"none"}:
        return ""
    if change.aligned and change.flags.get(MEMORY_POLICY) == "None":
        return f": {_named(containers)} aligned"  # its memory may come from anywhere
    apart = [one for one in containers if one.aligned is False]
    if change.aligned is not False or not apart or not all(one.alignment.cpus_float for one in apart):
        return ALIGNED[change.aligned]
    anyhow = all(_shared_already(one, told.untied) for one in apart)
    pinned = any(CPU in one.alignment.places for one in containers)
    whose = f"CPUs of {listed([one.name for one in apart])}" if pinned else "CPUs"
    so = "admitted" if all(map(_only_shares, apart)) else "admitted, NOT aligned"
    return f": {so} ({whose} shared{' in any case' * anyhow})"


def _shared_already(container: ContainerResult, untied: Iterable[Untied]) -> bool:
    """Tell whether CPUs of a container are not pinned for the reason for which they are not as things are."""
    cause = container.cause
    if cause is None or not cause.asks:
        return cause is not None
    alike = (one for one in untied if one.resource == CPU and one.cause == cause)
    return any(cause.kind != "fraction" or one.container == container.name for one in alike)


def _not_known(containers: Iterable[ContainerResult], tables: Iterable[Matrix]) -> str:
    """Say what is aligned, and of which devices nobody knows whether they are."""
    judged = [one.alignment for one in containers]
    parts = [part for one in judged if one.verdict == "unknown" for part in one.unknown if part.ids]
    names = list(dict.fromkeys(part.resource for part in parts))
    placed = {name for one in judged for name in one.places}
    given = {name: sum(len(one.devices.get(name, ())) for one in containers) for name in names}
    some = {name: _some_ids(parts, name) * (name in placed) for name in names}
    reason = listed(list(_unknown(some, given, tables)))
    known = _named(containers, names)
    if not known or not names:
        return f": alignment unknown{f' ({reason})' * bool(reason)}"
    are = "are" if known != "memory" else "is"
    return f": {known} {are} aligned, but {reason}"


def _named(containers: Iterable[ContainerResult], unknown: Sequence[str] = ()) -> str:
    """Name what containers get on known nodes."""
    places = (name for one in containers for name in one.alignment.places if name not in unknown)
    return listed(list(map(named, dict.fromkeys(places))))


def _some_ids(parts: Iterable[Part], name: str) -> str:
    """Name devices of one resource: ` gpu1`."""
    return f" {few_of([one for part in parts if part.resource == name for one in part.ids], MAX_IDS_NAMED)}"


def _unknown(some: Mapping[str, str], given: Mapping[str, int], tables: Iterable[Matrix]) -> Iterator[str]:
    """Say of which devices nobody knows the NUMA node: of all that there are, or of how many.

    Args:
        some: resource -> which ones, in words; empty: it may be all of them.
        given: resource -> how many the pod gets.
        tables: what is known of all that there are.
    """
    rows = {row.resource: row.loose for table in tables for row in table.rows if row.loose is not None}
    for name, which in some.items():
        loose = rows.get(name)
        if loose is not None and loose.misplaced:
            yield f"the device plugin of {name} reports no NUMA node of this machine"
        elif loose is None or not loose.nowhere[1] < loose.total:
            yield f"the device plugin reports no NUMA node for {name}{which}"
        else:
            count = loose.nowhere[1]
            every = given[name] >= loose.total
            gets = f"the pod {'holds' if every else 'may hold'} {'it' if count == 1 else 'some'}"
            yield f"NUMA node unknown for {count} of {loose.total} {name}, and {gets}"


def where_then(change: WayOut, after: PodResult | None, told: ExplainedPod) -> str:
    """Name the nodes of an aligned pod, where there are several to choose from."""
    one_node = bool(told.matrices) and len(told.matrices[0].nodes) == 1
    if not change.aligned or after is None or change.machine or one_node:
        return ""
    nodes = {one.name: aligned_where(one.alignment) for one in after.containers if one.alignment.aligned}
    if len(set(nodes.values())) == 1:
        here = next(one.alignment.nodes for one in after.containers if one.alignment.aligned)
        some = any(mask & ~here for one in after.containers for mask in one.alignment.places.values())
        where = next(iter(nodes.values()))
        return f" ({listed(list(nodes))} on {where})" if some else f" on {where}"
    if len(nodes) > MAX_CONTAINERS_PLACED:
        return ""
    return f" ({', '.join(f'{name} on {where}' for name, where in nodes.items())})"


def aligned_first(change: WayOut, alone: PodResult | None, told: ExplainedPod) -> Iterator[str]:
    """Say where a pod is aligned if it is started before those that come first under other settings."""
    if alone is None or change.anew is None:
        return
    first = change._replace(aligned=True)
    where = aligned_then(first, alone, told) + where_then(first, alone, told)
    names = listed([one.name for one in change.anew.newcomers])
    flags = " ".join(f"--without {name}" for name in change.if_they_end)
    yield f"If this pod starts before {names}{where}{f' (test: add {flags})' * bool(flags)}."


def unaligned(change: WayOut, after: PodResult | None, untied: Iterable[Untied] = ()) -> Iterator[str]:
    """Say why the pod would not be aligned after a change; why CPUs are not pinned only once.

    Args:
        change: the change.
        after: what the pod gets with it.
        untied: what is told already of what no table counts.
    """
    if change.aligned is not False or after is None:
        return
    told = grouped(
        (reason_of(one, after.qos, _newcomers_there(change, one), of_fix=True), one)
        for one in after.containers
        if one.alignment.aligned is False
    )
    said = {untied_text(one, after.qos) for one in untied}
    for reason, containers in told.items():
        who = f"{', '.join(one.name for one in containers)}: " if len(after.containers) > 1 else ""
        text = _said_once(reason, containers[0], after.qos, said)
        yield f"{who}{text}"


def _newcomers_there(change: WayOut, container: ContainerResult) -> list[str]:
    """Name the pods that come first under other settings and hold some of what the chosen nodes have too little of."""
    found = container.apart
    if change.anew is None or found is None or found.nodes is None:
        return []
    return [
        one.name
        for one in change.anew.newcomers
        if any(
            each.resource in found.outside and any(mask & found.nodes for mask, _ in each.places)
            for each in one.amounts
        )
    ]


def _said_once(reason: str, container: ContainerResult, qos: QoS, said: set[str]) -> str:
    """Leave out what makes a pod Burstable where that is said above."""
    cause = cause_text(container.cause, qos)
    short = cause.partition(": ")[0] if container.cause is not None and container.cause.lacks else cause
    if cause in said and short != cause:
        return reason.replace(cause, short)
    said.add(cause)
    return reason


def _only_shares(container: ContainerResult) -> bool:
    """Tell whether a container is not aligned for its shared CPUs alone, where all is on the only NUMA node."""
    judged = container.alignment
    return bool(judged.only_node) and judged.verdict == "floating"


def aligned_too(change: WayOut, after: PodResult | None) -> Iterator[str]:
    """Say where the other containers of a pod lie that would not be aligned as a whole."""
    if change.aligned is not False or after is None:
        return
    there = [f"{one.name} on {aligned_where(one.alignment)}" for one in after.containers if one.aligned]
    if there:
        yield f"Aligned: {', '.join(there)}."


def beside_the_cpus(change: WayOut, after: PodResult | None) -> Iterator[str]:
    """Say of devices that count as aligned where they lie, if there are no CPUs."""
    if change.machine or after is None:
        return
    several = len(after.containers) > 1
    for one in after.containers:
        if one.aligned:
            texts = [*nearby_texts(one.alignment), *_wherever(one.alignment)]
            yield from (f"{one.name}: {text}" if several else text for text in texts)


def _wherever(judged: Alignment) -> Iterator[str]:
    """Say of devices whose node nobody knows why that is not in the way."""
    unknown = [part_text(part) for part in judged.unknown if part.ids]
    if unknown:
        yield f"NUMA node unknown: {listed(unknown)}. Only {nodes_text(judged.nodes)} has CPUs."
