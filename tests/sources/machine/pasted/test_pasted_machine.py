"""Several outputs make one machine, and what they do not say is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from numalign.analysis.closeness import reaches
from numalign.errors import InputError
from numalign.model.cpuset import parse
from numalign.sources.machine.loading import LoadedMachine, load_machine
from numalign.sources.machine.pasted.kubernetes import MACHINE_INFO

PASTES = Path(__file__).parents[3] / "pastes"
GPU = "nvidia.com/gpu"


def paste(name: str) -> str:
    return (PASTES / f"{name}.txt").read_bytes().decode()


def loaded(folder: Path, *texts: str) -> LoadedMachine:
    """Load one machine of outputs, each in a file of its own."""
    files = [folder / f"{index}.txt" for index in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, encoding="utf-8")
    return load_machine(str(files[0]), [str(file) for file in files[1:]])


def codes(found: LoadedMachine) -> list[str]:
    return [notice.code for notice in found.warnings]


LSCPU, TOPO = paste("two-sockets.lscpu"), paste("two-sockets.nvidia-topo")


@pytest.mark.parametrize("together", [True, False])
def test_lscpu_and_topo_are_one_machine(tmp_path: Path, together: bool) -> None:
    texts = (f"{LSCPU}\n```\n$ nvidia-smi topo -m\n{TOPO}",) if together else (LSCPU, TOPO)
    found = loaded(tmp_path, *texts)
    machine = found.machine
    assert [node.cpus for node in machine.numa_nodes] == [parse("0-7,16-23"), parse("8-15,24-31")]
    assert machine.cores[0] == parse("0,16")
    assert [cache.cpus for cache in machine.uncore_caches] == list(
        map(parse, ("0-3,16-19", "4-7,20-23", "8-11,24-27", "12-15,28-31"))
    )
    assert [(device.id, device.numa_nodes) for device in machine.devices[GPU]] == [("gpu0", (0,)), ("gpu1", (1,))]
    assert machine.links == {GPU: (("gpu0", "gpu1", 4),)}
    near = {
        reach.accelerator.address: {how: [port.names[0] for port in ports] for how, ports in reach.ports.items()}
        for reach in reaches(machine)
    }
    assert near["gpu0"] == {"same switch": ["mlx5_0"], "common bridge": ["mlx5_1"], "other node": ["mlx5_bond_0"]}
    assert near["gpu1"]["same node"] == ["mlx5_bond_0"]
    assert codes(found)[:2] == ["paste-no-memory", "paste-no-distances"]


def test_memory_and_distances_come_from_another_output(tmp_path: Path) -> None:
    numactl = "available: 2 nodes (0-1)\nnode 0 cpus: 0 2 4 6 8 10\nnode 0 size: 10 MB\nnode 1 cpus: 1 3 5 7 9 11\n"
    numactl += "node 1 size: 12 MB\nnode distances:\nnode 0 1\n 0: 10 21\n 1: 21 10\n"
    found = loaded(tmp_path, paste("interleaved-quoted.lscpu"), numactl)
    assert [(node.memory >> 20, node.distances) for node in found.machine.numa_nodes] == [
        (10, (10, 21)),
        (12, (21, 10)),
    ]
    assert codes(found) == []


def test_lstopo_alone_may_lack_nodes(tmp_path: Path) -> None:
    """Hwloc hides the memory of NVIDIA's GPUs unless it is told to keep it, and its text does not tell."""
    [rounded] = [one for one in loaded(tmp_path, paste("short.lstopo")).warnings if one.code == "paste-rounded"]
    assert "hides NUMA nodes of NVIDIA GPUs; fix: add the output of numactl -H" in rounded.message


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        ((LSCPU, LSCPU.replace("0-7,16-23", "0-3,16-23")), "NUMA node 0 has CPUs"),
        ((LSCPU, paste("memory-only.numactl")), "has CPUs|NUMA nodes, another"),
        ((LSCPU, "nothing that a tool prints"), "has no output of a tool"),
        ((LSCPU, TOPO.replace("24-31\t1", "24-31\t5")), "gpu1 is on NUMA node 5, which has no CPUs or is not there"),
        ((LSCPU, TOPO.replace("8-15,24-31\t1", "8-15,24-31\t0")), "gpu1 is near CPUs that are not on NUMA node 0"),
        (('<system><cpu numaid="0" affinity="ff"',), "is cut off: it has no </system>"),
        (('<graphs version="1"></graphs>',), "without a machine"),
        (('I1 "Detected CPU topology" topology={"NumCPUs":2,"CPUDetails":{"0":{"NUMANode',), "cut off in the line"),
        (
            ('{"num_cores": 2, "topology": [{"node_id": 0, "cores": [{"core_id": 0}]}]}',),
            "expected a topology of nodes",
        ),
        (("Socket(s): 1\nNUMA node(s): 1\nNUMA node0 CPU(s): 0-x",), "expected a list of CPUs"),
        (("        GPU0    NIC0    CPU Affinity    NUMA Affinity\n",), "has no row of a GPU"),
    ],
)
def test_outputs_that_cannot_be_one_machine(tmp_path: Path, texts: tuple[str, ...], says: str) -> None:
    with pytest.raises(InputError, match=says):
        loaded(tmp_path, *texts)


