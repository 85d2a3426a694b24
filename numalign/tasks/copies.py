"""Copies of a pod, admitted by a node's kubelet one after another until it refuses."""

from __future__ import annotations

from typing import Final

from numalign.analysis import alignment
from numalign.kubelet import admission
from numalign.kubelet.admission import Outcome, Session
from numalign.kubelet.fit import predicates
from numalign.model.pod import Pod
from numalign.scheduler.node import ClusterNode, needs_name
from numalign.values import NamedTuple

MAX_COPIES: Final = 100_000
"""Pods that ask for nothing would fit for ever."""


class Probe(NamedTuple):
    """What is tried again and again: a pod, or the pods of one round of a mix."""

    name: str
    pods: tuple[Pod, ...]

    @property
    def by_name(self) -> bool:
        """Whether answers depend on the node's name."""
        return any(needs_name(pod) for pod in self.pods)

    def selects(self, node: ClusterNode) -> tuple[bool, ...]:
        """Tell of each pod whether its selectors take a node."""
        return tuple([predicates.matches_node(pod, node.labels, node.name) for pod in self.pods])


class Copies(NamedTuple):
    """Copies that came in one after another."""

    fit: int
    aligned: int
    nothing: int
    """Those that have nothing to align."""
    last: Session
    """The node then."""
    refused: Outcome | None
    """The copy that did not come in; None: nobody waited for it."""


def copies(session: Session, probe: Probe, most: int = MAX_COPIES) -> Copies:
    """Admit copies of a pod until one is refused, or `most` are in."""
    count = aligned = nothing = 0
    while count < most:
        uid = f"copy-{count}"
        outcome = admission.admit(session, probe.pods[0]._replace(name=uid, uid=uid))
        if not outcome.admit:
            return Copies(count, aligned, nothing, session, outcome)
        session = outcome.then
        verdict = alignment.verdict_of(outcome)
        count += 1
        aligned += verdict == "aligned"
        nothing += verdict == "none"
    return Copies(count, aligned, nothing, session, None)
