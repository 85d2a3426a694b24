"""What holds for every machine and every story of allocations and removals."""

from __future__ import annotations

from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.kubelet.cpu import (
    CPUManager,
    CPUState,
    allocate,
    container_hints,
    initial_state,
    oddities,
    pod_hints,
    remove,
    remove_pod,
)
from numalign.kubelet.cpu.allocate import NOT_FREE, POOL_EMPTY, TOO_FEW
from numalign.kubelet.cpu.hints import sets_tried
from numalign.kubelet.cpu.orders import cores_by_free
from numalign.kubelet.cpu.topology import build
from numalign.kubelet.errors import AllocationError, KubeletHangError
from numalign.kubelet.topology.hints import CANNOT_FIT, HintFamily, TopologyHint
from numalign.model.cpuset import format_set, ids, parse
from numalign.model.machine import Machine, NUMANode, Unit
from tests.dice import draws
from tests.kubelet.cpu.support import (
    DISTNUMA,
    FULL,
    MB,
    MC,
    SOCKET,
    SPREAD,
    STRICT,
    UNCORE,
    Node,
    container,
    held,
    manager,
    pod,
    regular,
)

machines = st.builds(
    regular,
    st.sampled_from([1, 2]),
    st.sampled_from([1, 2, 4]),
    st.sampled_from([2, 4]),
    st.sampled_from([1, 2, 4]),
    st.sampled_from([0, 1, 2]),
)
option_sets = st.sampled_from(
    [(), (FULL,), (DISTNUMA,), (FULL, DISTNUMA), (SPREAD,), (UNCORE,), (FULL, UNCORE, STRICT), (SOCKET, STRICT)]
)
stories = st.lists(st.tuples(st.integers(1, 12), st.one_of(st.none(), st.integers(1, 15)), st.booleans()), max_size=8)


@draws(80)
@given(machines, option_sets, stories)
def test_cpus_are_partitioned(
    machine: Machine, options: tuple[str, ...], story: list[tuple[int, int | None, bool]]
) -> None:
    """On a regular machine every CPU is shared or has one holder; who asks for n gets n or nothing."""
    started = manager(machine, *options, reserved="0")
    state = initial_state(started)
    for number, (n, mask, removes) in enumerate(story):
        one = container("c", n)
        owner = pod(f"p{number}", one)
        try:
            after = allocate(started, state, owner, one, TopologyHint(mask, preferred=True))
        except (AllocationError, KubeletHangError):
            continue
        assert oddities(started, state, after, owner, one) in ((), ("cpu-shared-pool-empty",))
        given_out = after.assigned(owner.uid, "c") or 0
        assert given_out.bit_count() == n
        assert given_out & state.default == given_out
        assert not given_out & started.reserved
        assert after.default == state.default & ~given_out
        assert remove(after, owner.uid, "c")._replace(reuse_uid="", reuse=0) == state._replace(reuse_uid="", reuse=0)
        state = reduce(remove_pod, after.assignments, after) if removes else after
        union = state.default
        for containers in state.assignments.values():
            for cpus in containers.values():
                assert not cpus & union
                union |= cpus
        assert union == started.all_cpus


