"""The verdict on a container in words: where its parts lie, and what keeps them from being together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from numalign.model.resources import CPU
from numalign.model.words import few_of
from numalign.render.text.amounts import (
    MAX_IDS_NAMED,
    amount_text,
    devices_text,
    listed,
    named,
    nodes_count,
    nodes_text,
    part_text,
    places_text,
)
from numalign.render.text.spread import apart_sentences, sentences, unused_text
from numalign.values import grouped

if TYPE_CHECKING:
    from numalign.analysis import Verdict
    from numalign.analysis.alignment import Alignment, TooLarge
    from numalign.analysis.closeness import Neighbours
    from numalign.analysis.floating import Cause, Lack
    from numalign.analysis.placed import Nearby, Part
    from numalign.model.pod import QoS
    from numalign.render.page.document import Note, Style
    from numalign.results.admit import ContainerResult, PodResult, Together

WORDS: Mapping[Verdict, str] = {
    "aligned": "yes",
    "spread": "no: spread",
    "floating": "no: floating",
    "incomplete": "no: incomplete",
    "unknown": "unknown",
    "none": "-",
}


def reasons(pods: Iterable[PodResult]) -> Iterator[str]:
    """Say of each container that is not aligned why, a line each; those with the same reason together."""
    told = grouped(
        (f"{one.alignment.verdict}. {reason}", who)
        for who, one, qos in _named_apart(pods)
        if (reason := reason_of(one, qos))
    )
    return (f"{few_of(names, 1)}: {reason}" for reason, names in told.items())


def _named_apart(pods: Iterable[PodResult]) -> Iterator[tuple[str, ContainerResult, QoS]]:
    """Yield all containers with the class of their pod, the only one of a pod under its name."""
    for pod in pods:
        for one in pod.containers:
            yield pod.name if len(pod.containers) == 1 else f"{pod.name}/{one.name}", one, pod.qos


def near_lines(pods: Iterable[PodResult]) -> Iterator[str]:
    """Say of devices of aligned containers where they lie, if there are no CPUs."""
    for who, one, _ in _named_apart(pods):
        yield from (f"{who}: {text}" for text in (nearby_texts(one.alignment) if one.aligned else ()))


def bus_lines(pods: Iterable[PodResult]) -> Iterator[Note]:
    """Say how close the devices of each container are on the PCI bus; containers of which the same is said together."""
    from numalign.render.page.document import Note  # JSON asks for reasons only

    told: dict[tuple[str, Style], list[str]] = {}
    for who, one, _ in _named_apart(pods):
        if one.neighbours:
            apart = any(pair.closeness == "other node" and not pair.alike for pair in one.neighbours)
            told.setdefault((bus_text(one.neighbours), "warn" if apart else ""), []).append(who)
    return (Note(f"{few_of(names, 1)}: {text}", style) for (text, style), names in told.items())


def together_lines(every: Iterable[Together]) -> Iterator[str]:
    """Say how close devices of different pods are: `Job ranks, between 2 pods: nvidia.com/gpu: joined by NVLink`."""
    return (f"{one.kind} {one.name}, between {len(one.pods)} pods: {bus_text(one.pairs)}" for one in every)


def bus_text(every: Iterable[Neighbours]) -> str:
    """Say how close devices are: `nvidia.com/gpu and mellanox.com/ib: 3 pairs below the same PCIe switch`."""
    from numalign.analysis.closeness import NEAREST_FIRST
    from numalign.render.text.hardware import pair_text

    pairs: dict[str, Counter[str]] = {}
    for one in sorted(every, key=lambda pair: (not pair.joined, NEAREST_FIRST.index(pair.closeness))):
        names = one.resource if one.alike else f"{one.resource} and {one.other_resource}"
        pairs.setdefault(names, Counter())[pair_text(one)] += 1
    texts = []
    for names, counts in sorted(pairs.items()):
        listed_pairs = [f"{number} {'pair' if number == 1 else 'pairs'} {text}" for text, number in counts.items()]
        texts.append(f"{names}: {', '.join(listed_pairs) if len(counts) > 1 else next(iter(counts))}")
    return "; ".join(texts)


def reason_of(container: ContainerResult, qos: QoS, newcomers: Sequence[str] = (), *, of_fix: bool = False) -> str:
    """Say in words why a container is not aligned; empty: it is, or has nothing to align.

    Args:
        container: what it got.
        qos: the pod's class.
        newcomers: pods that are not there today, and that hold something when the container gets it.
        of_fix: it is said of a fix, below why the pod is rejected.
    """
    judged, because = container.alignment, list(apart_sentences(container, newcomers, of_fix=of_fix))
    parts = []
    if judged.missing:
        parts.append(f"This machine has no {listed(judged.missing)}")
    if judged.cpus_float and judged.only_node:
        parts.append(f"The CPUs are shared ({cause_text(container.cause, qos)})")
        parts.append(f"{nodes_text(judged.only_node)} is the only NUMA node")
    elif judged.cpus_float:
        parts += [f"{listed(list(_placed(judged, judged.places)))}"] * bool(judged.places)
        parts += _why_anywhere(container, qos)
    elif judged.too_large:
        parts.append(_too_large(judged.too_large, judged.nodes))
    elif judged.remote:
        parts += [", ".join([*_with_cpus(container), *_remote(container)]), *because]
    elif judged.verdict == "spread":
        if judged.least_with_reserved:
            enough = f"{nodes_count(judged.least)} is enough by the count of the kubelet, which includes reserved CPUs"
        else:
            enough = least_text(judged)
        parts += [f"The container is spread over {nodes_text(judged.nodes)}", *because, enough]
    if judged.unknown and judged.verdict in ("unknown", "spread", "incomplete", "floating"):
        parts.append(f"NUMA node unknown: {', '.join(map(part_text, judged.unknown))}")
    if parts and (because or of_fix):
        parts += unused_text(container.apart) if container.apart else ()
    if parts:
        parts += map(_nearest_text, judged.nearby) if judged.remote else nearby_texts(judged)
    return sentences(dict.fromkeys(parts))


def nearby_texts(judged: Alignment) -> Iterator[str]:
    """Say of devices on nodes without CPUs where they lie, and as where they count."""
    for one in judged.nearby:
        yield f"{part_text(one)} is on {places_text(one.nodes)}: {_nearest_text(one)}"


def _nearest_text(one: Nearby) -> str:
    bare, nearest = one.without_cpus, one.nearest
    has = "has" if _one(bare) else "have"
    return f"{nodes_text(bare)} {has} no CPUs, the nearest CPUs are on {nodes_text(nearest)}"


def _why_anywhere(container: ContainerResult, qos: QoS) -> list[str]:
    """Say why its CPUs may be far from what has a place; of one that wants none its class is no reason."""
    if container.cause is not None and not container.cause.asks:
        return ["The container requests no CPUs, so it may run far from its devices"]
    cause = cause_text(container.cause, qos)
    if container.cause is not None and container.cause.lacks:
        return ["The CPUs are not pinned", f"{cause[0].upper()}{cause[1:]}"]
    return [f"The CPUs are not pinned ({cause})"]


def _remote(container: ContainerResult) -> Iterator[str]:
    """Name what lies elsewhere, node by node; of memory all nodes that hold it, those of the CPUs too."""
    there: dict[str, list[str]] = {}
    for part in _off(container.alignment):
        where = f"on {places_text(part.nodes)}"
        if not part.ids:
            where = f"on {nodes_text(container.alignment.places.get(part.resource, part.nodes))}"
        there.setdefault(where, []).append(_some_text(container, part.resource, part.ids))
    for where, names in there.items():
        yield f"{listed(names)} {where}"


def _off(judged: Alignment) -> list[Part | Nearby]:
    """List what is not on the nodes of the CPUs, whether it counts as there or not."""
    return [*judged.remote, *judged.nearby]


def _some_text(container: ContainerResult, resource: str, some: Sequence[str]) -> str:
    """Name some of its devices, or memory; of all only how many, where there are many."""
    every = len(container.devices.get(resource, ()))
    if len(some) == every >= MAX_IDS_NAMED:
        return resource
    others = {one for name, ids in container.devices.items() if name != resource for one in ids}
    clear = some and all(_speaks(one) and one not in others for one in some)
    return devices_text("" if clear else resource, some)


def _speaks(device: str) -> bool:
    """Tell whether an id does without the name of its resource: `gpu0` does, `0` does not."""
    return device[:2].isalpha() and any(map(str.isdigit, device))


def _with_cpus(container: ContainerResult) -> Iterator[str]:
    """Name what lies where the CPUs do, these first; of a device resource that is split the rest."""
    judged = container.alignment
    off = _off(judged)
    apart = {one.resource for one in off}
    there: dict[str, list[str]] = {}
    for name, ids in container.devices.items():
        gone = {one for part in [*off, *judged.unknown] if part.resource == name for one in part.ids}
        rest: dict[str, list[str]] = {}
        for one in ids if name in apart else ():
            if one not in gone:
                wide = judged.between.get(name, {}).get(one)
                here = nodes_text(judged.places[name] & judged.places[CPU]) if wide is None else places_text(wide)
                rest.setdefault(here, []).append(one)
        for where, some in rest.items():
            there.setdefault(where, []).append(_some_text(container, name, some))
    yield from _placed(judged, [CPU, *(name for name in judged.places if name not in {CPU, *apart})], there)


def _placed(judged: Alignment, resources: Iterable[str], rest: Mapping[str, Sequence[str]] = {}) -> Iterator[str]:
    """Name what has a place, node by node: `CPUs and nvidia.com/gpu on node 0`; of a device all nodes it is of.

    Args:
        judged: where all of it is.
        resources: of which to tell.
        rest: nodes, in words -> what else is on them, in words.
    """
    there: dict[str, list[str]] = {}
    for resource in resources:
        nodes, wide = judged.places[resource], dict.fromkeys(judged.between.get(resource, {}).values())
        all_wide = wide and not nodes & ~reduce(or_, wide)
        where = listed(list(map(places_text, wide))) if all_wide else nodes_text(nodes)
        there.setdefault(where, []).append(named(resource))
    for where, texts in rest.items():
        there.setdefault(where, []).extend(texts)
    for where, names in there.items():
        yield f"{listed(names)} on {where}"


def aligned_where(judged: Alignment) -> str:
    """Say on which nodes a container lies: `nodes 0-1 (its CPUs need 2 nodes; nvidia.com/gpu on node 1)`."""
    count = judged.nodes.bit_count()
    if not 1 < count <= judged.least:
        return nodes_text(judged.nodes)
    fewer = grouped(
        (nodes, named(resource))
        for resource, nodes in judged.places.items()
        if nodes != judged.nodes and not nodes & ~judged.nodes
    )
    widest = list(map(named, judged.widest))
    need = "needs" if len(widest) == 1 and CPU not in judged.widest else "need"
    there = ", ".join(f"{listed(names)} on {nodes_text(nodes)}" for nodes, names in fewer.items())
    all_of_it = set(judged.places) <= set(judged.widest)
    why = ", the fewest possible" if all_of_it else f" ({listed(widest)} {need} {count}{f'; {there}' * bool(there)})"
    return f"{nodes_text(judged.nodes)}{why}"


def _one(nodes: int) -> bool:
    return nodes.bit_count() == 1


def cause_text(cause: Cause | None, qos: QoS) -> str:
    """Say why the CPUs of a container float; `qos` is the pod's class."""
    if cause is None or cause.kind == "not-pinned":
        return "this kubelet pins no CPUs of this pod"
    if cause.kind == "cpu-manager":
        return "cpuManagerPolicy: none"
    if cause.kind == "fraction":
        return "the request is not a whole number of CPUs"
    lacks = list(_lacks(cause.lacks)) if qos == "Burstable" else []
    return f"the pod is {qos}{f': {listed(lacks)}' * bool(lacks)}"


