"""Ways to keep CPUs and claimed devices together: what is offered is written into the pod, and admitted again."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from tests import documents
from tests.cli.running import ROOT, in_process

EXAMPLES = ROOT / "docs" / "examples" / "dra"
DUMP = documents.one((EXAMPLES / "cluster.yaml").read_text(encoding="utf-8"))
HERE = ("-m", "hgx-h100", "--node-name", "hgx-1")


def example(name: str) -> list[dict[str, Any]]:
    return documents.each((EXAMPLES / f"{name}.yaml").read_text(encoding="utf-8"))


def admitted(folder: Path, pods: list[dict[str, Any]], dump: dict[str, Any], *more: str) -> dict[str, Any]:
    for file, items in (("pods.json", pods), ("cluster.json", dump["items"])):
        (folder / file).write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
    names = (str(folder / "pods.json"), "--slices", str(folder / "cluster.json"))
    done = in_process("admit", *names, *HERE, "-o", "json", *more)
    assert done.status == 0, done.out + done.err
    return dict(done.json)


def container_of(found: dict[str, Any]) -> dict[str, Any]:
    return dict(found["claims"]["pods"][0]["containers"][0])


def said(device: dict[str, Any]) -> str:
    return f"{device['device']} (CPUs {device['cpus']})" if device["cpus"] else str(device["device"])


def with_claim(objects: list[dict[str, Any]], text: str) -> list[dict[str, Any]]:
    """Do what a person does with the lines: add to requests that are there, add new ones, put the constraints in."""
    changed = deepcopy(objects)
    [template] = [one for one in changed if one["kind"] == "ResourceClaimTemplate"]
    devices = template["spec"]["spec"]["devices"]
    given = documents.one(text)
    there = {request["name"]: request for request in devices["requests"]}
    for request in given["requests"]:
        if request["name"] in there:
            there[request["name"]]["exactly"].update(request["exactly"])
        else:
            devices["requests"].append(request)
    if "constraints" in given:
        devices["constraints"] = given["constraints"]
    return changed


def with_plugin(objects: list[dict[str, Any]], text: str) -> list[dict[str, Any]]:
    [pod] = [deepcopy(one) for one in objects if one["kind"] == "Pod"]
    resources = pod["spec"]["containers"][0]["resources"]
    del resources["claims"], pod["spec"]["resourceClaims"]
    resources["limits"] |= documents.one(text)["resources"]["limits"]
    return [pod]


def without(*drivers: str) -> dict[str, Any]:
    """The dump of a cluster where some drivers are not installed."""
    items = [one for one in DUMP["items"] if one["kind"] != "ResourceSlice" or one["spec"]["driver"] not in drivers]
    items = [one for one in items if one["kind"] != "DeviceClass" or one["metadata"]["name"] not in drivers]
    return {**DUMP, "items": items}


CLUSTERS = [
    ("a GPU", "gpu", DUMP, ["between", "select NUMA node 1", "device plugin"]),
    ("a GPU and a NIC of its PCIe root", "gpu-nic", DUMP, ["matched to nic by dra.net/numaNode", "device plugin"]),
    ("a GPU, and no NIC driver", "gpu", without("dra.net"), ["select NUMA node 1", "device plugin"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "dump", "texts"), [case[1:] for case in CLUSTERS], ids=[case[0] for case in CLUSTERS])
def test_every_way_out_keeps_what_it_promises(
    name: str, dump: dict[str, Any], texts: list[str], tmp_path: Path
) -> None:
    pods = example(name)
    before = container_of(admitted(tmp_path, pods, dump))
    assert before["verdict"] == "spread"
    assert len(before["waysOut"]) == len(texts)

    for way, text in zip(before["waysOut"], texts, strict=True):
        assert text in way["text"]
        if "plugin" in text:
            found = admitted(tmp_path, with_plugin(pods, way["write"]), dump, "--policy", "single-numa-node")
            assert found["pods"][0]["containers"][0]["alignment"]["verdict"] == "aligned"
        else:
            found = admitted(tmp_path, with_claim(pods, way["write"]), dump, "--cpu-manager-policy", "none")
            after = container_of(found)
            assert after["verdict"] == "aligned", after["reason"]
            cpus = [
                f"{one['device']} (CPUs {one['cpus']})" if one["cpus"] else one["device"] for one in after["devices"]
            ]
            assert sorted(cpus) == sorted(way["gives"])
            assert bool(after["keptBy"]) == ("NUMA node" not in text)


def test_a_driver_that_is_missing_is_named_with_what_it_would_do(tmp_path: Path) -> None:
    ways = container_of(admitted(tmp_path, example("gpu-nic"), without("dra.cpu")))["waysOut"]

    assert ways[0]["text"] == "install dra.cpu and claim the CPUs too, matched to nic by dra.net/numaNode"
    assert ways[0]["gives"] == ["gpu-4", "mlx5-4", "cpudevnuma001 (CPUs 56-63,168-175)"]


def test_a_driver_that_is_missing_would_keep_back_what_the_kubelet_does(tmp_path: Path) -> None:
    reserved = ("--reserved-cpus", "0,56-57,112,168-169")
    ways = container_of(admitted(tmp_path, example("gpu-nic"), without("dra.cpu"), *reserved))["waysOut"]

    assert ways[0]["gives"] == ["gpu-4", "mlx5-4", "cpudevnuma001 (CPUs 58-65,170-177)"]


def test_cpus_are_not_added_to_a_claim_of_two_containers(tmp_path: Path) -> None:
    """dra.cpu gives the CPUs of a claim to one container (docs/rules/dra.md D-24)."""
    objects = example("gpu-nic")
    [pod] = [one for one in objects if one["kind"] == "Pod"]
    pod["spec"]["containers"].append({**deepcopy(pod["spec"]["containers"][0]), "name": "second"})

    ways = container_of(admitted(tmp_path, objects, DUMP))["waysOut"]

    assert not [way for way in ways if "claim the CPUs too" in way["text"] and way["gives"]]


def test_devices_of_claims_elsewhere_are_free_here(tmp_path: Path) -> None:
    """The four GPUs of the claim `other` are those of hgx-1: on hgx-2 the plugin has its first ones."""
    for file, items in (("p.json", example("gpu")), ("c.json", DUMP["items"])):
        (tmp_path / file).write_text(json.dumps({"kind": "List", "items": items}), encoding="utf-8")
    names = ("admit", str(tmp_path / "p.json"), "--slices", str(tmp_path / "c.json"))

    done = in_process(*names, "-m", "hgx-h100", "--node-name", "hgx-2", "-o", "json")

    assert ["gpu0", "CPUs 0-7,112-119"] in [way["gives"] for way in container_of(done.json)["waysOut"]]
