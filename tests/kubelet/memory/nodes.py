"""Small machines and pods for the Memory Manager's tests; sizes in Gi unless said otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numalign.kubelet.config import MemoryReservation
from numalign.kubelet.demand import ContainerDemand, PodDemand, read_demand
from numalign.kubelet.memory.allocate import allocate, start_container
from numalign.kubelet.memory.hints import container_hints
from numalign.kubelet.memory.reserved import read_reserved_memory
from numalign.kubelet.memory.start import start
from numalign.kubelet.memory.state import MemoryManager, MemoryState, initial_state
from numalign.kubelet.topology.hints import HintFamily, ProviderAnswer, TopologyHint, expand
from numalign.model import quantity
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.cpuset import from_ids, ids
from numalign.model.machine import Machine, NUMANode

GI = 1 << 30


def static(sizes: Sequence[int], reserved: dict[int, int], hugepages: dict[int, dict[str, int]] | None = None) -> Any:
    """Start a Static manager: Gi per node, Gi reserved per node, Gi of huge pages per node and size."""
    nodes = tuple(
        NUMANode(node, memory=size * GI, hugepages={k: v * GI for k, v in (hugepages or {}).get(node, {}).items()})
        for node, size in enumerate(sizes)
    )
    elements = tuple(MemoryReservation(node, {"memory": f"{size}Gi"}) for node, size in reserved.items())
    total = quantity.parse(f"{sum(reserved.values())}Gi")
    return start(Machine("test", nodes), "Static", read_reserved_memory(elements), {"memory": total})


class Node:
    """A manager and its changing state, with short names for what the examples do."""

    def __init__(self, manager: MemoryManager) -> None:
        self.manager = manager
        self.state: MemoryState = initial_state(manager)
        self.pods: dict[str, PodDemand] = {}

    def hints(self, name: str, **amounts: float) -> str:
        """Give a pod's hints as text like `{0}:P {0,1}:n`; all resources must agree."""
        pod = self.pod(name, **amounts)
        return shown(container_hints(self.manager, self.state, pod, pod.containers[0]))

    def take(self, name: str, mask: Sequence[int] | None, preferred: bool = True, **amounts: float) -> None:
        """Allocate for a pod of one container under a hint."""
        pod = self.pod(name, **amounts)
        self.give(pod, pod.containers[0], hint(mask, preferred))

    def give(self, pod: PodDemand, container: ContainerDemand, stored: TopologyHint) -> None:
        self.state = allocate(self.manager, self.state, pod, container, stored)

    def pod(self, name: str, **amounts: float) -> PodDemand:
        """Make (or find) a pod with one container; `memory=4`, `hugepages_1Gi=2`."""
        if name not in self.pods:
            self.pods[name] = pod_of(name, {"c": ("app", amounts)})
        return self.pods[name]

    def line(self, node: int, resource: str = "memory") -> str:
        """Give a node as the examples print it: free/allocatable, count, group."""
        place = self.manager.places[resource]
        free, allocatable = self.state.free[place][node], self.manager.allocatable[place][node]
        return f"{free / GI:g}/{allocatable / GI:g}, {self.state.counts[node]}, {list(ids(self.state.groups[node]))}"


def hint(mask: Sequence[int] | None, preferred: bool = True) -> TopologyHint:
    return TopologyHint(None if mask is None else from_ids(mask), preferred)


def pod_of(name: str, containers: dict[str, tuple[str, dict[str, float]]]) -> PodDemand:
    """Make a Guaranteed pod: container -> (kind, resource -> Gi)."""
    spec: dict[str, list[dict[str, Any]]] = {"initContainers": [], "containers": []}
    for container, (kind, amounts) in containers.items():
        limits = {resource.replace("_", "-"): str(int(size * GI)) for resource, size in amounts.items()}
        entry: dict[str, Any] = {"name": container, "resources": {"limits": {"cpu": "1", **limits}}}
        if kind == "sidecar":
            entry["restartPolicy"] = "Always"
        spec["containers" if kind == "app" else "initContainers"].append(entry)
    return read_demand(read_pod({"metadata": {"name": name, "uid": name}, "spec": spec}))


def shown(answer: ProviderAnswer) -> str:
    if not answer:
        return "no opinion"
    lists = {listed(hints) for hints in answer.values()}
    assert len(lists) == 1, "all resources get the same list"
    return " ".join(
        f"{{{','.join(map(str, ids(one.numa_affinity or 0)))}}}:{'P' if one.preferred else 'n'}" for one in lists.pop()
    )


def listed(hints: object) -> tuple[TopologyHint, ...]:
    if isinstance(hints, HintFamily):
        return expand(hints)
    assert isinstance(hints, tuple)
    return hints


def started(manager: MemoryManager, state: MemoryState, pod: PodDemand) -> MemoryState:
    """Start all containers of a pod in order."""
    for container in pod.containers:
        state = start_container(manager, state, pod, container, TopologyHint(None, preferred=False))
    return state
