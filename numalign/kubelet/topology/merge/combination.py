"""One combination of hints and what it merges to, for people who check a merge step by step.

docs/rules/topology-manager.md 6.1. No merge needs it: `lists` and `families` find the winner without the combinations.
"""

from __future__ import annotations

from collections.abc import Sequence

from numalign.kubelet.topology.hints import TopologyHint
from numalign.model.cpuset import NUMAMask


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
