"""Why the CPUs of a container float: it runs in the shared pool, or nobody pins it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from numalign.kubelet.demand import exclusive_cpus
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
    requests = next(one.requests for one in pod.containers if one.name == asked.name)
    nano = requests[CPU].nano if CPU in requests else 0
    if pod.qos != "Guaranteed":
        lacks = map(_lack, pod.containers if pod.level is None else ())
        return Cause("qos", tuple(one for one in lacks if one.unlimited or one.differing), asks=bool(nano))
    if not node.cpu.static:
        return Cause("cpu-manager")
    # Of a pod with resources of its own `asked` has none.
    return Cause("not-pinned" if exclusive_cpus(nano) else "fraction")


def _lack(container: Container) -> Lack:
    """Find what a container has not: limits for CPU and memory, and requests equal to them."""
    unlimited, differing = [], []
    for resource in (CPU, MEMORY):
        limit = container.limits.get(resource)
        if limit is None or not limit.nano:
            unlimited.append(resource)
        elif container.requests[resource].nano != limit.nano:
            differing.append(resource)
    return Lack(container.name, tuple(unlimited), tuple(differing))
