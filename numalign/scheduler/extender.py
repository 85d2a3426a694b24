"""What a scheduler extender answers: which nodes take a pod, and how good they are (docs/rules/scheduling.md 5).

Nodes that look alike share one answer, so thousands of names cost little more than reading them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Final, Literal

from numalign.kubelet import admission
from numalign.kubelet.admission import Session
from numalign.model.pod import Pod
from numalign.model.quantity import NANO
from numalign.scheduler import filter_nrt
from numalign.scheduler.config import SchedulerConfig
from numalign.scheduler.kai.topology import Around
from numalign.scheduler.node import ClusterNode
from numalign.scheduler.nrt.copy import copy_of
from numalign.scheduler.nrt.export import ExportOptions, export
from numalign.scheduler.nrt.value import NodeResourceTopology, NUMAZone
from numalign.scheduler.record import Seen
from numalign.scheduler.request import PodRequest, read_request
from numalign.scheduler.resources import Amounts
from numalign.scheduler.schedulers import SCHEDULERS
from numalign.scheduler.verdict import Verdict
from numalign.values import NamedTuple

Judge = Literal["nrt", "kubelet"]
"""Whose verdict: the topology plugin's filter on the published objects, or the exact kubelet."""

PLUGIN: Final = SCHEDULERS["nrt"]
"""Whose filter and score are given."""
MAX_EXTENDER_SCORE: Final = 10
"""Scores of extenders go from 0 to 10 (E-8)."""


class Answer(NamedTuple):
    """What is said of one node."""

    passed: bool
    text: str = ""
    for_ever: bool = False
    """Preemption cannot help: an empty node would refuse it, too (E-7)."""
    score: int = 0
    judged: bool = False
    """The node's own data were asked whether resources can be aligned."""
    unaligned: bool = False
    """They cannot."""


PASSES: Final = Answer(True)
"""A node without data passes with score 0."""
UNKNOWN: Final = Answer(True)
"""So does a node that nobody knows."""
Objects = Mapping[str, Mapping[str, object]]
"""Node -> its Node object, where a call brings them."""
NO_OBJECTS: Final[Objects] = {}
MAX_OTHERS: Final = 2000
"""Looks of nodes made of objects that are remembered."""
ALIGNS: Final = Answer(True, judged=True)
NOT_FRESH: Final = Answer(False, filter_nrt.NOT_FRESH.message)


class FilterAnswer(NamedTuple):
    """The answer to a filter call."""

    passed: tuple[str, ...]
    failed: Mapping[str, str]
    """Node -> text for the user."""
    unresolvable: Mapping[str, str]
    """The same, where preemption cannot help."""
    judged: int
    """How many nodes were asked whether they can align the pod's resources, and how many of them cannot."""
    unaligned: int
    unknown: int
    """How many nodes passed because nobody knows them."""


class _Look(NamedTuple):
    """What nodes that look alike have in common."""

    seen: Seen
    largest: Amounts
    """Resource -> the most of it that one zone of the empty node has, of those whose zones say."""
    total: Amounts
    session: Session | None


