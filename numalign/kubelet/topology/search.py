"""Merging families of hints without listing them (docs/rules/topology-manager.md 12.5).

A list of hints is a union of *pieces*, and a piece is monotone: adding nodes to a member gives a member. So the winner
is found by looking for the smallest mask of one size that lies in all families, and, when nothing is preferred, for the
smallest mask that a combination can be ANDed to. Neither needs 2^n masks. `merge.merge_lists` gives the same answers by
enumeration; the tests hold the two together.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, product

from numalign.kubelet.topology.hints import CANNOT_FIT, Demand, HintFamily, Hints, Piece, TopologyHint
from numalign.kubelet.topology.merge import NUMAInfo

Accept = Callable[[int], bool]


def merge_families(lists: Sequence[Hints], numa: NUMAInfo, *, only_single: bool, only_preferred: bool) -> TopologyHint:
    """Merge answers that are families or constants.

    Args:
        lists: one answer a resource.
        numa: the machine's nodes; with distances when the closest nodes are preferred.
        only_single: apply the filter of `single-numa-node`: preferred hints of one node.
        only_preferred: a non-preferred result is refused anyway, so its mask is not worked out: (full, not preferred).
    """
    families = [hints for hints in lists if isinstance(hints, HintFamily)]
    possible = CANNOT_FIT not in lists and numa.full != 0
    if possible:
        if not families:
            return TopologyHint(numa.full, True)
        mask = _single_node(families) if only_single else _preferred(families, numa)
        if mask is not None:
            return TopologyHint(mask, True)
    if only_single or only_preferred or not numa.full:
        return TopologyHint(numa.full, False)
    return TopologyHint(_non_preferred(families, numa), False)


def _single_node(families: Sequence[HintFamily]) -> int | None:
    """Return the lowest node that is a preferred hint of every family."""
    for family in families:
        if family.width != 1 and family.socket_alignment is None:
            return None
    common = -1
    for family in families:
        nodes = 0
        for piece in family.pieces:
            nodes |= piece.nodes
        common &= nodes
    while common:
        bit = common & -common
        for family in families:
            if not family.has(bit) or not family.prefers(bit):
                break
        else:
            return bit
        common ^= bit
    return None


def _preferred(families: Sequence[HintFamily], numa: NUMAInfo) -> int | None:
    """Return the best mask that every family prefers (12.3 phase 1), or None."""
    # The resources of one provider often share a family (memory and its huge pages).
    distinct = [family for index, family in enumerate(families) if family not in families[:index]]
    aligned = any(family.socket_alignment is not None for family in distinct)
    if not aligned:
        width = distinct[0].width
        for family in distinct:
            if family.width != width:
                return None
        if width == 1 and numa.distances is None:
            return _single_node(distinct)
        return _narrowest(distinct, width, numa, None)

    def accept(mask: int) -> bool:
        return all(family.prefers(mask) for family in distinct)

    for width in range(1, numa.full.bit_count() + 1):
        mask = _narrowest(distinct, width, numa, accept)
        if mask is not None:
            return mask
    return None


def _narrowest(families: Sequence[HintFamily], width: int, numa: NUMAInfo, accept: Accept | None) -> int | None:
    """Return the best mask of `width` nodes that is a hint of every family: closest, then the smallest integer."""
    best: tuple[int, int] | None = None
    for pieces in product(*[family.pieces for family in families]):
        for mask in masks_in(pieces, width, numa if numa.distances is not None else None, accept):
            key = (numa.distance(mask), mask)
            if best is None or key < best:
                best = key
            if numa.distances is None:
                break
    return None if best is None else best[1]


def masks_in(
    pieces: Sequence[Piece], width: int, numa: NUMAInfo | None = None, accept: Accept | None = None
) -> Iterator[int]:
    """Yield masks of `width` nodes that lie in every piece, the smallest integer first.

    With `numa`, only masks that are closer than every mask yielded before.
    """
    nodes, required = -1, 0
    for piece in pieces:
        nodes &= piece.nodes
        required |= piece.required
    if nodes <= 0 or required & ~nodes or width < 1 or nodes.bit_count() < width or required.bit_count() > width:
        return
    demands = _distinct([demand for piece in pieces for demand in piece.demands])
    touched = [other for piece in pieces for other in piece.touched]
    if required.bit_count() == width:
        met = all(other & required for other in touched) and all(demand.met_by(required) for demand in demands)
        if met and (accept is None or accept(required)):
            yield required
        return
    yield from _descend(nodes, required, width, demands, touched, numa, accept)


def _distinct(demands: list[Demand]) -> list[Demand]:
    return [demand for index, demand in enumerate(demands) if demand not in demands[:index]]


def _descend(
    nodes: int,
    required: int,
    width: int,
    demands: Sequence[Demand],
    touched: Sequence[int],
    numa: NUMAInfo | None,
    accept: Accept | None,
) -> Iterator[int]:
    """Search depth first from the highest node down, leaving a node out before taking it."""
    order = [node for node in range(nodes.bit_length()) if nodes >> node & 1]
    weights = [_upper_weights(demand, order) for demand in demands]
    reach = [_reach(row, width) for row in weights]
    count = len(demands)
    closest: int | None = None

    def descend(index: int, chosen: int, wanted: int, missing: tuple[int, ...]) -> Iterator[int]:
        """Decide order[index - 1], order[index - 2], …; `missing[d]` is what demand d still lacks."""
        nonlocal closest
        if wanted == 0:
            if required & ~chosen or any(not other & chosen for other in touched):
                return
            if any(demand.spans and not demand.met_by(chosen) for demand in demands):
                return
            if accept is not None and not accept(chosen):
                return
            if numa is not None:
                distance = numa.distance(chosen)
                if closest is not None and distance >= closest:
                    return
                closest = distance
            yield chosen
            return
        if index < wanted:
            return
        for d in range(count):
            if reach[d][index][wanted] < missing[d]:
                return
        if numa is not None and closest is not None and numa.distance(chosen) >= closest:
            return
        bit = 1 << order[index - 1]
        if not required & bit:
            yield from descend(index - 1, chosen, wanted, missing)
        rest = tuple([missing[d] - weights[d][index - 1] for d in range(count)])
        if wanted > 1 or all(lack <= 0 for lack in rest):
            yield from descend(index - 1, chosen | bit, wanted - 1, rest)

    yield from descend(len(order), 0, width, tuple(demand.need for demand in demands))


def _upper_weights(demand: Demand, order: Sequence[int]) -> list[int]:
    """What each node can add at most: its own amount, and every span that touches it."""
    size = len(demand.weights)
    return [
        (demand.weights[node] if node < size else 0) + sum(1 for span in demand.spans if span >> node & 1)
        for node in order
    ]


def _reach(weights: Sequence[int], width: int) -> list[list[int]]:
    """`reach[i][k]`: the most that k of the first i nodes can have."""
    largest: list[int] = []  # negated, ascending
    rows = [[0] * (width + 1)]
    for weight in weights:
        insort(largest, -weight)
        del largest[width:]
        sums = [-total for total in accumulate(largest, initial=0)]
        rows.append(sums + [sums[-1]] * (width + 1 - len(sums)))
    return rows


def narrowest_width(pieces: Sequence[Piece]) -> int:
    """Return how many nodes the narrowest member of any piece has (every list of hints has one)."""
    limit = max(piece.nodes.bit_count() for piece in pieces)
    for width in range(1, limit + 1):
        for piece in pieces:
            if any(True for _ in masks_in((piece,), width)):
                return width
    raise ValueError("a family of hints has no member")


def _non_preferred(families: Sequence[HintFamily], numa: NUMAInfo) -> int:
    """Return the mask of the best non-preferred combination (6.4); full when every AND is empty (6.5)."""
    if not families:
        return numa.full
    target = max(narrowest_width(family.pieces) for family in families)
    best: tuple[int, int, int, int] | None = None
    members = [[piece for piece in family.pieces if piece.has(piece.nodes)] for family in families]
    for pieces in product(*members):
        common = numa.full
        for piece in pieces:
            common &= piece.nodes
        size = common.bit_count()
        if not size or (best is not None and best[:2] < _size_key(size if size < target else target, target)):
            continue
        # A is upward closed inside `common`: all sizes from its smallest on occur, so try the target and then wider.
        for width in range(min(target, size), size + 1):
            if best is not None and best[:2] < _size_key(width, target):
                break
            mask = _smallest_and(pieces, common, width, numa)
            if mask is not None:
                key = (*_size_key(width, target), numa.distance(mask), mask)
                best = key if best is None else min(best, key)
                break
    return numa.full if best is None else best[3]


def _size_key(width: int, target: int) -> tuple[int, int]:
    return (0, target - width) if width <= target else (1, width)


def _smallest_and(pieces: Sequence[Piece], common: int, width: int, numa: NUMAInfo) -> int | None:
    """Return the best AND of one mask from each piece with exactly `width` nodes, or None.

    Every node of `common` outside the AND must be left out by one of the pieces: the search hands these nodes out,
    from the highest down, and keeps the sets of masks that the pieces are then left with.
    """
    order = [node for node in range(common.bit_length()) if common >> node & 1]
    if numa.distances is None:
        lowest = sum(1 << node for node in order[:width])
        if any(piece.has(piece.nodes & ~(common & ~lowest)) for piece in pieces):
            return lowest
    start = tuple(piece.nodes for piece in pieces)
    seen: set[tuple[int, int, frozenset[tuple[int, ...]]]] = set()
    best: tuple[int, int] | None = None

    def descend(index: int, chosen: int, states: frozenset[tuple[int, ...]]) -> bool:
        """Return True to stop: without distances the first mask found is the smallest."""
        nonlocal best
        wanted = width - chosen.bit_count()
        if index == 0:
            key = (numa.distance(chosen), chosen)
            best = key if best is None else min(best, key)
            return numa.distances is None
        if numa.distances is None:
            known = (index, wanted, states)
            if known in seen:
                return False
            seen.add(known)
        elif best is not None and numa.distance(chosen) > best[0]:
            return False
        bit = 1 << order[index - 1]
        if index > wanted:
            without = _leave_out(pieces, states, bit)
            if without and descend(index - 1, chosen, without):
                return True
        return wanted > 0 and descend(index - 1, chosen | bit, states)

    descend(len(order), 0, frozenset([start]))
    return None if best is None else best[1]


def _leave_out(pieces: Sequence[Piece], states: frozenset[tuple[int, ...]], bit: int) -> frozenset[tuple[int, ...]]:
    """Let one of the pieces leave out the node `bit`, in every way that keeps its mask a member."""
    result = set()
    for state in states:
        for position, mask in enumerate(state):
            if pieces[position].has(mask & ~bit):
                result.add((*state[:position], mask & ~bit, *state[position + 1 :]))
    return _useful(pieces, result)


def _useful(pieces: Sequence[Piece], states: set[tuple[int, ...]]) -> frozenset[tuple[int, ...]]:
    """Drop states that another one beats: what is left over in every demand decides what more can be left out."""
    if len(states) < 2 or any(piece.touched or any(demand.spans for demand in piece.demands) for piece in pieces):
        return frozenset(states)
    kept: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    for state in sorted(states):
        slack = tuple(
            sum(weight for node, weight in enumerate(demand.weights) if mask >> node & 1) - demand.need
            for piece, mask in zip(pieces, state, strict=True)
            for demand in piece.demands
        )
        if any(all(a >= b for a, b in zip(other, slack, strict=True)) for _, other in kept):
            continue
        kept = [one for one in kept if not all(b >= a for a, b in zip(one[1], slack, strict=True))]
        kept.append((state, slack))
    return frozenset(state for state, _ in kept)
