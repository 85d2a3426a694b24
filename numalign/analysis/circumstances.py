"""What a refusal has to do with beside what is free: the pod's own containers, devices on no node, memory groups.

A matrix counts what is free on each NUMA node. Where that alone does not tell why a pod was refused, one of these does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Literal

from numalign.analysis.alignment import nodes_of_cpus
from numalign.analysis.handed import Handed, handed_on
from numalign.analysis.holding import holding
from numalign.analysis.matrix import Row, available
from numalign.kubelet.admission import Outcome
from numalign.kubelet.cpu.allocate import SMT_ALIGNMENT_ERROR
from numalign.kubelet.demand import ContainerDemand, ResourcePairs
from numalign.kubelet.fit.check import Shortage
from numalign.kubelet.memory.allocate import best_hint
from numalign.kubelet.memory.hints import calculate, narrowest
from numalign.kubelet.memory.state import STATIC
from numalign.kubelet.node import Node, NodeState
from numalign.model.cpuset import ids
from numalign.model.pod import ContainerKind
from numalign.model.quantity import MILLI, NANO
from numalign.model.resources import is_memory
from numalign.values import NamedTuple

WIDER_MESSAGES = tuple(
    f"failed to find the {which} preferred hint, which is unexpected" for which in ("default", "extended")
)
"""How the kubelet says that nodes would do for memory, but are more than the container's own request needs."""


class Amount(NamedTuple):
    """What is asked of a resource and what there is, where no decision tells it. All in billionths."""

    resource: str
    requested: int
    used: int
    """What others have of it."""
    capacity: int
    """What pods could ever get."""


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


class Shares(NamedTuple):
    """Who asks for a resource of which the node as a whole has too little."""

    resource: str
    parts: tuple[tuple[str, int], ...]
    """(container, amount) pairs, in billionths; they add up to what the pod asks for."""


class Group(NamedTuple):
    """NUMA nodes whose memory pods hold together: others may use them only as this whole."""

    nodes: int
    pods: tuple[str, ...]
    """Names of the pods, in order of admission, without the refused one."""
    own: tuple[str, ...] = ()
    """Names of the refused pod's own containers among those that hold it."""


class Joint(NamedTuple):
    """Memory resources that take more nodes together than each of them alone, since they come from the same nodes."""

    resources: tuple[str, ...]
    width: int
    """How few nodes could hold all of them on an empty machine."""


class Short(NamedTuple):
    """Memory of which the nodes chosen for a container have too little. Amounts are bytes."""

    resource: str
    requested: int
    """What the container itself asks for."""
    free: int
    own: tuple[tuple[str, int], ...]
    """(container, amount) of what the pod's other containers hold there."""


class Wider(NamedTuple):
    """Memory that a container could have on more nodes than its own request needs; the kubelet then takes none."""

    container: str
    width: int
    """How few nodes could hold what the container asks for on an empty machine."""
    chosen: int
    """The mask of the nodes that had been chosen for it, which have too little free; 0: none were."""
    found: int
    """The mask of the nodes that would do."""
    short: tuple[Short, ...]
    """What is too little on the chosen nodes."""


class Cores(NamedTuple):
    """What `full-pcpus-only` counted."""

    requested: int
    """The refused container's own number of CPUs."""
    threads: int
    """CPUs of a core."""
    available: int
    """CPUs of cores of which nothing is taken or reserved."""
    total: int
    """The same on an empty machine."""
    others: tuple[tuple[str, int], ...] = ()
    """(container, CPUs) of the pod's other containers whose numbers are no multiple of a core's either."""


class Unreadable(NamedTuple):
    """An amount that is no whole number of bytes, which the Memory Manager refuses."""

    container: str
    resource: str
    nano: int
    """In billionths of a byte."""


