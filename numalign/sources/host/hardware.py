"""What a machine is: CPUs, cores, packages, caches, NUMA nodes, distances, huge pages, as the hardware has them.

docs/rules/discovery.md section 2. `kubelet_view` holds what a kubelet would believe instead; the two never mix.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from numalign.errors import Notice
from numalign.model.cpuset import from_ids
from numalign.model.hardware import Allowed, CPUKind, HardwareNode, L3Cache, Package, PCIFunction
from numalign.sources.host.confinement import read_allowed
from numalign.sources.host.hardware_reader import HardwareReader
from numalign.sources.host.kubelet_view import CPUS, HUGEPAGES
from numalign.sources.host.pci import read_pci
from numalign.sources.host.text import (
    cpu_list,
    read_or_none,
)
from numalign.sources.tree.folder import Tree
from numalign.values import NamedTuple


class Hardware(NamedTuple):
    """The hardware view. Every set of CPUs is an int; None and empty mean that /sys does not tell."""

    online: int
    offline: int = 0
    isolated: int = 0
    """CPUs that the kernel's command line (`isolcpus=`) keeps the scheduler off."""
    packages: tuple[Package, ...] = ()
    """By first CPU."""
    cores: tuple[int, ...] = ()
    dies: tuple[int, ...] = ()
    clusters: tuple[int, ...] = ()
    l3: tuple[L3Cache, ...] = ()
    cpu_kinds: tuple[CPUKind, ...] = ()
    nodes: tuple[HardwareNode, ...] = ()
    """Their distances have a column for each of them, in this order."""
    memory: int | None = None
    hugepages: Mapping[str, int] = {}
    """Page size (`2Mi`) -> bytes."""
    model: str | None = None
    pci: tuple[PCIFunction, ...] = ()
    allowed: Allowed | None = None
    guesses: tuple[Notice, ...] = ()
    """Everything that had to be guessed or is contradictory."""


def read_hardware(tree: Tree) -> Hardware:
    """Read the hardware view of a tree. What is missing or unreadable is left unknown, never guessed silently."""
    reader = HardwareReader(tree)
    online, offline = reader.cpu_sets()
    nodes = reader.nodes(online)
    packages = reader.packages(online)
    info = read_or_none(tree, "proc/cpuinfo") or ""
    model = re.search(r"^(?:model name|cpu model|Processor|cpu)\s*:\s*(.+)$", info, re.MULTILINE)
    cores = reader.cores(online, nodes, packages)
    pci = read_pci(tree)
    return Hardware(
        online=online,
        offline=offline,
        isolated=_isolated(tree) & online,
        packages=packages,
        cores=cores,
        dies=reader.groups("die", online, [cpus for _, cpus in packages]),
        clusters=reader.groups("cluster", online, cores),
        l3=reader.l3(online),
        cpu_kinds=reader.cpu_kinds(online, cores),
        nodes=reader.with_distances(nodes),
        memory=reader.memory(),
        hugepages=reader.hugepages(HUGEPAGES) or {},
        model=model[1].strip() if model else None,
        pci=pci.devices,
        # The kernel never lists a node without memory among the allowed ones: that confines nobody.
        allowed=read_allowed(tree, online, from_ids(node.id for node in nodes if node.memory != 0)),
        guesses=(*reader.guesses, *pci.notices),
    )


def _isolated(tree: Tree) -> int:
    try:
        return cpu_list(read_or_none(tree, f"{CPUS}/isolated") or "")
    except ValueError:
        return 0
