"""One evaluation of an expression: its variables, and what it has cost so far."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from numalign.dra.cel.errors import CostError
from numalign.dra.cel.values import Value

COST_LIMIT: Final = 1_000_000
"""What one evaluation may cost (docs/rules/dra.md 1)."""


class Frame:
    """The variables of an evaluation, and its cost."""

    __slots__ = ("cost", "names")

    def __init__(self, names: dict[str, Value]) -> None:
        self.names = names
        self.cost = 0

    def spend(self, cost: int) -> None:
        """Count a cost.

        Raises:
            CostError: it is too much now.
        """
        self.cost += cost
        if self.cost > COST_LIMIT:
            raise CostError("operation cancelled: actual cost limit exceeded")


Evaluate = Callable[[Frame], Value]
"""A part of an expression, ready to run."""
