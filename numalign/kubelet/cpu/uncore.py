"""The uncore step of `prefer-align-cpus-by-uncorecache` (docs/rules/cpu-manager.md 8.12, 8.13)."""

from __future__ import annotations

from itertools import islice

from numalign.kubelet.cpu.orders import WorkingSet, uncore_order
from numalign.kubelet.cpu.topology import CPUTopology
from numalign.model.cpuset import ids
from numalign.model.machine import Unit


def uncore_step(topology: CPUTopology, working: WorkingSet) -> WorkingSet:
    """Claim whole uncore units, then look for one that holds the rest exactly (8.12).

    The rule tries the whole units anew at every uncore of the order. Only the first time can claim anything: the need
    never grows, and a partial fit that claims also satisfies.
    """
    order = uncore_order(topology, working.free)
    if working.need >= topology.cpus_per_uncore:
        working = working.claim_fitting([unit.cpus for unit in order if unit.cpus & working.free == unit.cpus])
    for uncore in order:
        if working.need < 1:
            break
        working = _partial_fit(topology, working, uncore)
    return working


def _partial_fit(topology: CPUTopology, working: WorkingSet, uncore: Unit) -> WorkingSet:
    """Claim the free CPUs of the lowest cores of `uncore` if they are exactly as many as needed (8.13)."""
    free, need = working.free, working.need
    inside = free & uncore.cpus
    if inside.bit_count() < need:
        return working
    with_free = 0
    for offsets, core_ids in topology.shapes:
        for offset in offsets:
            with_free |= inside >> offset & core_ids
    lowest = 0
    for core_id in islice(ids(with_free), need // topology.cpus_per_core):
        lowest |= topology.cores[core_id]
    fit = lowest & free
    return working.claim(fit) if fit.bit_count() == need else working
