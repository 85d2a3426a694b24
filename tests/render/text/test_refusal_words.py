"""A refusal in words: each cause says what is asked, what there is, and what would be readable or possible instead."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.analysis.refusal import refusal
from numalign.kubelet.config import KubeletConfig
from numalign.model.machine import Device, Machine
from numalign.model.pod import Pod
from numalign.render.text.words import why
from numalign.render.text.written import written
from tests.analysis.support import GPU, NIC, STATIC, config, limits, machine, outcome, pod, pod_of
from tests.refusals.survey import named, refusals
from tests.render.text.support import recorded

FULL = {"cpu_manager_policy_options": {"full-pcpus-only": "true"}}
FIGURE, HYPER = machine("figure-1"), machine("hgx-h100")


def words(settings: KubeletConfig, asked: Pod, *before: Pod, on: Machine = FIGURE) -> list[str]:
    found = outcome(settings, asked, *before, on=on)
    assert not found.admit
    return list(why(refusal(found)))


def with_gpus(*devices: Device) -> Machine:
    return FIGURE._replace(devices={GPU: devices, NIC: FIGURE.devices[NIC]})


def test_devices_of_which_no_node_is_told_are_not_blamed_for_it() -> None:
    """The plugin tells no node of any, so all of them count, wherever they are."""
    found = words(config("restricted"), pod("p", 9, gpu=3), on=with_gpus(Device("a"), Device("b", ())))
    assert any(line.startswith(f"{GPU}: 3 asked, the whole machine never has more than 2") for line in found)
    assert not any("no known NUMA node" in line for line in found)


@pytest.mark.parametrize(
    ("settings", "asked", "before", "on", "expected"),
    [
        pytest.param(
            config("restricted"),
            pod("p", 1, gpu=2),
            (),
            with_gpus(Device("a", (0,)), Device("b"), Device("c")),
            [
                f"{GPU}: 2 asked, 3 free in all (node 0: 1 of 1, on no known node: 2 of 2)",
                (
                    f"{GPU}: 2 of the free ones have no known NUMA node; policy restricted counts only devices whose "
                    "node is known: there is 1, and it is free"
                ),
            ],
            id="devices whose node nobody tells do not count",
        ),
        pytest.param(
            config("restricted"),
            pod("p", 1, gpu=1),
            (),
            with_gpus(Device("a", (-1,)), Device("b", (7,))),
            [
                f"{GPU}: 1 asked, 2 free in all (the plugin puts them on no NUMA node of this machine)",
                (
                    f"{GPU}: the plugin puts them on NUMA nodes -1, 7, which this machine does not have, so policy "
                    "restricted takes none of them"
                ),
            ],
            id="devices on nodes that the machine does not have are taken by no policy that chooses nodes",
        ),
        pytest.param(
            config("restricted"),
            pod("p", 1, gpu=2),
            (),
            with_gpus(Device("a", (0,)), Device("b", (-1,))),
            [
                f"{GPU}: 2 asked, 2 free in all (node 0: 1 of 1, on no known node: 1 of 1)",
                (
                    f"{GPU}: 1 of the free ones has no known NUMA node (the plugin names NUMA node -1, which this "
                    "machine does not have); policy restricted counts only devices whose node is known: there is 1, "
                    "and it is free"
                ),
            ],
            id="a device on a node that the machine does not have beside one on a node",
        ),
        pytest.param(
            config("restricted"),
            pod("p", 1, gpu=3),
            (),
            with_gpus(Device("a", (0, 1)), Device("b", (1,))),
            [(f"{GPU}: 3 asked, the whole machine never has more than 2 (node 1: 1 of 1, nodes 0-1 at once: 1 of 1)")],
            id="a device of two nodes is told apart, so that the amounts add up",
        ),
        pytest.param(
            config("none", **FULL),
            pod("p", 5),
            (),
            HYPER,
            ["cpu: 5 asked, but full-pcpus-only gives out whole cores of 2 threads: ask for 4 or 6"],
            id="whole cores: the next numbers",
        ),
        pytest.param(
            config("restricted", topology_manager_scope="pod", **FULL),
            pod_of("p", one=limits(2), two=limits(3)),
            (),
            HYPER,
            ["cpu: 3 asked by two, but full-pcpus-only gives out whole cores of 2 threads: ask for 2 or 4"],
            id="whole cores: the container's own number in scope pod",
        ),
        pytest.param(
            config("restricted", topology_manager_scope="pod", **FULL),
            pod("p", 3),
            (),
            HYPER,
            ["cpu: 3 asked, but full-pcpus-only gives out whole cores of 2 threads: ask for 2 or 4"],
            id="whole cores: of a pod of one container the same in either scope",
        ),
        pytest.param(
            config("none", **FULL),
            pod("p", 6),
            (pod("q", 4),),
            FIGURE,
            ["cpu: 6 asked, 4 free now, 8 on an empty machine"],
            id="one thread a core: nothing about cores",
        ),
        pytest.param(
            config("none", **STATIC),
            pod("p", 1, "3.73Gi"),
            (),
            FIGURE,
            [
                (
                    "memory: 3.73Gi of container app is not read as a whole number of bytes, and the Memory "
                    "Manager takes no other: write 3819Mi or 3820Mi"
                )
            ],
            id="no whole number of bytes",
        ),
        pytest.param(
            config("none"),
            pod_of("p", one=limits(5), two=limits(4)),
            (),
            FIGURE,
            [
                (
                    "cpu: 4 asked, the whole machine has 3 free, as this pod's own one holds 5 "
                    "(node 0: 0 of 4, node 1: 3 of 4)"
                ),
                "cpu: the pod's containers together ask for 9 (one 5 + two 4), and the machine never has more than 8",
            ],
            id="never, because its containers together ask for more than there is",
        ),
        pytest.param(
            config("single-numa-node"),
            pod_of("p", one=limits(3), two=limits(3), three=limits(2)),
            (),
            FIGURE,
            [
                (
                    "cpu: 2 asked, and policy single-numa-node takes all of it from one node; "
                    "left after one and two: node 0: 1 of 4, node 1: 1 of 4"
                ),
            ],
            id="never, because its own containers are in the way",
        ),
        pytest.param(
            config("restricted", **STATIC),
            pod("p", 1, "16Gi"),
            (pod("a", 1, "6Gi"), pod("b", 4, "6Gi")),
            FIGURE,
            [
                "even on an empty machine: cpu: 1 asked: fits one node, which has 4 at most",
                "even on an empty machine: memory: 16Gi asked: takes 2 nodes, as one has 15Gi at most",
                (
                    "even on an empty machine: policy restricted wants each on as few nodes as it can do with, and "
                    "all of them on the same nodes"
                ),
                ("as the node is now: memory: 16Gi asked, 17Gi free in all (node 0: 8Gi of 14Gi, node 1: 9Gi of 15Gi)"),
                (
                    "as the node is now: memory is held already on node 0 alone (by a) and node 1 alone (by b), so "
                    "these cannot be combined"
                ),
                (
                    "as the node is now: so what is asked has to fit one of these: node 1 (9Gi memory free), node 0 "
                    "(8Gi memory free)"
                ),
            ],
            id="memory is there, but its nodes are bound by who holds it",
        ),
        pytest.param(
            config("none"),
            pod("p", 1, "40Gi"),
            (),
            FIGURE,
            ["memory: 40Gi asked, and the node has 30Gi"],
            id="the node as a whole never has it",
        ),
        pytest.param(
            config("none"),
            pod("p", 1, "20Gi"),
            (pod("a", 1, "16Gi"),),
            FIGURE,
            ["memory: 20Gi asked, 16Gi of the node's 30Gi requested by other pods, which leaves 14Gi"],
            id="the node as a whole has it, others hold it",
        ),
    ],
)
def test_a_cause_in_words(
    settings: KubeletConfig, asked: Pod, before: tuple[Pod, ...], on: Machine, expected: list[str]
) -> None:
    assert words(settings, asked, *before, on=on) == expected


def test_what_an_init_container_held_is_taken_over() -> None:
    """Two CPUs of node 0 go to the next container; node 0 has one more, and three are asked from one node."""
    asked = pod_of("p", init=limits(1), app=limits(4))
    found = words(config("single-numa-node"), asked, pod("there", 1), on=FIGURE)
    assert found == [
        (
            "cpu: 4 asked, and policy single-numa-node takes all of it from one node; its nodes must include "
            "node 0, where init leaves 1; free now: node 0: 2 + 1 of 4, node 1: 4 of 4"
        )
    ]


def test_what_an_init_container_hands_on_is_counted_beside_what_is_free() -> None:
    """Node 0 has three CPUs beside the two handed on, node 1 four: nine are asked."""
    asked = pod_of("p", init=limits(2), app=limits(9))
    assert words(config("best-effort"), asked, on=FIGURE) == [
        "cpu: 9 asked, the whole machine never has more than 8 (node 0: 4 of 4, node 1: 4 of 4)"
    ]


def test_what_an_init_container_leaves_is_part_of_what_there_is() -> None:
    """Another pod holds three CPUs, so that with the two handed on there are five."""
    asked = pod_of("p", init=limits(2), app=limits(6))
    assert words(config("best-effort"), asked, pod_of("a", app=limits(3)), on=FIGURE) == [
        "cpu: 6 asked, the whole machine has 5 for it, 2 of it left by init (node 0: 1 of 4, node 1: 4 of 4)"
    ]


def test_memory_that_an_init_container_hands_on_is_added_up() -> None:
    """The pod's own init container is no other pod; memory of which there is enough everywhere is no obstacle."""
    data = named("e2e-d-00605")
    [found] = [outcome for index, _, outcome in refusals(data) if index == 4]
    assert list(why(refusal(found))) == [
        "hugepages-2Mi: 256Mi asked, 380Mi free in all (node 0: 252Mi + 2Mi of 256Mi, node 1: 128Mi of 128Mi)",
        "policy single-numa-node takes all of it from one node",
        (
            "hugepages-2Mi: i0 leaves 2Mi on node 0 to the containers after it, to be used only with what is free on "
            "node 0: 252Mi + 2Mi = 254Mi, 256Mi asked"
        ),
    ]


