"""`status`: who holds what on a node, what is free, what is odd, and would its kubelet come up again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml

from numalign.kubelet.checkpoint_shape import fnv1a
from numalign.kubelet.cpu import checkpoint as cpu_file
from numalign.kubelet.device import checkpoint as device_file
from numalign.model.cpuset import parse
from tests import documents
from tests.cli.running import Done, in_process, one_line
from tests.cli.test_node_flag import NODE, machine
from tests.cli.test_state_commands import pod_file
from tests.node.test_verify import running
from tests.schemas import strictly

__all__ = ["machine"]


@pytest.fixture
def kubelet(tmp_path: Path) -> Path:
    """A copy of the sample's kubelet folder, to be changed."""
    folder = tmp_path / "kubelet"
    shutil.copytree(NODE / "kubelet", folder)
    return folder


def status(*arguments: str | Path) -> Done:
    done = in_process("status", *arguments, "-o", "json")
    strictly("status-result").validate(done.json)
    return done


def codes(done: Done) -> list[str]:
    return [one["code"] for one in done.json["findings"]]


def test_everybody_who_holds_something_is_listed(machine: str, kubelet: Path) -> None:
    found = status("--node", kubelet, "--machine", machine, "--beside", NODE / "pods.yaml").json

    pods = {pod["name"]: pod for pod in found["pods"]}
    assert sorted(pods) == ["db", "dpdk", "toobig", "train"]
    (fwd,) = pods["dpdk"]["containers"]
    assert fwd["cpus"] == "3,19"
    assert fwd["devices"]["example.com/nic"]["ids"] == ["nic0", "nic1"]
    assert fwd["numaNodes"] == [0]
    assert fwd["aligned"] is True
    assert found["otherPods"] == 1
    assert found["sharedPool"] == "0,5-7,13-16,21-23,29-31"


def test_what_is_free_is_said_node_by_node(machine: str, kubelet: Path) -> None:
    first, second = status("--node", kubelet, "--machine", machine).json["numaNodes"]

    assert first["freeCPUs"] == "5-7,21-23"
    assert first["memory"]["memory"] == {"free": 49123688448, "allocatable": 61203283968}
    assert first["devices"] == {
        "example.com/gpu": {"free": 1, "healthy": 1},
        "example.com/nic": {"free": 0, "healthy": 2},
    }
    assert second["largestAlignedPodCPUs"] == 6


def test_a_pod_that_is_gone_is_left_over(machine: str, kubelet: Path) -> None:
    for number in (1, 2, 3):
        (kubelet / f"pods/6f9c2d4e-0000-4000-8000-00000000000{number}").mkdir(parents=True)

    done = status("--node", kubelet, "--machine", machine)

    last = done.json["pods"][-1]
    assert (last["uid"], last["active"]) == ("6f9c2d4e-0000-4000-8000-000000000005", False)
    assert codes(done).count("leftover") == 2
    assert done.status == 0


def damage_cpu(folder: Path) -> None:
    path = folder / "cpu_manager_state"
    path.write_text(path.read_text().replace("29-31", "29-30"))


def cut_memory(folder: Path) -> None:
    path = folder / "memory_manager_state"
    path.write_text(path.read_text()[:200])


def zero_memory(folder: Path) -> None:
    path = folder / "memory_manager_state"
    path.write_text(json.dumps({**json.loads(path.read_text()), "checksum": 0}))


def overlap(folder: Path) -> None:
    path = folder / "cpu_manager_state"
    found, _ = cpu_file.inspect(path.read_text())
    found = found._replace(default="0-3,5-7,13-16,21-23,29-31")
    path.write_text(cpu_file.write(cpu_file.sealed(found)))


def damage_devices(folder: Path) -> None:
    path = folder / "device-plugins/kubelet_internal_checkpoint"
    path.write_text(path.read_text().replace('"nic3"', '"nic4"'))


def give_twice(folder: Path) -> None:
    path = folder / "device-plugins/kubelet_internal_checkpoint"
    found = device_file.inspect(path.read_text())
    entries = found.entries or ()
    twice = entries[0]._replace(uid="6f9c2d4e-0000-4000-8000-000000000003")
    path.write_text(device_file.write(device_file.sealed(found._replace(entries=(*entries, twice)))))


def lose_plugin(folder: Path) -> None:
    path = folder / "device-plugins/kubelet_internal_checkpoint"
    found = device_file.inspect(path.read_text())
    path.write_text(device_file.write(device_file.sealed(found._replace(registered={}))))


