"""What the CPU Manager refuses at start, word for word, and what it builds from a machine."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from numalign.errors import StartError
from numalign.kubelet.cpu import CPUManager, CPUState, check_reserved_online, initial_state, start, validate
from numalign.kubelet.cpu.manager import distribute
from numalign.kubelet.cpu.options import check_gate
from numalign.kubelet.cpu.topology import build
from numalign.kubelet.cpu.uncore import exact_fit
from numalign.kubelet.releases.v1_32 import V1_32
from numalign.model.cpuset import format_set, parse
from numalign.model.machine import Machine, NUMANode, Unit
from tests.kubelet.cpu.support import DISTNUMA, FULL, MA, MB, NANO, SOCKET, SPREAD, STRICT, UNCORE, manager, regular

TWO_SOCKETS_ONE_NODE = Machine(
    "two-sockets-one-node",
    (NUMANode(0, parse("0-3")),),
    (Unit(0, parse("0-1")), Unit(1, parse("2-3"))),
    tuple(1 << cpu for cpu in range(4)),
)


def try_start(
    machine: Machine = MA,
    policy: str = "static",
    options: Mapping[str, str] | None = None,
    gates: Mapping[str, bool] = {"CPUManagerPolicyAlphaOptions": True},
    topology_policy: str = "restricted",
    reserved: str = "",
    nano: int | None = NANO,
    waive: bool = False,
) -> CPUManager:
    return start(
        machine,
        policy=policy,
        options=options,
        gates=V1_32.gates_with(gates),
        levels=V1_32.levels("cpu"),
        topology_policy=topology_policy,
        reserved=parse(reserved),
        reservation_nano=nano,
        waive_reservation=waive,
        partial_fit=exact_fit,
        distribute=distribute,
    )


WRAPPED = "new static policy error: "
PAIR = "static policy options {} and {} can not be used at the same time"


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"policy": "Static"}, 'unknown policy: "Static"'),
        (
            {"policy": "none", "options": {"b": "2", "a": "x"}},
            "new none policy error: None policy: received unsupported options=map[a:x b:2]",
        ),
        ({"nano": None}, "[cpumanager] unable to determine reserved CPU resources for static policy"),
        (
            {"nano": 0},
            "[cpumanager] the static policy requires systemreserved.cpu + kubereserved.cpu to be greater than zero",
        ),
        ({"options": {"full": "1"}}, WRAPPED + 'unknown CPU Manager Policy option: "full"'),
        ({"options": {"no": "1", "full": "1"}}, WRAPPED + 'unknown CPU Manager Policy option: "full"'),
        (
            {"options": {SPREAD: "false"}, "gates": {}},
            WRAPPED + f'CPU Manager Policy Alpha-level Options not enabled, but option "{SPREAD}" provided',
        ),
        (
            {"options": {FULL: "false"}, "gates": {"CPUManagerPolicyBetaOptions": False}},
            WRAPPED + f'CPU Manager Policy Beta-level Options not enabled, but option "{FULL}" provided',
        ),
        (
            {"options": {FULL: "yes"}},
            WRAPPED + f'bad value for option "{FULL}": strconv.ParseBool: parsing "yes": invalid syntax',
        ),
        ({"options": {FULL: "1", SPREAD: "T"}}, WRAPPED + PAIR.format(FULL, SPREAD)),
        ({"options": {DISTNUMA: "1", SPREAD: "1"}}, WRAPPED + PAIR.format(DISTNUMA, SPREAD)),
        ({"options": {UNCORE: "1", SPREAD: "1", DISTNUMA: "1"}}, WRAPPED + PAIR.format(DISTNUMA, SPREAD)),
        ({"options": {UNCORE: "1", SPREAD: "1"}}, WRAPPED + PAIR.format(UNCORE, SPREAD)),
        ({"options": {UNCORE: "1", DISTNUMA: "1"}}, WRAPPED + PAIR.format(UNCORE, DISTNUMA)),
        (
            {"options": {SOCKET: "1"}, "topology_policy": "single-numa-node", "machine": TWO_SOCKETS_ONE_NODE},
            WRAPPED
            + "Topolgy manager single-numa-node policy is incompatible with CPUManager align-by-socket policy option",
        ),
        (
            {"options": {SOCKET: "1"}, "machine": TWO_SOCKETS_ONE_NODE},
            WRAPPED
            + "Align by socket is not compatible with hardware where number of sockets are more than number of NUMA",
        ),
        (
            {"nano": 9 * NANO},
            WRAPPED + "[cpumanager] unable to reserve the required amount of CPUs (size of  did not equal 9)",
        ),
        (
            {"nano": 3 * NANO, "reserved": "0,4"},
            WRAPPED + "[cpumanager] unable to reserve the required amount of CPUs (size of 0,4 did not equal 3)",
        ),
        ({"machine": Machine("empty", (NUMANode(0),))}, "could not detect number of cpus"),
    ],
)
def test_a_start_that_fails_says_so_in_the_kubelets_words(given: dict[str, object], text: str) -> None:
    with pytest.raises(StartError) as raised:
        try_start(**given)

    assert raised.value.message == text


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ({"policy": "x"}, {"nano": None}),
        ({"nano": None}, {"options": {"full": "1"}}),
        ({"options": {"full": "1"}}, {"nano": 99 * NANO}),
        ({"options": {FULL: "1", SPREAD: "1"}}, {"nano": 99 * NANO}),
    ],
    ids=["policy before reservation", "reservation before options", "options before size", "pairs before size"],
)
def test_the_first_failure_wins(earlier: dict[str, object], later: dict[str, object]) -> None:
    """docs/rules/cpu-manager.md 2.5 item 5."""
    with pytest.raises(StartError) as alone:
        try_start(**earlier)
    with pytest.raises(StartError) as both:
        try_start(**{**later, **earlier})

    assert both.value.message == alone.value.message


@pytest.mark.parametrize("options", [{FULL: "true", DISTNUMA: "1"}, {FULL: "1", UNCORE: "1", STRICT: "1", SOCKET: "1"}])
def test_other_pairs_of_options_are_legal(options: dict[str, str]) -> None:
    assert try_start(options=options).static


@pytest.mark.parametrize(("nano", "number"), [(NANO, 1), (1001 * 10**6, 2), (500 * 10**6, 1), (100_000, 1)])
def test_the_reservation_is_rounded_up_to_whole_cpus(nano: int, number: int) -> None:
    assert try_start(nano=nano).reserved.bit_count() == number


def test_an_ideal_node_reserves_nothing() -> None:
    started = try_start(nano=None, waive=True)

    assert (started.reserved, initial_state(started).default) == (0, parse("0-7"))


def test_a_reservation_that_never_ends_is_a_failed_start() -> None:
    """docs/rules/cpu-manager.md 8.31 at start: four nodes of five CPUs, in cores of three and of two."""
    nodes = tuple(NUMANode(i, 0b11111 << 5 * i) for i in range(4))
    sockets = (Unit(0, nodes[0].cpus | nodes[1].cpus), Unit(1, nodes[2].cpus | nodes[3].cpus))
    cores = tuple(core << 5 * i for i in range(4) for core in (0b111, 0b11000))

    with pytest.raises(StartError, match="would hang"):
        manager(Machine("odd-nodes", nodes, sockets, cores), DISTNUMA, FULL, count=14)


def test_the_policy_none_has_no_opinion_and_no_checks() -> None:
    started = try_start(machine=Machine("empty", ()), policy="none", options={}, nano=None)

    assert not started.static
    assert validate(started, CPUState(0)) == CPUState(0)


def test_a_reserved_core_is_physically_reserved_as_a_whole() -> None:
    assert format_set(manager(MB, reserved="0,4").physically_reserved) == "0,4,8,12"


def test_reserved_cpus_must_be_online() -> None:
    check_reserved_online("0,4", parse("0,4"), MA)
    with pytest.raises(StartError) as raised:
        check_reserved_online("7,8", parse("7-8"), MA)

    assert raised.value.message == "reserved-cpus: 7,8 is not a subset of online-cpus: 0-7"


def test_options_can_be_gated_off_altogether() -> None:
    off = V1_32.gates_with({"CPUManagerPolicyOptions": False})

    check_gate(None, off)
    with pytest.raises(StartError) as raised:
        check_gate({}, off)

    assert raised.value.message == (
        'CPU Manager policy options map[] require feature gates "CPUManager", "CPUManagerPolicyOptions" enabled'
    )


@pytest.mark.parametrize(
    ("state", "text"),
    [
        (
            CPUState(parse("0-5"), {"u": {"c": parse("5-7")}}),
            'pod: u, container: c cpuset: "5-7" overlaps with default cpuset "0-5"',
        ),
        (
            CPUState(parse("0-5"), {"u": {"c": parse("6")}}),
            'current set of available CPUs "0-7" doesn\'t match with CPUs in state "0-6"',
        ),
        (CPUState(parse("0-8")), 'current set of available CPUs "0-7" doesn\'t match with CPUs in state "0-8"'),
        (CPUState(0, {"u": {"c": parse("0-7")}}), "default cpuset cannot be empty"),
    ],
)
def test_a_restored_state_has_to_fit(state: CPUState, text: str) -> None:
    with pytest.raises(StartError) as raised:
        validate(manager(MA, reserved="0,4"), state)

    assert raised.value.message == text


def test_overlapping_assignments_and_an_empty_state_are_fine() -> None:
    """Init containers and those that reuse their CPUs overlap (docs/rules/cpu-manager.md 4.5)."""
    started = manager(MA, reserved="0,4")
    shared = CPUState(parse("0-3,4"), {"u": {"i": parse("5-7"), "c": parse("6-7")}})

    assert validate(started, shared) is shared
    assert validate(started, CPUState(0)) == initial_state(started)


def test_a_core_on_two_nodes_is_a_core_of_each() -> None:
    topology = build(
        Machine(
            "torn-core",
            (NUMANode(0, parse("0-2")), NUMANode(1, parse("3-5"))),
            (Unit(0, parse("0-5")),),
            (parse("0,3"), parse("1,4"), parse("2,5")),
        )
    )

    assert sorted(topology.cores) == [0, 1, 2, 3, 4, 5]
    assert topology.cpus_per_core == 1


def test_cores_without_a_cache_use_their_socket_as_cache() -> None:
    """A cache and a socket of equal id are one unit (docs/rules/cpu-manager.md 1.3)."""
    machine = regular(1, 1, 4, 1)._replace(uncore_caches=(Unit(0, parse("0")), Unit(7, parse("1"))))

    assert build(machine).uncores == (Unit(0, parse("0,2-3")), Unit(7, parse("1")))


def test_nodes_without_cpus_do_not_count() -> None:
    machine = MB._replace(numa_nodes=(*MB.numa_nodes, NUMANode(9, 0)))

    assert [node.id for node in build(machine).nodes] == [0, 1]
    assert not build(machine).socket_first
