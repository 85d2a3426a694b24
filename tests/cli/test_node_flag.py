"""`--node`: this pod, here, now, from whatever a person has of a node."""

from __future__ import annotations

import json
import shlex
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest

from numalign.model.cpuset import parse
from numalign.model.document import anything
from numalign.sources.text.yaml import read_one
from tests.cli.running import PODS, in_process, one_line
from tests.cli.test_state_commands import pod_file
from tests.kubelet.state_nodes import STATE
from tests.schemas import strictly

NODE = STATE / "two-socket-restricted"


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The sample's machine, with devices without NUMA nodes said as such."""
    data = read_one(str(NODE / "machine.yaml"), anything)
    for devices in data["devices"].values():
        for device in devices:
            device.setdefault("numaNodes", None)
    path = tmp_path_factory.mktemp("machine") / "worker-1.json"
    path.write_text(json.dumps(data))
    return str(path)


def admitted(*arguments: str | Path) -> Any:
    done = in_process("admit", *arguments, "-o", "json")
    assert done.status in (0, 1), done.err
    return done.json["pods"][0]


def test_a_pod_gets_what_the_pods_there_leave(machine: str, tmp_path: Path) -> None:
    pod = pod_file(tmp_path, "next", 6)

    answer = admitted(pod, "--node", NODE / "kubelet", "--machine", machine)

    assert answer["admit"]
    (container,) = answer["containers"]
    # Of node 0 5-7 and 21-23 are free, of node 1 12-15 and 28-31, two of which a refused pod has left.
    assert container["cpus"] == "5-7,21-23"


def test_the_header_names_the_node_and_its_settings(machine: str, tmp_path: Path) -> None:
    done = in_process("admit", pod_file(tmp_path, "next"), "--node", NODE / "kubelet", "--machine", machine)

    assert done.out.startswith(f"worker-1 ({NODE}/kubelet): 2 NUMA nodes, 32 CPUs; kubelet 1.36, kubelet defaults\n")
    assert "restricted, scope" in done.out


def test_settings_of_the_node_can_be_overridden(machine: str, tmp_path: Path) -> None:
    place = ("--node", NODE / "kubelet", "--machine", machine)
    wide = pod_file(tmp_path, "wide", 8)

    assert admitted(wide, *place)["admit"] is False
    assert admitted(wide, *place, "--policy", "best-effort")["admit"] is True


def test_a_folder_without_a_machine_says_what_is_missing(tmp_path: Path) -> None:
    done = in_process("admit", pod_file(tmp_path, "next"), "--node", NODE / "kubelet")

    assert done.status == 2
    assert "has no hardware description; fix: add --machine" in one_line(done.err)


def test_a_damaged_file_stops_the_kubelet(machine: str, tmp_path: Path) -> None:
    folder = tmp_path / "kubelet"
    shutil.copytree(NODE / "kubelet", folder)
    (folder / "cpu_manager_state").write_text("{")

    done = in_process("admit", pod_file(tmp_path, "next"), "--node", folder, "--machine", machine)

    assert done.status == 4
    assert "start cpu manager error: could not restore state from checkpoint: unexpected end of JSON input" in done.err


def damaged(tmp_path: Path, old: str, new: str) -> Path:
    """Copy the sample's folder, with a text of the CPU file changed."""
    folder = tmp_path / "kubelet"
    shutil.copytree(NODE / "kubelet", folder)
    file = folder / "cpu_manager_state"
    file.write_text(file.read_text().replace(old, new))
    return folder


def test_a_wrong_checksum_says_both_sums_and_what_to_do(machine: str, tmp_path: Path) -> None:
    folder = damaged(tmp_path, "1-2,17-18", "1-2,17,19")

    done = in_process("admit", pod_file(tmp_path, "next", 2), "--node", folder, "--machine", machine)

    file = "/var/lib/kubelet/cpu_manager_state"
    assert done.status == 4
    assert f"{file}: wrong checksum (stored 2204042600, computed " in done.err
    assert f"fix: drain the node, stop the kubelet, delete {file}, start the kubelet" in done.err
    assert "fix: or read the files anyway: --ignore-checksums" in done.err


