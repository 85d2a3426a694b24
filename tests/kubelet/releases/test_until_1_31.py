"""When gates came on before 1.32, of whose rules there is no page: from the notes of their releases."""

from __future__ import annotations

import pytest

from numalign.kubelet.releases.early_merge import best_of_2019, combine_until_1_23, prefer_single_nodes
from numalign.kubelet.releases.table import kubelet
from numalign.kubelet.topology.hints import HintList, TopologyHint

# Gate, the first release in which it is on without being set, the first that knows it no more.
ON = [
    ("TopologyManager", 18, 29),
    ("CPUManagerPolicyOptions", 23, None),
    ("TopologyManagerPolicyOptions", 28, None),
    ("TopologyManagerPolicyBetaOptions", 28, None),
]
ALWAYS = ("CPUManager", "MemoryManager", "CPUManagerPolicyBetaOptions")
NEVER = ("CPUManagerPolicyAlphaOptions", "TopologyManagerPolicyAlphaOptions", "PodLevelResources")


@pytest.mark.parametrize(("name", "first", "gone"), ON, ids=[row[0] for row in ON])
def test_a_gate_is_on_from_its_release_until_it_goes(name: str, first: int, gone: int | None) -> None:
    for minor in range(16, 32):
        gate = kubelet((1, minor)).gates.get(name)
        if gone is not None and minor >= gone:
            assert gate is None, minor
        else:
            assert gate is not None
            assert gate.default is (minor >= first), minor


@pytest.mark.parametrize("minor", range(16, 32))
def test_what_is_on_and_off_in_all_of_them(minor: int) -> None:
    gates = kubelet((1, minor)).gates

    assert {name: gates[name].default for name in (*ALWAYS, *NEVER)} == {
        **dict.fromkeys(ALWAYS, True),
        **dict.fromkeys(NEVER, False),
    }


# Gate, stage, its first and its last release before 1.33 at that stage.
STAGES = [
    ("TopologyManager", "alpha", 16, 17),
    ("TopologyManager", "beta", 18, 26),
    ("TopologyManager", "GA", 27, 28),
    ("CPUManagerPolicyOptions", "alpha", 16, 22),
    ("CPUManagerPolicyOptions", "beta", 23, 32),
    ("TopologyManagerPolicyOptions", "alpha", 16, 27),
    ("TopologyManagerPolicyOptions", "beta", 28, 31),
    ("TopologyManagerPolicyOptions", "GA", 32, 32),
    ("TopologyManagerPolicyBetaOptions", "beta", 16, 32),
]


@pytest.mark.parametrize(("name", "stage", "first", "last"), STAGES, ids=[f"{row[0]} is {row[1]}" for row in STAGES])
def test_a_gate_has_a_stage(name: str, stage: str, first: int, last: int) -> None:
    """What `AllAlpha` and `AllBeta` go by."""
    gates = [(minor, kubelet((1, minor)).gates.get(name)) for minor in range(16, 33)]
    assert [minor for minor, gate in gates if gate and gate.stage == stage] == list(range(first, last + 1))


# Option, the release that brought it.
OPTIONS = [
    ("full-pcpus-only", 22),
    ("distribute-cpus-across-numa", 23),
    ("align-by-socket", 25),
    ("prefer-closest-numa-nodes", 26),
    ("distribute-cpus-across-cores", 31),
    ("max-allowable-numa-nodes", 31),
    ("prefer-align-cpus-by-uncorecache", 32),
    ("strict-cpu-reservation", 32),
]


@pytest.mark.parametrize(("name", "first"), OPTIONS, ids=[row[0] for row in OPTIONS])
def test_an_option_is_known_from_its_release_on(name: str, first: int) -> None:
    assert [minor for minor in range(16, 33) if name in kubelet((1, minor)).options] == list(range(first, 33))


def test_the_last_release_that_knew_the_topology_manager_s_gate_had_it_locked() -> None:
    assert [kubelet((1, minor)).gates["TopologyManager"].locked for minor in (26, 27, 28)] == [False, True, True]


@pytest.mark.parametrize(
    ("mask", "preferred", "then"),
    [(0b10, True, True), (0b10, False, False), (0b11, True, False), (0b11, False, False), (None, True, True)],
)
def test_up_to_117_single_numa_node_takes_the_preference_from_wide_hints(
    mask: int | None, preferred: bool, then: bool
) -> None:
    """docs/rules/topology-manager.md 13; no mask at all is no wide one."""
    (hints,) = prefer_single_nodes([HintList((TopologyHint(mask, preferred),))])
    assert hints == HintList((TopologyHint(mask, then),))


@pytest.mark.parametrize(
    ("found", "best"),
    [
        ([(0b011, True), (0b100, True)], (0b100, True)),
        ([(0b110, True), (0b011, True)], (0b011, True)),
        ([(0b001, False), (0b011, True)], (0b011, True)),
        ([(0b001, False), (0, True)], (0, True)),
        ([(0b010, False), (0b100, False), (0, False)], (0b010, False)),
        ([(0, False)], (None, False)),
        ([], (None, False)),
    ],
    ids=[
        "fewer nodes",
        "the smaller number",
        "preferred",
        "also without nodes",
        "else not",
        "nothing better",
        "nothing",
    ],
)
def test_up_to_116_the_best_hint_is(found: list[tuple[int, bool]], best: tuple[int | None, bool]) -> None:
    """docs/rules/topology-manager.md 14.1, 14.2."""
    assert best_of_2019([TopologyHint(mask, preferred) for mask, preferred in found], 0b111) == best


@pytest.mark.parametrize(
    ("hints", "merged"),
    [
        ([(0b01, True), (0b11, True)], (0b01, True)),
        ([(0b01, False), (0b01, True)], (0b01, False)),
        ([(0b01, True), (0b10, True)], (0, False)),
    ],
    ids=["all are preferred", "one is not", "no node is left"],
)
def test_up_to_123_a_combination_is_preferred_where(hints: list[tuple[int, bool]], merged: tuple[int, bool]) -> None:
    """docs/rules/topology-manager.md 13."""
    given = [TopologyHint(mask, preferred) for mask, preferred in hints]
    assert combine_until_1_23("restricted", given, 0b11) == merged
