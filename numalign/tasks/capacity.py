"""How many more pods of a shape, or rounds of a mix, a cluster holds; what limits it, and what is stranded."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Final

from numalign.kubelet.admission import Outcome
from numalign.kubelet.fit.check import Shortage
from numalign.model.quantity import NANO
from numalign.model.resources import CPU
from numalign.results.capacity import CapacityResult, Limit, NodeCapacity, Rounds, ShapeCapacity, ZoneRoom
from numalign.scheduler import fragmentation, node_filters
from numalign.scheduler.node import ClusterNode, Fleet, lacking, look
from numalign.scheduler.node_fit import NodeTotals
from numalign.scheduler.nrt.export import ExportOptions, export
from numalign.scheduler.nrt.value import NodeResourceTopology, number_of
from numalign.scheduler.request import ContainerRequest, add, effective, node_load, read_request
from numalign.scheduler.resources import Amounts, is_affine, is_native, is_whole
from numalign.tasks.parallel import spread
from numalign.worlds.copies import MAX_COPIES, Copies, Probe, bags, copies, fill, right_size_of, twins
from numalign.worlds.missing import nowhere_notices


def capacity(fleet: Fleet, probes: Sequence[Probe], *, right_size: int | None = None, jobs: int = 1) -> CapacityResult:
    """Count copies of each probe on every node of a cluster.

    Args:
        fleet: the cluster as it is.
        probes: what is tried, each by itself.
        right_size: also look for the best shape of the first probe's first pod of which so many are aligned.
        jobs: how many processes count; the result is the same.
    """
    shapes = tuple(
        [
            _mix(fleet, probe) if len(probe.pods) > 1 else ShapeCapacity(probe.name, tuple(_nodes(fleet, probe, jobs)))
            for probe in probes
        ]
    )
    found = right_size_of(fleet, probes[0], right_size) if right_size is not None else None
    notices = [notice for shape in shapes for notice in nowhere_notices(fleet.nodes, shape)]
    return CapacityResult(shapes, found, tuple(notices))


def _mix(fleet: Fleet, probe: Probe) -> ShapeCapacity:
    """Count rounds of a mix, whose pods may go to different nodes; counts of nodes are of pods."""
    now = fill(twins(fleet.nodes), probe.pods)
    empty = fill(twins(fleet.nodes, empty=True), probe.pods)
    # Filling bags in order may end early; what the kubelets admit fits the bags, too.
    by_rounds = attrgetter("rounds")
    blind = max(fill(bags(fleet.nodes), probe.pods), now, key=by_rounds)
    blind_empty = max(fill(bags(fleet.nodes, empty=True), probe.pods), empty, key=by_rounds)
    wanted = _numa_wanted(probe)
    nodes = []
    for place, node in enumerate(fleet.nodes):
        found = NodeCapacity(
            node=node.name,
            blind=blind.counts[place],
            blind_empty=blind_empty.counts[place],
            missing=lacking(node, probe.pods),
        )
        twin = now.places[place]
        if node.session is not None and twin.session is not None:
            found = found._replace(
                now=now.counts[place],
                aligned=now.aligned[place],
                empty=empty.counts[place],
                empty_aligned=empty.aligned[place],
                nothing=now.nothing[place],
                empty_nothing=empty.nothing[place],
                stranded=_left(export(twin.session, node.name, _PLAIN), wanted),
                zones=_rooms(export(node.session, node.name, _PLAIN), wanted),
            )
        nodes.append(found)
    rounds = Rounds(now.rounds, empty.rounds, blind.rounds, blind_empty.rounds)
    return ShapeCapacity(probe.name, tuple(nodes), rounds)


def _nodes(fleet: Fleet, probe: Probe, jobs: int) -> Iterator[NodeCapacity]:
    """Count on every node; nodes that look equal are counted once, and so are their empty states."""
    by_name = probe.by_name
    keys: list[Hashable] = [node.name if by_name else (look(node), probe.selects(node)) for node in fleet.nodes]
    different = dict(zip(keys, fleet.nodes, strict=True))
    empty: dict[Hashable, Copies] = {}
    for node in different.values():
        if node.session is not None and _kind(node, probe) not in empty:
            empty[_kind(node, probe)] = copies(node.session.empty(), probe)
    counted = spread(lambda node: _node(node, probe, empty), list(different.values()), jobs)
    known = dict(zip(different, counted, strict=True))
    for key, node in zip(keys, fleet.nodes, strict=True):
        yield known[key]._replace(node=node.name)


def _kind(node: ClusterNode, probe: Probe) -> Hashable:
    """Make a key of what an empty node is."""
    if node.session is None:
        return None
    twin = node.session.node
    return (
        *(id(manager) for manager in (twin.cpu, twin.memory, twin.device)),
        tuple(sorted(node.totals.allocatable.items())),
        node.taints,
        probe.selects(node),
        node.name if probe.by_name else "",
    )


def _node(node: ClusterNode, probe: Probe, empty: Mapping[Hashable, Copies]) -> NodeCapacity:
    requests = [read_request(pod) for pod in probe.pods]
    totals = node.totals
    bare = NodeTotals(totals.allocatable, {}, 0, totals.unjudged)
    allowed = all(node_filters.allows(node, pod).passed for pod in probe.pods)
    asked: dict[str, int] = {}
    for request in requests:
        add(asked, node_load(request).asked)
    blind = _bag(totals, asked, len(probe.pods)) if allowed else 0
    blind_empty = _bag(bare, asked, len(probe.pods)) if allowed else 0
    missing = lacking(node, probe.pods)
    if node.session is None:  # nobody knows what it is made of
        return NodeCapacity(node.name, blind=blind, blind_empty=blind_empty, missing=missing)
    before = export(node.session, node.name, _PLAIN)
    wanted = _numa_wanted(probe)
    rooms = _rooms(before, wanted)
    closed = NodeCapacity(node.name, 0, 0, 0, 0, missing=missing, zones=rooms)  # the pods may not come to it
    if not allowed:
        limit = Limit("", (), next(node_filters.allows(node, pod).message for pod in probe.pods))
        return closed._replace(limit=limit)
    if missing:
        limit = Limit(missing[0], (), f"Insufficient {missing[0]}")
        return closed._replace(limit=limit, zones=tuple([room._replace(copies=0, most=0) for room in rooms]))
    now, bare_now = copies(node.session, probe), empty[_kind(node, probe)]
    after = export(now.last, node.name, _PLAIN)
    return NodeCapacity(
        node=node.name,
        now=now.fit,
        aligned=now.aligned,
        empty=bare_now.fit,
        empty_aligned=bare_now.aligned,
        nothing=now.nothing,
        empty_nothing=bare_now.nothing,
        blind=blind,
        blind_empty=blind_empty,
        limit=_limit(after, now.refused, wanted) if now.refused else None,
        stranded=_left(after, wanted),
        fragmentation=_fragmentation(before, totals, asked, wanted),
        zones=rooms,
    )


_PLAIN: Final = ExportOptions(fingerprint=False)


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


def _pinned(container: ContainerRequest) -> ContainerRequest:
    """Leave out CPUs that no kubelet pins, because they are not whole."""
    kept = [(name, amount) for name, amount in container.items if name != CPU or is_whole(amount)]
    return container._replace(items=tuple(kept))


def _numa_wanted(probe: Probe) -> dict[str, int]:
    """Add up what one copy asks of NUMA nodes, in billionths: devices; the rest for Guaranteed pods only."""
    wanted: dict[str, int] = {}
    for pod in probe.pods:
        request = read_request(pod)
        request = request._replace(containers=tuple(map(_pinned, request.containers)))
        for name, amount in effective(request).items():
            if amount > 0 and (not is_native(name) or (request.guaranteed and is_affine(name))):
                wanted[name] = wanted.get(name, 0) + amount
    return wanted


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


def _fragmentation(
    nrt: NodeResourceTopology, totals: NodeTotals, asked: Amounts, wanted: Amounts
) -> fragmentation.Fragmentation | None:
    """Measure what the borders between NUMA nodes cost this shape (scheduling.md 6.4); None: it asks none of them."""
    host = [name for name in asked if name not in nrt.listed and name not in totals.unjudged]
    listed = _listed(nrt, wanted)
    if not listed:
        return None
    probe = {name: amount for name, amount in asked.items() if name in listed or name in host}
    outside = {name: totals.allocatable.get(name, 0) - totals.used.get(name, 0) for name in host}
    free = [{name: one.available or 0 for name, one in zone.resources.items()} for zone in nrt.zones]
    return fragmentation.fragmentation(free, probe, host=outside, host_level=host)
