"""The search of `distribute-cpus-across-numa` against the rule done literally, visit by visit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

import pytest
from hypothesis import example, given

from numalign.kubelet.cpu.balance import Balance, best_balance, plan, score, stable
from numalign.kubelet.errors import KubeletHangError
from tests.dice import Dice, draws, rolled


class EndlessError(Exception):
    """The literal search goes round for ever."""


def half_up(x: float) -> int:
    return math.floor(x) + (1 if x - math.floor(x) >= 0.5 else 0)


def literal_score(numbers: Sequence[int]) -> float:
    """docs/rules/cpu-manager.md 8.26 in floating point."""
    mean = half_up(sum(numbers) / len(numbers) * 1000) / 1000
    variance = sum((number - mean) ** 2 for number in numbers) / len(numbers)
    return half_up(math.sqrt(variance) * 1000) / 1000


def last_with_head(stored: tuple[int, ...], visited: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """docs/rules/cpu-manager.md 8.30, with h from its table."""
    kept = {1: 1, 2: 2, 3: 3, 4: 3, 5: 5, 6: 5, 7: 5, 8: 5, 9: 9}[len(stored)]
    return [one for one in visited if one[:kept] == stored[:kept]][-1]


def literal_balance(free: Sequence[int], n: int, group: int, k: int) -> Balance | None:
    """docs/rules/cpu-manager.md 8.24, 8.25: every combination, every remainder list."""
    best, winner, remainder = math.inf, None, ()
    visited = []
    for chosen in combinations(range(len(free)), k):
        visited.append(chosen)
        if best == 0:
            break
        share = n // k // group * group
        if sum(free[z] for z in chosen) < n or group * sum(free[z] // group for z in chosen) < n:
            continue
        if any(free[z] < share for z in chosen):
            continue
        rest = [amount - share * (z in chosen) for z, amount in enumerate(free)]
        found, local = literal_remainder(rest, chosen, n - share * k, group)
        if found < best:
            best, winner, remainder = found, chosen, local
    return None if winner is None else Balance(last_with_head(winner, visited), remainder, winner)


def literal_remainder(rest: list[int], chosen: tuple[int, ...], r: int, group: int) -> tuple[float, tuple[int, ...]]:
    if r == 0:
        return literal_score(rest), ()
    source = [z for z in chosen if rest[z] >= group]
    best, winner = math.inf, ()
    for j in range(len(source), 0, -1):
        for givers in combinations(source, j):
            if sum(rest[z] for z in givers) >= r:
                found = literal_score(list(round_robin(rest, givers, r, group)))
                if found < best:
                    best, winner = found, givers
    return best, last_with_head(winner, list(combinations(source, len(winner)))) if winner else ()


def round_robin(rest: list[int], givers: Sequence[int], r: int, group: int) -> Iterator[int]:
    amounts = list(rest)
    while r:
        before = r
        for z in givers:
            if r and amounts[z] >= group:
                amounts[z] -= group
                r -= group
        if r == before:
            raise EndlessError
    return iter(amounts)


def search(dice: Dice) -> tuple[list[int], int, int, int]:
    """Free CPUs node by node, n, group size, number of nodes."""
    most = dice.pick((3, 5, 9, 33))
    free = dice.several(lambda each: each.between(1, most), 1, 7)
    if dice.flag():
        free.sort()
    group = dice.pick((1, 1, 2, 4))
    n = dice.between(1, max(1, sum(free) // group)) * group
    return free, n, group, dice.between(1, len(free))


@draws(240)
@given(rolled(search, 32))
@example(([3, 3, 3, 3, 5], 10, 1, 4))
@example(([5, 5, 5, 5], 14, 2, 4))
@example(([4, 4, 4, 4, 4, 4, 4], 28, 1, 7))
@example(([5, 5, 5, 3, 3, 3], 6, 2, 4))
def test_the_search_finds_what_the_rule_finds(case: tuple[list[int], int, int, int]) -> None:
    free, n, group, k = case
    try:
        expected = literal_balance(free, n, group, k)
    except EndlessError:
        with pytest.raises(KubeletHangError):
            best_balance(plan(free, range(len(free)), n, group, k))
        return

    assert best_balance(plan(free, range(len(free)), n, group, k)) == expected


@draws(200)
@given(rolled(lambda dice: dice.several(lambda each: each.below(301), 1, 32), 80))
def test_the_score_is_that_of_floating_point(numbers: list[int]) -> None:
    exact = score(sum(number * number for number in numbers), sum(numbers), len(numbers))

    assert exact / 1000 == literal_score(numbers)


@pytest.mark.parametrize(
    ("numbers", "thousandths"),
    [([1, 0, 0], 471), ([2, 1, 1, 4], 1225), ([2, 0, 1, 4], 1479), ([2, 1, 1, 1], 433), ([5, 5, 5], 0), ([0], 0)],
)
def test_scores_of_the_rules(numbers: list[int], thousandths: int) -> None:
    assert score(sum(number * number for number in numbers), sum(numbers), len(numbers)) == thousandths


def test_how_much_of_a_stored_combination_is_stable() -> None:
    """The table of docs/rules/cpu-manager.md 8.30."""
    assert [stable(k) for k in range(1, 17)] == [1, 2, 3, 3, 5, 5, 5, 5, 9, 9, 9, 9, 9, 9, 9, 9]


def test_a_search_over_too_many_nodes_is_a_hang() -> None:
    free = list(range(20, 52))

    with pytest.raises(KubeletHangError, match="takes hours"):
        best_balance(plan(free, range(32), 16 * 20 + 7, 1, 16))
    with pytest.raises(KubeletHangError, match="takes hours"):
        best_balance(plan(free, range(32), 16 * 20, 1, 16))


def test_a_node_at_two_positions_is_taken_from_twice() -> None:
    """docs/rules/cpu-manager.md 8.21: combinations work on positions, the score on nodes."""
    balance = best_balance(plan([8, 8, 4], [0, 0, 1], 8, 1, 2))

    assert balance == Balance((0, 1), (), (0, 1))
