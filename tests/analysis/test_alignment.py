"""Is what a container got on as few NUMA nodes as it could be? The same under every policy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.analysis.alignment import Alignment, aligned, alignment, memory_width, nodes_of_cpus
from numalign.analysis.holding import holding
from numalign.kubelet.admission import Outcome
from numalign.kubelet.config import KubeletConfig
from numalign.model.machine import Device, Machine
from numalign.model.pod import Pod
from tests.analysis.support import GPU, NIC, PAGES, STATIC, config, limits, machine, outcome, pod, pod_of

GI = 1 << 30
LEFT, WHOLE = pod("left", 3), pod("whole", 4)
NONE, BEST = config("none"), config("best-effort")


def judged(found: Outcome) -> Alignment:
    assert found.admit, found.message
    [container] = found.demand.containers
    return alignment(found.before.node, holding(found.before.node, found.after, found.demand.uid, container))


def with_gpus(*devices: Device) -> Machine:
    return machine("figure-1")._replace(devices={GPU: devices})


@pytest.mark.parametrize(
    ("settings", "before", "asked", "places", "least", "expected"),
    [
        pytest.param(BEST, (), pod("p", 2), {"cpu": 0b01}, 1, True, id="CPUs of one node"),
        pytest.param(BEST, (), pod("p", 2, gpu=1), {"cpu": 1, GPU: 1}, 1, True, id="a GPU beside its CPUs"),
        pytest.param(NONE, (WHOLE,), pod("p", 2), {"cpu": 0b10}, 1, True, id="without a policy, by chance"),
        pytest.param(NONE, (WHOLE,), pod("p", 2, gpu=1), {"cpu": 2, GPU: 1}, 1, False, id="a GPU on the other node"),
        pytest.param(BEST, (LEFT, pod("q", 3)), pod("p", 2), {"cpu": 3}, 1, False, id="two CPUs from two nodes"),
        pytest.param(BEST, (), pod("p", 6), {"cpu": 0b11}, 2, True, id="six CPUs need two nodes"),
        pytest.param(BEST, (), pod("p", 1, gpu=2), {"cpu": 1, GPU: 3}, 2, True, id="two GPUs need two nodes"),
        pytest.param(NONE, (), pod("p", 6, gpu=1), {"cpu": 3, GPU: 1}, 2, True, id="a GPU on one of two nodes"),
        pytest.param(BEST, (), pod("p", 0.5), {}, 0, None, id="nothing that has a place"),
    ],
)
def test_as_few_nodes_as_the_widest_resource_needs(
    settings: KubeletConfig,
    before: tuple[Pod, ...],
    asked: Pod,
    places: dict[str, int],
    least: int,
    expected: bool | None,
) -> None:
    found = judged(outcome(settings, asked, *before))
    assert (dict(found.places), found.least, found.aligned) == (places, least, expected)
    nodes = 0
    for mask in places.values():
        nodes |= mask
    assert found.nodes == nodes


def test_pinned_memory_has_a_place_and_a_width() -> None:
    found = judged(outcome(config("best-effort", **STATIC), pod("p", 1, "20Gi", pages="2Mi")))
    assert found.places == {"cpu": 0b01, "memory": 0b11, PAGES: 0b11}
    assert (found.least, found.aligned) == (2, True)


def test_memory_that_nobody_pins_has_none() -> None:
    assert judged(outcome(BEST, pod("p", 1, "20Gi"))).places == {"cpu": 0b01}


@pytest.mark.parametrize(
    ("device", "places", "unplaced"),
    [
        (Device("a", (1,)), {"cpu": 0b01, GPU: 0b10}, ()),
        (Device("a", (0, 1)), {"cpu": 0b01, GPU: 0b01}, ()),
        (Device("a"), {"cpu": 0b01}, (GPU,)),
        (Device("a", ()), {"cpu": 0b01}, (GPU,)),
    ],
    ids=["one node", "one of its two nodes, where the CPUs are", "no topology", "a topology without nodes"],
)
def test_where_a_device_is(device: Device, places: dict[str, int], unplaced: tuple[str, ...]) -> None:
    found = judged(outcome(NONE, pod("p", 2, gpu=1), on=with_gpus(device)))
    assert (dict(found.places), found.unplaced) == (places, unplaced)


def test_a_wide_device_alone_is_on_the_lowest_of_its_nodes() -> None:
    asked = pod_of("p", app={**limits(0.5), GPU: "1"})
    found = judged(outcome(NONE, asked, on=with_gpus(Device("a", (0, 1)))))
    assert (dict(found.places), found.aligned) == ({GPU: 0b01}, True)


@pytest.mark.parametrize(
    ("containers", "expected"),
    [
        ({"one": limits(2), "two": limits(2)}, True),
        ({"one": limits(2), "two": limits(0.5)}, True),
        ({"one": limits(0.5), "two": limits(0.5)}, None),
        ({"one": limits(2), "two": limits(1, gpu=1)}, False),
        ({"init": limits(1, gpu=1), "one": limits(0.5)}, False),
    ],
    ids=["both", "one, the other has nothing", "neither has anything", "one is not", "an init container counts"],
)
def test_a_pod_is_aligned_as_its_worst_container(containers: dict[str, dict[str, str]], expected: bool | None) -> None:
    """Where the GPU that is left lies on the node without CPUs to spare."""
    there = pod_of("there", app={**limits(0.5), NIC: "1"})
    far = machine("figure-1")._replace(devices={GPU: (Device("a", (1,)),), NIC: (Device("n", (0,)),)})
    found = outcome(NONE, pod_of("p", **containers), there, on=far)
    assert found.admit, found.message
    assert aligned(found) is expected


def test_nodes_and_widths_are_the_machines() -> None:
    node = outcome(config("none", **STATIC), pod("p")).before.node
    assert nodes_of_cpus(node, 0b1111) == 0b01
    assert nodes_of_cpus(node, 0b11000) == 0b11
    assert nodes_of_cpus(node, 0) == 0
    assert [memory_width(node, "memory", size * GI) for size in (1, 15, 16, 30)] == [1, 1, 2, 2]
    assert [memory_width(node, PAGES, size * GI) for size in (1, 2)] == [1, 2]


@given(
    st.sampled_from(["none", "best-effort", "restricted", "single-numa-node"]),
    st.lists(st.tuples(st.integers(1, 4), st.integers(0, 1)), max_size=4),
    st.integers(1, 8),
    st.integers(0, 2),
)
def test_what_a_strict_policy_admits_on_one_node_is_aligned(
    policy: str, before: list[tuple[int, int]], cpus: int, gpus: int
) -> None:
    """`single-numa-node` admits only what is aligned; and the judgement never knows a policy."""
    there = [pod(f"p{number}", each, gpu=some) for number, (each, some) in enumerate(before)]
    found = outcome(config(policy), pod("p", cpus, gpu=gpus), *there)
    if not found.admit:
        return
    result = judged(found)
    touched = [mask.bit_count() for mask in result.places.values()]
    assert result.aligned == (result.nodes.bit_count() <= max(-(-cpus // 4), gpus))
    assert max(touched) <= result.nodes.bit_count()
    if policy == "single-numa-node":
        assert result.aligned
        assert result.nodes.bit_count() == 1
