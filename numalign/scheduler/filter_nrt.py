"""The filter of the NodeResourceTopologyMatch plugin as it is today (docs/rules/scheduling.md 1.2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from numalign.scheduler.filter_kep import best_zone
from numalign.scheduler.nrt.value import (
    NodeResourceTopology,
    NUMAZone,
    TopologyManagerConfig,
    manager_config,
    numa_zones,
)
from numalign.scheduler.request import ContainerRequest, Items, PodRequest, effective, has_devices
from numalign.scheduler.resources import ALWAYS_LISTED, Amounts, is_affine, is_host_level
from numalign.scheduler.verdict import PASS, Verdict

NOT_FRESH: Final = Verdict(False, "invalid node topology data")
"""The cache has no answer that it trusts (T-3)."""
CANNOT_ALIGN_POD: Final = "cannot align pod"
CANNOT_ALIGN: Final = {
    "init": "cannot align init container",
    "sidecar": "cannot align sidecar container",
    "app": "cannot align container",
}
"""Kind of container -> text of the refusal (T-10, T-11)."""
INCONSISTENT: Final = "inconsistent resource accounting"

ALL_ZONES: Final = (1 << 64) - 1
"""Bit n: zone n may still serve."""


def check_nrt(nrt: NodeResourceTopology | None, total: Amounts, pod: PodRequest) -> Verdict:
    """Decide whether the plugin lets a pod onto a machine.

    Args:
        nrt: the object as the cache gives it; None: the machine has none, so it passes (T-4).
        total: the machine's node-level allocatable; only its names count.
        pod: what the pod asks.
    """
    if nrt is None or passes_unseen(pod):
        return PASS
    return check_zones(manager_config(nrt), numa_zones(nrt), total, pod)


def check_zones(config: TopologyManagerConfig, zones: Sequence[NUMAZone], total: Amounts, pod: PodRequest) -> Verdict:
    """Decide the same for an object that is read already, and a pod that does not pass unseen."""
    if config.policy != "single-numa-node":  # T-5
        return PASS
    if config.scope == "pod":
        return _pod(zones, total, pod)
    return _containers(zones, total, pod)


def passes_unseen(pod: PodRequest) -> bool:
    """Tell whether a pod passes everywhere without a look at any NRT (T-1, T-2)."""
    return pod.qos == "BestEffort" and not has_devices(pod)


def _pod(zones: Sequence[NUMAZone], total: Amounts, pod: PodRequest) -> Verdict:
    """Test the pod as a whole (T-7)."""
    found = pick_zone(zones, total, tuple(sorted(effective(pod).items())), guaranteed=pod.guaranteed)
    if isinstance(found, int):
        return PASS
    return _refusal(CANNOT_ALIGN_POD, "", zones, found)


def _containers(zones: Sequence[NUMAZone], total: Amounts, pod: PodRequest) -> Verdict:
    """Test the containers one by one (T-10 to T-12)."""
    for container in pod.containers:
        found = pick_zone(zones, total, container.items, guaranteed=pod.guaranteed)
        if not isinstance(found, int):
            return _refusal(CANNOT_ALIGN[container.kind], container.name, zones, found)
        if container.kind != "app":
            continue
        left = subtract(zones, found, container, guaranteed=pod.guaranteed)
        if left is None:
            return Verdict(False, INCONSISTENT, container.name)
        zones = left
    return PASS


def _refusal(message: str, container: str, zones: Sequence[NUMAZone], missed: tuple[str, int]) -> Verdict:
    resource, amount = missed
    return Verdict(False, message, container, resource, amount, *best_zone(zones, resource))


def pick_zone(zones: Sequence[NUMAZone], total: Amounts, items: Items, *, guaranteed: bool) -> int | tuple[str, int]:
    """Find the lowest zone that holds one set of requests (T-14 to T-16).

    Returns:
        The zone's id; 0 also where nothing is asked. Or (resource, amount) at which no zone was left.
    """
    left = ALL_ZONES
    for name, amount in items:
        if not amount:
            continue
        if name not in total and name not in ALWAYS_LISTED:  # (a)
            return name, amount
        suits, listed = suitable(zones, name, amount, guaranteed=guaranteed)
        if not listed and is_host_level(name):  # (c)
            continue
        left &= suits
        if not left:  # (d)
            return name, amount
    return (left & -left).bit_length() - 1


def suitable(zones: Iterable[NUMAZone], name: str, amount: int, *, guaranteed: bool) -> tuple[int, bool]:
    """Find the zones that list a resource and suit the amount (T-15), and whether any lists it at all."""
    ignored = not guaranteed and is_affine(name)
    suits, listed = 0, False
    for zone in zones:
        free = zone.available.get(name)
        if free is not None:
            listed = True
            if ignored or free >= amount:
                suits |= 1 << zone.id
    return suits, listed


def subtract(
    zones: Sequence[NUMAZone], chosen: int, container: ContainerRequest, *, guaranteed: bool
) -> tuple[NUMAZone, ...] | None:
    """Take a container out of its zone (T-12); an id that no zone has changes nothing. None: below zero (T-13)."""
    result = []
    for zone in zones:
        if zone.id == chosen:
            available = dict(zone.available)
            for name, amount in container.items:
                if not amount or name not in available or (is_affine(name) and not guaranteed):
                    continue
                available[name] -= amount
                if available[name] < 0:
                    return None
            zone = zone._replace(available=available)
        result.append(zone)
    return tuple(result)
