"""Choosing devices for a container, and the reuse of init containers' devices (docs/rules/device-manager.md 6).

Links between devices (NVLinks of a DGX-1) give preferred sets: the more links in a set, the better.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from math import comb

from numalign.kubelet.demand import ContainerDemand, PodDemand
from numalign.kubelet.device.state import DeviceManager, DeviceState, Resource
from numalign.kubelet.errors import AllocationError
from numalign.kubelet.topology.hints import TopologyHint
from numalign.model.cpuset import DeviceSet, NUMAMask
from numalign.values import NamedTuple


class _Affinity(NamedTuple):
    """The free devices, split by the stored mask (6.4)."""

    aligned: DeviceSet
    unaligned: DeviceSet
    none: DeviceSet


def allocate(
    manager: DeviceManager, state: DeviceState, pod: PodDemand, container: ContainerDemand, hint: TopologyHint
) -> DeviceState:
    """Give a container its devices; the reuse set is updated after success (6.1, 6.2).

    On failure the kubelet leaves what it recorded for earlier resources of the container until the refused pod is
    collected (6.6). Nothing looks in between, so here a failed call changes nothing.

    Raises:
        AllocationError: no devices, or not enough; resources are tried in order of their names.
    """
    if not container.devices:
        return state
    if state.reusable_of != pod.uid:
        state = DeviceState(state.holdings, state.allocated, pod.uid)
    held = state.holdings.get(pod.uid, {}).get(container.name, {})
    chosen = dict(held)
    for name, amount in container.devices:
        resource = manager.resources.get(name)
        if resource is not None and name not in container.claimed:
            running = (pod.uid, container.name) in manager.running
            members = _choose(resource, state, pod, container, name, amount, hint.numa_affinity, running=running)
            if members:
                chosen[name] = members
    if not chosen:
        return state
    if chosen != held:
        state = _record(state, pod.uid, container.name, chosen)
    return _update_reusable(state, container, chosen)


def _record(state: DeviceState, uid: str, container: str, held: Mapping[str, int]) -> DeviceState:
    """Record what (pod, container) holds now."""
    allocated = dict(state.allocated)
    for name, members in held.items():
        allocated[name] = allocated.get(name, 0) | members
    of_pod = {**state.holdings.get(uid, {}), container: held}
    return DeviceState({**state.holdings, uid: of_pod}, allocated, state.reusable_of, state.reusable)


def _update_reusable(state: DeviceState, container: ContainerDemand, held: Mapping[str, int]) -> DeviceState:
    """Init containers offer their devices to later containers; sidecars and app containers keep theirs (6.1.3)."""
    if container.kind != "init" and not state.reusable:
        return state
    reusable = dict(state.reusable)
    for name, members in held.items():
        before = reusable.get(name, 0)
        reusable[name] = before | members if container.kind == "init" else before & ~members
    return state._replace(reusable=reusable)


def _choose(
    resource: Resource,
    state: DeviceState,
    pod: PodDemand,
    container: ContainerDemand,
    name: str,
    amount: int,
    numa_affinity: NUMAMask | None,
    *,
    running: bool,
) -> int:
    """Choose devices of one resource, step by step as in 6.3; what is held already stays."""
    held = state.holdings.get(pod.uid, {}).get(container.name, {}).get(name, 0)
    if held and held.bit_count() != amount:
        raise AllocationError(
            f'pod "{pod.uid}" container "{container.name}" changed request for resource "{name}" '
            f"from {held.bit_count()} to {amount}"
        )
    if running:
        return held
    if not resource.healthy:
        raise AllocationError(f"no healthy devices present; cannot allocate unhealthy devices {name}")
    if held & ~resource.healthy:
        raise AllocationError(
            f"previously allocated devices are no longer healthy; cannot allocate unhealthy devices {name}"
        )
    if held:
        return held
    taken = _lowest(state.reusable.get(name, 0), amount)
    need = amount - taken.bit_count()
    if not need:
        return taken
    free = resource.healthy & ~state.allocated.get(name, 0) & ~taken
    if free.bit_count() < need:
        raise AllocationError(
            f"requested number of devices unavailable for {name}. Requested: {need}, Available: {free.bit_count()}"
        )
    return _choose_aligned(resource, free, taken, amount, numa_affinity)


def _choose_aligned(
    resource: Resource, free: DeviceSet, taken: DeviceSet, amount: int, numa_affinity: NUMAMask | None
) -> DeviceSet:
    """Choose the rest beside what is `taken`: aligned devices first, the plugin's choice among them (6.3)."""
    need = amount - taken.bit_count()
    split = _split(resource, free, numa_affinity)
    if need < split.aligned.bit_count():
        answer = _ask_plugin(resource, split.aligned | taken, taken, amount)
        return taken | _take((answer & split.aligned, split.aligned), need)
    taken |= split.aligned
    need -= split.aligned.bit_count()
    answer = _ask_plugin(resource, free | taken, taken, amount)
    free &= ~taken
    return taken | _take((answer & free, split.unaligned, split.none), need)


