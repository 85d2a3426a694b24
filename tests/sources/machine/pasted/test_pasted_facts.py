"""Pasted outputs give their facts: those in `tests/pastes`, written for this, or those of `--pastes DIR`.

`NAME.KIND.txt` is an output, `NAME.KIND.facts.json` what it says. One that was cut off is an error that names the tool.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from numalign.errors import InputError
from numalign.model.cpuset import format_set, from_ids, ids, parse
from numalign.sources.machine.loading import load_machine
from numalign.sources.machine.pasted.machine import plain, told_by
from numalign.sources.machine.pasted.matrix import NVIDIA, matrix
from numalign.sources.machine.pasted.told import Told

TOOLS = {
    "lscpu": "lscpu",
    "lscpu-e": "lscpu -e",
    "lscpu-Je": "lscpu -Je",
    "numactl": "numactl -H",
    "lstopo": "lstopo",
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    folder = Path(metafunc.config.getoption("--pastes"))
    found = sorted(folder.glob("*.txt"))
    assert found, f"no pasted output in {folder}"
    if "paste" in metafunc.fixturenames:
        metafunc.parametrize("paste", found, ids=lambda path: path.name)
    else:
        pairs = [path for path in found if path.name.endswith(".nvidia-topo.txt") and other(path).exists()]
        metafunc.parametrize("topo", pairs, ids=lambda path: path.name)


def other(path: Path) -> Path:
    return path.with_name(path.name.replace(".nvidia-topo.", ".lscpu."))


def read(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def facts_of(path: Path) -> dict[str, Any]:
    facts = json.loads(path.with_suffix(".facts.json").read_text(encoding="utf-8"))
    assert isinstance(facts, dict)
    return facts


def test_an_output_gives_its_facts(paste: Path) -> None:
    kind, facts = paste.name.split(".")[-2], facts_of(paste)
    if is_cut(kind, facts):
        with pytest.raises(InputError, match=f"{TOOLS[kind]}.* cut off"):
            told_by(read(paste), str(paste))
        return
    told = told_by(read(paste), str(paste))
    assert told is not None
    CHECKS.get(kind, says_no_node)(told, facts, paste)


def is_cut(kind: str, facts: dict[str, Any]) -> bool:
    """Tell whether the facts say that the nodes are not all there."""
    short = "numaCount" in facts and facts["numaCount"] != len(facts["numaNodes"])
    return kind in TOOLS and ("error" in facts or short or "cut off after CPU" in facts.get("note", ""))


def says_nodes(told: Told, facts: dict[str, Any], paste: Path) -> None:
    nodes = {int(node): parse(cpus) for node, cpus in facts.get("numaNodes", {}).items()}
    if "nodes" in facts and "" not in facts["nodes"]:
        nodes = {int(node): from_ids(cpus) for node, cpus in facts["nodes"].items()}
    if not nodes:
        return  # a kernel without NUMA: what a kubelet makes of it is `test_pasted_machine`'s
    online = parse(facts["online"]) if facts.get("online") else ~0
    assert told.nodes == {node: cpus & online for node, cpus in nodes.items()}
    machine = load_machine(str(paste)).machine
    assert {node.id: node.cpus for node in machine.numa_nodes} == told.nodes
    if facts.get("sockets") and facts.get("coresPerSocket") and facts["sockets"] <= machine.cpus.bit_count():
        assert len(machine.sockets) == facts["sockets"]


def says_memory(told: Told, facts: dict[str, Any], paste: Path) -> None:
    for node, one in facts["numaNodes"].items():
        assert list(ids(told.nodes[int(node)])) == one["cpus"]
        assert told.memory[int(node)] == one["sizeMB"] << 20
    rows = {str(node): list(row) for node, row in told.distances.items()}
    assert rows == facts.get("distances", {}) or not facts.get("distances")
    assert load_machine(str(paste)).machine.memory == sum(told.memory.values())


def says_tree(told: Told, facts: dict[str, Any], paste: Path) -> None:
    machine = load_machine(str(paste)).machine
    known = {int(node) for node in facts.get("numaNodes", {})}
    assert known <= {node.id for node in machine.numa_nodes}
    counts = (machine.cpus.bit_count(), len(told.cores), len(told.sockets))
    assert counts == (facts["pus"], facts["cores"], facts["packages"])
    assert {device.id: device.numa_nodes for listed in machine.devices.values() for device in listed}.items() >= {
        gpu: (node,) for gpu, node in facts.get("gpus", {}).items()
    }.items()


def says_matrix(told: Told, facts: dict[str, Any], paste: Path) -> None:
    found = matrix(plain(read(paste)))
    assert found is not None
    for name, row in facts["rows"].items():
        if name.startswith("GPU"):
            ours = found.rows[name]
            assert (ours.to, ours.cpu_affinity, ours.numa_affinity) == (
                row["to"],
                row.get("cpuAffinity", ""),
                row.get("numaAffinity", ""),
            )
    gpus = [name for name in found.columns if name.startswith("GPU")]
    assert len(gpus) == facts["gpus"]
    assert len(told.links.get("nvidia.com/gpu", ())) == sum(
        row["to"].get(other_gpu, "").startswith("NV")
        for name, row in facts["rows"].items()
        for other_gpu in gpus
        if name in gpus and gpus.index(name) < gpus.index(other_gpu)
    )
    says_no_node(told, facts, paste)


def says_amd(told: Told, facts: dict[str, Any], paste: Path) -> None:
    nodes = facts["numaNode"] or dict.fromkeys(map(str, range(facts["gpus"])), -1)
    assert told.gpus["amd.com/gpu"] == {f"gpu{gpu}": (node,) if node >= 0 else None for gpu, node in nodes.items()}
    assert len(told.links.get("amd.com/gpu", ())) == facts.get("links", len(told.links.get("amd.com/gpu", ())))
    says_no_node(told, facts, paste)


def says_no_node(told: Told, facts: dict[str, Any], paste: Path) -> None:
    """Alone it is not enough for a machine: the error says what to add."""
    assert not told.nodes
    with pytest.raises(InputError, match="lscpu") as error:
        load_machine(str(paste))
    assert facts.get("machine", "") in str(error.value)


CHECKS = {
    "lscpu": says_nodes,
    "lscpu-e": says_nodes,
    "lscpu-Je": says_nodes,
    "lscpu-p": says_nodes,
    "numactl": says_memory,
    "lstopo": says_tree,
    "nvidia-topo": says_matrix,
    "rocm-showtopo": says_amd,
}


def test_lscpu_and_topo_of_one_host_agree(topo: Path) -> None:
    """The node of each GPU has the CPUs of its column; a list of nodes, or none, is no node."""
    loaded = load_machine(str(other(topo)), [str(topo)])
    nodes = {node.id: node.cpus for node in loaded.machine.numa_nodes}
    rows = facts_of(topo)["rows"]
    for device in loaded.machine.devices["nvidia.com/gpu"]:
        row = rows[device.id.upper()]
        numa = row.get("numaAffinity") or ""
        if re.fullmatch(r"\d+", numa) and len(nodes) > 1:
            assert device.numa_nodes == (int(numa),)
            assert parse(row["cpuAffinity"]) & nodes[int(numa)] == parse(row["cpuAffinity"]), format_set(
                nodes[int(numa)]
            )
        else:
            assert device.numa_nodes is None or len(nodes) == 1
    assert NVIDIA in str(told_by(read(topo), "x"))
