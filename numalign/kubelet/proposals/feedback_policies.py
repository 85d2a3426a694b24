"""How hints were merged before v1.24, and how "Topology Manager Feedback, round 2" would have merged them.

docs/rules/topology-manager.md 13 and 14. In all of these a combination's mask is the AND of its masks ("no mask" counts
as all nodes) and it is preferred when all its hints are, whatever their masks. What differs is which combinations
count, which one wins and who is admitted. Only explicit lists are merged here: those kubelets knew 8 NUMA nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from numalign.kubelet.profile import FEEDBACK_POLICIES, Merge, Profile
from numalign.kubelet.topology.hints import CANNOT_FIT, HintList, ProviderAnswer, TopologyHint, masks_by_width
from numalign.kubelet.topology.merge.lists import NUMAInfo, merge_lists
from numalign.kubelet.topology.policy import (
    DO_NOT_CARE,
    IMPOSSIBLE,
    explicit,
    filter_answers,
    merge,
    single_numa_filter,
)

START = TopologyHint(None, False)
"""What the merge of 2019 answers when nothing beats it."""


def merge_as(
    profile: Profile, policy: str, answers: Sequence[ProviderAnswer], numa: NUMAInfo
) -> tuple[TopologyHint, bool]:
    """Merge as `policies.merge` does, as another kubelet or under a policy of the feedback document.

    The Device Manager's answer is the first, as in `node.PROVIDERS`.

    Raises:
        KubeletPanicError: see `policies.merge`.
    """
    if profile.devices_merged:
        answers = (merge_devices(answers[0], numa.full), *answers[1:])
    if policy in FEEDBACK_POLICIES:
        return merge_feedback(policy, explicit(filter_answers(answers)), numa)
    if profile.merge == "equal masks":
        return merge(policy, answers, numa)
    lists = explicit(filter_answers(answers))
    return merge_lists_before_124(profile.merge, policy, lists, numa, single_filter=profile.single_filter)


def merge_feedback(policy: str, lists: Sequence[HintList], numa: NUMAInfo) -> tuple[TopologyHint, bool]:
    """Merge under `preferred`, `strict` or `proposed-strict` (14)."""
    if policy == "proposed-strict":
        equal = merge_lists(lists, numa._replace(distances=None))
        return (equal, True) if equal.preferred else (START, False)
    best = _best_of_2019(combinations(lists, numa.full))
    return best, policy == "preferred" or best.preferred


def merge_lists_before_124(
    rule: Merge, policy: str, lists: Sequence[HintList], numa: NUMAInfo, *, single_filter: bool = True
) -> tuple[TopologyHint, bool]:
    """Merge under a kubelet's policy as releases up to v1.23 did (13, "Old merge").

    Args:
        rule: `narrowest` (v1.17 to v1.23) or `2019`.
        policy: best-effort, restricted or single-numa-node.
        lists: the filtered lists.
        numa: the nodes.
        single_filter: `single-numa-node` drops hints of several nodes; without, they spoil a combination's flag.
    """
    single = policy == "single-numa-node"
    if single:
        lists = single_numa_filter(lists) if single_filter else prefer_single_nodes(lists)
    found = combinations(lists, numa.full)
    if rule == "2019":
        best = _best_of_2019(found)
    else:
        best = min(
            (hint for hint in found if hint.numa_affinity), key=_narrowest, default=TopologyHint(numa.full, False)
        )
    if single and single_filter and best.numa_affinity == numa.full:
        best = TopologyHint(None, best.preferred)
    return best, policy == "best-effort" or best.preferred


def combinations(lists: Iterable[HintList], full: int) -> set[TopologyHint]:
    """Return the distinct merged hints of the cross product, by folding one list after the other (13.4)."""
    merged = {TopologyHint(full, True)}
    for hints in lists:
        merged = {
            TopologyHint((mask or 0) & (full if other is None else other), preferred and also)
            for mask, preferred in merged
            for other, also in hints
        }
    return merged


def combine(profile: Profile, policy: str, hints: Sequence[TopologyHint], full: int) -> TopologyHint:
    """Merge one combination as the policy of that kubelet does (6.1, 13, 14), for people who check the steps."""
    (merged,) = combinations([(hint,) for hint in hints], full)
    if policy in ("preferred", "strict") or (profile.merge == "2019" and policy != "proposed-strict"):
        return merged
    preferred = merged.preferred and bool(merged.numa_affinity)
    if profile.merge == "equal masks" or policy == "proposed-strict":
        masks = {hint.numa_affinity for hint in hints if hint.numa_affinity is not None}
        preferred = preferred and len(masks) <= 1
    return merged._replace(preferred=preferred)


def _narrowest(hint: TopologyHint) -> tuple[bool, int, int]:
    mask = hint.numa_affinity or 0
    return (not hint.preferred, mask.bit_count(), mask)


def _best_of_2019(found: Iterable[TopologyHint]) -> TopologyHint:
    """Preferred first, and only then a mask that is not empty: so an empty mask can win (14.1, 14.2)."""
    best = min(
        found, key=lambda hint: (not hint.preferred, not hint.numa_affinity, *_narrowest(hint)[1:]), default=START
    )
    return best if best.preferred or best.numa_affinity else START


def prefer_single_nodes(lists: Sequence[HintList]) -> list[HintList]:
    """Take the preference from every hint of several nodes (13, `single-numa-node` up to v1.17)."""
    return [
        tuple(TopologyHint(mask, preferred and (mask is None or mask.bit_count() == 1)) for mask, preferred in hints)
        for hints in lists
    ]


def merge_devices(answer: ProviderAnswer, full: int) -> ProviderAnswer:
    """Merge the Device Manager's hints into one list before anybody sees them, as the first alpha did.

    What remains are the masks that the resources share, preferred where every resource prefers its part; resources
    without a common node leave no hint.
    """
    lists = explicit([answer[resource] for resource in sorted(answer)])
    if IMPOSSIBLE in lists:
        return {"devices": CANNOT_FIT}
    flags: dict[int | None, bool] = {}
    for mask, preferred in combinations([hints for hints in lists if hints != DO_NOT_CARE], full):
        flags[mask] = preferred or flags.get(mask, False)
    if len(lists) == lists.count(DO_NOT_CARE):
        return {}
    flags.pop(0, None)
    return {"devices": tuple(TopologyHint(mask, flags[mask]) for mask in masks_by_width(full) if mask in flags)}
