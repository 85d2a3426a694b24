"""The best shape of a pod for so many replicas: the most CPUs, then the most memory, with which all are aligned."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence

from numalign.kubelet.admission import Session
from numalign.model.apiserver.defaulting import qos_class
from numalign.model.pod import Pod
from numalign.model.quantity import MEBI, NANO, from_int
from numalign.model.resources import CPU, MEMORY
from numalign.results.capacity import RightSize
from numalign.scheduler import node_filters
from numalign.scheduler.node import ClusterNode, Fleet, look, needs_name
from numalign.tasks.copies import Probe, copies


def right_size_of(fleet: Fleet, probe: Probe, replicas: int) -> RightSize:
    """Find the most CPUs, then the most memory, with which so many copies are all aligned; devices are kept.

    The container with the most CPUs is the one that is sized.
    """
    pod = probe.pods[0]
    place = max(range(len(pod.containers)), key=lambda one: _cpus(pod, one))
    name = pod.containers[place].name
    nodes = [node for node in fleet.nodes if node.session is not None and node_filters.allows(node, pod).passed]
    kinds = _kinds(nodes, by_name=needs_name(pod))
    most_cpus = max((_widest(node, CPU) for node in nodes), default=0)
    most_memory = max((_widest(node, MEMORY) for node in nodes), default=0) // MEBI
    cpus = _largest(1, most_cpus, lambda count: _hold(kinds, _sized(pod, place, count, 1), replicas))
    if cpus is None:
        return RightSize(probe.name, replicas, name, None, None)
    memory = _largest(1, most_memory, lambda count: _hold(kinds, _sized(pod, place, cpus, count), replicas))
    return RightSize(probe.name, replicas, name, cpus, (memory or 1) * MEBI)


def _kinds(nodes: Iterable[ClusterNode], *, by_name: bool) -> list[tuple[Session, int]]:
    """Give a kubelet for all nodes that look equal, and how many they are."""
    found: dict[Hashable, tuple[Session, int]] = {}
    for node in nodes:
        if node.session is not None:
            key = node.name if by_name else look(node)
            found[key] = node.session, found.get(key, (None, 0))[1] + 1
    return list(found.values())


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
    amounts = {CPU: from_int(cpus), MEMORY: from_int(mebibytes * MEBI, "BinarySI")}
    changed = container._replace(requests={**container.requests, **amounts}, limits={**container.limits, **amounts})
    containers = (*pod.containers[:place], changed, *pod.containers[place + 1 :])
    return pod._replace(containers=containers, qos=qos_class(containers))


def _hold(kinds: Sequence[tuple[Session, int]], pod: Pod, replicas: int) -> bool:
    """Tell whether so many copies fit and all are aligned; stops counting as soon as they do."""
    probe = Probe(pod.name, (pod,))
    total = 0
    for session, nodes in kinds:
        total += nodes * copies(session, probe, replicas).aligned
        if total >= replicas:
            return True
    return False
