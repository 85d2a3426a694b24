"""From end to end: build a node, take a snapshot, carry it elsewhere, ask everything about it there."""

from __future__ import annotations

import json
import os
import shutil
import tarfile
from pathlib import Path

import pytest

from tests.cli.running import ROOT, Done, in_process, numalign
from tests.cli.test_state_commands import pod_file
from tests.node.fake_root import FakeContainer
from tests.node.test_verify import UIDS, running


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root of a node on which one container drifted."""
    root = tmp_path_factory.mktemp("worker-1")
    built = running(root, FakeContainer(UIDS["dpdk"], "fwd", "3-5,19", "0"))
    built.process(("0-31",), "0-31", last_cpu=0, name="secret-program")
    built.write("proc/driver/nvidia/gpus/0000:3b:00.0/information", "GPU UUID: \t GPU-b2\n")
    built.write("sys/bus/pci/devices/0000:3b:00.0/numa_node", "1\n")
    built.write("sys/bus/pci/devices/0000:3b:00.0/msi_irqs/40", "msi\n")
    built.write("proc/irq/40/smp_affinity_list", "0\n")
    built.write(
        "proc/4000/cmdline", "/usr/bin/kubelet\0--config=/var/lib/kubelet/config.yaml\0--hostname-override=secret\0"
    )
    built.write("proc/4000/task/4000/status", "Name:\tkubelet\nCpus_allowed_list:\t0\nMems_allowed_list:\t0-1\n")
    return root


@pytest.fixture(scope="module")
def elsewhere(node: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The snapshot on another machine, where the node is not."""
    file = tmp_path_factory.mktemp("taken") / "worker-1.tar.xz"
    done = in_process("snapshot", file, "--host-root", node)
    assert done.status == 0, done.err
    return shutil.copy(file, tmp_path_factory.mktemp("elsewhere") / "carried.tar.xz")


def plain(done: Done, *names: str) -> str:
    """The output without what names the source."""
    text = done.out
    for name in names:
        text = text.replace(name, "SOURCE")
    return text


@pytest.mark.parametrize("command", ["status", "verify"])
def test_a_snapshot_says_what_the_node_says(command: str, node: Path, elsewhere: Path) -> None:
    there = in_process(command, "--node", node)
    here = in_process(command, "--node", elsewhere)

    assert here.status == there.status
    lines = plain(here, str(elsewhere), "carried", "snapshot").splitlines()
    assert ("irq-elsewhere" in here.out) == (command == "verify")
    assert lines[1:] == plain(there, str(node), node.name, "host tree").splitlines()[1:]


def test_a_pod_is_admitted_elsewhere_as_it_would_be_there(node: Path, elsewhere: Path, tmp_path: Path) -> None:
    pod = pod_file(tmp_path, "next", 6)

    there = in_process("admit", pod, "--node", node, "-o", "json").json["pods"]
    here = in_process("admit", pod, "--node", elsewhere, "-o", "json").json["pods"]

    assert here == there
    assert here[0]["containers"][0]["cpus"] == "5-7,21-23"


def test_a_refusal_is_explained_elsewhere(elsewhere: Path, tmp_path: Path) -> None:
    done = in_process("explain", pod_file(tmp_path, "big", 12), "--node", elsewhere, "-o", "wide")

    assert done.status == 1
    assert "1. Move pod train off the node: aligned on NUMA 1" in done.out
    assert f"--node {elsewhere}" in done.out


