"""What exporters count, and how their counts part from the kubelet's (docs/rules/podresources.md 7, 26, 28)."""

from __future__ import annotations

import pytest

from numalign.model.machine import Device
from numalign.model.quantity import NANO
from numalign.scheduler import fingerprint
from numalign.scheduler.nrt.differences import differences
from numalign.scheduler.nrt.export import ExportOptions, Like, export
from numalign.scheduler.nrt.value import FINGERPRINT, POLICY, SCOPE, NodeResourceTopology, attribute, manager_config
from numalign.scheduler.preemption import decode_placement
from tests.kubelet.regular import GI, regular
from tests.scheduler.nrt.nodes import guaranteed, static, with_pods


def free(nrt: NodeResourceTopology, name: str) -> list[int]:
    return [(zone.resources[name].available or 0) // NANO for zone in nrt.zones]


@pytest.mark.parametrize(
    ("like", "expected"),
    [
        pytest.param("numalign", [0, 23 * GI], id="the kubelet fills the first node, then the second"),
        pytest.param("rte", [0, 0], id="rte takes the full size off both"),
        pytest.param("nfd", [0, 23 * GI], id="nfd fills node by node as the kubelet does"),
    ],
)
def test_memory_over_two_nodes(like: Like, expected: list[int]) -> None:
    session = with_pods(static(regular()), [guaranteed("p", {"cpu": "1", "memory": "40Gi"})])
    assert free(export(session, "n", ExportOptions(like)), "memory") == expected


@pytest.mark.parametrize(("like", "expected"), [("numalign", [0, 0]), ("rte", [0, 0]), ("nfd", [1, 0])])
def test_a_device_of_two_nodes_in_use(like: Like, expected: list[int]) -> None:
    machine = regular(devices={"example.com/gpu": (Device("g", (0, 1)),)})
    session = with_pods(static(machine), [guaranteed("p", {"cpu": "1", "memory": "1Gi", "example.com/gpu": "1"})])
    nrt = export(session, "n", ExportOptions(like))
    assert [zone.resources["example.com/gpu"].allocatable for zone in nrt.zones] == [NANO, NANO]
    assert free(nrt, "example.com/gpu") == expected


LIKES: tuple[Like, ...] = ("numalign", "rte", "nfd")


@pytest.mark.parametrize("like", LIKES)
def test_zones_come_by_their_numbers_in_whatever_order_the_machine_lists_them(like: Like) -> None:
    machine = regular(nodes=3, devices={"example.com/gpu": (Device("g", (1,)),)})
    turned = machine._replace(numa_nodes=machine.numa_nodes[::-1])
    pods = [guaranteed("p", {"cpu": "2", "memory": "1Gi", "example.com/gpu": "1"})]
    plain, other = (export(with_pods(static(one), pods), "n", ExportOptions(like)) for one in (machine, turned))
    assert [(zone.name, zone.costs) for zone in other.zones] == [(zone.name, zone.costs) for zone in plain.zones]
    assert [zone.name for zone in other.zones if "example.com/gpu" in zone.resources] == ["node-1"]


def test_a_numa_node_lists_the_huge_pages_that_it_has() -> None:
    machine = regular(hugepages={"2Mi": GI})
    first, second = machine.numa_nodes
    nrt = export(with_pods(static(machine._replace(numa_nodes=(first, second._replace(hugepages={})))), []), "n")
    assert ["hugepages-2Mi" in zone.resources for zone in nrt.zones] == [True, False]


def test_resources_come_in_one_order() -> None:
    """Rule 28: CPUs, memory, huge pages by size, devices by name, whatever order the machine has them in.

    A machine that is made of an object may have pages of no size.
    """
    devices = {f"example.com/{name}": (Device(name, (0, 1)),) for name in ("z", "a", "k")}
    sizes = ("huge", "2k", "64Ki", "2Mi", "16Mi", "32Mi", "512Mi", "1Gi")
    pages = dict.fromkeys(sizes[::-1], GI)
    nrt = export(with_pods(static(regular(devices=devices, hugepages=pages)), []), "n")
    for zone in nrt.zones:
        assert list(zone.resources) == [
            *("cpu", "memory"),
            *(f"hugepages-{size}" for size in sizes),
            *("example.com/a", "example.com/k", "example.com/z"),
        ]


@pytest.mark.parametrize(("like", "expected"), [("numalign", 4), ("rte", 6), ("nfd", 6)])
def test_cpus_of_a_finished_init_container_are_invisible_to_exporters(like: Like, expected: int) -> None:
    """The app container gets one CPU of its own; the init container's two stay out of the pool, unseen."""
    big, small = ({"cpu": count, "memory": "1Gi"} for count in ("2", "1"))
    pod = guaranteed("p", big, init=True)
    pod = pod._replace(containers=(pod.containers[0], guaranteed("q", small).containers[0]))
    session = with_pods(static(regular()), [pod])
    assert free(export(session, "n", ExportOptions(like)), "cpu")[0] == expected


@pytest.mark.parametrize(
    ("like", "legacy", "method"),
    [
        ("numalign", ("BestEffortContainerLevel",), "all"),
        ("rte", (), "all"),
        ("nfd", ("BestEffortContainerLevel",), None),
    ],
)
def test_policies_and_fingerprint(like: Like, legacy: tuple[str, ...], method: str | None) -> None:
    pods = [
        guaranteed("a", {"cpu": "1", "memory": "1Gi"}),
        guaranteed("b", {"cpu": "500m", "memory": "1Gi"}, namespace="x"),
    ]
    nrt = export(with_pods(static(regular()), pods), "n", ExportOptions(like))
    assert nrt.topology_policies == legacy
    assert attribute(nrt.attributes, POLICY) == "best-effort"
    assert attribute(nrt.attributes, "nodeTopologyPodsFingerprintMethod") == method
    said = fingerprint.published(nrt)
    assert fingerprint.check_fingerprint(said.text, [("x", "b"), ("default", "a")]) == "match"


def test_the_number_of_nodes_and_the_managers_are_written_for_who_reads_them() -> None:
    setup = static(regular(), topology_manager_policy_options={"max-allowable-numa-nodes": "12"})
    nrt = export(with_pods(setup, []), "n")
    assert manager_config(nrt).max_numa_nodes == 12
    assert attribute(nrt.attributes, "memoryManagerPolicy") == "Static"


@pytest.mark.parametrize("turned", [False, True], ids=["nodes in order", "nodes from the last to the first"])
def test_a_placement_is_read_back_by_the_plugin(turned: bool) -> None:
    machine = regular()
    machine = machine._replace(numa_nodes=machine.numa_nodes[::-1]) if turned else machine
    setup = static(machine, topology_manager_policy="single-numa-node")
    pods = [guaranteed(name, {"cpu": "5", "memory": "1Gi"}) for name in ("a", "b")]
    nrt = export(with_pods(setup, pods), "n", ExportOptions(placement=True))
    containers = [("default", name, "c0") for name in ("a", "b")]
    assert decode_placement(nrt, containers) == {("default", "a", "c0"): 0, ("default", "b", "c0"): 1}


def test_a_stale_object_is_told_apart() -> None:
    setup = static(regular())
    before = export(with_pods(setup, []), "n")
    after = export(with_pods(setup, [guaranteed("a", {"cpu": "2", "memory": "1Gi"})]), "n")
    assert list(differences(before, before)) == []
    found = [(one.what, one.path) for one in differences(before, after)]
    assert found == [
        ("stale", "fingerprint"),
        ("amount", "zones[node-0].resources.cpu.available"),
        ("amount", "zones[node-0].resources.memory.available"),
    ]


def test_zones_and_settings_that_differ() -> None:
    now = export(with_pods(static(regular()), []), "n")
    zone = now.zones[1]._replace(name="node-7")
    other = now._replace(
        zones=(now.zones[0], zone),
        attributes=((POLICY, "restricted"), ("topologyManagerScope", "pod"), *now.attributes),
    )
    found = [(one.what, one.path) for one in differences(other, now)]
    assert found == [
        ("policy", "topologyManagerPolicy"),
        ("scope", "topologyManagerScope"),
        ("zone", "zones[node-1]"),
        ("zone", "zones[node-7]"),
    ]
    sides = [(one.published, one.actual) for one in differences(other, now)]
    assert sides == [("restricted", "best-effort"), ("pod", "container"), (None, "node-1"), ("node-7", None)]


def test_a_resource_of_one_side_alone_is_a_difference_of_its_whole_amount() -> None:
    now = export(with_pods(static(regular()), []), "n")
    first, *rest = now.zones
    less = now._replace(zones=(first._replace(resources={"cpu": first.resources["cpu"]}), *rest))
    size = first.resources["memory"].allocatable
    path = "zones[node-0].resources.memory"
    assert list(differences(less, now)) == [("amount", path, None, size)]
    assert list(differences(now, less)) == [("amount", path, size, None)]


def test_what_an_object_does_not_say_is_no_difference() -> None:
    """What is free, whose pods it describes, and a scope where no policy asks for one."""
    now = export(with_pods(static(regular(), topology_manager_policy="none"), []), "n")
    first, *rest = now.zones
    silent = {name: one._replace(available=None) for name, one in first.resources.items()}
    attributes = {name: "pod" if name == SCOPE else value for name, value in now.attributes if name != FINGERPRINT}
    said = now._replace(attributes=tuple(attributes.items()), zones=(first._replace(resources=silent), *rest))
    assert list(differences(said, now)) == []
    assert list(differences(now, now._replace(attributes=said.attributes[:1]))) == []
