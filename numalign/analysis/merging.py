"""The steps of one decision for who wants to check them: hints by resource, the cross product, winner and runner-up.

The kubelet walks every combination of one hint for each resource. Here that is only done where it is small; where it
is large, its size and about how long it takes the kubelet are told instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Literal

from numalign.analysis.limits import MAX_COMBINATIONS_SHOWN
from numalign.kubelet.node import PROVIDERS, Decision, Node
from numalign.kubelet.topology.effort import Effort, all_sets, combinations
from numalign.kubelet.topology.hints import NO_PREFERENCE, HintFamily, HintList, Hints, TopologyHint, WithoutMask
from numalign.kubelet.topology.merge.lists import non_preferred_key, preferred_key, target_width
from numalign.kubelet.topology.policy import explicit
from numalign.kubelet.topology.provider import ProviderName
from numalign.model.cpuset import NUMAMask, union
from numalign.values import NamedTuple

MAX_NODES_LISTED = 8
"""How many NUMA nodes a machine may have for its hints to be written out."""

Rule = Literal[
    "preferred",
    "fewer nodes",
    "closer",
    "smaller number",
    "exactly as many nodes as needed",
    "nearest to the nodes needed",
]
"""Why the winner beat the runner-up (docs/rules/topology-manager.md 6.4)."""


class Said(NamedTuple):
    """What one provider said about one resource."""

    provider: ProviderName
    resource: str
    hints: HintList | None
    """None: it has no opinion (`opinion` says which), or there are too many to list."""
    opinion: str
    """`hints`, `no preference` or `cannot fit`."""
    number: int
    """How many hints; of those not listed the most there can be."""


class Entry(NamedTuple):
    """One combination and what it merges to."""

    hints: tuple[TopologyHint, ...]
    merged: TopologyHint


class Merging(NamedTuple):
    """One decision, step by step."""

    container: str | None
    policy: str
    """The policy that held."""
    nodes: int
    """The mask of the machine's NUMA nodes."""
    said: tuple[Said, ...]
    winner: TopologyHint
    admit: bool
    resources: tuple[str, ...] = ()
    """The resources that the combinations are made of, in order: those with an opinion."""
    combinations: int = 0
    """How many combinations the kubelet walks, after its policy dropped hints that cannot win."""
    seconds: float = 0.0
    """About how long that takes the kubelet."""
    table: tuple[Entry, ...] = ()
    """All of them; empty where there are more than `MAX_COMBINATIONS_SHOWN`."""
    runner_up: TopologyHint | None = None
    """None: there is no other candidate, or there were too many to look."""
    rule: Rule | None = None


def merging(node: Node, decision: Decision) -> Merging:
    """Write the steps of a decision."""
    width = len(node.numa.nodes)
    said: list[Said] = []
    lists: list[tuple[str, Hints]] = []
    for provider, answer in zip(PROVIDERS, decision.answers, strict=True):
        if not answer:
            said.append(Said(provider, "", None, NO_PREFERENCE.value, 0))
        for resource in answer:
            said.append(_said(provider, resource, answer[resource], width))
            lists.append((resource, answer[resource]))
    # The order decides nothing; cpu first reads best.
    said.sort(key=lambda one: (shown_place(one.resource), one.resource))
    lists.sort(key=lambda one: (shown_place(one[0]), one[0]))
    begun = Merging(
        container=decision.container,
        policy=node.policy,
        nodes=node.numa.full,
        said=tuple(said),
        winner=decision.hint,
        admit=decision.admit,
    )
    if width > MAX_NODES_LISTED:
        effort = Effort(combinations=combinations(node.policy, [hints for _, hints in lists], node.numa))
        opinions = [name for name, hints in lists if isinstance(hints, HintFamily)]
        return begun._replace(resources=tuple(opinions), combinations=effort.combinations, seconds=effort.seconds)
    return _written(node, begun, lists)


def shown_place(resource: str) -> int:
    """Where people expect a resource: cpu, memory, the rest; what has no name last."""
    return {"cpu": 0, "memory": 1, "": 3}.get(resource, 2)


def _said(provider: ProviderName, resource: str, hints: Hints, width: int) -> Said:
    if isinstance(hints, WithoutMask):
        return Said(provider, resource, None, hints.value, 0)
    if isinstance(hints, HintFamily) and width > MAX_NODES_LISTED:
        return Said(provider, resource, None, "hints", all_sets(union(one.nodes for one in hints.sets).bit_count()))
    listed = explicit([hints])[0]
    return Said(provider, resource, listed, "hints", len(listed))


def _written(node: Node, begun: Merging, answers: Sequence[tuple[str, Hints]]) -> Merging:
    opinions = [(name, hints) for name, hints in answers if hints != NO_PREFERENCE]
    lists = explicit([hints for _, hints in opinions])
    policy, rules = node.policy, node.kubelet.merging
    if policy == "single-numa-node":
        lists = list(rules.single_filter(lists))
    count = prod(len(hints) for hints in lists)
    table: tuple[Entry, ...] = ()
    runner_up, rule = None, None
    needed = target_width(lists)
    if count <= MAX_COMBINATIONS_SHOWN:
        table = tuple(Entry(hints, rules.combine(policy, hints, node.numa.full)) for hints in product(*lists))
    if rules.ranked:
        ranked = sorted(_candidates(lists, node), key=lambda one: _key(one, node, needed))[:2]
        if len(ranked) == 2:
            runner_up, rule = TopologyHint(*ranked[1]), _rule(ranked[0], ranked[1], node, needed)
    return begun._replace(
        resources=tuple(name for name, _ in opinions),
        combinations=count,
        seconds=Effort(combinations=count).seconds,
        table=table,
        runner_up=runner_up,
        rule=rule,
    )


class _Candidate(NamedTuple):
    """What a combination can merge to: a hint with a mask."""

    mask: NUMAMask
    preferred: bool


def _key(one: _Candidate, node: Node, needed: int) -> tuple[int, ...]:
    numa = node.numa._replace(distances=None) if node.policy == "single-numa-node" else node.numa
    if one.preferred:
        return (0, *preferred_key(one.mask, numa))
    return (1, *non_preferred_key(one.mask, needed, numa))


def _candidates(lists: Sequence[HintList], node: Node) -> set[_Candidate]:
    """Collect what combinations can merge to, list by list (12.3); an empty mask is no candidate (6.2)."""
    masks, common = {node.numa.full}, {hint.numa_affinity for hints in lists for hint in hints}
    for hints in lists:
        affinities = {node.numa.full if hint.numa_affinity is None else hint.numa_affinity for hint in hints}
        masks = {mask & other for mask in masks for other in affinities}
        common &= {hint.numa_affinity for hint in hints if hint.preferred}
    preferred = {_Candidate(mask, True) for mask in common if mask}
    return preferred | {_Candidate(mask, False) for mask in masks if mask and mask not in common}


def _rule(winner: _Candidate, other: _Candidate, node: Node, needed: int) -> Rule:
    """Name the first rule in which they differ."""
    if winner.preferred != other.preferred:
        return "preferred"
    differing = next(
        place
        for place, (one, two) in enumerate(zip(_key(winner, node, needed), _key(other, node, needed), strict=True))
        if one != two
    )
    if differing >= 2:
        return "closer" if differing == 2 else "smaller number"
    if winner.preferred:
        return "fewer nodes"
    exact = winner.mask.bit_count() == needed
    return "exactly as many nodes as needed" if exact else "nearest to the nodes needed"
