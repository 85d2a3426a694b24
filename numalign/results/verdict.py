"""When the answer is no: what `--fail-on` asks about the result of a pod (exit status 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from numalign.results.admit import PodResult
    from numalign.results.claimed import NodeClaims

FailOn = Literal["rejected", "unaligned", "impossible", "nothing"]
"""What makes the answer no: a pod is refused, or goes without a device it asks for; or what it got is not aligned;
only a pod that an empty node refuses too (the result has to know, see `tasks.admit`), or that lacks a device; never."""

FAIL_ON: tuple[FailOn, ...] = get_args(FailOn)


def fails(pod: PodResult, fail_on: FailOn) -> bool:
    """Tell whether what became of a pod makes the answer no."""
    if fail_on == "nothing":
        return False
    if not pod.admitted:
        return fail_on != "impossible" or pod.impossible is not False
    return bool(pod.missing) or (fail_on == "unaligned" and pod.aligned is False)


def claims_fail(claims: NodeClaims | None, fail_on: FailOn) -> bool:
    """Tell whether what pods hold by claim makes the answer no: a claim without devices here counts as a refusal."""
    if claims is None or fail_on == "nothing":
        return False
    if fail_on != "impossible" and any(not pod.allocated for pod in claims.pods):
        return True
    return fail_on == "unaligned" and any(pod.aligned is False for pod in claims.pods)
