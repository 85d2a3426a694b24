"""How evenly an allocation leaves the NUMA nodes: the search of `distribute-cpus-across-numa`.

docs/rules/cpu-manager.md 8.24 to 8.27, 8.30 and 8.31. Plain numbers only: nodes are positions of the NUMA order Z;
what happens to their CPUs is the business of `distributed`.

The kubelet scores a list by its standard deviation, mean and result rounded to thousandths. All lists of one search
have the same sum, so the score only grows with the sum of squares, a whole number: `score` reads the kubelet's figure
off that sum exactly. (Up to 63 nodes no list lies on the edge of a rounding step, where floating point could differ.)

Example: 10 CPUs of two among three nodes, which have 6, 6 and 8 free CPUs in the order of Z. Each of the two gives 5.
Positions (0, 1) leave 1, 1 and 8 CPUs: mean 3.333, score 3.300. Positions (0, 2) leave 1, 6 and 3: score 2.055, as do
(1, 2), which come later. Nothing remains to be shared out: the balance is (0, 2) with no remainder.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb, isqrt

from numalign.kubelet.errors import KubeletHangError
from numalign.values import NamedTuple

Positions = tuple[int, ...]

NO_SCORE = 1 << 200
"""Above every score: the +∞ that each search starts with."""
MAX_VISITS = 1_000_000_000
"""With more steps than this the kubelet searches for hours, holding its lock: as good as a hang."""
MAX_COMBINATIONS = 5_000_000
"""The same for the combinations alone, which numalign has to go through itself."""


class Search(NamedTuple):
    """One search: `size` nodes of Z give `share` CPUs each, and `groups` groups of `group` CPUs between them."""

    free: Sequence[int]
    """f of 8.21: free CPUs of the node at each position of Z."""
    nodes: Sequence[int]
    """Which node stands at each position, numbered from 0: a node in two sockets stands at two."""
    group: int
    size: int
    need: int
    share: int
    """d of 8.24 step 4."""
    groups: int
    """r / g of 8.24 step 5."""
    before: Sequence[int]
    """Free CPUs of each node, each node once."""

    def score(self, squares: int) -> int:
        """Return the score of a list that sums up to what stays free, from its sum of squares."""
        return score(squares, sum(self.before) - self.need, len(self.before))

    def within(self, combination: Positions) -> Search:
        """Lower the share to what each node of a combination has in whole groups (docs/rules/kubelet-1.37.md 3)."""
        share = min(self.share, *[self.free[position] // self.group * self.group for position in combination])
        if share == self.share:
            return self
        return self._replace(share=share, groups=(self.need - share * self.size) // self.group)


class Balance(NamedTuple):
    """The *effective* result of a search (8.30): positions of Z."""

    combination: Positions
    remainder: Positions
    winner: Positions
    """The combination that was best when it was stored."""


class Outcome(NamedTuple):
    """What the best remainder list of one combination leaves; both lists are indices into the combination."""

    score: int
    source: Positions
    """Q of 8.25."""
    remainder: Positions


def score(squares: int, total: int, count: int) -> int:
    """Return the balance score of 8.26, in thousandths, of `count` numbers with this sum and sum of squares.

    A lower bound of a sum of squares may be less than any such numbers have: 0 then.
    """
    mean = (2000 * total + count) // (2 * count)
    scaled = squares * 10**6 - 2000 * mean * total + count * mean * mean
    return (isqrt(4 * max(scaled, 0) // count) + 1) // 2


def plan(free: Sequence[int], nodes: Sequence[int], need: int, group: int, size: int) -> Search:
    """Set up the search for combinations of `size` positions (8.24 steps 4 and 5)."""
    share = need // size // group * group
    before = dict(zip(nodes, free, strict=True))
    return Search(
        free=free,
        nodes=nodes,
        group=group,
        size=size,
        need=need,
        share=share,
        groups=(need - share * size) // group,
        before=[before[node] for node in sorted(before)],
    )


def best_balance(search: Search) -> Balance | None:
    """Find the combination that leaves the nodes most evenly filled; None where no combination has enough (8.24).

    It is the first of the best in the kubelet's order of visits. For that it does not matter which of the others are
    really evaluated: those that look alike are evaluated once, those that cannot win not at all.

    Raises:
        KubeletHangError: the kubelet would not come back (8.31), or not for hours.
    """
    free, size = search.free, search.size
    candidates = [position for position in range(len(free)) if free[position] >= search.share]
    refuse_endless(search, len(candidates))
    distinct = len(search.before) == len(free)
    may_hang = search.groups > 0 and (not distinct or any(amount % search.group for amount in free))
    known: dict[Positions, Outcome] = {}
    best: Outcome | None = None
    winner: Positions = ()
    bar = _bar(search, candidates)
    for combination in combinations(candidates, size):
        if not has_enough(search, combination):
            continue
        key = tuple([free[position] for position in combination]) if distinct else combination
        outcome = known.get(key)
        if outcome is None:
            rest, squares = after_share(search, combination)
            if may_hang:
                refuse_hang(search, rest, combination)
            if search.score(lower_bound(search, rest, squares, combination)) >= bar:
                continue
            outcome = known[key] = evaluate(search, rest, squares, combination)
        if outcome.score < bar:
            best, winner, bar = outcome, combination, outcome.score
            if bar == 0:
                break
    if best is None:
        return None
    return effective(search, winner, best, stopped=best.score == 0)


def effective(search: Search, winner: Positions, outcome: Outcome, *, stopped: bool) -> Balance:
    """Return what the kubelet finds stored when the search is over (8.30).

    Args:
        search: the search.
        winner: the best combination.
        outcome: what is best in it.
        stopped: the visit after the winner's ended the search.
    """
    size, count = search.size, len(search.free)
    kept = stable(size)
    last = _successor(winner, count) if stopped else _last_with(winner[:kept], size, count)
    return Balance(last if last[:kept] == winner[:kept] else winner, _effective_remainder(winner, outcome), winner)


def stable(length: int) -> int:
    """How many elements of a stored combination survive later visits: h of 8.30."""
    return length if length < 3 else (1 << (length - 1).bit_length() - 1) + 1


def _successor(combination: Positions, count: int) -> Positions:
    """Return the next combination of `count` positions in lexicographic order; the last is its own successor."""
    size = len(combination)
    for index in reversed(range(size)):
        if combination[index] < count - size + index:
            first = combination[index] + 1
            return (*combination[:index], *range(first, first + size - index))
    return combination


def _last_with(prefix: Positions, size: int, count: int) -> Positions:
    """Return the last combination of `count` positions that starts with `prefix` (8.30)."""
    return (*prefix, *range(count - size + len(prefix), count))


def _effective_remainder(combination: Positions, outcome: Outcome) -> Positions:
    """Turn a remainder list into positions of Z, overwritten by the last visited one (8.30)."""
    source, remainder = outcome.source, outcome.remainder
    kept = stable(len(remainder))
    tail = source[len(source) - (len(remainder) - kept) :]
    return tuple([combination[index] for index in (*remainder[:kept], *tail)])


def refuse_endless(search: Search, candidates: int) -> None:
    """Raise a hang where so many candidates take the kubelet hours."""
    visits = comb(candidates, search.size)
    if visits > MAX_COMBINATIONS or (search.groups and visits << search.size > MAX_VISITS):
        raise KubeletHangError(
            f"distribute-cpus-across-numa: the search over {search.size} of {len(search.free)} NUMA nodes takes hours"
        )


def has_enough(search: Search, combination: Positions) -> bool:
    """Check steps 2 and 3 of 8.24: CPUs, each node counted once; then whole groups, position by position."""
    free, group = search.free, search.group
    if sum([free[position] // group for position in combination]) * group < search.need:
        return False
    nodes = {search.nodes[position] for position in combination}
    return len(nodes) == len(combination) or sum(search.before[node] for node in nodes) >= search.need


def after_share(search: Search, combination: Positions) -> tuple[list[int], int]:
    """Take the share from each node: what every node has left then, and the sum of squares (8.24 step 5)."""
    rest = list(search.before)
    for position in combination:
        rest[search.nodes[position]] -= search.share
    return rest, sum([amount * amount for amount in rest])


def lower_bound(search: Search, rest: Sequence[int], squares: int, combination: Positions) -> int:
    """Bound the sum of squares from below: as if every group could come from the fullest node."""
    fullest = max([rest[search.nodes[position]] for position in combination])
    return squares - search.groups * search.group * (2 * fullest - search.group)


def _bar(search: Search, candidates: Sequence[int]) -> int:
    """Return a score that the result is sure to be below: what the last combination reaches, plus one.

    On most machines Z ascends by free CPUs, so that the last combination is the best or nearly so.
    """
    last = tuple(candidates[-search.size :])
    if len(last) < search.size or not has_enough(search, last):
        return NO_SCORE
    return evaluate(search, *after_share(search, last), last).score + 1


def evaluate(search: Search, rest: Sequence[int], squares: int, combination: Positions) -> Outcome:
    """Find the nodes that give the remainder so that the rest is most even (8.24 step 6, 8.25)."""
    if search.groups == 0:
        return Outcome(search.score(squares), (), ())
    group = search.group
    order = [search.nodes[position] for position in combination]
    source = tuple([index for index, node in enumerate(order) if rest[node] >= group])
    best = Outcome(NO_SCORE, source, ())
    for size in range(len(source), 0, -1):
        for chosen in combinations(source, size):
            givers = [order[index] for index in chosen]
            # Enough CPUs, but not enough groups: that is where the kubelet hangs, and `refuse_hang` was there before.
            if sum([rest[node] // group for node in set(givers)]) < search.groups:
                continue
            reached = search.score(squares - _gain(search, rest, givers))
            if reached < best.score:
                best = Outcome(reached, source, chosen)
    return best


def _gain(search: Search, rest: Sequence[int], givers: Sequence[int]) -> int:
    """Let the givers give one group each in turn; return by how much the sum of squares falls (8.25 step 2)."""
    group, left, gain = search.group, search.groups, 0
    amounts = {node: rest[node] for node in givers}
    while left:
        for node in givers:
            amount = amounts[node]
            if amount >= group:
                amounts[node] = amount - group
                gain += group * (2 * amount - group)
                left -= 1
                if not left:
                    break
    return gain


def refuse_hang(search: Search, rest: Sequence[int], combination: Positions) -> None:
    """Look for a remainder list with enough CPUs but not enough whole groups, which the kubelet goes round for ever.

    For every number of groups below the wanted one: which nodes with so many groups have most CPUs (8.31)?

    Raises:
        KubeletHangError: there is one.
    """
    counted: dict[int, int] = {}
    for position in combination:
        node = search.nodes[position]
        if rest[node] >= search.group:
            counted[node] = counted.get(node, 0) + rest[node]
    most = {0: 0}
    for node, cpus in counted.items():
        groups = rest[node] // search.group
        for total, sofar in list(most.items()):
            if total + groups < search.groups:
                most[total + groups] = max(most.get(total + groups, 0), sofar + cpus)
    if max(most.values()) >= search.groups * search.group:
        raise KubeletHangError(
            "distribute-cpus-across-numa: the kubelet's search for NUMA nodes that give the remaining CPUs never ends"
        )
