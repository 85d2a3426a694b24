"""The table and the tree of a machine say what it is, and keep apart what a kubelet does not believe."""

from __future__ import annotations

from numalign.model.machine import Machine
from numalign.render.page.document import plain
from numalign.render.text.discover import discover_document
from numalign.render.text.tree import tree_document
from tests.sources.host import snapshots


def machine(name: str) -> Machine:
    found = snapshots.discovered(name).machine
    assert found is not None
    return found


def table(name: str, *, wide: bool = False) -> str:
    return plain(discover_document(machine(name), hint="To save it: …", wide=wide))


def test_the_tree_goes_from_sockets_to_threads() -> None:
    lines = plain(tree_document(machine("vm-linux61-40c-6n-sriov"))).splitlines()
    assert lines[1:7] == [
        "  socket 0: CPUs 0-6,8-12,14-19",
        "    NUMA node 0: CPUs 0-6,8-9, 960.1Mi, 128Mi in 2Mi pages",
        "      L3 0 · 16Mi",
        "        core 0: CPUs 0 1",
        "        core 2: CPUs 2 3",
        "        core 4: CPUs 4 5",
    ]
    assert "      NVMe 0000:61:00.0 nvme2" in lines
    assert "  NUMA node 4: no CPUs, 1007.8Mi, 256Mi in 2Mi pages" in lines
    assert lines[-1] == "  offline CPUs 7,13,39"


def test_sockets_that_are_smaller_than_a_node_stand_inside_it() -> None:
    lines = plain(tree_document(machine("xeon-96c-4n"))).splitlines()
    assert lines[1].startswith("  NUMA node 0: CPUs")
    assert lines[2] == "    socket 0"
    assert len([line for line in lines if line.startswith("    socket ")]) == 16


def test_every_cpu_and_every_device_is_in_the_tree_once() -> None:
    found = machine("gen-hgx-h100-224c-2n")
    lines = [line.strip() for line in plain(tree_document(found)).splitlines()]
    cpus = [word for line in lines if line.startswith("core ") for word in line.partition("CPUs ")[2].split()]
    assert sorted(map(int, cpus)) == list(range(224))
    for resource, devices in found.devices.items():
        for device in devices:
            assert len([line for line in lines if line.startswith(f"{resource} {device.id}")]) == 1


def test_memory_that_nobody_knows_is_said_to_be_unknown() -> None:
    known = machine("xeon-96c-4n")
    unknown = known._replace(total_memory=0, numa_nodes=tuple(one._replace(memory=0) for one in known.numa_nodes))

    assert "memory unknown" in plain(discover_document(unknown, hint="")).splitlines()[0]
    assert "memory unknown" not in plain(discover_document(known, hint="")).splitlines()[0]


def test_the_table_ends_with_how_to_save_it() -> None:
    assert table("gcp-vm-2c").splitlines()[-1] == "To save it: …"


def test_devices_without_a_node_are_flagged() -> None:
    assert "nvidia.com/gpu  0000:06:00.0  -1 (unknown)" in table("host-8c-nvidia")


def test_devices_are_listed_with_the_switch_they_share() -> None:
    rows = [line for line in table("xeon-32c-8ve").splitlines() if line.startswith("nec.com/ve")]
    assert [row.split()[-1] for row in rows] == ["0000:18:00.0"] * 4 + ["0000:3b:00.0"] * 4


def test_the_wide_table_has_every_pci_function_with_its_root() -> None:
    text = table("worker-112c-2n", wide=True)
    assert len([line for line in text.splitlines() if "pci0000:" in line]) == 300
    assert "ROOT PORT" in text


def test_what_confines_the_process_is_said_apart() -> None:
    text = table("amd64-8n-cpuset-cpu4off")
    assert (
        "This process may use only CPUs 0-3,5-6,12-15, memory of NUMA nodes 1-4; the kubelet has no such limit." in text
    )
    assert "Offline CPUs: 4" in text


def test_where_the_hardware_differs_the_table_says_so() -> None:
    text = table("xeon-28c-4n-buggysiblings") + table("s390-20c-books")
    assert "The hardware differs from the kubelet's view: 8 packages (kubelet: 1)" in text


def test_where_as_many_nodes_differ_inside_the_table_counts_nothing() -> None:
    told = "The hardware differs from the kubelet's view: other CPUs, memory or distances in its NUMA nodes"
    assert told in table("gcp-vm-2c")
