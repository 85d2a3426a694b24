"""What a kubelet's further files tell beside its three checkpoints, and pods that hold something as a whole."""

from __future__ import annotations

import json
import shutil
import zlib
from pathlib import Path
from typing import Any

import pytest

from numalign.kubelet.checkpoint_shape import fnv1a
from numalign.sources.node.facts import claimed, granted
from numalign.sources.node.podresources import SHARED, read_podresources
from tests.cli.running import in_process
from tests.cli.test_node_flag import NODE, machine
from tests.cli.test_state_commands import pod_file
from tests.cli.test_status_command import status

__all__ = ["machine"]

DB, WEB = "6f9c2d4e-0000-4000-8000-000000000001", "6f9c2d4e-0000-4000-8000-000000000004"


def kept(content: object) -> str:
    """Write a file of resized pods as the kubelet does."""
    text = json.dumps(content)
    return json.dumps({"data": text, "checksum": fnv1a(b"(string)" + text.encode())})


def allocated(requests: dict[str, str], limits: dict[str, str]) -> object:
    resources = {"nginx": {"requests": requests, "limits": limits}}
    return {"entries": {WEB: {"ContainerResources": resources, "PodLevelResources": None}}}


DEVICES = [
    {"PoolName": "worker-1", "DeviceName": "gpu-0", "ShareID": None, "RequestNames": ["gpu"], "CDIDeviceIDs": []},
    {"PoolName": "worker-1", "DeviceName": "gpu-1", "ShareID": "s-1", "RequestNames": ["gpu"], "CDIDeviceIDs": []},
]
CLAIM = {
    "ClaimUID": "c",
    "ClaimName": "web-gpu",
    "Namespace": "default",
    "PodUIDs": {WEB: {}},
    "DriverState": {"gpu.example.com": {"Devices": DEVICES}},
}


def prepared() -> str:
    """Write the file of prepared claims as the kubelet does."""
    text = json.dumps({"kind": "DRACheckpoint", "ClaimInfoStateList": [CLAIM]})
    return json.dumps({"Data": text, "Checksum": zlib.crc32(text.encode())})


@pytest.fixture
def kubelet(tmp_path: Path) -> Path:
    folder = tmp_path / "kubelet"
    shutil.copytree(NODE / "kubelet", folder)
    return folder


def test_what_pods_in_the_shared_pool_were_granted_counts(machine: str, kubelet: Path, tmp_path: Path) -> None:
    """20 CPUs requested in the shared pool are in none of the three checkpoints, yet the node has no room for more."""
    place = ("--node", kubelet, "--machine", machine)
    pod = pod_file(tmp_path, "next", 6)
    before = in_process("admit", pod, *place)
    (kubelet / "allocated_pods_state").write_text(kept(allocated({"cpu": "20"}, {"cpu": "24"})))

    after = in_process("admit", pod, *place, "-o", "json")

    assert before.status == 0
    assert after.status == 1
    assert (after.json["pods"][0]["stage"], after.json["pods"][0]["reason"]) == ("fit", "OutOfcpu")
    assert status(*place).json["otherPods"] == 1


@pytest.mark.parametrize(
    ("requests", "status", "code"),
    [
        ({"main": "8", "first": "7", "second": "4"}, 0, "warning"),
        ({"init": "2", "app": "3"}, 0, None),
    ],
    ids=["more than the node has", "what fits counts as it is"],
)
def test_no_pod_is_rejected_for_sums_that_cannot_be(
    requests: dict[str, str], status: int, code: str | None, machine: str, kubelet: Path, tmp_path: Path
) -> None:
    """From 1.36 on plain init containers are in the file, marked by nothing: the smallest reading counts."""
    resources = {name: {"requests": {"cpu": cpus}} for name, cpus in requests.items()}
    content = {"entries": {WEB: {"ContainerResources": resources}}}
    (kubelet / "allocated_pods_state").write_text(kept(content))
    place = ("--node", kubelet, "--machine", machine)

    done = in_process("admit", pod_file(tmp_path, "next", 2), *place, "-o", "json")

    told = [one["message"] for one in done.json["warnings"] if one["code"] == "init-containers-unmarked"]
    assert done.status == status
    assert len(told) == (code is not None)
    if code:
        assert f"read as init containers: default/{WEB}/first, default/{WEB}/second" in told[0]
        shown = in_process("status", *place, "-o", "json").json["findings"]
        assert [one["severity"] for one in shown if one["code"] == "init-containers-unmarked"] == [code]


