"""The kubelet's own walk over every combination, for the one case where it matters: distance rows that are too short.

With `prefer-closest-numa-nodes` the kubelet reads distance rows by node id. On machines with gaps in the ids it can run
out of a row and crash; whether it gets there depends on the order of comparisons (docs/rules/topology-manager.md 8.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, product

from numalign.kubelet.errors import KubeletPanicError
from numalign.kubelet.topology.hints import HintList, TopologyHint
from numalign.kubelet.topology.merge.lists import NUMAInfo, merge_lists, target_width
from numalign.model.cpuset import NUMAMask

Candidate = tuple[NUMAMask, bool]
"""A mask, and whether it is preferred."""

MAX_COMBINATIONS = 2_000_000
"""How far the walk goes. The kubelet goes on; what it does beyond is taken to be a merge without distances."""


def merge_by_walking(lists: Sequence[HintList], numa: NUMAInfo) -> TopologyHint:
    """Merge as the kubelet does, combination by combination, first list outermost.

    The work is the product of the list lengths, as in the kubelet, but at most `MAX_COMBINATIONS`.

    Raises:
        KubeletPanicError: a distance row ends before the id that is looked up.
    """
    width = target_width(lists)
    best: Candidate | None = None
    combinations = product(*lists)
    for combination in islice(combinations, MAX_COMBINATIONS):
        candidate = _combine(combination, numa.full)
        if candidate[0] and (best is None or _replaces(best, candidate, width, numa)):
            best = candidate
    if next(combinations, None) is not None:
        return merge_lists(lists, numa._replace(distances=None))
    return TopologyHint(*best) if best else TopologyHint(numa.full, False)


def _combine(hints: Sequence[TopologyHint], full: NUMAMask) -> Candidate:
    """AND the masks; preferred when all hints are and all masks are equal (6.1)."""
    masks = {hint.numa_affinity for hint in hints if hint.numa_affinity is not None}
    merged = full
    for mask in masks:
        merged &= mask
    return merged, len(masks) <= 1 and all(hint.preferred for hint in hints)


def _replaces(best: Candidate, candidate: Candidate, width: int, numa: NUMAInfo) -> bool:
    """Compare a candidate with the running best (the cases of 6.4)."""
    (old, was_preferred), (new, preferred) = best, candidate
    if preferred != was_preferred:
        return preferred
    old_count, new_count = old.bit_count(), new.bit_count()
    if new_count == old_count:
        return new != old and (_average(new, numa, old), new) < (0, old)
    if preferred or old_count > width:
        return new_count < old_count
    return old_count < new_count <= width


def _average(new: NUMAMask, numa: NUMAInfo, old: NUMAMask) -> int:
    """Compare two masks of equal count by distance: negative when `new` is closer. The running best is read first."""
    before = _distance(old, numa)
    return _distance(new, numa) - before


def _distance(mask: NUMAMask, numa: NUMAInfo) -> int:
    distances = numa.distances or {}
    members = [node for node in sorted(numa.nodes) if mask >> node & 1]
    return sum(_read(distances[node], other) for node in members for other in members)


def _read(row: Sequence[int], node: int) -> int:
    if node >= len(row):
        raise KubeletPanicError(f"runtime error: index out of range [{node}] with length {len(row)}")
    return row[node]
