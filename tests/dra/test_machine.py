"""Slices read back as a machine: what they say comes back as it was, what they do not say is named."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from numalign.dra.machine import ReadBack, machine_of, nodes_of
from numalign.dra.publish.slices import Options, driver_of, publish, usual_drivers
from numalign.dra.reading import read_slice
from numalign.dra.values import Slice
from numalign.errors import InputError
from numalign.kubelet.cpu.topology import build
from numalign.model.machine import Machine
from numalign.sources.machine import bundled
from numalign.sources.machine.loading import load_machine
from tests.cli.running import ROOT, in_process
from tests.dra.objects import device, resource_slice

CLUSTER = str(ROOT / "docs" / "examples" / "dra" / "cluster.yaml")


def slices_of(machine: Machine, options: Options) -> tuple[Slice, ...]:
    drivers = {
        name: tuple(resource for resource in sorted(machine.devices) if driver_of(resource) == name)
        for name in usual_drivers(machine)
    }
    return publish(machine, drivers, options).slices


def back(machine: Machine, options: Options) -> ReadBack:
    return machine_of(slices_of(machine, options), machine.node.name or machine.name)


@pytest.mark.parametrize("name", bundled.names())
def test_single_cpus_tell_a_machine_exactly(name: str) -> None:
    machine = load_machine(name).machine
    read = back(machine, Options(cpus="cpu")).machine
    assert build(read) == build(machine)
    assert _memory(read) == _memory(machine)


def _memory(machine: Machine) -> dict[int, tuple[int, dict[str, int]]]:
    """Memory and huge pages of the nodes that have some, or CPUs: nothing is published of the others."""
    return {
        node.id: (node.memory, {size: amount for size, amount in node.hugepages.items() if amount})
        for node in machine.numa_nodes
        if node.memory or node.cpus
    }


@pytest.mark.parametrize("name", bundled.names())
@pytest.mark.parametrize("group", ["cpu", "numanode"])
def test_a_machine_read_back_publishes_the_same_slices(name: str, group: str) -> None:
    machine = load_machine(name).machine
    options = Options(cpus=group, standard_numa=True)  # type: ignore[arg-type]  # one of the literals
    assert _unordered(slices_of(back(machine, options).machine, options)) == _unordered(slices_of(machine, options))


def _unordered(slices: Sequence[Slice]) -> dict[str, list[object]]:
    """Devices by driver. Names of cards are made up of their position, and resources come in another order."""
    found: dict[str, list[object]] = {}
    for one in slices:
        facts = [(sorted(each.attributes.items()), sorted(each.capacity)) for each in one.devices]
        found.setdefault(one.driver, []).extend(sorted(facts, key=repr))
    return found


CPU = {"dra.cpu/cpuID": 0, "dra.cpu/numaNodeID": 0, "dra.cpu/socketID": 0, "dra.cpu/coreID": 0}


def cpu(number: int, **changes: int) -> dict[str, Any]:
    return device(
        f"c{number}", **{**CPU, "dra.cpu/cpuID": number, **{f"dra.cpu/{key}": one for key, one in changes.items()}}
    )


def read(*slices: Mapping[str, Any], node: str = "node-1") -> ReadBack:
    return machine_of([read_slice(one) for one in slices], node)


def test_nodes_are_named_in_the_order_of_their_names() -> None:
    names = [f"n{number}" for number in range(9)]
    written = [resource_slice("x", [], name) for name in names[::-1]] + [resource_slice("x", [], nodeName=None)]
    assert nodes_of([read_slice(one) for one in written]) == tuple(names), "one that names no node is of none"


def test_core_numbers_repeat_on_every_socket() -> None:
    """CPUs 0 and 2 are core 0 of socket 0, CPUs 1 and 3 are core 0 of socket 1."""
    devices = [cpu(number, socketID=number % 2, numaNodeID=number % 2) for number in range(4)]
    assert read(resource_slice("dra.cpu", devices)).machine.cores == (0b0101, 0b1010)


def test_a_device_behind_the_root_of_another_is_on_its_node() -> None:
    root = {"resource.kubernetes.io/pcieRoot": "pci0000:15"}
    found = read(
        resource_slice("dra.cpu", [cpu(0), cpu(1, numaNodeID=1, socketID=1, coreID=1)]),
        resource_slice("dra.net", [device("nic", **{**root, "dra.net/numaNode": 1})]),
        resource_slice("gpu.nvidia.com", [device("gpu-0", type="gpu", **root), device("gpu-1", type="gpu")]),
    )
    assert [one.numa_nodes for one in found.machine.devices["nvidia.com/gpu"]] == [(1,), None]
    assert "gpu.nvidia.com reports no NUMA node: 1 devices are on the NUMA node of their PCIe root" in found.left_out
    assert "NUMA node unknown: 1 devices of gpu.nvidia.com" in found.left_out


def test_a_node_of_which_only_devices_are_known_is_there() -> None:
    found = read(resource_slice("dra.cpu", [cpu(0)]), resource_slice("x", [device("d", **{"x/numaNode": 7})]))
    assert [node.id for node in found.machine.numa_nodes] == [0, 7]
    assert found.machine.devices["x/device"][0].numa_nodes == (7,)


def test_parts_of_a_card_are_no_cards() -> None:
    found = read(
        resource_slice("dra.cpu", [cpu(0)]),
        resource_slice("gpu.nvidia.com", [device("gpu-0", type="gpu"), device("gpu-0-mig-1", type="mig")]),
    )
    assert [one.id for one in found.machine.devices["nvidia.com/gpu"]] == ["gpu-0"]
    assert "skipped 1 devices of gpu.nvidia.com: parts or other views of whole devices" in found.left_out


def test_what_is_not_said_is_named() -> None:
    found = read(resource_slice("dra.cpu", [cpu(1), cpu(3, coreID=1)]))
    assert found.machine.numa_nodes[0].memory == 64 << 40
    assert found.left_out == (
        "CPUs 0,2 are in no slice: reserved by the driver, or offline",
        "unknown: CPUs above the last published CPU, and NUMA nodes without published CPUs",
        "memory unknown: numalign assumes 64 TiB on each NUMA node, without huge pages",
        "slices have no distances, no links between devices and no kubelet settings",
    )


def test_a_pool_that_is_not_whole_is_left_out() -> None:
    pool = {"name": "node-1", "generation": 1, "resourceSliceCount": 2}
    found = read(
        resource_slice("dra.cpu", [cpu(0)]),
        resource_slice("dra.net", [device("nic", **{"dra.net/numaNode": 0})], pool=pool),
    )
    assert not found.machine.devices
    assert "skipped pool dra.net/node-1: some slices are missing" in found.left_out


GROUP = {"dra.cpu/numaNodeID": 0, "dra.cpu/numCPUs": 4}
REFUSED = [
    ("no CPUs", resource_slice("dra.net", [device("nic", **{"dra.net/numaNode": 0})]), "no device of dra.cpu found"),
    (
        "sockets only",
        resource_slice("dra.cpu", [device("cpudevsocket000", **{"dra.cpu/socketID": 0})]),
        "has no NUMA node",
    ),
    ("no count", resource_slice("dra.cpu", [device("g", **{"dra.cpu/numaNodeID": 0})]), "has no number of CPUs"),
    (
        "half a CPU",
        resource_slice("dra.cpu", [cpu(0), device("c1", **{"dra.cpu/cpuID": 1})]),
        "has no CPU id or no NUMA node",
    ),
    ("a CPU twice", resource_slice("dra.cpu", [cpu(0), {**cpu(0), "name": "again"}]), "duplicate CPU 0"),
    ("a huge CPU", resource_slice("dra.cpu", [cpu(2**62)]), "is not a valid number in Linux"),
    ("a huge node", resource_slice("dra.cpu", [cpu(0, numaNodeID=2**62)]), "is not a valid number in Linux"),
    (
        "a negative count",
        resource_slice("dra.cpu", [device("g", **{**GROUP, "dra.cpu/numCPUs": -4})]),
        "is not a valid number in Linux",
    ),
]


@pytest.mark.parametrize(("slice_", "said"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_slices_that_do_not_say_enough_are_no_machine(slice_: Mapping[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(slice_)


def test_a_huge_node_of_a_device_is_refused() -> None:
    with pytest.raises(InputError, match="is not a NUMA node of Linux"):
        read(
            resource_slice("dra.cpu", [cpu(0)]), resource_slice("dra.net", [device("n", **{"dra.net/numaNode": 2**62})])
        )


def test_a_pod_gets_the_same_cpus_on_the_machine_that_was_read_back(tmp_path: Path) -> None:
    written = in_process("dra", "slices", "--machine", "epyc-2s-nps1", "--cpus-by", "cpu")
    (tmp_path / "slices.yaml").write_text(written.out)
    machines = ["epyc-2s-nps1", str(tmp_path / "slices.yaml")]
    pod = str(ROOT / "docs" / "examples" / "dra" / "gpu.yaml")
    options = ("--policy", "single-numa-node", "--cpu-manager-policy-options", "prefer-align-cpus-by-uncorecache=true")
    answers = [in_process("admit", pod, "-m", one, *options, "-o", "json").json["pods"] for one in machines]
    assert answers[0] == answers[1]
    assert answers[0][0]["containers"][0]["cpus"] is not None


def test_of_several_nodes_one_is_named() -> None:
    done = in_process("discover", "-m", CLUSTER)
    assert done.status == 2
    assert f"slices of several nodes; fix: name one, as {CLUSTER}@NODE; allowed: hgx-1, hgx-2" in done.err.replace(
        "\n", "; "
    )
    done = in_process("discover", "-m", f"{CLUSTER}@hgx-1", "-o", "json")
    assert done.status == 0, done.err
    assert [node["cpus"] for node in done.json["numaNodes"]] == ["0-55,112-167", "56-111,168-223"]
    assert "note: hgx-1: numalign chose CPU ids and cores" in done.err
    done = in_process("discover", "-m", f"{CLUSTER}@hgx-9")
    assert done.status == 2
    assert "no slice of node hgx-9\nallowed: hgx-1, hgx-2" in done.err
    done = in_process("discover", "-m", f"{ROOT}/machines/figure-1.yaml@hgx-9")
    assert done.status == 2
    assert "FILE@NODE is for files with ResourceSlices" in done.err


def test_one_slice_of_one_node_is_enough(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text(
        json.dumps({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", **resource_slice("dra.cpu", [cpu(0)])})
    )
    assert in_process("discover", "-m", str(tmp_path / "one.json"), "-o", "name").status == 0


def memory(name: str, node: int, size: str, page: str) -> dict[str, Any]:
    made = device(name, **{"dra.memory/numaNode": node, "dra.memory/pageSize": page})
    return {**made, "capacity": {"size": {"value": size}}}


def test_memory_is_what_its_driver_publishes() -> None:
    """Pages of a size that Kubernetes does not have count as memory; a device that does not say enough is left out."""
    odd = [device("no-size", **{"dra.memory/numaNode": 0, "dra.memory/pageSize": "4k"}), memory("x", 0, "1", "4k")]
    del odd[1]["attributes"]["dra.memory/pageSize"]
    sizes = [
        memory("a", 0, "8Gi", "4k"),
        memory("b", 0, "2Gi", "1g"),
        memory("c", 0, "1Gi", "1g"),
        memory("d", 3, "1Gi", "8m"),
    ]
    found = read(resource_slice("dra.cpu", [cpu(0)]), resource_slice("dra.memory", [*sizes, *odd]))

    assert found.machine.node.name == "node-1"
    assert [(node.id, node.memory >> 30, node.hugepages) for node in found.machine.numa_nodes] == [
        (0, 11, {"1Gi": 3 << 30}),
        (3, 1, {}),
    ]
    assert [text for text in found.left_out if text.startswith("skipped")] == [
        f"skipped {name} of dra.memory: no NUMA node, size or pages" for name in ("no-size", "x")
    ]


RESOURCES = [
    ("NVIDIA's", "gpu.nvidia.com", {"uuid": "GPU-1"}, "nvidia.com/gpu", "GPU-1"),
    ("AMD's", "gpu.amd.com", {}, "amd.com/gpu", "d"),
    ("the example's", "gpu.example.com", {"uuid": "u"}, "gpu.example.com/gpu", "u"),
    ("a network card by its name", "dra.net", {"dra.net/ifName": "eth0"}, "dra.net/nic", "eth0"),
    (
        "one with RDMA by its RDMA device",
        "dra.net",
        {"dra.net/ifName": "eth0", "dra.net/rdmaDevice": "mlx5_0", "dra.net/rdma": True},
        "dra.net/rdma",
        "mlx5_0",
    ),
    ("by its address", "dra.net", {"dra.net/pciAddress": "0000:17:00.0"}, "dra.net/nic", "0000:17:00.0"),
    ("of a driver that nobody knows", "acme.com", {"dra.net/ifName": "x"}, "acme.com/device", "x"),
]


@pytest.mark.parametrize(
    ("driver", "said", "resource", "id_"), [row[1:] for row in RESOURCES], ids=[row[0] for row in RESOURCES]
)
def test_a_device_gets_the_names_that_its_plugin_has(
    driver: str, said: dict[str, Any], resource: str, id_: str
) -> None:
    found = read(resource_slice("dra.cpu", [cpu(0)]), resource_slice(driver, [device("d", numaNode=0, **said)]))

    assert {name: [one.id for one in devices] for name, devices in found.machine.devices.items()} == {resource: [id_]}


def test_two_devices_of_one_id_keep_their_own_names() -> None:
    twins = [device(name, **{"dra.net/ifName": "eth0"}) for name in ("a", "b", "c")]
    found = read(resource_slice("dra.cpu", [cpu(0)]), resource_slice("dra.net", twins))

    assert [one.id for one in found.machine.devices["dra.net/nic"]] == ["eth0", "b", "c"]


def test_the_bus_is_kept_where_it_is_said() -> None:
    root = {"resource.kubernetes.io/pcieRoot": "pci0000:15"}
    nic = device("n", **{"dra.net/pciAddress": "0000:17:00.0", "dra.net/ifName": "eth0", "dra.net/numaNode": 0, **root})
    gpu = device("g", **{"resource.kubernetes.io/pciBusID": "0000:18:00.0"})
    found = read(
        resource_slice("dra.cpu", [cpu(0)]), resource_slice("dra.net", [nic]), resource_slice("acme.com", [gpu])
    )

    assert found.machine.hardware is not None
    assert {(one.address, one.numa_node, one.names, one.root) for one in found.machine.hardware.pci} == {
        ("0000:17:00.0", 0, ("eth0",), "pci0000:15"),
        ("0000:18:00.0", None, (), None),
    }
    assert read(resource_slice("dra.cpu", [cpu(0)])).machine.hardware is None


def test_kinds_of_cores_are_hardware() -> None:
    found = read(resource_slice("dra.cpu", [device("c0", **CPU, **{"dra.cpu/coreType": "e-core"})]))

    assert found.machine.hardware is not None
    assert [(kind.kind, kind.cpus) for kind in found.machine.hardware.cpu_kinds] == [("e-core", 1)]


def test_parts_of_devices_with_shared_counters_are_left_out() -> None:
    part = {**device("p"), "consumesCounters": [{"counterSet": "s", "counters": {"c": {"value": "1"}}}]}
    sets = resource_slice("acme.com", [], sharedCounters=[{"name": "s", "counters": {"c": {"value": "9"}}}])
    sets["metadata"]["name"] = "sets"
    both = [sets, resource_slice("acme.com", [part, device("whole")])]
    for one in both:
        one["spec"]["pool"] = {"name": "node-1", "generation": 1, "resourceSliceCount": 2}

    found = read(resource_slice("dra.cpu", [cpu(0)]), *both)

    assert [one.id for one in found.machine.devices["acme.com/device"]] == ["whole"]


def test_there_are_at_most_as_many_nodes_as_linux_has() -> None:
    devices = [device(f"d{node}", **{"x/numaNode": node}) for node in range(1024)]
    slices = [resource_slice("x", devices)]

    assert len(read(resource_slice("dra.cpu", [cpu(0)]), *slices).machine.numa_nodes) == 1024
    with pytest.raises(InputError, match="1025 NUMA nodes; Linux has at most 1024"):
        read(resource_slice("dra.cpu", [cpu(0, numaNodeID=1024)]), *slices)