def test_a_hint_that_cannot_be_extended_is_told_as_memory_that_binds_its_nodes() -> None:
    found = outcome(
        config("restricted", **STATIC), pod("p", 1, "16Gi"), pod("a", 1, "6Gi"), pod("b", 4, "6Gi"), on=FIGURE
    )
    assert "failed to find NUMA nodes to extend the current topology hint" in found.message
    assert any(line.endswith("so these cannot be combined") for line in why(refusal(found)))


def test_each_resource_that_would_be_refused_alone_is_named() -> None:
    assert words(config("single-numa-node"), pod("p", 5, gpu=3), on=FIGURE)[:2] == [
        (
            "cpu: 5 asked, but no NUMA node ever has more than 4 (nodes 0-1), and policy single-numa-node takes all "
            "of it from one node"
        ),
        f"{GPU}: 3 asked, the whole machine never has more than 2 (node 0: 1 of 1, node 1: 1 of 1)",
    ]


def test_what_is_taken_over_ties_a_container_to_a_node() -> None:
    """The init container took CPUs of node 0, whose only device is gone: what is free on node 1 does not help."""
    asked = pod_of("p", init=limits(1), app=limits(1, gpu=1))
    found = words(config("single-numa-node"), asked, pod("there", 1, gpu=1))
    assert found == [
        "cpu: 1 asked: init leaves 1 CPU of node 0 to it, so it must use node 0",
        (
            f"{GPU}: 1 asked, and node 0 cannot give it; what other nodes have does not help "
            "(node 0: 0 of 1, node 1: 1 of 1)"
        ),
    ]


