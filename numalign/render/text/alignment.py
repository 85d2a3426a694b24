"""The verdict on a container in words: where its parts lie, and what keeps them from being together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from numalign.model.resources import CPU, MEMORY
from numalign.model.words import few_of
from numalign.render.text.amounts import amount_text, listed, nodes_text

if TYPE_CHECKING:
    from numalign.analysis import Verdict
    from numalign.analysis.alignment import Alignment, Nearby, Part, TooLarge
    from numalign.analysis.apart import Apart, Chosen, Tied, Wanted
    from numalign.analysis.floating import Cause, Lack
    from numalign.model.pod import QoS
    from numalign.render.page.document import Line
    from numalign.results.admit import ContainerResult, PodResult

MAX_IDS_NAMED = 4
"""How many ids of devices that do not count up are named; of more their number is told."""

WORDS: Mapping[Verdict, str] = {
    "aligned": "yes",
    "spread": "NO, spread",
    "floating": "NO, floating",
    "incomplete": "NO, incomplete",
    "unknown": "not known",
    "none": "-",
}


def reasons(pods: Iterable[PodResult]) -> Iterator[str]:
    """Say of each container that is not aligned why, a line each; those with the same reason together."""
    told: dict[str, list[str]] = {}
    for pod in pods:
        for container in pod.containers:
            reason = reason_of(container, pod.qos)
            if reason:
                who = pod.name if len(pod.containers) == 1 else f"{pod.name}/{container.name}"
                told.setdefault(f"{WORDS[container.alignment.verdict]}: {reason}", []).append(who)
    for reason, names in told.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield f"{names[0]}{more}: {reason}"


def near_lines(pods: Iterable[PodResult]) -> Iterator[str]:
    """Say of devices of aligned containers where they lie, if there are no CPUs."""
    for pod in pods:
        for one in pod.containers:
            who = pod.name if len(pod.containers) == 1 else f"{pod.name}/{one.name}"
            yield from (f"{who}: {text}" for text in (nearby_texts(one.alignment) if one.aligned else ()))


def bus_lines(pods: Iterable[PodResult]) -> Iterator[Line]:
    """Say how close the devices of each container are on the PCI bus; containers of which the same is said together."""
    from numalign.render.page.document import Line  # JSON asks for reasons only

    told: dict[Line, list[str]] = {}
    for pod in pods:
        for container in pod.containers:
            if container.neighbours:
                who = pod.name if len(pod.containers) == 1 else f"{pod.name}/{container.name}"
                apart = any(pair.closeness == "other node" for pair in container.neighbours)
                told.setdefault(Line(bus_text(container), "warn" if apart else ""), []).append(who)
    for (text, style), names in told.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        yield Line(f"{names[0]}{more}: {text}", style)


def bus_text(container: ContainerResult) -> str:
    """Say how close its devices are: `nvidia.com/gpu and mellanox.com/ib: 3 below the same PCIe switch`."""
    from numalign.render.text.hardware import CLOSENESS

    pairs: dict[str, dict[str, int]] = {}
    for one in container.neighbours:
        counts = pairs.setdefault(f"{one.resource} and {one.other_resource}", dict.fromkeys(CLOSENESS.values(), 0))
        counts[CLOSENESS[one.closeness]] += 1
    texts = []
    for names, counts in pairs.items():
        found = {text: number for text, number in counts.items() if number}
        many = len(found) > 1
        texts.append(f"{names}: {', '.join(f'{number} {text}' if many else text for text, number in found.items())}")
    return "; ".join(texts)


def reason_of(container: ContainerResult, qos: QoS, newcomers: Sequence[str] = ()) -> str:
    """Say in words why a container is not aligned; empty: it is, or has nothing to align.

    Args:
        container: what it got.
        qos: the pod's class.
        newcomers: pods that are not there today, and that hold something when the container gets it.
    """
    judged, because = container.alignment, apart_text(container, newcomers)
    parts = []
    if judged.missing:
        parts.append(f"without {', '.join(judged.missing)}, which this machine does not have")
    if judged.cpus_float and judged.only_node:
        there = f"though all is on {nodes_text(judged.only_node)}, the only one"
        parts.append(f"CPUs shared with others, {there}: {cause_text(container.cause, qos)}")
    elif judged.cpus_float:
        held = ", ".join(_placed(judged, judged.places))
        parts.append(f"{f'{held}, ' * bool(held)}CPUs anywhere: {_why_anywhere(container, qos)}")
    elif judged.too_large:
        parts.append(_too_large(judged.too_large, judged.nodes))
    elif judged.remote:
        parts.append(f"{', '.join([*_remote(container), *_with_cpus(container)])}{because}")
    elif judged.verdict == "spread":
        if judged.least_with_reserved:
            enough = f"though {_nodes(judged.least)} would do by the kubelet's count, which includes reserved CPUs"
        else:
            enough = f"though {least_text(judged)}"
        parts.append(f"on {nodes_text(judged.nodes)}, {enough}{because}")
    if judged.unknown and judged.verdict in ("unknown", "spread", "incomplete", "floating"):
        parts.append(f"nobody knows the NUMA node of {', '.join(map(part_text, judged.unknown))}")
    if parts and because:
        parts += _unused(container.apart) if container.apart else ()
    if parts:
        parts += map(_nearest_text, judged.nearby) if judged.remote else nearby_texts(judged)
    return "; ".join(dict.fromkeys(parts))


def nearby_texts(judged: Alignment) -> Iterator[str]:
    """Say of devices on nodes without CPUs where they lie, and as where they count."""
    for one in judged.nearby:
        lie = "lies" if len(one.ids) == 1 else "lie"
        yield f"{part_text(one)} {lie} {_where(one.nodes)}; {_nearest_text(one)}"


def _nearest_text(one: Nearby) -> str:
    bare, nearest = one.without_cpus, one.nearest
    has, are = "has" if _one(bare) else "have", "is" if _one(nearest) else "are"
    return f"{nodes_text(bare)} {has} no CPUs, the nearest with CPUs {are} {nodes_text(nearest)}"


def _where(nodes: int) -> str:
    """Say where a device lies: on a node, or between several."""
    return f"{'on' if _one(nodes) else 'between'} {nodes_text(nodes)}"


def _why_anywhere(container: ContainerResult, qos: QoS) -> str:
    """Say why its CPUs may be far from what has a place; of one that wants none its class is no reason."""
    if container.cause is not None and not container.cause.asks:
        return "it asks for none, so its devices may be far from where it runs"
    return cause_text(container.cause, qos)


def _remote(container: ContainerResult) -> Iterator[str]:
    """Name what lies elsewhere, node by node; of memory all nodes that hold it, those of the CPUs too."""
    there: dict[str, list[str]] = {}
    for part in _off(container.alignment):
        where = _where(part.nodes)
        if not part.ids:
            where = f"on {nodes_text(container.alignment.places.get(part.resource, part.nodes))}"
        there.setdefault(where, []).append(_some_text(container, part.resource, part.ids))
    for where, names in there.items():
        yield f"{listed(names)} {where}"


def _off(judged: Alignment) -> list[Part | Nearby]:
    """List what is not on the nodes of the CPUs, whether it counts as there or not."""
    return [*judged.remote, *judged.nearby]


def _some_text(container: ContainerResult, resource: str, some: Sequence[str]) -> str:
    """Name some of its devices, or memory; how many of all, where there are more."""
    every = len(container.devices.get(resource, ()))
    of = f" ({len(some)} of its {every})" if 0 < len(some) < every else ""
    return f"{_ids_of(resource, some)}{of}"


def _with_cpus(container: ContainerResult) -> Iterator[str]:
    """Name what lies where the CPUs do, these first; of a device resource that is split the rest."""
    judged = container.alignment
    off = _off(judged)
    apart = {one.resource for one in off}
    there: dict[int, list[str]] = {}
    for name, ids in container.devices.items():
        gone = {one for part in [*off, *judged.unknown] if part.resource == name for one in part.ids}
        rest = [one for one in ids if one not in gone]
        if name in apart and rest:
            there.setdefault(judged.places[name] & judged.places[CPU], []).append(_some_text(container, name, rest))
    yield from _placed(judged, [CPU, *(name for name in judged.places if name not in {CPU, *apart})], there)


def apart_text(container: ContainerResult, newcomers: Sequence[str] = ()) -> str:
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
    if found.outside:
        text += f" and {'have' if several else 'has'} too little {listed(found.outside)} free"
        text += f" once {few_of(newcomers, MAX_IDS_NAMED)} {'is' if len(newcomers) == 1 else 'are'} there" * bool(
            newcomers
        )
    elif found.first:
        text = f"{text.removesuffix(',')}, and {'; '.join(_first(found.first))}"
    if found.by_socket:
        return f"{text.removesuffix(',')}, and option align-by-socket takes CPUs of the whole socket"
    inside = several and container.alignment.remote and not (found.outside or found.first)
    return f"{text} and each resource may come from any of them" if inside else text.removesuffix(",")


def _first(every: Sequence[Tied]) -> Iterator[str]:
    """Say what comes from elsewhere, as init containers left it there."""
    there: dict[tuple[str, ...], dict[str, int]] = {}
    for one in every:
        nodes = there.setdefault(one.containers, {})
        nodes[one.resource] = nodes.get(one.resource, 0) | one.nodes
    for containers, places in there.items():
        what = listed([f"{name} on {nodes_text(nodes)}" for name, nodes in places.items()])
        yield f"what {listed(containers)} left of {what} is handed out first"


def _unused(found: Apart) -> Iterator[str]:
    """Say of what init containers left, and the container has none of, why it need not have it."""
    there: dict[tuple[int, tuple[str, ...]], list[str]] = {}
    for one in found.unused:
        there.setdefault((one.nodes, one.containers), []).append(one.resource)
    for (nodes, containers), names in there.items():
        among = not nodes & ~(found.nodes or 0)
        these = "these nodes were not all" if nodes & (nodes - 1) else "that node was not"
        why = ": it only has to lie on the chosen nodes" if among else f", as {these} chosen"
        yield f"what {listed(containers)} left of {listed(names)} on {nodes_text(nodes)} is not used{why}"


def _why_chosen(why: Chosen, least: int) -> Iterator[str]:
    """Say why no fewer nodes were chosen."""
    few = "no node alone" if least == 1 else f"no {least} nodes"
    left: dict[tuple[int, tuple[str, ...]], list[str]] = {}
    for one in why.tied:
        left.setdefault((one.nodes, one.containers), []).append(one.resource)
    for (nodes, containers), names in left.items():
        yield f"{listed(containers)} left it {listed(names)} on {nodes_text(nodes)}, to be used first"
    if why.scarce:
        yield f"{few} had {_amounts(why.scarce)} free"
    if why.grouped:
        yield f"pods hold {listed(why.grouped)} of nodes together, and these are used only so"
    if why.clash:
        yield f"{few} had all of it free"


def _amounts(every: Sequence[Wanted]) -> str:
    return listed([f"{amount_text(one.resource, one.requested)} {one.resource}" for one in every])


def _placed(judged: Alignment, resources: Iterable[str], rest: Mapping[int, Sequence[str]] = {}) -> Iterator[str]:
    """Name what has a place, node by node: `CPUs and nvidia.com/gpu on node 0`; of a device all nodes it is of.

    Args:
        judged: where all of it is.
        resources: of which to tell.
        rest: mask of nodes -> what else is on them, in words.
    """
    there: dict[tuple[str, int], list[str]] = {}
    for resource in resources:
        nodes, between = judged.places[resource], judged.between.get(resource, 0)
        where = ("between", between) if between and not nodes & ~between else ("on", nodes)
        there.setdefault(where, []).append("CPUs" if resource == CPU else resource)
    for nodes, texts in rest.items():
        there.setdefault(("on", nodes), []).extend(texts)
    for (word, nodes), names in there.items():
        yield f"{listed(names)} {word} {nodes_text(nodes)}"


def aligned_where(judged: Alignment) -> str:
    """Say on which nodes a container lies: `nodes 0-1 (nvidia.com/gpu on node 1 alone)`."""
    fewer: dict[int, list[str]] = {}
    for resource, nodes in judged.places.items():
        if nodes != judged.nodes and not nodes & ~judged.nodes:
            fewer.setdefault(nodes, []).append(resource)
    some = [f"{listed(names)} on {nodes_text(nodes)}{' alone' * _one(nodes)}" for nodes, names in fewer.items()]
    return f"{nodes_text(judged.nodes)}{f' ({listed(some)})' if some else ''}"


def _one(nodes: int) -> bool:
    return nodes.bit_count() == 1


def cause_text(cause: Cause | None, qos: QoS) -> str:
    """Say why the CPUs of a container float; `qos` is the pod's class."""
    if cause is None or cause.kind == "not-pinned":
        return "this kubelet does not pin them"
    if cause.kind == "cpu-manager":
        return "cpuManagerPolicy is none"
    if cause.kind == "fraction":
        return "the container asks for no whole number of CPUs"
    lacks = list(_lacks(cause.lacks)) if qos == "Burstable" else []
    return f"the pod is {qos}{f', as {listed(lacks)}' * bool(lacks)}"


