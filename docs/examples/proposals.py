"""A kubelet with other parts: what was proposed in 2019 and no kubelet does, built from numalign's own.

A kubelet is a value (DESIGN.md), so each proposal is a function from one kubelet to another that replaces what it
changes. Run it in the root of the repository: `python docs/examples/proposals.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

import numalign
from numalign.kubelet import device
from numalign.kubelet.admission import Session, admit_in_order, open_session
from numalign.kubelet.config import IDEAL
from numalign.kubelet.demand import ContainerDemand, PodDemand
from numalign.kubelet.device.allocate import best_sets, links_within
from numalign.kubelet.device.state import DeviceManager, DeviceState, Resource
from numalign.kubelet.releases.early_merge import NOTHING_BETTER, best_of_2019, combinations
from numalign.kubelet.releases.release import Kubelet
from numalign.kubelet.releases.table import LATEST
from numalign.kubelet.setup import Setup
from numalign.kubelet.topology.hints import HintFamily, HintList, ProviderAnswer, TopologyHint, expand, masks_by_width
from numalign.kubelet.topology.merge.lists import NUMAInfo, merge_lists, numa_info
from numalign.kubelet.topology.policy import explicit, filter_answers
from numalign.model.machine import Machine
from numalign.model.pod import Pod

FEEDBACK_POLICIES = ("preferred", "strict", "proposed-strict")
"""Policies of "Topology Manager Feedback, round 2" (docs/rules/topology-manager.md 14)."""


def merge_feedback(policy: str, lists: Sequence[HintList], numa: NUMAInfo) -> tuple[TopologyHint, bool]:
    """Merge under one of them; returns the merged hint and whether the pod is admitted."""
    if policy == "proposed-strict":
        equal = merge_lists(lists, numa._replace(distances=None))
        return (equal, True) if equal.preferred else (NOTHING_BETTER, False)
    best = best_of_2019(combinations(lists, numa.full), numa.full)
    return best, policy == "preferred" or best.preferred


def with_feedback_policies(kubelet: Kubelet) -> Kubelet:
    """Let a kubelet know these policies besides its own."""
    own = kubelet.merging.merge

    def merge(policy: str, answers: Iterable[ProviderAnswer], numa: NUMAInfo) -> tuple[TopologyHint, bool]:
        if policy in FEEDBACK_POLICIES:
            return merge_feedback(policy, explicit(filter_answers(answers)), numa)
        return own(policy, answers, numa)

    merging = kubelet.merging._replace(merge=merge, ranked=False)
    return kubelet._replace(policies=(*kubelet.policies, *FEEDBACK_POLICIES), merging=merging)


def feedback_table(nodes: int = 2) -> Iterator[tuple[TopologyHint, TopologyHint, dict[str, tuple[TopologyHint, bool]]]]:
    """Yield what each policy makes of every pair of hints that two providers can give on a small machine."""
    numa = numa_info(range(nodes))
    hints = [TopologyHint(mask, preferred) for preferred in (True, False) for mask in masks_by_width((1 << nodes) - 1)]
    for first, second in product(hints, hints):
        lists = (HintList((first,)), HintList((second,)))
        yield first, second, {policy: merge_feedback(policy, lists, numa) for policy in FEEDBACK_POLICIES}


def preferred_allocations(resource: Resource, size: int) -> tuple[int, ...]:
    """Return the sets that a plugin prefers, in its order (docs/rules/device-manager.md 8): listed, or by its links."""
    listed = tuple(members for members in resource.preferred_sets or () if members.bit_count() == size)
    if listed or not resource.links or size < 2:
        return listed
    sets = best_sets(resource.links, (1 << len(resource.devices)) - 1, 0, size)
    return sets if sets and links_within(resource.links, sets[0]) else ()


def prefer(of: DeviceManager, state: DeviceState, pod: PodDemand, container: ContainerDemand) -> ProviderAnswer:
    """Answer as the kubelet does, but prefer the nodes of preferred sets among what is offered (8 step 1)."""
    answer = dict(device.container_hints(of, state, pod, container))
    for name, size in container.devices:
        sets, hints = preferred_allocations(of.resources[name], size), answer[name]
        if sets and isinstance(hints, HintFamily):
            masks = {_nodes(of.resources[name], one) for one in sets if not one & ~_offered(of, state, pod, name)}
            answer[name] = HintList(TopologyHint(mask, mask in masks) for mask, _ in expand(hints))
    return answer


def choose(
    of: DeviceManager, state: DeviceState, pod: PodDemand, container: ContainerDemand, hint: TopologyHint
) -> DeviceState:
    """Give the first preferred set that is free and on the wanted nodes, else what the kubelet gives (8 step 2)."""
    resources = dict(of.resources)
    for name, size in container.devices:
        mask, offered = hint.numa_affinity, _offered(of, state, pod, name)
        for members in preferred_allocations(resources[name], size):
            if not members & ~offered and (mask is None or not _nodes(resources[name], members) & ~mask):
                resources[name] = resources[name]._replace(healthy=members)
                break
    return device.allocate(of._replace(resources=resources), state, pod, container, hint)


def _offered(of: DeviceManager, state: DeviceState, pod: PodDemand, name: str) -> int:
    reusable = state.reusable.get(name, 0) if state.reusable_of == pod.uid else 0
    return of.resources[name].healthy & ~state.allocated.get(name, 0) | reusable


def _nodes(resource: Resource, members: int) -> int:
    return sum(1 << node for node, held in enumerate(resource.on_node) if held & members)


def with_preferred_sets(kubelet: Kubelet) -> Kubelet:
    """Let preferred sets of devices count in hints and in the choice, as GetPreferredAllocations would have."""
    return kubelet._replace(device=kubelet.device._replace(container_hints=prefer, allocate=choose))


POLICY = "numalign/topology-policy"
"""An annotation that names a pod's own policy."""


