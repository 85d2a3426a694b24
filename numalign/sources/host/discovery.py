"""Discovery: the machine a tree describes, as the kubelet sees it and as it is.

`discover` reads both views and says where they differ; `live_machine` is the quick way to the running host.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from numalign.errors import HostError, Notice
from numalign.model.hardware import NOTHING_KNOWN
from numalign.model.machine import Machine
from numalign.sources.host import notes as discovery_notes
from numalign.sources.host.confinement import is_cgroup_v1
from numalign.sources.host.contrast import hardware_of
from numalign.sources.host.device_rules import DeviceRule, named
from numalign.sources.host.hardware import Hardware, read_hardware
from numalign.sources.host.kubelet_view import KubeletError, KubeletView, read_view, to_machine
from numalign.sources.host.pci import read_pci
from numalign.sources.tree.folder import Tree
from numalign.sources.tree.opening import open_tree
from numalign.values import NamedTuple


class Discovery(NamedTuple):
    """What a tree says."""

    name: str
    machine: Machine | None
    """The kubelet's view, with the `hardware` section; None where the kubelet's own reading fails."""
    hardware: Hardware
    warnings: tuple[Notice, ...]
    kubelet_error: str | None


Rules = Sequence[DeviceRule]


def discover(
    root: str | Tree = "/", rules: Rules | None = None, requested: frozenset[str] = frozenset(), name: str = ""
) -> Discovery:
    """Read a machine: the live host (`/`), a folder or a tar archive.

    Args:
        root: path of the tree, or an open one.
        rules: which device is which resource; None: the default rules.
        requested: names of the rules that count on request only.
        name: the machine's name; empty: from the path or the host.

    Raises:
        InputError: the tree cannot be opened or is hostile.
        HostError: neither view finds any CPU.
    """
    tree = open_tree(root) if isinstance(root, str) else root
    name = name or machine_name(tree)
    hardware = read_hardware(tree)
    view, error = _kubelet_view(tree)
    if not hardware.online:
        raise HostError(error or "no CPUs found", tree.name)
    notes = list(hardware.guesses)
    machine = None
    if view is not None:
        machine, dropped = _without_ragged_distances(to_machine(view, name))
        notes += dropped
        devices = named(hardware.pci, rules, requested)
        machine = machine._replace(cgroup_v1=is_cgroup_v1(tree), devices=devices)
        notes += discovery_notes.differences(hardware, machine, view)
        notes += discovery_notes.device_notes(hardware, machine)
        section = hardware_of(hardware, machine)
        machine = machine._replace(hardware=None if section == NOTHING_KNOWN else section)
    return Discovery(name=name, machine=machine, hardware=hardware, warnings=tuple(notes), kubelet_error=error)


class LiveMachine(NamedTuple):
    """The running host, and what was odd about it, a sentence each."""

    machine: Machine
    warnings: tuple[str, ...]


def live_machine() -> LiveMachine:
    """Return the running host as the kubelet sees it, with its devices; without a look at the hardware view.

    Raises:
        HostError: the kubelet's own reading of this host would fail.
    """
    tree = open_tree("/")
    view, error = _kubelet_view(tree)
    if view is None:
        raise HostError(error or "no CPUs found", tree.name)
    machine, dropped = _without_ragged_distances(to_machine(view, machine_name(tree)))
    devices, unread = read_pci(tree)
    machine = machine._replace(cgroup_v1=is_cgroup_v1(tree), devices=named(devices))
    notes = [*dropped, *discovery_notes.view_notes(view), *unread]
    return LiveMachine(machine, tuple(note.message for note in notes))


def machine_name(tree: Tree) -> str:
    """Name a machine after its host or its file."""
    if tree.live:
        return os.uname().nodename or "localhost"
    base = os.path.basename(os.path.abspath(tree.name))
    for suffix in (".xz", ".gz", ".bz2", ".tgz", ".txz", ".tar"):
        base = base.removesuffix(suffix)
    return base or "machine"


def _kubelet_view(tree: Tree) -> tuple[KubeletView | None, str | None]:
    try:
        return read_view(tree), None
    except KubeletError as error:
        return None, str(error)


def _without_ragged_distances(machine: Machine) -> tuple[Machine, list[Notice]]:
    """Leave out distances that are missing for some nodes or too short: no row of them can be relied on."""
    rows = [node.distances for node in machine.numa_nodes]
    if all(row is None for row in rows) or all(row is not None and len(row) >= len(rows) for row in rows):
        return machine, []
    nodes = tuple(node._replace(distances=None) for node in machine.numa_nodes)
    note = Notice("distances-incomplete", "skipped all distances: some NUMA nodes have too few or none")
    return machine._replace(numa_nodes=nodes), [note]