def test_pages_of_an_init_container_alone_are_named_in_scope_pod() -> None:
    """They have no part in what the pod asks for as a whole."""
    asked = pod_of("p", init={**limits(1), "hugepages-2Mi": "4Gi"}, app=limits(1))
    assert words(config("best-effort", topology_manager_scope="pod", **STATIC), asked)[0] == (
        "hugepages-2Mi: 4Gi asked, the whole machine never has more than 2Gi (node 0: 1Gi of 1Gi, node 1: 1Gi of 1Gi)"
    )


def test_a_node_that_is_too_small_names_who_asks_for_how_much() -> None:
    assert words(config("none"), pod_of("p", one=limits(2, "20Gi"), two=limits(1, "20Gi"))) == [
        "memory: 40Gi asked (one 20Gi + two 20Gi), and the node has 30Gi"
    ]


@pytest.mark.parametrize(
    ("amounts", "expected"),
    [
        ((7582 << 20, 35 << 30), ["7.4Gi", "35Gi"]),
        ((514 << 20, 256 << 20), ["514Mi", "256Mi"]),
        ((200 << 20, 16 << 30, 0), ["200Mi", "16Gi", "0"]),
        (((15 << 30) + (1 << 16), 15 << 30, 0), ["15360.06Mi", "15360Mi", "0"]),
        ((15 << 30, (15 << 30) + (1 << 20)), ["15360Mi", "15361Mi"]),
        ((15 << 30, (15 << 30) + (1 << 16)), ["15360Mi", "15360.06Mi"]),
        ((15 << 30, (15 << 30) + (1 << 10)), ["15728640Ki", "15728641Ki"]),
        ((1028 << 20, 2 << 30), ["1028Mi", "2048Mi"]),
        ((711 << 20, 3700 << 20, 88 << 30), ["0.69Gi", "3.61Gi", "88Gi"]),
        (((14 << 30) + (350 << 20) + 1, (14 << 30) + (323 << 20)), ["14.34Gi", "14.31Gi"]),
        ((15 << 30, (15 << 30) + 1), [f"{15 << 30} bytes", f"{(15 << 30) + 1} bytes"]),
    ],
)
def test_amounts_beside_each_other_can_be_compared(amounts: tuple[int, ...], expected: list[str]) -> None:
    say = written("memory", amounts)
    assert [say(amount) for amount in amounts] == expected


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ((514 << 20, 514 << 20), "1028Mi = 514Mi + 514Mi"),
        (((1 << 30) + (51 << 20), (1 << 30) + (51 << 20), 60 << 30), "62.10Gi = 1.05Gi + 1.05Gi + 60Gi"),
        ((63 << 30, (40 << 20) + 1), "63.04Gi = 63Gi + 40.00Mi"),
    ],
)
def test_parts_add_up_to_their_sum_as_it_is_written(parts: tuple[int, ...], expected: str) -> None:
    say = written("memory", (), parts=parts)
    assert f"{say(sum(parts))} = {' + '.join(map(say, parts))}" == expected


