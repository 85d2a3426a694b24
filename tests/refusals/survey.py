"""Play recorded scenarios as `explain` does, explain each refusal, and judge the explanation.

The fit check is on, as in `explain`, so that some pods are refused here that the recording admits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from numalign.analysis.culprits import decisions
from numalign.analysis.explanation import explain_outcome
from numalign.analysis.matrix import matrix
from numalign.analysis.reasons.order import key
from numalign.analysis.refusal import Refusal
from numalign.analysis.settings import POLICY, STRICTEST_FIRST
from numalign.analysis.situation import Event, Replays, Situation
from numalign.analysis.whatif.change import WayOut
from numalign.analysis.whatif.shrink import swap
from numalign.errors import StartError
from numalign.kubelet import node as twin
from numalign.kubelet.admission import Outcome, Session, admit, end, open_session
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.setup import Setup
from numalign.model.pod import Pod
from numalign.render.text.words import why
from numalign.results.explain import ExplainedPod, reasons_of
from numalign.sources.machine.changes import Changes, changed
from numalign.sources.recorded import scenario
from numalign.tasks.explain import explained_pod
from numalign.tasks.hardware_to_add import with_what_lacks
from tests.conformance import cases, find
from tests.conftest import VECTORS
from tests.refusals.applied import FIRMWARE, with_change

FAMILIES = ("e2e", "lifecycle")


class Judged(NamedTuple):
    """One refusal, and what is wrong with its explanation; an empty text: nothing."""

    scenario: str
    step: int
    stage: str
    unnamed: bool
    """No resource is named, or one without its amounts."""
    unsaid: bool
    """There is no sentence."""
    false: tuple[str, ...]
    """Changes that do not admit the pod, and policies that are said to refuse it still and do not."""
    false_never: bool
    """An empty machine would admit it although never is said, or the other way round."""
    stuck: bool
    """There is no way out."""
    machine: int
    """How many changes are about what the machine would have to have."""
    unexplained: tuple[str, ...]
    """Changes of several parts of which one has no reason."""
    repeated: bool
    """A long reason is told twice."""

    @property
    def wrong(self) -> bool:
        """Whether anything is."""
        untrue = self.unnamed or self.unsaid or self.false or self.false_never
        return bool(untrue or self.stuck or self.unexplained or self.repeated)


def scenarios(every: int = 1, first: int = 0) -> Iterator[dict[str, Any]]:
    for family in FAMILIES:
        yield from cases(VECTORS / f"{family}.jsonl.gz", every, first)


def named(name: str) -> dict[str, Any]:
    """Find one scenario."""
    return find(name, *(VECTORS / f"{family}.jsonl.gz" for family in FAMILIES))


def judged(data: dict[str, Any]) -> list[Judged]:
    """Judge every refusal of one scenario."""
    return [_judge(data, index, situation, outcome) for index, situation, outcome in refusals(data)]


def refusals(data: dict[str, Any]) -> Iterator[tuple[int, Situation, Outcome]]:
    """Play a scenario; give each refusal with the step and what the pod met."""
    return (one for one in met(data) if not one[2].admit)


def met(data: dict[str, Any]) -> Iterator[tuple[int, Situation, Outcome]]:
    """Play a scenario; give each admission and refusal with the step and what the pod met."""
    one = scenario.from_data(data)
    start = Situation(Setup(one.machine, one.config, "kubelet"), replays=Replays())
    try:
        start.session()
    except StartError:
        return
    pods: dict[str, Pod] = {}
    past: tuple[Event, ...] = ()
    for index, step in enumerate(one.steps):
        if step.pod is None:
            if step.name in pods:
                past = (*past, Event("end" if step.op == "remove" else "start", pods[step.name]))
            continue
        pods[step.name] = step.pod
        situation = start._replace(past=past)
        outcome = admit(situation.session(), step.pod)
        yield index, situation, outcome
        if outcome.stage in ("panic", "hang"):
            return
        past = (*past, Event("admit", step.pod))


def _judge(data: dict[str, Any], index: int, situation: Situation, outcome: Outcome) -> Judged:
    told = explained_pod(explain_outcome(situation, outcome, altered=with_what_lacks(situation, outcome)))
    found, ways = told.refusal, told.changes
    assert found is not None
    alone = {**data, "steps": [data["steps"][index]]}
    return Judged(
        data["id"],
        index,
        found.stage,
        unnamed=not _named(outcome, found),
        unsaid=not list(why(found)),
        false=(
            *(_named_by(way) for way in ways if not _last_admitted(*with_change(data, index, way))),
            *(_named_by(way) for way in _moving(ways) if not _last_admitted(*with_change(data, index, way))),
            *(_named_by(way) for way in _swapped(outcome, ways) if not _last_admitted(*with_change(data, index, way))),
            *(_named_by(way) for way in _in_vain(told) if _admits(data, index, way, outcome)),
        ),
        false_never=found.never == _last_admitted(alone, 0),
        stuck=not ways,
        machine=sum(bool(way.hardware) for way in ways),
        unexplained=tuple(_named_by(way) for way in ways if not _explained(way)),
        repeated=_repeats_itself(told, situation.setup.config),
    )


def _moving(ways: Iterable[WayOut]) -> Iterator[WayOut]:
    """Give the changes with the pods that may be moved instead."""
    return (way._replace(pods=(pod,)) for way in ways for pod in way.or_pods)


def _swapped(outcome: Outcome, ways: Iterable[WayOut]) -> Iterator[WayOut]:
    """Give the changes with what another container may leave out instead."""
    asked = {(one.name, name): each.nano for one in outcome.pod.containers for name, each in one.requests.items()}
    for way in ways:
        for whose, others in way.or_in.items():
            yield from (swap(way, whose, (name, whose[1]), asked[name, whose[1]]) for name, _ in others)


def _in_vain(told: ExplainedPod) -> Iterator[WayOut]:
    """Give the changes of which it is said that they do not do: under other policies than those that are offered."""
    for way in told.changes:
        yield from (way._replace(flags={**way.flags, POLICY: policy}) for policy in way.too_strict)
    if told.no_policy is not None and not told.no_policy.unless:
        yield from (WayOut(flags={POLICY: policy}) for policy in STRICTEST_FIRST)


def _repeats_itself(told: ExplainedPod, config: KubeletConfig) -> bool:
    """Tell whether a long reason is told under two changes, or is what the refusal itself says."""
    found = reasons_of(told, config)
    above = {key(one.fact) for one in found.every}
    steps = [[step for step in each if step.told is None and len(step.reasons) > 1] for each in found.steps]
    texts = [{tuple(key(one.fact) for one in step.reasons) for step in each} for each in steps]
    twice = sum(map(len, texts)) > len(set[tuple[object, ...]]().union(*texts))
    return twice or any(above.issuperset(one) for each in texts for one in each)


def _admits(data: dict[str, Any], index: int, way: WayOut, outcome: Outcome) -> bool:
    """Tell whether a pod is admitted with a change, beside all pods that are there now."""
    try:
        found = last(*with_change(data, index, way))
    except StartError:
        return False
    stay = {pod.name for pod in outcome.before.pods} - {pod.name for pod in way.pods}
    return found is not None and found.admit and stay <= {pod.name for pod in found.before.pods}


def _named_by(way: WayOut) -> str:
    return f"{way.kind}: {dict(way.flags)} {dict(way.amounts)} {[pod.name for pod in way.pods]} {way.hardware}"


def _explained(way: WayOut) -> bool:
    """Tell whether each part of a change of several parts has a reason: the pod is refused, or takes the last CPUs."""
    return len(way.parts) < 2 or all(
        part.unshared or part.apart or (part.otherwise is not None and list(why(part.otherwise))) for part in way.parts
    )


def _named(outcome: Outcome, found: Refusal) -> bool:
    """Tell whether resources are named, each with its amounts in a decision or beside them."""
    tables = [matrix(outcome.before.node, outcome.demand, decision) for decision in decisions(outcome)]
    told = {row.resource for table in tables for row in table.rows} | {one.resource for one in found.amounts}
    return bool(found.resources) and set(found.resources) <= told


def _last_admitted(data: dict[str, Any], place: int) -> bool:
    found = last(data, place)
    return found is not None and found.admit


def last(data: dict[str, Any], place: int) -> Outcome | None:
    """Play a scenario's text; give what becomes of the pod of that step."""
    one = scenario.from_data(data)
    firmware = Changes(nps=data.get(FIRMWARE["nps"]), snc=data.get(FIRMWARE["snc"]))
    session: Session = open_session(Setup(changed(one.machine, firmware)[0], one.config, "kubelet"))
    uids: dict[str, str] = {}
    for index, step in enumerate(one.steps):
        if step.pod is None and step.op == "remove":
            session = end(session, uids.get(step.name, ""))
        elif step.pod is None:
            state = twin.start_containers(session.node, session.state, uids.get(step.name, "")).state
            session = session._replace(state=state)
        else:
            uids[step.name] = step.pod.uid
            outcome = admit(session, step.pod)
            if index == place:
                return outcome
            session = outcome.then
    return None


def shares(every: Iterable[Judged]) -> Iterator[str]:
    """Say how many of all refusals are right, a line a measure."""
    found = list(every)
    count = len(found)
    yield f"{count} refusals"
    for text, wrong in (
        ("name what is in the way, with amounts", sum(one.unnamed for one in found)),
        ("say it in words", sum(one.unsaid for one in found)),
        ("have a reason for each part of a change", sum(bool(one.unexplained) for one in found)),
        ("tell no long reason twice", sum(one.repeated for one in found)),
        ("have a change that was applied and admits the pod", sum(one.stuck or bool(one.false) for one in found)),
    ):
        yield f"{100 * (count - wrong) / max(count, 1):6.2f} % {text} ({wrong} do not)"
    false, never = sum(len(one.false) for one in found), sum(one.false_never for one in found)
    yield f"{false} false suggestions, {never} false never"
    yield f"{sum(one.machine for one in found)} of the suggestions give the machine devices or huge pages"