def test_a_folder_of_snapshots_is_a_cluster(elsewhere: Path, tmp_path: Path) -> None:
    """The node of the snapshot is as full as it is, the machine beside it is empty; a state keeps both."""
    folder, state, pod = tmp_path / "cluster", tmp_path / "state.json", pod_file(tmp_path, "next", 6)
    folder.mkdir()
    shutil.copy(elsewhere, folder / "a.tar.xz")
    shutil.copy(ROOT / "machines/figure-1.yaml", folder / "b.yaml")
    here = in_process("admit", pod, "--node", elsewhere, "-o", "json").json["pods"][0]["admit"]
    counted = in_process("capacity", pod, "--cluster", folder, "-o", "json").json["shapes"][0]
    alone = in_process("capacity", pod, "--node", elsewhere, "-o", "json").json["shapes"][0]
    kept = in_process("schedule", pod, "--cluster", folder, "--state", state, "--scheduler", "unaware", "-o", "json")
    again = in_process("capacity", pod, "--state", state, "-o", "json").json["shapes"][0]

    assert [one["name"] for one in counted["nodes"]][1] == "figure-1"
    assert counted["nodes"][0]["now"] == alone["now"] >= here
    assert kept.status == 0, kept.err
    assert again["now"] == counted["now"] - 1


def test_what_drifted_is_found_elsewhere(elsewhere: Path) -> None:
    done = in_process("verify", "--node", elsewhere, "-o", "json")

    assert done.status == 1
    assert {one["container"] for one in done.json["containers"] if one["verdict"] == "drifted"} == {"fwd"}


def test_the_kubelets_start_is_checked_elsewhere(elsewhere: Path) -> None:
    good = in_process("config", "check", "--node", elsewhere)
    bad = in_process("config", "check", "--node", elsewhere, "--reserved-cpus", "0-1")

    assert good.status == 0, good.err
    assert "on this node with the existing files" in good.out
    assert bad.status == 4
    assert "not all reserved cpus" in bad.out
    assert "drain the node, stop the kubelet, delete /var/lib/kubelet/cpu_manager_state" in bad.out


def test_the_whole_walk_in_real_processes(node: Path, tmp_path: Path) -> None:
    """Once as a person does it, in a folder of their own."""
    taken = numalign("snapshot", "n.tar.xz", "--host-root", node, "-q", cwd=tmp_path)
    shutil.move(tmp_path / "n.tar.xz", tmp_path / "carried.tar.xz")

    assert (taken.status, taken.out) == (0, "")
    assert numalign("status", "--node", "carried.tar.xz", cwd=tmp_path).status == 0
    assert numalign("verify", "--node", "carried.tar.xz", cwd=tmp_path).status == 1
    pod = pod_file(tmp_path, "p", 2)
    assert numalign("admit", pod, "--node", "carried.tar.xz", cwd=tmp_path).status == 0


