"""What a decision means: alignment, reasons, verified changes, comparisons, findings. Pure, like the twin itself.

Here are the words of numalign's judgement, and how they are put together (`analysis.alignment`: what each means).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

Verdict = Literal["incomplete", "floating", "spread", "unknown", "aligned", "none"]

WORST_FIRST: tuple[Verdict, ...] = ("incomplete", "floating", "spread", "unknown", "aligned", "none")


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Give a pod the worst verdict of its containers; `none` counts only where there is no other."""
    return min(verdicts, key=WORST_FIRST.index, default="none")


def is_aligned(verdict: Verdict) -> bool | None:
    """Say yes or no: True only for `aligned`; None where there is nothing to align, or it cannot be known."""
    return {"aligned": True, "none": None, "unknown": None}.get(verdict, False)