def admit_by_annotation(machine: Machine, pods: Iterable[Pod], kubelet: Kubelet = LATEST) -> Mapping[str, bool]:
    """Admit pods, each under the policy that it chooses; what the next pod finds is the node's own again."""
    session = open_session(Setup(machine, IDEAL, "ideal", kubelet))
    admitted = {}
    for pod in pods:
        topology = session.node.topology
        chosen = topology._replace(policy=pod.annotations.get(POLICY, topology.policy))
        (outcome,) = admit_in_order(session._replace(node=session.node._replace(topology=chosen)), [pod])
        admitted[pod.name] = outcome.admit
        session = outcome.then._replace(node=session.node)
    return admitted


def opened(machine: str, policy: str, kubelet: Kubelet) -> Session:
    """Start a kubelet on an empty machine."""
    config = IDEAL._replace(topology_manager_policy=policy)
    return open_session(Setup(numalign.load_machine(machine), config, "ideal", kubelet))


def main() -> None:
    """Show the three proposals."""
    print("Hints on which strict and proposed-strict differ:")
    for first, second, verdicts in feedback_table():
        if verdicts["strict"][1] != verdicts["proposed-strict"][1]:
            print(f"  {_short(first)} / {_short(second)}: strict admits")
    print("A GPU on one node, a NIC on the other:")
    apart = numalign.load_pods("pods/history/apart.yaml")
    for policy in ("restricted", "strict"):
        outcomes = admit_in_order(opened("figure-1", policy, with_feedback_policies(LATEST)), apart)
        print(f"  {policy}:", *("admitted" if one.admit else one.reason for one in outcomes))
    print("Pairs of GPUs of a DGX-1, preferred by NVLinks:")
    session = opened("dgx-1", "restricted", with_preferred_sets(LATEST))
    gpus = session.node.device.resources["nvidia.com/gpu"]
    print(" ", *("+".join(device.device_ids(gpus, members)) for members in preferred_allocations(gpus, 2)))
    for outcome in admit_in_order(session, numalign.load_pods("pods/history/two-gpus.yaml", replicas=4)):
        held = outcome.after.device.holdings[outcome.demand.uid]["train"]["nvidia.com/gpu"]
        print(f"  {outcome.pod.name}:", *device.device_ids(gpus, held))
    print("A pod that chooses its policy:")
    for name, admit in admit_by_annotation(
        numalign.load_machine("figure-1"), numalign.load_pods("pods/history/choosy.yaml")
    ).items():
        print(f"  {name}:", "admitted" if admit else "refused")


def _short(hint: TopologyHint) -> str:
    return f"{hint.numa_affinity or 0:02b}:{'T' if hint.preferred else 'F'}"


if __name__ == "__main__":
    main()
