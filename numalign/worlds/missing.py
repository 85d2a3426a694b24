"""Devices that a pod asks for and a machine does not have: the kubelet admits the pod, and it runs without them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from numalign.errors import Notice
from numalign.model.resources import is_extended
from numalign.model.words import nearest

if TYPE_CHECKING:
    from numalign.model.machine import Machine
    from numalign.model.pod import Pod
    from numalign.results.admit import PodResult
    from numalign.results.capacity import ShapeCapacity
    from numalign.scheduler.node import ClusterNode


def missing_notices(pods: Iterable[PodResult], machine: Machine) -> Iterator[Notice]:
    """Warn of what pods go without, with the nearest name that the machine has."""
    for pod in pods:
        for resource in pod.missing:
            near = nearest_device(machine, resource)
            similar = f"; hint: similar: {near}" if near else ""
            how = f"use a machine with {resource}, or add its devices (--device {resource}@NUMA=N)"
            yield Notice("device-missing", f"admitted without {resource}{similar}; hint: {how}", pod.name)


def nowhere_notices(nodes: Sequence[ClusterNode], shape: ShapeCapacity) -> Iterator[Notice]:
    """Warn of devices that a shape asks for and no node has, with the nearest name that one has."""
    for resource in shape.missing:
        near = nearest(resource, {name: None for node in nodes for name in _device_names(node)}, 0.6)
        hint = f"; hint: similar: {near}" if near else ""
        where = "no node here has" if len(nodes) > 1 else "the node does not have"
        yield Notice("device-missing", f"requests {resource}, which {where}{hint}", shape.name)


def _device_names(node: ClusterNode) -> Iterator[str]:
    if node.session is not None:
        yield from node.session.node.machine.devices
    yield from filter(is_extended, node.totals.allocatable)


def nearest_device(machine: Machine, resource: str) -> str | None:
    """Find the device of a machine that was probably meant."""
    return nearest(resource, [*machine.devices, *machine.node.extended_resources], 0.6)


def passing_over(pods: Iterable[Pod], machine: Machine, resources: Collection[str]) -> tuple[Pod, ...]:
    """Leave requests for devices out that somebody allows to be missing, where the machine does not have them.

    The kubelet passes over them, too, so that its decision stays the same.
    """
    gone = {name for name in resources if name not in machine.devices and name not in machine.node.extended_resources}
    return tuple(_without(pod, gone) for pod in pods) if gone else tuple(pods)


def _without(pod: Pod, gone: Collection[str]) -> Pod:
    containers = [
        container._replace(
            requests={name: amount for name, amount in container.requests.items() if name not in gone},
            limits={name: amount for name, amount in container.limits.items() if name not in gone},
        )
        for container in pod.containers
    ]
    return pod._replace(containers=tuple(containers))
