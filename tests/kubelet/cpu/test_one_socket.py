"""Nodes of one socket first (docs/rules/kubelet-1.37.md 3.2), against the rule done literally."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import example, given

from numalign.kubelet.cpu.balance import Balance, plan
from numalign.kubelet.cpu.manager import CPUManager, distribute, distribute_once, distribute_until_1_36
from numalign.kubelet.cpu.one_socket import best_in_one_socket
from numalign.kubelet.cpu.options import NO_OPTIONS
from numalign.kubelet.errors import AllocationError, KubeletHangError
from numalign.model.cpuset import parse
from tests.dice import Dice, draws, rolled
from tests.kubelet.cpu.support import TEN_NODES, topology
from tests.kubelet.cpu.test_cpu_balance import EndlessError, last_with_head, literal_remainder

Case = tuple[list[int], list[int], int, int, int]
"""Free CPUs and socket node by node, n, group size, number of nodes."""


def literal(free: Sequence[int], sockets: Sequence[int], n: int, group: int, k: int) -> Balance | None:
    best: tuple[bool, float] = (True, math.inf)
    winner, remainder, visited = None, (), []
    for chosen in combinations(range(len(free)), k):
        visited.append(chosen)
        if best == (False, 0):
            break
        if sum(free[z] for z in chosen) < n or group * sum(free[z] // group for z in chosen) < n:
            continue
        share = min(n // k // group * group, *[free[z] // group * group for z in chosen])
        rest = [amount - share * (z in chosen) for z, amount in enumerate(free)]
        found, local = literal_remainder(rest, chosen, n - share * k, group)
        apart = len({sockets[z] for z in chosen}) > 1
        if (apart, found) < best:
            best, winner, remainder = (apart, found), chosen, local
    return None if winner is None else Balance(last_with_head(winner, visited), remainder, winner)


def search(dice: Dice) -> Case:
    most = dice.pick((3, 5, 9))
    free = dice.several(lambda each: each.between(1, most), 1, 7)
    group = dice.pick((1, 1, 2))
    n = dice.between(1, max(1, sum(free) // group)) * group
    return free, [dice.between(0, 1) for _ in free], n, group, dice.between(1, len(free))


EVEN_AT_ONCE: Case = ([5, 5, 5, 3, 3, 3], [0] * 6, 6, 2, 4)
"""The first combination leaves 3 CPUs everywhere; a later one would hang the kubelet."""


@draws(240)
@given(rolled(search, 48))
@example(EVEN_AT_ONCE)
def test_the_search_finds_what_the_rule_finds(case: Case) -> None:
    free, sockets, n, group, k = case
    asked = plan(free, range(len(free)), n, group, k)
    try:
        expected = literal(free, sockets, n, group, k)
    except EndlessError:
        with pytest.raises(KubeletHangError):
            best_in_one_socket(asked, [{one} for one in sockets])
        return

    assert best_in_one_socket(asked, [{one} for one in sockets]) == expected


def test_a_search_over_too_many_nodes_is_a_hang() -> None:
    with pytest.raises(KubeletHangError, match="takes hours"):
        best_in_one_socket(plan(range(20, 52), range(32), 16 * 20 + 7, 1, 16), [{0}] * 32)


E9 = parse(",".join(f"{5 * node + (node > 3)}-{5 * node + 4}" for node in range(10)))
"""The fourth of E9: a stored combination that was overwritten has a node with too few CPUs."""
SPREAD = NO_OPTIONS._replace(distribute_cpus_across_numa=True)


def test_a_share_that_is_lowered_late_can_hang_the_kubelet() -> None:
    """docs/rules/kubelet-1.37.md 3.3."""
    manager = CPUManager("static", SPREAD, topology(TEN_NODES))
    for once in (distribute_until_1_36, distribute_once):
        with pytest.raises(AllocationError, match="accounting error"):
            manager._replace(distribute=once).take(E9, 20)
    with pytest.raises(KubeletHangError, match="never ends"):
        manager._replace(distribute=distribute).take(E9, 20)
