"""Is what a container got on as few NUMA nodes as it could be? The same under every policy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.analysis import worst
from numalign.analysis.alignment import Alignment, aligned, alignment, verdict_of
from numalign.analysis.floating import Cause, Lack, cause
from numalign.analysis.holding import holding, memory_width, nodes_of_cpus
from numalign.analysis.placed import Nearby, Part
from numalign.kubelet.admission import Outcome
from numalign.kubelet.config import KubeletConfig
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.hardware import Hardware, PCIFunction
from numalign.model.machine import Device, Machine, NUMANode
from numalign.model.pod import Pod
from tests.analysis.support import GPU, NIC, PAGES, STATIC, config, limits, machine, outcome, pod, pod_of
from tests.kubelet.regular import regular

GI = 1 << 30
LEFT, WHOLE = pod("left", 3), pod("whole", 4)
NONE, BEST = config("none"), config("best-effort")


def judged(found: Outcome) -> Alignment:
    assert found.admit, found.message
    [container] = found.demand.containers
    held = holding(found.before.node, found.after, found.demand.uid, container)
    return alignment(found.before.node, held, container)


def test_memory_of_an_init_container_lies_where_it_was_also_once_others_have_taken_it_over() -> None:
    asked = pod_of("p", init=limits(1, "20Gi"), app=limits(1, "20Gi"))
    found = outcome(config("best-effort", **STATIC), asked)
    init = found.demand.containers[0]
    held = holding(found.before.node, found.after, found.demand.uid, init)
    assert [block.size for block in held.memory] == [0]
    placed = alignment(found.before.node, held, init)
    assert (placed.places["memory"], placed.least) == (0b11, 2)


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
        pytest.param(BEST, (), pod("p", 1, gpu=2), {"cpu": 1, GPU: 3}, 2, False, id="two GPUs, one where no CPU is"),
        pytest.param(BEST, (), pod("p", 6, gpu=2), {"cpu": 3, GPU: 3}, 2, True, id="two GPUs need two nodes"),
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
    assert (found.least, found.verdict) == (2, "spread")
    assert found.remote == (Part(PAGES, 0b10), Part("memory", 0b10))


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


@pytest.mark.parametrize(
    ("numa_node", "verdict"),
    [(0, "aligned"), (1, "spread"), (-1, "unknown"), (None, "unknown"), (7, "unknown")],
)
def test_a_device_whose_plugin_tells_no_node_is_where_sys_says(numa_node: int | None, verdict: str) -> None:
    function = PCIFunction("0000:01:00.0", names=("card0",), numa_node=numa_node)
    for name in (function.address, "card0"):
        there = with_gpus(Device(name))._replace(hardware=Hardware(pci=(function,)))
        found = judged(outcome(NONE, pod("p", 2, gpu=1), on=there))
        assert (found.verdict, bool(found.unknown)) == (verdict, verdict == "unknown")


def test_how_few_nodes_would_do_counts_devices_that_only_sys_places() -> None:
    functions = tuple(PCIFunction(f"0000:0{node}:00.0", numa_node=node) for node in (0, 1))
    there = with_gpus(*(Device(one.address) for one in functions))._replace(hardware=Hardware(pci=functions))
    found = judged(outcome(NONE, pod("p", 6, gpu=2), on=there))
    assert (found.verdict, found.least, found.nodes) == ("aligned", 2, 0b11)


def test_a_wide_device_alone_is_on_the_lowest_of_its_nodes() -> None:
    asked = pod_of("p", app={**limits(0.5), GPU: "1"})
    found = judged(outcome(NONE, asked, on=with_gpus(Device("a", (0, 1)))))
    assert (dict(found.places), found.verdict) == ({GPU: 0b01}, "floating")


@pytest.mark.parametrize(("nodes", "least"), [(8, 1), (9, 2)])
def test_of_few_nodes_it_is_tried_which_of_them_would_do(nodes: int, least: int) -> None:
    """A node without CPUs is near all others, so that its device and another one's are near one node."""
    there = regular(nodes, 1, distances=False, devices={GPU: (Device("0", (0,)), Device("bare", (nodes,)))})
    bare = NUMANode(nodes, 0, GI)
    there = there._replace(numa_nodes=(*there.numa_nodes, bare))
    found = judged(outcome(NONE, pod_of("p", app={**limits(0.5), GPU: "2"}), on=there))
    assert found.least == least


