"""How long the kubelet needs for a decision, and from when on that is a hang."""

from __future__ import annotations

from contextlib import nullcontext
from typing import NoReturn

import pytest
from hypothesis import given

from numalign.analysis.merging import merging
from numalign.errors import Notice
from numalign.kubelet.admission import Outcome, admit, open_session
from numalign.kubelet.config import IDEAL, MemoryReservation
from numalign.kubelet.errors import KubeletHangError
from numalign.kubelet.memory.hints import sets_tried
from numalign.kubelet.releases.table import kubelet
from numalign.kubelet.setup import Setup
from numalign.kubelet.topology.effort import NO_EFFORT, Effort, combinations, endure, may_be_slow
from numalign.kubelet.topology.hints import (
    CANNOT_FIT,
    NO_PREFERENCE,
    AtLeast,
    HintFamily,
    HintList,
    Hints,
    MaskSet,
    TopologyHint,
)
from numalign.kubelet.topology.merge.lists import numa_info
from numalign.model.pod import Pod
from numalign.tasks.setup import load_machine
from tests.analysis.support import pod_of
from tests.dice import Dice, draws, rolled
from tests.kubelet.topology.families import mask_set, size

OPTIONS = {"max-allowable-numa-nodes": "34"}


def met(release: int, policy: str, *more: Pod, memory: str = "None", on: str = "gb200") -> Outcome:
    """Admit a pod with a GPU, 34 NUMA nodes by default."""
    settings = IDEAL._replace(
        topology_manager_policy=policy,
        topology_manager_policy_options=OPTIONS if policy != "none" else None,
        memory_manager_policy=memory,
    )
    if memory == "Static":
        kept = MemoryReservation(0, {"memory": "1Gi"})
        settings = settings._replace(reserved_memory=(kept,), kube_reserved={"memory": "1Gi"})
    setup = Setup(load_machine(on).machine, settings, "ideal", kubelet((1, release)))
    return admit(open_session(setup), more[0] if more else ONE_GPU)


def test_one_container_with_devices_is_enough_to_be_unsure() -> None:
    two = pod_of("two", app={"cpu": "8", "memory": "16Gi", "nvidia.com/gpu": "1"}, side={"cpu": "1", "memory": "1Gi"})
    assert [one.code for one in met(35, "restricted", two).notices] == ["kubelet-hang", "inferred"]


ONE_GPU = pod_of("one", app={"cpu": "8", "memory": "16Gi", "nvidia.com/gpu": "1"})

ALL_SETS = 2**34 - 1


@pytest.mark.parametrize(
    ("release", "policy", "memory", "told"),
    [
        (36, "best-effort", "None", ""),
        (36, "none", "None", ""),
        (35, "none", "None", ""),
        # The Device Manager tries every set, and half of them and a half of that half are hints for a GPU.
        (35, "single-numa-node", "None", "17 179 869 186 sets of NUMA nodes, 0.5 µs each; 4 combinations of hints"),
        (35, "restricted", "None", "38 654 705 664 combinations of hints, 0.25 µs each"),
        (36, "single-numa-node", "Static", "17 179 869 189 sets of NUMA nodes, 0.5 µs each; 24 combinations of hints"),
        # Nobody gives hints, but the Memory Manager looks for nodes of its own.
        (36, "none", "Static", "about 2 hours (17 179 869 183 sets of NUMA nodes, 0.5 µs each)"),
    ],
)
def test_a_kubelet_hangs_where_it_tries_every_set_of_34_nodes(
    release: int, policy: str, memory: str, told: str
) -> None:
    found = met(release, policy, memory=memory)
    assert (found.stage, found.admit) == (("hang", False) if told else ("", True))
    assert told in found.message
    codes = [] if not told else ["kubelet-hang", "inferred"] if release == 35 else ["kubelet-hang"]
    assert [one.code for one in found.notices] == codes


def test_of_1_36_without_memory_nine_combinations_are_left() -> None:
    """The GPUs are on two nodes, the CPUs too (the kubelet walked 2^34 sets before)."""
    found = met(36, "best-effort")
    steps = merging(found.before.node, found.result.decisions[0])
    assert (steps.combinations, steps.resources) == (9, ("cpu", "nvidia.com/gpu"))


def test_of_a_pod_without_devices_all_is_known() -> None:
    plain = pod_of("plain", app={"cpu": "8", "memory": "16Gi"})
    assert [one.code for one in met(35, "restricted", plain, memory="Static").notices] == ["kubelet-hang"]


