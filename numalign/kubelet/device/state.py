"""What the Device Manager knows: the devices of each plugin, and who holds which (docs/rules/device-manager.md 1).

A set of devices is an int: bit i is the i-th device of its resource in natural order (`gpu-2` before `gpu-10`), so that
"take any" is "take the lowest bit", one fixed choice among the kubelet's possible ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate

from numalign.kubelet.topology.hints import AtLeast, MaskSet, fewest
from numalign.kubelet.topology.merge.families import narrowest_width
from numalign.model.cpuset import DeviceSet, NUMAMask
from numalign.model.machine import Device, Machine
from numalign.values import NamedTuple


class Resource(NamedTuple):
    """One device plugin resource."""

    devices: tuple[Device, ...]
    """In natural order of their ids."""
    healthy: DeviceSet
    aware: bool
    """Topology-aware: some known device has a non-empty node list (3)."""
    no_topology: DeviceSet
    """Devices whose plugin gave no topology at all (nil)."""
    on_node: tuple[int, ...]
    """For each node id up to the largest: the devices with exactly that one node of the machine."""
    spanning: tuple[tuple[int, int], ...]
    """(device bit, mask of its nodes) of devices with two or more nodes of the machine."""
    nowhere: DeviceSet
    """Devices with a topology that touches no node of the machine."""
    without_affinity: DeviceSet
    """Devices that name no node at all, or only -1 (6.4)."""
    largest: tuple[int, ...]
    """`largest[k - 1]`: how many known devices the k best-equipped nodes have; without spanning devices."""
    nodes: NUMAMask
    """The NUMA nodes that hints are made of: those with devices, or all where no node has any
    (docs/rules/kubelet-versions.md 7.1)."""
    preferred_sets: tuple[int, ...]
    """Sets its plugin prefers, in order."""
    links: Mapping[int, int]
    """Pairs of devices -> number of links. A plugin that knows links prefers sets with many."""

    def on(self, nodes: NUMAMask) -> DeviceSet:
        """Return the devices that lie on some nodes, also those that lie on others, too."""
        found = 0
        for numa, members in enumerate(self.on_node):
            if nodes >> numa & 1:
                found |= members
        for bit, span in self.spanning:
            if span & nodes:
                found |= bit
        return found

    def width(self, amount: int) -> int:
        """The least number of `nodes` whose known devices, free or not, reach `amount` (4.1 step 1)."""
        if not self.spanning:
            return fewest(self.largest, amount)
        known = AtLeast(
            tuple(members.bit_count() for members in self.on_node), amount, tuple(mask for _, mask in self.spanning)
        )
        whole = MaskSet(self.nodes, (known,))
        return narrowest_width((whole,)) if whole.has(self.nodes) else self.nodes.bit_count()


class DeviceManager(NamedTuple):
    """All device plugin resources of a node."""

    resources: Mapping[str, Resource]
    nodes: NUMAMask
    """The mask of all NUMA nodes of the machine."""
    running: frozenset[tuple[str, str]] = frozenset()
    """(pod UID, container) of those that need no devices from a plugin, as they run while the kubelet starts."""


Holdings = Mapping[str, Mapping[str, int]]
"""Container name -> resource -> devices."""


class DeviceState(NamedTuple):
    """Who holds which devices."""

    holdings: Mapping[str, Holdings]
    """Pod UID -> container name -> resource -> devices."""
    allocated: Mapping[str, int]
    """Resource -> all devices that are given out."""
    reusable_of: str = ""
    """UID of the pod that `reusable` belongs to."""
    reusable: Mapping[str, int] = {}
    """Resource -> devices of ended init containers that later containers of the pod may take over (6.1)."""


EMPTY = DeviceState({}, {})


def natural_key(text: str) -> tuple[tuple[tuple[int, int, str], ...], str]:
    """Sort key of the natural order: digit runs as numbers, other runs as text, plain text on a tie."""
    runs = re.findall(r"[0-9]+|[^0-9]+", text)
    # Of numbers without leading zeros the longer is the larger. int() refuses thousands of digits.
    keys = [(0, len(run.lstrip("0")), run.lstrip("0")) if run[0] in "0123456789" else (1, 0, run) for run in runs]
    return tuple(keys), text


def build(machine: Machine) -> DeviceManager:
    """Read a machine's devices."""
    node_ids = [node.id for node in machine.numa_nodes]
    nodes = sum(1 << node for node in node_ids if 0 <= node < 64)
    resources = {}
    for name, devices in machine.devices.items():
        resources[name] = _resource(
            devices, nodes, machine.preferred_allocation.get(name, ()), machine.links.get(name, ())
        )
    return DeviceManager(resources, nodes)