def resized(folder: Path) -> None:
    (folder / "allocated_pods_state").write_text('{"data":"{}","checksum":694314937}')
    (folder / "actuated_pods_state").write_text('{"data":"{}","checksum":1}')
    (folder / "dra_manager_state").write_text("{")


def newer(folder: Path) -> None:
    path = folder / "cpu_manager_state"
    path.write_text(json.dumps({**json.loads(path.read_text()), "checksum": 0, "data": "{}", "dataChecksum": 1}))


CASES = {
    "a changed digit of the CPU file": (damage_cpu, {"state-file-checksum", "cpu-nowhere"}, 4),
    "a cut memory file": (cut_memory, {"state-file-unreadable"}, 4),
    "a memory file with checksum 0": (zero_memory, {"state-file-checksum"}, 4),
    "CPUs in the pool and given out": (overlap, {"cpu-in-pool"}, 4),
    "a changed digit of the device file": (damage_devices, {"device-checksum"}, 0),
    "a device given twice": (give_twice, {"device-twice"}, 0),
    "a plugin that is gone": (lose_plugin, {"device-not-registered"}, 0),
    "files of resized pods and of claims": (resized, {"further-file-checksum", "further-file-unreadable"}, 4),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_odd_has_a_code_a_file_and_a_remedy(case: str, machine: str, kubelet: Path) -> None:
    damage, expected, exit_status = CASES[case]
    damage(kubelet)

    done = status("--node", kubelet, "--machine", machine, "--kubelet-version", "1.35")

    assert expected <= set(codes(done)), done.out
    assert done.status == exit_status
    for finding in done.json["findings"]:
        assert finding["file"].startswith("/var/lib/kubelet/")
        assert finding["remedy"]
        assert finding["severity"] != "error" or "delete" in finding["remedy"]
    if exit_status:
        assert done.json["remedy"].startswith("drain the node, stop the kubelet, delete /var/lib/kubelet/")


def test_the_data_of_a_file_of_137_count_from_137_on(machine: str, kubelet: Path) -> None:
    newer(kubelet)

    older = status("--node", kubelet, "--machine", machine, "--kubelet-version", "1.36")
    now = status("--node", kubelet, "--machine", machine, "--kubelet-version", "1.37")

    assert "state-file-checksum" not in codes(older)
    assert "state-file-checksum" in codes(now)
    assert now.status == 4
    assert "published-release" in [one["code"] for one in now.json["warnings"]]


def test_a_file_that_this_kubelet_does_not_read_does_not_stop_it(machine: str, kubelet: Path) -> None:
    resized(kubelet)

    old = status("--node", kubelet, "--machine", machine, "--kubelet-version", "1.32")
    new = in_process("status", "--node", kubelet, "--machine", machine, "--kubelet-version", "1.33")

    assert old.status == 0
    assert old.json["starts"] is True
    assert {one["severity"] for one in old.json["findings"] if "further" in one["code"]} == {"warning"}
    assert new.status == 4  # resized pods are read from 1.33 on, claims by default from 1.34 on
    assert "A file of resized pods or of claims stops the kubelet (see below)." in new.out
    assert "delete /var/lib/kubelet/actuated_pods_state, start" in new.out


def test_the_remedy_names_every_file_that_is_in_the_way(machine: str, kubelet: Path) -> None:
    damage_cpu(kubelet)
    cut_memory(kubelet)

    done = status("--node", kubelet, "--machine", machine)
    shown = in_process("status", "--node", kubelet, "--machine", machine)

    files = "/var/lib/kubelet/cpu_manager_state and /var/lib/kubelet/memory_manager_state"
    assert done.json["remedy"] == f"drain the node, stop the kubelet, delete {files}, start the kubelet"
    assert shown.out.count("fix: ") == 1


def test_a_kubelet_that_would_not_come_up_is_shown_all_the_same(machine: str, kubelet: Path) -> None:
    damage_cpu(kubelet)

    done = in_process("status", "--node", kubelet, "--machine", machine)

    assert 'would NOT restart:\n  "start cpu manager error: could not restore state' in done.out
    assert "3,19" in done.out
    assert done.status == 4


def test_another_machine_tells_whether_the_node_would_come_back(machine: str, kubelet: Path, tmp_path: Path) -> None:
    data = json.loads(Path(machine).read_text())
    data["numaNodes"][0]["memory"] = "65532Mi"
    other = tmp_path / "other.json"
    other.write_text(json.dumps(data))

    done = status("--node", kubelet, "--machine", other)

    assert done.status == 4
    assert done.json["startError"] == (
        "start memory manager error: [memorymanager] the expected machine state is different from the real one"
    )
    assert "memory-total-differs" in codes(done)


def test_a_state_file_is_judged_by_the_files_that_its_kubelet_would_have(tmp_path: Path) -> None:
    state = tmp_path / "node.json"
    made = in_process("admit", pod_file(tmp_path, "p", 3), "--machine", "figure-1", "--state", state)
    assert made.status == 0

    same = status("--state", state)
    other = status("--state", state, "--cpu-manager-policy", "none")
    checked = in_process("config", "check", "--node", state, "--cpu-manager-policy", "none")

    assert (same.status, same.json["starts"], same.json["restart"]["pods"]) == (0, True, 1)
    assert other.status == 4
    assert other.json["startError"] == SWITCHED_OFF
    assert CPU_FILE in other.json["remedy"]
    assert checked.status == 4
    assert checked.out.splitlines()[1] == "On this node the kubelet would NOT restart:"


def test_a_file_of_policy_none_lacks_no_cpus(machine: str, kubelet: Path) -> None:
    path = kubelet / "cpu_manager_state"
    path.write_text(cpu_file.write(cpu_file.sealed(cpu_file.CPUCheckpoint("current", "none", "", {}))))

    done = status("--node", kubelet, "--machine", machine)

    assert done.status == 4
    assert 'policy "static" differs from state checkpoint policy "none"' in done.json["startError"]
    assert "cpu-nowhere" not in codes(done)


def test_table_and_line_name_the_same_largest_pod(machine: str, kubelet: Path) -> None:
    """Pods in the shared pool take the room of the node as a whole: no NUMA node promises more than it."""
    resources = {"nginx": {"requests": {"cpu": "12"}}}
    text = json.dumps({"entries": {"6f9c2d4e-0000-4000-8000-000000000004": {"ContainerResources": resources}}})
    (kubelet / "allocated_pods_state").write_text(
        json.dumps({"data": text, "checksum": fnv1a(b"(string)" + text.encode())})
    )

    found = status("--node", kubelet, "--machine", machine).json

    largest = max(room["largestAlignedPodCPUs"] for room in found["numaNodes"])
    assert largest == found["largestAlignedPod"]["restricted"] < 6


CPU_FILE, MEMORY_FILE = "/var/lib/kubelet/cpu_manager_state", "/var/lib/kubelet/memory_manager_state"
OTHER_POLICIES = ("--cpu-manager-policy", "none", "--memory-manager-policy", "None", "--cpu-manager-policy-options", "")
SWITCHED_OFF = (
    'start cpu manager error: could not restore state from checkpoint: configured policy "none" differs from state '
    f'checkpoint policy "static", please drain this node and delete the CPU manager checkpoint file "{CPU_FILE}" '
    "before restarting Kubelet"
)
CHECKED = {
    "as it is": ((), "", ""),
    "another policy of the Topology Manager, which is in no file": (("--policy", "single-numa-node"), "", ""),
    "an older release": (("--kubelet-version", "1.32"), "", ""),
    "other reserved CPUs": (
        ("--reserved-cpus", "0,1"),
        'start cpu manager error: not all reserved cpus: "0-1" are present in defaultCpuSet: "0,5-7,13-16,21-23,29-31"',
        CPU_FILE,
    ),
    "both managers switched off": (OTHER_POLICIES, SWITCHED_OFF, f"{CPU_FILE} and {MEMORY_FILE}"),
}


@pytest.mark.parametrize("case", CHECKED)
def test_a_change_is_checked_against_the_nodes_files(case: str, machine: str, kubelet: Path) -> None:
    flags, error, files = CHECKED[case]

    done = in_process("config", "check", "--node", kubelet, "--machine", machine, *flags, "-o", "json")

    strictly("config-check-result").validate(done.json)
    node = done.json["node"]
    assert (node["startError"] or "") == error
    assert (node["remedy"] or "") == (
        f"drain the node, stop the kubelet, delete {files}, start the kubelet" if files else ""
    )
    assert done.status == (4 if error else 0)


def test_a_file_of_136_with_pod_entries_is_refused_by_any_other_release(machine: str, kubelet: Path) -> None:
    gate = ("--feature-gates", "PodLevelResourceManagers=true")
    path = kubelet / "cpu_manager_state"
    found, _ = cpu_file.inspect(path.read_text())
    entries = {"6f9c2d4e-0000-4000-8000-000000000002": parse("3,19")}
    path.write_text(cpu_file.write(cpu_file.sealed(found._replace(form="with podEntries", pod_entries=entries))))
    place = ("config", "check", "--node", kubelet, "--machine", machine)

    assert in_process(*place, *gate).status == 0
    older = in_process(*place, "--kubelet-version", "1.35", "-o", "json")

    assert older.status == 4
    assert "checkpoint is corrupted" in older.json["node"]["startError"]
    assert older.json["node"]["remedy"].endswith(f"delete {CPU_FILE}, start the kubelet")
    assert "state-file-pod-entries" in [one["code"] for one in older.json["node"]["findings"]]


def test_a_state_file_has_a_status_too(tmp_path: Path) -> None:
    state = tmp_path / "node.json"
    in_process("admit", pod_file(tmp_path, "web", 2), "--machine", "figure-1", "--state", state)

    done = in_process("status", "--state", state)

    assert done.status == 0
    assert "default/web" in done.out
    assert "0-1" in done.out


def test_without_a_kubelet_it_says_what_to_name(monkeypatch: pytest.MonkeyPatch) -> None:
    from numalign.cli.commands import status as module

    monkeypatch.setattr(module, "ROOT", "/nowhere/kubelet")

    done = in_process("status")

    assert done.status == 3
    assert "no kubelet on this host; fix: add --node SOURCE" in one_line(done.err)


def test_wide_says_what_to_do(machine: str, kubelet: Path) -> None:
    damage_devices(kubelet)

    done = in_process("status", "--node", kubelet, "--machine", machine, "-o", "wide")

    assert "fix: restart the pods that hold devices" in done.out


def test_a_pod_that_a_newer_kubelet_pins_nothing_for_is_named(machine: str, kubelet: Path, tmp_path: Path) -> None:
    """docs/rules/kubelet-versions.md 6.3."""
    pods = documents.each((NODE / "pods.yaml").read_text())
    for pod in pods:
        own = {"cpu": "64", "memory": "64Gi"}
        pod["spec"]["resources"] = {"limits": own, "requests": own}
    beside = tmp_path / "pods.yaml"
    beside.write_text(yaml.safe_dump_all(pods))
    place = ("--node", kubelet, "--machine", machine)

    older, newer = (
        codes(status(*place, "--beside", beside, "--kubelet-version", version)) for version in ("1.32", "1.36")
    )
    assert "pod-level-unpinned" not in older
    assert "pod-level-unpinned" in newer


def test_an_answer_of_the_api_that_says_otherwise_is_told(tmp_path: Path) -> None:
    root = running(tmp_path)
    container = {"name": "fwd", "cpu_ids": [3, 20]}
    pod = {"name": "dpdk", "namespace": "net", "containers": [container]}
    told = {"kind": "NodeSnapshot", "podResources": {"pod_resources": [pod]}, "kubeletVersion": "v1.32.10"}
    root.write("numalign/snapshot.json", json.dumps(told))

    done = status("--node", tmp_path)

    assert "podresources-differ" in codes(done)
    assert done.json["kubeletVersion"] == "1.32"


def test_who_sits_where_is_drawn(machine: str, kubelet: Path) -> None:
    place = ("--node", kubelet, "--machine", machine, "--beside", NODE / "pods.yaml")

    picture = in_process("status", *place, "-o", "svg")
    page = in_process("status", *place, "-o", "html")

    assert picture.out.startswith("<?xml") or picture.out.startswith("<svg")
    assert "dpdk" in picture.out
    assert "pods admitted" not in picture.out
    assert page.out.startswith("<!DOCTYPE html>")
    assert "restart would succeed" in page.out


def test_pods_that_are_spread_say_on_which_nodes_and_where_their_fixes_are() -> None:
    node = "tests/live/rt-3n-memless-besteffort/end.snapshot.tar.xz"
    done = in_process("status", "--node", node)
    assert "no: spread, NUMA 0,3" in done.out
    advice = f"3 pods are spread. For fixes, run numalign explain with a pod's manifest, --node {node} and"
    assert f"{advice} --without POD." in " ".join(done.out.split())