class Circumstances(NamedTuple):
    """All that there is of these at one refusal."""

    own: tuple[Own, ...] = ()
    handed: tuple[Handed, ...] = ()
    sums: tuple[Sum, ...] = ()
    together: tuple[Sum, ...] = ()
    """Of a decision about a pod of several containers: what those ask for that run at the same time, each init
    container with the sidecars before it last."""
    shares: tuple[Shares, ...] = ()
    groups: tuple[Group, ...] = ()
    joined: tuple[int, ...] = ()
    """With `groups`: masks of the nodes that may hold one container's memory together, as large as they can be."""
    chosen: int | None = None
    """The mask of the nodes that had been chosen for the container when a manager failed; None: none were."""
    need: ResourcePairs = ()
    """The bytes of memory and huge pages that the whole pod asks for at the same time."""
    joint: Joint | None = None
    wider: Wider | None = None
    when: Literal["now", "then"] = "now"
    """What is free is counted on the node as it is, or as it would be: empty, or after a change."""
    cores: Cores | None = None
    unreadable: tuple[Unreadable, ...] = ()
    reduced: frozenset[str] = frozenset()
    """Of a changed pod: resources of which less is asked here than its manifest does, as the change has it."""


def circumstances(outcome: Outcome, rows: tuple[Sequence[Row], Sequence[Row]], *, whole: bool) -> Circumstances:
    """Collect what matters for the resources in the way of a refused pod.

    Args:
        outcome: the refusal.
        rows: the resources in the way, and those that would be next.
        whole: they are of a decision about the whole pod.
    """
    node, result = outcome.before.node, outcome.result
    names = [row.resource for row in rows[0]]
    told = [*names, *(row.resource for row in rows[1])]
    asked = list(_together(outcome))
    parts = (*asked, *_at_init(outcome)) if whole and len(outcome.pod.containers) > 1 else ()
    cores = _cores(outcome) if outcome.reason == SMT_ALIGNMENT_ERROR else None
    # What a whole pod finds free was counted before its own containers took any; whole cores are counted after it.
    own = () if whole else tuple(_own(outcome))
    handed = () if whole and cores is None else tuple(handed_on(node, outcome.after, outcome.demand))
    hint = result.hints.get(result.container or "") if result.stage == "allocate" else None
    return Circumstances(
        own=tuple(one for one in own if one.resource in told),
        handed=tuple(one for one in handed if one.resource in told),
        sums=tuple(one for one in asked if _largest(one) <= one.capacity < one.requested),
        together=tuple(one for one in parts if one.resource in told),
        shares=tuple(_shares(outcome)),
        groups=tuple(_groups(outcome)) if any(map(is_memory, names)) else (),
        joined=joined(outcome) if any(map(is_memory, names)) else (),
        chosen=hint.numa_affinity if hint else None,
        need=outcome.demand.memory or (),
        joint=_joint(node, rows[0]),
        wider=_wider(outcome),
        cores=cores,
        unreadable=_unreadable(outcome),
    )


def amounts(
    outcome: Outcome, found: Circumstances, told: Mapping[str, int], looked_up: ResourcePairs = ()
) -> tuple[Amount, ...]:
    """List the amounts in the way that no decision tells.

    Args:
        outcome: the refusal.
        found: its circumstances.
        told: resource -> amount asked, of what the decision tells.
        looked_up: what the kubelet falls over, where it does.
    """
    node, state = outcome.before.node, outcome.after
    written = [_of_shortage(one) for one in outcome.fit.failures if isinstance(one, Shortage)] if outcome.fit else []
    if found.cores:
        cores = found.cores
        written.append(_whole("cpu", cores.requested, cores.total - cores.available, cores.total))
    for one in found.unreadable:
        free, total = on_the_machine(node, state, one.resource)
        written.append(Amount(one.resource, one.nano, (total - free) * NANO, total * NANO))
    written += [_whole(one.resource, one.requested, 0, one.capacity) for one in found.sums]
    if not written and not told and not outcome.fit:
        for name, amount in looked_up or _asked(outcome):
            free, total = on_the_machine(node, outcome.before.state, name)
            written.append(_whole(name, amount, total - free, total))
    return tuple(dict.fromkeys(written))


