"""A kubelet configuration on a machine: does it start, what does it reserve, and what looks unintended."""

from __future__ import annotations

from collections.abc import Iterator

from numalign.analysis.config.repair import Step, repair
from numalign.analysis.config.reserve import MemorySum, isolated_cpus, memory_sum, split_cores
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.setup import Setup
from numalign.kubelet.start.check import check_start
from numalign.kubelet.start.reservation import readable_reservation
from numalign.model.cpuset import format_set
from numalign.model.machine import Machine
from numalign.values import NamedTuple


class ConfigFinding(NamedTuple):
    """Something that does not stop the kubelet, and is probably not meant."""

    code: str
    """Stable, kebab-case."""
    field: str
    """Field of KubeletConfiguration."""
    message: str


class ConfigReport(NamedTuple):
    """The answer of `config check`."""

    starts: bool
    steps: tuple[Step, ...]
    """What the kubelet would say, one refusal after the other, and the change that answers it."""
    repaired: KubeletConfig
    """The configuration after all changes; the given one where it starts."""
    repairable: bool
    """Whether `repaired` starts."""
    findings: tuple[ConfigFinding, ...]
    memory: MemorySum | None
    """The sum behind `reservedMemory`; None: the reservations cannot be read."""
    reserved_cpus: int | None
    """CPUs that are never given out exclusively; None: it does not start, or the CPU manager is off."""


def report(setup: Setup) -> ConfigReport:
    """Check a configuration and work out the nearest one that starts."""
    machine, config = setup.machine, setup.config
    outcome = repair(setup)
    reservation = readable_reservation(config, machine)
    reserved: int | None = None
    if outcome.starts:
        manager = check_start(setup._replace(config=outcome.config)).cpu
        reserved = manager.reserved if manager.static else None
    return ConfigReport(
        starts=not outcome.steps,
        steps=outcome.steps,
        repaired=outcome.config,
        repairable=outcome.starts,
        # What remains to be said once the kubelet starts; a person should not meet it one run later.
        findings=tuple(_findings(outcome.config, machine, reserved)),
        memory=None if reservation is None else memory_sum(config, machine, reservation),
        reserved_cpus=None if outcome.steps else reserved,
    )


def _findings(config: KubeletConfig, machine: Machine, reserved: int | None) -> Iterator[ConfigFinding]:
    yield from _idle_settings(config)
    if config.reserved_system_cpus and ("cpu" in config.kube_reserved or "cpu" in config.system_reserved):
        yield ConfigFinding(
            "cpu-reservation-replaced",
            "reservedSystemCPUs",
            "overrides cpu in kubeReserved and systemReserved",
        )
    if reserved:
        explicit = bool(config.reserved_system_cpus)
        owners = (("kubeReserved", config.kube_reserved), ("systemReserved", config.system_reserved))
        computed = [field for field, amounts in owners if "cpu" in amounts]
        yield from _reserved_findings(
            reserved, machine, computed[0] if computed and not explicit else "reservedSystemCPUs"
        )


def _idle_settings(config: KubeletConfig) -> Iterator[ConfigFinding]:
    """Name settings without effect."""
    if config.topology_manager_policy == "none":
        if config.topology_manager_policy_options:
            yield ConfigFinding(
                "ignored",
                "topologyManagerPolicyOptions",
                "no effect: policy none does not align",
            )
        if config.topology_manager_scope != "container":
            yield ConfigFinding("ignored", "topologyManagerScope", "no effect: policy none has no scope")
    elif config.cpu_manager_policy == "none":
        yield ConfigFinding(
            "cpus-not-aligned",
            "cpuManagerPolicy",
            f"with none no container has exclusive CPUs: {config.topology_manager_policy} aligns only devices"
            + (" and memory" if config.memory_manager_policy == "Static" else ""),
        )
    if config.reserved_memory and config.memory_manager_policy == "None":
        yield ConfigFinding("ignored", "reservedMemory", "no effect: memoryManagerPolicy is None")


def _reserved_findings(reserved: int, machine: Machine, field: str) -> Iterator[ConfigFinding]:
    """Look at what is reserved: whole cores, and the CPUs that the kernel isolates."""
    split = split_cores(reserved, machine)
    if split:
        yield ConfigFinding(
            "split-cores",
            field,
            f"reserving {format_set(reserved)} splits cores with CPUs {format_set(split)}, which "
            f"pods use; fix: reserve whole cores, {format_set(reserved | split)}",
        )
    isolated = isolated_cpus(machine)
    if isolated & reserved:
        yield ConfigFinding(
            "isolated-reserved",
            field,
            f"the kernel isolates {format_set(isolated & reserved)}: the system does not run on these reserved CPUs",
        )
    if isolated and machine.cpus & ~isolated & ~reserved:
        yield ConfigFinding(
            "pool-and-isolation-differ",
            field,
            f"the kernel isolates {format_set(isolated)}, so the system runs on the others; of these "
            f"{format_set(machine.cpus & ~isolated & ~reserved)} can be exclusive",
        )
    if machine.cpus and not machine.cpus & ~reserved:
        yield ConfigFinding("nothing-left", field, "every CPU is reserved: no container can have exclusive CPUs")