def _lacks(every: Sequence[Lack]) -> Iterator[str]:
    """Say what keeps a pod from being Guaranteed; containers that lack the same are named together."""
    told: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for one in every:
        told.setdefault((one.unlimited, one.differing), []).append(one.container)
    for (unlimited, differing), names in told.items():
        has, requests = ("has", "requests") if len(names) == 1 else ("have", "request")
        none = f"{has} no {' or '.join(unlimited)} limit" if unlimited else ""
        less = f"{requests} less {' and '.join(differing)} than the limit" if differing else ""
        yield f"{few_of(names, MAX_IDS_NAMED)} {listed([*filter(None, [none, less])])}"


def _too_large(memory: Sequence[TooLarge], nodes: int) -> str:
    those, has = ("that node", "has") if nodes.bit_count() == 1 else ("those nodes", "have")
    texts = []
    for one in memory:
        asked, there = (amount_text(one.resource, amount) for amount in (one.asked, one.there))
        counted = ", reserved memory included" * (one.resource == MEMORY and one.there > 0)
        texts.append(f"its {asked} {one.resource} is more than {those} {has} ({there}{counted})")
    return f"it is on {nodes_text(nodes)}, but {' and '.join(texts)}, so part comes from elsewhere"


def least_text(judged: Alignment) -> str:
    """Say how few nodes its widest resource takes, which are not always those that another one can be had from."""
    return f"none of it takes more than {_nodes(judged.least)} of an empty machine"


