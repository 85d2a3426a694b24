"""hwloc's XML gives the machine of the tree, as far as it carries it; what is no such XML is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from numalign.errors import InputError
from numalign.model.machine import Machine
from numalign.sources.machine.hwloc_xml import machine_from_xml
from numalign.sources.machine.loading import load_machine
from tests.sources.host import snapshots

NAMES = [name for name in snapshots.names() if snapshots.tool_output(name, "lstopo.xml")]

JOINED_CORES = {"opteron-64c-8n"}
"""Cores that the kernel calls siblings are one for hwloc, and the ids that tell them apart are gone."""
NO_NUMA = {"s390-20c-books"}
"""Without NUMA in the kernel hwloc makes a node up; the kubelet would take packages for nodes."""


KEYS = ("class_id", "vendor", "device")


def from_xml(name: str) -> Machine:
    data = snapshots.tool_output(name, "lstopo.xml")
    assert data is not None
    return machine_from_xml(data, f"{name}.xml", name)[0]


@pytest.mark.parametrize("name", snapshots.each(NAMES))
def test_the_xml_is_the_same_machine_as_the_tree(name: str) -> None:
    tree, xml = snapshots.discovered(name).machine, from_xml(name)

    assert tree is not None
    assert xml.sockets == tree.sockets
    assert xml.uncore_caches == tree.uncore_caches
    if name not in JOINED_CORES:
        assert xml.cores == tree.cores
    if name not in NO_NUMA:
        assert [(n.id, n.cpus, n.hugepages) for n in xml.numa_nodes] == [
            (n.id, n.cpus, n.hugepages) for n in tree.numa_nodes
        ]
        for got, expected in zip(xml.numa_nodes, tree.numa_nodes, strict=True):
            # Without meminfo of the nodes hwloc gives the one node there is the memory of the machine.
            assert got.memory == expected.memory or expected.memory == 0
            # One node alone has no distances for hwloc; rows of nodes that cannot be read are not kept.
            assert got.distances == expected.distances or len(xml.numa_nodes) == 1


@pytest.mark.parametrize("name", snapshots.each(["worker-112c-2n", "xeon-16c-2n-mic-ib-dax", "xeon-32c-8ve"]))
def test_pci_devices_keep_their_place(name: str) -> None:
    tree, xml = snapshots.discovered(name).machine, from_xml(name)
    assert tree is not None
    assert xml.devices == tree.devices
    assert tree.hardware is not None
    assert xml.hardware is not None
    expected = {one.address: one for one in tree.hardware.pci}
    resources = {device.id for devices in tree.devices.values() for device in devices}
    for one in xml.hardware.pci:
        same = expected[one.address]
        assert [getattr(one, key) for key in KEYS] == [getattr(same, key) for key in KEYS]
        if one.address in resources:
            assert (one.root_port, one.switch) == (same.root_port, same.switch)


def test_a_machine_option_tells_xml_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "machine.yaml"
    data = snapshots.tool_output("arm-kunpeng-128c-4n", "lstopo.xml")
    assert data is not None
    path.write_bytes(b"\n" + data.split(b"?>", 1)[1])
    assert load_machine(str(path)).machine.cpus == (1 << 128) - 1


BOMB = '<!DOCTYPE t [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><topology version="2.0"><object type="&b;"/></topology>'
PU = '<object type="PU" os_index="0" cpuset="{}"/>'
NINES = "9" * 5000
ATTRIBUTES = f'<!DOCTYPE t [<!ATTLIST object type CDATA "{"x" * 9999}">]><topology version="2.0">'


def topology(node: str, distances: str = "") -> str:
    """Write a machine with a CPU and what stands in it."""
    machine = f'<object type="Machine" cpuset="0x1">{PU.format("0x1")}{node}</object>'
    return f'<topology version="2.0">{machine}{distances}</topology>'


def node(**attributes: str) -> str:
    told = {"os_index": "0", "cpuset": "0x1", **attributes}
    return f'<object type="NUMANode" {" ".join(f"{key}={value!r}" for key, value in told.items())}/>'


def matrix(indexes: str, values: str) -> str:
    return (
        f'<distances2 name="NUMALatency" indexing="os"><indexes>{indexes}</indexes><u64values>{values}</u64values>'
        "</distances2>"
    )


WRONG = [
    ("no XML", "<topology version=", "is not XML: "),
    ("entities", BOMB, "declares entities"),
    ("an external entity", '<!DOCTYPE t [<!ENTITY a SYSTEM "file:///etc/passwd">]><topology/>', "declares entities"),
    ("another document", '<svg version="2.0"/>', "expected hwloc XML with <topology>, got <svg>"),
    ("version 1", '<topology><object type="Machine"/></topology>', "is hwloc XML of version 1, not 2; fix: "),
    ("no objects", '<topology version="2.0"/>', "has no <object>"),
    ("no CPUs", '<topology version="2.0"><object type="Machine" cpuset="0x1"/></topology>', "no processing units"),
    ("a broken bitmap", f'<topology version="2.0">{PU.format("0xzz")}</topology>', "expected a bitmap"),
    ("an endless bitmap", f'<topology version="2.0">{PU.format("0x1," * 9999)}</topology>', "expected a bitmap"),
    ("a deep document", '<topology version="2.0">' + "<object>" * 5000, "nested more than"),
    ("a broken index", '<topology version="2.0"><object type="PU" os_index="x" cpuset="0x1"/></topology>', "os_index"),
    (
        "a broken page size",
        '<topology version="2.0"><object><page_type size="x"/></object></topology>',
        "size of a page",
    ),
    ("attributes by default", ATTRIBUTES + "<object/>" * 9999, "declares entities or attributes"),
    ("memory that is no number", topology(node(local_memory="much")), "m.xml:1: local_memory of a NUMANode: expected"),
    ("negative memory", topology(node(local_memory="-1")), "local_memory of a NUMANode: expected a number"),
    ("memory beyond 64 bits", topology(node(local_memory=str(2**63))), "local_memory of a NUMANode: expected"),
    ("a cache of no size", topology('<object type="L3Cache" cache_size="x"/>'), "cache_size of a L3Cache: expected"),
    ("an index of thousands of digits", topology(node(os_index=NINES)), "os_index of a NUMANode: expected"),
    ("an index beyond all nodes", topology(node(os_index="99999999")), "os_index of a NUMANode: expected"),
    ("a node without index", topology('<object type="NUMANode"/>'), "os_index of a NUMANode: expected"),
    ("a node twice", topology(node() + node()), "duplicate os_index 0 of NUMA nodes"),
    ("pages of thousands of digits", topology(f'<page_type size="4096" count="{NINES}"/>'), "count of pages: expected"),
    ("a negative page size", topology('<page_type size="-1"/>'), "size of a page: expected"),
    ("a negative distance", topology(node(), matrix("0", "-10")), "distance: expected a number"),
    ("a distance too few", topology(node(), matrix("0 1", "10 20 10")), "3 distances for 2 nodes"),
    ("too many nodes", topology("".join(node(os_index=str(i)) for i in range(1025))), "more than 1024 objects"),
    ("a page without a size", '<topology version="2.0"><object><page_type/></object></topology>', "is not hwloc XML: "),
]


@pytest.mark.parametrize(("text", "message"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG])
def test_what_is_no_topology_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        machine_from_xml(text.encode(), "m.xml", "m")


def test_distances_of_other_nodes_are_none() -> None:
    """They say nothing about the nodes that are there."""
    machine, _ = machine_from_xml(topology(node(), matrix("7", "10")).encode(), "m.xml", "m")
    assert [one.distances for one in machine.numa_nodes] == [None]
