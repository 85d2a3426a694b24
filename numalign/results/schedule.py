"""The result of scheduling pods on a cluster: node by node what each scheduler says, and what the kubelet would."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.errors import Notice
    from numalign.kubelet.admission import Stage
    from numalign.results.claimed import PodClaims
    from numalign.scheduler.attempt import SchedulerConfig
    from numalign.scheduler.causes import Cause
    from numalign.scheduler.verdict import Verdict


class KubeletVerdict(NamedTuple):
    """What the node's own kubelet would answer if the pod were sent there now."""

    admitted: bool
    stage: Stage
    """Where it would refuse; empty when admitted."""
    reason: str
    message: str
    aligned: bool | None
    """Whether all the pod gets would be aligned; None: refused, or nothing to align."""
    missing: tuple[str, ...] = ()
    """Devices that it would run without, as the node does not have them; empty: none, or refused."""


class NodeAnswer(NamedTuple):
    """What everybody says of one pod on one node."""

    node: str
    fit: Verdict
    """kube-scheduler's own filters: labels, taints, room on the node as a whole."""
    kep: Verdict
    nrt: Verdict
    kai: Verdict
    kubelet: KubeletVerdict | None
    """None: nobody knows what the node is made of."""
    scores: Mapping[str, float]
    """Score -> points: `node` (room on the node as a whole), `nrt` (the plugin), `kai`."""
    feasible: bool
    """Whether the chosen scheduler takes the node into account."""
    points: float
    """The chosen scheduler's sum of scores."""
    by_claims: bool = False
    """Whether the node lacks devices for the pod's claims, of which no kubelet knows."""
    cause: Cause | None = None
    """Why the chosen scheduler and the kubelet disagree; None: they agree, or nobody looked."""

    @property
    def disagrees(self) -> bool:
        """Whether the chosen scheduler and the kubelet disagree."""
        return self.kubelet is not None and self.feasible != self.kubelet.admitted


class ScheduledPod(NamedTuple):
    """One pod's way through the cluster."""

    name: str
    namespace: str
    node: str | None
    """The machine that is chosen; None: none passes."""
    answers: tuple[NodeAnswer, ...]
    """In the cluster's order."""
    claims: PodClaims | None = None
    """What it holds by claim on its node, judged beside what the kubelet gives; None: nothing, or nobody looked."""

    @property
    def chosen(self) -> NodeAnswer | None:
        """The answer of the chosen node."""
        return next((one for one in self.answers if one.node == self.node), None)

    @property
    def runs(self) -> bool:
        """Whether the pod ends up running: a node is chosen, and its kubelet does not refuse."""
        chosen = self.chosen
        return chosen is not None and (chosen.kubelet is None or chosen.kubelet.admitted)

    @property
    def table(self) -> dict[tuple[bool, bool], int]:
        """(scheduler passes, kubelet admits) -> number of nodes of which both are known."""
        counts = {(passes, admits): 0 for passes in (True, False) for admits in (True, False)}
        for one in self.answers:
            if one.kubelet is not None:
                counts[one.feasible, one.kubelet.admitted] += 1
        return counts


class ClaimsScheduler(NamedTuple):
    """Whose allocator answered about claims."""

    release: str
    """Of the scheduler: `1.36`."""
    allocator: str
    """Which copy of it."""
    deterministic: bool
    """Whether the devices are certain: schedulers before 1.36 try pools and slices in random order."""


class ScheduleResult(NamedTuple):
    """Pods that came one after another, each bound before the next."""

    scheduler: SchedulerConfig
    pods: tuple[ScheduledPod, ...]
    notices: tuple[Notice, ...]
    claims: ClaimsScheduler | None = None
    """None: claims were not looked at."""

    @property
    def runs(self) -> bool:
        """Whether every pod ends up running."""
        return all(pod.runs for pod in self.pods)