@draws(60)
@given(machines, st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_hints_are_the_sets_of_nodes_with_enough_free(machine: Machine, n: int, used: int) -> None:
    """docs/rules/cpu-manager.md 6.3, done literally."""
    started = manager(machine, reserved="0")
    state = CPUState(machine.cpus & ~used | 1)
    one = container("c", n)

    hints = container_hints(started, state, pod("p", one), one)["cpu"]

    nodes = {1 << node.id: node.cpus for node in machine.numa_nodes}
    for mask in range(1, sum(nodes) + 1):
        inside = sum(cpus for bit, cpus in nodes.items() if bit & mask)
        enough = (inside & state.default & ~1).bit_count() >= n
        assert enough == (isinstance(hints, HintFamily) and hints.has(mask))
    if isinstance(hints, HintFamily):
        sizes = sorted((cpus.bit_count() for cpus in nodes.values()), reverse=True)
        assert hints.width == next((k for k in range(1, len(sizes)) if sum(sizes[:k]) >= n), len(sizes))
    else:
        assert hints == CANNOT_FIT


@given(machines, st.integers(0, 2**64 - 1))
def test_free_cpus_of_all_cores_are_counted_at_once(machine: Machine, free: int) -> None:
    topology = build(machine)

    by_count = cores_by_free(topology, free)

    counted = {core: count for count, members in enumerate(by_count) for core in ids(members)}
    assert counted == {core: (cpus & free).bit_count() for core, cpus in topology.cores.items()}


def test_removing_what_is_not_there_changes_nothing() -> None:
    node = Node(MB, reserved="0")
    node.ask(2, uid="p")

    assert remove(node.state, "p", "other") is node.state
    assert remove(node.state, "q", "c") is node.state
    assert remove_pod(node.state, "q") is node.state


def test_states_do_not_change() -> None:
    node = Node(MB, reserved="0")
    before = node.state

    node.ask(4)

    assert held(before) == {}
    assert format_set(before.default) == "0-15"


def test_another_pods_allocation_drops_the_reuse_set() -> None:
    """docs/rules/cpu-manager.md 9.2 item 1."""
    node = Node(MB, reserved="0")
    node.ask(4, uid="p", name="i", kind="init")

    node.ask(1, uid="q")

    assert node.state.reusable("p") == 0


def test_reuse_sets_are_rebuilt_when_pods_are_admitted_again() -> None:
    """docs/rules/cpu-manager.md 7.4 and 9.7."""
    node = Node(MB, reserved="0")
    node.ask(4, uid="p", name="i", kind="init")
    expected = node.state.reuse
    node.state = node.state._replace(reuse_uid="", reuse=0)

    node.ask(4, uid="p", name="i", kind="init")

    assert node.state.reusable("p") == expected


def test_an_assignment_of_another_size_cannot_be_hinted() -> None:
    """docs/rules/cpu-manager.md 6.1 item 2 and 6.2 item 2."""
    node = Node(MB, reserved="0")
    node.ask(4, uid="p")
    more = container("c", 5)

    assert container_hints(node.manager, node.state, pod("p", more), more) == {"cpu": CANNOT_FIT}
    assert pod_hints(node.manager, node.state, pod("p", more)) == {"cpu": CANNOT_FIT}


def test_what_a_pod_holds_is_its_hint() -> None:
    node = Node(MC, reserved="0")
    node.ask(4, 2, uid="p")
    one = container("c", 4)

    for hints in (
        container_hints(node.manager, node.state, pod("p", one), one)["cpu"],
        pod_hints(node.manager, node.state, pod("p", one))["cpu"],
    ):
        assert isinstance(hints, HintFamily)
        assert [mask for mask in range(1, 16) if hints.has(mask)] == [mask for mask in range(1, 16) if mask & 4]


@pytest.mark.parametrize(("cpus", "expected"), [(0, {}), (2, {})])
def test_no_exclusive_cpus_is_no_opinion(cpus: int, expected: dict[str, object]) -> None:
    node = Node(MB, reserved="0")
    started = node.manager if cpus == 0 else node.manager._replace(policy="none")
    one = container("c", cpus)

    assert container_hints(started, node.state, pod("p", one), one) == expected
    assert pod_hints(started, node.state, pod("p", one)) == expected
    assert allocate(started, node.state, pod("p", one), one, TopologyHint(None, preferred=True)) is node.state


def test_a_socket_of_two_nodes_is_claimed_twice_and_gives_too_few() -> None:
    """A unit that lies in two parents is listed twice, and counts twice (docs/rules/cpu-manager.md 8.3, 8.6)."""
    torn = Machine(
        "torn-sockets",
        (NUMANode(0, parse("0-3")), NUMANode(1, parse("4-7")), NUMANode(2, parse("8-11"))),
        (Unit(0, parse("0-1,4-5")), Unit(1, parse("2-3,6-7")), Unit(2, parse("8-11"))),
        tuple(1 << cpu for cpu in range(12)),
    )
    node = Node(torn, free="0-1,3-5,7,9-11")
    before = node.state

    assert node.ask(8, uid="p") == "0-1,4-5"
    assert oddities(node.manager, before, node.state, pod("p"), container("c", 8)) == (TOO_FEW,)


def test_of_what_a_container_has_already_nothing_is_odd() -> None:
    """It was told when it got them."""
    started = manager(MB)
    state = CPUState(0, {"p": {"c": started.all_cpus}})
    assert oddities(started, state, state, pod("p"), container("c", 99)) == ()
    assert oddities(started, CPUState(0), state, pod("p"), container("c", 99)) == (TOO_FEW, NOT_FREE, POOL_EMPTY)


def test_where_no_cpus_are_exclusive_nothing_is_odd() -> None:
    started = CPUManager("none")
    state = initial_state(started)
    assert oddities(started, state, state, pod("p", container("c", 8)), container("c", 8)) == ()


def test_all_sets_of_nodes_with_cpus_are_tried_for_exclusive_cpus() -> None:
    started, none = manager(MC), CPUManager("none")
    exclusive, shared = container("c", 2), container("s", 0)
    both, only = pod("p", exclusive, shared), pod("q", shared)
    asked = ((both, exclusive), (both, None), (both, shared), (only, None))
    assert [sets_tried(started, initial_state(started), *one) for one in asked] == [15, 15, 0, 0]
    assert [sets_tried(none, initial_state(none), *one) for one in asked] == [0] * 4


@pytest.mark.parametrize(("amount", "fits"), [(1, False), (2, True), (3, False)])
def test_who_has_another_number_of_cpus_than_it_asks_for_cannot_fit(amount: int, fits: bool) -> None:
    """docs/rules/cpu-manager.md 6.1 and 6.2: it may have less or more after a restart."""
    started, one = manager(MC), container("c", amount)
    state = CPUState(started.all_cpus & ~0b1100, {"p": {"c": 0b1100}}, "p", 0b110000)
    for hints in (container_hints(started, state, pod("p", one), one), pod_hints(started, state, pod("p", one))):
        assert (hints["cpu"] != CANNOT_FIT) is fits
        if isinstance(hints["cpu"], HintFamily):
            assert [hints["cpu"].has(mask) for mask in (0b0001, 0b0010, 0b1101, 0b0110)] == [False, True, False, True]
