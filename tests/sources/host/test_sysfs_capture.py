"""A snapshot reads back to the same machine and names nobody; a machine file is read back byte for byte."""

from __future__ import annotations

import tarfile
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from numalign.errors import InputError
from numalign.model.machine import Machine
from numalign.sources.host.capture import capture
from numalign.sources.host.discovery import Discovery, discover
from numalign.sources.machine.dump import to_json, to_yaml
from numalign.sources.machine.loading import load_machine
from numalign.sources.tree.folder import Tree
from numalign.store.archive import write_archive
from tests.fuzz.archives import LINKS, TREE
from tests.fuzz.case import Case
from tests.sources.host import snapshots

ALL = snapshots.names()
PACKED = ("gcp-vm-2c", "worker-32c-2n", "xeon-96c-4n")
"""Snapshots of these are compressed: to do it for all would show no more, and takes as long as to write them."""


def captured(root: str | Tree, target: Path) -> Discovery:
    """Discover a machine and write its snapshot."""
    found, entries = capture(root)
    write_archive(str(target), entries)
    return found


@cache
def saved(name: str) -> str:
    machine = snapshots.discovered(name).machine
    assert machine is not None
    return to_yaml(machine)


@cache
def read_back(name: str) -> Machine:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "m.yaml"
        path.write_text(saved(name), encoding="utf-8")
        return load_machine(str(path)).machine


def nameless(found: Discovery) -> Discovery:
    machine = found.machine
    return found._replace(name="", machine=None if machine is None else machine._replace(name=""))


@pytest.mark.parametrize("name", snapshots.each(name for name in ALL if name != "gen-uv-1792c-32n"))
def test_a_snapshot_reads_back_to_the_same_machine(name: str, tmp_path: Path) -> None:
    target = tmp_path / ("m.tar.gz" if name in PACKED else "m.tar")
    found = captured(snapshots.tree(name), target)

    assert found == snapshots.discovered(name)
    assert nameless(discover(str(target))) == nameless(found)


def test_a_snapshot_of_this_host_reads_back_to_the_same_machine(tmp_path: Path) -> None:
    target = tmp_path / "m.tar.xz"
    found = captured("/", target)
    again = discover(str(target))

    assert found.machine is not None
    assert again.machine is not None
    assert again.machine._replace(name="") == found.machine._replace(name="")
    with tarfile.open(target) as archive:
        assert {(item.uid, item.gid, item.uname, item.gname, item.mtime) for item in archive} == {(0, 0, "", "", 0)}


def test_a_snapshot_names_nobody(tmp_path: Path) -> None:
    """Serial numbers, hardware addresses, hosts and sessions are not in it, whatever was read."""
    root = tmp_path / "root"
    pci = "sys/devices/pci0000:00/0000:00:01.0"
    files = {
        "sys/devices/system/cpu/cpu0/topology/core_id": "0\n",
        "sys/devices/system/cpu/cpu0/topology/physical_package_id": "0\n",
        "proc/cpuinfo": "processor\t: 0\nmodel name\t: Chip\nSerial\t\t: 00000000cafe\nmachine : SECRET-HOST\n",
        "proc/meminfo": "MemTotal:  8 kB\nMemFree: 4711 kB\n",
        "proc/self/cgroup": "0::/user.slice/user-secret/pod12345\n",
        "proc/self/status": "Name:\tsecret\nCpus_allowed_list:\t0\nMems_allowed_list:\t0\n",
        "proc/mounts": "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n",
        "sys/fs/cgroup/user.slice/user-secret/pod12345/memory.max": "4096\n",
        "sys/class/dmi/id/board_serial": "SECRET\n",
        f"{pci}/class": "0x020000\n",
        f"{pci}/vendor": "0x8086\n",
        f"{pci}/device": "0x1572\n",
        f"{pci}/net/enx0123456789ab/address": "01:23:45:67:89:ab\n",
        f"{pci}/serial_number": "SECRET\n",
    }
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (root / "sys/bus/pci/devices").mkdir(parents=True)
    (root / "sys/bus/pci/devices/0000:00:01.0").symlink_to(f"../../../../{pci}")
    (root / "sys/class/net").mkdir(parents=True)
    (root / "sys/class/net/enx0123456789ab").symlink_to(f"../../../{pci}/net/enx0123456789ab")
    (root / "sys/class/net/acme-vpn").symlink_to("../../../sys/devices/virtual/net/acme-vpn")
    target = tmp_path / "m.tar"
    found = captured(str(root), target)

    content = target.read_bytes().lower()
    for secret in (b"secret", b"cafe", b"0123456789ab", b"01:23:45", b"acme", b"4711", b"pod12345"):
        assert secret not in content
    again = discover(str(target))
    assert again.hardware.allowed == found.hardware.allowed is not None
    assert again.hardware.pci[0].names == ("enx0",)


@pytest.mark.parametrize("target", ["m.zip", "missing/m.tar.xz"], ids=["another ending", "no such folder"])
def test_a_snapshot_that_cannot_be_written_leaves_nothing(target: str, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        captured(str(snapshots.FOLDER / "gcp-vm-2c.tar.xz"), tmp_path / target)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", snapshots.each(ALL))
def test_a_machine_file_is_read_back_byte_for_byte(name: str, tmp_path: Path) -> None:
    machine = snapshots.discovered(name).machine
    assert machine is not None
    assert to_yaml(read_back(name)) == saved(name)
    path = tmp_path / "m.json"
    path.write_text(to_json(machine), encoding="utf-8")
    assert to_json(load_machine(str(path)).machine) == path.read_text("utf-8")


@pytest.mark.parametrize("name", snapshots.each(ALL))
def test_a_machine_file_is_the_same_machine(name: str) -> None:
    machine = snapshots.discovered(name).machine
    assert machine is not None
    again = read_back(name)
    assert again._replace(hardware=None) == machine._replace(hardware=None)


def test_a_snapshot_of_a_host_with_cgroup_v1_stays_one(tmp_path: Path) -> None:
    host = Case((), files={**TREE, "proc/mounts": b"cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n"}, links=LINKS)
    host.lay_out(tmp_path / "host")
    found = captured(str(tmp_path / "host"), tmp_path / "m.tar")
    again = discover(str(tmp_path / "m.tar"))

    assert found.machine is not None
    assert again.machine is not None
    assert (found.machine.cgroup_v1, again.machine.cgroup_v1) == (True, True)
