"""What brings GPUs and NICs closer: counts, claims and resources of one NUMA node, each tried."""

from __future__ import annotations

import pytest

from numalign.analysis.closeness import farthest, rail
from numalign.kubelet.admission import admit, open_session
from numalign.kubelet.setup import Setup
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.hardware import Hardware, PCIFunction
from numalign.model.machine import Device, Machine
from numalign.model.pod import Pod
from numalign.results.explain import Closer
from numalign.sources.machine.loading import load_machine
from numalign.tasks.explain import explain
from numalign.tasks.requests import KubeletRequest
from numalign.tasks.setup import load_setup
from numalign.worlds.pod_result import pod_result

GPU, NIC = "nvidia.com/gpu", "mellanox.com/ib"
RAILS = {"gpu0": "10", "mlx5_2": "10", "gpu1": "20", "mlx5_1": "20", "gpu2": "30", "mlx5_0": "30"}
"""Device -> its bus: the plugins give the first of each, which share none. Bus 30 is on NUMA 1."""


def crossed(*, roots: bool = True, without: str = "") -> Machine:
    """A machine whose first GPU and first NIC are far from each other."""
    devices = {
        resource: tuple(
            [
                Device(name, (int(bus == "30"),))
                for name, bus in sorted(RAILS.items())
                if name.startswith(word) and name != without
            ]
        )
        for resource, word in ((GPU, "gpu"), (NIC, "mlx"))
    }
    functions = [
        PCIFunction(
            name,
            class_id="0302" if name.startswith("gpu") else "0207",
            numa_node=int(bus == "30"),
            root=f"pci0000:{bus}" if roots else None,
            switch=f"0000:{bus}:00.0",
        )
        for name, bus in RAILS.items()
    ]
    return load_machine("figure-1").machine._replace(devices=devices, hardware=Hardware(pci=tuple(functions)))


def pod(gpus: int, nics: int, gpu: str = GPU, nic: str = NIC) -> Pod:
    spec = {"containers": [{"name": "app", "resources": {"limits": {"cpu": 1, "memory": "1Mi", gpu: gpus, nic: nics}}}]}
    return read_pod({"metadata": {"name": "rank"}, "spec": spec})


def setup_of(machine: Machine | str, policy: str) -> Setup:
    name = machine if isinstance(machine, str) else "figure-1"
    setup = load_setup(name, KubeletRequest(settings={"topology-manager-policy": policy})).setup
    return setup if isinstance(machine, str) else setup._replace(machine=machine)


def told(setup: Setup, asked: Pod) -> tuple[Closer, ...]:
    return explain(setup, [asked]).pods[0].closer


@pytest.mark.parametrize(
    ("policy", "gpus", "nics", "expected"),
    [
        ("none", 1, 1, [{NIC: 3}, "claim", {0}]),
        ("none", 2, 1, [{NIC: 3}, "claim", {0}]),
        ("none", 1, 3, []),
        ("single-numa-node", 1, 1, [{NIC: 2}, "claim"]),
        ("single-numa-node", 2, 2, []),
    ],
)
def test_what_brings_them_closer(
    policy: str, gpus: int, nics: int, expected: list[dict[str, int] | str | set[int]]
) -> None:
    found = told(setup_of(crossed(), policy), pod(gpus, nics))
    assert [one.amounts or ({0} if one.numa == 1 else "claim") for one in found] == expected
    assert all(bool(one.write) == (not one.amounts and not one.numa) for one in found)
    assert [one.closeness for one in found] == ["same switch", "same switch", "same node"][: len(found)]


@pytest.mark.parametrize("name", ["p5.48xlarge", "p6-b300.48xlarge", "dgx-h100", "mi355x"])
def test_the_request_is_the_smallest_that_does_it(name: str) -> None:
    setup = setup_of(name, "restricted")
    gpu, nic = sorted(setup.machine.devices, key=lambda resource: "gpu" not in resource)
    (way,) = told(setup, pod(2, 1, gpu, nic))
    (number,) = way.amounts.values()

    found = []
    for asked in range(1, number + 1):
        outcome = admit(open_session(setup), pod(2, asked, gpu, nic))
        (container,) = pod_result(outcome).containers
        found.append(rail(setup.machine, container.holding))
    assert found == [*["far"] * (number - 1), "near"]
    assert farthest(setup.machine, container.holding) == way.closeness


def test_where_roots_are_unknown_no_claim_is_tried() -> None:
    found = told(setup_of(crossed(roots=False), "single-numa-node"), pod(1, 1))
    assert [one.amounts for one in found] == [{NIC: 2}]


def test_what_nothing_brings_closer_is_said() -> None:
    machine = crossed(without="mlx5_2")
    (way,) = told(setup_of(machine, "none"), pod(3, 2))
    assert (way.closeness, way.amounts, way.numa, way.write) == ("same node", {}, 0, ())


def test_what_names_nics_of_other_nodes_is_left_out_with_them() -> None:
    machine = crossed()._replace(preferred_allocation={NIC: (("mlx5_0",),)}, links={NIC: (("mlx5_0", "mlx5_1", 1),)})
    found = told(setup_of(machine, "none"), pod(1, 1))
    assert [one.closeness for one in found if one.numa] == ["same node"]


def test_a_claim_says_what_to_write() -> None:
    (_, way) = told(setup_of(crossed(), "single-numa-node"), pod(1, 1))
    assert [line.strip() for line in way.write[-3:]] == [
        "constraints:",
        "- requests: [gpu, nic]",
        "matchAttribute: resource.kubernetes.io/pcieRoot",
    ]
