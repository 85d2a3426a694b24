"""A node's state from what its PodResources API reports (docs/rules/podresources.md 4): what was held is held again."""

from __future__ import annotations

import pytest

from numalign.kubelet.admission import Session, admit, open_session
from numalign.kubelet.memory.state import Block
from numalign.kubelet.setup import Setup
from numalign.kubelet.start.reported import Reported, state_of
from tests.analysis.support import GPU, NIC, STATIC, config, limits, machine, pod_of

PODS = (
    pod_of("q", a=limits(3, "20Gi", gpu=1, nic=1)),
    pod_of("p", a=limits(2, "1Gi", gpu=1), b=limits(1, "2Gi")),
)


def living(policy: str = "best-effort", **more: object) -> Session:
    """Figure 1 with both pods."""
    session = open_session(Setup(machine("figure-1"), config(policy, **more), "ideal"), fit_check=False)
    for one in PODS:
        found = admit(session, one)
        assert found.admit, found.message
        session = found.then
    return session


def told(session: Session) -> list[Reported]:
    """What the API would report of its containers."""
    state, resources = session.state, session.node.device.resources
    return [
        Reported(
            pod.uid,
            one.name,
            state.cpu.assigned(pod.uid, one.name) or 0,
            state.memory.blocks(pod.uid, one.name) or (),
            {
                name: frozenset(
                    device.id for place, device in enumerate(resources[name].devices) if members >> place & 1
                )
                for name, members in state.device.holdings.get(pod.uid, {}).get(one.name, {}).items()
            },
        )
        for pod in session.pods
        for one in pod.containers
    ]


def test_what_containers_hold_is_theirs_again() -> None:
    session = living(**STATIC)
    state = state_of(session.node, told(session))

    assert state.cpu.default == session.state.cpu.default
    assert state.cpu.assignments == session.state.cpu.assignments
    assert state.memory.entries == session.state.memory.entries
    assert state.device.holdings == session.state.device.holdings
    assert state.device.allocated == session.state.device.allocated
    assert {GPU, NIC} == set(state.device.allocated)


def test_free_memory_is_what_it_was_over_the_nodes_of_a_group() -> None:
    session = living(**STATIC)
    state = state_of(session.node, told(session))

    for place in session.node.memory.places.values():
        assert sum(state.memory.free[place]) == sum(session.state.memory.free[place])


def test_memory_of_one_node_is_taken_from_it_once() -> None:
    empty = open_session(Setup(machine("figure-1"), config("best-effort", **STATIC), "ideal"), fit_check=False)
    place = empty.node.memory.places["memory"]
    block = Block(0b1, "memory", 1 << 30)
    state = state_of(empty.node, [Reported("u", "c", 0, (block,), {})])

    assert empty.state.memory.free[place][0] - state.memory.free[place][0] == block.size
    assert state.memory.free[place][1:] == empty.state.memory.free[place][1:]


@pytest.mark.parametrize("order", [1, -1])
def test_the_order_does_not_matter(order: int) -> None:
    session = living(**STATIC)
    assert (
        state_of(session.node, told(session)[::order]).memory.free == state_of(session.node, told(session)).memory.free
    )


def test_what_no_manager_hands_out_is_nobody_s() -> None:
    session = living("none", cpu_manager_policy="none")
    pinned = living(**STATIC)
    state = state_of(session.node, told(pinned))

    assert state.cpu.assignments == {}
    assert state.cpu.default == session.node.cpu.all_cpus
    assert state.memory.entries == {}
    assert state.device.allocated == pinned.state.device.allocated


def test_nobody_holds_anything() -> None:
    node = living().node
    state = state_of(node, [])
    assert (state.cpu.default, state.device.allocated) == (node.cpu.all_cpus, {})


def test_only_devices_that_are_held_are_taken() -> None:
    session = living()
    last = session.node.device.resources[GPU].devices[-1]
    state = state_of(session.node, [Reported("u", "c", 0, (), {GPU: frozenset({last.id})})])
    assert state.device.allocated == {GPU: 1 << len(session.node.device.resources[GPU].devices) - 1}
    assert state.cpu.assignments == {}
