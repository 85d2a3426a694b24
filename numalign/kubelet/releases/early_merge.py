"""What kubelets before 1.20 did otherwise at admission, and how hints were merged before 1.24.

docs/rules/topology-manager.md 13, the merge under "Old merge" there; docs/rules/device-manager.md 10.

A combination's mask is the AND of its masks ("no mask" counts as all nodes) and it is preferred when all its hints are,
whatever their masks. What changed is which combinations count, which one wins and who is admitted. Only explicit lists
are merged here: those kubelets knew 8 NUMA nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from numalign.kubelet.cpu.hints import container_hints as cpu_hints
from numalign.kubelet.cpu.manager import CPUManager
from numalign.kubelet.cpu.state import CPUState
from numalign.kubelet.demand import ContainerDemand, PodDemand
from numalign.kubelet.device.hints import container_hints as device_hints
from numalign.kubelet.device.state import DeviceManager, DeviceState, build
from numalign.kubelet.errors import KubeletHangError, KubeletPanicError
from numalign.kubelet.topology.hints import CANNOT_FIT, HintList, ProviderAnswer, TopologyHint, masks_by_width
from numalign.kubelet.topology.manager import (
    NO_HINT,
    Admission,
    Decision,
    Failure,
    Merge,
    NodeState,
    TopologyManager,
    admitted,
    allocate,
    decide,
    failed,
    refused,
)
from numalign.kubelet.topology.merge.lists import NUMAInfo, intersection
from numalign.kubelet.topology.policy import DO_NOT_CARE, IMPOSSIBLE, explicit, filter_answers, single_numa_filter
from numalign.kubelet.topology.provider import StartInput
from numalign.model.machine import Machine
from numalign.values import NamedTuple

NOTHING_BETTER = TopologyHint(None, False)
"""What the merge of 2019 answers when nothing beats it."""

Best = Callable[[Iterable[TopologyHint], int], TopologyHint]
"""(distinct merged hints, mask of all nodes) -> the one that wins."""

Gather = Callable[[Sequence[ProviderAnswer], NUMAInfo], Sequence[ProviderAnswer]]
"""What becomes of the answers before they are merged; the Device Manager's is the first."""


class SingleNode(NamedTuple):
    """What `single-numa-node` is."""

    filter: Callable[[Sequence[HintList]], Sequence[HintList]]
    stores_no_mask: bool
    """The mask of all nodes is stored as "no mask"."""


def prefer_single_nodes(lists: Sequence[HintList]) -> list[HintList]:
    """Take the preference from every hint of several nodes (13, `single-numa-node` up to v1.17)."""
    return [
        HintList(TopologyHint(mask, preferred and (mask is None or mask.bit_count() == 1)) for mask, preferred in hints)
        for hints in lists
    ]


SINGLE_NODES_PREFERRED = SingleNode(prefer_single_nodes, stores_no_mask=False)
SINGLE_NODES_ONLY = SingleNode(single_numa_filter, stores_no_mask=True)


def combinations(lists: Iterable[HintList], full: int) -> set[TopologyHint]:
    """Return the distinct merged hints of the cross product, by folding one list after the other (13.4)."""
    merged = {(full, True)}
    for hints in lists:
        merged = {
            (mask & (full if other is None else other), preferred and also)
            for mask, preferred in merged
            for other, also in hints
        }
    return {TopologyHint(mask, preferred) for mask, preferred in merged}


def narrowest(found: Iterable[TopologyHint], full: int) -> TopologyHint:
    """Preferred first, then the fewest nodes, then the smaller number; a mask without nodes never wins."""
    return min((hint for hint in found if hint.numa_affinity), key=_rank, default=TopologyHint(full, False))


def best_of_2019(found: Iterable[TopologyHint], _full: int) -> TopologyHint:
    """Preferred first, and only then a mask that is not empty: so an empty mask can win (14.1, 14.2)."""
    best = min(
        found,
        key=lambda hint: (not hint.preferred, not hint.numa_affinity, _rank(hint)),
        default=NOTHING_BETTER,
    )
    return best if best.preferred or best.numa_affinity else NOTHING_BETTER


def _rank(hint: TopologyHint) -> tuple[bool, int, int]:
    mask = hint.numa_affinity or 0
    return (not hint.preferred, mask.bit_count(), mask)


def as_given(answers: Sequence[ProviderAnswer], _numa: NUMAInfo) -> Sequence[ProviderAnswer]:
    """Merge one list of hints a resource."""
    return answers