def _take(sets: tuple[int, ...], need: int) -> DeviceSet:
    """Take `need` devices, from the first set while it lasts, then from the next."""
    taken = 0
    for members in sets:
        part = _lowest(members & ~taken, need)
        taken |= part
        need -= part.bit_count()
    return taken


def _lowest(members: DeviceSet, count: int) -> DeviceSet:
    """Take up to `count` devices in natural order."""
    taken = 0
    for _ in range(min(count, members.bit_count())):
        bit = members & -members
        taken |= bit
        members ^= bit
    return taken


def _split(resource: Resource, free: DeviceSet, mask: NUMAMask | None) -> _Affinity:
    """Split free devices into aligned, unaligned and without affinity (6.4)."""
    if mask is None:
        return _Affinity(0, 0, free)
    aligned = 0  # as `Resource.on`, written out: this runs for each container that asks for devices
    for node, members in enumerate(resource.on_node):
        if mask >> node & 1:
            aligned |= members
    for bit, nodes in resource.spanning:
        if nodes & mask:
            aligned |= bit
    aligned &= free
    none = free & resource.without_affinity
    return _Affinity(aligned, free & ~aligned & ~none, none)


def _ask_plugin(resource: Resource, available: DeviceSet, must_include: DeviceSet, size: int) -> DeviceSet:
    """GetPreferredAllocation (6.5): the first set of the size within what is offered that has all that it must.

    A plugin that knows links answers with the most links among what is offered.
    """
    for members in resource.preferred_sets:
        if members.bit_count() == size and not members & ~available and not must_include & ~members:
            return members
    if not resource.links:
        return 0
    return best_sets(resource.links, available, must_include, size)[0]


MAX_SETS = 20_000
"""How many sets are compared; beyond it one good set is grown link by link."""

Links = Mapping[int, int]
"""A pair of devices, as a set of two, -> the number of links between them."""


def links_within(links: Links, members: DeviceSet) -> int:
    """Count the links between the devices of a set."""
    return sum(count for pair, count in links.items() if not pair & ~members)


def best_sets(links: Links, pool: DeviceSet, must_include: DeviceSet, size: int) -> tuple[int, ...]:
    """Return the sets of `size` devices of `pool` with the most links, in natural order of their devices.

    Args:
        links: the links.
        pool: what there is to choose from; all of `must_include` belong to it.
        must_include: devices that every set has.
        size: how many devices a set has.
    """
    missing = size - must_include.bit_count()
    free = [1 << place for place in range(pool.bit_length()) if (pool & ~must_include) >> place & 1]
    if missing < 0:
        return ()
    if comb(len(free), missing) > MAX_SETS:
        return (_grow(links, free, must_include, missing),)
    sets = [must_include | sum(chosen) for chosen in combinations(free, missing)]
    counts = [links_within(links, members) for members in sets]
    most = max(counts, default=None)
    return tuple([members for members, count in zip(sets, counts, strict=True) if count == most])


def _grow(links: Links, free: list[int], members: DeviceSet, missing: int) -> int:
    """Add the device with the most links to the set, again and again; of equal ones the first."""
    left = list(free)
    if not members:
        pairs = [(-count, pair) for pair, count in links.items() if not pair & ~sum(free)]
        members = min(pairs)[1] if pairs else 0
        missing -= members.bit_count()
        left = [device for device in left if not device & members]
    for _ in range(missing):
        closest = max(left, key=lambda device: links_within(links, members | device))
        members |= closest
        left.remove(closest)
    return members
