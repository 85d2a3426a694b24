"""Which sets of devices a plugin prefers, and what that makes of hints: as proposed in 2019, and in the kubelet.

docs/rules/device-manager.md 8 and its example 7.
"""

from __future__ import annotations

from numalign.errors import InputError
from numalign.kubelet import device
from numalign.kubelet.demand import ContainerDemand, PodDemand
from numalign.kubelet.device.state import build
from numalign.kubelet.proposals.preferred_sets import build_as_proposed, nodes_of, preferred_allocations
from numalign.kubelet.topology.hints import HintList
from numalign.kubelet.topology.policy import explicit
from numalign.model.machine import Machine
from numalign.values import NamedTuple


class PreferredSets(NamedTuple):
    """What a plugin answers to GetPreferredAllocations on an empty machine, and the hints that follow."""

    resource: str
    size: int
    sets: tuple[tuple[tuple[str, ...], int], ...] | None
    """(device ids, mask of their NUMA nodes) pairs, in the plugin's order; None: no preference for this size."""
    proposal: HintList
    kubelet: HintList
    nodes: int
    """How many NUMA node ids there are, gaps included."""


def preferred_sets(machine: Machine, resource: str, size: int) -> PreferredSets:
    """List the preferred sets of a size and the hints for a request of it.

    Raises:
        InputError: the machine has no such resource.
    """
    if resource not in machine.devices:
        known = ", ".join(sorted(machine.devices)) or "none"
        raise InputError(f"machine {machine.name} has no devices {resource}; it has {known}")
    proposed = build_as_proposed(machine)
    asked = proposed.resources[resource]
    sets = preferred_allocations(asked, size)
    return PreferredSets(
        resource=resource,
        size=size,
        sets=None
        if sets is None
        else tuple((tuple(device.device_ids(asked, members)), nodes_of(asked, members)) for members in sets),
        proposal=_hints(proposed, resource, size),
        kubelet=_hints(build(machine), resource, size),
        nodes=max((node.id for node in machine.numa_nodes), default=0) + 1,
    )


def _hints(manager: device.DeviceManager, resource: str, size: int) -> HintList:
    container = ContainerDemand("c", "app", 0, (), ((resource, size),))
    pod = PodDemand(uid="p", guaranteed=False, containers=(container,), cpus=0, memory=(), devices=container.devices)
    return explicit([device.container_hints(manager, device.EMPTY, pod, container)[resource]])[0]
