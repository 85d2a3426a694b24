"""CPUs of a pod as a whole, divided among its containers (docs/rules/kubelet-versions.md 6.7)."""

from __future__ import annotations

from typing import cast

import pytest

from numalign.kubelet.cpu import initial_state
from numalign.kubelet.cpu.pod_level import allocate_pod, budget_problem, pod_hints
from numalign.kubelet.demand import PodDemand
from numalign.kubelet.errors import AllocationError
from numalign.kubelet.topology.hints import CANNOT_FIT, HintFamily, TopologyHint
from numalign.model.cpuset import format_set, parse
from numalign.model.pod import ContainerKind
from tests.kubelet.cpu.support import FULL, MB, container, held, manager, pod

NODE_0 = TopologyHint(0b1, preferred=True)
SHARED_INIT = "pod rejected, pod has shared init containers but no cpus available for them"
SHARED = (
    "pod rejected, sum of exclusive container cpu requests equals pod budget, leaving no cpus for shared containers"
)


def whole(containers: str, cpus: int) -> PodDemand:
    """Containers as `kind CPUs`; with 0 one shares what is left."""
    made = []
    for number, text in enumerate(containers.split(", ")):
        kind, amount = text.split()
        made.append(container(f"c{number}", int(amount), cast(ContainerKind, kind)))
    return pod("p", *made, cpus=cpus)._replace(as_a_whole=True)


DIVIDED = [
    ("an app container has a part", "app 1, app 0", 4, "", {"c0": "0", "c1": "1,8-9"}),
    ("all have parts", "app 1, app 3", 4, "", {"c0": "0", "c1": "1,8-9"}),
    ("all share", "app 0, sidecar 0", 2, "", {"c0": "0,8", "c1": "0,8"}),
    ("nothing is left to share", "app 4, app 0", 4, SHARED, {}),
    ("nothing is left to a sidecar", "sidecar 0, app 4", 4, SHARED, {}),
    ("less than nothing is left", "app 3, sidecar 2, app 0", 4, SHARED, {}),
    ("nothing is left to an init container", "sidecar 4, init 0", 4, SHARED_INIT, {}),
    ("an init container before has all of it", "init 0, sidecar 4", 4, "", {"c0": "0-1,8-9", "c1": "0-1,8-9"}),
    ("an init container's own part is there again", "init 4, app 1, app 0", 4, "",
     {"c0": "0-1,8-9", "c1": "0", "c2": "1,8-9"}),
    ("an init container after a sidecar has the rest", "sidecar 2, init 0, app 0", 4, "",
     {"c0": "0,8", "c1": "1,9", "c2": "1,9"}),
    ("init containers' parts are no parts of the budget", "init 4, app 0", 4, "", {"c0": "0-1,8-9", "c1": "0-1,8-9"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("containers", "cpus", "problem", "parts"), [r[1:] for r in DIVIDED], ids=[r[0] for r in DIVIDED]
)
def test_a_budget_is_divided(containers: str, cpus: int, problem: str, parts: dict[str, str]) -> None:
    of, asked = manager(MB), whole(containers, cpus)
    before = initial_state(of)
    assert budget_problem(asked) == (problem or None)
    if problem:
        assert pod_hints(of, before, asked) == {"cpu": CANNOT_FIT}
        with pytest.raises(AllocationError) as refused:
            allocate_pod(of, before, asked, NODE_0)
        assert (refused.value.message, refused.value.reason) == (problem, "EmptyPodSharedPoolError")
        return
    assert isinstance(pod_hints(of, before, asked)["cpu"], HintFamily)
    after = allocate_pod(of, before, asked, NODE_0)
    assert held(after) == {"p": parts}
    assert after.pods["p"].bit_count() == cpus
    assert after.default == before.default & ~after.pods["p"]


def test_an_init_container_with_cpus_is_not_looked_at() -> None:
    """Where sidecars have all of the budget it only fails when it is its turn."""
    of, asked = manager(MB), whole("sidecar 4, init 1, app 1", 5)
    assert budget_problem(whole("sidecar 4, init 1", 4)) is None
    assert held(allocate_pod(of, initial_state(of), asked, NODE_0))["p"] == {"c0": "0-1,8-9", "c1": "2", "c2": "2"}


def test_under_the_policy_none_no_cpus_are_divided() -> None:
    of, asked = manager(MB)._replace(policy="none"), whole("app 4, app 0", 4)
    state = initial_state(of)
    assert (pod_hints(of, state, asked), allocate_pod(of, state, asked, NODE_0)) == ({}, state)


def test_of_a_budget_without_cpus_nothing_is_divided() -> None:
    of, asked = manager(MB), whole("app 0", 0)
    state = initial_state(of)
    assert (pod_hints(of, state, asked), allocate_pod(of, state, asked, NODE_0)) == ({}, state)


def test_the_budget_is_compared_with_whole_cores() -> None:
    of = manager(MB, FULL)
    with pytest.raises(AllocationError, match="requested 3 cpus not multiple cpus per core = 2"):
        allocate_pod(of, initial_state(of), whole("app 2, app 0", 3), NODE_0)


def test_cpus_come_from_the_nodes_of_the_hint_and_none_of_the_reserved() -> None:
    of = manager(MB, reserved="0,4")
    after = allocate_pod(of, initial_state(of), whole("app 0", 6), TopologyHint(0b10, preferred=True))
    assert format_set(after.pods["p"]) == "5-7,13-15"
    assert not after.pods["p"] & parse("0,4")


def test_cpus_that_cannot_be_divided_are_the_pod_s_all_the_same() -> None:
    """docs/rules/cpu-manager.md 15.6 item 7."""
    of, asked = manager(MB), whole("init 6, app 2", 4)
    with pytest.raises(AllocationError, match="requested=6, available=4") as refused:
        allocate_pod(of, initial_state(of), asked, NODE_0)
    left = refused.value.left
    assert left is not None
    assert (left.pods["p"].bit_count(), left.assignments) == (4, {})
