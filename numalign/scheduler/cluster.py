"""A cluster as one scheduler sees it, and what changes it: pods that come, run and go, objects, resyncs.

Every event is a function from a cluster to the next one. Time is not here: whoever drives says what happens next.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from numalign.scheduler import cache, eviction, preemption
from numalign.scheduler.attempt import Attempt, Candidate, SchedulerConfig, attempt, check, look_of
from numalign.scheduler.cache import BoundPod, CachedNode, View
from numalign.scheduler.node_fit import NodeTotals
from numalign.scheduler.nrt.value import NodeResourceTopology
from numalign.scheduler.preemption import Victim, VictimList
from numalign.scheduler.request import PodRequest, effective
from numalign.scheduler.resources import Amounts
from numalign.values import NamedTuple


class WaitingPod(NamedTuple):
    """A pod that has no machine yet."""

    namespace: str
    name: str
    request: PodRequest
    priority: int = 0

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return f"{self.namespace}/{self.name}"


class NodeEntry(NamedTuple):
    """A machine: what is true of it, what is published, and what the plugin's cache believes."""

    name: str
    totals: NodeTotals
    published: NodeResourceTopology | None
    cached: CachedNode
    pods: Mapping[str, BoundPod] = {}
    priorities: Mapping[str, int] = {}

    def view(self, config: SchedulerConfig) -> View:
        """Return what a filter call reads."""
        if config.kind == "nrt":
            return cache.read(config.cache, self.cached, self.published)
        return View(self.published if config.kind == "kep" else None)


class Cluster(NamedTuple):
    """All machines of a cluster, and the scheduler's own memory."""

    config: SchedulerConfig
    nodes: Mapping[str, NodeEntry]
    start: int = 0
    """Where the next attempt begins to look."""
    attempts: int = 0

    def with_node(self, entry: NodeEntry) -> Cluster:
        """Replace one machine."""
        return self._replace(nodes={**self.nodes, entry.name: entry})


def open_cluster(config: SchedulerConfig, nodes: Iterable[tuple[str, Amounts, NodeResourceTopology | None]]) -> Cluster:
    """Start a scheduler on empty machines, each (name, node-level allocatable, published object) (O-1)."""
    entries = {name: NodeEntry(name, NodeTotals(total, {}, 0), nrt, cache.accept(nrt)) for name, total, nrt in nodes}
    return Cluster(config, entries)


def schedule(cluster: Cluster, pod: WaitingPod) -> tuple[Cluster, Attempt]:
    """Try to schedule a pod; if a machine is chosen, the pod is reserved there and bound at once."""
    config = cluster.config
    candidates = [_candidate(config, entry) for entry in cluster.nodes.values()]
    tried = attempt(config, candidates, pod.request, start=cluster.start, number=cluster.attempts)
    cluster = cluster._replace(start=tried.next_start, attempts=cluster.attempts + 1)
    if config.kind == "nrt":
        cluster = _mark_failures(cluster, tried, pod)
    if tried.chosen is not None:
        cluster = bind(cluster, pod, tried.chosen)
    return cluster, tried


def _candidate(config: SchedulerConfig, entry: NodeEntry) -> Candidate:
    view = entry.view(config)
    return Candidate(entry.name, entry.totals, view, look_of(entry.totals, view))


def _mark_failures(cluster: Cluster, tried: Attempt, pod: WaitingPod) -> Cluster:
    """Mark the machines on which the topology test itself failed (T-8, O-5)."""
    nodes = dict(cluster.nodes)
    unfit = cluster.config._replace(kind="unaware")
    for name, verdict in tried.verdicts.items():
        entry = nodes[name]
        if verdict.passed or entry.cached.over_reserved or not entry.view(cluster.config).fresh:
            continue
        if check(unfit, entry.totals, View(None), pod.request).passed:
            nodes[name] = entry._replace(cached=cache.failed(entry.cached))
    return cluster._replace(nodes=nodes)


