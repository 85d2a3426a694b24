"""Shares of CPUs one after another, as a driver hands them out."""

from __future__ import annotations

from collections.abc import Iterable

from numalign.dra.publish.cpus import Share, pick
from numalign.kubelet.cpu.topology import build
from numalign.model.machine import Machine


def prepare(machine: Machine, shares: Iterable[Share], reserved: int = 0) -> list[int]:
    """Pick the CPUs of each share out of what the shares before it left."""
    topology, free = build(machine), machine.cpus & ~reserved
    chosen: list[int] = []
    for share in shares:
        chosen.append(pick(topology, free, share))
        free &= ~chosen[-1]
    return chosen
