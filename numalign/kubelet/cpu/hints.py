"""Topology hints of the CPU Manager (docs/rules/cpu-manager.md 6).

Hint generation comes after the removal of stale state (10.3), which is the caller's `collect`.
"""

from __future__ import annotations

from numalign.kubelet.cpu.manager import CPUManager
from numalign.kubelet.cpu.state import CPUState
from numalign.kubelet.demand import ContainerDemand, PodDemand
from numalign.kubelet.topology.effort import all_sets
from numalign.kubelet.topology.hints import CANNOT_FIT, AtLeast, HintFamily, MaskSet, ProviderAnswer, SocketAlignment
from numalign.model.cpuset import CPUSet

NO_OPINION: ProviderAnswer = {}


def container_hints(manager: CPUManager, state: CPUState, pod: PodDemand, container: ContainerDemand) -> ProviderAnswer:
    """Say which NUMA nodes would do for one container (6.1)."""
    request = container.cpus
    if not request or not manager.static:
        return NO_OPINION
    held = state.assigned(pod.uid, container.name)
    if held is None:
        return _generate(manager, state.default & ~manager.reserved, state.reusable(pod.uid), request)
    if held.bit_count() != request:
        return {"cpu": CANNOT_FIT}
    return _generate(manager, held, 0, request)


def pod_hints(manager: CPUManager, state: CPUState, pod: PodDemand) -> ProviderAnswer:
    """Say which NUMA nodes would do for a whole pod (6.2)."""
    request = pod.cpus
    if not request or not manager.static:
        return NO_OPINION
    held = 0
    for container in pod.containers:
        cpus = state.assigned(pod.uid, container.name)
        if cpus is None:
            continue
        if cpus.bit_count() != container.cpus:
            return {"cpu": CANNOT_FIT}
        held |= cpus
    if held.bit_count() == request:
        return _generate(manager, held, 0, request)
    return _generate(manager, state.default & ~manager.reserved, state.reusable(pod.uid) | held, request)


def _generate(manager: CPUManager, available: CPUSet, reusable: CPUSet, request: int) -> ProviderAnswer:
    """Describe the sets of NUMA nodes that hold the request (6.3, 6.4).

    A CPU that is available *and* reusable counts twice: all reusable CPUs are counted in every mask, since a mask
    must cover their nodes, so they lower what the available ones have to reach.
    """
    nodes = manager.topology.nodes
    need = request - reusable.bit_count()
    candidates = required = most = 0
    weights = [0] * (nodes[-1].id + 1)
    for node in nodes:
        bit = 1 << node.id
        candidates |= bit
        count = (available & node.cpus).bit_count()
        weights[node.id] = count
        most += count
        if reusable & node.cpus:
            required |= bit
    if most < need:
        return {"cpu": CANNOT_FIT}
    width = manager.minimal_width(request)
    mask_set = MaskSet(candidates, (AtLeast(tuple(weights), need),), required)
    return {"cpu": HintFamily((mask_set,), width, socket_alignment(manager, width))}


def socket_alignment(manager: CPUManager, width: int) -> SocketAlignment | None:
    """With `align-by-socket`, masks that touch as few sockets as possible are preferred as well (6.4)."""
    if not manager.options.align_by_socket:
        return None
    topology = manager.topology
    nodes_per_socket = len(topology.nodes) // len(topology.sockets)  # no fewer nodes than sockets (3.4)
    sockets = tuple([sum(1 << node.id for node in topology.nodes_of_socket[unit.id]) for unit in topology.sockets])
    return SocketAlignment(-(-width // nodes_per_socket), sockets)


def sets_tried(manager: CPUManager, _state: CPUState, pod: PodDemand, container: ContainerDemand | None) -> int:
    """Count the sets of NUMA nodes that are tried: all of those with CPUs, of which policy `none` knows none."""
    return all_sets(len(manager.topology.nodes)) if (container or pod).cpus else 0
