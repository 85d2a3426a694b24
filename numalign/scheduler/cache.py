"""What the cache of NodeResourceTopologyMatch knows of one machine, in its three modes (docs/rules/scheduling.md 3.3).

A machine's entry is one value; `scheduler.cluster` keeps the entries of all machines and replaces the one that changes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Literal

from numalign.scheduler import fingerprint, preemption
from numalign.scheduler.nrt.value import NodeResourceTopology, manager_config, with_available
from numalign.scheduler.placement import ContainerId
from numalign.scheduler.request import PodRequest, exclusive_containers
from numalign.scheduler.resources import Amounts
from numalign.values import NamedTuple

Mode = Literal["passthrough", "discard_reserved", "over_reserve"]
ForeignPods = Literal["All", "OnlyExclusiveResources", "None"]
Method = Literal["Autodetect", "All", "OnlyExclusiveResources"]
Informer = Literal["Dedicated", "Shared"]
Scope = Literal["All", "OnlyResources"]


class CacheConfig(NamedTuple):
    """The settings of a cache."""

    mode: Mode = "passthrough"
    resync_s: float = 5
    foreign_pods: ForeignPods = "All"
    method: Method = "Autodetect"
    informer: Informer = "Dedicated"
    resync_scope: Scope = "All"


class BoundPod(NamedTuple):
    """A pod that the scheduler sees bound to a machine."""

    namespace: str
    name: str
    phase: str
    request: PodRequest


class CachedNode(NamedTuple):
    """A machine's entry."""

    nrt: NodeResourceTopology | None
    """The object as last accepted; None: the machine is not tracked (O-9)."""
    reserved: Mapping[str, Amounts] = {}
    """Pod key -> its effective request."""
    over_reserved: bool = False
    """A filter failed here, so the machine is maybe over-reserved (O-5)."""
    foreign: bool = False
    """A pod of another scheduler was seen (O-6)."""
    config_changed: bool = False
    """The policy attributes of the published object changed (O-8)."""
    placement: Mapping[ContainerId, int] = {}
    """Where the containers of the accepted object are (P-6)."""


class View(NamedTuple):
    """What a filter call reads."""

    nrt: NodeResourceTopology | None
    fresh: bool = True


def read(config: CacheConfig, entry: CachedNode, published: NodeResourceTopology | None) -> View:
    """Read the cache for one filter call.

    Args:
        config: the settings.
        entry: the machine's entry.
        published: the machine's object as it is published now.
    """
    if config.mode == "passthrough":
        return View(published)
    if config.mode == "discard_reserved":
        return View(published, fresh=not entry.reserved)
    if entry.nrt is None:
        return View(None)
    return View(over_reserved(entry.nrt, entry.reserved.values()), fresh=not entry.foreign)


def over_reserved(nrt: NodeResourceTopology, reserved: Iterable[Amounts]) -> NodeResourceTopology:
    """Take every reservation off every zone that lists the resource, never below 0 (O-3)."""
    total: dict[str, int] = {}
    for request in reserved:
        for name, amount in request.items():
            total[name] = total.get(name, 0) + amount
    if not total:
        return nrt
    zones = [
        {
            name: max((resource.available or 0) - total[name], 0)
            for name, resource in zone.resources.items()
            if name in total
        }
        for zone in nrt.zones
    ]
    return with_available(nrt, zones)


def reserve(config: CacheConfig, entry: CachedNode, pod: str, request: Amounts) -> CachedNode:
    """Remember a pod that got this machine (O-2). A mark stays (O-5). The mode `passthrough` accounts for nothing."""
    if config.mode == "passthrough":
        return entry
    return entry._replace(reserved={**entry.reserved, pod: request})


def unreserve(entry: CachedNode, pod: str) -> CachedNode:
    """Forget a pod: its binding failed (O-4); in the mode `discard_reserved` also: it is bound."""
    if pod not in entry.reserved:
        return entry
    return entry._replace(reserved={key: amounts for key, amounts in entry.reserved.items() if key != pod})


def bound(config: CacheConfig, entry: CachedNode, pod: str) -> CachedNode:
    """Learn that a reserved pod is bound."""
    return unreserve(entry, pod) if config.mode == "discard_reserved" else entry


def failed(entry: CachedNode) -> CachedNode:
    """Mark the machine after a failed filter call (O-5)."""
    return entry._replace(over_reserved=True)


def foreign_seen(config: CacheConfig, entry: CachedNode, pod: PodRequest) -> CachedNode:
    """Learn of a foreign pod that came, changed or went (O-6)."""
    listed = entry.nrt.listed if entry.nrt else frozenset()
    return entry._replace(foreign=True) if counts_as_foreign(config, pod, listed) else entry


def counts_as_foreign(config: CacheConfig, pod: PodRequest, listed: frozenset[str]) -> bool:
    """Tell whether a pod that somebody else placed makes the cache distrust its machine (O-6).

    Args:
        config: the settings of the cache.
        pod: the pod.
        listed: the resources that the machine's zones list.
    """
    if config.foreign_pods == "OnlyExclusiveResources":
        return bool(exclusive_containers(pod, listed))
    return config.foreign_pods == "All"


def updated(
    config: CacheConfig, entry: CachedNode, before: NodeResourceTopology | None, after: NodeResourceTopology
) -> CachedNode:
    """Learn that another object was published: nothing enters the cache, but a changed policy is noted (O-1, O-8)."""
    if config.resync_scope == "All" and before is not None and manager_config(before) != manager_config(after):
        return entry._replace(config_changed=True)
    return entry


def resync(
    config: CacheConfig, entry: CachedNode, published: NodeResourceTopology | None, pods: Collection[BoundPod]
) -> CachedNode:
    """Try to bring the entry up to date, as the cache does every `resync_s` seconds (O-7, O-8, O-10).

    Args:
        config: the settings.
        entry: the machine's entry.
        published: the machine's object as it is published now.
        pods: the pods that the scheduler sees bound to the machine.
    """
    if config.mode != "over_reserve" or entry.nrt is None or published is None:
        return entry
    if entry.config_changed:
        return accept(published, pods)
    if not (entry.over_reserved or entry.foreign):
        return entry
    counted = [pod for pod in pods if _counts(config, pod)]
    said = fingerprint.published(published)
    if not counted or not said.text:
        return entry
    only_exclusive = said.only_exclusive if config.method == "Autodetect" else config.method == "OnlyExclusiveResources"
    if only_exclusive:
        # One exclusive container makes a pod count, with preemption and without (P-5).
        counted = [pod for pod in counted if exclusive_containers(pod.request, published.listed)]
    if fingerprint.check(said.text, [(pod.namespace, pod.name) for pod in counted]) != "match":
        return entry
    return accept(published, pods)


def _counts(config: CacheConfig, pod: BoundPod) -> bool:
    """Tell whether a pod counts for the fingerprint (3.4)."""
    return pod.phase == "Running" if config.informer == "Shared" else pod.phase != "Pending"


def accept(nrt: NodeResourceTopology | None, pods: Iterable[BoundPod] = ()) -> CachedNode:
    """Start an entry from a published object: no reservation, no mark, its placement decoded (O-1, O-7, P-6)."""
    if nrt is None:
        return CachedNode(None)
    containers = [
        (pod.namespace, pod.name, container)
        for pod in pods
        for container in exclusive_containers(pod.request, nrt.listed)
    ]
    return CachedNode(nrt, placement=preemption.decode_placement(nrt, containers))
