"""The worked examples of docs/rules/cpu-manager.md 14: every result was recorded from a kubelet."""

from __future__ import annotations

import pytest

from numalign.errors import StartError
from numalign.kubelet.cpu import (
    CPUState,
    allocate,
    container_hints,
    initial_state,
    oddities,
    remove,
    validate,
)
from numalign.kubelet.cpu.allocate import NOT_FREE, POOL_EMPTY
from numalign.kubelet.errors import AllocationError, KubeletHangError
from numalign.kubelet.topology.hints import CANNOT_FIT, HintFamily, TopologyHint, expand
from numalign.model.cpuset import format_set, ids, parse
from numalign.model.machine import Machine
from tests.kubelet.cpu.support import (
    DISTNUMA,
    FULL,
    MA,
    MB,
    MC,
    MD,
    ME,
    MF,
    MG,
    SOCKET,
    SPREAD,
    STRICT,
    TEN_NODES,
    UNCORE,
    Node,
    container,
    manager,
    pod,
)


@pytest.mark.parametrize(
    ("count", "options", "reserved"),
    [
        (1, [], "0"),
        (2, [], "0,8"),
        (3, [], "0-1,8"),
        (5, [], "0-2,8-9"),
        (8, [], "0-3,8-11"),
        (9, [], "0-4,8-11"),
        (2, [SPREAD], "0-1"),
        (3, [SPREAD], "0-2"),
        (3, [DISTNUMA], "0-1,8"),
    ],
)
def test_e1_computed_reservation_follows_the_options(count: int, options: list[str], reserved: str) -> None:
    started = manager(MB, *options, count=count)

    assert format_set(started.reserved) == reserved
    assert format_set(initial_state(started).default) == "0-15"


def test_e1_strict_reservation_leaves_the_reserved_cpus_out_of_the_pool() -> None:
    assert format_set(initial_state(manager(MB, STRICT, count=2)).default) == "1-7,9-15"


@pytest.mark.parametrize(("count", "reserved"), [(2, "0,4"), (1, "0"), (3, "0-1,4")])
def test_the_reservation_starts_at_the_lowest_core(count: int, reserved: str) -> None:
    """docs/rules/cpu-manager.md 2.8."""
    assert format_set(manager(MA, count=count).reserved) == reserved


def test_e2_packed_is_best_fit() -> None:
    node = Node(MB, reserved="0,8")

    story = [(node.ask(n), node.pool) for n in (2, 1, 8, 1, 3)]

    assert story == [
        ("1,9", "0,2-8,10-15"),
        ("2", "0,3-8,10-15"),
        ("4-7,12-15", "0,3,8,10-11"),
        ("10", "0,3,8,11"),
        ("not enough cpus available to satisfy request: requested=3, available=2", "0,3,8,11"),
    ]


@pytest.mark.parametrize(("n", "cpus"), [(7, "1-4,9-11"), (10, "1,4-7,9,12-15")])
def test_e2_whole_nodes_come_first(n: int, cpus: str) -> None:
    assert Node(MB, reserved="0,8").ask(n) == cpus


@pytest.mark.parametrize(
    ("nodes", "cpus"), [((0,), "1-5,9-13"), ((1,), "1,4-7,9,12-15"), ((0, 1), "1,4-7,9,12-15"), ((), "1,4-7,9,12-15")]
)
def test_e3_a_mask_is_a_preference_and_no_limit(nodes: tuple[int, ...], cpus: str) -> None:
    assert Node(MB, reserved="0,8").ask(10, *nodes) == cpus


def test_e3_full_cores_may_still_end_in_lone_threads() -> None:
    assert Node(MB, FULL, free="1-2,9,4-7,12-15").ask(4, 0) == "1-2,4,9"


def test_a_mask_of_unknown_nodes_is_as_no_mask_but_for_the_numbers_of_an_error() -> None:
    """docs/rules/cpu-manager.md 7.7."""
    node = Node(MB, reserved="0,8")

    assert node.ask(15) == "not enough cpus available to satisfy request: requested=15, available=14"
    assert node.ask(15, 0, 1) == "not enough cpus available to satisfy request: requested=1, available=0"
    assert node.ask(10, 7) == Node(MB, reserved="0,8").ask(10)


def test_e4_spread_takes_the_cpus_of_a_socket_by_id() -> None:
    node = Node(MB, SPREAD, reserved="0,8")

    assert [node.ask(n) for n in (3, 4, 8)] == [
        "1-3",
        "4,9-11",
        "not enough cpus available to satisfy request: requested=8, available=7",
    ]
    assert Node(MA, SPREAD, reserved="0").ask(4) == "1-4"


@pytest.mark.parametrize(
    ("n", "answer"),
    [
        (3, "SMT Alignment Error: requested 3 cpus not multiple cpus per core = 2"),
        (
            14,
            (
                "SMT Alignment Error: not enough free physical CPUs: "
                "available physical CPUs = 12, requested CPUs = 14, CPUs per core = 2"
            ),
        ),
        (12, "1-3,5-7,9-11,13-15"),
    ],
)
def test_e5_full_cores_refuses_what_would_share_a_core(n: int, answer: str) -> None:
    assert Node(MB, FULL, reserved="0,4").ask(n) == answer


