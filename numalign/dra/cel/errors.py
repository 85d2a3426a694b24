"""What can go wrong with an expression: it does not compile, it uses an unknown name, it fails on a device."""

from __future__ import annotations


class CompileError(ValueError):
    """The expression is refused before it runs, as the API server and the scheduler would refuse it.

    Attributes:
        message: what is wrong, without the place.
        position: index of the character it is about.
    """

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.message = message
        self.position = position


class UnsupportedError(CompileError):
    """The expression uses something that Kubernetes knows and numalign does not follow."""


class EvaluationError(Exception):
    """The expression failed on a device; `&&`, `||`, `exists` and `all` may absorb it (docs/rules/dra.md D-20a).

    Attributes:
        cost: what the evaluation had cost when it ended.
    """

    cost = 0


class CostError(EvaluationError):
    """The expression did more than its cost limit allows. Nothing absorbs this."""


NO_OVERLOAD = "no such overload"


def line_and_column(text: str, position: int) -> tuple[int, int]:
    """Say where a position of an expression is, both counted from 1."""
    before = text[:position]
    return before.count("\n") + 1, position - (before.rfind("\n") + 1) + 1
