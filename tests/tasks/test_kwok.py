"""Nodes for KWOK: read back they are the same machines with the same verdicts, and a pod is what its kubelet says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from numalign.errors import InputError
from numalign.render.json.kwok import ADMITTED, MESSAGE, REASON
from numalign.sources.machine import bundled
from numalign.tasks.cluster import ClusterRequest, load_cluster
from numalign.tasks.kwok import export_nodes
from tests import documents
from tests.api_server import validator
from tests.cli.running import ENVIRONMENT, ROOT, in_process

CLUSTER = ROOT / "docs/examples/cluster.yaml"
MACHINES = ("hgx-h100", "power9-2s-sparse-ids", "xeon-2s-cxl", "xeon-2s-snc4", "epyc-2s-nps4", "laptop-hybrid")


def cluster(folder: Path, machine: str, policy: str, count: int = 2) -> Path:
    file = folder / "cluster.yaml"
    group = {"name": "n-{i}", "count": count, "machine": machine, "kubelet": {"topologyManagerPolicy": policy}}
    file.write_text(json.dumps({"version": 1, "nodes": [group]}))
    return file


def exported(file: Path) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = in_process("kwok", "export", "--cluster", file, "-o", "json").json["items"]
    return items


@cache
def pods() -> str:
    """Write pods of several widths, of which each machine takes some and rejects others."""
    limits: list[dict[str, str]] = [
        {"cpu": "2", "memory": "1Gi"},
        {"cpu": "40", "memory": "1Gi"},
        {"cpu": "100", "memory": "4Gi"},
        {"cpu": "2", "memory": "1Gi", "nvidia.com/gpu": "3"},
        {"cpu": "2", "memory": "1Gi", "nvidia.com/gpu": "5"},
    ]
    items = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"p{place}"},
            "spec": {"containers": [{"name": "c", "image": "i", "resources": {"limits": one}}]},
        }
        for place, one in enumerate(limits)
    ]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


def verdicts(file: Path) -> list[list[object]]:
    """Ask each pod by itself what kubelet and schedulers say of each node."""
    done = in_process("schedule", "-", "--cluster", file, "-o", "json", stdin=pods().encode())
    return [
        [
            (
                node["name"],
                {name: node[name]["pass"] for name in ("fit", "kep", "nrt", "kai")},
                {name: node["kubelet"][name] for name in ("admit", "reason", "message", "aligned", "missing")},
            )
            for node in pod["nodes"]
        ]
        for pod in done.json["pods"]
    ]


@pytest.mark.parametrize("policy", ["single-numa-node", "restricted"])
@pytest.mark.parametrize("machine", MACHINES)
def test_read_back_the_nodes_give_the_same_verdicts(tmp_path: Path, machine: str, policy: str) -> None:
    source, back = cluster(tmp_path, machine, policy), tmp_path / "back.json"
    items = exported(source)
    back.write_text(json.dumps({"kind": "List", "items": items}))

    assert verdicts(back) == verdicts(source)
    checked = in_process("nrt", "check", back, "--cluster", source, "-o", "json")
    assert [(one["name"], one["true"]) for one in checked.json["objects"]] == [("n-0", True), ("n-1", True)]


@pytest.mark.parametrize("machine", bundled.names())
def test_the_topology_objects_are_valid_and_count_what_the_nodes_have(tmp_path: Path, machine: str) -> None:
    (crd,) = documents.each((ROOT / "deploy/crd.yaml").read_text())
    schema = next(one for one in crd["spec"]["versions"] if one["name"] == "v1alpha2")["schema"]["openAPIV3Schema"]
    items = exported(cluster(tmp_path, machine, "none", 1))
    (nrt,) = (one for one in items if one["kind"] == "NodeResourceTopology")
    (node,) = (one for one in items if one["kind"] == "Node")

    assert list(validator(schema).iter_errors(nrt)) == []
    cpus = sum(int(one["capacity"]) for zone in nrt["zones"] for one in zone["resources"] if one["name"] == "cpu")
    assert node["status"]["capacity"]["cpu"] == str(cpus)
    assert set(node["status"]["allocatable"]) == set(node["status"]["capacity"])


def test_claims_fit_the_exported_slices_as_those_of_the_machine(tmp_path: Path) -> None:
    back, slices = tmp_path / "back.json", tmp_path / "slices.json"
    items = exported(cluster(tmp_path, "hgx-h100", "none", 1))
    back.write_text(json.dumps({"kind": "List", "items": items}))
    slices.write_text(in_process("dra", "slices", "--machine", "hgx-h100", "--node-name", "n-0", "-o", "json").out)

    for claim in ("gpu.yaml", "gpu-nic.yaml"):
        answers = [
            in_process("dra", "check", f"docs/examples/dra/{claim}", "--slices", file, "-o", "json").json["checks"]
            for file in (back, slices)
        ]
        assert answers[0] == answers[1]


def test_nodes_are_exported_as_before_the_first_pod(tmp_path: Path) -> None:
    state = tmp_path / "now.json"
    in_process("schedule", "pods/limits-only.yaml", "--cluster", CLUSTER, "--state", state)
    empty = in_process("kwok", "export", "--cluster", CLUSTER, "-o", "json").json

    assert in_process("kwok", "export", "--state", state, "-o", "json").json == empty


def test_a_node_without_an_exporter_has_no_topology_object(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_text('{"version": 1, "nodes": [{"name": "n", "machine": "figure-1", "exporter": {"mode": "none"}}]}')

    assert not export_nodes(load_cluster(ClusterRequest((str(file),))).fleet).nrts
    assert {one["kind"] for one in exported(file)} == {"Node", "ResourceSlice", "DeviceClass", "Stage"}


def test_nodes_of_unknown_hardware_cannot_be_exported(tmp_path: Path) -> None:
    file = tmp_path / "nodes.json"
    file.write_text('{"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}, "status": {}}')

    with pytest.raises(InputError, match="no node has a known machine"):
        export_nodes(load_cluster(ClusterRequest((str(file),))).fleet)


def test_a_pod_is_ready_or_rejected_by_what_is_said_of_it() -> None:
    stages = {one["metadata"]["name"]: one["spec"] for one in exported(CLUSTER) if one["kind"] == "Stage"}
    asked = {
        name: [(one["key"], one["operator"], one.get("values")) for one in spec["selector"]["matchExpressions"]]
        for name, spec in stages.items()
    }

    assert set(stages) == {"node-initialize", "pod-ready", "pod-rejected", "pod-complete", "pod-delete"}
    assert asked["pod-ready"][-1] == (f'.metadata.annotations["{ADMITTED}"]', "In", ["true"])
    assert asked["pod-rejected"][-1] == (f'.metadata.annotations["{REASON}"]', "Exists", None)
    assert MESSAGE in stages["pod-rejected"]["next"]["statusTemplate"]
    for spec in stages.values():
        text = spec["next"].get("statusTemplate", "")
        assert text.count("{{ end }}") == text.count("{{ range") + text.count("{{ if")


KUBECTL = """#!{python}
import json, os, sys
folder = os.path.dirname(__file__)
if sys.argv[1] == "get":
    for event in json.load(open(folder + "/events.json")):
        print(json.dumps(event, indent=4))
