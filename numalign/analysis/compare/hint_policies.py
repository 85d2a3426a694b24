"""The comparison of "Topology Manager Feedback, round 2": the same hints under every policy.

docs/rules/topology-manager.md 14. The feedback document's three policies were never a kubelet's; the kubelet's own
stand beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import prod

from numalign.analysis.limits import MAX_COMBINATIONS_SHOWN
from numalign.analysis.merging import Entry
from numalign.kubelet.proposals import FEEDBACK_POLICIES
from numalign.kubelet.proposals.feedback_policies import FEEDBACK
from numalign.kubelet.proposals.table import with_proposals
from numalign.kubelet.releases.release import Kubelet
from numalign.kubelet.releases.table import LATEST
from numalign.kubelet.topology.hints import CANNOT_FIT, HintList, ProviderAnswer, TopologyHint, masks_by_width
from numalign.kubelet.topology.merge.lists import combine, numa_info
from numalign.kubelet.topology.policy import explicit
from numalign.values import NamedTuple

KUBELET_POLICIES = ("best-effort", "restricted", "single-numa-node")

Providers = Mapping[str, HintList]
"""Provider or resource name -> its hints; an empty list: it cannot be satisfied."""


class Verdict(NamedTuple):
    """What a policy makes of hints."""

    policy: str
    hint: TopologyHint
    admit: bool


class Compared(NamedTuple):
    """Hints, and what each policy makes of them."""

    providers: Providers
    verdicts: tuple[Verdict, ...]
    """The feedback document's policies, then the kubelet's."""
    cross_product: tuple[Entry, ...]
    """Every combination of one hint of each provider, merged as today; empty above `MAX_COMBINATIONS_SHOWN`."""


def compare(providers: Providers, nodes: int, kubelet: Kubelet = LATEST) -> Compared:
    """Merge the hints under every policy.

    Args:
        providers: the hints.
        nodes: how many NUMA nodes there are, ids from 0.
        kubelet: which kubelet's policies stand beside the document's.
    """
    numa = numa_info(range(nodes))
    merge = with_proposals(kubelet, [FEEDBACK]).merging.merge
    answers: list[ProviderAnswer] = [{name: hints or CANNOT_FIT} for name, hints in providers.items()]
    verdicts = [Verdict(policy, *merge(policy, answers, numa)) for policy in (*FEEDBACK_POLICIES, *KUBELET_POLICIES)]
    lists = explicit([hints for answer in answers for hints in answer.values()])
    entries: tuple[Entry, ...] = ()
    if prod(map(len, lists)) <= MAX_COMBINATIONS_SHOWN:
        entries = tuple(Entry(hints, combine("best-effort", hints, numa.full)) for hints in product(*lists))
    return Compared(providers, tuple(verdicts), entries)


def every_combination(nodes: int = 2) -> Iterator[Providers]:
    """Yield every pair of hints that two providers can give on a small machine."""
    hints = [TopologyHint(mask, preferred) for preferred in (True, False) for mask in masks_by_width((1 << nodes) - 1)]
    for one, other in product(hints, hints):
        yield {"Provider 0": HintList((one,)), "Provider 1": HintList((other,))}
