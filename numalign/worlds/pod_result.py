"""From the twin's outcome of an admission to the result that every output shows: worked out once, here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numalign.analysis.alignment import Alignment, alignment
from numalign.analysis.holding import Holding, holding
from numalign.errors import Notice
from numalign.results.admit import ContainerResult, PodResult

if TYPE_CHECKING:
    from numalign.analysis.apart import Apart
    from numalign.analysis.closeness import Neighbours
    from numalign.analysis.floating import Cause
    from numalign.kubelet.admission import Outcome
    from numalign.kubelet.demand import ContainerDemand
    from numalign.model.machine import Machine


def beside_refused(pod: str, reason: str) -> Notice:
    """Warn of a pod that is said to be there and that this node refuses: the answer is about a node without it."""
    fix = "if the pod runs on the node, correct the machine or the kubelet settings; else leave the pod out"
    return Notice("beside-refused", f"{reason} on this node, so left out; fix: {fix}", pod)


def pod_result(outcome: Outcome, *, why_apart: bool = False) -> PodResult:
    """Work out what became of a pod; the result keeps none of the node's states.

    Args:
        outcome: the admission.
        why_apart: tell of containers that are spread how that comes.
    """
    pod, node, then = outcome.pod, outcome.before.node, outcome.then
    return PodResult(
        name=pod.name,
        namespace=pod.namespace,
        qos=pod.qos,
        admitted=outcome.admit,
        stage=outcome.stage,
        reason=outcome.reason,
        message=outcome.message,
        refused_at=None if outcome.admit else outcome.result.container,
        containers=_containers(outcome, why_apart=why_apart) if outcome.admit else (),
        shared_pool=then.state.cpu.default if node.cpu.static else None,
    )


def _containers(outcome: Outcome, *, why_apart: bool) -> tuple[ContainerResult, ...]:
    node, found = outcome.before.node, []
    for container in outcome.demand.containers:
        held = holding(node, outcome.after, outcome.demand.uid, container)
        judged = alignment(node, held, container)
        found.append(
            ContainerResult(
                name=container.name,
                kind=container.kind,
                hint=outcome.result.hints[container.name],
                holding=held,
                alignment=judged,
                cause=_cause(outcome, container) if judged.cpus_float else None,
                neighbours=_neighbours(node.machine, held),
                apart=_apart(outcome, container.name, judged) if why_apart and judged.verdict == "spread" else None,
            )
        )
    return tuple(found)


def _neighbours(machine: Machine, held: Holding) -> tuple[Neighbours, ...]:
    if not (machine.hardware or machine.links) or sum(len(one.ids) for one in held.devices) < 2:
        return ()
    from numalign.analysis.closeness import neighbours

    return neighbours(machine, held)


def _apart(outcome: Outcome, container: str, judged: Alignment) -> Apart:
    from numalign.analysis.apart import apart

    return apart(outcome, container, judged)


def _cause(outcome: Outcome, container: ContainerDemand) -> Cause:
    from numalign.analysis.floating import cause

    return cause(outcome.before.node, outcome.pod, container)
