"""Resource names and amounts as the schedulers see them (docs/rules/scheduling.md, "Words used").

Amounts are exact: whole billionths of the resource's unit, so that 1500m CPU and 1.5Gi of memory are plain ints.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from numalign.model.quantity import NANO
from numalign.model.resources import CPU, EPHEMERAL_STORAGE, MEMORY, is_memory

Amounts = Mapping[str, int]
"""Resource name -> amount in billionths."""

ALWAYS_LISTED: Final = (CPU, MEMORY, "pods", EPHEMERAL_STORAGE)
"""Names that the total of a machine always has, also where the value is 0 (scheduling.md 1.2, notes on T-14)."""


def is_native(name: str) -> bool:
    """Tell whether a name is Kubernetes' own: without `/`, or with `kubernetes.io/` in it. `gpu` is native."""
    return "/" not in name or "kubernetes.io/" in name


def is_affine(name: str) -> bool:
    """Tell whether a name is one of CPU, memory and huge pages, which follow the NUMA node only for Guaranteed pods."""
    return name == CPU or is_memory(name)


def is_host_level(name: str) -> bool:
    """Tell whether a resource may belong to the machine as a whole rather than to a NUMA node."""
    return name in (EPHEMERAL_STORAGE, "storage") or not is_native(name)


def units(amount: int) -> int:
    """Return the whole units of an amount, rounded up (scheduling.md C-5)."""
    return -(-amount // NANO)


def is_whole(amount: int) -> bool:
    """Tell whether an amount is a whole, positive number of units."""
    return amount > 0 and amount % NANO == 0
