"""The filter of the topology-aware scheduling proposal (docs/rules/scheduling.md 1.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from numalign.model.resources import CPU, is_memory
from numalign.scheduler.nrt.value import (
    NodeResourceTopology,
    NUMAZone,
    TopologyManagerConfig,
    manager_config,
    numa_zones,
)
from numalign.scheduler.request import ContainerRequest, PodRequest
from numalign.scheduler.verdict import PASS, Verdict

SeedMemory = Literal["literal", "lenient"]
"""`literal`: the tests run in the order of the proposal's code, so a zone that does not list memory cannot take it.
`lenient`: as its comment wants it, memory and huge pages suit every zone."""


def check_kep(nrt: NodeResourceTopology | None, pod: PodRequest, *, seed_memory: SeedMemory = "literal") -> Verdict:
    """Decide whether the proposal's filter lets a pod onto a machine.

    Each container is tested alone against all zones (S-3) and nothing is subtracted (S-12), so containers that do not
    fit together may still pass.

    Args:
        nrt: the machine's object; None: it has none, so it passes.
        pod: what the pod asks.
        seed_memory: how the proposal is read where zones do not list memory.
    """
    if nrt is None:  # S-2
        return PASS
    return check_zones(manager_config(nrt), numa_zones(nrt, "kep"), pod, seed_memory=seed_memory)


def check_zones(
    config: TopologyManagerConfig, zones: Sequence[NUMAZone], pod: PodRequest, *, seed_memory: SeedMemory = "literal"
) -> Verdict:
    """Decide the same for an object that is read already."""
    if pod.qos == "BestEffort" or config.policy != "single-numa-node":  # S-2, S-1
        return PASS
    for container in pod.containers:
        failed = _container(zones, container, guaranteed=pod.guaranteed, lenient=seed_memory == "lenient")
        if failed:
            return failed
    return PASS  # S-11


def _container(
    zones: Sequence[NUMAZone], container: ContainerRequest, *, guaranteed: bool, lenient: bool
) -> Verdict | None:
    """Test one container (S-3 to S-10): the sets of zones that suit its resources intersect (S-4). None: it passes."""
    left = {zone.id for zone in zones}
    for name, amount in container.items:
        ignored = is_memory(name)
        if not amount or (lenient and ignored):  # S-8
            continue
        free = ignored or (name == CPU and not guaranteed)  # S-6, S-7
        left &= {
            zone.id
            for zone in zones
            if name in zone.available and (free or zone.available[name] >= amount)  # S-5, S-9
        }
        if not left:
            best, zone_id = best_zone(zones, name)
            message = f"Can't align container: {container.name}"
            return Verdict(
                passed=False,
                message=message,
                container=container.name,
                resource=name,
                requested=amount,
                best=best,
                best_zone=zone_id,
            )
    return None


def best_zone(zones: Sequence[NUMAZone], resource: str) -> tuple[int | None, int | None]:
    """Find the largest free amount of a resource and the lowest zone that has it; (None, None): no zone lists it."""
    frees = [(amount, -zone.id) for zone in zones if (amount := zone.available.get(resource)) is not None]
    best = max(frees, default=None)
    return (None, None) if best is None else (best[0], -best[1])
