"""A configuration for a machine that aligns what can be aligned, and starts; a reason for every line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from numalign.analysis.config.offers import first_core
from numalign.analysis.config.repair import repair
from numalign.analysis.config.reservations import QUARTERS, kept
from numalign.analysis.config.reserve import accepted_section
from numalign.analysis.config.system import Facts, System
from numalign.analysis.config.systems import KUBELET, OKE, config_of
from numalign.kubelet.config import FIELD_NAMES, KubeletConfig, Option
from numalign.kubelet.cpu.options import OPTIONS as CPU_OPTIONS
from numalign.kubelet.releases.release import Kubelet
from numalign.kubelet.releases.table import LATEST
from numalign.kubelet.setup import Setup
from numalign.kubelet.start.reservation import readable_reservation
from numalign.kubelet.topology.options import OPTIONS as TOPOLOGY_OPTIONS
from numalign.model import cpuset
from numalign.model.cpuset import format_set, union
from numalign.model.machine import LAST_NUMA_ID, Machine
from numalign.model.quantity import GIBI
from numalign.values import NamedTuple

CORES_A_RESERVED_ONE = 32
"""Of how many cores one is kept for the system."""


class Suggestion(NamedTuple):
    """A configuration that starts on its machine, unless `error` says that none was found."""

    config: KubeletConfig
    reasons: Mapping[str, str]
    """Field of KubeletConfig -> why it is set, one line."""
    error: str
    """The kubelet's text where it does not start after all; else empty."""
    left_out: tuple[str, ...]
    """Fields of KubeletConfiguration that would be set, had the system them."""


def suggest(
    machine: Machine,
    wishes: Mapping[str, Any],
    kubelet: Kubelet = LATEST,
    system: System = KUBELET,
    facts: Facts | None = None,
) -> Suggestion:
    """Write a configuration for a machine.

    Args:
        machine: the machine.
        wishes: settings that the person wants (field of KubeletConfig -> value); kept where the kubelet accepts them.
        kubelet: which kubelet it is for.
        system: the cloud or distribution that it is for, whose own part lies below.
        facts: what that part depends on; None: the machine and the kubelet alone.
    """
    facts = facts or Facts(machine.cpus.bit_count(), machine.memory, kubelet.version)
    given = {"memoryManagerPolicy": "Static"} if "memoryManagerPolicy" not in system.lacks else {}
    given |= {"reservedSystemCPUs": format_set(reserved_cores(machine))} if system.takes_cpus else {}
    config = config_of(system.base(facts, given).fields)
    reasons: dict[str, str] = {}
    for field, value, why in _for_system(_settings(machine), config, system):
        reasons[field] = why
        if field == "kube_reserved":
            config = config._replace(kube_reserved={**config.kube_reserved, **value})
        else:
            config = config._replace(**{field: value})
    config = config._replace(**wishes)
    reasons |= dict.fromkeys(wishes, "as requested")
    if config.memory_manager_policy == "Static" and not {"reserved_memory", _SECTION} & {*wishes, *system.lacks}:
        config, reasons = _with_reserved_memory(config, machine, reasons)
    outcome = repair(Setup(machine, config, "kubelet", kubelet), system.lacks)
    for step in outcome.steps:
        if step.change is not None:
            reasons |= dict.fromkeys(step.change.values, step.change.why)
    error = "" if outcome.starts else outcome.steps[-1].error
    wanted = [FIELD_NAMES[field] for field, _, _ in _settings(machine)]
    left_out = [name for name in (*wanted, _SECTION) if name in system.lacks - {"reservedSystemCPUs"}]
    return Suggestion(outcome.config, reasons, error, tuple(left_out))


_SECTION: Final = "reservedMemory"


def _for_system(
    settings: Iterable[tuple[str, Any, str]], own: KubeletConfig, system: System
) -> Iterator[tuple[str, Any, str]]:
    """Leave out what a system does not take or sets itself, and reserve CPUs by number where names are not taken."""
    # No system has a control group for the kubelet alone.
    by_number = "reservedSystemCPUs" in system.lacks or own.system_reserved_cgroup
    if "systemReserved" in system.whole:
        yield "system_reserved", own.system_reserved, f"what {system.name} reserves on a worker, named as a whole"
    cpus: dict[str, str] = {}
    for field, value, why in settings:
        if field == "reserved_system_cpus" and by_number:
            cpus = {"cpu": str(cpuset.parse(value).bit_count())}
            if "kubeReserved" not in system.lacks:
                yield "kube_reserved", cpus, why
        elif FIELD_NAMES[field] in system.lacks or (field == "eviction_hard" and system.name not in ("", OKE.name)):
            pass  # of thresholds the system's own hold, or the kubelet's
        elif field == "kube_reserved":
            yield field, {**cpus, **value}, why
        else:
            yield field, value, why


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
    if aligned and any(node.memory for node in nodes):
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
    return union(turns[:count]) or first_core(machine)


def reserved_memory(memory: int) -> int:
    """Work out, in bytes, what a suggestion keeps for the kubelet: a share of each tier of the machine's memory."""
    return kept(memory, QUARTERS, GIBI) // 100


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
