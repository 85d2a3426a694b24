"""The kubelet's files by themselves (docs/rules/kubelet-files.md 5, 28b, 30)."""

from __future__ import annotations

import json
from zlib import crc32

import pytest

from numalign.analysis.node.files import DEVICES as DEVICE_FILE
from numalign.analysis.node.files import file_findings, stops
from numalign.analysis.node.finding import NodeFinding
from numalign.kubelet.checkpoint_shape import fnv1a
from numalign.kubelet.cpu import checkpoint as cpu
from numalign.kubelet.memory import checkpoint as memory
from numalign.kubelet.start.restore import StateFiles
from tests.kubelet.test_checkpoint import (
    CPU_EXAMPLES,
    CPU_POD_EXAMPLES,
    DEVICE_EXAMPLES,
    MEMORY_EXAMPLES,
    MEMORY_POD_EXAMPLES,
)

CPU, CPU_PODS = CPU_EXAMPLES["one container"], CPU_POD_EXAMPLES["a pod entry"]
MEMORY, MEMORY_PODS = MEMORY_EXAMPLES["one container"], MEMORY_POD_EXAMPLES["a pod entry"]
DEVICES = DEVICE_EXAMPLES["nodes as numbers, -1 first"]
GATE = "PodLevelResourceManagers"


def found(
    further: dict[str, str] | None = None, release: tuple[int, int] = (1, 36), on: tuple[str, ...] = (), **files: str
) -> list[NodeFinding]:
    told = list(file_findings(StateFiles(**files), further or {}, release, "/k", on.__contains__))
    assert all(one.file == DEVICE_FILE or one.file.startswith("/k/") for one in told)
    assert {one.severity for one in told} <= {"error", "warning", "info"}
    return told


def with_sum(text: str, checksum: int) -> str:
    key = "Checksum" if "Checksum" in text else "checksum"
    return json.dumps({**json.loads(text), key: checksum})


NEWER = CPU[:-1] + ',"data":"x","dataChecksum":1}'
CPU_DATA = cpu.write(cpu.sealed(cpu.inspect(CPU_PODS)[0]._replace(form="with data")))
MEMORY_DATA = memory.write(memory.sealed(memory.inspect(MEMORY_PODS)[0]._replace(form="with data")))


def with_data_sum(text: str, checksum: int) -> str:
    return json.dumps({**json.loads(text), "dataChecksum": checksum})


STATE = [
    ("a CPU file", {"cpu": CPU}, (1, 36), (), []),
    ("one with another sum", {"cpu": with_sum(CPU, 1)}, (1, 36), (), ["state-file-checksum"]),
    ("one with the sum 0", {"cpu": with_sum(CPU, 0)}, (1, 36), (), []),
    ("one that is none", {"cpu": "x"}, (1, 36), (), ["state-file-unreadable"]),
    ("one with pods as a whole", {"cpu": CPU_PODS}, (1, 36), (GATE,), []),
    ("where the gate is off", {"cpu": CPU_PODS}, (1, 36), (), ["state-file-pod-entries"]),
    ("before 1.36", {"cpu": CPU_PODS}, (1, 35), (GATE,), ["state-file-pod-entries"]),
    ("pods as a whole and the sum 0", {"cpu": with_sum(CPU_PODS, 0)}, (1, 36), (), ["pod-entries-dropped"]),
    ("of the first generation", {"cpu": CPU_EXAMPLES["first generation"]}, (1, 36), (), ["cpu-first-generation"]),
    ("of 1.37, which 1.36 does not look into", {"cpu": NEWER}, (1, 36), (), []),
    ("of 1.37", {"cpu": CPU_DATA}, (1, 37), (), []),
    ("of 1.37 with another sum of its data", {"cpu": with_data_sum(CPU_DATA, 1)}, (1, 37), (), ["state-file-checksum"]),
    ("of 1.37 with a wrong sum of its older part", {"cpu": with_sum(CPU_DATA, 1)}, (1, 37), (), []),
    ("of 1.37 whose pods 1.36 forgets", {"cpu": CPU_DATA}, (1, 36), (), ["pod-entries-dropped"]),
    ("of 1.36 with pods, read by 1.37", {"cpu": CPU_PODS}, (1, 37), (), []),
    (
        "of the first generation, read by 1.37",
        {"cpu": CPU_EXAMPLES["first generation"]},
        (1, 37),
        (),
        ["cpu-first-generation"],
    ),
    ("memory of 1.37", {"memory": MEMORY_DATA}, (1, 37), (), []),
    (
        "memory of 1.37 with another sum of its data",
        {"memory": with_data_sum(MEMORY_DATA, 1)},
        (1, 37),
        (),
        ["state-file-checksum"],
    ),
    ("memory of 1.37 whose pods 1.36 forgets", {"memory": MEMORY_DATA}, (1, 36), (), ["pod-entries-dropped"]),
    ("a memory file", {"memory": MEMORY}, (1, 36), (), []),
    ("a memory file with another sum", {"memory": with_sum(MEMORY, 1)}, (1, 36), (), ["state-file-checksum"]),
    ("with the sum 0", {"memory": with_sum(MEMORY, 0)}, (1, 36), (), ["memory-checksum-zero"]),
    ("with the sum 0 before 1.36", {"memory": with_sum(MEMORY, 0)}, (1, 35), (), ["state-file-checksum"]),
    (
        "memory of pods and the sum 0",
        {"memory": with_sum(MEMORY_PODS, 0)},
        (1, 36),
        (),
        ["memory-checksum-zero", "pod-entries-dropped"],
    ),
    ("memory of pods", {"memory": MEMORY_PODS}, (1, 36), (GATE,), []),
    ("memory of pods where the gate is off", {"memory": MEMORY_PODS}, (1, 36), (), ["state-file-pod-entries"]),
    ("memory of pods before 1.36", {"memory": MEMORY_PODS}, (1, 35), (GATE,), ["state-file-pod-entries"]),
    ("a memory file that is none", {"memory": "{"}, (1, 36), (), ["state-file-unreadable"]),
    ("a file of devices", {"devices": DEVICES}, (1, 36), (), []),
    ("devices with another sum", {"devices": with_sum(DEVICES, 1)}, (1, 36), (), ["device-checksum"]),
    ("devices that are none", {"devices": "x"}, (1, 36), (), ["device-file-unreadable"]),
]


