"""Which of the free CPUs a request gets: packed or distributed (docs/rules/cpu-manager.md 8.1)."""

from __future__ import annotations

from numalign.kubelet.cpu.options import CPUPolicyOptions
from numalign.kubelet.cpu.packed import take_packed
from numalign.kubelet.cpu.topology import CPUTopology
from numalign.kubelet.cpu.uncore import PartialFit, exact_fit
from numalign.model.cpuset import CPUSet


def take(
    topology: CPUTopology,
    options: CPUPolicyOptions,
    free: CPUSet,
    n: int,
    partial_fit: PartialFit = exact_fit,
) -> CPUSet:
    """Take `n` of the `free` CPUs in the way the options ask for; nothing for n < 1.

    Args:
        topology: the machine.
        options: the policy's options.
        free: what there is to take from.
        n: how many.
        partial_fit: what an uncore cache gives for a rest that is less than the whole cache.

    Raises:
        AllocationError: it cannot be done.
        KubeletHangError: the kubelet would search for ever (8.31).
    """
    if options.distribute_cpus_across_numa:
        from numalign.kubelet.cpu.distributed import take_distributed

        group = topology.cpus_per_core if options.full_pcpus_only else 1
        return take_distributed(topology, free, n, group)
    return take_packed(
        topology,
        free,
        n,
        spread=options.distribute_cpus_across_cores,
        uncore=partial_fit if options.prefer_align_cpus_by_uncorecache else None,
    )
