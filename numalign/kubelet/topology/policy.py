"""The four policies: which hints count, and when the merged hint admits (docs/rules/topology-manager.md 5, 7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from numalign.kubelet.topology.hints import (
    CANNOT_FIT,
    NO_PREFERENCE,
    HintFamily,
    HintList,
    Hints,
    MaskSet,
    ProviderAnswer,
    TopologyHint,
    expand,
)
from numalign.kubelet.topology.merge.families import merge_families
from numalign.kubelet.topology.merge.lists import NUMAInfo, merge_lists
from numalign.model.cpuset import NUMAMask

DO_NOT_CARE: HintList = HintList((TopologyHint(None, True),))
IMPOSSIBLE: HintList = HintList((TopologyHint(None, False),))
NO_WIDTH = 0
"""Of hints that are not preferred: no mask has this width."""


def filter_answers(answers: Iterable[ProviderAnswer]) -> list[Hints]:
    """Put the providers' answers into one list, resource by resource in sorted order (5)."""
    lists: list[Hints] = []
    for answer in answers:
        if answer:
            lists.extend(map(answer.__getitem__, sorted(answer)))
        else:
            lists.append(NO_PREFERENCE)
    return lists


def merge(policy: str, answers: Iterable[ProviderAnswer], numa: NUMAInfo) -> tuple[TopologyHint, bool]:
    """Return the hint that the policy selects and would store, and whether it admits (7).

    `policy` is one of best-effort, restricted, single-numa-node.

    Raises:
        KubeletPanicError: the kubelet would read past a row of the distance table (8.4).
        KubeletHangError: see `merge_families` and `explicit`: the kubelet would try more sets of nodes than it can.
    """
    single = policy == "single-numa-node"
    if single and numa.distances is not None:
        numa = numa._replace(distances=None)
    lists = filter_answers(answers)
    if numa.distances is not None and numa.reads_past_a_row():
        from numalign.kubelet.topology.merge.walk import merge_by_walking

        best = merge_by_walking(explicit(lists), numa)
    elif (families := _without_lists(lists, numa.full)) is None:
        best = merge_lists(single_numa_filter(explicit(lists)) if single else explicit(lists), numa)
    else:
        best = merge_families(families, numa, only_single=single, only_preferred=policy == "restricted")
    if single and best.numa_affinity == numa.full:
        best = TopologyHint(None, best.preferred)
    return best, policy == "best-effort" or best.preferred


def _without_lists(lists: list[Hints], full: NUMAMask) -> list[Hints] | None:
    """Write lists of one hint (a container's own memory) as families; None if a list stays, or only lists are there."""
    for hints in lists:
        if isinstance(hints, HintList):
            break
    else:
        return lists
    if not any(isinstance(hints, HintFamily) for hints in lists):
        return None
    result: list[Hints] = []
    for hints in lists:
        if not isinstance(hints, HintList):
            result.append(hints)
            continue
        mask = hints[0].numa_affinity if len(hints) == 1 else None
        if not mask or mask & ~full:
            return None
        result.append(HintFamily((MaskSet(mask, (), mask),), mask.bit_count() if hints[0].preferred else NO_WIDTH))
    return result


def explicit(lists: Sequence[Hints]) -> list[HintList]:
    """Write every answer out as a list of hints: the table of 5."""
    result: list[HintList] = []
    for hints in lists:
        if isinstance(hints, HintFamily):
            result.append(expand(hints))
        elif hints == NO_PREFERENCE:
            result.append(DO_NOT_CARE)
        elif hints == CANNOT_FIT or not hints:
            result.append(IMPOSSIBLE)
        else:
            result.append(hints)
    return result


def single_numa_filter(lists: Sequence[HintList]) -> list[HintList]:
    """Keep "do not care" and preferred hints of one node (7)."""
    return [
        HintList(
            hint
            for hint in hints
            if hint.preferred and (hint.numa_affinity is None or hint.numa_affinity.bit_count() == 1)
        )
        for hints in lists
    ]
