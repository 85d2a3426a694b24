"""Schedule pods on a cluster one after another, and say node by node what each scheduler and the kubelet answer."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING

from numalign.kubelet import admission
from numalign.model.pod import Pod
from numalign.results.cluster import NodeAnswer, ScheduledPod, ScheduleResult
from numalign.scheduler import neighbours
from numalign.scheduler.attempt import Attempt, Judgement, attempt
from numalign.scheduler.causes import cause
from numalign.scheduler.config import CacheConfig, SchedulerConfig
from numalign.scheduler.disagreement import Case
from numalign.scheduler.kai import records
from numalign.scheduler.kai.records import PlacedPod
from numalign.scheduler.neighbours import Checks
from numalign.scheduler.node import ClusterNode, Fleet, look, published, with_pod
from numalign.scheduler.nrt.copy import copy_of
from numalign.scheduler.nrt.export import export
from numalign.scheduler.nrt.value import NodeResourceTopology
from numalign.scheduler.record import Belief, KnownNode, PodEntry, Preemption, entry_of
from numalign.scheduler.request import node_load, read_request
from numalign.scheduler.schedulers import SCHEDULERS, surroundings
from numalign.tasks.schedule_nodes import Asking, SeenNode
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.results.dra import PodClaims
    from numalign.worlds.claim_desk import ClaimDesk

MAX_CAUSES = 100
"""For so many disagreements of a pod the cause is looked for, the chosen node's first."""


class Scheduled(NamedTuple):
    """What came of it."""

    result: ScheduleResult
    fleet: Fleet
    """The cluster with the pods bound to it that run."""


def schedule(
    fleet: Fleet, pods: Iterable[Pod], config: SchedulerConfig | None = None, claims: ClaimDesk | None = None
) -> Scheduled:
    """Schedule pods one after another; each is bound, and the published objects follow, before the next one comes.

    Args:
        fleet: the cluster.
        pods: in the order in which they come.
        config: the scheduler; None: the cluster's own.
        claims: what is published; None: claims are not looked at.
    """
    desk = _Desk(fleet, config or fleet.scheduler, claims)
    scheduled = tuple([desk.schedule(pod) for pod in pods])
    by = None if claims is None else claims.scheduler(node.name for node in fleet.nodes)
    return Scheduled(
        ScheduleResult(desk.config, SCHEDULERS[desk.config.kind].title(desk.config), scheduled, (), by), desk.fleet()
    )