@pytest.mark.parametrize(
    ("there", "asked", "sums", "expected"),
    [
        pytest.param(
            (16582636, 3556864, 13025772),
            12721 << 10,
            {3556864: (16582636, -13025772)},
            ["16193Mi", "3473Mi", "12720Mi", "12721Mi"],
            id="what is taken and what is left are all there is",
        ),
        pytest.param(
            (13752 << 10, 10830 << 10, 2922 << 10),
            36044 << 10,
            {13752 << 10: (10830 << 10, 2922 << 10)},
            ["13.42Gi", "10.57Gi", "2.85Gi", "35.20Gi"],
            id="what nodes have adds up to what there is in all",
        ),
        pytest.param((32092156,), 31340 << 10, {}, ["31339Mi", "31340Mi"], id="what there is is rounded down"),
        pytest.param((4 << 20, 4249604), 512 << 10, {}, ["4.0Gi", "4.0Gi", "0.5Gi"], id="what looks the same is alike"),
        pytest.param((15624704,), 15624960, {}, ["15258.5Mi", "15258.8Mi"], id="less than one Mi apart"),
    ],
)
def test_what_there_is_is_rounded_down_and_adds_up(
    there: tuple[int, ...], asked: int, sums: dict[int, tuple[int, ...]], expected: list[str]
) -> None:
    added = {key << 10: [one << 10 for one in terms] for key, terms in sums.items()}
    amounts = [one << 10 for one in (*there, asked)]
    assert list(map(written("memory", amounts[:-1], amounts[-1:], sums=added), amounts)) == expected


