"""A kubelet configuration on a machine: does it start, what does it reserve, and what looks unintended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from numalign.analysis.config.repair import Step, repair, start_error
from numalign.analysis.config.reserve import MemorySum, isolated_cpus, memory_sum, split_cores
from numalign.analysis.config.system import Ground
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.setup import Setup
from numalign.kubelet.start.check import check_start
from numalign.kubelet.start.reservation import readable_reservation, thresholds
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

    starts: bool | None
    """None: it depends on a part of the settings that is not known."""
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
    """CPUs that are never given out exclusively; None: it does not start, the CPU manager is off, or it is unknown."""
    unknown: Mapping[str, str]
    """Setting on which `starts` depends -> what makes it known."""


def report(setup: Setup, ground: Ground | None = None) -> ConfigReport:
    """Check a configuration and work out the nearest one that starts.

    Args:
        setup: the configuration on its machine.
        ground: what the configuration rests on; of what is unknown there nothing is fixed. None: a kubelet's defaults.
    """
    ground = ground or Ground()
    machine, config = setup.machine, setup.config
    sure = _sure(setup, ground)
    outcome = repair(sure, ground.lacks)
    doubtful = sure.config != config
    unknown_memory = doubtful and ground.is_unknown("memory")
    reservation = None if unknown_memory else readable_reservation(config, machine)
    reserved: int | None = None
    if outcome.starts and not ground.is_unknown("cpu"):
        manager = check_start(sure._replace(config=outcome.config)).cpu
        reserved = manager.reserved if manager.static else None
    return ConfigReport(
        starts=False if outcome.steps else None if doubtful else True,
        steps=outcome.steps,
        repaired=outcome.config if outcome.steps else config,
        repairable=outcome.starts and not doubtful,
        unknown=ground.unknown if doubtful else {},
        # What remains to be said once the kubelet starts; a person should not meet it one run later.
        findings=tuple(_findings(outcome.config, machine, reserved)),
        memory=None if reservation is None else memory_sum(config, machine, reservation),
        reserved_cpus=None if outcome.steps else reserved,
    )


def doubt(setup: Setup, ground: Ground | None) -> str:
    """Say that it is unknown whether the kubelet starts, and what makes it known; empty: it is known."""
    if ground is None or not ground.unknown:
        return ""
    found = report(setup, ground)
    if found.starts is not None:
        return ""
    fixes = "; ".join(f"fix: {fix}" for fix in dict.fromkeys(found.unknown.values()))
    return f"unknown whether the kubelet starts: it depends on {', '.join(found.unknown)}; {fixes}"


def _sure(setup: Setup, ground: Ground) -> Setup:
    """Take out what an unknown part of the reservations decides, so that what is left is certain."""
    config = setup.config
    if ground.is_unknown("memory") and config.memory_manager_policy == "Static":
        config = config._replace(memory_manager_policy="None", reserved_memory=())
    if ground.is_unknown("cpu") and config.cpu_manager_policy == "static":
        without = config._replace(cpu_manager_policy="none", cpu_manager_policy_options=None)
        stops = start_error(setup._replace(config=config)) is not None
        config = without if stops and start_error(setup._replace(config=without)) is None else config
    return setup._replace(config=config)


def _findings(config: KubeletConfig, machine: Machine, reserved: int | None) -> Iterator[ConfigFinding]:
    yield from _idle_settings(config)
    if config.reserved_system_cpus and ("cpu" in config.kube_reserved or "cpu" in config.system_reserved):
        yield ConfigFinding(
            "cpu-reservation-replaced",
            "reservedSystemCPUs",
            "overrides cpu in kubeReserved and systemReserved",
        )
    threshold = thresholds(config).get("memory.available", "")
    if config.memory_manager_policy == "Static" and threshold.endswith("%"):
        yield ConfigFinding(
            "percent-threshold",
            "evictionHard",
            f"memory.available {threshold} changes the sum of reservedMemory with the memory of the machine; "
            "fix: write an amount, such as 100Mi",
        )
    if reserved:
        owners = (("kubeReserved", config.kube_reserved), ("systemReserved", config.system_reserved))
        computed = [field for field, amounts in owners if "cpu" in amounts]
        field = "reservedSystemCPUs" if config.reserved_system_cpus else computed[0]
        yield from _reserved_findings(reserved, machine, field)


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
        in_all = "" if field == "reservedSystemCPUs" else f" ({(reserved | split).bit_count()} CPUs in all)"
        yield ConfigFinding(
            "split-cores",
            field,
            f"reserving {format_set(reserved)} splits cores: pods use the other threads, "
            f"CPU{'s' * (split.bit_count() > 1)} {format_set(split)}; "
            f"fix: reserve whole cores, {format_set(reserved | split)}{in_all}",
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
    if not machine.cpus & ~reserved:
        yield ConfigFinding("nothing-left", field, "every CPU is reserved: no container can have exclusive CPUs")
