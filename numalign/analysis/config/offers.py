"""The changes of settings that may mend a start, each rule by itself.

Each is tried, so that one that changes nothing does no harm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from numalign.analysis.config.reserve import accepted_section, split_cores
from numalign.errors import StartError
from numalign.kubelet.config import Manager, Option
from numalign.kubelet.cpu import options as cpu
from numalign.kubelet.releases.release import Kubelet, version_text
from numalign.kubelet.releases.table import first_with_option
from numalign.kubelet.setup import Setup
from numalign.kubelet.start import reservation as reserving
from numalign.kubelet.start.feature_gates import bad_gates, gate_of, unmet_gates
from numalign.kubelet.topology import options as topology
from numalign.kubelet.topology.options import MAX_NODES, POLICIES, SCOPES
from numalign.model import cpuset
from numalign.model.cpuset import CPUSetError, format_set
from numalign.model.machine import LAST_NUMA_ID, Machine
from numalign.model.quantity import mended
from numalign.model.words import nearest
from numalign.values import NamedTuple


class SettingChange(NamedTuple):
    """One change of one setting."""

    field: str
    """Field of KubeletConfig."""
    value: Any
    why: str
    """One line, for people."""
    also: tuple[SettingChange, ...] = ()
    """What has to be changed with it."""

    @property
    def values(self) -> dict[str, Any]:
        """Field -> new value, of all that changes."""
        return {one.field: one.value for one in (self, *self.also)}


def _names(setup: Setup) -> Iterator[SettingChange]:
    config = setup.config
    for field, known, otherwise in (
        ("topology_manager_policy", POLICIES, "best-effort"),
        ("topology_manager_scope", SCOPES, "container"),
        ("cpu_manager_policy", ("none", "static"), "static"),
        ("memory_manager_policy", ("None", "Static"), "Static"),
    ):
        word = getattr(config, field)
        if word not in known:
            yield SettingChange(field, nearest(word, known) or otherwise, f"allowed: {', '.join(known)}")


def _reserved_cpus(setup: Setup) -> Iterator[SettingChange]:
    config, machine = setup.config, setup.machine
    text = config.reserved_system_cpus
    if not text:
        return
    cgroups = [field for field in ("kube_reserved_cgroup", "system_reserved_cgroup") if getattr(config, field)]
    if cgroups:
        first, *others = (SettingChange(field, "", "cannot be used with reservedSystemCPUs") for field in cgroups)
        yield first._replace(also=tuple(others))
    try:
        known = cpuset.parse(text) & machine.cpus
        why = f"this machine's CPUs are {format_set(machine.cpus)}"
    except CPUSetError:
        known, why = 0, 'expected a CPU list like "0-1,64"'
    if format_set(known) != text:
        whole = known | split_cores(known, machine) if known else first_core(machine)
        yield SettingChange("reserved_system_cpus", format_set(whole), why)


def _amounts(setup: Setup) -> Iterator[SettingChange]:
    config, machine = setup.config, setup.machine
    for field, flag in (("kube_reserved", "--kube-reserved"), ("system_reserved", "--system-reserved")):
        texts = getattr(config, field)
        right = {name: found for name, text in texts.items() if (found := mended(text)) is not None}
        why = "; ".join(map(": ".join, right.values()))
        yield SettingChange(field, {**texts, **{name: found[0] for name, found in right.items()}}, why)
        bad = {name for name in texts if _unreadable(partial(reserving.read_reserved, flag), texts, name)}
        yield SettingChange(field, _without(texts, bad), f"{', '.join(sorted(bad))} cannot be reserved this way")
    thresholds = config.eviction_hard or {}
    for name, text in thresholds.items():
        if (one := mended(text)) is not None:
            yield SettingChange("eviction_hard", {**thresholds, name: one[0]}, ": ".join(one))
    bad = {name for name in thresholds if _unreadable(partial(reserving.evict, machine=machine), thresholds, name)}
    for name in sorted(bad):
        meant = nearest(name, reserving.SIGNALS)
        if meant and meant not in thresholds:
            yield SettingChange("eviction_hard", _renamed(thresholds, name, meant), f"the signal is {meant}")
    if bad:
        yield SettingChange(
            "eviction_hard", _without(thresholds, bad), f"{', '.join(sorted(bad))}: unknown signal or invalid amount"
        )


def _unreadable(read: Callable[[Mapping[str, str]], object], texts: Mapping[str, str], name: str) -> bool:
    try:
        read({name: texts[name]})
    except StartError:
        return True
    return False


def _renamed(texts: Mapping[str, str], name: str, meant: str) -> dict[str, str]:
    return {meant if key == name else key: text for key, text in texts.items()}


def _without(texts: Mapping[str, str], names: set[str]) -> dict[str, str]:
    return {name: text for name, text in texts.items() if name not in names}


def _bad_gates(setup: Setup) -> Iterator[SettingChange]:
    """Take back gates that the kubelet does not survive."""
    given, kubelet = setup.config.feature_gates, setup.kubelet
    bad = bad_gates(kubelet, given)
    rest = {}
    for name, value in given.items():
        meant = nearest(name, kubelet.gates, 0.95) if name in bad else name
        if meant and meant not in bad:
            rest[meant] = value
    yield SettingChange("feature_gates", rest, _why_bad(kubelet, bad))
    for name, off in unmet_gates(kubelet, given).items():
        yield SettingChange("feature_gates", {**given, name: False}, f"{name} needs {', '.join(off)}")


def _why_bad(kubelet: Kubelet, bad: Iterable[str]) -> str:
    """Say what is wrong with each gate: it is locked, or not there, perhaps only misspelt."""
    locked = [name for name in bad if gate_of(kubelet, name)]
    unknown = [f"{name}{_meant(kubelet, name)}" for name in bad if not gate_of(kubelet, name)]
    parts = [f"this release has no feature gate {', '.join(unknown)}"] if unknown else []
    return "; ".join([*parts, *(f"{name} is locked in this release" for name in locked)])


def _meant(kubelet: Kubelet, name: str) -> str:
    near = nearest(name, kubelet.gates)
    return f" (similar: {near})" if near else ""


def _gates(setup: Setup) -> Iterator[SettingChange]:
    config = setup.config
    on = setup.kubelet.gates_with(config.feature_gates)
    for manager, given in (
        ("CPUManager", config.cpu_manager_policy_options),
        ("TopologyManager", config.topology_manager_policy_options),
    ):
        if given is not None:
            for level in ("", "Beta", "Alpha"):
                gate = f"{manager}Policy{level}Options"
                if not on(gate):
                    value = {**config.feature_gates, gate: True}
                    yield SettingChange("feature_gates", value, f"options of this level need the feature gate {gate}")


def _topology_options(setup: Setup) -> Iterator[SettingChange]:
    config, machine = setup.config, setup.machine
    field = "topology_manager_policy_options"
    given = config.topology_manager_policy_options or {}
    yield from _misnamed(field, given, setup.kubelet, "topology")
    nodes = len(machine.numa_nodes)
    if MAX_NODES in given or (nodes > topology.LEAST_MAX_NODES and MAX_NODES in setup.kubelet.levels("topology")):
        enough = {**given, MAX_NODES: str(max(topology.LEAST_MAX_NODES, nodes))}
        now = f" (now {given[MAX_NODES]})" if MAX_NODES in given else ""
        yield SettingChange(field, enough, f"allowed: {enough[MAX_NODES]} or more for {nodes} NUMA nodes{now}")
    if nodes > topology.LEAST_MAX_NODES:
        why = f"the other policies need {MAX_NODES} for {nodes} NUMA nodes"
        yield SettingChange("topology_manager_policy", "none", why)
    for row in topology.OPTIONS:
        if row.name in given and not row.number:
            yield SettingChange(field, {**given, row.name: "true"}, 'allowed: "true" or "false"')
    yield from _unfit(field, given, topology.OPTIONS)


def _unfit(field: str, given: Mapping[str, str], rows: Iterable[Option]) -> Iterator[SettingChange]:
    for row in rows:
        if row.unfit and row.name in given:
            yield SettingChange(field, _without(given, {row.name}), row.unfit)


def _misnamed(field: str, given: Mapping[str, str], kubelet: Kubelet, manager: Manager) -> Iterator[SettingChange]:
    known = kubelet.levels(manager)
    for name in sorted(given):
        if name in known:
            continue
        rest = _without(given, {name})
        since = first_with_option(name)
        if since is not None and since > kubelet.version:
            yield SettingChange(field, rest, f"{name} is new in {version_text(since)}")
            continue
        meant = nearest(name, known)
        if meant and meant not in given:
            yield SettingChange(field, _renamed(given, name, meant), f"the option is {meant}")
        yield SettingChange(field, rest, f"allowed: {', '.join(sorted(known))}")


def _cpu_manager(setup: Setup) -> Iterator[SettingChange]:
    config, machine = setup.config, setup.machine
    field = "cpu_manager_policy_options"
    given = config.cpu_manager_policy_options or {}
    if given and config.cpu_manager_policy == "none":
        yield SettingChange("cpu_manager_policy", "static", "options require the static policy")
    if not config.reserved_system_cpus:
        core = first_core(machine)
        why = "the static policy needs a reserved CPU: reserve a whole core"
        by_name = SettingChange("reserved_system_cpus", format_set(core), why)
        by_number = SettingChange("kube_reserved", {**config.kube_reserved, "cpu": str(core.bit_count())}, why)
        cgroups = config.kube_reserved_cgroup or config.system_reserved_cgroup
        yield from (by_number, by_name) if cgroups else (by_name, by_number)
    yield from _misnamed(field, given, setup.kubelet, "cpu")
    for name in given:
        yield SettingChange(field, {**given, name: "true"}, f'{name}: allowed: "true" or "false"')
    for first, second in cpu.EXCLUSIVE_PAIRS:
        if first in given:
            yield SettingChange(field, _without(given, {second}), f"{first} cannot be used with {second}")
    yield from _unfit(field, given, cpu.OPTIONS)


def _memory_manager(setup: Setup) -> Iterator[SettingChange]:
    config, machine = setup.config, setup.machine
    reservation = reserving.readable_reservation(config, machine)
    if reservation is None:
        return
    section = accepted_section(config, machine, reservation)
    if section is not None:
        yield SettingChange("reserved_memory", section, "must equal kubeReserved + systemReserved + evictionHard")
    if config.memory_manager_policy == "Static" and not reservation.nano("memory"):
        thresholds = {**(config.eviction_hard or {}), "memory.available": "100Mi"}
        yield SettingChange("eviction_hard", thresholds, "the Static policy needs reserved memory")
    if config.memory_manager_policy != "Static":
        yield SettingChange("reserved_memory", (), "reservedMemory requires memoryManagerPolicy Static")


def _capacity(setup: Setup) -> Iterator[SettingChange]:
    config, machine = setup.config, setup.machine
    reservation = reserving.readable_reservation(config, machine)
    if reservation is None:
        return
    have = reservation.capacity
    for resource, amount in sorted(reservation.total.items()):
        if amount.quantity.nano > have[resource].quantity.nano:
            why = f"the machine has less {resource} than is reserved"
            for field in ("system_reserved", "kube_reserved"):
                yield SettingChange(field, _without(getattr(config, field), {resource}), why)
            for signal, evicted in reserving.EVICTED.items():
                if evicted == resource:
                    yield SettingChange("eviction_hard", _without(config.eviction_hard or {}, {signal}), why)


def _numa_ids(setup: Setup) -> Iterator[SettingChange]:
    if any(node.id > LAST_NUMA_ID for node in setup.machine.numa_nodes):
        yield SettingChange(
            "topology_manager_policy", "none", f"other policies crash on NUMA node ids above {LAST_NUMA_ID}"
        )


def _cgroup_v1(setup: Setup) -> Iterator[SettingChange]:
    if setup.machine.cgroup_v1:
        yield SettingChange("fail_cgroup_v1", False, "the machine runs cgroup v1, which later releases drop")


def _last_resort(_setup: Setup) -> Iterator[SettingChange]:
    """Switch off what nothing else helped."""
    yield SettingChange("memory_manager_policy", "None", "no reservedMemory can satisfy this machine")
    yield SettingChange("kube_reserved", {}, "more is reserved than the machine has")
    yield SettingChange("system_reserved", {}, "more is reserved than the machine has")
    yield SettingChange("cpu_manager_policy", "none", "no CPU of this machine can be reserved")


OFFERS: tuple[Callable[[Setup], Iterator[SettingChange]], ...] = (
    _names,
    _reserved_cpus,
    _amounts,
    _bad_gates,
    _gates,
    _topology_options,
    _capacity,
    _cpu_manager,
    _memory_manager,
    _numa_ids,
    _cgroup_v1,
    _last_resort,
)


def first_core(machine: Machine) -> int:
    """Return the CPUs of the core with the lowest CPU: what suggestions reserve."""
    return min(machine.cores, key=lambda core: core & -core, default=machine.cpus & -machine.cpus)
