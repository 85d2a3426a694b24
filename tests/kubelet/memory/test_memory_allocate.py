"""What containers get and give back, beyond the worked examples (docs/rules/memory-manager.md 6 to 8)."""

from __future__ import annotations

import pytest

from numalign.kubelet.errors import AllocationError, KubeletHangError
from numalign.kubelet.memory.allocate import allocate, allocate_until_1_36, remove, remove_pod
from numalign.kubelet.memory.state import Block, MemoryState, initial_state
from tests.kubelet.memory.nodes import GI, Node, hint, pod_of, static

NODE_0 = hint([0])


def test_what_is_asked_for_without_a_hint_of_many_nodes_is_a_hang() -> None:
    """The kubelet tries every set of 34 NUMA nodes."""
    with pytest.raises(KubeletHangError, match="17 179 869 183 sets of NUMA nodes"):
        Node(static([1] * 34, {0: 1})).take("p", None, memory=1)


@pytest.mark.parametrize(
    ("sizes", "stored", "text"),
    [
        ([20, 7, 7], None, "failed to find the default preferred hint"),
        ([20, 7, 7], [1], "failed to find the extended preferred hint"),
    ],
    ids=["no mask", "too small a mask"],
)
def test_a_preferred_hint_wants_a_preferred_mask(sizes: list[int], stored: list[int] | None, text: str) -> None:
    """Rules 33 and 34: one node could hold the request, but two have to."""
    node = Node(static(sizes, {0: 1}))
    node.take("other", [0], memory=15)
    before = node.state
    with pytest.raises(AllocationError, match=text):
        node.take("p", stored, memory=12)
    assert node.state == before
    node.take("p", stored, False, memory=12)
    assert node.state.entries["p"]["c"] == (Block(0b110, "memory", 12 * GI),)


def test_exactly_what_a_node_has_is_enough() -> None:
    node = Node(static([10, 10], {0: 1}))
    node.take("p", [0], memory=9)
    assert node.line(0) == "0/9, 1, [0]"


def test_what_an_init_container_left_is_taken_over_whole() -> None:
    """Rule 40."""
    node = Node(static([10, 10], {0: 1}))
    pod = node.pods["p"] = pod_of("p", {"i": ("init", {"memory": 2}), "c": ("app", {"memory": 2})})
    node.give(pod, pod.containers[0], NODE_0)
    assert (node.state.reusable_pod, node.state.reusable) == ("p", {(1, "memory"): 2 * GI})
    node.give(pod, pod.containers[1], NODE_0)
    assert (node.state.reusable_pod, node.state.reusable) == ("p", {})
    assert {name: [one.size for one in held] for name, held in node.state.entries["p"].items()} == {
        "i": [0],
        "c": [2 * GI],
    }


def test_what_another_pod_s_init_container_left_is_forgotten() -> None:
    node = Node(static([10, 10], {0: 1}))
    pod = pod_of("p", {"i": ("init", {"memory": 2}), "c": ("app", {"memory": 1})})
    node.give(pod, pod.containers[0], NODE_0)
    node.take("q", [1], memory=1)
    assert (node.state.reusable_pod, node.state.reusable) == ("q", {})
    node.take("r", [1], memory=1)
    assert node.state.reusable_pod == "q", "there was nothing to forget"


def test_the_most_of_several_init_containers_is_left() -> None:
    """Of two that hold 2 and 3, one after the other, 3; a smaller one after them lowers nothing."""
    node = Node(static([10, 10], {0: 1}))
    sizes = {"i": 2, "j": 3, "k": 1}
    pod = pod_of(
        "p", {**{name: ("init", {"memory": size}) for name, size in sizes.items()}, "c": ("app", {"memory": 1})}
    )
    left = []
    for container in pod.containers[:3]:
        node.give(pod, container, NODE_0)
        left.append(node.state.reusable[1, "memory"] // GI)
    assert left == [2, 3, 3]
    assert node.line(0) == "6/9, 3, [0]"


@pytest.mark.parametrize(("as_a_whole", "skipped"), [(True, True), (False, False)])
def test_since_1_37_who_shares_what_its_pod_has_is_passed_over(as_a_whole: bool, skipped: bool) -> None:
    """docs/rules/kubelet-1.37.md 5.1."""
    manager = static([10, 10], {0: 1})
    pod = pod_of("p", {"c": ("app", {"memory": 2})})._replace(as_a_whole=as_a_whole)
    shares, state = pod.containers[0]._replace(memory=()), initial_state(manager)
    assert (allocate(manager, state, pod, shares, NODE_0) is state) is skipped
    assert allocate_until_1_36(manager, state, pod, shares, NODE_0).entries == {"p": {"c": ()}}
    assert allocate(manager, state, pod, pod.containers[0], NODE_0).entries["p"]["c"] == (Block(1, "memory", 2 * GI),)


MANAGER = static([10, 10], {0: 1})
OTHER = (Block(2, "memory", GI),)
PARTS = {"a": (Block(1, "memory", GI),), "b": (Block(1, "memory", 2 * GI),)}


class TestBudget:
    """docs/rules/kubelet-versions.md 6.9: what a pod has as a whole comes back with the last of its containers."""

    def held(self) -> MemoryState:
        return initial_state(MANAGER)._replace(
            counts=(1, 1),
            free=((6 * GI, 9 * GI),),
            reserved=((3 * GI, GI),),
            entries={"p": PARTS, "q": {"c": OTHER}},
            pods={"p": (Block(1, "memory", 3 * GI),), "q": OTHER},
        )

    def gone(self) -> MemoryState:
        return self.held()._replace(
            counts=(0, 1),
            free=((9 * GI, 9 * GI),),
            reserved=((0, GI),),
            entries={"q": {"c": OTHER}},
            pods={"q": OTHER},
        )

    def test_container_by_container(self) -> None:
        one = remove(MANAGER, self.held(), "p", "a")
        assert one == self.held()._replace(entries={"p": {"b": PARTS["b"]}, "q": {"c": OTHER}})
        assert remove(MANAGER, one, "p", "b") == self.gone()

    def test_at_once(self) -> None:
        assert remove_pod(MANAGER, self.held(), "p") == self.gone()

    def test_who_holds_nothing_gives_nothing_back(self) -> None:
        state = self.held()
        assert remove(MANAGER, state, "p", "none") is state
        assert remove_pod(MANAGER, state, "none") is state