@pytest.mark.parametrize("command", ["admit", "explain", "compare", "capacity"])
def test_one_may_go_on_despite_a_wrong_checksum(command: str, machine: str, tmp_path: Path) -> None:
    """Only the checksum is wrong: the content is the sample's, a digit of the stored sum is not."""
    folder = damaged(tmp_path, "2204042600", "2204042601")
    place = ("--node", folder, "--machine", machine)
    pod = pod_file(tmp_path, "next", 6)

    assert in_process(command, pod, *place).status == 4
    done = in_process(command, pod, *place, "--ignore-checksums")

    assert done.status == 0
    assert "wrong checksum (stored 2204042601, computed 2204042600): used" in done.err
    assert in_process(command, pod, "--node", NODE / "kubelet", "--machine", machine).out == done.out.replace(
        str(folder), str(NODE / "kubelet")
    )


def test_commands_to_type_next_keep_what_was_ignored(machine: str, tmp_path: Path) -> None:
    folder = damaged(tmp_path, "2204042600", "2204042601")
    place = ("--node", folder, "--machine", machine, "--ignore-checksums")

    done = in_process("explain", pod_file(tmp_path, "big", 12), *place, "-o", "wide")

    assert f"--node {folder} --ignore-checksums" in done.out


def test_what_no_checksum_is_to_blame_for_stops_all_the_same(machine: str, tmp_path: Path) -> None:
    folder = damaged(tmp_path, "29-31", "29-30")

    done = in_process("admit", pod_file(tmp_path, "p"), "--node", folder, "--machine", machine, "--ignore-checksums")

    assert done.status == 4
    assert 'current set of available CPUs "0-31" doesn\'t match with CPUs in state "0-30"' in done.err
    assert "to go on" not in done.err


def test_a_damaged_device_file_is_told_and_its_records_count(machine: str, tmp_path: Path) -> None:
    folder = damaged(tmp_path, "", "")
    file = folder / "device-plugins/kubelet_internal_checkpoint"
    file.write_text(file.read_text().replace('"Checksum":', '"Checksum":1'))

    done = in_process("admit", pod_file(tmp_path, "next", 6), "--node", folder, "--machine", machine)

    assert done.status == 0
    assert "at its start the kubelet forgets all device allocations" in done.err


def test_ignoring_checksums_is_about_a_node(tmp_path: Path) -> None:
    done = in_process("admit", pod_file(tmp_path, "p"), "--ignore-checksums")

    assert done.status == 2
    assert "requires --node" in one_line(done.err)


def test_a_state_file_is_a_node_too(tmp_path: Path) -> None:
    state = tmp_path / "node.json"
    flags = ("--machine", "sockets=1,coresPerNumaNode=4,memoryPerNumaNode=8Gi")
    in_process("admit", pod_file(tmp_path, "there", 2), *flags, "--state", state)
    before = state.read_text()

    answer = admitted(pod_file(tmp_path, "next", 2), "--node", state)

    assert answer["containers"][0]["cpus"] == "2-3"
    assert state.read_text() == before
    assert admitted(pod_file(tmp_path, "other", 2), "--node", state, "--policy", "restricted")["admit"]


ANSWER = {
    "pod_resources": [
        {"name": "web", "namespace": "default", "containers": [{"name": "app", "cpu_ids": [2, 3], "devices": []}]}
    ],
    "allocatable_resources": {
        "cpu_ids": [1, 2, 3, 4, 5, 6, 7],
        "devices": [{"resource_name": "v/x", "device_ids": ["d"], "topology": {"nodes": [{"ID": 1}]}}],
    },
}


