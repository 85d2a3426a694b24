"""The options of the static CPU Manager policy and the checks on them (docs/rules/cpu-manager.md 3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from numalign.errors import StartError
from numalign.kubelet.config import Level, Option
from numalign.kubelet.cpu.topology import CPUTopology
from numalign.model.gotext import ConversionError, parse_bool
from numalign.model.machine import Machine
from numalign.values import NamedTuple

Gates = Callable[[str], bool]
"""Tells whether a feature gate is on."""


class CPUPolicyOptions(NamedTuple):
    """The options of the static policy; names as in the kubelet, `-` as `_`."""

    full_pcpus_only: bool = False
    distribute_cpus_across_numa: bool = False
    align_by_socket: bool = False
    distribute_cpus_across_cores: bool = False
    strict_cpu_reservation: bool = False
    prefer_align_cpus_by_uncorecache: bool = False


NO_OPTIONS = CPUPolicyOptions()


def _whole_cores(machine: Machine) -> tuple[str, str] | None:
    threads = any(core & (core - 1) for core in machine.cores)
    return ("true", "no two containers on the threads of one core") if threads else None


OPTIONS = (
    Option(
        "full-pcpus-only",
        "cpu",
        {(1, 22): "Alpha", (1, 23): "Beta", (1, 33): "Stable"},
        on="The kubelet then allocates whole cores only.",
        off="The kubelet then allocates single CPUs, also from cores in use by other containers.",
        suggested=_whole_cores,
    ),
    Option(
        "distribute-cpus-across-numa",
        "cpu",
        {(1, 23): "Alpha", (1, 33): "Beta"},
        on="CPUs on several NUMA nodes are then distributed evenly.",
        off="CPUs then fill one NUMA node before the next.",
    ),
    Option(
        "align-by-socket",
        "cpu",
        {(1, 25): "Alpha"},
        on="For CPUs all NUMA nodes of one socket then count as one.",
        off="The kubelet then wants CPUs on as few NUMA nodes as possible, not on one socket.",
        unfit="align-by-socket works neither with single-numa-node nor with more sockets than NUMA nodes",
    ),
    Option(
        "distribute-cpus-across-cores",
        "cpu",
        {(1, 31): "Alpha"},
        on="The kubelet then takes CPUs from as many cores as possible.",
        off="The kubelet then takes CPUs core by core.",
    ),
    Option(
        "strict-cpu-reservation",
        "cpu",
        {(1, 32): "Alpha", (1, 33): "Beta", (1, 35): "Stable"},
        on="The shared pool then has no reserved CPUs.",
        off="The shared pool then includes reserved CPUs.",
    ),
    Option(
        "prefer-align-cpus-by-uncorecache",
        "cpu",
        {(1, 32): "Alpha", (1, 34): "Beta", (1, 36): "Stable"},
        on="The kubelet then takes CPUs from as few last-level caches as possible.",
        off="The kubelet then ignores last-level caches.",
    ),
)
"""All of them, in the order in which the releases tell of them (3.1)."""

EXCLUSIVE_PAIRS = (
    ("full-pcpus-only", "distribute-cpus-across-cores"),
    ("distribute-cpus-across-numa", "distribute-cpus-across-cores"),
    ("prefer-align-cpus-by-uncorecache", "distribute-cpus-across-cores"),
    ("prefer-align-cpus-by-uncorecache", "distribute-cpus-across-numa"),
)
"""Options that may not both be on, in the order in which they are checked (3.3)."""


def check_gate(options: Mapping[str, str] | None, gates: Gates) -> None:
    """Refuse any option map, even an empty one, where options are gated off (docs/rules/kubelet-files.md 56 row 6).

    Raises:
        StartError: with the kubelet's text.
    """
    if options is not None and not gates("CPUManagerPolicyOptions"):
        raise StartError(
            f"CPU Manager policy options {format_map(options)} require feature gates "
            '"CPUManager", "CPUManagerPolicyOptions" enabled'
        )


def read_options(options: Mapping[str, str], gates: Gates, levels: Mapping[str, Level]) -> CPUPolicyOptions:
    """Read the options one by one, then check the pairs (3.2, 3.3).

    The kubelet visits them in random order; here it is by name.

    Raises:
        StartError: with the kubelet's text.
    """
    values = {name: _read_option(name, value, gates, levels) for name, value in sorted(options.items())}
    for first, second in EXCLUSIVE_PAIRS:
        if values.get(first) and values.get(second):
            raise StartError(f"static policy options {first} and {second} can not be used at the same time")
    return CPUPolicyOptions(**{name.replace("-", "_"): value for name, value in values.items()})


def _read_option(name: str, value: str, gates: Gates, levels: Mapping[str, Level]) -> bool:
    """Read one option; the gate of its level counts even for `false` (3.2)."""
    level = levels.get(name)
    if level is None:
        raise StartError(f'unknown CPU Manager Policy option: "{name}"')
    if level != "Stable" and not gates(f"CPUManagerPolicy{level}Options"):
        raise StartError(f'CPU Manager Policy {level}-level Options not enabled, but option "{name}" provided')
    try:
        return parse_bool(value)
    except ConversionError as error:
        raise StartError(f'bad value for option "{name}": {error}') from None


def check_align_by_socket(options: CPUPolicyOptions, topology_policy: str, topology: CPUTopology) -> None:
    """Check what `align-by-socket` needs of the topology policy and of the machine (3.4).

    Raises:
        StartError: with the kubelet's text.
    """
    if not options.align_by_socket:
        return
    if topology_policy == "single-numa-node":
        raise StartError(
            "Topolgy manager single-numa-node policy is incompatible with CPUManager align-by-socket policy option"
        )
    if len(topology.sockets) > len(topology.nodes):
        raise StartError(
            "Align by socket is not compatible with hardware where number of sockets are more than number of NUMA"
        )


def format_map(options: Mapping[str, str]) -> str:
    """Print options as Go prints a map: sorted by name."""
    return f"map[{' '.join(f'{name}:{value}' for name, value in sorted(options.items()))}]"
