"""Why the CPUs of a container float: it runs in the shared pool, or nobody pins it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from numalign.model.resources import CPU, MEMORY
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.kubelet.demand import ContainerDemand
    from numalign.kubelet.node import Node
    from numalign.model.pod import Container, Pod


class Cause(NamedTuple):
    """What keeps a container from having CPUs of its own."""

    kind: Literal["cpu-manager", "qos", "fraction", "not-pinned"]
    """`cpu-manager`: it is `none`. `qos`: the pod is not Guaranteed. `fraction`: the container asks for no whole CPUs.
    `not-pinned`: this kubelet does not pin it all the same."""
    containers: tuple[str, ...] = ()
    """With `qos`: the containers that keep the pod from being Guaranteed."""


def cause(node: Node, pod: Pod, asked: ContainerDemand) -> Cause:
    """Tell why a container of an admitted pod has no CPUs of its own."""
    if pod.qos != "Guaranteed":
        return Cause("qos", tuple(one.name for one in pod.containers if not _guaranteed(one)))
    if not node.cpu.static:
        return Cause("cpu-manager")
    return Cause("not-pinned" if asked.cpus else "fraction")


def _guaranteed(container: Container) -> bool:
    """Tell whether a container has limits for CPU and memory, and requests equal to them."""
    for resource in (CPU, MEMORY):
        limit, request = container.limits.get(resource), container.requests.get(resource)
        if limit is None or not limit.nano or (request is not None and request.nano != limit.nano):
            return False
    return True