OFF = {"cpu_manager_policy": "none"}
BURSTABLE = read_pod(
    {
        "metadata": {"name": "p"},
        "spec": {
            "containers": [
                {"name": "app", "resources": {"limits": {"cpu": 2, "memory": "1Gi", GPU: 1}}},
                {"name": "proxy", "resources": {"requests": {"cpu": "100m"}}},
            ]
        },
    }
)


@pytest.mark.parametrize(
    ("settings", "asked", "on", "verdict", "floating"),
    [
        pytest.param(NONE, pod("p", 2), None, "aligned", (), id="CPUs alone"),
        pytest.param(NONE, pod("p", 2, gpu=1), with_gpus(Device("a", (1,))), "spread", (), id="a GPU elsewhere"),
        pytest.param(NONE, pod("p", 2, gpu=1), with_gpus(Device("a")), "unknown", (), id="a GPU of no known node"),
        pytest.param(NONE, pod("p", 0.5, gpu=1), None, "floating", ("cpu",), id="a GPU and a part of a CPU"),
        pytest.param(NONE, pod("p", 0.5), None, "none", (), id="a part of a CPU"),
        pytest.param(config("none", **STATIC), pod("p", 0.5), None, "none", (), id="a part of a CPU, memory pinned"),
        pytest.param(config("none", **OFF), pod("p", 2), None, "floating", ("cpu",), id="whole CPUs nobody pins"),
        pytest.param(config("none", **OFF), pod("p", 2, gpu=1), None, "floating", ("cpu",), id="a GPU, no CPU pinned"),
        pytest.param(config("none", **OFF), pod("p", 0.5), None, "none", (), id="nothing that is ever placed"),
        pytest.param(NONE, pod("p", 2, "20Gi"), None, "floating", ("memory",), id="memory larger than the node"),
        pytest.param(NONE, pod("p", 5, "20Gi"), None, "aligned", (), id="memory of both nodes of the CPUs"),
        pytest.param(NONE, pod("p", 2, pages="2Gi"), None, "floating", (PAGES,), id="pages larger than the node's"),
        pytest.param(NONE, pod_of("p", app={**limits(2), "a.com/x": "1"}), None, "incomplete", (), id="no such device"),
        pytest.param(
            NONE, pod_of("p", app={**limits(0.5), "a.com/x": "1"}), None, "incomplete", (), id="no device, no CPU"
        ),
    ],
)
def test_the_verdict(
    settings: KubeletConfig, asked: Pod, on: Machine | None, verdict: str, floating: tuple[str, ...]
) -> None:
    found = judged(outcome(settings, asked, on=on))
    assert (found.verdict, found.floating) == (verdict, floating)
    assert found.aligned is {"aligned": True, "none": None, "unknown": None}.get(verdict, False)


def test_one_container_that_is_not_guaranteed_lets_the_others_float() -> None:
    found = outcome(BEST, BURSTABLE)
    assert verdict_of(found) == "floating"
    assert cause(found.before.node, found.pod, found.demand.containers[0]) == Cause(
        "qos", (Lack("proxy", ("cpu", "memory"), ()),)
    )


@pytest.mark.parametrize(
    ("settings", "asked", "kind"),
    [
        (config("none", **OFF), pod("p", 2), "cpu-manager"),
        (NONE, pod("p", 0.5, gpu=1), "fraction"),
        (NONE, read_pod({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "app"}]}}), "qos"),
    ],
    ids=["nobody pins", "a part of a CPU", "best effort"],
)
def test_why_cpus_float(settings: KubeletConfig, asked: Pod, kind: str) -> None:
    found = outcome(settings, asked)
    assert cause(found.before.node, found.pod, found.demand.containers[0]).kind == kind


