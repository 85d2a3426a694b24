"""The search of `distribute-cpus-across-numa` where `align-by-socket` is on, too: nodes of one socket come first.

docs/rules/kubelet-1.37.md 3.2; the rest is as in `balance`. No node is passed over for having less than its share: all
give less then, so each combination has a share of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations

from numalign.kubelet.cpu.balance import (
    NO_SCORE,
    Balance,
    Outcome,
    Positions,
    Search,
    after_share,
    effective,
    evaluate,
    has_enough,
    lower_bound,
    refuse_endless,
    refuse_hang,
)


def best_in_one_socket(search: Search, sockets: Sequence[Collection[int]]) -> Balance | None:
    """Find the combination that wins: one socket before several, then the most even; None: none has enough.

    Args:
        search: what is looked for.
        sockets: the sockets of the node at each position.

    Raises:
        KubeletHangError: the kubelet would not come back (8.31), or not for hours.
    """
    count = len(search.free)
    refuse_endless(search, count)
    best: Outcome | None = None
    winner: Positions = ()
    bar = (True, NO_SCORE)
    for combination in combinations(range(count), search.size):
        if bar == (False, 0):
            break
        if not has_enough(search, combination):
            continue
        here = search.within(combination)
        rest, squares = after_share(here, combination)
        if here.groups:
            refuse_hang(here, rest, combination)
        apart = len({socket for position in combination for socket in sockets[position]}) > 1
        if (apart, here.score(lower_bound(here, rest, squares, combination))) >= bar:
            continue
        outcome = evaluate(here, rest, squares, combination)
        if (apart, outcome.score) < bar:
            best, winner, bar = outcome, combination, (apart, outcome.score)
    return None if best is None else effective(search, winner, best, stopped=bar == (False, 0))
