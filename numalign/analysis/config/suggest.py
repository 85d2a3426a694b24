"""A configuration for a machine that aligns what can be aligned, and starts; a reason for every line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from numalign.analysis.config.repair import first_core, repair
from numalign.analysis.config.reserve import accepted_section
from numalign.kubelet.config import KubeletConfig, Option
from numalign.kubelet.cpu.options import OPTIONS as CPU_OPTIONS
from numalign.kubelet.releases.release import Kubelet
from numalign.kubelet.releases.table import LATEST
from numalign.kubelet.setup import Setup
from numalign.kubelet.start.reservation import readable_reservation
from numalign.kubelet.topology.options import OPTIONS as TOPOLOGY_OPTIONS
from numalign.model.cpuset import format_set
from numalign.model.machine import LAST_NUMA_ID, Machine
from numalign.model.quantity import GIBI
from numalign.values import NamedTuple

CORES_A_RESERVED_ONE = 32
"""Of how many cores one is kept for the system."""
MEMORY_TIERS = ((4, 25), (4, 20), (8, 10), (112, 6), (0, 2))
"""(GiB, per cent kept of them), in order; 0: all the rest."""


class Suggestion(NamedTuple):
    """A configuration that starts on its machine, unless `error` says that none was found."""

    config: KubeletConfig
    reasons: Mapping[str, str]
    """Field of KubeletConfig -> why it is set, one line."""
    error: str
    """The kubelet's text where it does not start after all; else empty."""


def suggest(machine: Machine, wishes: Mapping[str, Any], kubelet: Kubelet = LATEST) -> Suggestion:
    """Write a configuration for a machine.

    Args:
        machine: the machine.
        wishes: settings that the person wants (field of KubeletConfig -> value); kept where the kubelet accepts them.
        kubelet: which kubelet it is for.
    """
    reasons: dict[str, str] = {}
    config = KubeletConfig()
    for field, value, why in _settings(machine):
        reasons[field] = why
        config = config._replace(**{field: value})
    config = config._replace(**wishes)
    reasons |= dict.fromkeys(wishes, "as requested")
    if config.memory_manager_policy == "Static" and "reserved_memory" not in wishes:
        config, reasons = _with_reserved_memory(config, machine, reasons)
    outcome = repair(Setup(machine, config, "kubelet", kubelet))
    for step in outcome.steps:
        if step.change is not None:
            reasons[step.change.field] = step.change.why
    error = "" if outcome.starts else outcome.steps[-1].error
    return Suggestion(outcome.config, reasons, error)


def _settings(machine: Machine) -> list[tuple[str, Any, str]]:
    """Choose settings that need nothing but the machine."""
    nodes = machine.numa_nodes
    aligned = all(0 <= node.id <= LAST_NUMA_ID for node in nodes)
    cores = reserved_cores(machine)
    settings: list[tuple[str, Any, str]] = [
        (
            "topology_manager_policy",
            "restricted" if aligned else "none",
            "rejects pods that could use fewer NUMA nodes; best-effort admits them"
            if aligned
            else f"the other policies crash on NUMA node ids outside 0-{LAST_NUMA_ID}",
        ),
        ("topology_manager_scope", "container", 'default; "pod" aligns all containers of a pod together'),
    ]
    options, why = _options(machine, TOPOLOGY_OPTIONS)
    if options and aligned:
        settings.append(("topology_manager_policy_options", options, why))
    settings.append(("cpu_manager_policy", "static", "exclusive CPUs for Guaranteed pods that request whole CPUs"))
    options, why = _options(machine, CPU_OPTIONS)
    if options:
        settings.append(("cpu_manager_policy_options", options, why))
    if cores:
        why = (
            f"1 whole core per {CORES_A_RESERVED_ONE} cores or part, over all NUMA nodes "
            f"({cores.bit_count()} of {machine.cpus.bit_count()} CPUs)"
        )
        settings.append(("reserved_system_cpus", format_set(cores), why))
    if machine.memory >= 4 * GIBI:
        why = "kubelet and runtime: 25% of 4Gi, 20% of 4Gi, 10% of 8Gi, 6% of 112Gi, 2%"
        settings.append(("kube_reserved", {"memory": f"{reserved_memory(machine.memory) >> 20}Mi"}, why))
    settings.append(
        (
            "eviction_hard",
            {"memory.available": "100Mi"},
            "default; part of the sum below",
        )
    )
    if aligned and any(node.memory > 0 for node in nodes):
        settings.append(("memory_manager_policy", "Static", "aligns memory with CPUs"))
    return settings


def reserved_cores(machine: Machine) -> int:
    """Choose the cores that a suggestion reserves: one for each `CORES_A_RESERVED_ONE` begun, the lowest of each node.

    The NUMA nodes with CPUs take turns, so that none gives more than its share.
    """
    count = -(-len(machine.cores) // CORES_A_RESERVED_ONE)
    ordered = sorted(machine.cores, key=lambda core: core & -core)
    nodes = sorted((node for node in machine.numa_nodes if node.cpus), key=lambda node: node.id)
    by_node = [[core for core in ordered if core & node.cpus] for node in nodes]
    turns = [cores[turn] for turn in range(count) for cores in by_node if turn < len(cores)]
    reserved = 0
    for core in turns[:count]:
        reserved |= core
    return reserved or first_core(machine)


def reserved_memory(memory: int) -> int:
    """Work out, in bytes, what a suggestion keeps for the kubelet: a share of each tier of the machine's memory."""
    kept = 0
    for size, share in MEMORY_TIERS:
        part = min(memory, size * GIBI) if size else memory
        kept += part * share // 100
        memory -= part
    return kept


def _options(machine: Machine, rows: Iterable[Option]) -> tuple[dict[str, str], str]:
    """Choose a manager's options, and say why."""
    found = {row.name: suited for row in rows if (suited := row.suggested(machine))}
    return {name: value for name, (value, _) in found.items()}, "; ".join(why for _, why in found.values())


def _with_reserved_memory(
    config: KubeletConfig, machine: Machine, reasons: dict[str, str]
) -> tuple[KubeletConfig, dict[str, str]]:
    """Add the `reservedMemory` that the other settings call for; without one the Static policy goes."""
    repaired = repair(Setup(machine, config._replace(memory_manager_policy="None"), "kubelet")).config
    reservation = readable_reservation(repaired, machine)
    section = None if reservation is None else accepted_section(config, machine, reservation)
    if section is None:
        why = "no reservedMemory can equal the sum on this machine: memory is not aligned"
        return config._replace(memory_manager_policy="None"), {**reasons, "memory_manager_policy": why}
    why = "must equal systemReserved + kubeReserved + evictionHard"
    return config._replace(reserved_memory=section), {**reasons, "reserved_memory": why}
