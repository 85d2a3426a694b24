"""Measure a node: its containers' control groups and threads, everybody else's processes, and its devices."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Mapping

from numalign.analysis.verify.observed import Group, Observed
from numalign.kubelet.cpu.checkpoint import FILE as CPU_FILE
from numalign.sources.host.pci import DEVICES
from numalign.sources.host.text import names_or_none, read_int, read_or_none
from numalign.sources.node import cgroups
from numalign.sources.node.containers import Identity, identities
from numalign.sources.node.facts import NodeFacts
from numalign.sources.node.processes import cpu_times, other_processes, process_of
from numalign.sources.tree.folder import Tree

_ADDRESS = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_NVIDIA = "proc/driver/nvidia/gpus"


def observe(
    tree: Tree, facts: NodeFacts, devices: Iterable[str], *, interval: float = 0.0, deep: bool = False
) -> Observed:
    """Measure what runs on a node.

    Args:
        tree: the host, or what stands for it.
        facts: what is known of the node, for the containers' names.
        devices: ids of the devices that somebody holds.
        interval: seconds between two readings of what runs; 0, or where the tree is not the live host: one reading.
        deep: count the pages of every process; needs the rights to look into them.
    """
    before = cpu_times(tree) if tree.live and interval else {}
    if before:
        time.sleep(interval)
    kind = cgroups.version(tree)
    left_out = [] if kind else ["control groups: /sys/fs/cgroup is missing or not readable"]
    found = list(cgroups.folders(tree, kind)) if kind else []
    names = identities(tree, (one.id for one in found), facts.containers)
    groups = [_group(tree, one, kind, names.get(one.id), before, deep=deep) for one in found]
    known = {process.pid for group in groups for process in group.processes}
    # Who measures runs, too, on any CPU, and is gone with the answer.
    rest = tuple(other_processes(tree, {*known, os.getpid()} if tree.live else known, before))
    if not rest and not known:
        left_out.append("processes: /proc is missing or not readable")
    if deep and groups and not any(process.pages for group in groups for process in group.processes):
        left_out.append("pages: /proc/PID/numa_maps requires root or CAP_SYS_PTRACE")
    addresses = addresses_of(tree, devices)
    return Observed(
        version=kind,
        groups=tuple(groups),
        others=rest,
        device_nodes=device_nodes(tree, addresses),
        interrupts=_interrupts(tree, addresses),
        plan_age=_age(tree, f"{facts.root}/{CPU_FILE}"),
        left_out=tuple(left_out),
    )


def _group(
    tree: Tree, found: cgroups.Folder, kind: int, who: Identity | None, before: Mapping[int, int], *, deep: bool
) -> Group:
    def members(name: str) -> int | None:
        return cgroups.members(tree, f"{found.path}/cpuset.{name}")

    processes = [one for pid in found.pids if (one := process_of(tree, pid, before, deep=deep)) is not None]
    return Group(
        uid=found.uid,
        id=found.id,
        name=who.name if who else "",
        path=f"/{found.path}",
        cpus=members("cpus"),
        effective_cpus=members("cpus.effective" if kind == 2 else "effective_cpus"),
        mems=members("mems"),
        effective_mems=members("mems.effective" if kind == 2 else "effective_mems"),
        memory=cgroups.memory(tree, found.path, kind),
        processes=tuple(processes),
        # Where no runtime tells, a pod's sandbox is known by its only program.
        sandbox=who.sandbox if who else [one.name for one in processes] == ["pause"],
    )


def addresses_of(tree: Tree, devices: Iterable[str]) -> dict[str, str]:
    """Find the PCI address of each device: SR-IOV ids are addresses, NVIDIA's driver tells its own (W-16)."""
    wanted = set(devices)
    found = {one: one for one in wanted if _ADDRESS.fullmatch(one)}
    for address in names_or_none(tree, _NVIDIA) or () if any(one.startswith("GPU-") for one in wanted) else ():
        match = re.search(r"GPU UUID:\s*(\S+)", read_or_none(tree, f"{_NVIDIA}/{address}/information") or "")
        if match and match[1] in wanted:
            found[match[1]] = address.lower()
    return found


def device_nodes(tree: Tree, addresses: Mapping[str, str]) -> dict[str, int]:
    """Read on which NUMA node PCI devices are now; -1: on none."""
    nodes = {device: read_int(tree, f"{DEVICES}/{address}/numa_node") for device, address in addresses.items()}
    return {device: node for device, node in nodes.items() if node is not None}


def _interrupts(tree: Tree, addresses: Mapping[str, str]) -> dict[str, int]:
    """Find which CPUs handle the interrupts of devices."""
    found = {}
    for device, address in addresses.items():
        handled = 0
        for number in names_or_none(tree, f"{DEVICES}/{address}/msi_irqs") or ():
            lists = ("effective_affinity_list", "smp_affinity_list")
            read = (cgroups.members(tree, f"proc/irq/{number}/{name}") for name in lists)
            handled |= next((cpus for cpus in read if cpus is not None), 0)
        if handled:
            found[device] = handled
    return found


def _age(tree: Tree, path: str) -> float | None:
    """Say how long ago a file of the live host was written."""
    if not tree.live:
        return None
    try:
        return max(0.0, time.time() - os.stat(path).st_mtime)
    except OSError:
        return None


_GPU = re.compile(r"GPU-[0-9a-f-]{36}")


def devices_of(tree: Tree, pid: int) -> dict[str, int]:
    """Return the devices named in a process's environment with their NUMA nodes; -1: none."""
    found: set[str] = set()
    for word in (read_or_none(tree, f"proc/{pid}/environ") or "").split("\0"):
        name, _, value = word.partition("=")
        if name.startswith("PCIDEVICE_") and not name.endswith("_INFO"):
            found |= set(_ADDRESS.findall(value.lower()))
        elif name == "NVIDIA_VISIBLE_DEVICES":
            found |= set(_GPU.findall(value))
    return device_nodes(tree, addresses_of(tree, found))
