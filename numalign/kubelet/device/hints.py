"""Topology hints for devices (docs/rules/device-manager.md 3, 4, 5)."""

from __future__ import annotations

from numalign.kubelet.demand import ContainerDemand, PodDemand
from numalign.kubelet.device.state import DeviceManager, DeviceState, Resource
from numalign.kubelet.topology.effort import all_sets
from numalign.kubelet.topology.hints import (
    CANNOT_FIT,
    NO_PREFERENCE,
    AtLeast,
    HintFamily,
    Hints,
    MaskSet,
    ProviderAnswer,
)
from numalign.model.cpuset import DeviceSet


def container_hints(
    manager: DeviceManager, state: DeviceState, pod: PodDemand, container: ContainerDemand
) -> ProviderAnswer:
    """Answer for one container (4): one entry for each device plugin resource it names, also for an amount of 0."""
    answer: dict[str, Hints] = {}
    for name, amount in container.devices:
        resource = manager.resources.get(name)
        if resource is not None:
            held = state.holdings.get(pod.uid, {}).get(container.name, {}).get(name, 0)
            reusable = state.reusable.get(name, 0) if state.reusable_of == pod.uid else 0
            answer[name] = _hints(manager, state, name, amount, held, reusable)
    return answer


def pod_hints(manager: DeviceManager, state: DeviceState, pod: PodDemand) -> ProviderAnswer:
    """Answer for a whole pod (5): its effective limits, what any container holds, and nothing to reuse."""
    answer: dict[str, Hints] = {}
    for name, amount in pod.devices:
        if name in manager.resources:
            held = 0
            for resources in state.holdings.get(pod.uid, {}).values():
                held |= resources.get(name, 0)
            answer[name] = _hints(manager, state, name, amount, held, 0)
    return answer


def _hints(
    manager: DeviceManager, state: DeviceState, name: str, amount: int, held: DeviceSet, reusable: DeviceSet
) -> Hints:
    """The table of section 4, row by row."""
    resource = manager.resources[name]
    if not resource.aware:
        return NO_PREFERENCE
    if held:
        if held.bit_count() != amount:
            return CANNOT_FIT
        return _generate(resource, held, 0, amount)
    available = resource.healthy & ~state.allocated.get(name, 0)
    if (available | reusable).bit_count() < amount:
        return CANNOT_FIT
    return _generate(resource, available, reusable, amount)


def _generate(resource: Resource, available: DeviceSet, reusable: DeviceSet, amount: int) -> Hints:
    """Describe all masks that hold `amount` of the available devices and touch every reusable one (4.1)."""
    if reusable & resource.nowhere:
        return CANNOT_FIT
    required = sum([1 << node for node, members in enumerate(resource.on_node) if members & reusable])
    touched = tuple([mask for bit, mask in resource.spanning if bit & reusable])
    amount_left = amount - (reusable & ~resource.no_topology).bit_count()
    weights = tuple([(members & available).bit_count() for members in resource.on_node])
    spans = tuple([mask for bit, mask in resource.spanning if bit & available])
    mask_set = MaskSet(resource.nodes, (AtLeast(weights, amount_left, spans),), required, touched)
    if not mask_set.has(resource.nodes):
        return CANNOT_FIT
    return HintFamily((mask_set,), resource.width(amount))


def sets_tried(manager: DeviceManager, state: DeviceState, pod: PodDemand, container: ContainerDemand | None) -> int:
    """Count the sets of NUMA nodes that are tried, resource by resource: none where too few devices are free at all."""
    found = 0
    for name, amount in (container or pod).devices:
        resource = manager.resources.get(name)
        if resource is not None and resource.aware:
            free = resource.healthy & ~state.allocated.get(name, 0)
            if free.bit_count() >= amount:
                found += all_sets(resource.nodes.bit_count())
    return found
