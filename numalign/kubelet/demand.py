"""What a pod asks of the three managers, read once into whole numbers.

The managers never look at quantities again: exclusive CPUs (docs/rules/cpu-manager.md 5), bytes of memory and
huge pages (docs/rules/memory-manager.md 15-18), devices (docs/rules/device-manager.md 2).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Literal

from numalign.model.pod import Container, ContainerKind, Pod
from numalign.model.quantity import MILLI, NANO, Quantity
from numalign.model.resources import CPU, HUGEPAGES, MEMORY, NATIVE, is_memory
from numalign.values import NamedTuple

ResourcePairs = tuple[tuple[str, int], ...]
"""(resource, amount) pairs, sorted by resource name."""


class ContainerDemand(NamedTuple):
    """What one container asks."""

    name: str
    kind: ContainerKind
    cpus: int
    """Number of exclusive CPUs; 0: runs in the shared pool."""
    memory: ResourcePairs | None
    """Bytes of `memory` and `hugepages-*`, zero amounts included; empty: takes no part (no request, or the pod is not
    Guaranteed); None: an amount that the Memory Manager cannot represent."""
    devices: ResourcePairs
    """Extended resources of the limits, rounded up to whole devices, zero amounts included."""
    claimed: frozenset[str] = frozenset()
    """Those of them that a ResourceClaim provides: they get hints, and no devices from the plugin."""

    def amount_of(self, resource: str) -> int:
        """Return how much it asks of a resource that a manager hands out: CPUs, bytes or devices; 0: nothing."""
        if resource == CPU:
            return self.cpus
        return next((amount for name, amount in (*(self.memory or ()), *self.devices) if name == resource), 0)


class PodDemand(NamedTuple):
    """What one pod asks, container by container in the kubelet's order, and as a whole (for scope `pod`)."""

    uid: str
    guaranteed: bool
    containers: tuple[ContainerDemand, ...]
    cpus: int
    """podExclusive of docs/rules/cpu-manager.md 5.7."""
    memory: ResourcePairs | None
    """docs/rules/memory-manager.md 18, same meaning of () and None as for a container."""
    devices: ResourcePairs
    """docs/rules/device-manager.md 2.4."""
    as_a_whole: bool = False
    """Its pod-level resources are what the CPU and the Memory Manager serve: `cpus` and `memory` are the pod's budget,
    and containers have amounts of their own only where those are theirs alone (docs/rules/kubelet-versions.md 6.4)."""


def read_demand(pod: Pod) -> PodDemand:
    """Read a pod into whole numbers."""
    guaranteed = pod.qos == "Guaranteed"
    containers = tuple([_container(container, guaranteed) for container in pod.containers])
    if len(containers) == 1:
        [only] = containers
        return PodDemand(pod.uid, guaranteed, containers, only.cpus, only.memory, devices=only.devices)
    return PodDemand(
        uid=pod.uid,
        guaranteed=guaranteed,
        containers=containers,
        cpus=_pod_cpus(containers),
        memory=_pod_memory(containers),
        devices=_pod_devices(pod),
    )


