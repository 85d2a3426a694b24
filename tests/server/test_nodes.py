"""The files behind the extender: what is read again, what stays in force, and whose data are too old."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from numalign.errors import InputError
from numalign.scheduler.extender import Extender
from numalign.scheduler.node import Fleet
from numalign.scheduler.nrt.value import manifest
from numalign.server.nodes import KnownNodes
from numalign.tasks.cluster import ClusterRequest, load_file_nodes, referred
from tests.cli.running import ROOT, in_process
from tests.node.fake_root import FakeContainer
from tests.node.test_verify import UIDS, running
from tests.server.nodes import NODES

MACHINE = (ROOT / "machines" / "figure-1.yaml").read_text(encoding="utf-8")

CONFIGURATION = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\ncpuManagerPolicy: none\n"


class Files:
    """Counts which files are read."""

    def __init__(self, *paths: Path, max_age: float | None = None) -> None:
        self.read: list[str] = []
        self.known = KnownNodes(
            self.load, referred, lambda fleet: Extender(fleet.nodes), tuple(map(str, paths)), max_age
        )

    def load(self, path: str) -> Fleet:
        self.read.append(os.path.basename(path))
        return load_file_nodes(path).fleet


def nrts(file: Path, places: Sequence[int]) -> None:
    objects = [nrt for place in places if (nrt := NODES[place].nrt)]
    file.write_text(json.dumps({"kind": "List", "items": [manifest(nrt) for nrt in objects]}))


def age(file: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(file, (then, then))


def test_only_the_file_that_changed_is_read_again(tmp_path: Path) -> None:
    nrts(tmp_path / "a.json", [0])
    nrts(tmp_path / "b.json", [1])
    files = Files(tmp_path)
    files.read.clear()

    nrts(tmp_path / "b.json", [1, 2])

    assert files.known.reload().changed
    assert files.read == ["b.json"]
    assert len(files.known.extender) == 3


def test_a_new_file_adds_nodes_and_one_that_goes_takes_its_own_away(tmp_path: Path) -> None:
    nrts(tmp_path / "a.json", [0])
    files = Files(tmp_path)
    nrts(tmp_path / "b.json", [1])
    assert files.known.reload().changed
    assert len(files.known.extender) == 2

    (tmp_path / "a.json").unlink()

    assert files.known.reload().changed
    assert len(files.known.extender) == 1


def test_a_node_in_two_files_leaves_the_old_state_in_force(tmp_path: Path) -> None:
    nrts(tmp_path / "a.json", [0, 1])
    files = Files(tmp_path)
    nrts(tmp_path / "b.json", [1])

    answer = files.known.reload()

    assert 'duplicate node "b" in another file' in answer.error
    assert len(files.known.extender) == 2
    assert not files.known.reload().error  # told once


def test_only_the_nodes_of_an_old_file_are_stale(tmp_path: Path) -> None:
    nrts(tmp_path / "a.json", [0])
    nrts(tmp_path / "b.json", [1, 2])
    age(tmp_path / "b.json", 100)

    files = Files(tmp_path, max_age=50)

    assert files.known.stale == {"b", "c"}
    assert 100 <= files.known.age < 200
    age(tmp_path / "b.json", 10)
    files.known.reload()
    assert files.known.stale == frozenset()


def test_without_a_limit_nothing_is_stale(tmp_path: Path) -> None:
    nrts(tmp_path / "a.json", [0])
    age(tmp_path / "a.json", 10**6)

    assert Files(tmp_path / "a.json").known.stale == frozenset()


def test_a_folder_may_hold_machines_objects_and_cluster_files(tmp_path: Path) -> None:
    nrts(tmp_path / "objects.json", [0])
    (tmp_path / "machine.yaml").write_text(MACHINE)
    (tmp_path / "cluster.yaml").write_text("nodes:\n- {name: 'n{i}', count: 3, machine: figure-1}\n")

    assert len(Files(tmp_path).known.extender) == 5


def files_referred_to(folder: Path) -> Files:
    """Keep a cluster file in one folder, and what it refers to in one below it."""
    folder /= "clusters"
    (folder / "parts").mkdir(parents=True)
    (folder / "parts" / "machine.yaml").write_text(MACHINE)
    (folder / "parts" / "kubelet.yaml").write_text(CONFIGURATION)
    text = "nodes:\n- {name: a, machine: parts/machine.yaml, kubeletConfig: parts/kubelet.yaml}\n"
    (folder / "a.yaml").write_text(text)
    (folder / "b.yaml").write_text("nodes:\n- {name: b, machine: figure-1}\n")
    return Files(folder)


def test_a_change_of_a_machine_or_configuration_that_a_cluster_file_names_reads_it_again(tmp_path: Path) -> None:
    files = files_referred_to(tmp_path)
    assert not files.known.reload().changed
    for name in ("machine.yaml", "kubelet.yaml"):
        files.read.clear()

        with (tmp_path / "clusters" / "parts" / name).open("a") as file:
            file.write("# changed\n")

        assert files.known.reload().changed
        assert files.read == ["a.yaml"]


def test_a_machine_that_goes_leaves_the_old_state_in_force_and_is_read_when_it_is_back(tmp_path: Path) -> None:
    files = files_referred_to(tmp_path)
    machine = tmp_path / "clusters" / "parts" / "machine.yaml"
    machine.unlink()

    assert "machine.yaml" in files.known.reload().error
    assert len(files.known.extender) == 2
    assert not files.known.reload().error  # told once

    machine.write_text(MACHINE)
    assert files.known.reload().changed


def test_the_machine_of_a_label_is_a_file_that_objects_refer_to(tmp_path: Path) -> None:
    nrts(tmp_path / "a.json", [0])

    assert referred(str(tmp_path / "a.json"), ClusterRequest((), machine_of=("pool=fast:fast.yaml",))) == ("fast.yaml",)


def test_a_folder_without_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file that ends in"):
        Files(tmp_path)


def test_a_snapshot_is_a_node_with_what_its_pods_hold(tmp_path: Path) -> None:
    running(tmp_path / "worker-1", FakeContainer(UIDS["dpdk"], "fwd", "3-5,19", "0"))
    done = in_process("snapshot", tmp_path / "worker-1.tar.xz", "--host-root", tmp_path / "worker-1")
    assert done.status == 0, done.err

    (node,) = load_file_nodes(str(tmp_path / "worker-1.tar.xz")).fleet.nodes

    assert node.known == "exact"
    assert node.totals.used["cpu"] > 0
    assert len(Files(tmp_path / "worker-1.tar.xz").known.extender) == 1


def test_a_bug_while_reading_is_told_and_the_next_look_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nrts(tmp_path / "a.json", [0])
    files = Files(tmp_path)

    def fail(*_: object) -> None:
        raise RecursionError("too deep")

    with monkeypatch.context() as patch:
        patch.setattr(KnownNodes, "_read", fail)
        nrts(tmp_path / "b.json", [1])
        assert files.known.reload() == (False, "bug: RecursionError('too deep')")
    with monkeypatch.context() as patch:
        patch.setattr(KnownNodes, "_look", fail)
        assert files.known.reload().error
    nrts(tmp_path / "b.json", [1, 2])
    assert files.known.reload().changed


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_special_file_in_the_folder_is_told_and_the_next_look_goes_on(tmp_path: Path, kind: str) -> None:
    nrts(tmp_path / "a.json", [0])
    files = Files(tmp_path)
    odd = tmp_path / "b.json"

    if kind == "pipe":
        os.mkfifo(odd)
    else:
        odd.symlink_to("/dev/zero")

    assert files.known.reload().error == f"{odd}: is a {kind}; expected a regular file"
    assert len(files.known.extender) == 1
    odd.unlink()
    nrts(odd, [1])
    assert files.known.reload().changed
