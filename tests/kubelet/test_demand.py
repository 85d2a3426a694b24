"""What a pod asks for, in whole numbers (docs/rules/cpu-manager.md 5, topology-manager.md 11.2)."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.kubelet.demand import ContainerDemand, effective, exclusive_cpus, of_node, read_demand, with_overhead
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.pod import Pod, PodLevel
from numalign.model.quantity import parse

GI = 1 << 30


def pod(*containers: str) -> Pod:
    """Each container as `kind resource=amount …`."""
    spec: dict[str, list[dict[str, Any]]] = {"initContainers": [], "containers": []}
    for number, text in enumerate(containers):
        kind, *amounts = text.split()
        more = {"restartPolicy": "Always"} if kind == "sidecar" else {}
        limits = dict(amount.split("=") for amount in amounts)
        entry = {"name": f"c{number}", "resources": {"limits": limits}, **more}
        spec["containers" if kind == "app" else "initContainers"].append(entry)
    return read_pod({"metadata": {"name": "p", "uid": "p"}, "spec": spec})


@pytest.mark.parametrize(
    ("asked", "cpus"),
    [("1", 1), ("1500m", 0), ("1m", 0), ("0", 0), ("1999m", 0), ("1999.5m", 2), ("1000000001n", 0), ("1000", 1000),
     ("1001", 1001), ("999", 999), ("2002", 2002)],
)  # fmt: skip
def test_whole_cpus_are_exclusive(asked: str, cpus: int) -> None:
    """Rounded up to millicores first."""
    assert exclusive_cpus(parse(asked).nano) == cpus


POD_LEVEL = [
    ("app containers add up", ["app cpu=1 memory=1Gi v/g=1", "app cpu=2 memory=2Gi v/g=2"], (3, 3, 3)),
    ("an init container is a peak",
     ["init cpu=5 memory=4Gi v/g=2", "app cpu=1 memory=1Gi v/g=1", "app cpu=1 memory=1Gi"],
     (5, 4, 2)),
    ("a smaller one is none",
     ["init cpu=1 memory=1Gi v/g=1", "app cpu=1 memory=1Gi v/g=1", "app cpu=1 memory=1Gi v/g=1"],
     (2, 2, 2)),
    ("a sidecar adds to app containers", ["sidecar cpu=1 memory=1Gi v/g=1", "app cpu=2 memory=3Gi v/g=2"], (3, 4, 3)),
    ("and to the init containers after it",
     ["sidecar cpu=1 memory=1Gi v/g=1", "init cpu=4 memory=4Gi v/g=4", "app cpu=2 memory=2Gi v/g=2"], (5, 5, 5)),
    ("not to those before it",
     ["init cpu=4 memory=4Gi v/g=4", "sidecar cpu=1 memory=1Gi v/g=1", "app cpu=2 memory=2Gi v/g=2"], (4, 4, 4)),
    ("of two init containers the larger counts",
     ["init cpu=4 memory=4Gi v/g=4", "init cpu=3 memory=5Gi v/g=3", "app cpu=2 memory=2Gi v/g=2"], (4, 5, 4)),
    ("two sidecars", ["sidecar cpu=1 memory=1Gi v/g=1", "sidecar cpu=2 memory=2Gi v/g=2", "app cpu=2 memory=2Gi v/g=2"],
     (5, 5, 5)),
]  # fmt: skip


@pytest.mark.parametrize(("containers", "whole"), [row[1:] for row in POD_LEVEL], ids=[row[0] for row in POD_LEVEL])
def test_a_pod_as_a_whole(containers: list[str], whole: tuple[int, int, int]) -> None:
    made = pod(*containers)
    demand = read_demand(made)
    cpus, memory, devices = whole
    assert demand.cpus == cpus
    assert demand.memory == (("memory", memory * GI),)
    assert demand.devices == (("v/g", devices),)
    assert effective(made, "limits") == effective(made, "requests")
    assert effective(made, "limits")["memory"] == memory * GI * 10**9


def test_cpus_that_no_container_has_alone_count_for_no_pod() -> None:
    demand = read_demand(pod("app cpu=1500m memory=1Gi", "app cpu=2 memory=1Gi"))
    assert [one.cpus for one in demand.containers] == [0, 2]
    assert demand.cpus == 2


def test_a_burstable_pod_asks_for_devices_alone() -> None:
    made = read_pod({"metadata": {"name": "p", "uid": "p"}, "spec": {"containers": [
        {"name": "c", "resources": {"requests": {"cpu": "1", "v/b": "2", "v/a": "1"},
                                    "limits": {"v/b": "2", "v/a": "1"}}},
    ]}})  # fmt: skip
    demand = read_demand(made)
    assert (demand.guaranteed, demand.cpus, demand.memory) == (False, 0, ())
    assert demand.devices == demand.containers[0].devices == (("v/a", 1), ("v/b", 2))


def test_resources_are_sorted_and_memory_that_is_no_int64_is_none() -> None:
    [container] = read_demand(pod("app cpu=1 memory=1Gi hugepages-2Mi=4Mi hugepages-1Gi=1Gi v/z=1 v/b=3")).containers
    assert container.memory == (("hugepages-1Gi", GI), ("hugepages-2Mi", 4 << 20), ("memory", GI))
    assert container.devices == (("v/b", 3), ("v/z", 1))
    assert read_demand(pod("app hugepages-2Mi=4Mi v/z=1", "app v/z=2")).devices == (("v/z", 3),)
    for amount in ("1.5", "16Ei"):
        assert read_demand(pod(f"app cpu=1 memory={amount} hugepages-2Mi=4Mi")).memory is None
        assert read_demand(pod(f"app cpu=1 memory={amount}", "app cpu=1 memory=1Gi")).memory is None


def test_an_amount_of_a_resource() -> None:
    asked = ContainerDemand("c", "app", 3, (("hugepages-2Mi", 8), ("memory", 5)), (("v/a", 1), ("v/b", 2)))
    amounts = {"cpu": 3, "memory": 5, "hugepages-2Mi": 8, "v/a": 1, "v/b": 2, "v/c": 0}
    assert {name: asked.amount_of(name) for name in amounts} == amounts
    assert asked._replace(memory=None).amount_of("memory") == 0


def test_what_counts_on_the_node() -> None:
    """Pod-level requests count for CPUs and memory in place of the sum; the overhead comes on top."""
    made = pod("app cpu=1 memory=1Gi v/g=1", "app cpu=2 memory=2Gi v/g=1")
    level = PodLevel({name: parse("4") for name in ("cpu", "memory", "hugepages-2Mi", "v/g")}, {})
    whole = made._replace(level=level, overhead={"cpu": parse("500m"), "v/o": parse("1")})
    nano = 10**9
    assert of_node(made) == {"cpu": 3 * nano, "memory": 3 * GI * nano, "v/g": 2 * nano}
    same = {"cpu": 4 * nano, "memory": 4 * nano, "hugepages-2Mi": 4 * nano, "v/g": 2 * nano}
    assert of_node(whole) == same
    assert with_overhead(whole) == {**same, "cpu": 4500 * 10**6, "v/o": nano}
    assert with_overhead(whole._replace(counted={"cpu": nano})) == {"cpu": 1500 * 10**6, "v/o": nano}
