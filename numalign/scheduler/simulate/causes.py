"""Why a scheduler and a kubelet disagree: the first known cause without which they would agree (scheduling.md 1.5)."""

from __future__ import annotations

from collections.abc import Iterator

from numalign.scheduler import attempt
from numalign.scheduler.attempt import SchedulerConfig
from numalign.scheduler.cache import View
from numalign.scheduler.node_fit import NodeTotals
from numalign.scheduler.nrt.value import POLICY, NodeResourceTopology
from numalign.scheduler.request import PodRequest
from numalign.scheduler.resources import is_whole
from numalign.scheduler.simulate.machines import SimulatedMachine, nrt_of
from numalign.scheduler.simulate.shapes import Shape

UNAWARE = "unaware"
"""The scheduler has no topology filter at all; with one it would have known."""
UNKNOWN = "unknown"


def cause(config: SchedulerConfig, shape: Shape, machine: SimulatedMachine, *, passed: bool) -> str:
    """Name the cause of a disagreement: the scheduler said `passed`, the machine's kubelet says the opposite."""
    nrt = nrt_of(machine.kind, machine.free)
    aware = config._replace(kind="nrt") if config.kind == "unaware" else config
    for name, request, seen in _without(shape.request, nrt):
        verdict = attempt.check(
            aware._replace(node_fit=False), NodeTotals(machine.kind.totals, {}, 0), View(seen), request
        )
        if verdict.passed != passed:
            return UNAWARE if config.kind == "unaware" and name == "X-1" else name
    if machine.session.node.config.cpu_manager_policy_options:
        return "X-7"
    return "X-4" if len(shape.request.containers) > 1 else UNKNOWN


def _without(
    request: PodRequest, nrt: NodeResourceTopology | None
) -> Iterator[tuple[str, PodRequest, NodeResourceTopology | None]]:
    """Take the causes away, one at a time; the data are true in all of them."""
    yield "X-1", request, nrt
    fractional = [
        one._replace(items=tuple([item for item in one.items if item[0] != "cpu" or is_whole(item[1])]))
        for one in request.containers
    ]
    if request.guaranteed and tuple(fractional) != request.containers:
        yield "X-2", request._replace(containers=tuple(fractional)), nrt
    if any(one.kind == "sidecar" for one in request.containers):
        apps = [one._replace(kind="app") if one.kind == "sidecar" else one for one in request.containers]
        yield "X-5", request._replace(containers=tuple(apps)), nrt
    if nrt is not None and (POLICY, "restricted") in nrt.attributes:
        strict = tuple([(name, "single-numa-node" if name == POLICY else value) for name, value in nrt.attributes])
        yield "X-6", request, nrt._replace(attributes=strict)
    if request.overhead:
        yield "X-8", request._replace(overhead=()), nrt