def _nodes(count: int) -> str:
    return f"{count} node{'s' * (count != 1)}"


def part_text(part: Part | Nearby) -> str:
    """Name devices or memory: `nvidia.com/gpu gpu4–7`, `nvidia.com/gpu gpu0 and gpu1`, `memory`."""
    return _ids_of(part.resource, part.ids)


def _ids_of(resource: str, some: Sequence[str]) -> str:
    if len(some) == 2:
        return f"{resource} {listed(some)}"
    return f"{resource} {ids_text(some)}" if some else resource


def ids_text(ids: Sequence[str], most: int = MAX_IDS_NAMED) -> str:
    """Write ids of devices, those that count up as a range: `gpu0–3,gpu6`; of more than `most` others their number."""
    pieces = [
        f"{prefix}{first}" + (f"–{last}" if first and last > int(first) else "") for prefix, first, last in _runs(ids)
    ]
    if len(pieces) > most:
        return f"{ids[0]} and {len(ids) - 1} more"
    return ",".join(pieces)


def _runs(ids: Iterable[str]) -> list[tuple[str, str, int]]:
    """Join ids that count up into (prefix, first, last); an id without a number is a prefix alone."""
    runs: list[tuple[str, str, int]] = []
    for each in ids:
        match = re.fullmatch(r"(.*?)(0|[1-9][0-9]{0,8})", each)
        if match is None:
            runs.append((each, "", 0))
            continue
        prefix, number = match[1], int(match[2])
        if runs and runs[-1][1] and runs[-1][0] == prefix and runs[-1][2] == number - 1:
            runs[-1] = (prefix, runs[-1][1], number)
        else:
            runs.append((prefix, match[2], number))
    return runs
