"""Laws of the Memory Manager over generated histories, and its search held against the rule followed literally."""

from __future__ import annotations

from functools import partial, reduce
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from numalign.kubelet.config import MemoryReservation
from numalign.kubelet.demand import PodDemand, ResourcePairs
from numalign.kubelet.errors import AllocationError
from numalign.kubelet.memory.allocate import allocate, remove, remove_pod
from numalign.kubelet.memory.hints import best_hint, calculate, container_hints, narrowest
from numalign.kubelet.memory.reserved import read_reserved_memory
from numalign.kubelet.memory.start import start
from numalign.kubelet.memory.state import MemoryManager, MemoryState, initial_state
from numalign.kubelet.topology.hints import HintList, TopologyHint, masks_by_width
from numalign.model import quantity
from numalign.model.cpuset import ids
from numalign.model.machine import Machine, NUMANode
from tests.dice import Dice, draws, rolled
from tests.kubelet.memory.nodes import GI, listed, pod_of, started

WORD = 1 << 64
BYTE = 1 / GI
NAMES = ("p", "q", "r", "s")

KINDS = ((), ("init",), ("sidecar",), ("init", "init"), ("init", "sidecar"), ("sidecar", "init"), ("sidecar",) * 2)
History = tuple[MemoryManager, list[MemoryState], dict[str, PodDemand]]


def manager_of(dice: Dice) -> MemoryManager:
    """Machines of 1 to 5 nodes, gaps in the ids included; some reserve more than a node has, so that tables wrap."""
    node_ids = sorted(dice.shuffled(range(7))[: dice.between(1, 5)])
    pages = dice.flag()
    nodes = []
    for node in node_ids:
        hugepages = {"1Gi": dice.below(5) * GI} if pages else {}
        nodes.append(NUMANode(node, memory=dice.between(4, 16) * GI, hugepages=hugepages))
    kept = dice.pick((1, 1, 1, 2, 40))
    reserved = (MemoryReservation(dice.pick(node_ids), {"memory": f"{kept}Gi"}),)
    return start(
        Machine("any", tuple(nodes)), "Static", read_reserved_memory(reserved), {"memory": quantity.parse(f"{kept}Gi")}
    )


def a_pod(dice: Dice, name: str, resources: tuple[str, ...]) -> PodDemand:
    kinds = (*dice.pick(KINDS), "app", *(["app"] if dice.flag() else []))
    containers: dict[str, Any] = {}
    for number, kind in enumerate(kinds):
        amounts = {"memory": dice.pick((BYTE, 0.5, 1, 2, 4 - BYTE, 4, 7, 12))}
        if "hugepages-1Gi" in resources and dice.flag():
            amounts["hugepages_1Gi"] = dice.pick((0, 1, 1 + BYTE, 2, 5))
        containers[f"c{number}"] = (kind, amounts)
    return pod_of(name, containers)


def history_of(dice: Dice) -> History:
    """Give a manager and the states it goes through, pods coming, starting and going in any order."""
    manager = manager_of(dice)
    known = {name: a_pod(dice, name, manager.resources) for name in NAMES}
    states = [initial_state(manager)]
    for _ in range(dice.below(13)):
        states.append(successor(dice, manager, states[-1], known))
    return manager, states, known


def successor(dice: Dice, manager: MemoryManager, state: MemoryState, known: dict[str, PodDemand]) -> MemoryState:
    pod = known[dice.pick(NAMES)]
    step = dice.pick(("take", "take", "take", "remove", "start"))
    container = dice.pick(pod.containers)
    if step == "remove":
        return remove(manager, state, pod.uid, container.name)
    if step == "start":
        return started(manager, state, pod)
    some = dice.below(1 << len(manager.node_ids))
    mask = sum(1 << node for place, node in enumerate(manager.node_ids) if some >> place & 1) or None
    try:
        return allocate(manager, state, pod, container, TopologyHint(mask, dice.flag()))
    except AllocationError:
        return state


HISTORIES = rolled(history_of)


def by_the_rule(
    manager: MemoryManager, state: MemoryState, uid: str, request: ResourcePairs
) -> tuple[tuple[TopologyHint, ...], int]:
    """Follow docs/rules/memory-manager.md 23 word by word; give the hints and `best`."""
    best = len(manager.node_ids)
    found = []
    for mask in masks_by_width(manager.nodes):
        members = list(ids(mask))

        def total(table: tuple[int, ...], members: list[int] = members) -> int:
            return sum(table[node] for node in members) % WORD

        places = {resource: manager.places[resource] for resource, _ in request}
        if any(total(manager.allocatable[places[resource]]) < amount for resource, amount in request):
            continue
        best = min(best, len(members))
        groups = [list(ids(state.groups[node])) for node in members]
        if len(members) == 1 and len(groups[0]) > 1:
            continue
        if len(members) > 1 and any(
            state.counts[node] > 0 and (len(group) == 1 or group != members)
            for node, group in zip(members, groups, strict=True)
        ):
            continue
        reusable = state.reusable_of(uid)
        if any(
            (total(state.free[places[resource]]) + reusable.get((mask, resource), 0)) % WORD < amount
            for resource, amount in request
        ):
            continue
        found.append(mask)
    return HintList(TopologyHint(mask, mask.bit_count() == best) for mask in found), best