class TestNodesWithoutCPUs:
    """Two nodes with CPUs, a third without any: near the second, or nobody says."""

    def machine(self, *distances: tuple[int, ...], device: int = 2) -> Machine:
        there = machine("figure-1")
        rows = distances or (None, None, None)
        nodes = (*there.numa_nodes, NUMANode(2, 0, 8 * GI))
        nodes = tuple(node._replace(distances=row) for node, row in zip(nodes, rows, strict=True))
        return there._replace(numa_nodes=nodes, devices={GPU: (Device("a", (device,)),)})

    NEAR_ONE = ((10, 20, 40), (20, 10, 30), (40, 30, 10))
    NEAR_BOTH = ((10, 20, 30), (20, 10, 30), (30, 30, 10))

    @pytest.mark.parametrize(
        ("rows", "before", "verdict"),
        [
            (NEAR_ONE, (), "spread"),
            (NEAR_ONE, (WHOLE,), "aligned"),
            (NEAR_BOTH, (), "aligned"),
            (NEAR_BOTH, (WHOLE,), "aligned"),
            ((), (WHOLE,), "aligned"),
        ],
        ids=["near the other node", "near its node", "near both", "near both, from the other", "nobody says"],
    )
    def test_a_device_counts_as_on_the_nearest_node_with_cpus(
        self, rows: tuple[tuple[int, ...], ...], before: tuple[Pod, ...], verdict: str
    ) -> None:
        found = judged(outcome(NONE, pod("p", 2, gpu=1), *before, on=self.machine(*rows)))
        assert found.verdict == verdict
        assert found.places[GPU] == 0b100

    @pytest.mark.parametrize(
        ("rows", "before", "expected"),
        [
            (NEAR_ONE, (), ()),
            (NEAR_ONE, (WHOLE,), (Nearby(GPU, 0b100, ("a",), 0b100, 0b10),)),
            (NEAR_BOTH, (), (Nearby(GPU, 0b100, ("a",), 0b100, 0b11),)),
        ],
        ids=["remote", "beside one", "beside both"],
    )
    def test_what_counts_as_elsewhere_than_it_lies_is_told(
        self, rows: tuple[tuple[int, ...], ...], before: tuple[Pod, ...], expected: tuple[Nearby, ...]
    ) -> None:
        assert judged(outcome(NONE, pod("p", 2, gpu=1), *before, on=self.machine(*rows))).nearby == expected

    def test_a_device_on_a_node_with_cpus_of_its_own_is_not_told(self) -> None:
        found = judged(outcome(NONE, pod("p", 2, gpu=1), on=self.machine(*self.NEAR_BOTH, device=0)))
        assert (found.verdict, found.nearby) == ("aligned", ())

    def test_memory_there_is_always_remote(self) -> None:
        settings = config("none", **STATIC)
        found = judged(outcome(settings, pod("p", 8, "34Gi"), on=self.machine(*self.NEAR_BOTH)))
        assert (found.verdict, found.remote) == ("spread", (Part("memory", 0b100),))


def test_the_worst_of_several() -> None:
    assert worst(("none", "aligned", "unknown", "spread", "floating", "incomplete")) == "incomplete"
    assert worst(("none", "aligned", "unknown")) == "unknown"
    assert worst(("none", "aligned")) == "aligned"
    assert worst(()) == "none"


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
    local = not result.places.get(GPU, 0) & ~result.places["cpu"]
    assert result.aligned == (local and result.nodes.bit_count() <= max(-(-cpus // 4), gpus))
    assert max(touched) <= result.nodes.bit_count()
    if policy == "single-numa-node":
        assert result.aligned
        assert result.nodes.bit_count() == 1
