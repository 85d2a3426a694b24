"""The policies of "Topology Manager Feedback, round 2", which no kubelet has (docs/rules/topology-manager.md 14).

In `preferred` and `strict` a combination's mask is the AND of its masks and it is preferred when all its hints are,
whatever their masks, as in the merge of 2019; `proposed-strict` merges as later kubelets do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from numalign.kubelet.proposals import FEEDBACK_POLICIES
from numalign.kubelet.releases.early_merge import NOTHING_BETTER, best_of_2019, combinations
from numalign.kubelet.releases.release import Combine, Kubelet, Proposal
from numalign.kubelet.topology.hints import HintList, ProviderAnswer, TopologyHint
from numalign.kubelet.topology.manager import Merge
from numalign.kubelet.topology.merge.lists import NUMAInfo, combine, combine_2019, merge_lists
from numalign.kubelet.topology.policy import explicit, filter_answers


def merge_feedback(policy: str, lists: Sequence[HintList], numa: NUMAInfo) -> tuple[TopologyHint, bool]:
    """Merge under `preferred`, `strict` or `proposed-strict` (14)."""
    if policy == "proposed-strict":
        equal = merge_lists(lists, numa._replace(distances=None))
        return (equal, True) if equal.preferred else (NOTHING_BETTER, False)
    best = best_of_2019(combinations(lists, numa.full), numa.full)
    return best, policy == "preferred" or best.preferred


@dataclass(frozen=True, slots=True)
class WithFeedbackPolicies:
    """A merge that knows these policies besides its own; called as any merge is."""

    merge: Merge
    combine_other: Combine

    def __call__(self, policy: str, answers: Iterable[ProviderAnswer], numa: NUMAInfo) -> tuple[TopologyHint, bool]:
        """Merge as the policy does."""
        if policy in FEEDBACK_POLICIES:
            return merge_feedback(policy, explicit(filter_answers(answers)), numa)
        return self.merge(policy, answers, numa)

    def combine(self, policy: str, hints: Sequence[TopologyHint], full: int) -> TopologyHint:
        """Merge one combination as the policy does."""
        if policy not in FEEDBACK_POLICIES:
            return self.combine_other(policy, hints, full)
        return (combine if policy == "proposed-strict" else combine_2019)(policy, hints, full)


def _know_policies(kubelet: Kubelet) -> Kubelet:
    rules = kubelet.merging
    merge = WithFeedbackPolicies(rules.merge, rules.combine)
    return kubelet._replace(
        policies=(*kubelet.policies, *FEEDBACK_POLICIES),
        merging=rules._replace(merge=merge, combine=merge.combine, ranked=False),
    )


FEEDBACK = Proposal("a policy that was only proposed, in 2019", _know_policies)
