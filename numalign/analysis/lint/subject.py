"""What the rules of `lint` look at: a pod, container by container, and the machine it is judged by."""

from __future__ import annotations

from numalign.kubelet.admission import Session
from numalign.kubelet.demand import ContainerDemand, PodDemand, read_demand
from numalign.model.path import child
from numalign.model.pod import Container, Pod, container_paths
from numalign.model.resources import is_hugepages, whole
from numalign.values import NamedTuple

ALIGN = "numalign/align"
"""The annotation with which a pod says that all its containers want alignment: `true`."""


class Part(NamedTuple):
    """One container."""

    container: Container
    demand: ContainerDemand
    path: str
    """`spec.containers[0]`."""
    wants: bool
    """Whether it wants alignment: it asks for devices, huge pages or whole CPUs, or its pod says so."""

    def field(self, which: str, resource: str = "") -> str:
        """Return the path of `requests` or `limits`, or of one amount in it."""
        path = f"{self.path}.resources.{which}"
        return child(path, resource) if resource else path


class Subject(NamedTuple):
    """One pod under examination."""

    pod: Pod
    demand: PodDemand
    parts: tuple[Part, ...]
    """The containers, in the kubelet's order."""
    on: Session | None
    """An empty node with the kubelet on it; None: no machine was named."""

    @property
    def judged(self) -> bool:
        """Tell whether any container wants alignment; else nothing is to be said of the pod."""
        return any(part.wants for part in self.parts)

    @property
    def guaranteed(self) -> bool:
        """Tell whether the pod is of the class that CPU and Memory Manager serve."""
        return self.pod.qos == "Guaranteed"


def subject(pod: Pod, on: Session | None) -> Subject:
    """Read a pod for the rules, as the kubelet there reads it."""
    pod, demand = on.node.read_pod(pod) if on else (pod, read_demand(pod))
    says_so = pod.annotations.get(ALIGN) == "true" or bool(pod.spec.get("resources"))
    claiming = _claiming(pod)
    parts = tuple(
        Part(container, demanded, path, says_so or container.name in claiming or _wants(container, demanded))
        for container, demanded, path in zip(pod.containers, demand.containers, container_paths(pod), strict=True)
    )
    return Subject(pod, demand, parts, on)


def _wants(container: Container, demand: ContainerDemand) -> bool:
    if any(amount for _, amount in demand.devices) or any(map(is_hugepages, container.requests)):
        return True
    asked = (amounts["cpu"].nano for amounts in (container.requests, container.limits) if "cpu" in amounts)
    return container.kind != "init" and any(nano and whole("cpu", nano) % 1000 == 0 for nano in asked)


def _claiming(pod: Pod) -> frozenset[str]:
    """Name the containers that use a claim of dynamic resource allocation."""
    manifests = (*(pod.spec.get("initContainers") or ()), *pod.spec["containers"])
    return frozenset(one["name"] for one in manifests if (one.get("resources") or {}).get("claims"))
