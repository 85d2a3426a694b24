"""Schedule pods on a cluster one after another, and say node by node what each scheduler and the kubelet answer."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING

from numalign.kubelet import admission
from numalign.kubelet.admission import Outcome
from numalign.kubelet.fit import predicates
from numalign.model.pod import Pod
from numalign.results.schedule import KubeletVerdict, NodeAnswer, ScheduledPod, ScheduleResult
from numalign.scheduler import choice, filter_kep, filter_nrt, node_filters, node_fit, score
from numalign.scheduler.attempt import SchedulerConfig, nrt_key
from numalign.scheduler.causes import cause
from numalign.scheduler.disagreement import Case
from numalign.scheduler.kai import evaluate as kai
from numalign.scheduler.kai import records, topology
from numalign.scheduler.kai import score as kai_score
from numalign.scheduler.kai.records import PlacedPod
from numalign.scheduler.kai.topology import KaiTopology
from numalign.scheduler.node import ClusterNode, Fleet, lacking, look, needs_name, published, with_pod
from numalign.scheduler.nrt.value import NodeResourceTopology
from numalign.scheduler.request import PodRequest
from numalign.scheduler.request import read as read_request
from numalign.scheduler.verdict import Verdict
from numalign.tasks.pod_result import pod_result
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.results.claimed import PodClaims
    from numalign.tasks.claim_desk import ClaimDesk

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
    return Scheduled(ScheduleResult(desk.config, scheduled, (), by), desk.fleet())


class _Seen(NamedTuple):
    """A node as the schedulers see it."""

    node: ClusterNode
    nrt: NodeResourceTopology | None
    kai: KaiTopology | None
    look: Hashable
    """Equal for nodes of which everybody says the same, of pods that select both or none of them."""


class _Desk:
    """Where pods are scheduled: keeps the nodes, and what was worked out of those that did not change."""

    def __init__(self, fleet: Fleet, config: SchedulerConfig, claims: ClaimDesk | None) -> None:
        self.config = config
        self._claims = claims
        self._fleet = fleet
        exposed = {name for node in fleet.nodes for name in node.totals.allocatable}
        self._exposed = frozenset(exposed)
        rebuilds = config.kai.reconstruct
        self._recorded = any(node.placed for node in fleet.nodes) if rebuilds is None else rebuilds
        self._seen = {node.name: self._look(node) for node in fleet.nodes}
        self._attempts = 0
        self._start = 0

    def fleet(self) -> Fleet:
        """Return the cluster as it is now."""
        return self._fleet._replace(nodes=tuple([seen.node for seen in self._seen.values()]))

    def schedule(self, pod: Pod) -> ScheduledPod:
        """Schedule one pod and bind it."""
        request = read_request(pod)
        machines = {name: seen.kai for name, seen in self._seen.items()}
        scored = kai_score.is_scored(request, machines)
        asking = _Asking(
            self.config, pod, request, kai_score.most_zones(machines.values()) if scored else None, self._claims
        )
        answers = {name: asking.answer(seen) for name, seen in self._seen.items()}
        chosen = self._choose(answers)
        answers = self._with_causes(answers, chosen, pod, request)
        claims = self._bind(chosen, pod, request) if chosen is not None else None
        return ScheduledPod(pod.name, pod.namespace, chosen, tuple(answers.values()), claims)

    def _look(self, node: ClusterNode) -> _Seen:
        nrt = published(node)
        machine = topology.topology(nrt, exposed=self._exposed, ignored=self.config.kai.ignored)
        if machine is not None and self._recorded:
            machine = records.reconstruct(machine, node.placed)
        return _Seen(node, nrt, machine, (look(node), nrt_key(nrt), machine and machine.available_key))

    def _choose(self, answers: Mapping[str, NodeAnswer]) -> str | None:
        """Choose among the nodes that are looked at (2.5)."""
        names = list(answers)
        enough = len(names)
        if self.config.node_sampling == "kube":
            enough = choice.enough_feasible(len(names))
            names = names[self._start :] + names[: self._start]
        scores: dict[str, int] = {}
        looked = 0
        for name in names:
            if len(scores) >= enough:
                break
            looked += 1
            if answers[name].feasible:
                scores[name] = int(answers[name].points * _SCORE_STEPS)
        self._start = (self._start + looked) % max(len(names), 1)
        self._attempts += 1
        return choice.pick(choice.best(scores), self.config.tie_break, self.config.seed, self._attempts)

    def _with_causes(
        self, answers: dict[str, NodeAnswer], chosen: str | None, pod: Pod, request: PodRequest
    ) -> dict[str, NodeAnswer]:
        """Look for the causes of disagreements, the chosen node's first; equal nodes share them."""
        known: dict[Hashable, NodeAnswer] = {}
        ordered = [chosen, *answers] if chosen is not None else list(answers)
        result = dict(answers)
        for name in ordered:
            answer, seen = answers[name], self._seen[name]
            if not answer.disagrees or answer.kubelet is None or answer.by_claims:
                continue
            key = seen.look, answer.feasible, answer.kubelet.admitted
            if key not in known and len(known) < MAX_CAUSES:
                case = Case(
                    node=seen.node,
                    pod=pod,
                    request=request,
                    nrt=seen.nrt,
                    kai=seen.kai,
                    passes=answer.feasible,
                    admits=answer.kubelet.admitted,
                )
                known[key] = answer._replace(cause=cause(self.config.kind, case))
            if key in known:
                result[name] = answer._replace(cause=known[key].cause)
        return result

    def _bind(self, name: str, pod: Pod, request: PodRequest) -> PodClaims | None:
        """Send a pod to a node; if its kubelet refuses, it takes no room there. Give what it holds by claim."""
        node = self._seen[name].node
        outcome = admission.admit(node.session, pod) if node.session is not None else None
        claims = None
        if self._claims is not None and self._claims.concerns(pod):
            claims = self._claims.take(pod, name, outcome)
        if outcome is not None and not outcome.admit:
            return None
        after = outcome.then if outcome is not None else None
        bound = with_pod(node, request, after)
        if self._recorded:
            bound = bound._replace(placed=(*bound.placed, self._record(name, request, published(bound))))
        self._seen[name] = self._look(bound)
        return claims

    def _record(self, name: str, request: PodRequest, after: NodeResourceTopology | None) -> PlacedPod:
        """Record where a pod went: as KAI predicted it, and as its node's exporter observes it at once (K-8, K-11)."""
        seen = self._seen[name]
        predicted = None
        if self.config.kind == "kai" and seen.kai is not None:
            placement = kai.evaluate(request, seen.kai).placement
            predicted = records.record_of(tuple(placement.items()), [zone.name for zone in seen.kai.zones])
        return PlacedPod("Bound", records.taken(seen.nrt, after), predicted=predicted)


