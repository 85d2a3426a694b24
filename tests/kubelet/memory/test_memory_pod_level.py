"""Memory of a pod as a whole, divided among its containers (docs/rules/kubelet-versions.md 6.8)."""

from __future__ import annotations

from typing import cast

import pytest

from numalign.kubelet.demand import ContainerDemand, PodDemand
from numalign.kubelet.errors import AllocationError
from numalign.kubelet.memory.hints import container_hints
from numalign.kubelet.memory.pod_level import allocate_pod, budget_problem, pod_hints
from numalign.kubelet.memory.state import initial_state
from numalign.kubelet.topology.hints import CANNOT_FIT, TopologyHint
from numalign.model.pod import ContainerKind
from tests.kubelet.memory.nodes import GI, static

WORD = 1 << 64
NODE_0 = TopologyHint(0b1, preferred=True)
SHARED_INIT = "pod rejected, pod has shared init containers but no {} available for them"
SHARED = (
    "pod rejected, sum of exclusive container {0} requests equals pod budget, leaving no memory for shared containers"
)


def pod(containers: str, **budget: int) -> PodDemand:
    """Containers as `kind memory hugepages-1Gi`, in Gi; without amounts one shares what is left."""
    made = []
    for number, text in enumerate(containers.split(", ")):
        kind, *amounts = text.split()
        names = ("memory", "hugepages-1Gi")
        memory = tuple(sorted((name, int(amount) * GI) for name, amount in zip(names, amounts, strict=False)))
        made.append(ContainerDemand(f"c{number}", cast(ContainerKind, kind), 0, memory, ()))
    whole = tuple(sorted((name.replace("_", "-"), amount * GI) for name, amount in budget.items()))
    return PodDemand("p", True, tuple(made), 0, whole, (), as_a_whole=True)


DIVIDED = [
    ("an app container has a part", "app 1, app", {"memory": 4}, "", {"c0": {"memory": 1}, "c1": {"memory": 3}}),
    ("all have parts", "app 1, app 3", {"memory": 4}, "", {"c0": {"memory": 1}, "c1": {"memory": 3}}),
    ("nothing is left to share", "app 4, app", {"memory": 4}, SHARED.format("memory"), {}),
    ("less than nothing is left", "app 3, sidecar 2, app", {"memory": 4}, SHARED.format("memory"), {}),
    ("nothing is left to an init container", "sidecar 4, init", {"memory": 4}, SHARED_INIT.format("memory"), {}),
    ("an init container before has all of it", "init, sidecar 4", {"memory": 4}, "",
     {"c0": {"memory": 4}, "c1": {"memory": 4}}),
    ("an init container's own part is there again", "init 4, app 1, app", {"memory": 4}, "",
     {"c0": {"memory": 4}, "c1": {"memory": 1}, "c2": {"memory": 3}}),
    ("an init container after a sidecar has the rest", "sidecar 1, init, app", {"memory": 4}, "",
     {"c0": {"memory": 1}, "c1": {"memory": 3}, "c2": {"memory": 3}}),
    ("the first by name is used up",
     "app 4 1, app", {"memory": 4, "hugepages_1Gi": 1}, SHARED.format("hugepages-1Gi"), {}),
    ("one of two is used up", "app 4 1, app", {"memory": 4, "hugepages_1Gi": 2}, SHARED.format("memory"), {}),
    ("one of two is used up before an init container", "sidecar 1 2, init", {"memory": 4, "hugepages_1Gi": 2},
     SHARED_INIT.format("hugepages-1Gi"), {}),
    ("parts of both", "app 1 1, app", {"memory": 4, "hugepages_1Gi": 2}, "",
     {"c0": {"hugepages-1Gi": 1, "memory": 1}, "c1": {"hugepages-1Gi": 1, "memory": 3}}),
    ("none of one is no block", "app 1 0, app", {"memory": 4, "hugepages_1Gi": 2}, "",
     {"c0": {"memory": 1}, "c1": {"hugepages-1Gi": 2, "memory": 3}}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("containers", "budget", "problem", "parts"), [r[1:] for r in DIVIDED], ids=[r[0] for r in DIVIDED]
)
def test_a_budget_is_divided(
    containers: str, budget: dict[str, int], problem: str, parts: dict[str, dict[str, int]]
) -> None:
    manager = static([10, 10], {0: 1}, {0: {"1Gi": 4}, 1: {"1Gi": 4}})
    before, asked = initial_state(manager), pod(containers, **budget)
    assert budget_problem(asked) == (problem or None)
    if problem:
        assert pod_hints(manager, before, asked) == dict.fromkeys(dict(asked.memory or ()), CANNOT_FIT)
        with pytest.raises(AllocationError) as refused:
            allocate_pod(manager, before, asked, NODE_0)
        assert (refused.value.message, refused.value.reason) == (problem, "EmptyPodSharedPoolError")
        return
    assert pod_hints(manager, before, asked).keys() == dict(asked.memory or ()).keys()
    after = allocate_pod(manager, before, asked, NODE_0)
    assert {name: {one.type: one.size // GI for one in blocks} for name, blocks in after.entries["p"].items()} == parts
    assert {one.type: one.size for one in after.pods["p"]} == dict(asked.memory or ())
    place = manager.places["memory"]
    assert before.free[place][0] - after.free[place][0] == budget["memory"] * GI
    assert after.free[place][1] == before.free[place][1]


def test_huge_pages_beyond_the_budget_make_what_is_left_wrap() -> None:
    manager = static([10], {0: 1}, {0: {"1Gi": 4}})
    after = allocate_pod(manager, initial_state(manager), pod("app 1 1, app", memory=4), NODE_0)
    left = [(one.type, one.size) for one in after.entries["p"]["c1"]]
    assert left == [("hugepages-1Gi", WORD - GI), ("memory", 3 * GI)]


def test_an_amount_that_nobody_can_read_is_none_to_divide() -> None:
    asked = pod("app 1, app", memory=4)
    odd = asked._replace(containers=(asked.containers[0]._replace(memory=None), asked.containers[1]))
    assert budget_problem(odd) == "[memorymanager] failed to represent quantity as int64"


def test_only_guaranteed_pods_under_the_static_policy_get_memory() -> None:
    manager = static([10], {0: 1})
    before, asked = initial_state(manager), pod("app 1, app", memory=4)
    odd = asked._replace(memory=None, containers=(asked.containers[0]._replace(memory=None),))
    others = asked._replace(guaranteed=False), asked._replace(memory=None), odd
    for other, of in (*((other, manager) for other in others), (asked, manager._replace(policy="None"))):
        assert allocate_pod(of, before, other, NODE_0) is before
        assert pod_hints(of, before, other) == {}
    assert pod_hints(manager, before, pod("app 4, app")) == {}


def test_an_amount_that_nobody_can_read_gives_no_hint() -> None:
    manager = static([10], {0: 1})
    asked = pod("app 1")
    [one] = asked.containers
    assert container_hints(manager, initial_state(manager), asked, one).keys() == {"memory"}
    assert container_hints(manager, initial_state(manager), asked, one._replace(memory=None)) == {}


def test_memory_that_breaks_a_group_is_refused() -> None:
    """Rule 35: nodes that pods hold memory of together stay together."""
    manager = static([10, 10, 10], {0: 1})
    both = TopologyHint(0b11, preferred=False)
    state = allocate_pod(manager, initial_state(manager), pod("app 1, app", memory=12), both)
    other = pod("app 1, app", memory=12)._replace(uid="q")
    with pytest.raises(AllocationError):
        allocate_pod(manager, state, other, TopologyHint(0b110, preferred=False))
