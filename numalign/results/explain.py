"""The result of an explanation: what the managers said, what is in the way, what would help, where everything lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from numalign.analysis.reasons.change_facts import Goes
from numalign.analysis.reasons.needed import needed
from numalign.analysis.reasons.order import reasons
from numalign.analysis.reasons.steps import change_steps, refer
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.analysis.alternatives import Alternatives
    from numalign.analysis.closeness import Closeness
    from numalign.analysis.explanation import Unpinned
    from numalign.analysis.matrix import Matrix
    from numalign.analysis.merging import Merging
    from numalign.analysis.placement import Placement
    from numalign.analysis.reasons.order import Told
    from numalign.analysis.reasons.steps import Reasoned, Step
    from numalign.analysis.refusal import Refusal
    from numalign.analysis.untied import Untied
    from numalign.analysis.whatif.besides import NoPolicy, Repair
    from numalign.analysis.whatif.change import WayOut
    from numalign.errors import Notice
    from numalign.kubelet.admission import Session
    from numalign.kubelet.config import KubeletConfig
    from numalign.kubelet.setup import Setup
    from numalign.results.admit import PodResult, Together
    from numalign.results.dra import NodeClaims


class Closer(NamedTuple):
    """What brings each GPU of a container and a NIC of it closer on the PCI bus; with no way in it: nothing does."""

    container: str
    closeness: Closeness
    """How close the GPU is then that is farthest from a NIC."""
    amounts: Mapping[str, int] = {}
    """Resource -> how many to request; tested on the node as it is."""
    numa: int = 0
    """A set of NUMA nodes whose NICs are to be a separate resource; tested on an empty node."""
    write: tuple[str, ...] = ()
    """Lines of YAML of a claim in place of the requests; tested on an empty node."""


class ExplainedPod(NamedTuple):
    """One pod's admission, told."""

    pod: PodResult
    containers: int
    """How many containers the pod has."""
    matrices: tuple[Matrix, ...]
    """One for each decision, container by container or for the whole pod, up to a refusal."""
    refusal: Refusal | None
    changes: tuple[WayOut, ...]
    """What would admit a refused pod, or align one that is not aligned, in the order in which it is told."""
    after: tuple[PodResult | None, ...]
    """For each change, what the pod would get."""
    alone: tuple[PodResult | None, ...]
    """For each change, what the pod would get if it is started before pods refused so far; None: the same, or worse."""
    placements: tuple[Placement, ...]
    """Of an admitted pod: where its containers are."""
    unpinned: tuple[Unpinned, ...] = ()
    """Of an admitted pod: the containers that could have CPUs of their own and have none."""
    besides: tuple[Refusal, ...] = ()
    """Of a refused pod: what else refuses it, for ever or as the node as a whole lacks it now."""
    untied: tuple[Untied, ...] = ()
    """Of a refused pod: what it asks for that no decision counts."""
    doubled: int = 0
    """Of a refused pod: the set of CPUs of the node that are handed out twice, so that amounts do not add up."""
    no_policy: NoPolicy | None = None
    """Of a refused pod: no other policy admits it as it is; None: one does, or a change sets one."""
    closer: tuple[Closer, ...] = ()
    """Of an admitted pod: what brings GPUs to NICs of their container, where they share no PCI switch."""
    least_bad: tuple[WayOut, PodResult] | None = None
    """Of an admitted pod that nothing aligns on this machine: the setting under which it lies least apart, and how."""
    repair: Repair | None = None
    """Of a refused pod: what becomes of it with device plugins that name no node where they name one that is none."""
    details: tuple[Merging, ...] | None = None
    """Each decision step by step; None: not asked."""
    alternatives: tuple[tuple[Alternatives, ...], ...] | None = None
    """For each decision all aligned allocations, nodes by nodes; None: not asked."""


class Reasons(NamedTuple):
    """All that is told of a refused pod and of the changes that would admit it, as values."""

    own: tuple[Told, ...]
    """Of the refusal alone."""
    every: tuple[Told, ...]
    """With all that refuses the pod besides."""
    parts: tuple[tuple[Reasoned, ...], ...]
    """For each change, why each of its parts is needed."""
    steps: tuple[tuple[Step, ...], ...]
    """The same as steps to take, each reason once."""


def reasons_of(told: ExplainedPod, config: KubeletConfig) -> Reasons:
    """Find what is to be told of a pod, whatever the words; of one that is admitted only of the changes."""
    refusal = told.refusal
    own, every = (reasons(refusal), reasons(refusal, told.besides)) if refusal is not None else ([], [])
    at = refusal.at if refusal is not None else None
    head, parts = [one.fact for one in own], []
    for change, after in zip(told.changes, told.after, strict=True):
        goes = _goes(after)
        parts.append(
            tuple(
                [
                    (part, needed(part, refusal, goes, config, whole=change, head=head, tables=told.matrices))
                    for part in change.parts
                ]
            )
        )
    steps = (change_steps(*each, every, at, config) for each in zip(told.changes, parts, strict=True))
    return Reasons(tuple(own), tuple(every), tuple(parts), tuple(map(tuple, refer(steps))))


def _goes(after: PodResult | None) -> list[Goes]:
    """Tell where the containers of a pod go; nothing where that is not known."""
    return [
        Goes(one.name, one.alignment.nodes, one.alignment.places, one.hint.numa_affinity)
        for one in (after.containers if after is not None else ())
    ]


def first_problem(pods: Sequence[ExplainedPod]) -> int | None:
    """Find the place of the first pod that was rejected, else of the first that is not aligned; None: all is well."""
    rejected = [place for place, one in enumerate(pods) if not one.pod.admitted]
    apart = [place for place, one in enumerate(pods) if one.pod.aligned is False]
    return next(iter((*rejected, *apart)), None)


class Observed(NamedTuple):
    """What a kubelet really did with a pod."""

    rejected: bool
    reason: str
    """Empty: it admitted the pod."""
    message: str


class ExplainResult(NamedTuple):
    """The pods that were explained, in order."""

    setup: Setup
    reserved_cpus: int
    """CPUs that are never given out exclusively, as a set."""
    pods: tuple[ExplainedPod, ...]
    """None after one that the kubelet does not survive."""
    notices: tuple[Notice, ...]
    claims: NodeClaims | None = None
    """What the admitted pods hold by claim, if that was asked."""
    together: tuple[Together, ...] = ()
    """How close the devices of pods are that belong together."""
    session: Session | None = None
    """The node in the end; None: the kubelet does not survive."""

    @property
    def fatal(self) -> bool:
        """Whether the kubelet itself would crash or hang on the way."""
        return any(one.pod.fatal for one in self.pods)
