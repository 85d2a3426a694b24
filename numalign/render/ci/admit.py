"""What `admit` tells build servers: a check a pod."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import TYPE_CHECKING

from numalign.render.ci.checks import Check, Level, Problem
from numalign.render.text.alignment import reason_of
from numalign.results.verdict import FailOn, fails, pinned_by_claims, pod_claims_fail

if TYPE_CHECKING:
    from numalign.results.admit import AdmitResult, PodResult
    from numalign.results.dra import PodClaims

Place = tuple[str | None, int]
"""File (None: standard input, which has no name) and line."""

NOT_ALIGNED = "NotAligned"
"""Title of what an admitted container got: numalign's own word, the kubelet has none."""
NOT_ALLOCATED = "ClaimsNotAllocated"
"""Title of a pod whose claims have no devices on this node."""
MISSING = "DeviceMissing"
"""Title of a container that goes without a device."""


def admit_checks(result: AdmitResult, places: Iterable[Place], fail_on: FailOn) -> list[Check]:
    """Make a check a pod.

    Args:
        result: what became of the pods.
        places: where each of them stands.
        fail_on: what makes the answer no.
    """
    group = f"{result.setup.machine.name}.{result.setup.config.topology_manager_policy}"
    held = {(pod.namespace, pod.pod): pod for pod in (result.claims.pods if result.claims is not None else ())}
    checks = []
    for pod, (file, line) in zip(result.pods, places, strict=False):  # none after one that the kubelet does not survive
        failed = fails(pod, fail_on, result.claims)
        problems = (
            list(_unaligned(pod, failed, pinned_by_claims(pod, result.claims)))
            if pod.admitted
            else [_refusal(pod, failed)]
        )
        claims = held.get((pod.namespace, pod.name))
        problems += _about_claims(claims, pod_claims_fail(claims, fail_on)) if claims is not None else ()
        checks.append(Check(group, pod.name, file, line, tuple(problems)))
    return checks


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


def _refusal(pod: PodResult, fails: bool) -> Problem:
    who = f"container {pod.refused_at}: " if pod.refused_at else ""
    reason = pod.reason or pod.stage
    return Problem("error" if fails else "warning", reason, f"{who}{pod.message or reason}", fails)


def _unaligned(pod: PodResult, fails: bool, pinned: Container[str]) -> Iterator[Problem]:
    for container in pod.containers:
        if container.aligned is False and container.name not in pinned:
            text = f"container {container.name}: {reason_of(container, pod.qos)}"
            title = MISSING if container.missing else NOT_ALIGNED
            yield Problem("error" if fails else "warning", title, text, fails)
