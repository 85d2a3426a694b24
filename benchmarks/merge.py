"""Merging hints, beside a plain walk over every combination of them in the same run."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import islice, product
from math import prod

from benchmarks.timing import Row, seconds_per_call, slowdown
from benchmarks.workloads import load
from numalign.kubelet.topology.hints import (
    AtLeast,
    HintFamily,
    HintList,
    Hints,
    MaskSet,
    ProviderAnswer,
    TopologyHint,
    expand,
)
from numalign.kubelet.topology.merge.lists import NUMAInfo, non_preferred_key, numa_info, preferred_key, target_width
from numalign.kubelet.topology.policy import merge

SIZES = (2, 4, 8, 16, 32, 64)
RESOURCES = (2, 3, 4)
CASES = (("restricted", False), ("best-effort", False), ("best-effort", True))
"""(policy, whether the closest nodes are preferred)."""

MAX_LISTED = 8
"""Nodes up to which every list of hints is written out, as providers of the kubelet do."""


def run(seconds: float = 0.1, sizes: Sequence[int] = SIZES) -> list[Row]:
    """Time full hint sets under `restricted` (something is preferred) and `best-effort` (nothing is).

    The latter also with `prefer-closest-numa-nodes`.

    Args:
        seconds: how long each figure is measured.
        sizes: numbers of NUMA nodes.
    """
    recorded = {line["id"]: line["kubeletTiming"]["nsPerMerge"] / 1e9 for line in load("merge")}
    slower = slowdown()
    rows = []
    per_combination = 1e-6
    for nodes in sizes:
        for resources in RESOURCES:
            for policy, distances in CASES:
                families = full_hint_sets(nodes, resources, preferred=policy == "restricted")
                numa = numa_info(range(nodes), two_sockets(nodes) if distances else None)
                listed = nodes <= MAX_LISTED
                hints: Sequence[Hints] = [expand(family) for family in families] if listed else families
                answers: list[ProviderAnswer] = [{"r": one} for one in hints]
                own = seconds_per_call(_merging(policy, answers, numa), seconds)
                combinations = prod(family_size(family) for family in families)
                plain, how = per_combination * combinations, "extrapolated"
                if listed:
                    lists = [expand(family) for family in families]
                    walked, spent = walk(lists, numa, seconds)
                    per_combination = spent / walked
                    plain = per_combination * combinations
                    how = "measured" if walked == combinations else "extrapolated"
                row = {
                    "nodes": nodes,
                    "resources": resources,
                    "policy": f"{policy}, closest" if distances else policy,
                    "hints": "listed" if listed else "families",
                    "numalign_us": own * 1e6,
                    "cross_product_us": plain * 1e6,
                    "cross_product": how,
                    "times_faster": plain / own,
                }
                kubelet = recorded.get(f"bench-merge-{policy}-n{nodes}-r{resources}")
                if kubelet is not None and not distances:
                    row["times_kubelet"] = kubelet * slower / own
                rows.append(row)
    return rows


def _merging(policy: str, answers: Sequence[ProviderAnswer], numa: NUMAInfo) -> Callable[[], object]:
    return lambda: merge(policy, answers, numa)


def full_hint_sets(nodes: int, resources: int, *, preferred: bool) -> list[HintFamily]:
    """Return one family a resource in which every mask is a hint.

    Single nodes are preferred, except where nothing is to be preferred by all: then the last resource prefers pairs.
    """
    everything = MaskSet((1 << nodes) - 1, (AtLeast((1,) * nodes, 1),))
    families = [HintFamily((everything,), 1)] * resources
    if not preferred:
        pairs = MaskSet(everything.nodes, (AtLeast((1,) * nodes, 2),))
        families[-1] = HintFamily((pairs,), 2)
    return families


def two_sockets(nodes: int) -> dict[int, tuple[int, ...]]:
    """Return distances: 10 at home, 12 in the same half of the machine, 21 to the other half."""
    half = nodes // 2
    return {
        i: tuple(10 if i == j else 12 if (i < half) == (j < half) else 21 for j in range(nodes)) for i in range(nodes)
    }


def family_size(family: HintFamily) -> int:
    """Count the hints of a family of `full_hint_sets`: all sets of nodes, or all but the single ones and the empty."""
    nodes = family.sets[0].nodes.bit_count()
    return (1 << nodes) - (1 if family.width == 1 else 1 + nodes)


def walk(lists: Sequence[HintList], numa: NUMAInfo, most: float) -> tuple[int, float]:
    """Merge by looking at every combination, for at most about `most` seconds; return how many, and the time."""
    width = target_width(lists)
    combinations = product(*lists)
    best: tuple[int, ...] | None = None
    walked = 0
    start = time.perf_counter()
    while True:
        before = walked
        for combination in islice(combinations, 10_000):
            walked += 1
            best = _better(best, combination, width, numa)
        spent = time.perf_counter() - start
        if walked - before < 10_000 or spent > most:
            return walked, spent


def _better(
    best: tuple[int, ...] | None, combination: Sequence[TopologyHint], width: int, numa: NUMAInfo
) -> tuple[int, ...] | None:
    mask = numa.full
    for hint in combination:
        if hint.numa_affinity is not None:
            mask &= hint.numa_affinity
    if not mask:
        return best
    first = combination[0].numa_affinity
    key: tuple[int, ...]
    if all(hint.preferred and hint.numa_affinity == first for hint in combination):
        key = (0, *preferred_key(mask, numa))
    else:
        key = (1, *non_preferred_key(mask, width, numa))
    return key if best is None or key < best else best