def on_the_machine(node: Node, state: NodeState, name: str) -> tuple[int, int]:
    """Return (free now, total that pods could ever get) of a resource on all NUMA nodes and on none."""
    resource = node.device.resources.get(name)
    if resource is not None:
        free = resource.healthy & ~state.device.allocated.get(name, 0)
        return free.bit_count(), resource.healthy.bit_count()
    there = [available(node, state, name, numa.id) for numa in node.machine.numa_nodes]
    return sum(free for free, _ in there), sum(total for _, total in there)


def _whole(resource: str, requested: int, used: int, capacity: int) -> Amount:
    return Amount(resource, requested * NANO, used * NANO, capacity * NANO)


def _of_shortage(short: Shortage) -> Amount:
    unit = MILLI if short.resource == "cpu" else NANO
    return Amount(short.resource, short.requested * unit, short.used * unit, short.capacity * unit)


def _asked(outcome: Outcome) -> Iterator[tuple[str, int]]:
    """List what the container that failed asks, or the whole pod."""
    demand = outcome.demand
    whose = next((one for one in demand.containers if one.name == outcome.result.container), None) or demand
    if whose.cpus:
        yield "cpu", whose.cpus
    yield from whose.memory or ()
    yield from whose.devices


def _own(outcome: Outcome) -> Iterator[Own]:
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


def _together(outcome: Outcome) -> Iterator[Sum]:
    """Add up what the containers ask for that run at the same time."""
    node, state, demand = outcome.before.node, outcome.before.state, outcome.demand
    lasting = [one for one in demand.containers if one.kind != "init"]
    parts: dict[str, dict[str, int]] = {}
    for container in lasting:
        for name, amount in _of_container(container):
            if amount:
                parts.setdefault(name, {})[container.name] = amount
    for name, each in parts.items():
        _, total = on_the_machine(node, state, name)
        known = name == "cpu" or name in node.device.resources or name in node.memory.places
        if known:
            yield Sum(name, sum(each.values()), total, tuple(each.items()))


def _at_init(outcome: Outcome) -> Iterator[Sum]:
    """Add up what an init container asks for with the sidecars that run already."""
    sidecars: dict[str, dict[str, int]] = {}
    for container in outcome.demand.containers:
        for name, amount in _of_container(container):
            if container.kind == "sidecar" and amount:
                sidecars.setdefault(name, {})[container.name] = amount
            elif container.kind == "init" and amount:
                parts = {**sidecars.get(name, {}), container.name: amount}
                _, total = on_the_machine(outcome.before.node, outcome.before.state, name)
                yield Sum(name, sum(parts.values()), total, tuple(parts.items()))


def _largest(one: Sum) -> int:
    return max(amount for _, amount in one.parts)


def _shares(outcome: Outcome) -> Iterator[Shares]:
    """Tell containers' parts where several add up to what the node has too little of."""
    for short in outcome.fit.failures if outcome.fit else ():
        if isinstance(short, Shortage):
            asked = [
                (one.name, one.requests.get(short.resource)) for one in outcome.pod.containers if one.kind != "init"
            ]
            parts = tuple((name, amount.nano) for name, amount in asked if amount is not None and amount.nano)
            unit = MILLI if short.resource == "cpu" else NANO
            if len(parts) > 1 and sum(nano for _, nano in parts) == short.requested * unit:
                yield Shares(short.resource, parts)


def _of_container(container: ContainerDemand) -> Iterator[tuple[str, int]]:
    yield "cpu", container.cpus
    yield from container.memory or ()
    yield from container.devices


def _groups(outcome: Outcome) -> Iterator[Group]:
    """List the nodes whose memory is held, with those who hold it."""
    state = outcome.after.memory
    names = {pod.uid: pod.name for pod in outcome.before.pods}
    pods: dict[int, list[str]] = {}
    own: dict[int, list[str]] = {}
    for uid, containers in state.entries.items():
        for container, blocks in containers.items():
            for block in blocks:
                pods.setdefault(block.mask, []).extend([names[uid]] if uid in names else [])
                own.setdefault(block.mask, []).extend([container] if uid == outcome.pod.uid else [])
    for mask in sorted(pods):
        yield Group(mask, tuple(dict.fromkeys(pods[mask])), tuple(dict.fromkeys(own[mask])))