_SCORE_STEPS = 10**6
"""KAI's scores are fractions; so many steps of one keep their order."""


class _Asking:
    """Asks everybody about one pod; nodes that look equal are asked about once."""

    def __init__(
        self,
        config: SchedulerConfig,
        pod: Pod,
        request: PodRequest,
        most_zones: int | None,
        claims: ClaimDesk | None,
    ) -> None:
        self._config = config
        self._pod = pod
        self._request = request
        self._most_zones = most_zones
        self._claims = claims if claims is not None and claims.concerns(pod) else None
        self._by_name = needs_name(pod) or self._claims is not None
        self._known: dict[Hashable, NodeAnswer] = {}

    def answer(self, seen: _Seen) -> NodeAnswer:
        """Return all answers about a node."""
        node = seen.node
        key = node.name if self._by_name else (seen.look, predicates.matches_node(self._pod, node.labels, node.name))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._ask(seen)
        return known._replace(node=seen.node.name)

    def _ask(self, seen: _Seen) -> NodeAnswer:
        node, request, config = seen.node, self._request, self._config
        fit = node_filters.check(node, self._pod, request)
        claims = self._claims.refusal(self._pod, node.name) if fit.passed and self._claims is not None else ""
        fit = Verdict(False, claims) if claims else fit
        kep = filter_kep.check(seen.nrt, request, seed_memory=config.seed_memory)
        plugin = filter_nrt.check(seen.nrt, node.totals.allocatable, request)
        aligned = kai.check(request, seen.kai)
        feasible = (
            fit.passed
            and {"unaware": True, "kep": kep.passed, "nrt": plugin.passed, "kai": aligned.passed}[config.kind]
        )
        scores: dict[str, float] = {
            "node": node_fit.score(node.totals, request, config.node_score or "LeastAllocated"),
            "nrt": score.score(seen.nrt, request, config.strategy, config.weights),
            "kai": float(kai_score.points(request, seen.kai, self._most_zones))
            if self._most_zones is not None
            else 0.0,
        }
        counted = {"nrt": ("node", "nrt"), "kai": ("kai",)}.get(config.kind, ("node",))
        verdict = None
        if node.session is not None:
            outcome = admission.admit(node.session, self._pod)
            verdict = kubelet_verdict(outcome, lacking(node, (self._pod,)) if outcome.admit else ())
        return NodeAnswer(
            node=node.name,
            fit=fit,
            kep=kep,
            nrt=plugin,
            kai=aligned,
            kubelet=verdict,
            scores=scores,
            feasible=feasible,
            points=sum(scores[name] for name in counted),
            by_claims=bool(claims),
        )


def kubelet_verdict(outcome: Outcome, lacks: tuple[str, ...]) -> KubeletVerdict:
    """Say what the kubelet answered; `lacks` are devices that an admitted pod runs without."""
    aligned = pod_result(outcome).aligned if outcome.admit else None
    return KubeletVerdict(
        admitted=outcome.admit,
        stage=outcome.stage,
        reason=outcome.reason,
        message=outcome.message,
        aligned=aligned,
        missing=lacks,
    )