def test_a_gpu_whose_node_is_a_list_has_none_unless_one_of_them_has_cpus(tmp_path: Path) -> None:
    several = loaded(tmp_path, LSCPU, TOPO.replace("\t0\t\t", "\t0-1\t\t"))
    assert several.machine.devices[GPU][0].numa_nodes is None
    assert "paste-no-node" in codes(several)
    grace = LSCPU.replace("NUMA node(s):          2", "NUMA node(s): 3") + "NUMA node2 CPU(s):\n"
    assert loaded(tmp_path, grace, TOPO.replace("\t0\t\t", "\t0,2\t\t")).machine.devices[GPU][0].numa_nodes == (0,)


def test_without_numa_affinity_the_cpus_count_where_they_are_a_whole_node(tmp_path: Path) -> None:
    old = TOPO.replace("\tNUMA Affinity\tGPU NUMA ID", "").replace("\t0\t\tN/A", "").replace("\t1\t\tN/A", "")
    assert [one.numa_nodes for one in loaded(tmp_path, LSCPU, old).machine.devices[GPU]] == [(0,), (1,)]
    cut = old.replace("8-15,24-31", "8-15")
    assert [one.numa_nodes for one in loaded(tmp_path, LSCPU, cut).machine.devices[GPU]] == [(0,), None]


NCCL = """<!-- a comment --><system version="1"><cpu numaid="1" affinity="{}" arch="x86_64">
<pci busid="0000:01:00.0" class="0x060400"><pci busid="0000:03:00.0" class="0x060400">
<pci busid="0000:05:00.0" class="0x030200" vendor="0x10de"><gpu dev="0"/></pci></pci>
<pci busid="0000:06:00.0" class="0x020700"><nic><net name="mlx5_0"/></nic></pci></pci></cpu></system>"""


def test_nccl_tells_devices_beside_lscpu(tmp_path: Path) -> None:
    found = loaded(tmp_path, NCCL.format("ff00ff00"), LSCPU)
    assert [(one.id, one.numa_nodes) for one in found.machine.devices[GPU]] == [("0000:05:00.0", (1,))]
    (reach,) = reaches(found.machine)
    assert {how: [port.names for port in ports] for how, ports in reach.ports.items()} == {
        "common bridge": [("mlx5_0",)]
    }
    with pytest.raises(InputError, match="CPUs of the NUMA nodes unknown"):
        loaded(tmp_path, NCCL.format("ff00ff00"))
    with pytest.raises(InputError, match=r"NUMA node 1 has CPUs 8-15,24-31, and 0-7,16-23 in NCCL"):
        loaded(tmp_path, NCCL.format("ff00ff"), LSCPU)