def test_devices_held_by_claim_are_shown(machine: str, kubelet: Path) -> None:
    (kubelet / "dra_manager_state").write_text(prepared())
    place = ("--node", kubelet, "--machine", machine)

    done = status(*place)
    shown = in_process("status", *place).out

    (web,) = [pod for pod in done.json["pods"] if pod["uid"] == WEB]
    assert done.status == 0
    assert web["active"]
    assert [one["device"] for one in web["claims"]] == ["gpu-0", "gpu-1"]
    told = "holds devices of claim web-gpu: gpu.example.com worker-1/gpu-0, gpu.example.com worker-1/gpu-1 (share s-1)"
    assert f"{WEB} {told}" in shown


def test_what_the_api_reports_of_claims_is_shown(tmp_path: Path) -> None:
    claim = {"driver_name": "d", "pool_name": "p", "device_name": "dev"}
    claims = [{"claim_name": "c", "claim_namespace": "default", "claim_resources": [claim]}]
    pod = {"name": "web", "namespace": "default", "containers": [{"name": "a", "dynamic_resources": claims}]}
    source = tmp_path / "answer.json"
    source.write_text(json.dumps({"pod_resources": [pod]}))

    done = status("--node", source, "--machine", "figure-1")

    assert [(one["name"], [claim["device"] for claim in one["claims"]]) for one in done.json["pods"]] == [
        ("web", ["dev"])
    ]


def test_a_file_of_1_32_is_read_too() -> None:
    content = {"allocationEntries": {DB: {"server": {"requests": {"cpu": "2"}}}}}

    assert granted({"pod_status_manager_state": kept(content)}) == {
        DB: {"server": {"requests": {"cpu": "2"}, "limits": {}}}
    }


ODD = ["", "{", "[]", '{"data": 5}', '{"data": "{"}', '{"data": "[1]"}', '{"data": "{\\"entries\\": {\\"u\\": 5}}"}']


@pytest.mark.parametrize("text", ODD)
def test_a_damaged_file_tells_nothing(text: str) -> None:
    assert not any(granted({"allocated_pods_state": text}).values())
    assert claimed({"dra_manager_state": text}) == {}


def answer(**pod: Any) -> Any:
    """A pod with a part of its own for one container, and more for the pod as a whole."""
    container = {"name": "a", "cpu_ids": [2], "memory": [memory(1 << 30)]}
    return {"pod_resources": [{"name": "web", "namespace": "default", "containers": [container], **pod}]}


def memory(size: int) -> dict[str, Any]:
    return {"memory_type": "memory", "size": size, "topology": {"nodes": [{"ID": 0}]}}


def test_the_part_that_a_pod_shares_is_counted_once() -> None:
    (pod,) = (
        read_podresources(json.dumps(answer(cpu_ids=[2, 3, 4], memory=[memory(3 << 30)])), "answer.json").pods or ()
    )

    assert pod.shared == (SHARED, {3, 4}, (("memory", 2 << 30, (0,)),), {}, ())


def test_the_part_that_a_pod_shares_is_not_free(tmp_path: Path) -> None:
    """Reported from 1.37 on; the CPUs of the pod's list are nobody else's."""
    allocatable = {"cpu_ids": [1, 2, 3, 4, 5, 6, 7]}
    source = tmp_path / "answer.json"
    source.write_text(json.dumps({**answer(cpu_ids=[2, 3, 4]), "allocatable_resources": allocatable}))
    shape = "sockets=1,coresPerNumaNode=8,memoryPerNumaNode=8Gi,threadsPerCore=1"

    done = in_process("admit", pod_file(tmp_path, "n", 3), "--node", source, "--machine", shape, "-o", "json")
    shown = status("--node", source, "--machine", shape).json

    assert done.json["pods"][0]["containers"][0]["cpus"] in ("1,5-6", "5-7")
    assert [(one["name"], one["cpus"]) for one in shown["pods"][0]["containers"]] == [(SHARED, "3-4"), ("a", "2")]
