"""What the cache of NodeResourceTopologyMatch believes of a node, in its three modes (docs/rules/scheduling.md 3.3)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator
from functools import lru_cache
from typing import TypeVar

from numalign.scheduler import preemption
from numalign.scheduler.config import CacheConfig
from numalign.scheduler.nrt.copy import Copy
from numalign.scheduler.placement import ContainerId
from numalign.scheduler.record import Belief, Describes, PodEntry
from numalign.scheduler.request import Items, PodRequest, add, effective, exclusive_containers
from numalign.scheduler.resources import Amounts

Key = TypeVar("Key", bound=Hashable)
"""What pods are known by."""


def read_cache(config: CacheConfig, belief: Belief) -> tuple[Copy | None, bool]:
    """Read the cache for one filter call: the object, and whether the cache trusts it."""
    if config.mode == "passthrough":
        return belief.published, True
    if config.mode == "discard_reserved":
        return belief.published, not belief.on_the_way
    if belief.accepted is None:
        return None, True
    return over_reserved(belief.accepted, belief.reserved), not belief.foreign


def over_reserved(copy: Copy, reserved: Amounts) -> Copy:
    """Take every reservation off every zone that lists the resource, never below 0 (O-3)."""
    if not reserved:
        return copy
    taken = reserved.get
    free = [
        tuple([max(amount - taken(name, 0), 0) for name, amount in zip(names, row, strict=True)])
        for names, row in zip(copy.layout.names, copy.free, strict=True)
    ]
    return Copy(copy.layout, tuple(free))


def reserve(config: CacheConfig, belief: Belief, request: PodRequest) -> Belief:
    """Remember a pod that got this node (O-2). A mark stays (O-5). The mode `passthrough` accounts for nothing."""
    if config.mode == "passthrough":
        return belief
    if config.mode == "discard_reserved":
        return belief._replace(on_the_way=belief.on_the_way + 1)
    return belief._replace(reserved=add(dict(belief.reserved), _effective(request)))


@lru_cache(1024)
def _effective(request: PodRequest) -> Items:
    """Of a hundred thousand pods many ask the same."""
    return tuple(effective(request).items())


def settled(config: CacheConfig, belief: Belief) -> Belief:
    """Learn that a reserved pod is bound, and that its kubelet has answered."""
    return belief._replace(on_the_way=belief.on_the_way - 1) if config.mode == "discard_reserved" else belief


def foreign(config: CacheConfig, belief: Belief, request: PodRequest) -> Belief:
    """Learn of a pod that somebody else placed and that came, changed or went (O-6)."""
    if config.mode != "over_reserve" or belief.accepted is None:
        return belief
    counts = config.foreign_pods == "All"
    if config.foreign_pods == "OnlyExclusiveResources":
        counts = bool(exclusive_containers(request, belief.accepted.layout.listed))
    return belief._replace(foreign=True) if counts else belief


def published(config: CacheConfig, belief: Belief, copy: Copy) -> Belief:
    """Learn that another object was published: nothing enters the cache, but a changed policy is noted (O-1, O-8)."""
    before = belief.published
    changed = belief.config_changed or (
        config.mode == "over_reserve"
        and config.resync_scope == "All"
        and before is not None
        and before.layout.manager != copy.layout.manager
    )
    return belief._replace(published=copy, config_changed=changed)


def resync(
    config: CacheConfig, belief: Belief, describes: Describes, pods: Callable[[], Collection[PodEntry]]
) -> Belief:
    """Try to bring the belief up to date, as the cache does every `resync_s` seconds (O-7, O-8, O-10).

    Args:
        config: the settings.
        belief: of the node.
        describes: whether the published object's fingerprint is that of the pods that count (`describes_pods`).
        pods: gives the pods that the scheduler sees bound to the node.
    """
    if config.mode != "over_reserve" or belief.accepted is None:
        return belief
    copy = belief.published or belief.accepted
    if belief.config_changed:
        return accept(copy, pods)
    if not (belief.over_reserved or belief.foreign):
        return belief
    only_exclusive = config.method == "OnlyExclusiveResources"
    if config.method == "Autodetect":
        only_exclusive = copy.layout.only_exclusive
    return accept(copy, pods) if describes(only_exclusive) else belief


def describes_pods(
    config: CacheConfig,
    answered: frozenset[Key],
    running: Callable[[Key], bool],
    exclusive: Callable[[Key], bool],
    says: Callable[[frozenset[Key]], bool],
    only_exclusive: bool,
) -> bool:
    """Tell whether an object's fingerprint is that of the pods which count (3.4).

    Args:
        config: the settings.
        answered: the pods that the scheduler sees bound to the node and no longer pending.
        running: tells which of them run.
        exclusive: tells which of them have a container with something of its own; one makes a pod count, with
            preemption and without (P-5).
        says: tells whether the fingerprint is that of just these pods.
        only_exclusive: only those count.
    """
    counted = frozenset(filter(running, answered)) if config.informer == "Shared" else answered
    return bool(counted) and says(frozenset(filter(exclusive, counted)) if only_exclusive else counted)


def accept(copy: Copy | None, pods: Callable[[], Collection[PodEntry]] = tuple) -> Belief:
    """Start from a published object: no reservation, no mark, its placement decoded (O-1, O-7, P-6)."""
    if copy is None:
        return Belief()
    return Belief(copy, copy, placement=preemption.decode_placement(copy.layout.nrt, _exclusive(copy, pods)))


def _exclusive(copy: Copy, pods: Callable[[], Collection[PodEntry]]) -> Iterator[ContainerId]:
    """Name the containers with something of their own; nobody asks where the object has no placement."""
    for pod in pods():
        for container in exclusive_containers(pod.request, copy.layout.listed):
            yield pod.pod.namespace, pod.pod.name, container