@pytest.mark.parametrize(("files", "release", "on", "codes"), [row[1:] for row in STATE], ids=[row[0] for row in STATE])
def test_a_state_file(files: dict[str, str], release: tuple[int, int], on: tuple[str, ...], codes: list[str]) -> None:
    said = found(None, release, on, **files)

    assert [one.code for one in said] == codes
    assert not any(map(stops, said))


@pytest.mark.parametrize(("release", "severity"), [((1, 36), "warning"), ((1, 37), "error"), ((1, 38), "error")])
def test_a_file_of_the_first_generation_stops_1_37(release: tuple[int, int], severity: str) -> None:
    [one] = found(release=release, cpu=CPU_EXAMPLES["first generation"])
    assert one.severity == severity


def test_a_wrong_sum_is_told_with_the_right_one() -> None:
    assert found(cpu=with_sum(CPU, 1))[0].message.startswith("wrong checksum (stored 1, computed 2309862762): ")
    [zero] = found(release=(1, 35), memory=with_sum(MEMORY, 0))
    assert zero.message.startswith("wrong checksum (stored 0, computed 1141090873): ")
    assert found(memory=with_sum(MEMORY, 1))[0].message.startswith("wrong checksum (stored 1, computed 1141090873): ")
    assert found(devices=with_sum(DEVICES, 1))[0].message.startswith("wrong checksum (stored 1, computed 3535376109): ")


def test_the_sum_0_is_told_with_what_not_to_do() -> None:
    [zero] = found(memory=with_sum(MEMORY, 0))

    assert zero.message.startswith("has checksum 0: ")
    assert zero.remedy.startswith("do not go back to 1.35")


def test_devices_of_the_format_before_1_20() -> None:
    entry = {"PodUID": "u", "ContainerName": "c", "ResourceName": "r/x", "DeviceIDs": ["a"], "AllocResp": ""}
    old = {"Data": {"PodDeviceEntries": [entry], "RegisteredDevices": {}}, "Checksum": 1}

    assert [one.code for one in found(devices=json.dumps(old))] == ["device-file-old"]


def further(content: str, checksum: int) -> str:
    return json.dumps({"Data": content, "Checksum": checksum})


DRA, FIRST, LATER = "dra_manager_state", "pod_status_manager_state", "allocated_pods_state"
GOOD, BAD = further("{}", fnv1a(b"(string){}")), further("{}", 1)
CLAIMS = further("{}", crc32(b"{}"))
RESIZE = "InPlacePodVerticalScaling"
FURTHER = [
    ("a file of resized pods", LATER, GOOD, (1, 36), (RESIZE,), None),
    ("with another sum, which the kubelet reads", LATER, BAD, (1, 36), (RESIZE,), "error"),
    ("where the gate is off", LATER, BAD, (1, 36), (), "warning"),
    ("the one of 1.32", FIRST, BAD, (1, 32), (RESIZE,), "error"),
    ("which later ones do not read", FIRST, BAD, (1, 33), (RESIZE,), "warning"),
    ("the later one, which 1.32 does not read", LATER, BAD, (1, 32), (RESIZE,), "warning"),
    ("claims, whose sum is another one", DRA, CLAIMS, (1, 36), ("DynamicResourceAllocation",), None),
    ("claims with the others' sum", DRA, GOOD, (1, 36), ("DynamicResourceAllocation",), "error"),
    ("claims where the gate is off", DRA, GOOD, (1, 36), (RESIZE,), "warning"),
]


@pytest.mark.parametrize(
    ("name", "text", "release", "on", "severity"), [row[1:] for row in FURTHER], ids=[row[0] for row in FURTHER]
)
def test_a_further_file(
    name: str, text: str, release: tuple[int, int], on: tuple[str, ...], severity: str | None
) -> None:
    said = found({name: text}, release, on)

    assert [(one.code, one.severity, one.file) for one in said] == (
        [("further-file-checksum", severity, f"/k/{name}")] if severity else []
    )
    assert any(map(stops, said)) is (severity == "error")
    whose = "this kubelet reads it" if severity == "error" else "this kubelet does not read it; a kubelet that reads it"
    assert all(one.message.endswith(f": {whose}{' and' * (severity == 'error')} does not start") for one in said)


@pytest.mark.parametrize(
    "text", ["x", "[]", "{}", '{"data": 1, "checksum": 1}', '{"data": "x", "checksum": 1}', '{"data": "{}"}']
)
def test_a_further_file_that_is_none(text: str) -> None:
    [one] = found({LATER: text}, on=(RESIZE,))
    assert (one.code, one.severity) == ("further-file-unreadable", "error")
