"""Taints of devices and the tolerations of requests (docs/rules/dra.md D-11)."""

from __future__ import annotations

from collections.abc import Sequence

from numalign.dra.values import Taint, Toleration


def tolerated(taints: Sequence[Taint], tolerations: Sequence[Toleration]) -> bool:
    """Tell whether a request puts up with all taints that keep devices from being allocated."""
    return all(
        any(_tolerates(one, taint) for one in tolerations)
        for taint in taints
        if taint.effect in ("NoSchedule", "NoExecute")
    )


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    return toleration.operator == "Equal" and toleration.value == taint.value
