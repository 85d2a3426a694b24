"""The worked examples of docs/rules/memory-manager.md section 11."""

from __future__ import annotations

import pytest

from numalign.kubelet.errors import AllocationError, KubeletPanicError
from numalign.kubelet.memory.allocate import allocate, remove
from numalign.kubelet.memory.hints import container_hints, pod_hints
from numalign.kubelet.memory.start import NodeRecord, Table, validate_state
from numalign.kubelet.memory.state import MemoryManager, MemoryState
from tests.kubelet.memory.nodes import GI, Node, hint, pod_of, shown, started, static


@pytest.fixture
def m2() -> Node:
    """Two nodes of 10Gi, 1Gi of each reserved."""
    return Node(static([10, 10], {0: 1, 1: 1}))


def restart(manager: MemoryManager, state: MemoryState) -> MemoryState:
    """Write the state down as the state file has it, and read it back."""
    records = {
        node: NodeRecord(
            state.counts[node],
            state.groups[node],
            {
                resource: Table(
                    manager.total[place][node],
                    manager.system_reserved[place][node],
                    manager.allocatable[place][node],
                    state.reserved[place][node],
                    state.free[place][node],
                )
                for place, resource in enumerate(manager.resources)
            },
        )
        for node in manager.node_ids
    }
    return validate_state(manager, records, state.entries)


def test_plain(m2: Node) -> None:
    """Example 1: a node in use alone bars the wider mask."""
    assert m2.hints("a", memory=4) == "{0}:P {1}:P {0,1}:n"
    m2.take("a", [0])
    assert m2.line(0) == "5/9, 1, [0]"
    assert m2.hints("b", memory=4) == "{0}:P {1}:P"


def test_wide_then_small(m2: Node) -> None:
    """Example 2: a group offers only itself, and gives back to the lowest node first."""
    assert m2.hints("w", memory=12) == "{0,1}:P"
    m2.take("w", [0, 1])
    assert (m2.line(0), m2.line(1)) == ("0/9, 1, [0, 1]", "6/9, 1, [0, 1]")
    assert m2.hints("s", memory=1) == "{0,1}:n"
    m2.take("s", [0, 1], False)
    assert (m2.line(0), m2.line(1)) == ("0/9, 2, [0, 1]", "5/9, 2, [0, 1]")
    assert m2.hints("t", memory=7) == "no opinion"
    m2.state = remove(m2.manager, m2.state, "w", "c")
    assert (m2.line(0), m2.line(1)) == ("9/9, 1, [0, 1]", "8/9, 1, [0, 1]")
    m2.state = remove(m2.manager, m2.state, "s", "c")
    assert (m2.line(0), m2.line(1)) == ("9/9, 0, [0]", "9/9, 0, [1]")


@pytest.mark.parametrize(
    ("stored", "text"),
    [
        ([0], "failed to find NUMA nodes to extend the current topology hint"),
        (None, "failed to get the default NUMA affinity, no NUMA nodes with enough memory is available"),
        ([0, 1], "preferred hint violates NUMA node allocation"),
    ],
    ids=["too small a hint", "no mask", "a mask with a node in use alone"],
)
def test_small_then_wide(m2: Node, stored: list[int] | None, text: str) -> None:
    """Example 3: no mask qualifies, so there is no opinion, and allocation fails whatever the hint."""
    m2.take("s", [1], memory=1)
    before = m2.state
    assert m2.hints("w", memory=12) == "no opinion"
    with pytest.raises(AllocationError) as refused:
        m2.take("w", stored)
    assert refused.value.message == f"[memorymanager] {text}"
    assert m2.state == before


def test_huge_pages() -> None:
    """Example 4: one list for all resources; one count a resource."""
    node = Node(static([10, 10], {0: 1, 1: 1}, {0: {"1Gi": 0}, 1: {"1Gi": 4}}))
    assert node.hints("h", memory=2, hugepages_1Gi=2) == "{1}:P {0,1}:n"
    node.take("h", [1])
    assert node.line(1) == "3/5, 2, [1]"
    assert node.line(1, "hugepages-1Gi") == "2/4, 2, [1]"
    assert node.hints("k", memory=8, hugepages_1Gi=1) == "no opinion"


