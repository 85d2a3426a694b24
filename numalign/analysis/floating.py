"""Why the CPUs of a container float: it runs in the shared pool, or nobody pins it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from numalign.model.quantity import NANO
from numalign.model.resources import CPU, MEMORY
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.kubelet.demand import ContainerDemand
    from numalign.kubelet.node import Node
    from numalign.model.pod import Container, Pod


class Lack(NamedTuple):
    """What keeps one container from being as a Guaranteed pod wants it; `cpu`, `memory` or both."""

    container: str
    unlimited: tuple[str, ...]
    """It has no limit of these."""
    differing: tuple[str, ...]
    """It requests something else than its limit of these."""


class Cause(NamedTuple):
    """What keeps a container from having CPUs of its own."""

    kind: Literal["cpu-manager", "qos", "fraction", "not-pinned"]
    """`cpu-manager`: it is `none`. `qos`: the pod is not Guaranteed. `fraction`: the container asks for no whole CPUs.
    `not-pinned`: this kubelet does not pin it all the same."""
    lacks: tuple[Lack, ...] = ()
    """With `qos`: what keeps the pod from being Guaranteed; of a pod with pod-level resources these decide."""
    asks: bool = True
    """With `qos`: the container asks for CPUs, or for a share of one."""


def cause(node: Node, pod: Pod, asked: ContainerDemand) -> Cause:
    """Tell why a container of an admitted pod has no CPUs of its own."""
    if pod.qos != "Guaranteed":
        lacks = tuple(map(_lack, pod.containers)) if pod.level is None else ()
        own = next((one.requests.get(CPU) for one in pod.containers if one.name == asked.name), None)
        lacking = tuple(one for one in lacks if one.unlimited or one.differing)
        return Cause("qos", lacking, asks=own is not None and bool(own.nano))
    if not node.cpu.static:
        return Cause("cpu-manager")
    own = next((one.requests.get(CPU) for one in pod.containers if one.name == asked.name), None)
    whole = own is not None and own.nano > 0 and own.nano % NANO == 0  # of a pod with resources of its own
    return Cause("not-pinned" if asked.cpus or whole else "fraction")


def _lack(container: Container) -> Lack:
    """Find what a container has not: limits for CPU and memory, and requests equal to them."""
    unlimited, differing = [], []
    for resource in (CPU, MEMORY):
        limit, request = container.limits.get(resource), container.requests.get(resource)
        if limit is None or not limit.nano:
            unlimited.append(resource)
        elif request is not None and request.nano != limit.nano:
            differing.append(resource)
    return Lack(container.name, tuple(unlimited), tuple(differing))
