"""Limits of the search for a mask that lies in all sets.

Of preferred hints only one common mask can win, so these decide among them: "the smallest integer m with
|m| = s, ∪R_i ⊆ m ⊆ ∩N_i and Σ_{m} f_i ≥ r_i for all i" (docs/rules/topology-manager.md 12.5).

Example: nodes 0 to 3 have 2, 0, 3 and 4 free GPUs and 8, 8, 2 and 8 free CPUs; a container asks for 4 GPUs and 10 CPUs,
and masks of two nodes are preferred. The search goes from the highest node down and leaves a node out while that is
hopeful. Node 3 is left out: the two best of nodes 0 to 2 still have 5 GPUs and 16 CPUs. Node 2 is taken, since nodes 0
and 1 have 2 GPUs; 1 GPU and 8 CPUs are lacking then. Node 1 is left out, node 0 taken, nothing is lacking: 0b0101.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from itertools import accumulate
from operator import mul

from numalign.kubelet.topology.hints import MaskSet, SocketAlignment
from numalign.values import NamedTuple

Missing = tuple[tuple[int, ...], int]
"""What each condition still lacks, and which marks are touched."""

WHOLE_NEED = 1 << 60
"""A whole need, in `InEverySet.shares`."""


class InEverySet(NamedTuple):
    """The mask lies in every set and, where asked, touches so many sockets."""

    weights: Sequence[Sequence[int]]
    """For each condition what each node has."""
    needs: tuple[int, ...]
    reach: Sequence[Sequence[Sequence[int]]]
    """`reach[d][i][k]`: the most that k of the first i nodes can add to condition d, every span counted at each."""
    shares: tuple[int, ...]
    """What one unit of each condition counts in `reach_shares`: the more, the less is needed of it."""
    reach_shares: Sequence[Sequence[int]]
    """`reach` of all conditions together: each alone may be within reach while all at once are not."""
    required: Sequence[bool]
    required_below: Sequence[int]
    marks: Sequence[int]
    """For each node the marks it touches. A mark is a span, a set to be touched, or a socket."""
    below: Sequence[int]
    """`below[i]`: the marks that the first i nodes can touch."""
    spans: Sequence[int]
    """For each condition the marks that add one."""
    touched: int
    """The marks that must be touched."""
    sockets: tuple[tuple[int, int], ...]
    """(marks, how many of them must be touched)."""

    def start(self) -> Missing:
        """Return the state before any decision."""
        return self.needs, 0

    def take(self, index: int, state: Missing) -> Missing:
        """Put a node into the mask."""
        missing, hit = state
        new = self.marks[index] & ~hit
        lacks = [lack - weights[index] for lack, weights in zip(missing, self.weights, strict=True)]
        if new:
            lacks = [lack - (new & spans).bit_count() for lack, spans in zip(lacks, self.spans, strict=True)]
        return tuple([lack if lack > 0 else 0 for lack in lacks]), hit | new

    def leave(self, index: int, state: Missing) -> Missing | None:
        """Leave a node out."""
        return None if self.required[index] else state

    def hopeful(self, index: int, wanted: int, state: Missing) -> bool:
        """Tell whether `wanted` of the first `index` nodes may give what is missing."""
        missing, hit = state
        if self.required_below[index] > wanted:
            return False
        for lack, reach in zip(missing, self.reach, strict=True):
            if reach[index][wanted] < lack:
                return False
        if self.reach_shares[index][wanted] < sum(map(mul, missing, self.shares)):
            return False
        untouched = self.touched & ~hit
        if untouched and (not wanted or untouched & ~self.below[index]):
            return False
        for marks, number in self.sockets:
            now = (marks & hit).bit_count()
            possible = (marks & ~hit & self.below[index]).bit_count() if wanted else 0
            if not now <= number <= now + possible:
                return False
        return True


def in_every_set(
    sets: Sequence[MaskSet], order: Sequence[int], width: int, sockets: Sequence[SocketAlignment] = ()
) -> InEverySet:
    """Prepare the search for masks of `width` of the nodes `order` that lie in all sets."""
    required = 0
    for mask_set in sets:
        required |= mask_set.required
    conditions = list(dict.fromkeys(condition for mask_set in sets for condition in mask_set.conditions))
    marks: list[int] = []
    spans = []
    for condition in conditions:
        spans.append(((1 << len(condition.spans)) - 1) << len(marks))
        marks += condition.spans
    must_touch = [other for mask_set in sets for other in mask_set.touched]
    touched = ((1 << len(must_touch)) - 1) << len(marks)
    marks += must_touch
    counted = []
    for alignment in sockets:
        counted.append((((1 << len(alignment.sockets)) - 1) << len(marks), alignment.width))
        marks += alignment.sockets
    of_node = [sum(1 << index for index, mark in enumerate(marks) if mark >> node & 1) for node in order]
    weights = [[condition.weight(node) for node in order] for condition in conditions]
    most = [
        [weight + (here & of_condition).bit_count() for weight, here in zip(row, of_node, strict=True)]
        for row, of_condition in zip(weights, spans, strict=True)
    ]
    shares = tuple([WHOLE_NEED // condition.need if condition.need > 0 else 0 for condition in conditions])
    together = [sum(map(mul, of_one, shares)) for of_one in zip(*most, strict=True)] if conditions else [0] * len(order)
    is_required = [bool(required >> node & 1) for node in order]
    return InEverySet(
        weights=weights,
        needs=tuple([condition.need for condition in conditions]),
        reach=[_reach(row, width) for row in most],
        shares=shares,
        reach_shares=_reach(together, width),
        required=is_required,
        required_below=list(accumulate(is_required, initial=0)),
        marks=of_node,
        below=list(accumulate(of_node, lambda one, other: one | other, initial=0)),
        spans=spans,
        touched=touched,
        sockets=tuple(counted),
    )


def _reach(weights: Sequence[int], width: int) -> list[list[int]]:
    """`reach[i][k]`: the most that k of the first i nodes can have, up to `width` of them."""
    largest: list[int] = []  # negated, ascending
    rows = [[0]]
    for weight in weights:
        insort(largest, -weight)
        rows.append([-total for total in accumulate(largest[:width], initial=0)])
    return rows
