"""How many more pods of a shape, or rounds of a mix, a cluster holds; what limits it, and what is stranded."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from numalign.kubelet import admission
from numalign.kubelet.admission import Outcome, Session
from numalign.kubelet.fit.check import Shortage
from numalign.model.apiserver.defaulting import qos_class
from numalign.model.pod import Pod
from numalign.model.quantity import NANO, from_int
from numalign.model.resources import CPU, MEMORY
from numalign.results.capacity import CapacityResult, Limit, NodeCapacity, RightSize, ShapeCapacity, ZoneRoom
from numalign.scheduler import fragmentation, node_filters
from numalign.scheduler.node import ClusterNode, Fleet, look, needs_name
from numalign.scheduler.node_fit import NodeTotals
from numalign.scheduler.nrt.export import ExportOptions, export
from numalign.scheduler.nrt.value import NodeResourceTopology, number_of
from numalign.scheduler.request import effective, node_level
from numalign.scheduler.request import read as read_request
from numalign.scheduler.resources import Amounts, is_affine, is_host_level, is_native
from numalign.tasks.pod_result import pod_result

MAX_COPIES: Final = 100_000
"""Pods that ask for nothing would fit for ever."""
MIB: Final = 1 << 20


class Probe(NamedTuple):
    """What is tried again and again: a pod, or the pods of one round of a mix."""

    name: str
    pods: tuple[Pod, ...]

    @property
    def by_name(self) -> bool:
        """Whether answers depend on the node's name."""
        return any(needs_name(pod) for pod in self.pods)


def capacity(fleet: Fleet, probes: Sequence[Probe], *, right_size: int | None = None) -> CapacityResult:
    """Count copies of each probe on every node of a cluster.

    Args:
        fleet: the cluster as it is.
        probes: what is tried, each by itself.
        right_size: also look for the best shape of the first probe's first pod of which so many are aligned.
    """
    shapes = tuple([ShapeCapacity(probe.name, tuple(_nodes(fleet, probe))) for probe in probes])
    found = _right_size(fleet, probes[0].pods[0], right_size) if right_size is not None else None
    return CapacityResult(shapes, found, ())


def _nodes(fleet: Fleet, probe: Probe) -> Iterator[NodeCapacity]:
    """Count on every node; nodes that look equal are counted once, and so are their empty states."""
    known: dict[Hashable, NodeCapacity] = {}
    empty: dict[Hashable, tuple[int, int]] = {}
    by_name = probe.by_name
    for node in fleet.nodes:
        key = (node.name, look(node)) if by_name else look(node)
        found = known.get(key)
        if found is None:
            found = known[key] = _node(node, probe, empty)
        yield found._replace(node=node.name)


def _node(node: ClusterNode, probe: Probe, empty: dict[Hashable, tuple[int, int]]) -> NodeCapacity:
    requests = [read_request(pod) for pod in probe.pods]
    totals = node.totals
    bare = NodeTotals(totals.allocatable, {}, 0, totals.unjudged)
    allowed = all(node_filters.allows(node, pod).passed for pod in probe.pods)
    asked: dict[str, int] = {}
    for request in requests:
        for name, amount in node_level(request).items():
            asked[name] = asked.get(name, 0) + amount
    blind = _bag(totals, asked, len(probe.pods)) if allowed else 0
    blind_empty = _bag(bare, asked, len(probe.pods)) if allowed else 0
    if node.session is None:
        return NodeCapacity(node.name, None, None, None, None, blind, blind_empty, None, {}, None, ())
    before = export(node.session, node.name, _PLAIN)
    wanted = _numa_wanted(probe)
    if not allowed:
        limit = Limit("", (), next(node_filters.allows(node, pod).message for pod in probe.pods))
        return NodeCapacity(node.name, 0, 0, 0, 0, 0, 0, limit, {}, None, _rooms(before, wanted))
    count, aligned, last, refused = copies(node.session, probe)
    twin = node.session.node
    kind = id(twin.cpu), id(twin.memory), id(twin.device), tuple(sorted(totals.allocatable.items()))
    if kind not in empty:
        most, most_aligned, _, _ = copies(node.session.empty(), probe)
        empty[kind] = most, most_aligned
    after = export(last, node.name, _PLAIN)
    return NodeCapacity(
        node=node.name,
        now=count,
        aligned=aligned,
        empty=empty[kind][0],
        empty_aligned=empty[kind][1],
        blind=blind,
        blind_empty=blind_empty,
        limit=_limit(after, refused, wanted) if refused else None,
        stranded=_left(after, wanted),
        fragmentation=_fragmentation(before, totals, asked),
        zones=_rooms(before, wanted),
    )