def test_e5_full_cores_refuses_even_what_a_container_holds_already() -> None:
    node = Node(MA, FULL, reserved="0,4")
    node.state = CPUState(parse("0,3-4,7"), {"p": {"c": parse("1-2,5-6")}})

    answer = node.ask(4, uid="p")

    assert "available physical CPUs = 2, requested CPUs = 4" in answer


def test_without_the_option_a_container_keeps_what_it_holds() -> None:
    node = Node(MA, reserved="0,4")
    node.state = CPUState(parse("0,4-7"), {"p": {"c": parse("1-3")}})
    assert node.ask(3, uid="p") == "1-3"


@pytest.mark.parametrize(("options", "part"), [([FULL], "available physical CPUs = 0"), ([], "1-3,5-7")])
def test_e5_full_cores_does_not_count_what_could_be_reused(options: list[str], part: str) -> None:
    node = Node(MA, *options, reserved="0,4")

    assert node.ask(6, uid="p", name="i", kind="init") == "1-3,5-7"
    assert part in node.ask(6, uid="p")


@pytest.mark.parametrize(
    ("free", "n", "options", "cpus"),
    [
        ("1-7,9-15", 4, [UNCORE], "1-2,9-10"),
        ("3-7,11-15", 8, [UNCORE], "4-7,12-15"),
        ("1-7,9-15", 10, [UNCORE], "1,4-7,9,12-15"),
        ("1-7,9-15", 10, [], "1-5,9-13"),
        ("1-2,4-6,8-10,12-14", 4, [UNCORE], "4-5,12-13"),
        ("1-2,4-6,8-10,12-14", 4, [], "1-2,9-10"),
        ("0-15", 3, [UNCORE], "0-1,8"),
    ],
)
def test_e6_uncore_keeps_a_request_within_one_cache(free: str, n: int, options: list[str], cpus: str) -> None:
    assert Node(MD, *options, free=free).ask(n) == cpus


@pytest.mark.parametrize(("n", "cpus"), [(6, "2-5,10,12"), (7, "2-5,10-12"), (9, "2-7,10,12,14")])
def test_e7_distribution_evens_out_the_nodes(n: int, cpus: str) -> None:
    assert Node(MC, DISTNUMA, reserved="0,8").ask(n) == cpus


@pytest.mark.parametrize(("reserved", "cpus"), [("0,8", "2-4,10-12"), ("", "0-2,8-10")])
def test_e8_distribution_in_whole_cores(reserved: str, cpus: str) -> None:
    assert Node(MC, DISTNUMA, FULL, reserved=reserved).ask(6) == cpus


def test_e8_distribution_falls_back_to_packed() -> None:
    assert Node(MB, DISTNUMA, free="0-1,4-7,12-15").ask(9) == "0,4-7,12-15"


@pytest.mark.parametrize(("n", "cpus"), [(12, "4-15"), (16, "4-15,28-31"), (14, "4-14,28-30")])
def test_e9_stored_combinations_are_overwritten(n: int, cpus: str) -> None:
    assert Node(ME, DISTNUMA, reserved="0").ask(n) == cpus


def test_e9_an_overwritten_combination_may_not_have_enough() -> None:
    free = ",".join(f"{5 * node + (node > 3)}-{5 * node + 4}" for node in range(10))

    assert Node(TEN_NODES, DISTNUMA, free=free).ask(20) == ("accounting error, not enough CPUs allocated, remaining: 5")


def test_e10_the_remainder_search_hangs() -> None:
    with pytest.raises(KubeletHangError, match="never ends"):
        Node(MG, DISTNUMA, FULL, reserved="0,3,6,9").ask(14)


def test_e11_later_containers_reuse_the_cpus_of_init_containers() -> None:
    node = Node(MB, reserved="0,8")
    parts = [("i1", 4, "init"), ("s1", 1, "sidecar"), ("i2", 2, "init"), ("c1", 2, "app"), ("c2", 3, "app")]

    story = []
    for name, n, kind in parts:
        cpus = node.ask(n, uid="p", name=name, kind=kind)
        story.append((cpus, format_set(node.state.reusable("p")), node.pool))

    assert story == [
        ("1-2,9-10", "1-2,9-10", "0,3-8,11-15"),
        ("1", "2,9-10", "0,3-8,11-15"),
        ("2,10", "2,9-10", "0,3-8,11-15"),
        ("2,10", "9", "0,3-8,11-15"),
        ("3,9,11", "", "0,4-8,12-15"),
    ]

    pools = []
    for name in ("i1", "s1", "i2", "c1", "c2"):
        node.state = remove(node.state, "p", name)
        pools.append(node.pool)

    assert pools == ["0,4-8,12-15", "0-1,4-8,12-15", "0-1,4-8,12-15", "0-2,4-8,10,12-15", "0-15"]


