"""Why an admitted container that could have CPUs of its own runs in the shared pool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from numalign.analysis.holding import holding
from numalign.analysis.lint.finding import Finding
from numalign.analysis.lint.in_manifest import fractional_cpus, limit_missing, request_not_limit
from numalign.analysis.lint.subject import subject
from numalign.kubelet.admission import Outcome
from numalign.model.pod import Container
from numalign.model.quantity import NANO


class Unpinned(NamedTuple):
    """One container, and what keeps it in the shared pool."""

    container: str
    because: Literal["manager", "class", "fraction", "nothing asked"]
    """The CPU manager pins nobody; the pod is not Guaranteed; its CPUs are no whole number; it asks for no CPU."""
    qos: str
    """The pod's class."""
    blame: tuple[Finding, ...] = ()
    """What makes it so, in which container, and what to write instead."""


def unpinned(outcome: Outcome) -> Iterator[Unpinned]:
    """Find the containers of an admitted pod that ask for whole CPUs, or whose pod has devices, and got no CPU."""
    node, demand, pod = outcome.before.node, outcome.demand, outcome.pod
    devices = any(amount for one in demand.containers for _, amount in one.devices)
    looked_at = subject(pod, None)
    for container, asked in zip(pod.containers, demand.containers, strict=True):
        if holding(node, outcome.after, demand.uid, asked).cpus:
            continue
        cpu = container.requests.get("cpu")
        whole = cpu is not None and cpu.nano > 0 and cpu.nano % NANO == 0
        if not whole and not devices:
            continue
        if not node.cpu.static:
            yield Unpinned(container.name, "manager", pod.qos)
        elif not demand.guaranteed:
            blame = (*limit_missing(looked_at), *request_not_limit(looked_at))
            yield Unpinned(container.name, "class", pod.qos, blame)
        else:
            yield _of_guaranteed(container, pod.qos, tuple(fractional_cpus(looked_at)))


def _of_guaranteed(container: Container, qos: str, found: tuple[Finding, ...]) -> Unpinned:
    own = tuple(one for one in found if one.container == container.name)
    return Unpinned(container.name, "fraction" if own else "nothing asked", qos, own)
