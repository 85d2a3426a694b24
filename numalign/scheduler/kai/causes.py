"""What makes KAI and the kubelet disagree: causes XK-1 to XK-8 (docs/rules/scheduling.md 10)."""

from __future__ import annotations

from typing import Final

from numalign.kubelet import admission
from numalign.model.resources import CPU, is_memory
from numalign.scheduler.disagreement import Case, KnownCause, admits_with, published_now
from numalign.scheduler.kai import evaluate
from numalign.scheduler.kai.topology import KaiTopology
from numalign.scheduler.nrt.value import CPU_MANAGER, MEMORY_MANAGER, attribute, number_of
from numalign.scheduler.request import PodRequest
from numalign.scheduler.resources import Amounts


def _agrees(case: Case, machine: KaiTopology | None = None, request: PodRequest | None = None) -> bool:
    """Tell whether KAI, asked about another machine or request, agrees with the kubelet."""
    return evaluate.check_kai(request or case.request, machine or case.kai).passed == case.admits


def _all_cpus(case: Case) -> bool:
    """XK-1: the width from all CPUs."""
    if case.kai is None or case.nrt is None:
        return False
    whole: dict[str, Amounts] = {
        zone.name: {CPU: one.capacity}
        for zone in case.nrt.zones
        if (one := zone.resources.get(CPU)) is not None and one.capacity is not None
    }
    zones = [zone._replace(allocatable={**zone.allocatable, **whole.get(zone.name, {})}) for zone in case.kai.zones]
    return _agrees(case, case.kai._replace(zones=tuple(zones)))


def _no_groups(case: Case) -> bool:
    """XK-2: the kubelet without the Memory Manager."""
    return admits_with(case, memory_manager_policy="None", reserved_memory=()) != case.admits


def _managers_off(case: Case) -> bool:
    """XK-3: without resources whose manager is off."""
    if case.kai is None or case.nrt is None:
        return False
    off = {CPU} if attribute(case.nrt.attributes, CPU_MANAGER) == "none" else set()
    if attribute(case.nrt.attributes, MEMORY_MANAGER) == "None":
        off |= {name for name in case.kai.aware if is_memory(name)}
    return bool(off & case.kai.aware) and _agrees(case, case.kai._replace(aware=case.kai.aware - off))


def _no_kubelet_options(case: Case) -> bool:
    """XK-4: the kubelet without options of the CPU and Topology Manager."""
    changed = admits_with(case, cpu_manager_policy_options=None, topology_manager_policy_options=None)
    return changed != case.admits


def _spanning_devices(case: Case) -> bool:
    """XK-5: the machine has devices of several NUMA nodes that the pod asks for."""
    machine = case.session.node.machine
    asked = {name for one in case.request.containers for name, amount in one.items if amount}
    return any(len(device.numa_nodes or ()) > 1 for name in asked for device in machine.devices.get(name, ()))


def _real_places(case: Case) -> bool:
    """XK-6: the free amounts as the kubelet's own split of earlier pods left them."""
    if case.kai is None:
        return False
    real = {
        number_of(zone.name): {name: one.available for name, one in zone.resources.items() if one.available is not None}
        for zone in published_now(case).zones
    }
    free = []
    for zone in case.kai.zones:
        here = real.get(number_of(zone.name), {})
        free.append({name: here.get(name, one) for name, one in zone.available.items()})
    return _agrees(case, case.kai.with_available(free))


def _no_init(case: Case) -> bool:
    """XK-7: both asked about the pod without its ordinary init containers."""
    kept = tuple([one for one in case.request.containers if one.kind != "init"])
    if kept == case.request.containers:
        return False
    pod = case.pod._replace(containers=tuple([one for one in case.pod.containers if one.kind != "init"]))
    admits = admission.admits(case.session, pod)
    return _agrees(case._replace(admits=admits), request=case.request._replace(containers=kept))


def _no_overhead(case: Case) -> bool:
    """XK-8: the pod without overhead."""
    return bool(case.request.overhead) and _agrees(case, request=case.request._replace(overhead=()))


CAUSES: Final = (
    KnownCause("XK-1", "KAI counts allocatable CPUs, the kubelet all CPUs, reserved included", _all_cpus),
    KnownCause("XK-2", "the Memory Manager adds no other blocks to NUMA nodes that it uses as a group", _no_groups),
    KnownCause("XK-3", "the object lists a resource whose manager is off", _managers_off),
    KnownCause("XK-4", "KAI ignores options of the CPU and Topology Manager", _no_kubelet_options),
    KnownCause("XK-5", "a device of several NUMA nodes is counted on each of them", _spanning_devices),
    KnownCause(
        "XK-6",
        "KAI's records have other zones or amounts for pods than the kubelet",
        _real_places,
    ),
    KnownCause("XK-7", "the kubelet admits init containers in order and reuses their resources", _no_init),
    KnownCause("XK-8", "KAI adds the pod's overhead in scope pod", _no_overhead),
)
"""Each cause with what takes it back, in the order of the rules."""