_PLAIN: Final = ExportOptions(fingerprint=False)


def copies(session: Session, probe: Probe, most: int = MAX_COPIES) -> tuple[int, int, Session, Outcome | None]:
    """Admit copies until one is refused.

    Returns:
        How many came in, how many of them are aligned or have nothing to align, the node then, and the refusal.
    """
    count = aligned = 0
    while count < most:
        after, good = session, True
        for place, pod in enumerate(probe.pods):
            uid = f"copy-{count}-{place}"
            outcome = admission.admit(after, pod._replace(name=uid, uid=uid))
            if not outcome.admit:
                return count, aligned, session, outcome
            good = good and pod_result(outcome).aligned is not False
            after = outcome.then
        session = after
        count += 1
        aligned += good
    return count, aligned, session, None


def _bag(totals: NodeTotals, asked: Amounts, pods: int) -> int:
    """Count copies as somebody does who sees a node as one bag of resources."""
    bounds = [
        max(totals.allocatable.get(name, 0) - totals.used.get(name, 0), 0) // amount
        for name, amount in asked.items()
        if amount > 0 and name not in totals.unjudged
    ]
    if "pods" in totals.allocatable:
        bounds.append(max(totals.allocatable["pods"] // NANO - totals.pods, 0) // pods)
    return min(bounds, default=MAX_COPIES)


def _numa_wanted(probe: Probe) -> dict[str, int]:
    """Add up what one copy asks of NUMA nodes, in billionths: devices; the rest for Guaranteed pods only."""
    wanted: dict[str, int] = {}
    for pod in probe.pods:
        request = read_request(pod)
        for name, amount in effective(request).items():
            if amount > 0 and (not is_native(name) or (request.guaranteed and is_affine(name))):
                wanted[name] = wanted.get(name, 0) + amount
    return wanted


def _free(nrt: NodeResourceTopology) -> list[Amounts]:
    return [{name: one.available or 0 for name, one in zone.resources.items()} for zone in nrt.zones]


def _listed(nrt: NodeResourceTopology, wanted: Mapping[str, int]) -> dict[str, int]:
    """Keep what some zone lists: the rest belongs to the node as a whole, or its manager is off."""
    return {name: amount for name, amount in wanted.items() if name in nrt.listed}


def _rooms(nrt: NodeResourceTopology, wanted: Mapping[str, int]) -> tuple[ZoneRoom, ...]:
    """Say what is free on each NUMA node, and how many copies it holds alone."""
    probe = _listed(nrt, wanted)
    rooms = []
    for zone in nrt.zones:
        free = {name: (zone.resources[name].available or 0) if name in zone.resources else 0 for name in probe}
        total = {name: (zone.resources[name].allocatable or 0) if name in zone.resources else 0 for name in probe}
        rooms.append(
            ZoneRoom(
                number_of(zone.name) or 0,
                {name: amount // NANO for name, amount in free.items()},
                {name: amount // NANO for name, amount in total.items()},
                min((free[name] // amount for name, amount in probe.items()), default=0),
                min((total[name] // amount for name, amount in probe.items()), default=0),
            )
        )
    return tuple(rooms)


def _limit(after: NodeResourceTopology, refused: Outcome, wanted: Mapping[str, int]) -> Limit:
    """Name what is short: of the node as a whole, or the resource that is short on the most NUMA nodes."""
    if refused.fit is not None and refused.result.admit:
        short = next((one.resource for one in refused.fit.failures if isinstance(one, Shortage)), "")
        return Limit(short, (), refused.reason)
    where: dict[str, list[int]] = {}
    for zone in after.zones:
        for name, amount in _listed(after, wanted).items():
            have = zone.resources[name].available or 0 if name in zone.resources else 0
            if have < amount:
                where.setdefault(name, []).append(number_of(zone.name) or 0)
    if not where:
        return Limit("", (), refused.reason)
    resource = max(where, key=lambda name: len(where[name]))
    return Limit(resource, tuple(where[resource]), refused.reason)


def _left(after: NodeResourceTopology, wanted: Mapping[str, int]) -> dict[str, int]:
    """Add up what is left free of the probe's resources."""
    return {
        name: sum(zone.resources[name].available or 0 for zone in after.zones if name in zone.resources) // NANO
        for name in _listed(after, wanted)
    }


def _fragmentation(nrt: NodeResourceTopology, totals: NodeTotals, asked: Amounts) -> fragmentation.Fragmentation | None:
    """Measure what the borders between NUMA nodes cost this shape (scheduling.md 6.4)."""
    host = [name for name in asked if name not in nrt.listed and is_host_level(name)]
    probe = {name: amount for name, amount in asked.items() if name in nrt.listed or name in host}
    if not any(name in nrt.listed for name in probe):
        return None
    outside = {name: totals.allocatable.get(name, 0) - totals.used.get(name, 0) for name in host}
    return fragmentation.fragmentation(_free(nrt), probe, host=outside, host_level=host)


def _right_size(fleet: Fleet, pod: Pod, replicas: int) -> RightSize:
    """Find the most CPUs, then the most memory, with which so many copies are all aligned; devices are kept."""
    place = max(range(len(pod.containers)), key=lambda one: _cpus(pod, one))
    name = pod.containers[place].name
    most_cpus = max((_widest(node, CPU) for node in fleet.nodes), default=0)
    most_memory = max((_widest(node, MEMORY) for node in fleet.nodes), default=0) // MIB
    cpus = _largest(1, most_cpus, lambda count: _holds(fleet, _sized(pod, place, count, 1), replicas))
    if cpus is None:
        return RightSize(replicas, name, None, None)
    memory = _largest(1, most_memory, lambda count: _holds(fleet, _sized(pod, place, cpus, count), replicas))
    return RightSize(replicas, name, cpus, (memory or 1) * MIB)


def _cpus(pod: Pod, place: int) -> int:
    asked = pod.containers[place].requests.get(CPU)
    return asked.nano if asked else 0


def _widest(node: ClusterNode, resource: str) -> int:
    return node.totals.allocatable.get(resource, 0) // NANO


def _largest(low: int, high: int, holds: Callable[[int], bool]) -> int | None:
    """Find the largest number that holds, where all smaller ones hold too; None: not even the smallest."""
    if high < low or not holds(low):
        return None
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _sized(pod: Pod, place: int, cpus: int, mebibytes: int) -> Pod:
    """Change what one container asks; the pod is Guaranteed then, if the others allow it."""
    container = pod.containers[place]
    amounts = {CPU: from_int(cpus), MEMORY: from_int(mebibytes * MIB, "BinarySI")}
    changed = container._replace(requests={**container.requests, **amounts}, limits={**container.limits, **amounts})
    containers = (*pod.containers[:place], changed, *pod.containers[place + 1 :])
    return pod._replace(containers=containers, qos=qos_class(containers))


def _holds(fleet: Fleet, pod: Pod, replicas: int) -> bool:
    """Tell whether so many copies fit and all are aligned; stops counting as soon as they do."""
    probe = Probe(pod.name, (pod,))
    known: dict[Hashable, int] = {}
    total = 0
    for node in fleet.nodes:
        if node.session is None or not node_filters.allows(node, pod).passed:
            continue
        key = look(node)
        if key not in known:
            known[key] = copies(node.session, probe, replicas)[1]
        total += known[key]
        if total >= replicas:
            return True
    return False