@given(st.lists(st.integers(1, 1 << 42), min_size=1, max_size=4), st.integers(1, 1 << 42))
def test_enough_looks_like_enough(there: list[int], asked: int) -> None:
    say = written("memory", there, [asked])
    assert all((say(amount) == say(asked)) <= (amount >= asked) for amount in there)


def test_only_amounts_that_are_compared_have_to_look_different() -> None:
    nodes = [(63 << 30) + (one << 20) for one in (0, 3, 6)]
    say = written("memory", nodes, [9 << 30], pairs=[(9 << 30, one) for one in nodes])
    assert list(map(say, nodes)) == ["63.0Gi", "63.0Gi", "63.0Gi"]


@given(st.lists(st.integers(1, 1 << 42), min_size=1, max_size=6))
def test_amounts_that_differ_look_different(amounts: list[int]) -> None:
    say = written("memory", amounts)
    assert len(set(map(say, amounts))) == len(set(amounts))


def test_a_sum_of_amounts_in_two_units_adds_up_as_it_is_written() -> None:
    """All but 120Mi of 7.67Gi: 7.6Gi less 119.8Mi is not 7.4Gi."""
    [found] = [refused for step, _, refused in refusals(named("e2e-d-00155")) if step == 2]
    assert next(why(refusal(found))) == (
        "memory: 1060Mi asked (c0 804Mi + c1 256Mi), 7737Mi of the node's 7856Mi requested by other pods, "
        "which leaves 119Mi"
    )


def test_a_sum_that_is_told_of_what_is_next_in_the_way_is_not_told_again() -> None:
    [found] = [refused for step, _, refused in refusals(named("e2e-d-00181")) if step == 0]
    assert list(why(refusal(found))) == [
        "amd.com/gpu: 4 asked (s0 2 + c2 2), the whole machine never has more than 1 (node 0: 1 of 1)",
        (
            "xilinx.com/fpga: 3 asked (s0 1 + c0 1 + c2 1), 2 by i1 before, the whole machine never has more than 1 "
            "(node 0: 1 of 1)"
        ),
    ]


def test_what_nodes_never_have_without_reserved_cpus_is_not_told_again_of_an_empty_machine() -> None:
    [found] = [refused for step, _, refused in refusals(named("e2e-d-01383")) if step == 1]
    sentences = list(why(refusal(found)))
    assert sentences[0].startswith(
        "cpu: 10 asked; as the kubelet counts reserved CPUs (1 on each of nodes 0-3), too, 3 nodes are enough, and"
    )
    assert not [one for one in sentences[1:] if one.partition(": ")[0].endswith("cpu")]


@pytest.mark.parametrize(
    ("name", "step"),
    [
        pytest.param("lifecycle-d-00402", 12, id="other pods hold it"),
        pytest.param("e2e-d-02364", 4, id="a sidecar of the pod holds some"),
        pytest.param("e2e-d-00234", 11, id="its plugin puts it on no node"),
    ],
)
def test_what_is_enough_on_the_whole_machine_is_not_told_as_never_enough(name: str, step: int) -> None:
    for line in recorded(name, step):
        found = re.search(r": (\d+) asked\b.*? never has more than (\d+)\b", line)
        assert found is None or int(found[1]) > int(found[2]), line
