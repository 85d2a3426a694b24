"""What clouds and distributions keep of a node when nobody says how much (docs/rules/clouds.md section 2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

Tiers = Sequence[tuple[int, int]]
"""(size, per cent kept of it), in order; size 0: all the rest."""

EKS_CPU: Final = ((1, 600), (1, 100), (2, 50), (0, 25))
"""(CPUs, ten-thousandths kept of each), in order (49)."""
AKS_CPU: Final = ((1, 600), (1, 400), (2, 200), (0, 100))
"""The same of AKS (56)."""
QUARTERS: Final[Tiers] = ((4, 25), (4, 20), (8, 10), (112, 6), (0, 2))
"""GiB: AKS up to 1.28 (54), OpenShift up to 4.20 (61), the page of GKE (52); and what numalign suggests."""
GKE: Final[Tiers] = ((4000, 25), (4000, 20), (8000, 10), (112_000, 6), (0, 2))
"""MiB (52)."""


def kept(amount: int, tiers: Tiers, unit: int = 1, cut: int = 1) -> int:
    """Work out a hundred times what is kept of an amount: a share of each tier, in units, cut down to whole `cut`s."""
    total = 0
    for size, share in tiers:
        part = min(amount, size * unit) if size else amount
        total += part * share // cut
        amount -= part
    return total


def eks_cpu(cpus: int) -> str:
    """Work out what EKS and Bottlerocket keep; each range is cut down to thousandths (49, 51)."""
    return f"{kept(cpus, EKS_CPU, cut=10)}m"


def cpu_share(cpus: int, shares: Tiers) -> str:
    """Work out what GKE and AKS keep: cut once, at the end (52, 56)."""
    return f"{kept(cpus, shares) // 10}m"


def eks_memory(pods: int) -> str:
    """Work out what EKS and Bottlerocket keep for so many pods (49, 51)."""
    return f"{11 * pods + 255}Mi"


def eni_pods(enis: int, addresses: int) -> int:
    """Work out how many pods the network of an instance has addresses for (50)."""
    return enis * (addresses - 1) + 2


def gke_memory(mebibytes: int) -> str:
    """Work out what the autoscaler believes GKE keeps of so much physical memory (52)."""
    return f"{255 if mebibytes <= 1000 else kept(mebibytes, GKE) // 100}Mi"


def aks_memory(memory: int, pods: int | None) -> str:
    """Work out what AKS keeps of a machine's bytes: by pods from 1.29 on (55), by tiers up to 1.28 (None; 54)."""
    if pods is None:
        return f"{kept(memory, QUARTERS, 1 << 30) // 100 >> 20}Mi"
    return f"{min(20 * pods + 50, memory // 4 >> 20)}Mi"


def openshift_memory(gibibytes: int, *, newer: bool) -> str:
    """Work out what the sizing of OpenShift keeps of `free -g`, in GiB rounded half up; `newer`: from 4.21 on (61)."""
    hundredths = 100 + kept(gibibytes - 8, QUARTERS[3:]) if newer else kept(gibibytes, QUARTERS)
    return f"{(hundredths + 50) // 100}Gi"


def openshift_cpu(cpus: int, *, newer: bool) -> str:
    """Work out the CPUs of that sizing, by its second version; `newer`: at least half a CPU (61)."""
    found = 60 + 12 * (cpus - 1)
    text = f"{max(found / 1000, 0.5 * newer):.2f}"
    return text.rstrip("0").rstrip(".")