def test_init_containers_and_a_sidecar(m2: Node) -> None:
    """Example 5: later containers take over what finished init containers held."""
    sizes = {"init": 6, "side": 1, "init2": 7, "app": 4, "app2": 3}
    kinds = {"init": "init", "side": "sidecar", "init2": "init"}
    pod = pod_of("p", {name: (kinds.get(name, "app"), {"memory": size}) for name, size in sizes.items()})
    assert pod.memory == (("memory", 8 * GI),)
    steps = []
    for container in pod.containers:
        m2.give(pod, container, hint([0]))
        held = {name: blocks[0].size // GI for name, blocks in m2.state.entries["p"].items()}
        steps.append((m2.line(0), held, m2.state.reusable.get((1, "memory"), 0) // GI))
    assert steps == [
        ("3/9, 1, [0]", {"init": 6}, 6),
        ("3/9, 2, [0]", {"init": 5, "side": 1}, 5),
        ("1/9, 3, [0]", {"init": 0, "side": 1, "init2": 7}, 7),
        ("1/9, 4, [0]", {"init": 0, "side": 1, "init2": 3, "app": 4}, 3),
        ("1/9, 5, [0]", {"init": 0, "side": 1, "init2": 0, "app": 4, "app2": 3}, 0),
    ]
    m2.state = started(m2.manager, m2.state, pod)
    assert m2.line(0) == "1/9, 3, [0]"
    assert list(m2.state.entries["p"]) == ["side", "app", "app2"]


def test_scope_pod_after_a_restart(m2: Node) -> None:
    """Example 6: the first container's block is not the pod's request, so the pod has no opinion any more."""
    pod = pod_of("p", {"a": ("app", {"memory": 3}), "b": ("app", {"memory": 2})})
    assert shown(pod_hints(m2.manager, m2.state, pod)) == "{0}:P {1}:P {0,1}:n"
    for container in pod.containers:
        m2.give(pod, container, hint([0]))
    state = restart(m2.manager, m2.state)
    assert pod_hints(m2.manager, state, pod) == {}
    assert shown(container_hints(m2.manager, state, pod, pod.containers[0])) == "{0}:P"


def test_a_pod_with_one_container_keeps_its_hint_after_a_restart(m2: Node) -> None:
    m2.take("p", [1], memory=3)
    assert shown(pod_hints(m2.manager, restart(m2.manager, m2.state), m2.pod("p"))) == "{1}:P"


def test_extension() -> None:
    """Example 7: a mask that is too small grows to the best hint that contains it."""
    node = Node(static([10, 10, 10, 10], {0: 1, 1: 1}))
    pairs, wider = node.hints("x", memory=15).split(" ")[:6], node.hints("x").split(" ")[6:]
    assert pairs == ["{0,1}:P", "{0,2}:P", "{0,3}:P", "{1,2}:P", "{1,3}:P", "{2,3}:P"]
    assert wider == ["{0,1,2}:n", "{0,1,3}:n", "{0,2,3}:n", "{1,2,3}:n", "{0,1,2,3}:n"]
    node.take("x", [1])
    assert (node.line(0), node.line(1)) == ("0/9, 1, [0, 1]", "3/9, 1, [0, 1]")
    assert node.hints("y", memory=15) == "{2,3}:P"
    node.take("y", [2])
    assert node.state.entries["y"]["c"][0].mask == 0b1100


def test_the_hole(m2: Node) -> None:
    """Example 8: a hint of one node is never a violation, and takes the node out of its group."""
    m2.take("w", [0, 1], memory=12)
    assert m2.hints("s", memory=1) == "{0,1}:n"
    m2.take("s", [1], False)
    assert (m2.line(0), m2.line(1)) == ("0/9, 1, [0, 1]", "5/9, 2, [1]")
    assert m2.hints("t", memory=1) == "{1}:P"
    m2.state = remove(m2.manager, m2.state, "s", "c")
    assert m2.line(1) == "6/9, 1, [1]"
    assert m2.hints("u", memory=1) == "{1}:P"


def test_drift(m2: Node) -> None:
    """Example 9: memory goes back to the lowest node, not to where it came from; a restart passes."""
    m2.take("w", [0, 1], memory=12)
    m2.take("x", [0, 1], memory=4)
    assert m2.line(1) == "2/9, 2, [0, 1]"
    m2.state = remove(m2.manager, m2.state, "x", "c")
    assert (m2.line(0), m2.line(1)) == ("4/9, 1, [0, 1]", "2/9, 1, [0, 1]")
    restored = restart(m2.manager, m2.state)
    assert restored.free == m2.state.free


def test_preferred_by_allocatable() -> None:
    """Example 10: a size is best by what nodes could hold, not by what is free."""
    node = Node(static([5, 17, 16], {0: 1, 1: 1}))
    node.take("a", [1], memory=10)
    assert node.line(1) == "6/16, 1, [1]"
    assert node.hints("b", memory=8) == "{2}:P {0,2}:n"
    node.take("c", [2], memory=12)
    assert node.line(2) == "4/16, 1, [2]"
    assert node.hints("b") == "no opinion"


@pytest.mark.parametrize("amount", [1, 0], ids=["a request", "a request of nothing"])
def test_missing_page_size(amount: int) -> None:
    """Example 11: hint calculation crashes; allocation looks only at the nodes of its hint."""
    node = Node(static([10, 10], {0: 1, 1: 1}, {1: {"1Gi": 4}}))
    with pytest.raises(KubeletPanicError):
        node.hints("h", memory=1, hugepages_1Gi=amount)
    with pytest.raises(KubeletPanicError):
        node.take("h", [0])
    node.take("h", [1])
    assert node.state.entries["h"]["c"][0].size == amount * GI


def test_second_allocation_after_a_restart(m2: Node) -> None:
    """Example 12: init containers that have ended are allocated again, anywhere."""
    pod = pod_of("p", {"init": ("init", {"memory": 6}), "app": ("app", {"memory": 7})})
    for container in pod.containers:
        m2.give(pod, container, hint([0]))
    m2.state = started(m2.manager, m2.state, pod)
    assert m2.line(0) == "2/9, 1, [0]"
    state = restart(m2.manager, m2.state)
    init = pod.containers[0]
    assert shown(container_hints(m2.manager, state, pod, init)) == "{1}:P"
    m2.state = allocate(m2.manager, state, pod, init, hint([1]))
    assert m2.line(1) == "3/9, 1, [1]"