def _lacks(every: Sequence[Lack]) -> Iterator[str]:
    """Say what keeps a pod from being Guaranteed; containers that lack the same are named together."""
    told = grouped(((one.unlimited, one.differing), one.container) for one in every)
    for (unlimited, differing), names in told.items():
        has, requests = ("has", "requests") if len(names) == 1 else ("have", "request")
        none = f"{has} no {' or '.join(unlimited)} limit" if unlimited else ""
        less = f"{requests} less {' and '.join(differing)} than the limit" if differing else ""
        yield f"{few_of(names, MAX_IDS_NAMED)} {listed([*filter(None, [none, less])])}"


def _too_large(memory: Sequence[TooLarge], nodes: int) -> str:
    asked = listed([f"{amount_text(one.resource, one.asked, up=True)} {one.resource}" for one in memory])
    there = listed([f"{amount_text(one.resource, one.there)}{' in all' * (one.there > 0)}" for one in memory])
    has = "has" if _one(nodes) else "have"
    return f"{asked} requested, {nodes_text(nodes)} {has} {there}: the rest comes from other NUMA nodes"


def least_text(judged: Alignment) -> str:
    """Say how few nodes its widest resource takes, which are not always those that another one can be had from."""
    fit = "the CPUs fit" if list(judged.places) == [CPU] else "every resource fits"
    return f"On an empty node {fit} on {nodes_count(judged.least)}"
