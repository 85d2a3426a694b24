"""What `admit` tells build servers: a check a pod."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from numalign.render.ci.checks import Check, Problem
from numalign.render.text.alignment import reason_of
from numalign.results.verdict import FailOn, fails

if TYPE_CHECKING:
    from numalign.results.admit import AdmitResult, PodResult

Place = tuple[str | None, int]
"""File (None: standard input, which has no name) and line."""

NOT_ALIGNED = "NotAligned"
"""Title of what an admitted container got: numalign's own word, the kubelet has none."""
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
    checks = []
    for pod, (file, line) in zip(result.pods, places, strict=False):  # none after one that the kubelet does not survive
        failed = fails(pod, fail_on)
        problems = _unaligned(pod, failed) if pod.admitted else [_refusal(pod, failed)]
        checks.append(Check(group, pod.name, file, line, tuple(problems)))
    return checks


def _refusal(pod: PodResult, fails: bool) -> Problem:
    who = f"container {pod.refused_at}: " if pod.refused_at else ""
    reason = pod.reason or pod.stage
    return Problem("error" if fails else "warning", reason, f"{who}{pod.message or reason}", fails)


def _unaligned(pod: PodResult, fails: bool) -> Iterator[Problem]:
    for container in pod.containers:
        if container.aligned is False:
            text = f"container {container.name}: {reason_of(container, pod.qos)}"
            title = MISSING if container.missing else NOT_ALIGNED
            yield Problem("error" if fails else "warning", title, text, fails)
