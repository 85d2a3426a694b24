"""How long an admission keeps the kubelet: sets of NUMA nodes that managers go through, combinations that it merges.

A manager that gives hints tries every set of the NUMA nodes it knows, and the merge walks the cross product of the
lists (docs/rules/topology-manager.md 12.5). Both double with each node. One admission holds up all others: a kubelet
that needs minutes for it is as good as hung.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache
from math import inf, prod
from typing import Final

from numalign.kubelet.errors import KubeletHangError
from numalign.kubelet.topology.hints import AtLeast, HintFamily, HintList, Hints, MaskSet
from numalign.kubelet.topology.merge.lists import NUMAInfo
from numalign.values import NamedTuple

SINGLE_NUMA_NODE: Final = "single-numa-node"

SECONDS_PER_SET: Final = 0.5e-6
"""What the kubelet takes to try one set, compiled and without logging: 2.8 s for 2^22 sets on a loaded machine."""
SECONDS_PER_COMBINATION: Final = 0.25e-6
"""What it takes to merge one: 16 ms for two resources on eight nodes (65 025 combinations), 3.9 s for three."""

SLOW: Final = 1.0
"""From so many seconds on an admission is slow."""
HANGS: Final = 60.0
"""From so many seconds on it counts as a hang."""

MAX_STATES: Final = 20_000
"""Of how many kinds the sets of some nodes may be for the fitting ones to be counted; of more all are."""


class Effort(NamedTuple):
    """What the kubelet goes through for one decision."""

    sets: int = 0
    """Sets of NUMA nodes that managers try."""
    combinations: int = 0
    """Combinations of hints that are merged."""

    @property
    def seconds(self) -> float:
        """About how long it takes; from so much on that no float counts it, for ever."""
        try:
            return self.sets * SECONDS_PER_SET + self.combinations * SECONDS_PER_COMBINATION
        except OverflowError:
            return inf

    def __str__(self) -> str:
        """Write the sum."""
        from numalign.model.words import about, duration  # few admissions are slow, and every one imports this

        sets = f"{about(self.sets)} sets of NUMA nodes, 0.5 µs each"
        merged = f"; {about(self.combinations)} combinations of hints, 0.25 µs each" * bool(self.combinations)
        return f"about {duration(self.seconds)} ({sets}{merged})"


NO_EFFORT: Final = Effort()


def all_sets(nodes: int) -> int:
    """Count the sets of so many NUMA nodes, but for the empty one."""
    return (1 << nodes) - 1


@cache  # asked at every decision, and there are few answers
def may_be_slow(policy: str, resources: int, nodes: int) -> bool:
    """Tell whether a decision may take a second, if every set that it keeps (7) were a hint of each resource."""
    kept = nodes if policy == SINGLE_NUMA_NODE else all_sets(nodes)
    return Effort(all_sets(nodes) * resources, kept**resources).seconds >= SLOW


def endure(effort: Effort, before: float = 0.0) -> Effort:
    """Return what the kubelet survives.

    Args:
        effort: what it goes through.
        before: seconds that the same call took so far.

    Raises:
        KubeletHangError: it does not come back for a minute.
    """
    if effort.seconds + before >= HANGS:
        raise KubeletHangError(str(effort))
    return effort


def combinations(policy: str, lists: Iterable[Hints], numa: NUMAInfo) -> int:
    """Count the combinations that the merge walks, after `single-numa-node` dropped hints that cannot win (7)."""
    single = [1 << node for node in numa.nodes] if policy == SINGLE_NUMA_NODE else None
    return prod(_number(hints, single) for hints in lists)


def _number(hints: Hints, single: list[int] | None) -> int:
    """Count the hints of one resource; what is said without a mask is one."""
    if isinstance(hints, HintFamily):
        if single is not None:
            return sum(hints.has(mask) and hints.prefers(mask) for mask in single)
        return sum(map(_members, hints.sets))  # no set of one family has a member of another
    if isinstance(hints, HintList):
        kept = hints if single is None else [one for one in hints if one.preferred and one.numa_affinity in single]
        return len(kept)
    return 1


def _members(mask_set: MaskSet) -> int:
    """Count the masks of a set, node by node: nodes that have as much lead to the same few states."""
    if len(mask_set.conditions) == 1 and not mask_set.conditions[0].spans and not mask_set.touched:
        return _members_with(mask_set, *mask_set.conditions)
    from numalign.kubelet.topology.merge.in_every_set import in_every_set

    order = [node for node in range(mask_set.nodes.bit_length()) if mask_set.nodes >> node & 1]
    search = in_every_set([mask_set], order, len(order))
    states = Counter({search.start(): 1})
    for index in range(len(order)):
        after = Counter[tuple[tuple[int, ...], int]]()
        for state, ways in states.items():
            after[search.take(index, state)] += ways
            if search.leave(index, state) is not None:
                after[state] += ways
        states = after
        if len(states) > MAX_STATES:
            return all_sets(len(order))
    whole = sum(ways for (lacks, hit), ways in states.items() if not any(lacks) and not search.touched & ~hit)
    return whole - (not any(search.needs) and not mask_set.required and not search.touched)


def _members_with(mask_set: MaskSet, condition: AtLeast) -> int:
    """Count the masks of a set whose nodes need to have enough of one thing only."""
    need = max(0, condition.need)
    ways = {0: 1}
    for node in range(mask_set.nodes.bit_length()):
        if not mask_set.nodes >> node & 1:
            continue
        weight = condition.weight(node)
        after = {} if mask_set.required >> node & 1 else ways.copy()
        for has, number in ways.items():
            enough = min(has + weight, need)
            after[enough] = after.get(enough, 0) + number
        if len(after) > MAX_STATES:
            return all_sets(mask_set.nodes.bit_count())
        ways = after
    return ways.get(need, 0) - (not need and not mask_set.required)