def test_an_answer_of_the_api_is_a_node_where_the_machine_is_named(tmp_path: Path) -> None:
    source = tmp_path / "podresources.json"
    source.write_text(json.dumps(ANSWER))
    shape = "sockets=1,numaNodesPerSocket=2,coresPerNumaNode=4,memoryPerNumaNode=8Gi"

    done = in_process("admit", pod_file(tmp_path, "n", 2), "--node", source, "--machine", shape, "-o", "json")

    assert not parse(done.json["pods"][0]["containers"][0]["cpus"]) & parse("0,2-3")
    assert "node-settings-unknown" in {warning["code"] for warning in done.json["warnings"]}
    assert "unknown of this node: the kubelet's policies" in done.err


def test_pods_of_the_api_server_name_and_measure_the_pods_there(machine: str, tmp_path: Path) -> None:
    place = ("--node", NODE / "kubelet", "--machine", machine)

    done = in_process("explain", pod_file(tmp_path, "big", 12), *place, "--beside", NODE / "pods.yaml", "-o", "wide")

    assert done.status == 1
    assert "Move pod train off the node" in done.out
    assert f"--node {NODE}/kubelet" in done.out


def test_compare_keeps_what_the_pods_there_hold(machine: str, tmp_path: Path) -> None:
    done = in_process(
        "compare", pod_file(tmp_path, "next", 6), "--node", NODE / "kubelet", "--machine", machine, "-o", "json"
    )

    assert done.status == 0
    rows = {row["kubelet"]["topologyManagerPolicy"]: row for row in done.json["variants"]}
    assert rows["single-numa-node"]["replicas"] == 2  # six CPUs are free on each node


def test_capacity_counts_what_one_node_still_holds(machine: str, tmp_path: Path) -> None:
    place = ("--node", NODE / "kubelet", "--machine", machine)
    pod = pod_file(tmp_path, "next", 6)

    done = in_process("capacity", pod, *place, "-o", "json")
    shown = in_process("capacity", pod, *place)

    strictly("capacity-result").validate(done.json)
    (shape,) = done.json["shapes"]
    assert (shape["now"], shape["aligned"], shape["empty"]) == (2, 2, 4)  # six CPUs are free on each node
    assert f"worker-1 ({NODE}/kubelet)" in shown.out
    assert "4 pods on the node" in shown.out
    assert "on an empty node: 4, all aligned" in shown.out


def test_capacity_counts_beside_the_pods_of_the_api_server(machine: str, tmp_path: Path) -> None:
    settings = ("--kubelet-config", NODE / "kubelet/config.yaml", "--machine", machine)

    done = in_process("capacity", pod_file(tmp_path, "n", 6), *settings, "--beside", NODE / "pods.yaml", "-o", "json")

    assert done.json["shapes"][0]["now"] == 2
    assert done.json["shapes"][0]["empty"] == 4


CAPACITY_OF_NOTHING = {
    "no place": ((), "no node given; fix: "),
    "a cluster and a node": (("--cluster", "machines", "--node", "pods"), "--cluster and --state cannot be used with"),
    "settings of a cluster": (
        ("--cluster", "machines", "--policy", "restricted"),
        "kubelet settings are for the machines of --machine-of",
    ),
}


@pytest.mark.parametrize("case", CAPACITY_OF_NOTHING)
def test_capacity_wants_one_place(case: str, tmp_path: Path) -> None:
    flags, message = CAPACITY_OF_NOTHING[case]

    done = in_process("capacity", pod_file(tmp_path, "next"), *flags)

    assert done.status == 2
    assert message in one_line(done.err)