class _Desk:
    """Where pods are scheduled: keeps the nodes, and what was worked out of those that did not change."""

    def __init__(self, fleet: Fleet, config: SchedulerConfig, claims: ClaimDesk | None) -> None:
        self.config = config
        self._scheduler = SCHEDULERS[config.kind]
        self._reading = config._replace(cache=CacheConfig())  # objects follow at once, so every cache trusts them
        self._claims = claims
        self._fleet = fleet
        self._around = surroundings(config.kai, [(node.totals, published(node), node.placed) for node in fleet.nodes])
        self._seen = {node.name: self._look(node) for node in fleet.nodes}
        self._avoiding = [
            (pod, node) for node in fleet.nodes for pod in node.pods if neighbours.required(pod, "podAntiAffinity")
        ]
        """The pods there that keep others away, and their nodes."""
        self._attempts = 0
        self._start = 0

    def fleet(self) -> Fleet:
        """Return the cluster as it is now."""
        return self._fleet._replace(nodes=tuple([seen.node for seen in self._seen.values()]))

    def schedule(self, pod: Pod) -> ScheduledPod:
        """Schedule one pod and bind it."""
        gates = neighbours.gates(pod)
        if gates:
            return ScheduledPod(pod.name, pod.namespace, None, (), gates=gates)
        entry = entry_of(pod)
        checks = neighbours.checks(pod, [(one.node, one.node.pods) for one in self._seen.values()], self._avoiding)
        asking = Asking(self._reading, entry, self._claims, checks)
        answers = {name: asking.answer(seen) for name, seen in self._seen.items()}
        tried = self._try(answers)
        ended = next((name for name in tried.judgements if answers[name].ends_cycle), None)
        chosen = tried.chosen if ended is None else None
        answers = self._with_causes(answers, chosen, entry)
        result = ScheduledPod(
            name=pod.name,
            namespace=pod.namespace,
            node=chosen,
            answers=tuple(answers.values()),
            ended_by=ended,
            not_judged=tuple(neighbours.not_judged(pod)),
        )
        if chosen is not None:
            return result._replace(claims=self._bind(chosen, entry))
        return result if ended is not None else result._replace(preemption=self._evicts(entry, checks))

    def _look(self, node: ClusterNode) -> SeenNode:
        nrt = published(node)
        copy, config = copy_of(nrt), self._reading
        beliefs = {name: one.opened(config, self._around, copy, node.placed) for name, one in SCHEDULERS.items()}
        seen = {name: one.see(config, beliefs[name]) for name, one in SCHEDULERS.items()}
        return SeenNode(node, nrt, beliefs, seen, (look(node), *[one.key for one in seen.values()]))

    def _try(self, answers: Mapping[str, NodeAnswer]) -> Attempt[str]:
        """Choose among the nodes that are looked at (2.5)."""
        self._attempts += 1
        tried = attempt(
            self.config,
            list(answers),
            lambda name: Judgement(answers[name].verdict, answers[name].points),
            start=self._start,
            number=self._attempts,
        )
        self._start = tried.next_start
        return tried

    def _evicts(self, entry: PodEntry, checks: Checks) -> Preemption | None:
        """Ask whom the scheduler would evict for a pod that no node takes; never for its claims or neighbours."""
        nodes = []
        claims = self._claims if self._claims is not None and self._claims.concerns(entry.pod) else None
        for seen in self._seen.values():
            if not checks.verdict(seen.node).passed or (
                claims is not None and claims.refusal(entry.pod, seen.node.name)
            ):
                continue
            belief = seen.beliefs[self.config.kind]
            pods = {one.full_name: _placed(seen.node, one, belief) for one in seen.node.pods}
            nodes.append(KnownNode(seen.node, belief, pods))
        return self._scheduler.preempt(self._scheduler, self._reading, nodes, entry)

    def _with_causes(self, answers: dict[str, NodeAnswer], chosen: str | None, pod: PodEntry) -> dict[str, NodeAnswer]:
        """Look for the causes of disagreements, the chosen node's first; equal nodes share them."""
        known: dict[Hashable, NodeAnswer] = {}
        ordered = [chosen, *answers] if chosen is not None else list(answers)
        result = dict(answers)
        for name in ordered:
            answer, seen = answers[name], self._seen[name]
            session = seen.node.session
            if not answer.disagrees or answer.kubelet is None or session is None or answer.by_claims or answer.by_pods:
                continue
            key = seen.look, answer.feasible, answer.kubelet.admitted
            if key not in known and len(known) < MAX_CAUSES:
                ledger = seen.beliefs[self.config.kind].ledger
                case = Case(
                    node=seen.node,
                    session=session,
                    pod=pod.pod,
                    request=pod.request,
                    nrt=seen.nrt,
                    kai=ledger and ledger.machine,
                    passes=answer.feasible,
                    admits=answer.kubelet.admitted,
                )
                known[key] = answer._replace(cause=cause(self._scheduler, case))
            if key in known:
                result[name] = answer._replace(cause=known[key].cause)
        return result

    def _bind(self, name: str, pod: PodEntry) -> PodClaims | None:
        """Send a pod to a node; if its kubelet refuses, it takes no room there. Give what it holds by claim."""
        node = self._seen[name].node
        claims = None
        if self._claims is not None and self._claims.concerns(pod.pod):
            own = self._claims.on(pod.pod, node.totals.allocatable)
            request = read_request(own)
            pod = pod._replace(pod=own, request=request, load=node_load(request))
            outcome = admission.admit(node.session, own) if node.session is not None else None
            claims = self._claims.take(own, name, outcome)
        else:
            outcome = admission.admit(node.session, pod.pod) if node.session is not None else None
        if outcome is not None and not outcome.admit:
            return None
        after = outcome.then if outcome is not None else None
        bound = with_pod(node, pod.load, after)
        if after is None:
            bound = bound._replace(unplaced=(*node.unplaced, pod.pod))
        if neighbours.required(pod.pod, "podAntiAffinity"):
            self._avoiding.append((pod.pod, bound))
        if self._around.rebuilds:
            bound = bound._replace(placed=(*bound.placed, self._record(name, pod, published(bound))))
        self._seen[name] = self._look(bound)
        return claims

    def _record(self, name: str, pod: PodEntry, after: NodeResourceTopology | None) -> PlacedPod:
        """Record where a pod went: as KAI predicted it, and as its node's exporter observes it at once (K-8, K-11)."""
        seen = self._seen[name]
        ledger = self._scheduler.bound(self._reading, seen.beliefs[self.config.kind], pod).ledger
        predicted = records.record_of(ledger.machine, ledger.placements.get(pod.key, {})) if ledger else None
        return PlacedPod("Bound", records.taken(seen.nrt, after), predicted=predicted)


def _placed(node: ClusterNode, pod: Pod, belief: Belief) -> PodEntry:
    """Read a pod that runs; for KAI with the record of what its node's exporter would observe of it (K-8)."""
    entry = entry_of(pod)
    if belief.ledger is None or node.session is None:
        return entry
    before, now = (export(one, node.name) for one in (admission.end(node.session, pod.uid), node.session))
    return entry._replace(placed=PlacedPod("Running", records.taken(before, now)))
