"""What `admit` tells build servers: a check a pod."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from numalign.render.ci.checks import Check, Level, Problem
from numalign.render.text.in_brief import NOT_ALIGNED, Brief, briefs
from numalign.results.verdict import FailOn, fails, pinned_by_claims, pod_claims_fail, rail_notices
from numalign.worlds.at_fault import field_at_fault

if TYPE_CHECKING:
    from numalign.model.pod import Pod
    from numalign.results.admit import AdmitResult
    from numalign.results.dra import PodClaims
    from numalign.results.explain import ExplainedPod

Places = Callable[[Iterable[Sequence[str]]], Iterable[tuple[str | None, list[int]]]]
"""Fields pod by pod -> the file of each (None: standard input), and the lines of the pod and of these fields."""

NOT_ALLOCATED = "ClaimsNotAllocated"
"""Title of a pod whose claims have no devices on this node."""
RAIL = "NoCommonSwitch"
"""Title of a container whose GPU and NIC share no PCI switch, or of which nobody knows."""


def admit_checks(
    result: AdmitResult, explained: Mapping[int, ExplainedPod], pods: Sequence[Pod], places: Places, fail_on: FailOn
) -> list[Check]:
    """Make a check a pod.

    Args:
        result: what became of the pods.
        explained: the place of a pod -> why it was rejected or is not aligned.
        pods: the pods.
        places: finds where they and their fields stand.
        fail_on: what makes the answer no.
    """
    group = f"{result.setup.machine.name}.{result.setup.config.topology_manager_policy}"
    held = {(pod.namespace, pod.pod): pod for pod in (result.claims.pods if result.claims is not None else ())}
    found: list[list[tuple[Problem, str]]] = []
    for number, (pod, asked) in enumerate(zip(result.pods, pods, strict=False)):  # none after one that is fatal
        told, failed = explained.get(number), fails(pod, fail_on, result.setup.machine, result.claims)
        pinned = pinned_by_claims(pod, result.claims)
        problems = [
            (_problem(one, failed), field_at_fault(asked, pod, told, one.container))
            for one in briefs(pod, told, result.setup)
            if not (pod.admitted and one.container in pinned)
        ]
        rails = rail_notices((pod,), result.setup.machine, fail_on, result.claims)
        problems += [(Problem("error", RAIL, one.message, fails=True), "") for one in rails]
        claims = held.get((pod.namespace, pod.name))
        about = _about_claims(claims, pod_claims_fail(claims, fail_on)) if claims is not None else ()
        found.append([*problems, *((problem, "") for problem in about)])
    where = places([[field for _, field in each] for each in found])
    return [
        Check(
            group,
            pod.name,
            file,
            line,
            tuple([one._replace(line=at) for (one, _), at in zip(each, at_lines, strict=True)]),
        )
        for pod, each, (file, (line, *at_lines)) in zip(result.pods, found, where, strict=True)
    ]


def _problem(one: Brief, fails: bool) -> Problem:
    level: Level = "error" if fails else "warning"
    return Problem(level, one.title, one.message, fails, fix=one.fix, kubelet=one.kubelet)


def _about_claims(pod: PodClaims, fails: bool) -> Iterator[Problem]:
    """Say that the scheduler would not send a pod here, or what of its claims is not together with its CPUs."""
    level: Level = "error" if fails else "warning"
    if not pod.allocated:
        message = f"claims: the scheduler would not place the pod on this node: {_why(pod)}"
        yield Problem(level, NOT_ALLOCATED, message, fails)
    for container in pod.containers:
        if container.verdict in ("spread", "floating"):
            yield Problem(level, NOT_ALIGNED, f"container {container.container}: {container.reason}", fails)


def _why(pod: PodClaims) -> str:
    if pod.absent:
        return f"{', '.join(pod.absent)} is neither given nor in the cluster"
    error = pod.outcome.error if pod.outcome is not None else ""
    why = pod.why
    if error or why is None:
        return error or "no devices are found"
    wanted = "all" if why.wanted is None else str(why.wanted)
    return f"request {why.request} of claim {why.claim} gets {why.found} of {wanted} devices"
