"""When the answer is no: what `--fail-on` asks about an outcome (exit status 1)."""

from __future__ import annotations

from numalign.analysis.alignment import alignment
from numalign.kubelet.admission import Outcome, admit

FAIL_ON = ("rejected", "unaligned", "impossible", "nothing")
"""Values of `--fail-on`: a pod is refused; or what it got is not aligned; only a pod that an empty node refuses too;
never."""

KUBELET_FAILS = 4
"""The exit status where the kubelet itself would crash or hang."""


def fails(outcome: Outcome, fail_on: str) -> bool:
    """Tell whether an outcome makes the answer no."""
    if fail_on == "nothing":
        return False
    if not outcome.admit:
        return fail_on != "impossible" or not fits_empty_node(outcome)
    return fail_on == "unaligned" and any(
        alignment(outcome.before.node, outcome.after, outcome.demand.uid, container).aligned is False
        for container in outcome.demand.containers
    )


def fits_empty_node(outcome: Outcome) -> bool:
    """Tell whether the same node would admit the pod with nothing else on it."""
    return admit(outcome.before.empty(), outcome.pod).admit