def test_from_a_second_on_a_warning_says_how_long_other_pods_wait() -> None:
    """Eight nodes: 255 hints for 8 CPUs and for 16Gi each, 240 for one of eight GPUs on four nodes."""
    found = met(35, "restricted", memory="Static", on="dgx-a100")
    slow, unsure = found.notices
    assert (found.admit, slow.code, unsure.code) == (True, "kubelet-slow", "inferred")
    assert {slow.path, unsure.path} == {found.pod.name}
    assert slow.message == (
        "the kubelet takes about 4 s (765 sets of NUMA nodes, 0.5 µs each; 15 606 000 combinations of hints, "
        "0.25 µs each), and admits no other pod meanwhile"
    )


def test_of_a_rejection_that_is_no_hang_nothing_is_concluded() -> None:
    """Its message speaks of NUMA nodes, too."""
    large = pod_of("large", app={"cpu": "8", "memory": "3000Gi", "nvidia.com/gpu": "1"})
    found = met(35, "none", large, memory="Static", on="dgx-a100")
    assert (found.stage, found.notices) == ("allocate", ())
    assert "NUMA" in found.message


def test_of_a_hang_that_sets_of_nodes_do_not_make_nothing_is_concluded() -> None:
    """Of 1.35 it is only not known which sets of nodes are tried for devices."""

    def hang(*_asked: object) -> NoReturn:
        raise KubeletHangError("the search over 3 of 8 NUMA nodes takes hours")

    setup = Setup(load_machine("dgx-a100").machine, IDEAL, "ideal", kubelet((1, 35)))
    session = open_session(setup)
    devices, (cpus, manager), memory = session.node.topology.providers
    topology = session.node.topology._replace(providers=(devices, (cpus._replace(allocate=hang), manager), memory))
    found = admit(session._replace(node=session.node._replace(topology=topology)), ONE_GPU)
    text = 'the kubelet hangs in this call, so no later pod is tried: "the search over 3 of 8 NUMA nodes takes hours"'
    assert found.notices == (Notice("kubelet-hang", text, "one"),)


def test_what_a_pod_took_before_counts() -> None:
    ten = Effort(sets=2 * 10**7)
    assert endure(ten, 40.0) is ten
    with pytest.raises(KubeletHangError, match=r"about 10 s \(20 000 000 sets of NUMA nodes, 0.5 µs each\)"):
        endure(ten, 50.0)


def test_of_huge_numbers_only_the_size_is_said() -> None:
    assert str(Effort(10**15, 2**1200)) == (
        "about a million years or more (10^15 sets of NUMA nodes, 0.5 µs each; 10^361 combinations of hints, "
        "0.25 µs each)"
    )


MINUTE = 120_000_000
"""Sets that take it."""


@pytest.mark.parametrize(
    ("effort", "before", "hangs"),
    [
        (Effort(MINUTE), None, True),
        (Effort(MINUTE - 1), None, False),
        (Effort(MINUTE - 2_000_000), None, False),
        (Effort(combinations=2 * MINUTE), None, True),
        (NO_EFFORT, 60.0, True),
        (NO_EFFORT, 59.9999999, False),
        (Effort(combinations=10**400), None, True),  # more than a float holds
    ],
)
def test_from_a_minute_on_it_is_a_hang(effort: Effort, before: float | None, hangs: bool) -> None:
    with pytest.raises(KubeletHangError) if hangs else nullcontext():
        assert (endure(effort) if before is None else endure(effort, before)) is effort


@pytest.mark.parametrize(
    ("policy", "resources", "nodes", "slow"),
    [
        ("best-effort", 0, 64, False),
        ("best-effort", 1, 20, False),
        ("best-effort", 1, 21, True),
        ("best-effort", 2, 11, True),
        ("best-effort", 3, 7, False),
        ("best-effort", 3, 8, True),
        ("single-numa-node", 3, 8, False),
        ("single-numa-node", 1, 20, False),
        ("single-numa-node", 2, 20, True),
        ("single-numa-node", 6, 12, False),
        ("single-numa-node", 6, 13, True),
    ],
)
def test_a_decision_may_take_a_second(policy: str, resources: int, nodes: int, slow: bool) -> None:
    """2^n - 1 sets for each resource; as many hints of each to be combined, or n where hints of one node count (7)."""
    assert may_be_slow(policy, resources, nodes) is slow


