"""Assignments of exclusive CPUs: packed, distributed over NUMA nodes, and kept within uncore caches.

A busy machine: half of it is held by small pods, then one container after another is tried, each from the same state.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

from benchmarks.timing import Row, seconds_per_call
from numalign.kubelet.cpu import CPUManager, CPUState, allocate, initial_state, start
from numalign.kubelet.cpu.manager import distribute
from numalign.kubelet.cpu.uncore import exact_fit
from numalign.kubelet.demand import ContainerDemand, PodDemand
from numalign.kubelet.releases.table import LATEST
from numalign.kubelet.topology.hints import TopologyHint
from numalign.sources.machine.loading import load_machine

SHAPES = {
    64: "sockets=2,numaNodesPerSocket=1,coresPerNumaNode=16,threadsPerCore=2,coresPerUncoreCache=4",
    256: "sockets=2,numaNodesPerSocket=4,coresPerNumaNode=16,threadsPerCore=2,coresPerUncoreCache=8",
    1024: "sockets=4,numaNodesPerSocket=4,coresPerNumaNode=32,threadsPerCore=2,coresPerUncoreCache=8",
}
"""CPUs -> a machine of that size."""

STRATEGIES = {
    "packed": (),
    "distributed": ("distribute-cpus-across-numa",),
    "distributed, whole cores": ("distribute-cpus-across-numa", "full-pcpus-only"),
    "uncore": ("prefer-align-cpus-by-uncorecache",),
}


class Try(NamedTuple):
    """One allocation that is timed."""

    pod: PodDemand
    container: ContainerDemand
    hint: TopologyHint


def run(seconds: float = 0.3) -> list[Row]:
    """Time each strategy on each size of machine; `seconds` is how long each figure is measured."""
    rows = []
    for cpus, shape in SHAPES.items():
        for strategy, options in STRATEGIES.items():
            manager = _manager(shape, options)
            state = _half_full(manager)
            for what, tries in _tries(manager, state).items():
                spent = seconds_per_call(_allocating(manager, state, tries), seconds) / len(tries)
                rows.append(
                    {
                        "cpus": cpus,
                        "nodes": len(manager.topology.nodes),
                        "strategy": strategy,
                        "requests": what,
                        "us_per_assignment": spent * 1e6,
                        "assignments_per_second": 1 / spent,
                    }
                )
    return rows


def _manager(shape: str, options: tuple[str, ...]) -> CPUManager:
    return start(
        load_machine(shape).machine,
        policy="static",
        options=dict.fromkeys(options, "true"),
        gates=lambda _name: True,
        levels=LATEST.levels("cpu"),
        topology_policy="best-effort",
        reserved=0,
        reservation_nano=2 * 10**9,
        waive_reservation=False,
        partial_fit=exact_fit,
        distribute=distribute,
    )


def _half_full(manager: CPUManager) -> CPUState:
    """Fill half of the machine with pods of 2 to 8 CPUs on random nodes; every third goes away again."""
    chance = random.Random(1)
    state = initial_state(manager)
    number = 0
    while state.default.bit_count() * 2 > manager.topology.num_cpus:
        number += 1
        one = _try(f"pod-{number}", chance.choice((2, 4, 6, 8)), 1 << chance.choice(manager.topology.nodes).id)
        after = allocate(manager, state, one.pod, one.container, one.hint)
        if number % 3:
            state = after
    return state


def _tries(manager: CPUManager, state: CPUState) -> dict[str, list[Try]]:
    """Return small requests with a NUMA node each, and big ones without a mask."""
    nodes = manager.topology.nodes
    free = (state.default & ~manager.reserved).bit_count() // 2 * 2
    return {
        "2-8 CPUs on a node": [_try("new", n, 1 << nodes[n % len(nodes)].id) for n in (2, 4, 6, 8)],
        "half of what is free": [_try("new", free // 4 * 2, None)],
    }


def _try(uid: str, cpus: int, mask: int | None) -> Try:
    container = ContainerDemand("app", "app", cpus, (), ())
    return Try(PodDemand(uid, True, (container,), cpus, (), ()), container, TopologyHint(mask, preferred=True))


def _allocating(manager: CPUManager, state: CPUState, tries: list[Try]) -> Callable[[], object]:
    return lambda: [allocate(manager, state, one.pod, one.container, one.hint) for one in tries]
