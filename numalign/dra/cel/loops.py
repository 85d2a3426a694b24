"""The macros that go over a list or the keys of a map.

A loop costs what cel-go's expansion of the macro costs: each round reads and tests the result so far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from numalign.dra.cel.errors import NO_OVERLOAD, CostError, EvaluationError
from numalign.dra.cel.syntax import LoopKind
from numalign.dra.cel.values import Evaluate, Frame, Value, map_key, plain_key, type_name
from numalign.values import NamedTuple


class _Costs(NamedTuple):
    """What a round costs beside its own expressions: always, and when the element is taken."""

    round: int
    taken: int
    end: int = 1


_COSTS: Final = {
    "all": _Costs(3, 0),
    "exists": _Costs(4, 0),
    "exists_one": _Costs(0, 2, 2),
    "map": _Costs(0, 12),
    "filter": _Costs(0, 13),
    "transform_list": _Costs(0, 12),
    "transform_map": _Costs(0, 1),
    "transform_entry": _Costs(0, 1),
}


def loop(
    kind: LoopKind,
    variables: tuple[str, ...],
    range_: Evaluate,
    condition: Evaluate | None,
    result: Evaluate | None,
) -> Evaluate:
    """Make the closure of a loop."""
    costs = _COSTS[kind]

    def rounds(frame: Frame) -> Iterator[tuple[Value, Value]]:
        """Set the variables for each element in turn; give its key (or index) and itself."""
        outer = frame.names
        elements = _elements(range_(frame), len(variables))
        frame.cost += costs.end
        try:
            for key, value in elements:
                frame.spend(costs.round)
                names = (key, value) if len(variables) == 2 else (value,)
                frame.names = {**outer, **dict(zip(variables, names, strict=True))}
                yield key, value
        finally:
            frame.names = outer

    if kind in ("all", "exists") and condition is not None:
        return _quantifier(rounds, condition, kind == "exists")
    if kind == "exists_one" and condition is not None:
        return _exactly_one(rounds, condition, costs)
    return _collector(kind, rounds, condition, result, costs)


Rounds = Callable[[Frame], Iterator[tuple[Value, Value]]]


def _elements(value: object, variables: int) -> Iterator[tuple[Value, Value]]:
    """Yield (index, item) of a list, (key, value) of a map; with one variable a map is the list of its keys."""
    if isinstance(value, list):
        return enumerate(value)
    if not isinstance(value, dict):
        raise EvaluationError(f"got '{type_name(value)}', expected iterable type")
    if variables == 1:
        return enumerate(map(plain_key, value))
    return ((plain_key(key), inner) for key, inner in value.items())


def _quantifier(rounds: Rounds, condition: Evaluate, decides: bool) -> Evaluate:
    """Make `exists` or `all`: the deciding value ends it, and outweighs errors of other elements."""

    def run(frame: Frame) -> bool:
        failure: EvaluationError | None = None
        decided = False
        for _ in rounds(frame):
            if decided:  # the round that finds out that it is decided
                frame.cost -= 1
                break
            try:
                value = condition(frame)
            except CostError:
                raise
            except EvaluationError as error:
                failure = error
                continue
            decided = value is decides
            if not decided and value is not (not decides):
                failure = EvaluationError(NO_OVERLOAD)
        if decided:
            return decides
        if failure is not None:
            raise failure
        return not decides

    return run


def _exactly_one(rounds: Rounds, condition: Evaluate, costs: _Costs) -> Evaluate:
    def run(frame: Frame) -> bool:
        count = 0
        for _ in rounds(frame):
            if _is_true(condition(frame)):
                frame.spend(costs.taken)
                count += 1
        return count == 1

    return run


def _collector(
    kind: LoopKind, rounds: Rounds, condition: Evaluate | None, result: Evaluate | None, costs: _Costs
) -> Evaluate:
    """Make the loops that give a list or a map."""

    def run(frame: Frame) -> Value:
        items: list[Value] = []
        entries: dict[Value, Value] = {}
        for key, value in rounds(frame):
            if condition is not None and not _is_true(condition(frame)):
                continue
            frame.spend(costs.taken)
            made = value if result is None else result(frame)
            if kind == "transform_map":
                entries[map_key(key)] = made
            elif kind == "transform_entry":
                _add_entries(entries, made)
            else:
                items.append(made)
        return entries if kind in ("transform_map", "transform_entry") else items

    return run


def _add_entries(entries: dict[Value, Value], made: object) -> None:
    if not isinstance(made, dict):
        raise EvaluationError(NO_OVERLOAD)
    for key, value in made.items():
        if key in entries:
            raise EvaluationError(f"insert failed: key {plain_key(key)} already exists")
        entries[key] = value


def _is_true(value: object) -> bool:
    if not isinstance(value, bool):
        raise EvaluationError(NO_OVERLOAD)
    return value