def _joint(node: Node, rows: Sequence[Row]) -> Joint | None:
    """Find the fewest memory resources in the way that need as many nodes together as all of them."""
    memory = [row for row in rows if row.resource in node.memory.places]
    if len(memory) < 2 or node.memory.policy != STATIC:
        return None
    width = together_width(node, memory)
    if width <= max(row.width for row in memory):
        return None
    sets = (some for size in range(2, len(memory) + 1) for some in combinations(memory, size))
    fewest = next(some for some in sets if together_width(node, some) == width)
    return Joint(tuple(row.resource for row in fewest), width)


def together_width(node: Node, rows: Sequence[Row]) -> int:
    """Return how few nodes could hold memory resources together when empty (docs/rules/memory-manager.md 23)."""
    return narrowest(node.memory, tuple((row.resource, row.requested) for row in rows))


def _wider(outcome: Outcome) -> Wider | None:
    """Tell whether nodes were found for a container's memory, but more than its own request needs (rules 33 and 34)."""
    name, manager = outcome.result.container, outcome.before.node.memory
    container = next((one for one in outcome.demand.containers if one.name == name), None)
    if container is None or not container.memory or not outcome.message.endswith(WIDER_MESSAGES):
        return None
    hint = outcome.result.hints.get(container.name)
    chosen = (hint.numa_affinity or 0) if hint else 0
    hints = calculate(manager, outcome.after.memory, outcome.demand.uid, container.memory)
    best = best_hint(hints, chosen) if hints else None
    if best is None or best.numa_affinity is None:
        return None
    short = tuple(_short(outcome, chosen, container.memory)) if chosen else ()
    return Wider(container.name, narrowest(manager, container.memory), chosen, best.numa_affinity, short)


def _short(outcome: Outcome, chosen: int, request: ResourcePairs) -> Iterator[Short]:
    """List what nodes have too little of for a request, with what the pod's own containers hold there."""
    manager, state = outcome.before.node.memory, outcome.after.memory
    for resource, amount in request:
        free = sum(state.free[manager.places[resource]][numa] for numa in ids(chosen))
        blocks = [
            (name, block.size)
            for name, held in state.entries.get(outcome.demand.uid, {}).items()
            for block in held
            if block.type == resource and block.mask & chosen and block.size
        ]
        if free < amount:
            yield Short(resource, amount, free, tuple(blocks))


def joined(outcome: Outcome) -> tuple[int, ...]:
    """List which nodes may be used together (docs/rules/memory-manager.md 23): held ones only as they are held."""
    manager, state = outcome.before.node.memory, outcome.after.memory
    if manager.policy != STATIC:
        return ()
    untouched = sum(1 << numa for numa in manager.node_ids if not state.counts[numa])
    held = {state.groups[numa] for numa in manager.node_ids if state.counts[numa]}
    return tuple(sorted({*held, untouched} - {0}))


def _cores(outcome: Outcome) -> Cores | None:
    manager, state = outcome.before.node.cpu, outcome.after.cpu
    container = next((one for one in outcome.demand.containers if one.name == outcome.result.container), None)
    if container is None:
        return None
    own = 0
    for one in outcome.before.node.machine.numa_nodes:
        own |= one.cpus
    return Cores(
        container.cpus,
        manager.topology.cpus_per_core,
        (state.default & ~manager.physically_reserved).bit_count(),
        (own & ~manager.physically_reserved).bit_count(),
        tuple(
            (one.name, one.cpus)
            for one in outcome.demand.containers
            if one is not container and one.cpus % manager.topology.cpus_per_core
        ),
    )


def _unreadable(outcome: Outcome) -> tuple[Unreadable, ...]:
    """Find the amounts of memory that are no whole number of bytes, where that is what failed."""
    odd = {one.name for one in outcome.demand.containers if one.memory is None}
    if outcome.result.provider != "memory" or outcome.result.container not in odd:
        return ()
    return tuple(
        Unreadable(container.name, name, quantity.nano)
        for container in outcome.pod.containers
        if container.name in odd
        for name, quantity in container.requests.items()
        if is_memory(name) and quantity.int64 is None
    )
