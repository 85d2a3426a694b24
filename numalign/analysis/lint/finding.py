"""What the rules of `lint` look at, and what they find."""

from __future__ import annotations

from typing import Literal, NamedTuple

from numalign.kubelet.cpu import CPUManager
from numalign.kubelet.demand import ContainerDemand, PodDemand, read
from numalign.kubelet.device.state import DeviceManager
from numalign.kubelet.fit.check import NodeView
from numalign.kubelet.memory import MemoryManager
from numalign.model.path import child
from numalign.model.pod import Container, Pod

Effect = Literal["note", "unaligned", "rejected", "impossible"]
"""What comes of it, mildest first: something to know; the kubelet leaves CPUs, memory or a device out of the alignment;
the pod is refused on a node that another pod could use; no node, or not the given machine, can ever run it."""

EFFECTS: tuple[str, ...] = ("note", "unaligned", "rejected", "impossible")


class Finding(NamedTuple):
    """One thing in a manifest that stands in the way of alignment."""

    message: str
    """What is there and what comes of it."""
    advice: str
    """The change of the manifest that helps."""
    path: str
    """Field of the pod, or where it would be."""
    effect: Effect
    container: str = ""
    """Name; empty: the pod as a whole."""
    code: str = ""
    """Stable, kebab-case; filled in by `lint`."""


class Ground(NamedTuple):
    """A machine, empty, with a kubelet on it."""

    name: str
    scope: str
    cpu: CPUManager
    device: DeviceManager
    memory: MemoryManager
    view: NodeView


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
    ground: Ground | None
    """None: no machine was named."""

    @property
    def guaranteed(self) -> bool:
        """Tell whether CPU and Memory Manager serve the pod at all."""
        return self.demand.guaranteed


def subject(pod: Pod, ground: Ground | None) -> Subject:
    """Read a pod for the rules."""
    demand = read(pod)
    paths = [
        child(f"spec.{which}", index)
        for which in ("initContainers", "containers")
        for index in range(len(pod.spec.get(which) or ()))
    ]
    parts = tuple(Part(*both) for both in zip(pod.containers, demand.containers, paths, strict=True))
    return Subject(pod, demand, parts, ground)
