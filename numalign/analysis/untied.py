"""What a refused pod asks for that no manager ties to NUMA nodes, so that no table tells of it, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from numalign.analysis.floating import Cause, cause
from numalign.analysis.matrix import Matrix
from numalign.kubelet.admission import Outcome
from numalign.kubelet.demand import ContainerDemand
from numalign.kubelet.memory.state import STATIC
from numalign.model.pod import Container, Pod
from numalign.model.resources import CPU, is_memory
from numalign.values import NamedTuple


class Untied(NamedTuple):
    """One resource of one container."""

    container: str
    resource: str
    kind: Literal["cpu", "qos", "memory-manager", "init", "bytes", "no-plugin"]
    """`cpu`: see `cause`. `qos`: the pod is not Guaranteed. `memory-manager`: it pins no memory. `init`: of a decision
    about the whole pod, only init containers ask for it. `bytes`: the container asks for no whole number of bytes, or,
    of such a decision, some container does, see `odd`. `no-plugin`: no device plugin offers it."""
    cause: Cause | None = None
    """Of CPUs, and of memory of a pod that is not Guaranteed."""
    counted: bool = False
    """The table has the resource all the same, since other containers ask for it."""
    odd: tuple[tuple[str, int], ...] = ()
    """(container, amount) pairs of what is no whole number of bytes, in billionths; the pod's memory is not counted."""


def untied(outcome: Outcome, tables: Iterable[Matrix]) -> Iterator[Untied]:
    """List what the containers that tables are about ask for and the tables do not count.

    Of pods with pod-level resources nothing is told: what counts there is the pod's budget.
    """
    if outcome.pod.level is not None:
        return
    whose = {
        one.name: (one, asked) for one, asked in zip(outcome.pod.containers, outcome.demand.containers, strict=True)
    }
    for table in tables:
        names = whose if table.container is None else [table.container]
        rows = {row.resource for row in table.rows}
        for name in names:
            yield from _of(outcome, *whose[name], rows, whole=table.container is None)


def _of(
    outcome: Outcome, container: Container, asked: ContainerDemand, rows: set[str], *, whole: bool
) -> Iterator[Untied]:
    """List what one container asks for and no row counts."""
    node, pod = outcome.before.node, outcome.pod
    for name, amount in container.requests.items():
        counted = name in rows
        if name == CPU and amount.nano and not (counted and asked.cpus):
            yield Untied(container.name, name, "cpu", cause(node, pod, asked), counted)
        elif is_memory(name) and amount.nano and not counted:
            if node.memory.policy != STATIC:
                yield Untied(container.name, name, "memory-manager")
            elif pod.qos != "Guaranteed":
                yield Untied(container.name, name, "qos", cause(node, pod, asked))
            elif whole and outcome.demand.memory is None:
                yield Untied(container.name, name, "bytes", odd=tuple(_odd(pod)))
            elif asked.memory is None:
                yield Untied(container.name, name, "bytes")
            elif name in node.memory.places:
                yield Untied(container.name, name, "init")
    for name, number in asked.devices:
        if number and name not in rows:
            yield Untied(container.name, name, "no-plugin")


def _odd(pod: Pod) -> Iterator[tuple[str, int]]:
    """List what containers ask for that is no whole number of bytes."""
    for container in pod.containers:
        for name, amount in container.requests.items():
            if is_memory(name) and amount.int64 is None:
                yield container.name, amount.nano