@draws(100)
@given(HISTORIES)
def test_hints_are_those_of_the_rule(history: History) -> None:
    """The few sets of a family are exactly the masks that the rule's walk lets through, in its order."""
    manager, states, known = history
    for state in states[-3:]:
        for pod in known.values():
            for container in pod.containers:
                request = container.memory or ()
                expected, best = by_the_rule(manager, state, pod.uid, request)
                hints = calculate(manager, state, pod.uid, request)
                assert (() if hints is None else listed(hints)) == expected
                if not any(manager.wraps):
                    assert narrowest(manager, request) == best


@draws(60)
@given(HISTORIES, st.integers(0, 127))
def test_best_hint_is_that_of_the_list(history: History, required: int) -> None:
    """Preferred, then fewer nodes, then the smaller mask, among those that contain what is required (rule 37)."""
    manager, states, known = history
    for pod in known.values():
        hints = calculate(manager, states[-1], pod.uid, pod.containers[0].memory or ())
        if hints is None:
            continue
        for wanted in {one & manager.nodes for one in (*range(8), required)}:
            kept = [one for one in listed(hints) if not wanted & ~(one.numa_affinity or 0)]
            ranked = sorted(kept, key=lambda one: (not one.preferred, (one.numa_affinity or 0).bit_count(), one[0]))
            assert best_hint(hints, wanted) == (ranked[0] if ranked else None)


@draws(80)
@given(HISTORIES)
def test_nothing_is_lost_or_made(history: History) -> None:
    """On every node free and reserved add up to allocatable; counts are the blocks that lie on the node."""
    manager, states, _ = history
    for state in states:
        for place in range(len(manager.resources)):
            sums = zip(state.free[place], state.reserved[place], strict=True)
            assert tuple((free + reserved) % WORD for free, reserved in sums) == manager.allocatable[place]
        blocks = [block for pod in state.entries.values() for held in pod.values() for block in held]
        for node in manager.node_ids:
            assert state.counts[node] == sum(block.mask >> node & 1 for block in blocks)
            assert state.groups[node] >> node & 1
            assert state.counts[node] or state.groups[node] == 1 << node


@draws(60)
@given(HISTORIES)
def test_taking_and_giving_back_keeps_all_sums(
    history: History,
) -> None:
    """A container that comes and goes leaves counts and the group's sums as they were (rules 36, 45)."""
    manager, states, _ = history
    state = states[-1]
    visitor = pod_of("visitor", {"c": ("app", {"memory": 1})})
    for hints in container_hints(manager, state, visitor, visitor.containers[0]).values():
        for hint in listed(hints):
            there = allocate(manager, state, visitor, visitor.containers[0], hint)
            back = remove(manager, there, "visitor", "c")
            members = list(ids(hint.numa_affinity or 0))
            assert back.counts == state.counts
            assert back.entries == state.entries
            for table, before in zip(back.free, state.free, strict=True):
                assert sum(table[node] for node in members) == sum(before[node] for node in members)


@given(HISTORIES)
def test_when_all_pods_are_gone_no_node_is_in_use(
    history: History,
) -> None:
    manager, states, _ = history
    state = reduce(partial(remove_pod, manager), states[-1].entries, states[-1])
    assert not any(state.counts)
    assert state.entries == {}
    assert state.groups == initial_state(manager).groups


def test_reusable_memory_counts_on_idle_nodes_too() -> None:
    """After drift an idle node can lack free memory; what the pod may reuse under exactly that mask still counts."""
    nodes = tuple(NUMANode(node, memory=10 * GI) for node in (0, 1))
    reserved = (MemoryReservation(0, {"memory": "1Gi"}),)
    manager = start(Machine("two", nodes), "Static", read_reserved_memory(reserved), {"memory": quantity.parse("1Gi")})
    drifted = initial_state(manager)._replace(
        free=((2 * GI, 3 * GI),),
        reserved=((7 * GI, 7 * GI),),
        reusable_pod="p",
        reusable={(0b01, "memory"): 6 * GI, (0b11, "memory"): 1 * GI},
    )
    for size, masks in ((4, [0b01, 0b11]), (6, [0b01, 0b11]), (7, [0b01]), (9, [])):
        request = (("memory", size * GI),)
        hints = calculate(manager, drifted, "p", request)
        assert [hint.numa_affinity for hint in (listed(hints) if hints else ())] == masks
        assert by_the_rule(manager, drifted, "p", request)[0] == (listed(hints) if hints else ())