def devices_first(answers: Sequence[ProviderAnswer], numa: NUMAInfo) -> Sequence[ProviderAnswer]:
    """Merge the Device Manager's lists among themselves before anybody sees them, as the first alpha did."""
    return (merge_devices(answers[0], numa.full), *answers[1:])


def merge_devices(answer: ProviderAnswer, full: int) -> ProviderAnswer:
    """Merge the Device Manager's hints into one list.

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
    return {"devices": HintList(TopologyHint(mask, flags[mask]) for mask in masks_by_width(full) if mask in flags)}


@dataclass(frozen=True, slots=True)
class EarlyMerge:
    """The merge of 1.16, or with some of its parts replaced; called as any merge is."""

    best: Best = best_of_2019
    single: SingleNode = SINGLE_NODES_PREFERRED
    gather: Gather = devices_first

    def __call__(self, policy: str, answers: Iterable[ProviderAnswer], numa: NUMAInfo) -> tuple[TopologyHint, bool]:
        """Merge under best-effort, restricted or single-numa-node."""
        lists: Sequence[HintList] = explicit(filter_answers(self.gather(tuple(answers), numa)))
        single = policy == "single-numa-node"
        if single:
            lists = self.single.filter(lists)
        best = self.best(combinations(lists, numa.full), numa.full)
        if single and self.single.stores_no_mask and best.numa_affinity == numa.full:
            best = TopologyHint(None, best.preferred)
        return best, policy == "best-effort" or best.preferred


@dataclass(frozen=True, slots=True)
class AfterGathering:
    """A merge of answers that were gathered in another way before; called as any merge is."""

    gather: Gather
    merge: Merge

    def __call__(self, policy: str, answers: Iterable[ProviderAnswer], numa: NUMAInfo) -> tuple[TopologyHint, bool]:
        """Gather, then merge."""
        return self.merge(policy, self.gather(tuple(answers), numa), numa)


def combine_until_1_23(_policy: str, hints: Sequence[TopologyHint], full: int) -> TopologyHint:
    """Merge one combination as 1.17 to 1.23 did: preferred if all hints are and some node is left (13)."""
    merged = intersection(hints, full)
    return merged._replace(preferred=merged.preferred and bool(merged.numa_affinity))


def admit_after_all_hints(manager: TopologyManager, state: NodeState, pod: PodDemand) -> Admission:
    """Decide for all containers on the same state, and only then allocate, as up to 1.17."""
    hints: dict[str, TopologyHint] = {}
    decisions: list[Decision] = []
    for container in pod.containers:
        if manager.policy == "none":
            continue
        try:
            decision = decide(manager, state, pod, container)
        except (KubeletPanicError, KubeletHangError) as error:
            return failed(Failure(error), state, pod, None, {}, decisions)
        decisions.append(decision)
        if not decision.admit:
            return refused(manager.refusal, state, pod, {}, decisions)
        hints[container.name] = decision.hint
    stored: dict[str, TopologyHint] = {}
    for container in pod.containers:
        stored[container.name] = hint = hints.get(container.name, NO_HINT)
        state, failure = allocate(manager, state, pod, container, hint)
        if failure:
            return failed(failure, state, pod, container, stored, decisions)
    return admitted(state, pod, stored, decisions)


def admit_guaranteed_after_all_hints(manager: TopologyManager, state: NodeState, pod: PodDemand) -> Admission:
    """Decide only for Guaranteed pods, as the first alpha; the others are allocated without a hint."""
    if pod.guaranteed:
        return admit_after_all_hints(manager, state, pod)
    return admit_after_all_hints(manager._replace(policy="none"), state, pod)


def device_hints_without_reuse(
    manager: DeviceManager, state: DeviceState, pod: PodDemand, container: ContainerDemand
) -> ProviderAnswer:
    """Return hints that do not see the devices of ended init containers, as up to 1.18."""
    return device_hints(manager, state._replace(reusable={}), pod, container)


def cpu_hints_without_reuse(
    manager: CPUManager, state: CPUState, pod: PodDemand, container: ContainerDemand
) -> ProviderAnswer:
    """Return hints that do not see the CPUs of ended init containers, as up to 1.18."""
    return cpu_hints(manager, state._replace(reuse=0), pod, container)


def start_without_asking(given: StartInput) -> DeviceManager:
    """Start the Device Manager as up to 1.18."""
    return build_without_asking(given.machine)


def build_without_asking(machine: Machine) -> DeviceManager:
    """Read a machine's devices, but no plugin's preferences: GetPreferredAllocation came with 1.19."""
    manager = build(machine)
    resources = {name: resource._replace(preferred_sets=(), links={}) for name, resource in manager.resources.items()}
    return manager._replace(resources=resources)
