"""What each scheduler and each kubelet answers of a node."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING

from numalign.kubelet import admission
from numalign.kubelet.admission import Outcome
from numalign.kubelet.fit import predicates
from numalign.model.pod import Pod
from numalign.results.cluster import KubeletVerdict, NodeAnswer
from numalign.scheduler import neighbours, node_filters, node_fit
from numalign.scheduler.config import Kind, SchedulerConfig
from numalign.scheduler.neighbours import Check, Checks
from numalign.scheduler.node import ClusterNode, lacking, needs_name
from numalign.scheduler.nrt.value import NodeResourceTopology
from numalign.scheduler.record import Belief, PodEntry, Seen
from numalign.scheduler.request import node_load, read_request
from numalign.scheduler.schedulers import SCHEDULERS
from numalign.scheduler.verdict import PASS, Verdict
from numalign.values import NamedTuple
from numalign.worlds.pod_result import pod_result

if TYPE_CHECKING:
    from numalign.worlds.claim_desk import ClaimDesk


class SeenNode(NamedTuple):
    """A node as the schedulers see it."""

    node: ClusterNode
    nrt: NodeResourceTopology | None
    beliefs: Mapping[Kind, Belief]
    seen: Mapping[Kind, Seen]
    look: Hashable
    """Equal for nodes of which everybody says the same, of pods that select both or none of them."""


class Asking:
    """Asks everybody about one pod; nodes that look equal are asked about once."""

    def __init__(self, config: SchedulerConfig, pod: PodEntry, claims: ClaimDesk | None, checks: Checks) -> None:
        self._config = config
        self._pod = pod.pod
        self._request, self._load = pod.request, pod.load
        self._claims = claims if claims is not None and claims.concerns(pod.pod) else None
        self._checks = checks
        self._by_name = needs_name(pod.pod) or self._claims is not None or bool(checks)
        self._known: dict[Hashable, NodeAnswer] = {}

    def answer(self, seen: SeenNode) -> NodeAnswer:
        """Return all answers about a node."""
        node = seen.node
        key = node.name if self._by_name else (seen.look, predicates.matches_node(self._pod, node.labels, node.name))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._ask(seen)
        return known._replace(node=seen.node.name)

    def _ask(self, seen: SeenNode) -> NodeAnswer:
        node, request, config, pod = seen.node, self._request, self._config, self._pod
        if self._claims is not None:
            pod = self._claims.on(pod, node.totals.allocatable)
        fit = self._fit(node, pod)
        by_pods = fit in neighbours.BY_PODS
        claims = self._claims.refusal(pod, node.name) if fit.passed and self._claims is not None else None
        fit = Verdict(False, claims.text) if claims is not None else fit
        verdicts: dict[str, Verdict] = {}
        scores: dict[str, float] = {
            "node": node_fit.score(node.totals, self._load, config.node_score or "LeastAllocated")
        }
        for name, one in SCHEDULERS.items():
            if one.reads_objects:
                verdicts[name] = one.check(config, seen.seen[name], node.totals.allocatable, request)
            if one.score is not None:
                scores[name] = float(one.score(config, seen.seen[name], request))
        verdict = None
        if node.session is not None:
            outcome = admission.admit(node.session, pod)
            verdict = kubelet_verdict(outcome, lacking(node, (pod,)) if outcome.admit else ())
        own = verdicts.get(config.kind, PASS)
        return NodeAnswer(
            node=node.name,
            fit=fit,
            verdicts=verdicts,
            kubelet=verdict,
            scores=scores,
            verdict=own if fit.passed else fit,
            points=scores["node"] * SCHEDULERS[config.kind].scores_nodes + scores.get(config.kind, 0),
            by_claims=claims is not None,
            ends_cycle=claims is not None and claims.ends_cycle,
            by_pods=by_pods,
        )

    def _fit(self, node: ClusterNode, pod: Pod) -> Verdict:
        """Run kube-scheduler's own filters in their order; what claims serve, the node need not have."""
        if not self._checks and pod is self._pod:
            return node_filters.check_node(node, pod, self._load)
        fit = node_filters.allows(node, pod)
        load = self._load if pod is self._pod else node_load(read_request(pod))
        room: Check = lambda node: node_fit.check_totals(node.totals, load)  # noqa: E731 (one of several alike)
        for check in (*self._checks.ports, room, *self._checks.others):
            fit = check(node) if fit.passed else fit
        return fit


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
