"""How many more pods of a shape, or rounds of a mix, a cluster holds; what limits it, and what is stranded."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Final

from numalign.analysis import alignment
from numalign.kubelet import admission
from numalign.kubelet.admission import Outcome, Session
from numalign.kubelet.fit import check as fit
from numalign.kubelet.fit.check import Shortage
from numalign.model.apiserver.defaulting import qos_class
from numalign.model.pod import Container, Pod
from numalign.model.quantity import NANO, Quantity, from_int
from numalign.model.resources import CPU, MEMORY, unit_of
from numalign.results.capacity import CapacityResult, Limit, NodeCapacity, RightSize, Rounds, ShapeCapacity, ZoneRoom
from numalign.scheduler import fragmentation, node_filters
from numalign.scheduler.node import ClusterNode, Fleet, look, needs_name
from numalign.scheduler.node_fit import NodeTotals
from numalign.scheduler.nrt.export import ExportOptions, export
from numalign.scheduler.nrt.value import NodeResourceTopology, number_of
from numalign.scheduler.request import effective, node_level
from numalign.scheduler.request import read as read_request
from numalign.scheduler.resources import Amounts, is_affine, is_host_level, is_native
from numalign.tasks import mix
from numalign.tasks.spread import spread
from numalign.values import NamedTuple

MAX_COPIES: Final = 100_000
"""Pods that ask for nothing would fit for ever."""
MANY_PODS: Final = 8
"""More pods than this are added up once and stand as one."""
PODS: Final = "pods"
MIB: Final = 1 << 20


class Probe(NamedTuple):
    """What is tried again and again: a pod, or the pods of one round of a mix."""

    name: str
    pods: tuple[Pod, ...]

    @property
    def by_name(self) -> bool:
        """Whether answers depend on the node's name."""
        return any(needs_name(pod) for pod in self.pods)


def capacity(fleet: Fleet, probes: Sequence[Probe], *, right_size: int | None = None, jobs: int = 1) -> CapacityResult:
    """Count copies of each probe on every node of a cluster.

    Args:
        fleet: the cluster as it is.
        probes: what is tried, each by itself.
        right_size: also look for the best shape of the first probe's first pod of which so many are aligned.
        jobs: how many processes count; the result is the same.
    """
    shapes = tuple([_mix(fleet, probe) if len(probe.pods) > 1 else _shape(fleet, probe, jobs) for probe in probes])
    found = _right_size(fleet, probes[0].pods[0], right_size) if right_size is not None else None
    return CapacityResult(shapes, found, ())


def _shape(fleet: Fleet, probe: Probe, jobs: int) -> ShapeCapacity:
    return ShapeCapacity(probe.name, tuple(_nodes(fleet, probe, jobs)))


def _mix(fleet: Fleet, probe: Probe) -> ShapeCapacity:
    """Count rounds of a mix, whose pods may go to different nodes; counts of nodes are of pods."""
    now = mix.fill(mix.twins(fleet.nodes), probe.pods)
    empty = mix.fill(mix.twins(fleet.nodes, empty=True), probe.pods)
    # Filling bags in order may end early; what the kubelets admit fits the bags, too.
    blind = max(mix.fill(mix.bags(fleet.nodes), probe.pods), now, key=_rounds)
    blind_empty = max(mix.fill(mix.bags(fleet.nodes, empty=True), probe.pods), empty, key=_rounds)
    wanted = _numa_wanted(probe)
    nodes = []
    for place, node in enumerate(fleet.nodes):
        twin = now.places[place]
        known = node.session is not None
        nodes.append(
            NodeCapacity(
                node=node.name,
                now=now.counts[place] if known else None,
                aligned=now.aligned[place] if known else None,
                empty=empty.counts[place] if known else None,
                empty_aligned=empty.aligned[place] if known else None,
                blind=blind.counts[place],
                blind_empty=blind_empty.counts[place],
                limit=None,
                stranded=_left(export(twin.session, node.name, _PLAIN), wanted) if twin.session else {},
                fragmentation=None,
                zones=_rooms(export(node.session, node.name, _PLAIN), wanted) if node.session else (),
            )
        )
    rounds = Rounds(now.rounds, empty.rounds, blind.rounds, blind_empty.rounds)
    return ShapeCapacity(probe.name, tuple(nodes), rounds)


