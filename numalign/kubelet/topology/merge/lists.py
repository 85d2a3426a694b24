"""Merging explicit lists of hints into one (docs/rules/topology-manager.md 5, 6, 8), without the cross product.

The kubelet walks every combination of one hint from each list and keeps a running best. Its comparison is a strict
total order (12.2), so the winner is the smallest key over the *set* of candidates, and that set is reached by folding
one list after the other (12.1, 12.3). `families` does the same for families of hints that are never listed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import add, mul, sub

from numalign.kubelet.topology.hints import HintList, TopologyHint
from numalign.model.cpuset import NUMAMask
from numalign.values import NamedTuple


class NUMAInfo(NamedTuple):
    """The NUMA nodes that hints are merged over."""

    nodes: tuple[int, ...]
    """Node ids in the order of the kubelet's discovery."""
    full: NUMAMask
    """The mask of all nodes."""
    distances: Mapping[int, tuple[int, ...]] | None
    """Rows of the distance table if `prefer-closest-numa-nodes` is on, else None. Row entries are read by node *id*."""

    def distance(self, mask: NUMAMask) -> int:
        """Sum the distances over all ordered pairs of a mask's nodes (8.2, 8.3); 0 with the option off.

        The kubelet divides by the square of the node count; among masks of equal count the sum decides alike.
        """
        if self.distances is None:
            return 0
        members = [node for node in self.nodes if mask >> node & 1]
        return sum(row[other] for row in map(self.distances.__getitem__, members) for other in members)

    def reads_past_a_row(self) -> bool:
        """Tell whether some row is too short for some node id, so that the kubelet may crash (8.4)."""
        if self.distances is None or not self.nodes:
            return False
        return max(self.nodes) >= min(len(row) for row in self.distances.values())


def numa_info(nodes: Iterable[int], distances: Mapping[int, tuple[int, ...]] | None = None) -> NUMAInfo:
    """Describe a machine's nodes; `distances` only where `prefer-closest-numa-nodes` is on."""
    ids = tuple(nodes)
    return NUMAInfo(ids, sum(1 << node for node in ids), distances)


Key = tuple[int, int, int]


def rank(count: int, width: int) -> int:
    """Rank a number of nodes of a non-preferred candidate (6.4): exactly `width` is best, then fewer, then more."""
    return width - count if count <= width else count


def non_preferred_key(mask: NUMAMask, width: int, numa: NUMAInfo) -> Key:
    """Rank a non-preferred candidate (6.4): by its number of nodes, then closer, then the smaller integer."""
    return rank(mask.bit_count(), width), numa.distance(mask), mask


def preferred_key(mask: NUMAMask, numa: NUMAInfo) -> Key:
    """Rank a preferred candidate (6.4): fewer nodes, then closer, then the smaller integer."""
    return mask.bit_count(), numa.distance(mask), mask


def target_width(lists: Iterable[HintList]) -> int:
    """Return B of 6.3: the largest, over the lists, of the narrowest mask in the list; 0 without masks."""
    return max(
        (
            min((hint.numa_affinity.bit_count() for hint in hints if hint.numa_affinity is not None), default=0)
            for hints in lists
        ),
        default=0,
    )


def merge_lists(lists: Sequence[HintList], numa: NUMAInfo) -> TopologyHint:
    """Merge filtered lists (6); with no candidate the answer is (full, not preferred) (6.5).

    Every row of `numa`'s distances must reach to every node id; where one does not, `walk` is the way.
    """
    preferred = _preferred_masks(lists, numa.full)
    if preferred:
        return TopologyHint(min(preferred, key=lambda mask: preferred_key(mask, numa)), True)
    width = target_width(lists)
    masks = _ands(lists, numa.full)
    masks.discard(0)
    if not masks:
        return TopologyHint(numa.full, False)
    return TopologyHint(min(masks, key=lambda mask: non_preferred_key(mask, width, numa)), False)


def _ands(lists: Sequence[HintList], full: NUMAMask) -> set[NUMAMask]:
    """Return every mask that a combination can be ANDed to."""
    offers = [{full if hint.numa_affinity is None else hint.numa_affinity & full for hint in hints} for hints in lists]
    nodes = full.bit_count()
    masks = {full}
    for index, offer in enumerate(offers):
        if len(masks) * len(offer) > (len(lists) * nodes) << nodes:
            return ands_by_counting([masks, *offers[index:]], full)
        masks = {mask & other for mask in masks for other in offer}
    return masks


def ands_by_counting(offers: Sequence[set[int]], full: NUMAMask) -> set[NUMAMask]:
    """Find the ANDs of long lists in n · 2^n steps a list, where pairs would take 4^n.

    How many combinations have an AND that *contains* a mask is a product: of the numbers of hints that contain it.
    How many have exactly this AND follows by subtracting (the Möbius transform).
    """
    bits = [1 << node for node in range(full.bit_length()) if full >> node & 1]
    masks = [0]
    for bit in bits:
        masks += [mask | bit for mask in masks]
    containing = [1] * len(masks)
    for offer in offers:
        containing = list(map(mul, containing, _over_supersets([int(mask in offer) for mask in masks], len(bits), add)))
    exactly = _over_supersets(containing, len(bits), sub)
    return {mask for mask, number in zip(masks, exactly, strict=True) if number}


def _over_supersets(table: list[int], bits: int, combine: Callable[[int, int], int]) -> list[int]:
    """Combine each entry with those of its supersets, bit by bit; a round takes the lowest bit and makes it the top."""
    for _ in range(bits):
        without, including = table[::2], table[1::2]
        table = [*map(combine, without, including), *including]
    return table


def _preferred_masks(lists: Sequence[HintList], full: NUMAMask) -> set[NUMAMask]:
    """The masks of preferred combinations: one common mask, or no mask at all, in every list (12.3 phase 1)."""
    offers = [{hint.numa_affinity for hint in hints if hint.preferred} for hints in lists]
    found = {
        full if mask is None else mask & full
        for mask in set[NUMAMask | None]().union(*offers) or {None}
        if all(mask in offer or None in offer for offer in offers)
    }
    return found - {0}


# One combination of hints and what it merges to (6.1), for people who check a merge step by step: no merge needs it.


def intersection(hints: Sequence[TopologyHint], full: NUMAMask) -> TopologyHint:
    """Return the AND of the masks ("no mask" counts as all nodes), preferred if every hint is."""
    mask = full
    for hint in hints:
        if hint.numa_affinity is not None:
            mask &= hint.numa_affinity
    return TopologyHint(mask, all(hint.preferred for hint in hints))


def combine_2019(_policy: str, hints: Sequence[TopologyHint], full: NUMAMask) -> TopologyHint:
    """Merge one combination as in 2019: preferred if all hints are, even where no node is left (13, 14)."""
    return intersection(hints, full)


def combine(_policy: str, hints: Sequence[TopologyHint], full: NUMAMask) -> TopologyHint:
    """Merge one combination under any policy: preferred only if all hints are and their masks are equal (6.1)."""
    merged = intersection(hints, full)
    masks = {hint.numa_affinity for hint in hints if hint.numa_affinity is not None}
    return merged._replace(preferred=merged.preferred and bool(merged.numa_affinity) and len(masks) <= 1)