@lru_cache  # a kubelet is started on the same machine for each setting that is tried
def _resource(
    given: tuple[Device, ...],
    nodes: NUMAMask,
    preferred: tuple[tuple[str, ...], ...],
    links: tuple[tuple[str, str, int], ...],
) -> Resource:
    devices = tuple(sorted(given, key=lambda device: natural_key(device.id)))
    healthy = no_topology = nowhere = without_affinity = 0
    on_node = [0] * nodes.bit_length()
    spanning = []
    for position, device in enumerate(devices):
        bit = 1 << position
        if device.healthy:
            healthy |= bit
        if not any(node != -1 for node in device.numa_nodes or ()):
            without_affinity |= bit
        if device.numa_nodes is None:
            no_topology |= bit
            continue
        mask = sum(1 << node for node in set(device.numa_nodes) if node >= 0 and nodes >> node & 1)
        if not mask:
            nowhere |= bit
        elif mask & (mask - 1):
            spanning.append((bit, mask))
        else:
            on_node[mask.bit_length() - 1] |= bit
    with_devices = sum(1 << node for node, members in enumerate(on_node) if members)
    for _, mask in spanning:
        with_devices |= mask
    hinted = with_devices or nodes
    return Resource(
        devices=devices,
        healthy=healthy,
        aware=any(device.numa_nodes for device in devices),
        no_topology=no_topology,
        on_node=tuple(on_node),
        spanning=tuple(spanning),
        nowhere=nowhere,
        without_affinity=without_affinity,
        largest=_largest(on_node, hinted),
        nodes=hinted,
        preferred_sets=_sets(devices, preferred),
        links=_links(devices, links),
    )


def _largest(on_node: Sequence[int], nodes: NUMAMask) -> tuple[int, ...]:
    counts = [members.bit_count() for node, members in enumerate(on_node) if nodes >> node & 1]
    return tuple(accumulate(sorted(counts, reverse=True)))


def unregistered(resource: Resource) -> Resource:
    """Return a resource whose plugin has not registered yet: nobody tells where its devices are, or that they work."""
    return _resource(tuple([Device(one.id, None, healthy=False) for one in resource.devices]), 0, (), ())


def with_hints_everywhere(manager: DeviceManager) -> DeviceManager:
    """Let hints be made of all NUMA nodes, as up to 1.35 (docs/rules/device-manager.md 4.1)."""
    return manager._replace(
        resources={
            name: resource._replace(nodes=manager.nodes, largest=_largest(resource.on_node, manager.nodes))
            for name, resource in manager.resources.items()
        }
    )


def _links(devices: tuple[Device, ...], links: Iterable[tuple[str, str, int]]) -> dict[int, int]:
    """Turn pairs of ids into sets of two devices."""
    bits = {device.id: 1 << place for place, device in enumerate(devices)}
    return {bits[one] | bits[other]: count for one, other, count in links}


def _sets(devices: tuple[Device, ...], preferred: Iterable[Iterable[str]]) -> tuple[int, ...]:
    """Turn sets of ids into sets; a set that names an unknown device can never be offered and is left out."""
    position = {device.id: index for index, device in enumerate(devices)}
    return tuple(
        sum(1 << position[device] for device in set(members))
        for members in map(tuple, preferred)
        if all(device in position for device in members)
    )


def device_ids(resource: Resource, members: DeviceSet) -> list[str]:
    """Return the ids of a set of devices in natural order."""
    return [device.id for position, device in enumerate(resource.devices) if members >> position & 1]


def per_numa(resource: Resource, members: DeviceSet) -> dict[int, int]:
    """Count a set of devices by NUMA id: one with several nodes under each, one without under -1 (1.5)."""
    counts: dict[int, int] = {}
    for position, device in enumerate(resource.devices):
        if members >> position & 1:
            for node in device.numa_nodes or (-1,):
                counts[node] = counts.get(node, 0) + 1
    return counts


def remove(state: DeviceState, uid: str) -> DeviceState:
    """Forget a pod that is no longer active; what it held is free again (7.1)."""
    if uid not in state.holdings:
        return state
    holdings = {pod: held for pod, held in state.holdings.items() if pod != uid}
    allocated: dict[str, int] = dict.fromkeys(state.allocated, 0)
    for held in holdings.values():
        for resources in held.values():
            for name, members in resources.items():
                allocated[name] |= members
    return DeviceState(holdings, allocated, state.reusable_of, state.reusable)
