"""Why an admitted container that could have CPUs of its own runs in the shared pool, and what to write instead."""

from __future__ import annotations

from collections.abc import Iterator

from numalign.analysis.floating import Cause, cause
from numalign.analysis.holding import holding
from numalign.analysis.lint.finding import Finding
from numalign.analysis.lint.in_manifest import fractional_cpus, limit_missing, request_not_limit
from numalign.analysis.lint.subject import subject
from numalign.kubelet.admission import Outcome
from numalign.model.quantity import NANO
from numalign.values import NamedTuple


class Unpinned(NamedTuple):
    """One container, and what keeps it in the shared pool."""

    container: str
    cause: Cause
    blame: tuple[Finding, ...] = ()
    """What makes it so, in which container, and what to write instead."""


def unpinned(outcome: Outcome) -> Iterator[Unpinned]:
    """Find the containers of an admitted pod that ask for whole CPUs, or whose pod has devices, and got no CPU."""
    node, demand, pod = outcome.before.node, outcome.demand, outcome.pod
    devices = any(amount for one in demand.containers for _, amount in one.devices)
    for container, asked in zip(pod.containers, demand.containers, strict=True):
        if holding(node, outcome.after, demand.uid, asked).cpus:
            continue
        cpu = container.requests.get("cpu")
        if devices or (cpu is not None and cpu.nano > 0 and cpu.nano % NANO == 0):
            why = cause(node, pod, asked)
            yield Unpinned(container.name, why, tuple(_blame(outcome, why, container.name)))


def _blame(outcome: Outcome, why: Cause, name: str) -> Iterator[Finding]:
    """Find in the manifest what to change, as `lint` does."""
    looked_at = subject(outcome.pod, None)
    if why.kind == "qos":
        yield from limit_missing(looked_at)
        yield from request_not_limit(looked_at)
    elif why.kind == "fraction":
        yield from (one for one in fractional_cpus(looked_at) if one.container == name)