class Extender:
    """The nodes as they are known now; a change makes a new one."""

    def __init__(
        self,
        nodes: Iterable[ClusterNode],
        *,
        config: SchedulerConfig | None = None,
        judge: Judge = "nrt",
        unknown: Callable[[Mapping[str, object]], ClusterNode | None] = lambda _: None,
    ) -> None:
        """Sort the nodes by their looks.

        Args:
            nodes: what is known.
            config: how the plugin is set.
            judge: whose verdict is given.
            unknown: makes a node of a Node object, the same value for nodes alike; None: it cannot be judged.
        """
        self._unknown = unknown
        self._others: dict[int, tuple[ClusterNode, _Look]] = {}
        """Looks of nodes that were made of objects, by the id of the node."""
        self._config = config = config or SchedulerConfig()
        self._looks: list[_Look] = []
        self._look_of: dict[str, int] = {}
        known: dict[Hashable, int] = {}
        for node in nodes:
            look = _look(node, config, judge)
            key = _key(look)
            place = known.get(key)
            if place is None:
                place = known[key] = len(self._looks)
                self._looks.append(look)
            self._look_of[node.name] = place

    def __len__(self) -> int:
        return len(self._look_of)

    def filter(
        self, pod: Pod, names: Sequence[str], stale: frozenset[str] = frozenset(), objects: Objects = NO_OBJECTS
    ) -> FilterAnswer:
        """Tell which nodes take a pod.

        Args:
            pod: the pod.
            names: the nodes asked about.
            stale: nodes whose data are too old to be trusted.
            objects: their Node objects: a node that is not known is judged by its own, as an empty one.
        """
        answers = self._answers(pod, names, stale, objects, scored=False)
        return FilterAnswer(
            tuple([name for name, one in answers if one.passed]),
            {name: one.text for name, one in answers if not one.passed and not one.for_ever},
            {name: one.text for name, one in answers if one.for_ever},
            sum([one.judged for _, one in answers]),
            unaligned=sum([one.unaligned for _, one in answers]),
            unknown=sum([one is UNKNOWN for _, one in answers]),
        )

    def prioritize(
        self, pod: Pod, names: Sequence[str], stale: frozenset[str] = frozenset(), objects: Objects = NO_OBJECTS
    ) -> list[tuple[str, int]]:
        """Score the nodes from 0 to 10."""
        return [(name, one.score) for name, one in self._answers(pod, names, stale, objects, scored=True)]

    def _answers(
        self, pod: Pod, names: Sequence[str], stale: frozenset[str], objects: Objects, *, scored: bool
    ) -> list[tuple[str, Answer]]:
        request = read_request(pod)
        unseen = filter_nrt.passes_unseen(request)
        known: dict[int, Answer] = {}
        result = []
        for name in names:
            place = self._look_of.get(name)
            look = self._looks[place] if place is not None else self._other(objects.get(name))
            if look is None:
                answer = UNKNOWN
            elif not unseen and name in stale:
                answer = NOT_FRESH
            elif id(look) in known:
                answer = known[id(look)]
            else:
                answer = self._score(look, request) if scored else self._say(look, pod, request, unseen)
                known[id(look)] = answer
            result.append((name, answer))
        return result

    def _other(self, thing: Mapping[str, object] | None) -> _Look | None:
        """Look at a node that is not known by its object; nothing is published of it, so its kubelet judges."""
        node = None if thing is None else self._unknown(thing)
        if node is None:
            return None
        if id(node) not in self._others:
            if len(self._others) >= MAX_OTHERS:
                self._others = {}
            self._others[id(node)] = node, _look(node, self._config, "kubelet")
        return self._others[id(node)][1]

    def _score(self, look: _Look, request: PodRequest) -> Answer:
        assert PLUGIN.score is not None  # noqa: S101 (it is the one that scores NUMA nodes)
        points = PLUGIN.score(self._config, look.seen, request)
        return PASSES._replace(score=int(points // MAX_EXTENDER_SCORE))

    def _say(self, look: _Look, pod: Pod, request: PodRequest, unseen: bool) -> Answer:
        if look.session is not None:
            outcome = admission.admit(look.session, pod)
            if outcome.admit:
                return ALIGNS
            text = f"{outcome.reason or outcome.stage}: {outcome.message}"
            text += _too_large(look, request) if outcome.stage == "merge" else ""
            for_ever = not admission.admits(look.session.empty(), pod)
            return Answer(False, text, for_ever, judged=True, unaligned=outcome.stage == "merge")
        if unseen or look.seen.copy is None:
            return PASSES
        verdict = PLUGIN.check(self._config, look.seen, look.total, request)
        if verdict.passed:
            return ALIGNS
        most = look.largest.get(verdict.resource)
        too_small = most is not None and most < verdict.requested
        unlisted = verdict.best is None
        text = _text(verdict, most if too_small else None)
        return Answer(False, text, too_small or unlisted, judged=True, unaligned=True)


def _look(node: ClusterNode, config: SchedulerConfig, judge: Judge) -> _Look:
    nrt = node.nrt
    if nrt is None and node.session is not None and node.exporter.mode != "none":
        nrt = export(node.session, node.name, ExportOptions(fingerprint=False))
    seen = PLUGIN.see(config, PLUGIN.opened(config, Around(), copy_of(nrt), ()))
    return _Look(
        seen=seen,
        largest={} if nrt is None else _largest(nrt, seen.zones),
        total=node.totals.allocatable,
        session=_without_name(node.session) if judge == "kubelet" and node.session else None,
    )


def _without_name(session: Session) -> Session:
    """Leave out what tells nodes apart that look alike; labels and taints kube-scheduler has judged already."""
    view = session.view
    return session._replace(view=view and view._replace(name=None, labels=None, taints=()))


def _key(look: _Look) -> Hashable:
    """Make the key of a look. Two kubelets are alike only where they share their state."""
    session = look.session
    twin = (
        ()
        if session is None
        else (id(session.node.cpu), id(session.node.device), id(session.node.memory), id(session.state))
    )
    return look.seen.key, frozenset(look.total), twin


def _largest(nrt: NodeResourceTopology, zones: Sequence[NUMAZone]) -> dict[str, int]:
    """Return the most of each resource that one zone of the empty node has."""
    known = {f"node-{zone.id}" for zone in zones}
    largest: dict[str, int] = {}
    for zone in nrt.zones:
        for name, one in zone.resources.items():
            if one.allocatable is not None and zone.name in known:
                largest[name] = max(largest.get(name, one.allocatable), one.allocatable)
    return largest


def _too_large(look: _Look, request: PodRequest) -> str:
    """Name the first request that no zone of the empty node can hold; empty: there is none."""
    for container in request.containers:
        for name, amount in container.items:
            most = look.largest.get(name)
            if most is not None and amount > most:
                return f": {container.name}: {name} {_amount(amount)}, the largest zone has {_amount(most)}"
    return ""


def _text(verdict: Verdict, largest: int | None) -> str:
    """Begin with the plugin's own text, then name container, resource and amounts (5.3)."""
    who = f": {verdict.container}" if verdict.container else ""
    asked = f"{verdict.message}{who}: {verdict.resource} {_amount(verdict.requested)}"
    if largest is not None:
        return f"{asked}, the largest zone has {_amount(largest)}"
    if verdict.best is None:
        return f"{asked}, 0 in every zone"
    return f"{asked}, best zone {verdict.best_zone} has {_amount(verdict.best)}"


def _amount(nano: int) -> str:
    """Write an amount: whole units, or thousandths."""
    return str(nano // NANO) if nano % NANO == 0 else f"{-(-nano // (NANO // 1000))}m"