WRONG = {
    "nothing of a node": (
        "pods",
        "snapshot, /var/lib/kubelet, must-gather, sosreport, PodResources answer, state file",
    ),
    "no such file": ("nowhere", "cannot be read: No such file or directory"),
    "a file of something else": ("README.md", "is not a readable tar archive (a header is damaged)"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_tells_of_no_node_is_told(case: str, tmp_path: Path) -> None:
    source, message = WRONG[case]

    done = in_process("admit", pod_file(tmp_path, "next"), "--node", source)

    assert done.status == 2
    assert message in one_line(done.err)


def test_node_and_state_exclude_each_other(tmp_path: Path) -> None:
    done = in_process("admit", pod_file(tmp_path, "p"), "--node", "a", "--state", "b")

    assert done.status == 2
    assert "--node cannot be used with --state" in one_line(done.err)


def must_gather(folder: Path) -> Path:
    """A made must-gather, laid out as the public collectors lay one out."""
    root = folder / "must-gather.local.1" / "quay-io-sha256-1"
    node = root / "nodes" / "worker-1"
    node.mkdir(parents=True)
    (node / "podresources.json").write_text(json.dumps(ANSWER))
    machine = STATE.parent / "sysfs"
    tree = sorted(machine.glob("*.tar.xz"))[0]
    with tarfile.open(tree) as packed, tarfile.open(node / "sysinfo.tgz", "w:gz") as gathered:
        for member in packed:
            gathered.addfile(member, packed.extractfile(member) if member.isreg() else None)
    objects = root / "cluster-scoped-resources"
    (objects / "core/nodes").mkdir(parents=True)
    (objects / "core/nodes/worker-1.yaml").write_text("kind: Node\nstatus: {nodeInfo: {kubeletVersion: v1.32.5}}\n")
    configs = objects / "machineconfiguration.openshift.io/kubeletconfigs"
    configs.mkdir(parents=True)
    (configs / "performance.yaml").write_text(
        "kind: KubeletConfig\nspec: {kubeletConfig: {cpuManagerPolicy: static, topologyManagerPolicy: restricted, "
        "reservedSystemCPUs: '0'}}\n"
    )
    pods = root / "namespaces/default/core"
    pods.mkdir(parents=True)
    pod = {
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "default", "uid": "uid-web"},
        "spec": {
            "nodeName": "worker-1",
            "containers": [{"name": "app", "resources": {"limits": {"cpu": "2", "memory": "1Gi"}}}],
        },
        "status": {"phase": "Running"},
    }
    (pods / "pods.yaml").write_text(json.dumps({"kind": "PodList", "items": [pod]}))
    return root.parent


def test_a_must_gather_is_a_node(tmp_path: Path) -> None:
    done = in_process(
        "admit", pod_file(tmp_path, "next", 1), "--node", must_gather(tmp_path / "gathered"), "-o", "json"
    )

    assert done.status == 0, done.err
    assert done.json["kubelet"]["topologyManagerPolicy"] == "restricted"
    cpus = done.json["pods"][0]["containers"][0]["cpus"]
    assert cpus not in ("0", "2", "3")
    assert "unknown of this node: the kubelet's files" in done.err


ODD_PODS = {
    "no list of items": "kind: PodList\nitems: 5\n",
    "an item that is no pod": "kind: PodList\nitems: [5, {spec: {nodeName: worker-1}, metadata: 3}]\n",
    "a pod without containers": "kind: PodList\nitems: [{spec: {nodeName: worker-1}, metadata: {name: x}}]\n",
    "deep nesting": "[" * 100_000,
    "too much": " " * (17 << 20) + "kind: PodList",
    "no YAML": "{",
}


@pytest.mark.parametrize("case", ODD_PODS)
def test_a_damaged_must_gather_is_told_or_passed_over(case: str, tmp_path: Path) -> None:
    root = must_gather(tmp_path / "gathered")
    next(root.rglob("pods.yaml")).write_text(ODD_PODS[case])

    done = in_process("admit", pod_file(tmp_path, "next", 1), "--node", root)

    assert done.status in (0, 2, 3)
    assert done.status == 0 or "namespaces/default/core/pods.yaml" in one_line(done.err)


def test_a_packed_must_gather_is_a_node_too(tmp_path: Path) -> None:
    """The hardware is an archive inside the archive."""
    gathered = must_gather(tmp_path / "gathered")
    packed = tmp_path / "must-gather.tar.gz"
    with tarfile.open(packed, "w:gz") as archive:
        archive.add(gathered, gathered.name)
    pod = pod_file(tmp_path, "next", 1)

    there = in_process("admit", pod, "--node", gathered, "-o", "json")
    here = in_process("admit", pod, "--node", packed, "-o", "json")

    assert here.status == 0, here.err
    assert here.json["pods"] == there.json["pods"]
    assert here.json["machine"] == there.json["machine"]


def test_a_must_gather_of_several_nodes_wants_a_name(tmp_path: Path) -> None:
    root = must_gather(tmp_path / "gathered")
    (root / "quay-io-sha256-1/nodes/worker-2").mkdir()

    done = in_process("admit", pod_file(tmp_path, "next"), "--node", root)

    assert done.status == 2
    assert "add --node-name; allowed: worker-1, worker-2" in one_line(done.err)
    assert in_process("admit", pod_file(tmp_path, "next"), "--node", root, "--node-name", "worker-1").status == 0


def test_files_that_may_not_be_read_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from numalign.sources.tree import folder

    def refused(self: folder.FolderTree, path: str) -> str:
        raise PermissionError(13, "Permission denied", f"{self.name}/{path}")

    monkeypatch.setattr(folder.FolderTree, "read", refused)
    done = in_process("admit", pod_file(tmp_path, "next"), "--node", NODE / "kubelet")

    assert done.status == 3
    assert "cpu_manager_state: cannot be read: Permission denied" in one_line(done.err)


def test_an_answer_beyond_all_measure_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from numalign.sources.node import source

    monkeypatch.setattr(source, "MAX_ANSWER", 100)
    path = tmp_path / "answer.json"
    path.write_text(json.dumps(ANSWER))

    done = in_process("admit", pod_file(tmp_path, "next"), "--node", path)

    assert done.status == 2
    assert "is larger than 0 MiB, the most for an answer of a kubelet" in one_line(done.err)


def test_every_command_that_explain_prints_runs_and_others_are_told_to_come_later() -> None:
    """Without a static Memory Manager the kubelet does not start with the file of one: that change has no command."""
    node = STATE / "four-numa-pod-scope"
    source = ("--node", node / "kubelet", "--machine", node / "machine.yaml", "--policy", "single-numa-node")
    arguments = ("explain", PODS / "guaranteed-4cpu-1gpu.yaml", *source, "--allow-missing", "nvidia.com/gpu")

    changes = in_process(*arguments, "-o", "json").json["pods"][0]["changes"]
    printed = in_process(*arguments).out

    shown = {one["command"] for one in changes if not one["deleteStateFiles"]}
    assert shown
    assert None not in shown
    for command in shown:
        assert in_process(*shlex.split(command)[1:], "-q").status == 0, command
    (later,) = (one for one in changes if one["deleteStateFiles"])
    assert (later["settings"], later["command"]) == ({"memory-manager-policy": "None"}, None)
    assert in_process(*arguments, "--memory-manager-policy", "None").status == 4
    assert "--memory-manager-policy None --node" not in printed
    assert "     No command shows it: with the node's state files the kubelet would not start (see below)." in printed
    assert "delete memory_manager_state in its root directory." in printed


def test_a_pod_that_is_there_is_asked_about_without_itself(tmp_path: Path) -> None:
    """Why is it spread, and what would help? It comes up again on the node that it left."""
    state = tmp_path / "state.json"
    pod = pod_file(tmp_path, "db", 6)
    assert in_process("admit", pod, "--machine", "figure-1", "--state", state).status == 0

    assert one_line(in_process("explain", pod, "--node", state).err).endswith(
        '"db" is also the name of a pod on the node'
    )
    for name in ("db", "default/db"):
        done = in_process("explain", pod, "--node", state, "--without", name)
        assert (done.status, "db: admitted" in done.out) == (0, True), done.err
