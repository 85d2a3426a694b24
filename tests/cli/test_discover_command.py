"""`numalign discover` from the command line: formats, files written, statuses."""

from __future__ import annotations

import json
import os
import stat
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import yaml

from tests.cli.running import Done, in_process, numalign
from tests.schemas import strictly
from tests.sources.host import snapshots


def run(*arguments: str) -> Done:
    return in_process("discover", *arguments)


def captured(name: str) -> str:
    return str(snapshots.FOLDER / f"{name}.tar.xz")


@pytest.fixture
def broken(tmp_path: Path) -> str:
    """A machine whose core id the kubelet cannot read."""
    root = snapshots.unpack("gcp-vm-2c", tmp_path / "broken")
    (root / "sys/devices/system/cpu/cpu0/topology/core_id").write_text("x\n")
    return str(root)


def test_this_host_is_a_machine() -> None:
    done = numalign("discover", "-o", "json")
    assert done.status == 0
    data = json.loads(done.out)
    assert data["kind"] == "Machine"
    assert data["numaNodes"]


def test_json_and_yaml_are_the_same_machine() -> None:
    name = captured("vm-linux61-40c-6n-sriov")
    as_json, as_yaml = run("--sysfs-root", name, "-o", "json"), run("--sysfs-root", name, "-o", "yaml")
    data = json.loads(as_json.out)
    assert data["numaNodes"][4] == {
        "id": 4,
        "cpus": "",
        "memory": 1056784384,
        "hugepages": {"2Mi": 268435456, "1Gi": 0},
        "distances": [25, 26, 24, 25, 10, 24],
    }
    assert data["uncoreCaches"][2] == {"id": 3, "cpus": "30-38"}
    assert yaml.safe_load(as_yaml.out)["hardware"] == data["hardware"]


@pytest.mark.parametrize("suffix", ["yaml", "json"])
def test_a_saved_machine_is_read_back(suffix: str, tmp_path: Path) -> None:
    path = str(tmp_path / f"m.{suffix}")
    assert run("--sysfs-root", captured("worker-32c-2n"), "--save", path).status == 0
    again = run("--machine", path, "-o", suffix)
    assert again.out == Path(path).read_text("utf-8")
    assert [item.name for item in tmp_path.iterdir()] == [f"m.{suffix}"]


def test_a_snapshot_of_a_snapshot_is_the_same_machine(tmp_path: Path) -> None:
    path = str(tmp_path / "xeon-32c-8ve.tar.xz")
    assert run("--sysfs-root", captured("xeon-32c-8ve"), "--capture", path).status == 0
    first, second = (run("--sysfs-root", root, "-o", "json").out for root in (captured("xeon-32c-8ve"), path))
    assert first == second


def test_the_picture_of_a_bundled_machine_is_svg() -> None:
    done = run("--machine", "figure-1", "-o", "svg")
    assert ET.fromstring(done.out).tag == "{http://www.w3.org/2000/svg}svg"


def test_the_tree_and_the_table_name_the_machine() -> None:
    for output in ("tree", "table", "wide", "name"):
        done = run("--sysfs-root", captured("gcp-vm-2c"), "-o", output)
        assert done.status == 0
        assert done.out.startswith("gcp-vm-2c")


def test_differences_are_warnings_on_standard_error() -> None:
    done = run("--sysfs-root", captured("s390-20c-books"), "-o", "json")
    assert done.status == 0
    assert "warning: /sys has no NUMA nodes" in done.err
    assert len(json.loads(done.out)["hardware"]["sockets"]) == 8


def test_quiet_prints_no_result() -> None:
    assert run("--sysfs-root", captured("gcp-vm-2c"), "-q").out == ""


def test_requested_devices_come_with_their_rules() -> None:
    done = run("--sysfs-root", captured("worker-112c-2n"), "--with", "nvme", "-o", "json")
    assert [device["numaNodes"] for device in json.loads(done.out)["devices"]["nvme.storage/disk"]] == [[1]] * 4


@pytest.mark.parametrize("output", ["table", "json", "yaml"])
def test_where_the_kubelet_fails_the_hardware_is_shown_and_the_status_is_3(output: str, broken: str) -> None:
    done = run("--sysfs-root", broken, "-o", output)
    assert done.status == 3
    assert done.err.count("\n") == 1
    assert 'core_id: strconv.Atoi: parsing "x": invalid syntax' in done.err
    assert "0-1" in done.out
    if output != "table":
        found = yaml.safe_load(done.out)
        strictly("hardware").validate(found)
        assert found["kind"] == "Hardware"


def test_nothing_is_saved_where_the_kubelet_fails(broken: str, tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    assert run("--sysfs-root", broken, "--save", str(path)).status == 3
    assert not path.exists()


@pytest.mark.parametrize("flag", ["--save", "--capture"])
@pytest.mark.parametrize("kind", ["device", "pipe", "folder"])
def test_only_regular_files_are_written(flag: str, kind: str, tmp_path: Path) -> None:
    """A node of `/dev/full` is made where it can be; replacing the machine's own would harm it."""
    target = tmp_path / "m.tar"
    if kind == "device":
        try:
            os.mknod(target, stat.S_IFCHR | 0o666, os.makedev(1, 7))
        except PermissionError:
            pytest.skip("only root makes device nodes")
    else:
        (os.mkfifo if kind == "pipe" else os.mkdir)(target)
    before = target.stat()
    done = run("--sysfs-root", captured("gcp-vm-2c"), flag, str(target))
    assert done.status == 2
    assert f"error: {target}: is a {kind}; " in done.err.replace("\n", "; ")
    assert (target.stat().st_ino, target.stat().st_mode) == (before.st_ino, before.st_mode)
    assert os.listdir(tmp_path) == ["m.tar"]


def test_a_saved_machine_replaces_the_content_and_nothing_else(tmp_path: Path) -> None:
    target, other, link = tmp_path / "m.yaml", tmp_path / "other.yaml", tmp_path / "link.yaml"
    target.write_text("old")
    target.chmod(0o640)
    os.link(target, other)
    link.symlink_to(target)
    done = run("--machine", "figure-1", "--save", str(link))
    assert done.status == 0
    assert "warning" in done.err
    assert "had 1 hard link, which keep the old content" in done.err
    assert link.is_symlink()
    assert target.read_text().startswith("# yaml-language-server: $schema=")
    assert target.stat().st_mode & 0o777 == 0o640
    assert other.read_text() == "old"


WRONG = [
    (["--sysfs-root", "/no/such/thing"], "cannot be read: No such file or directory"),
    (["--sysfs-root", __file__], "is not a readable tar archive"),
    (["--with", "floppy"], "unknown rule 'floppy'"),
    (["--device-rules", "/no/such/thing"], "/no/such/thing"),
    (["--save", "/no/such/folder/m.yaml"], "cannot be written"),
    (["--capture", "/tmp/snapshot.zip"], "expected a name that ends in .tar"),
    (["--machine", "figure-1", "--capture", "x.tar"], "--machine cannot be used with --sysfs-root and --capture"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=[" ".join(case[0])[:40] for case in WRONG])
def test_wrong_input_is_one_line_and_status_2(arguments: list[str], message: str) -> None:
    done = run(*arguments)
    assert done.status == 2
    assert message in done.err
    assert "Traceback" not in done.err