def _rounds(filled: mix.Filled) -> int:
    return filled.rounds


def _nodes(fleet: Fleet, probe: Probe, jobs: int) -> Iterator[NodeCapacity]:
    """Count on every node; nodes that look equal are counted once, and so are their empty states."""
    by_name = probe.by_name
    keys: list[Hashable] = [(node.name, look(node)) if by_name else look(node) for node in fleet.nodes]
    different = dict(zip(keys, fleet.nodes, strict=True))
    empty: dict[Hashable, tuple[int, int]] = {}
    for node in different.values():
        if node.session is not None and _kind(node) not in empty:
            empty[_kind(node)] = copies(node.session.empty(), probe)[:2]
    counted = spread(lambda node: _node(node, probe, empty), list(different.values()), jobs)
    known = dict(zip(different, counted, strict=True))
    for key, node in zip(keys, fleet.nodes, strict=True):
        yield known[key]._replace(node=node.name)


def _kind(node: ClusterNode) -> Hashable:
    """Make a key of what an empty node is."""
    if node.session is None:
        return None
    twin = node.session.node
    return id(twin.cpu), id(twin.memory), id(twin.device), tuple(sorted(node.totals.allocatable.items()))


def _node(node: ClusterNode, probe: Probe, empty: Mapping[Hashable, tuple[int, int]]) -> NodeCapacity:
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
    after = export(last, node.name, _PLAIN)
    return NodeCapacity(
        node=node.name,
        now=count,
        aligned=aligned,
        empty=empty[_kind(node)][0],
        empty_aligned=empty[_kind(node)][1],
        blind=blind,
        blind_empty=blind_empty,
        limit=_limit(after, refused, wanted) if refused else None,
        stranded=_left(after, wanted),
        fragmentation=_fragmentation(before, totals, asked),
        zones=_rooms(before, wanted),
    )


_PLAIN: Final = ExportOptions(fingerprint=False)


def copies(session: Session, probe: Probe, most: int = MAX_COPIES) -> tuple[int, int, Session, Outcome | None]:
    """Admit copies of a pod until one is refused.

    Returns:
        How many came in, how many of them are aligned or have nothing to align, the node then, and the refusal.
    """
    count = aligned = 0
    while count < most:
        if len(session.pods) > MANY_PODS and not probe.by_name:
            session = _condensed(session)
        uid = f"copy-{count}"
        outcome = admission.admit(session, probe.pods[0]._replace(name=uid, uid=uid))
        if not outcome.admit:
            return count, aligned, session, outcome
        session = outcome.then
        count += 1
        aligned += alignment.aligned(outcome) is not False
    return count, aligned, session, None


def _condensed(session: Session) -> Session:
    """Let one pod ask for what all pods of a node ask together; the node takes so many pods less.

    The fit check adds them up again for every copy. Their sum and their number are all that it wants to know, unless a
    pod has host ports or may evict others (`Probe.by_name`).
    """
    if session.view is None:
        return session
    sums: dict[str, int] = {}
    for pod in session.pods:
        for name, amount in fit.requested(pod):
            sums[name] = sums.get(name, 0) + amount
    requests = {name: Quantity(amount * unit_of(name), "DecimalSI", None) for name, amount in sums.items()}
    everything = Pod("others", "others", "Burstable", (Container("others", "app", requests, {}),))
    have = session.view.allocatable
    if PODS in have:
        fewer = have[PODS].nano - (len(session.pods) - 1) * NANO
        have = {**have, PODS: Quantity(fewer, "DecimalSI", None)}
    return session._replace(pods=(everything,), view=session.view._replace(allocatable=have))


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
