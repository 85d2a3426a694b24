"""Half-readable hosts: what is missing is said, what the kubelet would stumble over ends with its own error."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.errors import HostError
from numalign.sources.host import discovery
from numalign.sources.host.capture import keeps
from numalign.sources.host.discovery import Discovery, discover
from numalign.sources.tree.noting import NotingTree
from tests.sources.host import snapshots
from tests.sources.host.fake_tree import CPU, NODE, FakeTree, Files, two_cpus


def host(**changes: str | OSError | None) -> Files:
    """Two CPUs on one node; keyword names stand for the paths below."""
    files = two_cpus()
    for name, text in changes.items():
        files[PATHS[name]] = text
    return files


PATHS = {
    "online": f"{CPU}/online",
    "core": f"{CPU}/cpu1/topology/core_id",
    "package": f"{CPU}/cpu1/topology/physical_package_id",
    "total": "proc/meminfo",
    "meminfo": f"{NODE}/node0/meminfo",
    "distance": f"{NODE}/node0/distance",
    "cpulist": f"{NODE}/node0/cpulist",
    "hugepages": f"{NODE}/node0/hugepages/hugepages-2048kB/nr_hugepages",
    "sibling": f"{CPU}/cpu0/topology/core_cpus_list",
}


def read(files: Files) -> Discovery:
    return discover(FakeTree(files))


def codes(found: Discovery) -> set[str]:
    return {warning.code for warning in found.warnings}


def test_a_whole_host_has_nothing_to_say() -> None:
    found = read(host())
    assert found.kubelet_error is None
    assert found.warnings == ()
    assert found.machine is not None
    assert found.machine.numa_nodes[0].hugepages == {"2Mi": 3 << 21}


DENIED = PermissionError(13, "Permission denied")
GONE = OSError(19, "No such device")

FAILING: list[tuple[str, dict[str, Any], str]] = [
    (
        "an unreadable core id",
        {"core": DENIED},
        "open /sys/devices/system/cpu/cpu1/topology/core_id: permission denied",
    ),
    ("a CPU that goes offline while it is read", {"package": GONE}, "physical_package_id: no such device"),
    ("a core id that is no number", {"core": "one\n"}, 'parsing "one": invalid syntax'),
    ("a node's meminfo without MemTotal", {"meminfo": "Node 0 MemFree: 3 kB\n"}, "MemTotal"),
    ("an unreadable meminfo", {"meminfo": DENIED}, "permission denied"),
    ("a distance that is no number", {"distance": "10 x\n"}, "distance"),
    ("a page count that is no number", {"hugepages": "many\n"}, "nr_hugepages"),
    ("no CPU online", {"online": "5-6\n"}, "could not detect number of cpus"),
]


@pytest.mark.parametrize(("changes", "error"), [case[1:] for case in FAILING], ids=[case[0] for case in FAILING])
def test_what_the_kubelet_stumbles_over_is_its_error(changes: dict[str, Any], error: str) -> None:
    """Rules 1.5, 1.8, 1.16: there is no machine then, and the hardware view stands alone."""
    found = read(host(**changes))
    assert found.machine is None
    assert error in (found.kubelet_error or "")
    assert found.hardware.online


GUESSED: list[tuple[str, dict[str, Any], str]] = [
    ("a CPU without core id is left out", {"core": None}, "cpus-without-topology"),
    ("a node without meminfo has no memory", {"meminfo": None}, "memory-unknown"),
    ("no /proc/meminfo", {"total": None}, "total-memory-unknown"),
    ("no maps of siblings", {"sibling": None}, "cores-guessed"),
]


@pytest.mark.parametrize(("changes", "code"), [case[1:] for case in GUESSED], ids=[case[0] for case in GUESSED])
def test_what_is_guessed_is_warned_of(changes: dict[str, Any], code: str) -> None:
    found = read(host(**changes))
    assert found.machine is not None
    assert code in codes(found)


def test_without_a_list_of_online_cpus_every_cpu_counts() -> None:
    found = read(host(online=None))
    assert found.machine is not None
    assert found.machine.cpus == found.hardware.online == 0b11
    assert found.warnings == ()


def test_without_numa_every_package_is_a_node_and_offline_cpus_count() -> None:
    """Rule 1.7: ids are package ids, ascending; the CPU count includes directories of offline CPUs."""
    files = {path: text for path, text in host(package="7\n", total=None).items() if "/node" not in path}
    files[f"{CPU}/cpu2/topology/core_id"] = "2\n"
    files[f"{CPU}/cpu2/topology/physical_package_id"] = "0\n"
    found = read(files)
    assert found.machine is not None
    assert [(node.id, node.cpus, node.memory, node.distances) for node in found.machine.numa_nodes] == [
        (0, 0b01, 0, None),
        (7, 0b10, 0, None),
    ]
    assert {"no-numa-nodes", "cpu-count"} <= codes(found)


def test_distances_of_some_nodes_only_are_left_out() -> None:
    files = host(distance="10 20\n")
    files[f"{NODE}/node1/meminfo"] = "Node 1 MemTotal: 5 kB\n"
    found = read(files)
    assert found.machine is not None
    assert [node.distances for node in found.machine.numa_nodes] == [None, None]
    assert "distances-incomplete" in codes(found)


def test_a_cpu_of_two_nodes_is_told() -> None:
    """Rule 2.15: a broken NUMA table."""
    files = host()
    files[f"{NODE}/node1/cpulist"] = "1\n"
    assert "nodes-overlap" in codes(read(files))


def test_a_cpu_that_two_nodes_link_makes_a_machine_that_no_file_can_hold() -> None:
    files = two_cpus()
    files[f"{NODE}/node1/cpu1/x"] = ""
    assert "inconsistent" in codes(read(files))


def test_nothing_at_all_is_a_host_error() -> None:
    with pytest.raises(HostError, match="could not detect number of cpus"):
        read({"proc/meminfo": "MemTotal: 1 kB\n"})


class VanishingTree(FakeTree):
    """Every file is there once only: what is read again has gone."""

    def read(self, path: str) -> str:
        text = super().read(path)
        del self.files[path]
        return text


def test_files_that_vanish_while_read_are_no_traceback() -> None:
    found = discover(VanishingTree(host()))
    assert found.hardware.online == 0b11
    assert found.machine is None or found.warnings


@pytest.mark.parametrize("name", snapshots.each(["vm-linux61-40c-6n-sriov", "s390-20c-books", "em64t-16c-offlines"]))
def test_any_single_file_may_be_unreadable(name: str) -> None:
    """Whatever file of a machine cannot be read, there is an answer: a machine, the hardware, or a clear error."""
    tree = NotingTree(snapshots.tree(name), keeps)
    discover(tree)
    paths = [path for path, entry in tree.entries.items() if isinstance(entry, str)]
    for path in paths[:: max(len(paths) // 60, 1)]:
        try:
            found = discover(Denying(tree, path))
        except HostError:
            continue
        assert found.machine is not None or found.kubelet_error


@pytest.mark.parametrize(
    ("locked", "named"),
    [
        (("",), "/sys/bus/pci/devices"),
        (("/0000:17:00.0",), "/sys/bus/pci/devices/0000:17:00.0"),
        (("/0000:17:00.0", "/0000:18:00.0"), "/sys/bus/pci/devices/0000:17:00.0 and 1 more"),
    ],
    ids=["the folder of all", "one device", "two devices"],
)
def test_devices_that_may_not_be_read_are_told(locked: tuple[str, ...], named: str) -> None:
    files = host()
    files["sys/bus/pci/devices/0000:19:00.0/class"] = "0x030200\n"
    files |= {f"sys/bus/pci/devices{path}": DENIED for path in locked}
    found = read(files)
    assert found.machine is not None
    told = [one.message for one in found.warnings if one.code == "pci-unreadable"]
    assert told == [f"{named} not readable: GPUs or NICs may be missing here"]


def test_a_live_host_tells_of_devices_that_may_not_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "open_tree", lambda _: FakeTree({**host(), "sys/bus/pci/devices": DENIED}))
    (told,) = discovery.live_machine().warnings
    assert told == "/sys/bus/pci/devices not readable: GPUs or NICs may be missing here"


class Denying:
    """A tree of which one file may not be read."""

    live = False

    def __init__(self, tree: Any, denied: str) -> None:
        self.name = tree.name
        self._tree = tree
        self._denied = denied

    def read(self, path: str) -> str:
        if path == self._denied:
            raise PermissionError(13, "Permission denied", f"/{path}")
        return self._tree.read(path)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tree, name)
