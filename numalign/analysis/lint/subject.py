"""What the rules of `lint` look at: a pod, container by container, and the machine it is judged by."""

from __future__ import annotations

from typing import NamedTuple

from numalign.kubelet.admission import Session
from numalign.kubelet.demand import ContainerDemand, PodDemand, read
from numalign.model.path import child
from numalign.model.pod import Container, Pod


class Part(NamedTuple):
    """One container."""

    container: Container
    demand: ContainerDemand
    path: str
    """`spec.containers[0]`."""

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
    def guaranteed(self) -> bool:
        """Tell whether CPU and Memory Manager serve the pod at all."""
        return self.demand.guaranteed


def subject(pod: Pod, on: Session | None) -> Subject:
    """Read a pod for the rules."""
    demand = read(pod)
    paths = [
        child(f"spec.{which}", index)
        for which in ("initContainers", "containers")
        for index in range(len(pod.spec.get(which) or ()))
    ]
    parts = tuple(Part(*both) for both in zip(pod.containers, demand.containers, paths, strict=True))
    return Subject(pod, demand, parts, on)
