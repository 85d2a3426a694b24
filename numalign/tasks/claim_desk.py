"""The scheduler's answer about claims, node by node, while pods take devices one after another."""

from __future__ import annotations

from collections.abc import Mapping

from numalign.dra.attempt import Attempt
from numalign.dra.features import features
from numalign.dra.pools import published
from numalign.dra.result import Outcome
from numalign.dra.usage import usage
from numalign.dra.values import Claim, Node, Taken
from numalign.dra.why import why
from numalign.model.pod import Pod
from numalign.sources.cluster.claims import ClaimObjects
from numalign.tasks.dra_claims import references


class ClaimDesk:
    """Knows what is published and what is held; a pod that is bound takes its devices from it."""

    def __init__(self, objects: ClaimObjects, files: Mapping[str, str]) -> None:
        self._objects = objects
        self._files = files
        """Pod -> the file it stands in."""
        self._cluster = published(objects.slices)
        self._nodes = {node.name: node for node in objects.nodes}
        self._held = [placed.claim for placed in objects.claims.values() if placed.claim.allocation is not None]
        self._used = usage(self._held)

    def concerns(self, pod: Pod) -> bool:
        """Tell whether a pod has claims."""
        return bool(pod.spec.get("resourceClaims"))

    def refusal(self, pod: Pod, node: str) -> str:
        """Say why a node cannot give a pod its claims; nothing if it can.

        Raises:
            InputError: a selector uses what numalign does not follow.
        """
        claims, absent = self._pending(pod)
        if absent:
            return f"claims: {absent} is neither given nor in the cluster"
        attempt = self._attempt(node)
        outcome = attempt.allocate(claims)
        if outcome.allocated:
            return ""
        reason = why(attempt, claims, outcome)
        at = f"request {reason.request} gets {reason.found} devices" if reason is not None else ""
        return f"claims: {outcome.error or at or 'cannot allocate all claims'}"

    def take(self, pod: Pod, node: str) -> None:
        """Let a pod that is bound to a node take its devices."""
        claims, _ = self._pending(pod)
        outcome: Outcome = self._attempt(node).allocate(claims)
        for claim, got in zip(claims, outcome.claims or (), strict=False):
            taken = tuple(
                Taken(one.device, one.request, one.admin, "share" if one.shared else "", one.consumed)
                for one in got.devices
            )
            self._held.append(claim._replace(allocation=taken))
        self._used = usage(self._held)

    def _pending(self, pod: Pod) -> tuple[list[Claim], str]:
        """Give a pod's claims that have no devices yet, and one that is nowhere."""
        held = {claim.full_name for claim in self._held}
        claims = []
        near = self._objects.near(self._files.get(f"{pod.namespace}/{pod.name}", ""))
        for one in references(pod, near):
            if one.claim is None:
                return [], one.wanted
            if one.claim.full_name not in held:
                claims.append(one.claim)
        return claims, ""

    def _attempt(self, node: str) -> Attempt:
        here = self._nodes.get(node) or Node(node)
        return Attempt(self._cluster, self._objects.classes, self._used, features(), here)
