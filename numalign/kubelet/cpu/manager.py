"""The CPU Manager: its static facts, the checks on them at start, the reserved CPUs, and which CPUs a request gets.

docs/rules/cpu-manager.md 2, 3 and 8.1. Terms, as in the kubelet: the *shared* pool is where containers without
exclusive CPUs run; *reserved* CPUs are never handed out exclusively; *assignable* (here: available) CPUs are in the
shared pool and not reserved; *exclusive* CPUs belong to one container.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import accumulate
from typing import Literal

from numalign.errors import StartError
from numalign.kubelet.config import Level
from numalign.kubelet.cpu.options import (
    NO_OPTIONS,
    CPUPolicyOptions,
    Gates,
    check_align_by_socket,
    format_map,
    read_options,
)
from numalign.kubelet.cpu.packed import take_packed
from numalign.kubelet.cpu.topology import NO_TOPOLOGY, CPUTopology, build
from numalign.kubelet.cpu.uncore import PartialFit, exact_fit
from numalign.kubelet.errors import AllocationError, KubeletHangError
from numalign.kubelet.topology.hints import fewest
from numalign.model.cpuset import CPUSet, format_set
from numalign.model.machine import Machine
from numalign.model.quantity import MILLI
from numalign.values import NamedTuple

CPUPolicy = Literal["none", "static"]

Distribute = Callable[[CPUTopology, CPUPolicyOptions, CPUSet, int, int], CPUSet]
"""(machine, options, free CPUs, how many, how many belong together) -> CPUs spread over NUMA nodes."""


def distribute(topology: CPUTopology, options: CPUPolicyOptions, free: CPUSet, n: int, group: int) -> CPUSet:
    """Spread over NUMA nodes, of one socket if that is asked for and can be. Errors as in `take`."""
    from numalign.kubelet.cpu.distributed import take_distributed

    return take_distributed(topology, free, n, group, one_socket=options.align_by_socket)


def distribute_once(topology: CPUTopology, options: CPUPolicyOptions, free: CPUSet, n: int, group: int) -> CPUSet:
    """Spread as `distribute` does, but never lower a share that was chosen. Errors as in `take`."""
    from numalign.kubelet.cpu.distributed import take_distributed

    return take_distributed(topology, free, n, group, one_socket=options.align_by_socket, share_again=False)


def distribute_until_1_36(
    topology: CPUTopology, _options: CPUPolicyOptions, free: CPUSet, n: int, group: int
) -> CPUSet:
    """Spread over NUMA nodes, whatever their sockets. Errors as in `take`."""
    from numalign.kubelet.cpu.distributed import take_distributed

    return take_distributed(topology, free, n, group, share_again=False)


class CPUManager(NamedTuple):
    """What stays the same while the kubelet runs."""

    policy: CPUPolicy
    """Under `none` everything else is empty."""
    options: CPUPolicyOptions = NO_OPTIONS
    topology: CPUTopology = NO_TOPOLOGY
    reserved: CPUSet = 0
    physically_reserved: CPUSet = 0
    """All CPUs of all cores that contain a reserved CPU (2.6)."""
    widest: tuple[int, ...] = ()
    """Element k: CPUs of the k + 1 biggest NUMA nodes together."""
    partial_fit: PartialFit = exact_fit
    """What an uncore cache gives for less than the whole cache."""
    distribute: Distribute = distribute
    """How CPUs are spread over NUMA nodes."""

    @property
    def static(self) -> bool:
        """Tell whether containers may get exclusive CPUs at all."""
        return self.policy == "static"

    @property
    def allocatable(self) -> CPUSet:
        """CPUs that may ever be handed out exclusively (2.7)."""
        return self.topology.cpus & ~self.reserved

    @property
    def all_cpus(self) -> CPUSet:
        """The shared pool of an empty node: ALL of 4.5."""
        return self.allocatable if self.options.strict_cpu_reservation else self.topology.cpus

    def take(self, free: CPUSet, n: int) -> CPUSet:
        """Take `n` of the `free` CPUs in the way the options ask for (8); nothing for n < 1.

        Raises:
            AllocationError: it cannot be done.
            KubeletHangError: the kubelet would search for ever (8.31).
        """
        topology, options = self.topology, self.options
        if options.distribute_cpus_across_numa:
            group = topology.cpus_per_core if options.full_pcpus_only else 1
            return self.distribute(topology, options, free, n, group)
        return take_packed(
            topology,
            free,
            n,
            spread=options.distribute_cpus_across_cores,
            uncore=self.partial_fit if options.prefer_align_cpus_by_uncorecache else None,
        )

    def minimal_width(self, request: int) -> int:
        """How few NUMA nodes could hold a request on an empty machine: minSize of 6.3."""
        return fewest(self.widest, request)


def start(
    machine: Machine,
    *,
    policy: str,
    options: Mapping[str, str] | None,
    gates: Gates,
    levels: Mapping[str, Level],
    topology_policy: str,
    reserved: CPUSet,
    reservation_nano: int | None,
    waive_reservation: bool,
    partial_fit: PartialFit,
    distribute: Distribute,
) -> CPUManager:
    """Start the CPU Manager (rows 6 and 8 of docs/rules/kubelet-files.md 56 are `options.check_gate` and this).

    Args:
        machine: the machine.
        policy: name of the policy, as written.
        options: `cpuManagerPolicyOptions` as written; None: not given.
        gates: tells whether a feature gate is on.
        levels: the options that exist, and their levels.
        topology_policy: name of the Topology Manager's policy.
        reserved: the CPUs of `reservedSystemCPUs`; 0: not given.
        reservation_nano: R of 2.3 in billionths of a CPU; None: no CPU is reserved anywhere.
        waive_reservation: let nothing be reserved, as on numalign's ideal node (the kubelet would not).
        partial_fit: see `CPUManager`.
        distribute: see `CPUManager`.

    Raises:
        StartError: the kubelet would not start; the text is its own.
    """
    if policy == "none":
        if options:
            raise StartError(f"new none policy error: None policy: received unsupported options={format_map(options)}")
        return CPUManager("none")
    if policy != "static":
        raise StartError(f'unknown policy: "{policy}"')
    topology = build(machine)
    number = _reserved_number(reservation_nano, waive=waive_reservation)
    try:
        known = read_options(options or {}, gates, levels)
        check_align_by_socket(known, topology_policy, topology)
        unreserved = CPUManager("static", known, topology, partial_fit=partial_fit, distribute=distribute)
        reserved = _reserved_cpus(unreserved, reserved, number)
    except StartError as error:
        raise StartError(f"new static policy error: {error.message}") from None
    touched = 0
    for core in topology.cores.values():
        if core & reserved:
            touched |= core
    sizes = sorted((node.cpus.bit_count() for node in topology.nodes), reverse=True)
    return unreserved._replace(reserved=reserved, physically_reserved=touched, widest=tuple(accumulate(sizes)))


def check_reserved_online(text: str, reserved: CPUSet, machine: Machine) -> None:
    """Check that `reservedSystemCPUs` names CPUs of the machine (2.4; docs/rules/kubelet-files.md 56 row 3).

    Raises:
        StartError: with the kubelet's text.
    """
    if reserved & ~machine.cpus:
        raise StartError(f"reserved-cpus: {text} is not a subset of online-cpus: {format_set(machine.cpus)}")


def _reserved_number(nano: int | None, *, waive: bool) -> int:
    """Round the reservation up to whole CPUs: to millicores first, then to CPUs (2.3)."""
    if waive and not nano:
        return 0
    if nano is None:
        raise StartError("[cpumanager] unable to determine reserved CPU resources for static policy")
    if nano == 0:
        raise StartError(
            "[cpumanager] the static policy requires systemreserved.cpu + kubereserved.cpu to be greater than zero"
        )
    milli = -(-nano // MILLI)
    return -(-milli // 1000)


def _reserved_cpus(manager: CPUManager, explicit: CPUSet, number: int) -> CPUSet:
    """Use the explicit set, or take the lowest CPUs with the policy's own algorithm (2.5)."""
    reserved = explicit
    if not explicit:
        try:
            reserved = manager.take(manager.topology.cpus, number)
        except AllocationError:
            reserved = 0
        except KubeletHangError as error:
            raise StartError(f"the kubelet would hang while it reserves CPUs: {error}") from None
    if reserved.bit_count() != number:
        raise StartError(
            "[cpumanager] unable to reserve the required amount of CPUs "
            f"(size of {format_set(reserved)} did not equal {number})"
        )
    return reserved
