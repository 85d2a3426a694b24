"""Merging families of hints without listing them (docs/rules/topology-manager.md 12.5).

A list of hints is a union of *sets*, and a set is monotone: adding nodes to a member gives a member. So the winner
is found by looking for the smallest mask of one size that lies in all families, and, when nothing is preferred, for the
smallest mask that a combination can be ANDed to. Neither needs 2^n masks. `lists.merge_lists` gives the same answers by
enumeration; the tests hold the two together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, product
from math import comb
from typing import Final

from numalign.kubelet.topology.hints import CANNOT_FIT, HintFamily, Hints, MaskSet, SocketAlignment, TopologyHint
from numalign.kubelet.topology.merge.lists import NUMAInfo, non_preferred_key, rank
from numalign.model.cpuset import NUMAMask

MAX_MASKS_TRIED: Final = 16
"""Up to this number masks are looked at one by one: preparing a search would take longer."""


def merge_families(lists: Sequence[Hints], numa: NUMAInfo, *, only_single: bool, only_preferred: bool) -> TopologyHint:
    """Merge answers that are families or constants.

    Args:
        lists: one answer a resource.
        numa: the machine's nodes; with distances when the closest nodes are preferred.
        only_single: apply the filter of `single-numa-node`: preferred hints of one node.
        only_preferred: a non-preferred result is refused anyway, so its mask is not worked out: (full, not preferred).
    """
    families = []
    possible = numa.full != 0
    for hints in lists:
        if isinstance(hints, HintFamily):
            families.append(hints)
        elif hints is CANNOT_FIT:
            possible = False
    if possible:
        if not families:
            return TopologyHint(numa.full, True)
        mask = _single_node(families) if only_single else _preferred(families, numa)
        if mask is not None:
            return TopologyHint(mask, True)
    if only_single or only_preferred:
        return TopologyHint(numa.full, False)
    return TopologyHint(_non_preferred(families, numa), False)


def _single_node(families: Sequence[HintFamily]) -> NUMAMask | None:
    """Return the lowest node that is a preferred hint of every family."""
    common = -1
    for family in families:
        common &= family.nodes
    while common:
        bit = common & -common
        for family in families:
            if not family.prefers(bit) or not family.has(bit):
                break
        else:
            return bit
        common ^= bit
    return None


def _preferred(families: Sequence[HintFamily], numa: NUMAInfo) -> NUMAMask | None:
    """Return the best mask that every family prefers (12.3 phase 1), or None."""
    width = families[0].width
    by_width = True
    for family in families:
        by_width = by_width and family.socket_alignment is None
    if by_width:
        for family in families:
            if family.width != width:
                return None
        if width == 1 and numa.distances is None:
            return _single_node(families)
    # The resources of one provider often share a family (memory and its huge pages).
    distinct = [family for index, family in enumerate(families) if family not in families[:index]]
    for each in (width,) if by_width else range(1, numa.full.bit_count() + 1):
        mask = _narrowest(distinct, each, numa)
        if mask is not None:
            return mask
    return None


def _narrowest(families: Sequence[HintFamily], width: int, numa: NUMAInfo) -> NUMAMask | None:
    """Return the best mask of `width` nodes that every family prefers: closest, then the smallest integer."""
    sockets = []
    for family in families:
        if family.width != width:
            if family.socket_alignment is None:
                return None
            sockets.append(family.socket_alignment)
    best: tuple[int, int] | None = None
    for sets in product(*[family.sets for family in families]):
        mask = best_member(sets, width, numa, sockets)
        if mask is not None:
            key = (numa.distance(mask), mask)
            best = key if best is None else min(best, key)
    return None if best is None else best[1]


def best_member(
    sets: Sequence[MaskSet], width: int, numa: NUMAInfo | None = None, sockets: Sequence[SocketAlignment] = ()
) -> NUMAMask | None:
    """Return the best mask of `width` nodes that lies in every set, or None.

    Args:
        sets: where it has to lie.
        width: its number of nodes.
        numa: with distances: the closest mask is best; else the smallest integer.
        sockets: alignments that have to hold as well.
    """
    nodes, required = -1, 0
    for mask_set in sets:
        nodes &= mask_set.nodes
        required |= mask_set.required
    if required & ~nodes:
        return None

    def holds(mask: NUMAMask) -> bool:
        return all(mask_set.has(mask) for mask_set in sets) and all(alignment.holds(mask) for alignment in sockets)

    if required.bit_count() == width:
        return required if holds(required) else None
    order = [node for node in range(nodes.bit_length()) if nodes >> node & 1]
    if comb(len(order), width) <= MAX_MASKS_TRIED:
        return _best_of(map(sum, combinations([1 << node for node in order], width)), numa, holds)
    from numalign.kubelet.topology.merge.best_set import closest, lowest
    from numalign.kubelet.topology.merge.in_every_set import in_every_set

    limits = in_every_set(sets, order, width, sockets)
    if numa is None or numa.distances is None:
        return lowest(order, width, limits)
    return closest(order, width, limits, numa, holds)


def _best_of(masks: Iterable[int], numa: NUMAInfo | None, holds: Callable[[int], bool]) -> NUMAMask | None:
    """Look at each of a few masks."""
    return min(filter(holds, masks), key=lambda mask: (numa.distance(mask) if numa else 0, mask), default=None)


def narrowest_width(sets: Sequence[MaskSet]) -> int:
    """Return how many nodes the narrowest member of any set has (every list of hints has one)."""
    limit = max(mask_set.nodes.bit_count() for mask_set in sets)
    for width in range(1, limit + 1):
        for mask_set in sets:
            if best_member((mask_set,), width) is not None:
                return width
    raise ValueError("a family of hints has no member")


def _non_preferred(families: Sequence[HintFamily], numa: NUMAInfo) -> NUMAMask:
    """Return the mask of the best non-preferred combination (6.4); full when every AND is empty (6.5)."""
    if not families:
        return numa.full
    target = max(narrowest_width(family.sets) for family in families)
    best: tuple[int, int, int] | None = None
    for sets in product(*[family.sets for family in families]):
        common = numa.full
        for mask_set in sets:
            common &= mask_set.nodes
        size = common.bit_count()
        if not size:
            continue
        # A is upward closed inside `common`: all sizes from its smallest on occur, so try the target and then wider.
        for width in range(min(target, size), size + 1):
            if best is not None and best[0] < rank(width, target):
                break
            mask = _smallest_and(sets, common, width, numa)
            if mask is not None:
                key = non_preferred_key(mask, target, numa)
                best = key if best is None else min(best, key)
    return numa.full if best is None else best[2]


def _smallest_and(sets: Sequence[MaskSet], common: NUMAMask, width: int, numa: NUMAInfo) -> NUMAMask | None:
    """Return the best AND of one mask from each set with exactly `width` nodes, or None."""
    from numalign.kubelet.topology.merge.and_of_sets import and_of_sets, leaves_out
    from numalign.kubelet.topology.merge.best_set import Anything, closest, lowest

    order = [node for node in range(common.bit_length()) if common >> node & 1]

    def holds(mask: NUMAMask) -> bool:
        return leaves_out(sets, common, mask)

    # The best of all masks will nearly always do; only if not, what the sets can leave out is looked at.
    if numa.distances is None:
        best = sum(1 << node for node in order[:width])
        return best if holds(best) else lowest(order, width, and_of_sets(sets, order))
    nearest = closest(order, width, Anything(), numa, bool)
    if nearest is not None and holds(nearest):
        return nearest
    return closest(order, width, and_of_sets(sets, order), numa, holds)