ONE_EACH = AtLeast((1, 1, 1, 1), 2)
COUNTED: list[tuple[str, Hints, int, int]] = [
    ("no opinion is one", NO_PREFERENCE, 1, 1),
    ("cannot fit is one", CANNOT_FIT, 1, 1),
    ("a list has its hints, of which one is preferred and has one node",
     HintList((TopologyHint(1, True), TopologyHint(2, False), TopologyHint(3, True))), 3, 1),
    ("a group alone", HintFamily((MaskSet(0b110, (), 0b110),), 1), 1, 0),
    ("a node alone", HintFamily((MaskSet(0b100, (), 0b100),), 1), 1, 1),
    ("a group and the sets of the others",
     HintFamily((MaskSet(0b110, (), 0b110), MaskSet(0b1001, (ONE_EACH,))), 1), 2, 0),
    ("two of four, or more", HintFamily((MaskSet(0b1111, (ONE_EACH,)),), 2), 11, 0),
    ("two of four with one of them", HintFamily((MaskSet(0b1111, (ONE_EACH,), 0b100),), 2), 7, 0),
    ("nothing is needed", HintFamily((MaskSet(0b1111, (AtLeast((), 0),)),), 1), 15, 4),
    ("less than nothing", HintFamily((MaskSet(0b1111, (AtLeast((1, 0, 1), -1),)),), 1), 15, 4),
    ("nothing is needed, but a node", HintFamily((MaskSet(0b1111, (AtLeast((), 0),), 0b10),), 1), 8, 1),
    ("nothing is needed, twice", HintFamily((MaskSet(0b1111, (AtLeast((), 0), AtLeast((1,), 0))),), 1), 15, 4),
    ("no conditions", HintFamily((MaskSet(0b1011, ()),), 1), 7, 3),
    ("no conditions, but a node", HintFamily((MaskSet(0b1011, (), 0b10),), 1), 4, 1),
    ("one of two nodes is touched", HintFamily((MaskSet(0b111, (), 0, (0b11,)),), 1), 6, 2),
    ("none has enough of one thing", HintFamily((MaskSet(0b111, (AtLeast((1, 1, 0), 3),)),), 1), 0, 0),
]  # fmt: skip


@pytest.mark.parametrize(("hints", "number", "single"), [row[1:] for row in COUNTED], ids=[row[0] for row in COUNTED])
def test_hints_of_a_resource_are_counted(hints: Hints, number: int, single: int) -> None:
    numa = numa_info(range(4))
    assert combinations("restricted", [hints], numa) == number
    assert combinations("single-numa-node", [hints], numa) == single


def some_sets(dice: Dice) -> tuple[int, MaskSet]:
    nodes = size(dice)
    return nodes, mask_set(dice, nodes)


@draws(150)
@given(rolled(some_sets))
def test_hints_are_counted_as_they_are_listed(case: tuple[int, MaskSet]) -> None:
    nodes, members = case
    numa = numa_info(range(nodes))
    every = [mask for mask in range(1, 1 << nodes) if members.has(mask)]
    family = HintFamily((members,), 1)
    assert combinations("best-effort", [family, family], numa) == len(every) ** 2
    assert combinations("single-numa-node", [family], numa) == sum(mask.bit_count() == 1 for mask in every)


@pytest.mark.parametrize(("need", "number"), [(19_999, (1 << 16) - 19_999), (20_000, (1 << 16) - 1)])
def test_where_nodes_differ_too_much_to_be_counted_all_sets_are(need: int, number: int) -> None:
    """Sixteen nodes of which no two sets have the same sum: as many kinds of sets as there are sums to the need."""
    sums = AtLeast(tuple(1 << node for node in range(16)), need)
    for conditions in ((sums,), (sums, sums)):
        family = HintFamily((MaskSet((1 << 16) - 1, conditions),), 1)
        assert combinations("restricted", [family], numa_info(range(16))) == number


def test_for_memory_that_is_held_no_set_is_tried() -> None:
    found = met(36, "restricted", memory="Static", on="dgx-a100")
    manager, [container] = found.before.node.memory, found.demand.containers
    tried = [sets_tried(manager, state.memory, found.demand, container) for state in (found.before.state, found.after)]
    assert tried == [2**8 - 1, 0]