else:
    given = sys.stdin.read() if sys.argv[1] == "apply" else ""
    with open(folder + "/calls.jsonl", "a") as file:
        file.write(json.dumps([sys.argv[1:], given]) + "\\n")
"""


NUMALIGN = '#!/bin/sh\nexec {python} -m numalign "$@"\n'


def event(kind: str, name: str, cpus: int, node: str | None = "node-0", phase: str = "Pending") -> dict[str, object]:
    limits = {"cpu": str(cpus), "memory": "1Gi"}
    pod = {
        "metadata": {"name": name, "namespace": "d", "uid": name},
        "spec": {"containers": [{"name": "c", "resources": {"limits": limits}}]} | ({"nodeName": node} if node else {}),
        "status": {"phase": phase},
    }
    return {"type": kind, "object": pod}


def test_the_example_says_of_each_bound_pod_what_its_kubelet_says(tmp_path: Path) -> None:
    events = [
        event("ADDED", "waits", 6, node=None),
        event("ADDED", "first", 6),
        event("MODIFIED", "first", 6, phase="Running"),
        event("ADDED", "wide", 12),
        event("ADDED", "elsewhere", 1, node="other"),
        event("MODIFIED", "waits", 6, node="node-0"),
        event("ADDED", "third", 6),
        event("DELETED", "first", 6, phase="Running"),
        event("ADDED", "fourth", 6),
    ]
    (tmp_path / "events.json").write_text(json.dumps(events))
    for name, text in (("kubectl", KUBECTL), ("numalign", NUMALIGN)):
        file = tmp_path / name
        file.write_text(text.format(python=sys.executable))
        file.chmod(0o755)
    env = ENVIRONMENT | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    program = [sys.executable, str(ROOT / "docs/examples/kwok.py"), str(CLUSTER)]
    subprocess.run(program, cwd=ROOT, env=env, check=True, timeout=120)

    calls = [json.loads(line) for line in (tmp_path / "calls.jsonl").read_text().splitlines()]
    told = {words[2]: words[5:] for words, _ in calls if words[0] == "annotate"}
    objects = [json.loads(given) for words, given in calls if words[0] == "apply"]
    rejected = [f"{REASON}=TopologyAffinityError"]
    assert {name: [one for one in said if not one.startswith(MESSAGE)] for name, said in told.items()} == {
        "first": [f"{ADMITTED}=true"],
        "wide": rejected,
        "waits": [f"{ADMITTED}=true"],
        "third": rejected,
        "fourth": [f"{ADMITTED}=true"],
    }
    assert [one["metadata"]["name"] for one in objects] == ["node-0"] * 6