def test_e11_hints_cover_the_nodes_of_the_reuse_set() -> None:
    node = Node(MB, reserved="0,8")
    node.ask(4, uid="p", name="i1", kind="init")

    assert hints_of(node, "s1", 1, uid="p") == "{0}P {0,1}"


@pytest.mark.parametrize(
    ("n", "hints"), [(6, "{0}P {1}P {0,1}"), (8, "{1}P {0,1}"), (9, "{0,1}P"), (15, str(CANNOT_FIT))]
)
def test_e12_hints_look_at_the_machine_for_preference(n: int, hints: str) -> None:
    assert hints_of(Node(MB, reserved="0,8"), "c", n) == hints


def test_e12_no_hint_is_preferred_where_every_node_is_cut() -> None:
    node = Node(MC, reserved="0,2,4,6")

    assert "P" not in hints_of(node, "c", 4)
    assert hints_of(node, "c", 4).startswith("{0,1} ")
    assert hints_of(node, "c", 3).startswith("{0}P {1}P {2}P {3}P {0,1} ")


@pytest.mark.parametrize(
    ("n", "preferred"),
    [
        (2, "{0} {1} {2} {3} {0,1} {2,3}"),
        (5, "{0,1} {0,2} {0,3} {1,2} {1,3} {2,3}"),
        (9, "{0,1,2} {0,1,3} {0,2,3} {1,2,3} {0,1,2,3}"),
    ],
)
def test_e13_socket_alignment_prefers_more(n: int, preferred: str) -> None:
    hints = hints_of(Node(MC, SOCKET, reserved="0,8"), "c", n).split()

    assert " ".join(hint.removesuffix("P") for hint in hints if hint.endswith("P")) == preferred


@pytest.mark.parametrize(("options", "cpus"), [([SOCKET], "2-3,10-11"), ([], "1,4,9,12")])
def test_e13_the_aligned_set_is_the_socket(options: list[str], cpus: str) -> None:
    assert Node(MC, *options, free="1-5,9-12").ask(4, 0) == cpus


def test_e14_strict_reservation_may_empty_the_pool() -> None:
    node = Node(MA, STRICT, reserved="0,4")
    before = node.state

    assert node.pool == "1-3,5-7"
    assert node.ask(6, uid="p") == "1-3,5-7"
    assert node.pool == ""
    assert oddities(node.manager, before, node.state, pod("p"), container("c", 6)) == (POOL_EMPTY,)
    with pytest.raises(StartError, match=r"^default cpuset cannot be empty$"):
        validate(node.manager, node.state)


@pytest.mark.parametrize(
    ("options", "default", "text"),
    [
        ([STRICT], "0-7", 'some of strictly reserved cpus: "0,4" are present in defaultCpuSet: "0-7"'),
        ([], "1-3,5-7", 'not all reserved cpus: "0,4" are present in defaultCpuSet: "1-3,5-7"'),
    ],
)
def test_e14_switching_strict_reservation_stops_the_kubelet(options: list[str], default: str, text: str) -> None:
    with pytest.raises(StartError) as raised:
        validate(manager(MA, *options, reserved="0,4"), CPUState(parse(default)))

    assert raised.value.message == text


def test_e15_hybrid_cores_are_misjudged() -> None:
    node = Node(MF, reserved="4")

    assert node.ask(1) == "5"
    assert node.ask(3) == "0,6-7"
    before = node.state
    assert node.ask(2, uid="p") == "0-1"
    assert oddities(node.manager, before, node.state, pod("p"), container("c", 2)) == (NOT_FREE,)


def hints_of(node: Node, name: str, cpus: int, uid: str = "new") -> str:
    """Write the hints for a container as in the examples."""
    one = container(name, cpus)
    hints = container_hints(node.manager, node.state, pod(uid, one), one)["cpu"]
    if not isinstance(hints, HintFamily):
        return str(hints)
    return " ".join(
        f"{{{','.join(map(str, ids(hint.numa_affinity or 0)))}}}{'P' if hint.preferred else ''}"
        for hint in expand(hints)
    )


def test_smt_alignment_errors_have_their_own_reason() -> None:
    node = Node(MB, FULL, reserved="0,8")
    one = container("c", 3)

    with pytest.raises(AllocationError) as raised:
        allocate(node.manager, node.state, pod("p", one), one, TopologyHint(None, preferred=True))

    assert raised.value.reason == "SMTAlignmentError"


@pytest.mark.parametrize("machine", [MA, MB, MC, MD, ME, MF, MG])
def test_cpu_0_alone_is_found(machine: Machine) -> None:
    """Whatever the order of nodes, sockets and caches begins with (8.6)."""
    for options in ((), (UNCORE,), (SPREAD,)):
        assert Node(machine, *options, free="0").ask(1) == "0"
