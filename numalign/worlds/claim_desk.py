"""The scheduler's answer about claims, node by node, while pods take devices one after another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from numalign.dra import extended
from numalign.dra.attempt import Attempt
from numalign.dra.claim_objects import ClaimObjects
from numalign.dra.features import Features
from numalign.dra.pools import published
from numalign.dra.usage import usage
from numalign.dra.values import Claim, Node
from numalign.dra.why import why
from numalign.kubelet.admission import Outcome as Admission
from numalign.kubelet.setup import Setup
from numalign.model.pod import Pod
from numalign.results.cluster import ClaimsScheduler
from numalign.results.dra import PodClaims
from numalign.values import NamedTuple
from numalign.worlds.claimed_node import ClaimedNode, ClaimPlace, allocated_claims
from numalign.worlds.pod_claims import Allocating, elsewhere, references
from numalign.worlds.pod_result import pod_result


class Away(NamedTuple):
    """Why a node cannot give a pod its claims."""

    text: str
    ends_cycle: bool = False
    """Whether the pod goes to no node at all because of it (docs/rules/dra.md D-50)."""


class ClaimDesk:
    """Knows what is published and what is held; a pod that is bound takes its devices from it."""

    def __init__(self, objects: ClaimObjects, files: Mapping[str, str], asked: Features) -> None:
        objects = objects.tainted() if asked.taint_rules else objects
        self._objects = objects
        self._features = asked
        """Of the scheduler."""
        self._files = files
        """Pod -> the file it stands in."""
        self._cluster = published(objects.slices)
        self._nodes = {node.name: node for node in objects.nodes}
        self._held = allocated_claims(objects)
        self._used = usage(self._held)
        self._allocating = Allocating()

    def concerns(self, pod: Pod) -> bool:
        """Tell whether a pod has claims, or asks for what a class serves under the name of an extended resource."""
        return bool(pod.spec.get("resourceClaims") or self.on(pod, {}).status.claimed)

    def on(self, pod: Pod, there: Mapping[str, int]) -> Pod:
        """Mark what claims serve of a pod's extended resources, on a node whose plugins have `there` (D-53)."""
        return extended.marked(pod, self._objects.classes, there) if self._features.extended else pod

    def scheduler(self, nodes: Iterable[str]) -> ClaimsScheduler:
        """Say whose allocator answers, and whether its answers on these nodes are certain (docs/rules/dra.md D-2)."""
        asked = self._features
        certain = asked.is_ordered or all(self._attempt(node).is_determined for node in nodes)
        return ClaimsScheduler(asked.release, asked.copy, certain)

    def refusal(self, pod: Pod, node: str) -> Away | None:
        """Say why a node cannot give a pod its claims; None if it can.

        Raises:
            InputError: a selector uses what numalign does not follow.
        """
        claims, absent = self._pending(pod)
        if absent:
            return Away(f"claims: {absent} is neither given nor in the cluster")
        attempt = self._attempt(node)
        away = elsewhere([claim for claim in self._held if claim.full_name in self._used_by(pod)], attempt)
        if away:
            return Away(f"claims: {away}")
        outcome = self._allocating.allocate(attempt, claims)
        if outcome.allocated:
            return None
        reason = why(attempt, claims, outcome)
        at = f"request {reason.request} gets {reason.found} devices" if reason is not None else ""
        about = f", selector {outcome.selector}" if outcome.selector else ""
        return Away(f"claims: {outcome.error or at or 'cannot allocate all claims'}{about}", outcome.ends_cycle)

    def take(self, pod: Pod, node: str, outcome: Admission | None) -> PodClaims | None:
        """Let a pod that is bound to a node take its devices, and judge them beside what its kubelet gives.

        Args:
            pod: the pod.
            node: the node.
            outcome: what its kubelet says; None: nobody knows what the node is made of.
        """
        if outcome is None or not outcome.admit:
            claims, _ = self._pending(pod)
            self._held += self._allocating.allocate(self._attempt(node), claims).held(claims)
            self._used = usage(self._held)
            return None
        on = outcome.before.node
        place = ClaimPlace(
            objects=self._objects,
            cluster=self._cluster,
            node=self._nodes.get(node) or Node(node),
            setup=Setup(on.machine, on.config, "kubelet", on.kubelet),
            features=self._features,
            files=self._files,
        )
        here = ClaimedNode(place, self._held, self._allocating)
        found = here.hold(pod, pod_result(outcome), advise=False)
        self._held, self._used = here.held, here.attempt.used
        return found

    def _used_by(self, pod: Pod) -> frozenset[str]:
        """Name the claims that a pod uses."""
        near = self._objects.near(self._files.get(pod.full_name, ""))
        return frozenset(one.claim.full_name for one in references(pod, near) if one.claim is not None)

    def _pending(self, pod: Pod) -> tuple[list[Claim], str]:
        """Give a pod's claims that have no devices yet, and one that is nowhere."""
        held = {claim.full_name for claim in self._held}
        claims = []
        near = self._objects.near(self._files.get(pod.full_name, ""))
        for one in references(pod, near):
            if one.claim is None:
                return [], one.wanted
            if one.claim.full_name not in held:
                claims.append(one.claim)
        return claims, ""

    def _attempt(self, node: str) -> Attempt:
        here = self._nodes.get(node) or Node(node)
        return Attempt(self._cluster, self._objects.classes, self._used, self._features, here)