def machine_info() -> str:
    def core(number: int, node: int) -> dict[str, object]:
        caches = [{"id": number // 2, "size": 1, "type": "Unified", "level": 3}]
        return {"core_id": number, "thread_ids": [number, number + 8], "socket_id": node, "uncore_caches": caches}

    nodes = [
        {
            "node_id": node,
            "memory": 8 << 30,
            "hugepages": [{"page_size": 2048, "num_pages": 512}],
            "distances": [10, 21] if node == 0 else [21, 10],
            "cores": [core(4 * node + index, node) for index in range(4)],
        }
        for node in (0, 1)
    ]
    return json.dumps({"num_cores": 16, "memory_capacity": 15 << 30, "topology": nodes}, indent=1)


def test_machineinfo_is_a_whole_machine(tmp_path: Path) -> None:
    found = loaded(tmp_path, f"{MACHINE_INFO}:\n{machine_info()}\n")
    machine = found.machine
    assert found.warnings == ()
    assert [(node.cpus, node.memory, dict(node.hugepages), node.distances) for node in machine.numa_nodes] == [
        (parse("0-3,8-11"), 8 << 30, {"2Mi": 1 << 30}, (10, 21)),
        (parse("4-7,12-15"), 8 << 30, {"2Mi": 1 << 30}, (21, 10)),
    ]
    assert [cache.cpus for cache in machine.uncore_caches] == [
        parse(f"{2 * i}-{2 * i + 1},{2 * i + 8}-{2 * i + 9}") for i in range(4)
    ]
    assert machine.total_memory == 15 << 30


DETAILS = ",".join(
    f'"{cpu}":{{"NUMANodeID":{cpu % 2},"SocketID":{cpu % 2},"CoreID":{cpu % 4},"UncoreCacheID":{cpu % 2}}}'
    for cpu in range(8)
)
TOPOLOGY = f'"Detected CPU topology" topology={{"NumCPUs":8,"NumCores":4,"CPUDetails":{{{DETAILS}}}}}'


@pytest.mark.parametrize("spelled", [TOPOLOGY, TOPOLOGY.replace('":{', ":{").replace('"', "").replace(",N", " N")])
def test_a_kubelet_log_tells_its_cpus_and_settings(tmp_path: Path, spelled: str) -> None:
    log = f"""I1128 kubelet.go: FLAG: --reserved-cpus="0,4"
I1128 server.go: "Kubelet version" kubeletVersion="v1.33.2"
I1128 manager.go: "Creating Container Manager object based on Node Config" nodeConfig={{"CPUManagerPolicy":"static",\
"CPUManagerPolicyOptions":{{"full-pcpus-only":"true"}},"TopologyManagerScope":"pod","TopologyManagerPolicy":"restricted"}}
I1128 policy_static.go: {spelled}
"""
    machine = loaded(tmp_path, log).machine
    assert [node.cpus for node in machine.numa_nodes] == [parse("0,2,4,6"), parse("1,3,5,7")]
    assert machine.cores == tuple(map(parse, ("0,4", "1,5", "2,6", "3,7")))
    assert machine.kubelet_version == "1.33"
    assert machine.kubelet is not None
    assert {key: value for key, value in machine.kubelet.items() if key not in ("kind", "apiVersion")} == {
        "reservedSystemCPUs": "0,4",
        "cpuManagerPolicy": "static",
        "cpuManagerPolicyOptions": {"full-pcpus-only": "true"},
        "topologyManagerScope": "pod",
        "topologyManagerPolicy": "restricted",
    }


def test_the_json_of_lscpu_says_the_same_as_its_text(tmp_path: Path) -> None:
    def entry(line: str) -> dict[str, object]:
        key, _, value = line.strip().partition(":")
        return {"field": f"{key}:", "data": value.strip()}

    lines = [line for line in LSCPU.splitlines() if ":" in line]
    nested = {**entry(lines[0]), "children": [entry(line) for line in lines[1:]]}
    assert loaded(tmp_path, json.dumps({"lscpu": [nested]})).machine == loaded(tmp_path, LSCPU).machine


def test_the_json_table_of_lscpu_may_have_bare_dashes(tmp_path: Path) -> None:
    rows = [f'{{"cpu": {cpu}, "node": -, "socket": {cpu}, "core": {cpu}, "online": true}}' for cpu in (0, 1)]
    found = loaded(tmp_path, '{"cpus": [' + ",\n".join(rows) + "]}")
    assert [node.cpus for node in found.machine.numa_nodes] == [1, 2]
    assert "paste-no-numa" in codes(found)


def test_the_labels_of_a_node_name_the_bundled_machine(tmp_path: Path) -> None:
    text = "Labels: node.kubernetes.io/instance-type=p5.48xlarge\n"
    with pytest.raises(InputError, match=r"the node is a p5\.48xlarge: --machine p5\.48xlarge$"):
        loaded(tmp_path, text)
    beside = loaded(tmp_path, paste("chassis.node-labels"), LSCPU).machine.node
    assert beside.name == "worker-1"
    assert (beside.labels or {})["nvidia.com/gpu.count"] == "8"
