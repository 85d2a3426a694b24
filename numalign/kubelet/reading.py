"""How a kubelet reads a pod: what it sees of it, and what the pod asks of the managers, in parts that releases replace.

docs/rules/kubelet-versions.md 5, 6.1 to 6.4, 7.2. Most pods have neither pod-level resources nor a status, and are read
as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar

from numalign.kubelet import demand
from numalign.kubelet.demand import PodDemand
from numalign.kubelet.pod_level import level_qos
from numalign.kubelet.resized import Count
from numalign.model.pod import NO_STATUS, Container, Pod, PodLevel
from numalign.model.quantity import Quantity
from numalign.values import NamedTuple

Gates = Callable[[str], bool]
"""Tells whether a feature gate is on."""

RESIZING = "InPlacePodVerticalScaling"
"""The gate of pods that are resized in place."""

_Part = TypeVar("_Part")

Requests = Callable[[Pod, Container], Mapping[str, Quantity]]
"""A container's request, as the CPU and the Memory Manager read it."""

Serve = Callable[[Pod, PodDemand], PodDemand]
"""What the CPU and the Memory Manager make of a pod with pod-level resources: its demand, changed where they do."""


Complete = Callable[[Pod, PodLevel], PodLevel]
"""Fill in pod-level requests and limits as the API server does, with PodLevelResources on."""

Decides = Callable[[PodLevel], bool]
"""Tell whether pod-level resources decide the QoS class; else the containers do."""


class PodReading(NamedTuple):
    """The parts of reading a pod. What hangs on feature gates is made from them when the kubelet starts."""

    see: Callable[[Pod], Pod]
    """What the kubelet knows of the manifest."""
    requests: Callable[[Gates], Requests]
    complete: Callable[[Gates], Complete]
    decides: Callable[[Gates], Decides]
    counted: Callable[[Gates], Count]
    is_pod_level: Callable[[PodLevel], bool]
    """Tell whether pod-level resources make a pod one that the managers treat as such."""
    serve: Callable[[Gates], Serve]
    claimed: Callable[[Gates], bool]
    """Tell whether devices of a ResourceClaim are left out of the plugins' allocation."""


class PodReader(NamedTuple):
    """How one started kubelet reads pods: the parts, with its feature gates looked up."""

    reading: PodReading
    requests: Requests
    complete: Complete
    decides: Decides
    counted: Count
    serve: Serve
    leaves_claimed: bool
    pod_level_resources: bool

    def read(self, pod: Pod) -> tuple[Pod, PodDemand]:
        """Return the pod as the kubelet sees it, and what it asks of the managers."""
        pod = self.reading.see(pod)
        if pod.level is None and pod.status is NO_STATUS:
            return pod, demand.read_demand(pod)
        served = pod.level is not None and self.reading.is_pod_level(pod.level)
        if pod.level is not None:
            pod = self._completed(pod, pod.level) if self.pod_level_resources else pod._replace(level=None)
        asked = demand.read_demand(_with_requests(pod, self.requests))
        if served:
            asked = self.serve(pod, asked)
        if pod.status is not NO_STATUS:
            pod = pod._replace(counted=self.counted(pod))
        return pod, _claimed(pod, asked) if self.leaves_claimed else asked

    def _completed(self, pod: Pod, level: PodLevel) -> Pod:
        """Fill in the pod-level resources, unless an API server did; as a rule they alone decide the class (6.2)."""
        if not pod.created:
            level = self.complete(pod, level)
        qos = pod.status.qos or (level_qos(level) if self.decides(level) else pod.qos)
        return pod._replace(level=level, qos=qos)


@cache
def _behind(
    names: tuple[str, ...], on: Callable[[Gates], object], off: Callable[[Gates], object]
) -> Callable[[Gates], Any]:
    return lambda gates: (on if all(map(gates, names)) else off)(gates)


def behind(
    names: tuple[str, ...], on: Callable[[Gates], _Part], off: Callable[[Gates], _Part]
) -> Callable[[Gates], _Part]:
    """Make a part of reading that hangs on feature gates: what `on` says where all are, else what `off` says.

    Equal ones are one object, so that kubelets compare.
    """
    part: Callable[[Gates], _Part] = _behind(names, on, off)
    return part


@cache
def _always(part: object) -> Callable[[Gates], Any]:
    return lambda _gates: part


def always(part: _Part) -> Callable[[Gates], _Part]:
    """Make a part of reading that hangs on no feature gate."""
    made: Callable[[Gates], _Part] = _always(part)
    return made


def reader(reading: PodReading, gates: Gates) -> PodReader:
    """Put the parts together for a kubelet that starts with these feature gates."""
    return PodReader(
        reading=reading,
        requests=reading.requests(gates),
        complete=reading.complete(gates),
        decides=reading.decides(gates),
        counted=reading.counted(gates),
        serve=reading.serve(gates),
        leaves_claimed=reading.claimed(gates),
        pod_level_resources=gates("PodLevelResources"),
    )


def _with_requests(pod: Pod, requests: Requests) -> Pod:
    return pod._replace(
        containers=tuple([container._replace(requests=requests(pod, container)) for container in pod.containers])
    )


def _claimed(pod: Pod, asked: PodDemand) -> PodDemand:
    """Mark the devices that a ResourceClaim provides (7.2)."""
    return asked._replace(
        containers=tuple(
            [
                container._replace(
                    claimed=frozenset([name for owner, name in pod.status.claimed if owner == container.name])
                )
                for container in asked.containers
            ]
        )
    )


def as_written(pod: Pod) -> Pod:
    """See a pod as it is written."""
    return pod


def without_sidecar_ports(pod: Pod) -> Pod:
    """See a pod as kubelets up to 1.32 do: host ports of sidecars count for nothing (admission-fit.md 4.4)."""
    if all(container.kind != "sidecar" for container in pod.containers):
        return pod
    return pod._replace(
        containers=tuple([one._replace(ports=()) if one.kind == "sidecar" else one for one in pod.containers])
    )


def without_sidecars(pod: Pod) -> Pod:
    """See a pod as a kubelet without sidecars does: `restartPolicy` of an init container is not known to it."""
    return pod._replace(
        containers=tuple(
            [
                container._replace(kind="init") if container.kind == "sidecar" else container
                for container in pod.containers
            ]
        )
    )


def of_spec(_pod: Pod, container: Container) -> Mapping[str, Quantity]:
    """Read requests from the spec, whatever the status says: from 1.35 on."""
    return container.requests


def of_status(pod: Pod, container: Container) -> Mapping[str, Quantity]:
    """Read requests from what the status says is allocated, where it says so (5): 1.33 and 1.34."""
    said = pod.status.containers.get(container.name)
    if said is None and container.kind == "sidecar":
        said = pod.status.init_containers.get(container.name)
    return container.requests if said is None else said.allocated or {}


def of_app_status(pod: Pod, container: Container) -> Mapping[str, Quantity]:
    """Read requests from the status of app containers alone: 1.32, with its alpha gate."""
    said = pod.status.containers.get(container.name)
    return container.requests if said is None else said.allocated or {}
