"""What comes of a cluster: its nodes, schedulers' decisions, topology objects and simulations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from numalign.errors import Notice
from numalign.scheduler.simulate.report import Report
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.dra.values import DeviceClass, Slice
    from numalign.kubelet.admission import Stage
    from numalign.results.dra import PodClaims
    from numalign.scheduler.config import SchedulerConfig
    from numalign.scheduler.disagreement import KnownCause
    from numalign.scheduler.node import ClusterNode
    from numalign.scheduler.nrt.differences import Difference
    from numalign.scheduler.nrt.value import NodeResourceTopology
    from numalign.scheduler.record import Preemption
    from numalign.scheduler.verdict import Verdict


class NodeLine(NamedTuple):
    """One node."""

    name: str
    pods: int
    policy: str | None
    """None: it publishes no topology object."""
    scope: str | None
    free: Mapping[str, Mapping[str, int]]
    """NUMA node (`node-0`) -> resource -> whole units free."""


class KubeletVerdict(NamedTuple):
    """What the node's own kubelet would answer if the pod were sent there now."""

    admitted: bool
    stage: Stage
    """Where it would refuse; empty when admitted."""
    reason: str
    message: str
    aligned: bool | None
    """Whether all the pod gets would be aligned; None: refused, or nothing to align."""
    missing: tuple[str, ...]
    """Devices that it would run without, as the node does not have them; empty: none, or refused."""


class NodeAnswer(NamedTuple):
    """What everybody says of one pod on one node."""

    node: str
    fit: Verdict
    """kube-scheduler's own filters: labels, taints, room on the node as a whole."""
    verdicts: Mapping[str, Verdict]
    """Scheduler -> what it says of the node's NUMA nodes, of those that look at them."""
    kubelet: KubeletVerdict | None
    """None: nobody knows what the node is made of."""
    scores: Mapping[str, float]
    """Score -> points: `node` (room on the node as a whole), `nrt` (the plugin), `kai`."""
    verdict: Verdict
    """What the chosen scheduler says, its own filters and kube-scheduler's."""
    points: float
    """The chosen scheduler's sum of scores."""
    by_claims: bool = False
    """Whether the node lacks devices for the pod's claims, of which no kubelet knows."""
    ends_cycle: bool = False
    """Whether that is an error that ends the scheduling of the pod: it goes to no node (docs/rules/dra.md D-50)."""
    by_pods: bool = False
    """Whether affinity or spreading among the pods that are there keeps the pod away, at which no kubelet looks."""
    cause: KnownCause | None = None
    """Why the chosen scheduler and the kubelet disagree; None: they agree, or nobody looked."""

    @property
    def feasible(self) -> bool:
        """Whether the chosen scheduler takes the node into account."""
        return self.verdict.passed

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
    preemption: Preemption | None = None
    """Where it would fit, and without which pods, as the scheduler would evict them; None: it would evict none."""
    ended_by: str | None = None
    """The node with the error that ended its scheduling; None: there was none."""
    gates: tuple[str, ...] = ()
    """Its scheduling gates: with one no scheduler looks at it."""
    not_judged: tuple[str, ...] = ()
    """What kube-scheduler looks at and numalign cannot."""

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
    title: str
    """What the scheduler is, for people."""
    pods: tuple[ScheduledPod, ...]
    notices: tuple[Notice, ...]
    claims: ClaimsScheduler | None
    """None: claims were not looked at."""

    @property
    def runs(self) -> bool:
        """Whether every pod ends up running."""
        return all(pod.runs for pod in self.pods)


class CheckedNRT(NamedTuple):
    """A published object beside what the node would publish now."""

    name: str
    oddities: tuple[Notice, ...]
    """What readers would stumble over, whatever the node says."""
    differences: tuple[Difference, ...] | None
    """What is not as the node has it; None: there is no such node."""
    actual: NodeResourceTopology | None
    """What the node would publish now."""

    @property
    def true(self) -> bool:
        """Whether the object says what is so, and every reader reads it."""
        return self.differences == () and not self.skipped

    @property
    def stale(self) -> bool:
        """Whether it speaks of other pods than those of the node."""
        return any(one.what == "stale" for one in self.differences or ())

    @property
    def skipped(self) -> tuple[Notice, ...]:
        """The oddities that make a reader skip a zone."""
        return tuple([one for one in self.oddities if one.code in ("nrt-zone-name", "nrt-zone-type")])


class NRTCheckResult(NamedTuple):
    """All objects of a file, checked."""

    objects: tuple[CheckedNRT, ...]

    @property
    def true(self) -> bool:
        """Whether all of them are."""
        return all(one.true for one in self.objects)


NOT_DONE: Final = "interrupted before it was done"
"""The error of a run that nobody waited for."""


class NamedRun(NamedTuple):
    """One run of a trace."""

    name: str
    """`unaware`, `aware`, `instant`, or the settings of a sweep: `policy=restricted, seed=3`."""
    report: Report | None
    """None: the run failed."""
    error: str = ""
    """Why it failed."""


class SimulateResult(NamedTuple):
    """Runs of one trace on one cluster."""

    cluster: str
    """The name of the cluster's file."""
    trace: str
    seed: int
    runs: tuple[NamedRun, ...]
    causes: Mapping[str, str]
    """Cause of a disagreement (`X-1` …) -> words, for those that occur."""
    notices: tuple[Notice, ...]

    @property
    def interrupted(self) -> bool:
        """Whether a run was ended before its time: its report, if there is one, is the one so far."""
        return any(
            one.error == NOT_DONE if one.report is None else one.report.ended_by == "interrupted" for one in self.runs
        )


class KwokExport(NamedTuple):
    """Nodes for KWOK, and what is published of them."""

    nodes: tuple[ClusterNode, ...]
    nrts: tuple[NodeResourceTopology, ...]
    slices: tuple[Slice, ...]
    classes: tuple[DeviceClass, ...]
