"""The proposals, and a kubelet that carries some of them out."""

from __future__ import annotations

from collections.abc import Iterable

from numalign.kubelet.proposals.feedback_policies import FEEDBACK
from numalign.kubelet.proposals.per_pod import PER_POD_POLICY
from numalign.kubelet.proposals.preferred_sets import PREFERRED_SETS
from numalign.kubelet.releases.release import Kubelet, Proposal

__all__ = ["FEEDBACK", "PER_POD_POLICY", "PREFERRED_SETS", "with_proposals"]


def with_proposals(kubelet: Kubelet, proposals: Iterable[Proposal]) -> Kubelet:
    """Return a kubelet that does, besides all it does, what was only proposed."""
    for proposal in proposals:
        kubelet = proposal.apply(kubelet)._replace(proposals=(*kubelet.proposals, proposal))
    return kubelet
