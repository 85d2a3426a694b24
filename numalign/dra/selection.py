"""Which devices a request may have: those its selectors choose, and whose taints it tolerates.

Selectors are asked once per device and request (docs/rules/dra.md D-6, D-11).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final

from numalign.dra.cel.device import DeviceValue, Selector, compile_selector, device_value
from numalign.dra.cel.errors import CompileError, EvaluationError, UnsupportedError, line_and_column
from numalign.dra.features import Features
from numalign.dra.pools import Pool, matches
from numalign.dra.values import Device, DeviceClass, DeviceID, DeviceRequest, Node, Slice, Toleration
from numalign.errors import InputError
from numalign.model.machine import Taint
from numalign.values import NamedTuple


class Candidate(NamedTuple):
    """A device of a usable pool, with what a search asks of it."""

    identity: DeviceID
    device: Device
    slice: Slice


class RequestKey(NamedTuple):
    """Names a request, or one of its alternatives, of the claims of a pod."""

    claim: int
    request: int
    alternative: int = 0


class AllocationError(Exception):
    """The allocator's error: the claims cannot be tried on this node at all.

    Attributes:
        key: the request it is about; None while nobody has said.
        selector: the expression it is about; empty: it is about none.
    """

    key: RequestKey | None = None

    def __init__(self, message: str = "", selector: str = "") -> None:
        """Say what is wrong."""
        super().__init__(message)
        self.selector = selector


class GaveUpError(AllocationError):
    """The search was stopped at its bound."""


MAX_SELECTOR_COST: Final = 20_000_000
"""What all selectors together may cost on one node."""
MAX_REPORT_COST: Final = 3_000_000
"""What they may cost once more where it is only told why nothing fits: half a second."""


class Selection:
    """The answers of all selectors of one attempt, remembered per device and request."""

    def __init__(self, node: Node, features: Features, most_cost: int = MAX_SELECTOR_COST) -> None:
        self._node = node
        self._most_cost = most_cost
        self._features = features
        self._answers: dict[tuple[DeviceID, Hashable], bool] = {}
        self._values: dict[DeviceID, DeviceValue | EvaluationError] = {}
        self.cost = 0
        """What all selectors have cost so far."""

    def selects(
        self, candidate: Candidate, key: Hashable, request: DeviceRequest, class_: DeviceClass, claim: str
    ) -> bool:
        """Tell whether the class's and then the request's selectors are all true (D-6, D-20a, D-3a).

        The answer is remembered by `key`, which stands for the request.

        Raises:
            AllocationError: a selector does not compile, or fails on this device.
            InputError: a selector uses what numalign does not follow.
        """
        remembered = self._answers.get((candidate.identity, key))
        if remembered is not None:
            return remembered
        answer = (
            self._all_true(class_.selectors, candidate, f"class {class_.name}")
            and self._all_true(request.selectors, candidate, f"claim {claim}")
            and (not candidate.slice.per_device or matches(candidate.device.placement, self._node))
        )
        self._answers[candidate.identity, key] = answer
        return answer

    def _all_true(self, texts: Sequence[str | None], candidate: Candidate, owner: str) -> bool:
        for index, text in enumerate(texts):
            if self.cost > self._most_cost:
                raise GaveUpError
            place = f"{owner}: selector #{index}"
            selector = self._compiled(text or "", place)
            try:
                value = self._value(candidate)
                answer, cost = selector.matches(value)
            except EvaluationError as error:
                self.cost += error.cost
                raise AllocationError(f"{place}: CEL runtime error: {error}", text or "") from None
            self.cost += cost
            if not answer:
                return False
        return True

    def _compiled(self, text: str, place: str) -> Selector:
        try:
            return compile_selector(
                text, lists=self._features.lists, includes=self._features.release not in ("1.34", "1.35")
            )
        except UnsupportedError as error:
            line, column = line_and_column(text, error.position)
            raise InputError(f"{error.message} (line {line}, column {column})", place) from None
        except CompileError as error:
            line, column = line_and_column(text, error.position)
            raise AllocationError(
                f"{place}: CEL compile error: compilation failed: ERROR: <input>:{line}:{column}: {error.message}", text
            ) from None

    def _value(self, candidate: Candidate) -> DeviceValue:
        found = self._values.get(candidate.identity)
        if found is None:
            try:
                found = device_value(candidate.device, candidate.identity.driver, lists=self._features.lists)
            except EvaluationError as error:
                found = error
            self._values[candidate.identity] = found
        if isinstance(found, EvaluationError):
            raise found
        return found


def candidates(pool: Pool) -> list[Candidate]:
    """Give a pool's devices in the order in which they are tried."""
    return [
        Candidate(DeviceID(pool.driver, pool.name, device.name), device, slice_)
        for slice_ in pool.slices
        for device in slice_.devices
    ]


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
