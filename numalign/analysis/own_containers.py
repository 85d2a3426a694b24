"""What the refused pod's own containers have to do with it: they hold some, or ask for too much together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from numalign.analysis.holding import holding, nodes_of_cpus
from numalign.analysis.matrix import on_the_machine
from numalign.kubelet.admission import Outcome
from numalign.kubelet.demand import ContainerDemand
from numalign.kubelet.fit.check import Shortage
from numalign.model.cpuset import NUMAMask
from numalign.model.pod import ContainerKind, Pod
from numalign.model.quantity import MILLI, NANO
from numalign.model.resources import CPU
from numalign.values import NamedTuple


class Own(NamedTuple):
    """What an earlier container of the refused pod holds of a resource."""

    resource: str
    container: str
    kind: ContainerKind
    amount: int
    """CPUs, devices or bytes."""
    nodes: int
    """The mask of the NUMA nodes it lies on."""


class Sum(NamedTuple):
    """A resource of which the pod's containers together ask for more than there could ever be."""

    resource: str
    requested: int
    capacity: int
    parts: tuple[tuple[str, int], ...]
    """(container, amount) pairs: CPUs, devices or bytes."""
    lasting: bool = True
    """These containers run at the same time for good; else the last one is an init container."""


class Shares(NamedTuple):
    """Who asks for a resource of which the node as a whole has too little."""

    resource: str
    parts: tuple[tuple[str, int], ...]
    """(container, amount) pairs, in billionths; they add up to what the pod asks for."""


def held_before(outcome: Outcome) -> Iterator[Own]:
    """List what the pod's containers before the refused one got."""
    node, demand = outcome.before.node, outcome.demand
    for container in demand.containers:
        if container.name == outcome.result.container:
            break
        held = holding(node, outcome.after, demand.uid, container)
        if held.cpus:
            yield Own("cpu", container.name, container.kind, held.cpus.bit_count(), nodes_of_cpus(node, held.cpus))
        for each in held.devices:
            mask = sum(1 << numa for numa in each.per_numa if numa >= 0)
            yield Own(each.resource, container.name, container.kind, len(each.ids), mask)
        for block in held.memory:
            if block.size:
                yield Own(block.type, container.name, container.kind, block.size, block.mask)


def strayed(outcome: Outcome, container: str) -> NUMAMask:
    """Return the nodes outside of those chosen that a container's CPUs came from, as `align-by-socket` lets them."""
    if outcome.admit or not outcome.before.node.cpu.options.align_by_socket:
        return 0
    hint = outcome.result.hints.get(container)
    cpus = outcome.after.cpu.assigned(outcome.demand.uid, container) or 0
    if hint is None or hint.numa_affinity is None:
        return 0
    return nodes_of_cpus(outcome.before.node, cpus) & ~hint.numa_affinity


def asked_together(outcome: Outcome) -> Iterator[Sum]:
    """Add up what the containers ask for that run at the same time, of all that the managers hand out."""
    node, state, demand = outcome.before.node, outcome.before.state, outcome.demand
    lasting = [one for one in demand.containers if one.kind != "init"]
    parts: dict[str, dict[str, int]] = {}
    for container in lasting:
        for name, amount in _of_container(container):
            if amount:
                parts.setdefault(name, {})[container.name] = amount
    for name, each in parts.items():
        _, total = on_the_machine(node, state, name)
        pinned = name == CPU and node.cpu.static
        if pinned or name in node.device.resources or name in node.memory.places:
            yield Sum(name, sum(each.values()), total, tuple(each.items()))


def asked_at_init(outcome: Outcome) -> Iterator[Sum]:
    """Add up what an init container asks for with the sidecars that run already."""
    sidecars: dict[str, dict[str, int]] = {}
    for container in outcome.demand.containers:
        for name, amount in _of_container(container):
            if container.kind == "sidecar" and amount:
                sidecars.setdefault(name, {})[container.name] = amount
            elif container.kind == "init" and amount:
                parts = {**sidecars.get(name, {}), container.name: amount}
                _, total = on_the_machine(outcome.before.node, outcome.before.state, name)
                yield Sum(name, sum(parts.values()), total, tuple(parts.items()), lasting=False)


def shares_of_node(pod: Pod, failures: Iterable[object]) -> Iterator[Shares]:
    """Tell containers' parts where several add up to what the node has too little of."""
    for short in failures:
        if isinstance(short, Shortage):
            asked = [(one.name, one.requests.get(short.resource)) for one in pod.containers if one.kind != "init"]
            parts = tuple((name, amount.nano) for name, amount in asked if amount is not None and amount.nano)
            unit = MILLI if short.resource == "cpu" else NANO
            if len(parts) > 1 and sum(nano for _, nano in parts) == short.requested * unit:
                yield Shares(short.resource, parts)


def _of_container(container: ContainerDemand) -> Iterator[tuple[str, int]]:
    yield "cpu", container.cpus
    yield from container.memory or ()
    yield from container.devices