def _container(container: Container, guaranteed: bool) -> ContainerDemand:
    cpus = 0
    memory: list[tuple[str, int]] | None = []
    if guaranteed:
        for name, quantity in container.requests.items():
            if name == "cpu":
                cpus = exclusive_cpus(quantity.nano)
            elif name == MEMORY or name.startswith(HUGEPAGES):
                if quantity.int64 is None:
                    memory = None
                elif memory is not None:
                    memory.append((name, quantity.int64))
        if memory:
            memory.sort()
    devices = [
        (name, -(-quantity.nano // NANO))
        for name, quantity in container.limits.items()
        if name not in _NOT_DEVICES and not name.startswith(HUGEPAGES)
    ]
    devices.sort()
    return ContainerDemand(
        container.name,
        container.kind,
        cpus,
        None if memory is None else tuple(memory),
        tuple(devices),
    )


_NOT_DEVICES = frozenset(NATIVE)


def exclusive_cpus(nano: int) -> int:
    """Whole CPUs, or 0 when the request, rounded up to millicores, is no whole number (cpu-manager.md 5.1)."""
    milli = -(-nano // MILLI)
    return milli // 1000 if milli % 1000 == 0 else 0


def _pod_cpus(containers: tuple[ContainerDemand, ...]) -> int:
    peak = sidecars = apps = 0
    for demand in containers:
        if demand.kind == "app":
            apps += demand.cpus
        elif demand.kind == "sidecar":
            sidecars += demand.cpus
        else:
            peak = max(peak, sidecars + demand.cpus)
    return max(peak, apps + sidecars)


def _pod_memory(containers: tuple[ContainerDemand, ...]) -> ResourcePairs | None:
    sidecars: dict[str, int] = defaultdict(int)
    peaks: dict[str, int] = defaultdict(int)
    apps: dict[str, int] = defaultdict(int)
    for demand in containers:
        if demand.memory is None:
            return None
        for name, amount in demand.memory:
            if demand.kind == "app":
                apps[name] += amount
            elif demand.kind == "sidecar":
                sidecars[name] += amount
            else:
                peaks[name] = max(peaks[name], sidecars[name] + amount)
    return tuple(sorted((name, max(total + sidecars[name], peaks[name])) for name, total in apps.items()))


def _pod_devices(pod: Pod) -> ResourcePairs:
    return tuple(
        (name, -(-nano // NANO))
        for name, nano in sorted(effective(pod, "limits").items())
        if name not in _NOT_DEVICES and not name.startswith(HUGEPAGES)
    )


def effective(pod: Pod, which: Literal["requests", "limits"]) -> dict[str, int]:
    """Add up the containers' `requests` or `limits` into the pod's effective ones, in billionths, without overhead.

    docs/rules/topology-manager.md 11.2: app containers and sidecars are summed, init containers count as peaks.
    """
    return effective_of(pod.containers, [one.requests if which == "requests" else one.limits for one in pod.containers])


def effective_of(containers: Iterable[Container], given: Iterable[Mapping[str, Quantity]]) -> dict[str, int]:
    """Add up what is given for each container in the same way."""
    total: dict[str, int] = defaultdict(int)
    sidecars: dict[str, int] = defaultdict(int)
    peaks: dict[str, int] = defaultdict(int)
    for container, amounts in zip(containers, given, strict=True):
        if container.kind == "app":
            for name, quantity in amounts.items():
                total[name] += quantity.nano
            continue
        for name, quantity in amounts.items():
            nano = quantity.nano + sidecars[name]
            if container.kind == "sidecar":
                total[name] += quantity.nano
                sidecars[name] = nano
            peaks[name] = max(peaks[name], nano)
    for name, peak in peaks.items():
        total[name] = max(total[name], peak)
    return dict(total)


def of_node(pod: Pod) -> dict[str, int]:
    """Return what a pod requests of the node as a whole, in billionths, without overhead.

    Pod-level requests, where the kubelet sees them, count instead of what the containers add up to.
    """
    total = effective(pod, "requests")
    if pod.level is not None:
        for name, quantity in pod.level.requests.items():
            if name == CPU or is_memory(name):
                total[name] = quantity.nano
    return total


def with_overhead(pod: Pod) -> dict[str, int]:
    """Return what a pod counts for on the node as a whole, in billionths, as the fit check of another pod sees it."""
    total = of_node(pod) if pod.counted is None else dict(pod.counted)
    add_overhead(total, pod)
    return total


def add_overhead(total: dict[str, int], pod: Pod) -> None:
    """Add a pod's overhead to what it counts for, in billionths, also of what no container asks for."""
    for name, quantity in pod.overhead.items():
        total[name] = total.get(name, 0) + quantity.nano
