"""How close devices of captured machines are, held to the paths of their links in /sys: the tree of `lspci -t`."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import pytest

from numalign.analysis.closeness import closeness
from numalign.model.hardware import PCIFunction
from numalign.sources.host.pci import DEVICES
from tests.sources.host import snapshots

ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]")
KINDS = ("02", "03", "12", "0b40")
"""PCI classes of network ports, displays and accelerators."""


def functions_of(name: str) -> dict[str, PCIFunction]:
    found = snapshots.discovered(name)
    return found.machine.functions() if found.machine is not None else {}


@pytest.mark.parametrize(
    ("name", "one", "other", "expected"),
    [
        # Root port 1.3, the chipset's upstream port, and two downstream ports; the display is at port 3.1.
        ("desktop-ryzen-1600", "0000:03:00.0", "0000:08:00.0", "same switch"),
        ("desktop-ryzen-1600", "0000:06:00.0", "0000:06:00.1", "same switch"),
        ("desktop-ryzen-1600", "0000:03:00.0", "0000:0a:00.0", "same root"),
        # Root ports 1.4 and 1.5 of one root.
        ("host-8c-nvidia", "0000:05:00.0", "0000:06:00.0", "same root"),
        # One card; ports at roots 30 and 4a of NUMA 0, at root 97 of NUMA 1.
        ("worker-112c-2n", "0000:31:00.0", "0000:31:00.3", "common bridge"),
        ("worker-112c-2n", "0000:31:00.0", "0000:4b:00.0", "same node"),
        ("worker-112c-2n", "0000:4b:00.1", "0000:98:00.1", "other node"),
        # Two cards at ports 2 and 3 of root 17, one at root 85 of NUMA 1.
        ("worker-32c-2n", "0000:19:00.0", "0000:1a:00.1", "same root"),
        ("worker-32c-2n", "0000:19:00.0", "0000:86:00.0", "other node"),
        # No node is told of any; ports 5 and 6 of root 0.
        ("xeon-40c-4n-ib", "0000:02:00.0", "0000:02:00.1", "common bridge"),
        ("xeon-40c-4n-ib", "0000:02:00.0", "0000:03:00.0", "same root"),
        # Two virtual displays and ports at roots 40 and a0, a port of no node at root 0.
        ("vm-linux61-40c-6n-sriov", "0000:41:00.0", "0000:42:00.0", "same root"),
        ("vm-linux61-40c-6n-sriov", "0000:42:00.0", "0000:a2:00.0", "other node"),
        ("vm-linux61-40c-6n-sriov", "0000:00:05.0", "0000:42:00.0", "unknown"),
        # Eight vector engines and two InfiniBand ports below switches 18 and 3b, all of NUMA 0.
        ("xeon-32c-8ve", "0000:1b:00.0", "0000:1a:00.0", "same switch"),
        ("xeon-32c-8ve", "0000:41:00.0", "0000:3e:00.0", "same switch"),
        ("xeon-32c-8ve", "0000:1b:00.0", "0000:3e:00.0", "same node"),
    ],
)
def test_pairs_that_were_read_off_the_tree_by_hand(name: str, one: str, other: str, expected: str) -> None:
    known = functions_of(name)
    assert closeness(known[one], known[other]) == expected


@pytest.mark.parametrize("name", snapshots.each(snapshots.names()))
def test_every_pair_is_as_close_as_the_paths_of_its_links(name: str) -> None:
    tree, known = snapshots.tree(name), functions_of(name)
    ends = [one for key, one in known.items() if key == one.address and (one.class_id or "").startswith(KINDS)]
    paths = {one.address: Path(tree.resolve(f"{DEVICES}/{one.address}")).parts[2:-1] for one in ends}
    for one, other in combinations(ends, 2):
        here, there = paths[one.address], paths[other.address]
        common = [bridge for bridge, same in zip(here, there, strict=False) if bridge == same]
        near = closeness(one, other)
        if any(map(ADDRESS.fullmatch, common)):
            assert near in ("same switch", "common bridge")
            assert (near == "same switch") == (len(here) > 3 and here[-2:-1] == there[-2:-1])
        elif common:
            assert near == "same root"
        elif None in (one.numa_node, other.numa_node) or -1 in (one.numa_node, other.numa_node):
            assert near == "unknown"
        else:
            assert near == ("same node" if one.numa_node == other.numa_node else "other node")