def bind(cluster: Cluster, pod: WaitingPod, node: str) -> Cluster:
    """Reserve and bind a pod (O-2)."""
    entry = cluster.nodes[node]
    reserved = cache.reserve(cluster.config.cache, entry.cached, pod.key, effective(pod.request))
    entry = entry._replace(
        totals=entry.totals.with_pod(pod.request),
        cached=cache.bound(cluster.config.cache, reserved, pod.key),
        pods={**entry.pods, pod.key: BoundPod(pod.namespace, pod.name, "Pending", pod.request)},
        priorities={**entry.priorities, pod.key: pod.priority},
    )
    return cluster.with_node(entry)


def delete(cluster: Cluster, key: str) -> Cluster:
    """Delete a bound pod. What the cache reserved for it stays reserved (O-4)."""
    for entry in cluster.nodes.values():
        pod = entry.pods.get(key)
        if pod is not None:
            rest = {other: bound for other, bound in entry.pods.items() if other != key}
            return cluster.with_node(entry._replace(totals=entry.totals.with_pod(pod.request, -1), pods=rest))
    return cluster


def set_phase(cluster: Cluster, key: str, phase: str) -> Cluster:
    """Learn the phase of a bound pod."""
    for entry in cluster.nodes.values():
        if key in entry.pods:
            pods = {**entry.pods, key: entry.pods[key]._replace(phase=phase)}
            return cluster.with_node(entry._replace(pods=pods))
    return cluster


def publish(cluster: Cluster, nrt: NodeResourceTopology) -> Cluster:
    """Learn of an object that was published."""
    entry = cluster.nodes[nrt.name]
    cached = cache.updated(cluster.config.cache, entry.cached, entry.published, nrt)
    return cluster.with_node(entry._replace(published=nrt, cached=cached))


def resync(cluster: Cluster) -> Cluster:
    """Let one resync period of the cache end (O-7)."""
    nodes = {
        name: entry._replace(
            cached=cache.resync(cluster.config.cache, entry.cached, entry.published, tuple(entry.pods.values()))
        )
        for name, entry in cluster.nodes.items()
    }
    return cluster._replace(nodes=nodes)


def preempt(cluster: Cluster, pod: WaitingPod) -> tuple[str, ...]:
    """Choose whom to evict for a pod that fits nowhere; the keys of the victims, empty: nobody helps."""
    if not cluster.config.preempts:
        return ()
    choices = []
    for entry in cluster.nodes.values():
        found = _victims(cluster.config, entry, pod)
        if found is not None:
            choices.append((entry.name, found))
    chosen = eviction.cheapest(choices)
    return tuple(victim.key for victim in chosen[1]) if chosen else ()


def _victims(config: SchedulerConfig, entry: NodeEntry, pod: WaitingPod) -> tuple[eviction.Evictable, ...] | None:
    pods = [eviction.Evictable(key, entry.priorities.get(key, 0)) for key in entry.pods]
    return eviction.victims(pods, pod.priority, lambda gone: _fits_without(config, entry, pod, gone))


def _fits_without(config: SchedulerConfig, entry: NodeEntry, pod: WaitingPod, gone: Sequence[str]) -> bool:
    """Tell whether a pod would fit on a machine without some of its pods (P-2 to P-4)."""
    totals = entry.totals
    listed = VictimList(config.preemption_mode, config.prefilter)
    if config.kind == "nrt" and not listed.works:
        return False
    for key in gone:
        totals = totals.with_pod(entry.pods[key].request, -1)
        listed = listed.removed(key)
    view = entry.view(config)
    if config.kind != "nrt":
        return check(config, totals, view, pod.request).passed
    if not check(config._replace(kind="unaware"), totals, view, pod.request).passed or not view.fresh:
        return False
    bound = [entry.pods[key] for key in gone if key in listed.keys]
    answer = preemption.check(
        view.nrt,
        totals.allocatable,
        pod.request,
        mode=config.preemption_mode,
        victims=[Victim(one.namespace, one.name, one.request) for one in bound],
        known=entry.cached.placement if config.cache.mode == "over_reserve" else None,
    )
    return answer.verdict.passed
