"""Pod-level resources: what is filled in, the QoS class, and what the managers make of them release by release.

docs/rules/kubelet-versions.md 6.1 to 6.4.
"""

from __future__ import annotations

from collections.abc import Callable

from numalign.kubelet.demand import PodDemand, effective, exclusive_cpus
from numalign.model.apiserver.defaulting import qos_class
from numalign.model.pod import Container, Pod, PodLevel, QoS
from numalign.model.quantity import NANO, Quantity
from numalign.model.resources import CPU, MEMORY, is_hugepages, is_memory


def level_qos(level: PodLevel) -> QoS:
    """Compute the QoS class from the pod-level lists alone, as if they were one container's (6.2)."""
    return qos_class([Container("", "app", level.requests, level.limits)])


def names_cpu_or_memory(level: PodLevel) -> bool:
    """Tell whether pod-level resources name `cpu` or `memory`: 1.32."""
    return any(name in (CPU, MEMORY) for name in (*level.requests, *level.limits))


def names_a_resource(level: PodLevel) -> bool:
    """Tell whether pod-level resources name `cpu`, `memory` or huge pages: from 1.33 on."""
    return any(map(is_own, (*level.requests, *level.limits)))


def complete_in_1_32(pod: Pod, level: PodLevel) -> PodLevel:
    """Fill in requests (6.1 item 2). Huge pages are none of a pod's own resources yet, and left out."""
    own = PodLevel(
        {name: amount for name, amount in level.requests.items() if not is_hugepages(name)},
        {name: amount for name, amount in level.limits.items() if not is_hugepages(name)},
    )
    return _with_requests(pod, own)


def complete_in_1_33(pod: Pod, level: PodLevel) -> PodLevel:
    """Fill in huge pages from the containers' limits, then requests (6.1)."""
    return _with_requests(pod, _with_hugepages(pod, level, lambda _name: True))


def complete_in_1_34(pod: Pod, level: PodLevel) -> PodLevel:
    """Fill in huge pages that pod-level requests do not name, then requests (6.1): from 1.34 on."""
    return _with_requests(pod, _with_hugepages(pod, level, lambda name: name not in level.requests))


def complete(pod: Pod, level: PodLevel) -> PodLevel:
    """Fill in requests also where no limits are given, then limits where every container has one.

    docs/rules/kubelet-1.37.md 4.2. It is the API server's business alone, so static pods stay as they are written.
    """
    if pod.is_static or not (level.requests or level.limits):
        return level
    level = _with_hugepages(pod, level, lambda name: name not in level.requests)
    level = _with_requests(pod, level, always=True)
    limits = dict(level.limits)
    contained = effective(pod, "limits")
    for name, amount in level.requests.items():
        if name not in limits and is_own(name) and all(name in container.limits for container in pod.containers):
            limits[name] = max(amount, _quantity(contained[name]), key=lambda one: one.nano)
    return level._replace(limits=limits)


def is_own(name: str) -> bool:
    """Tell whether a resource may be one of a pod as a whole."""
    return name == CPU or is_memory(name)


def _with_hugepages(pod: Pod, level: PodLevel, may_add: Callable[[str], bool]) -> PodLevel:
    if not level.requests and not level.limits:
        return level
    limits = dict(level.limits)
    for name, nano in effective(pod, "limits").items():
        if is_hugepages(name) and name not in limits and may_add(name):
            limits[name] = _quantity(nano)
    return level._replace(limits=limits)


def _with_requests(pod: Pod, level: PodLevel, *, always: bool = False) -> PodLevel:
    if not level.limits and not always:
        return level
    requests = dict(level.requests)
    for name, nano in effective(pod, "requests").items():
        if name in (CPU, MEMORY) and name not in requests:
            requests[name] = _quantity(nano)
    return level._replace(requests={**level.limits, **requests})


def _quantity(nano: int) -> Quantity:
    return Quantity(nano, "DecimalSI", None if nano % NANO else nano // NANO)


def as_containers(_pod: Pod, demand: PodDemand) -> PodDemand:
    """The managers look at containers only, as if the pod had nothing of its own (6.3)."""
    return demand


def skipped(_pod: Pod, demand: PodDemand) -> PodDemand:
    """Neither manager gives hints or allocates anything (6.3): from 1.34 on."""
    return demand._replace(
        guaranteed=False,
        cpus=0,
        memory=(),
        containers=tuple([container._replace(cpus=0, memory=()) for container in demand.containers]),
    )


def as_a_whole(pod: Pod, demand: PodDemand) -> PodDemand:
    """The managers serve the pod's own resources, and those containers whose amounts are theirs alone (6.4)."""
    level = pod.level or PodLevel()
    request = level.requests.get(CPU)
    memory = [
        (name, amount.int64) for name, amount in sorted(level.requests.items()) if is_memory(name) and amount.nano > 0
    ]
    readable = tuple([(name, amount) for name, amount in memory if amount is not None])
    return demand._replace(
        as_a_whole=True,
        cpus=exclusive_cpus(request.nano) if request and demand.guaranteed else 0,
        memory=readable if len(readable) == len(memory) else None,
        containers=tuple(
            [
                asked if _equivalent(container) else asked._replace(cpus=0, memory=())
                for container, asked in zip(pod.containers, demand.containers, strict=True)
            ]
        ),
    )


def _equivalent(container: Container) -> bool:
    """Tell whether a container's cpu and memory are above zero and limited to what it requests."""
    for name in (CPU, MEMORY):
        request, limit = container.requests.get(name), container.limits.get(name)
        if request is None or limit is None or request.nano <= 0 or request.nano != limit.nano:
            return False
    return True
