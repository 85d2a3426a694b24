"""Refused pods on machines whose NUMA nodes are numbered as few are: what is wrong is the pod, and that is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from numalign.exit_status import ExitStatus
from tests.cli.running import in_process

POLICIES = ("none", "best-effort", "restricted", "single-numa-node")
NODES: dict[str, tuple[int, ...]] = {
    "a node -1 alone": (-1,),
    "nodes -1 and 0": (-1, 0),
    "nodes 63 and -1": (63, -1),
    "nodes -2 and -1": (-2, -1),
    "nodes 0 and 63": (0, 63),
    "nodes 1 and 5": (1, 5),
    "a node 63 alone": (63,),
    "nodes 0 and 250": (0, 250),
}
PODS: dict[str, tuple[dict[str, dict[str, str]], ...]] = {
    "more CPUs than there are": ({"app": {"cpu": "60", "memory": "1Gi"}},),
    "more devices than there are": ({"app": {"cpu": "1", "memory": "1Gi", "v/gpu": "9"}},),
    "the second of two containers": (
        {"one": {"cpu": "3", "memory": "1Gi"}, "two": {"cpu": "7", "memory": "1Gi", "v/gpu": "1"}},
    ),
    "an init container": ({"init": {"cpu": "2", "memory": "1Gi", "v/gpu": "1"}, "app": {"cpu": "9", "memory": "1Gi"}},),
    "more memory than there is": ({"app": {"cpu": "1", "memory": "900Gi"}},),
}


def machine(*ids: int, **more: Any) -> dict[str, Any]:
    """A machine of four CPUs, 8 GiB and a device a node; one device more is near all nodes, another on none."""
    nodes = [{"id": each, "cpus": f"{4 * place}-{4 * place + 3}", "memory": "8Gi"} for place, each in enumerate(ids)]
    devices = [{"id": f"gpu{place}", "numaNodes": [each]} for place, each in enumerate(ids)]
    devices += [{"id": "wide", "numaNodes": list(ids)}, {"id": "nowhere", "numaNodes": None}]
    return {
        "apiVersion": "numalign/v1",
        "kind": "Machine",
        "name": "odd",
        "numaNodes": nodes,
        "devices": {"v/gpu": devices},
        **more,
    }


def manifest(containers: dict[str, dict[str, str]]) -> dict[str, Any]:
    spec: dict[str, list[Any]] = {"initContainers": [], "containers": []}
    for name, amounts in containers.items():
        entry = {"name": name, "image": "x", "resources": {"limits": amounts}}
        spec["initContainers" if name == "init" else "containers"].append(entry)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}


def explained(folder: Path, odd: dict[str, Any], containers: dict[str, dict[str, str]], *flags: str) -> Any:
    (folder / "machine.yaml").write_text(json.dumps(odd))
    (folder / "pod.yaml").write_text(json.dumps(manifest(containers)))
    return in_process("explain", folder / "pod.yaml", "-m", folder / "machine.yaml", *flags)


@pytest.mark.parametrize("output", ["table", "json"])
@pytest.mark.parametrize("containers", [pytest.param(*pod, id=name) for name, pod in PODS.items()])
@pytest.mark.parametrize("ids", [pytest.param(ids, id=name) for name, ids in NODES.items()])
def test_a_refused_pod_is_explained_whatever_the_numbers_of_the_nodes(
    tmp_path: Path, ids: tuple[int, ...], containers: dict[str, dict[str, str]], output: str
) -> None:
    in_masks = all(0 <= each < 64 for each in ids)
    for policy in POLICIES if in_masks else ("none",):
        done = explained(
            tmp_path, machine(*ids), containers, "--policy", policy, "--details", "--alternatives", "-o", output
        )
        assert (done.status, "bug" in done.err) == (ExitStatus.NO, False), done.err
    if output == "table":
        files = (tmp_path / "pod.yaml", "-m", tmp_path / "machine.yaml")
        assert in_process("admit", *files, "--policy", "none").status == ExitStatus.NO


def test_pods_beside_that_hold_cpus_of_a_node_that_no_mask_holds_are_told(tmp_path: Path) -> None:
    beside = tmp_path / "beside.yaml"
    beside.write_text(json.dumps({**manifest({"app": {"cpu": "5", "memory": "1Gi"}}), "metadata": {"name": "there"}}))
    containers = {"app": {"cpu": "5", "memory": "1Gi"}}
    done = explained(tmp_path, machine(-1, 0), containers, "--policy", "none", "--beside", str(beside))
    assert done.status == ExitStatus.NO, done.err
    assert "1. Move pod there off the node" in done.out


def test_without_hints_what_is_free_tells_what_stands_in_the_way(tmp_path: Path) -> None:
    """No mask holds node -1, so that nobody can ask for hints there; the CPUs are counted all the same."""
    done = explained(tmp_path, machine(-1, 0), PODS["more CPUs than there are"][0], "--policy", "none", "-o", "json")
    told = done.json["pods"][0]["refusal"]
    assert told["resources"] == ["cpu"]
    assert told["why"] == ["cpu: 60 requested, 8 on the machine (NUMA -1: 4, NUMA 0: 4)"]


def test_memory_is_not_found_wanting_on_nodes_that_nobody_knows(tmp_path: Path) -> None:
    containers = {"app": {"cpu": "2", "memory": "1Gi"}}
    done = explained(tmp_path, machine(-1, 0), containers, "--policy", "none")
    assert "NUMA node unknown: cpu" in done.out


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"numaNodes": [{"id": 0, "cpus": "0-3", "memory": "8Gi"}, {"id": 1, "memory": "8Gi"}]}, id="bare"),
        pytest.param({"devices": {}}, id="no devices"),
        pytest.param({"devices": {"v/gpu": []}}, id="a plugin without devices"),
    ],
)
def test_a_refused_pod_is_explained_whatever_the_machine_lacks(
    tmp_path: Path, policy: str, more: dict[str, Any]
) -> None:
    for [containers] in PODS.values():
        done = explained(tmp_path, machine(0, 1, **more), containers, "--policy", policy, "--details", "-o", "json")
        assert (done.status in (ExitStatus.NO, ExitStatus.DONE), "bug" in done.err) == (True, False), done.err