def test_the_same_node_gives_the_same_bytes(node: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "1.tar.xz", tmp_path / "2.tar.xz"
    for file in (first, second):
        in_process("snapshot", file, "--host-root", node)

    assert first.read_bytes() == second.read_bytes()


def texts(file: Path) -> dict[str, str]:
    found = {}
    with tarfile.open(file) as archive:
        for member in archive:
            content = archive.extractfile(member)
            found[member.name] = content.read().decode() if content else ""
    return found


def test_a_snapshot_has_no_names_of_programs_and_no_command_line(elsewhere: Path) -> None:
    content = texts(elsewhere)

    assert not any("secret" in text for text in content.values())
    assert not any(name.endswith("cmdline") for name in content)
    told = json.loads(content["numalign/snapshot.json"])
    assert told["kubeletFlags"] == {"config": "/var/lib/kubelet/config.yaml"}
    assert set(told) == {
        "apiVersion",
        "kind",
        "kubeletVersion",
        "kubeletFlags",
        "pods",
        "containers",
        "podResources",
        "unreadable",
    }


def test_redacted_names_are_gone_and_the_checksums_right(node: Path, tmp_path: Path) -> None:
    file = tmp_path / "redacted.tar.xz"
    assert in_process("snapshot", file, "--host-root", node, "--redact").status == 0

    content = texts(file)
    done = in_process("status", "--node", file, "-o", "json")

    for name, text in content.items():
        for secret in ("dpdk", "server", "exporter", "nginx", "registry.example"):
            assert secret not in name
            assert secret not in text, name
    assert done.status == 0
    assert not [one for one in done.json["findings"] if "checksum" in one["code"]]
    (pod,) = [one for one in done.json["pods"] if one["uid"] == UIDS["dpdk"]]
    assert pod["name"].startswith("pod-")
    assert pod["containers"][0]["cpus"] == "3,19"
    assert in_process("verify", "--node", file).status == 1


def test_what_may_not_be_read_is_named_and_not_fatal(
    node: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from numalign.sources.tree import folder

    real = folder.FolderTree.read

    def refused(self: folder.FolderTree, path: str) -> str:
        if path.endswith(("cpu_manager_state", "/config.json")):
            raise PermissionError(13, "Permission denied", path)
        return real(self, path)

    monkeypatch.setattr(folder.FolderTree, "read", refused)
    done = in_process("snapshot", tmp_path / "n.tar.xz", "--host-root", node)
    asked = in_process("status", "--node", tmp_path / "n.tar.xz", "-o", "json")

    assert done.status == 0
    _, own, many, _ = (line for line in done.err.splitlines() if line[0] != " ")
    assert own == "warning: /var/lib/kubelet/cpu_manager_state is not readable"
    assert many.startswith("warning: /run/containerd/"), "of what there is one of for each container the first"
    assert many.endswith(" more are not readable")
    assert asked.status == 3, "nothing is claimed of files that nobody read"
    text = "/var/lib/kubelet/cpu_manager_state: was not readable for the snapshot; fix: take the snapshot again as root"
    assert asked.json["error"] == f"snapshot {tmp_path}/n.tar.xz: {text}"


def test_a_locked_socket_is_not_told_as_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    from numalign.sources.node.source import ask_live

    def refused(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    with monkeypatch.context() as patched:
        patched.setattr(os, "stat", refused)
        answer, why = ask_live("/var/lib/kubelet")
    assert (answer, why) == (None, "/var/lib/kubelet/pod-resources/kubelet.sock: Permission denied")


def test_a_name_that_is_no_archive_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    done = in_process("snapshot", tmp_path / "node.zip")

    assert done.status == 2
    assert "expected a name that ends in .tar" in done.err


def test_a_sosreport_is_a_node(node: Path, tmp_path: Path) -> None:
    """A made one: a root's files in a folder of their own, beside what its commands printed."""
    file = tmp_path / "sosreport-worker-1.tar.xz"
    (tmp_path / "sos_commands").mkdir()
    with tarfile.open(file, "w:xz") as archive:
        for name in ("sys", "var", "proc"):
            archive.add(node / name, f"sosreport-worker-1/{name}")
        archive.add(tmp_path / "sos_commands", "sosreport-worker-1/sos_commands")

    done = in_process("admit", pod_file(tmp_path, "next", 6), "--node", file)

    assert done.status == 0, done.err
    assert f"(sosreport {file})" in done.out
    assert "5-7,21-23" in done.out


def test_a_sosreport_without_sys_tells_of_its_hardware_by_its_tools(node: Path, tmp_path: Path) -> None:
    file = tmp_path / "sosreport-worker-2.tar.xz"
    tools = tmp_path / "sos_commands"
    (tools / "processor").mkdir(parents=True)
    (tools / "numa").mkdir()
    (tools / "processor" / "lscpu").write_text(
        "CPU(s): 32\nOn-line CPU(s) list: 0-31\nThread(s) per core: 2\nCore(s) per socket: 8\nSocket(s): 2\n"
        "NUMA node(s): 2\nNUMA node0 CPU(s): 0-7,16-23\nNUMA node1 CPU(s): 8-15,24-31\n"
    )
    (tools / "numa" / "numactl_--hardware").write_text(
        "available: 2 nodes (0-1)\nnode 0 cpus: 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23\nnode 0 size: 64000 MB\n"
        "node 1 cpus: 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31\nnode 1 size: 64000 MB\n"
        "node distances:\nnode   0   1\n  0:  10  21\n  1:  21  10\n"
    )
    with tarfile.open(file, "w:xz") as archive:
        archive.add(node / "var", "sosreport-worker-2/var")
        archive.add(tools, "sosreport-worker-2/sos_commands")

    answer = in_process("status", "--node", file, "-o", "json").json
    assert (answer["machine"], len(answer["numaNodes"])) == ("sosreport", 2)
