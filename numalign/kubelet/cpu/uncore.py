"""The uncore step of `prefer-align-cpus-by-uncorecache` (docs/rules/cpu-manager.md 8.12, kubelet-versions.md 4)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from numalign.kubelet.cpu.orders import WorkingSet, uncore_order
from numalign.kubelet.cpu.topology import CPUTopology
from numalign.model.cpuset import CPUSet, ids
from numalign.model.machine import Unit

PartialFit = Callable[[CPUTopology, WorkingSet, Unit], int]
"""(topology, what is taken and needed, uncore unit) -> free CPUs of the unit that are exactly the need; 0: none."""


def uncore_step(topology: CPUTopology, working: WorkingSet, partial_fit: PartialFit) -> WorkingSet:
    """Claim whole uncore units, then look for one that holds the rest exactly (8.12).

    The rule tries the whole units anew at every uncore of the order. Only the first time can claim anything: the need
    never grows, and a partial fit that claims also satisfies.
    """
    order = uncore_order(topology, working.free)
    if working.need >= topology.cpus_per_uncore:
        working = working.claim_fitting([unit.cpus for unit in order if unit.cpus & working.free == unit.cpus])
    for uncore in order:
        if (working.free & uncore.cpus).bit_count() >= working.need:
            working = working.claim(partial_fit(topology, working, uncore))
    return working


def exact_fit(topology: CPUTopology, working: WorkingSet, uncore: Unit) -> CPUSet:
    """Find CPUs on cores rounded up, less one CPU where the need is odd (docs/rules/kubelet-versions.md 4).

    Three CPUs of cores 0,4 1,5: two cores have four, the CPU with the largest id is left out: 0, 1, 4.
    """
    need, per_core = working.need, topology.cpus_per_core
    fit = _lowest_cores(topology, working.free, uncore, -(-need // per_core))
    if need % 2 and per_core > 1 and fit.bit_count() > need:
        fit ^= 1 << fit.bit_length() - 1
    return fit if fit.bit_count() == need else 0


def fit_of_whole_cores(topology: CPUTopology, working: WorkingSet, uncore: Unit) -> CPUSet:
    """Find CPUs on cores rounded down, as up to 1.33: a need that is no multiple of a core never fits (8.13)."""
    fit = _lowest_cores(topology, working.free, uncore, working.need // topology.cpus_per_core)
    return fit if fit.bit_count() == working.need else 0


def _lowest_cores(topology: CPUTopology, free: CPUSet, uncore: Unit, count: int) -> CPUSet:
    """Collect the free CPUs of the lowest cores that have a free CPU in `uncore`."""
    inside = free & uncore.cpus
    with_free = 0
    for offsets, core_ids in topology.shapes:
        for offset in offsets:
            with_free |= inside >> offset & core_ids
    lowest = 0
    for core_id in islice(ids(with_free), count):
        lowest |= topology.cores[core_id]
    return lowest & free
