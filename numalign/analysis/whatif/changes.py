"""What would have to be different for a refused pod to be admitted: each change tried on the twin, none guessed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from numalign.analysis.alignment import aligned
from numalign.analysis.whatif.amounts import other_requests
from numalign.analysis.whatif.moving import moved, without
from numalign.analysis.whatif.settings import (
    MEMORY_POLICY,
    POLICY,
    SCOPE,
    STRICTEST_FIRST,
    Flags,
    apply,
    other_settings,
)
from numalign.analysis.whatif.situation import Situation, with_amounts
from numalign.errors import StartError
from numalign.kubelet.admission import Outcome, Session, admit
from numalign.kubelet.errors import KubeletPanicError
from numalign.model.pod import Pod

MAX_CHANGES = 5
MAX_OF_A_KIND = 2


class Change(NamedTuple):
    """One change after which the pod is admitted. Which fields are filled depends on `kind`."""

    kind: Literal["machine", "pods", "request", "setting"]
    cost: float
    """How far it is from what is there; only good for putting changes in order."""
    aligned: bool | None
    """Whether the pod would then be aligned; None: it has nothing to align."""
    pods: tuple[Pod, ...] = ()
    """Pods to move away."""
    fewest: bool = False
    """No smaller set of pods would do."""
    amounts: Mapping[tuple[str, str], int] = {}
    """What to ask for instead, in billionths."""
    asked: Mapping[tuple[str, str], int] = {}
    """What the manifest asks for, of the same."""
    flags: Mapping[str, str] = {}
    """Settings of the kubelet: flag -> value."""
    machine: str = ""
    """The machine as given."""


def changes(
    situation: Situation, outcome: Outcome, others: Sequence[tuple[str, Situation]] = (), *, most: int = MAX_CHANGES
) -> tuple[Change, ...]:
    """Find the nearest changes that admit a refused pod, the nearest first.

    Args:
        situation: what the pod met; `situation.past` ends right before it came up.
        outcome: the refusal.
        others: further machines to try: their name, and the same past there.
        most: how many are told at most.
    """
    found = [
        *_machines(outcome, others),
        *_pods(outcome),
        *_requests(outcome),
        *_settings(situation, outcome),
    ]
    found.sort(key=lambda change: change.cost)
    kept: list[Change] = []
    for change in found:
        if sum(1 for other in kept if other.kind == change.kind) < MAX_OF_A_KIND:
            kept.append(change)
    return tuple(kept[:most])


def _machines(outcome: Outcome, others: Sequence[tuple[str, Situation]]) -> Iterator[Change]:
    for name, situation in others:
        tried = _tried(situation, outcome)
        if tried is not None:
            yield Change("machine", 0.5, aligned(tried), machine=name)


def _pods(outcome: Outcome) -> Iterator[Change]:
    found = moved(outcome.before, outcome.pod) if outcome.before.pods else None
    if found is not None:
        tried = admit(without(outcome.before, found.pods), outcome.pod)
        yield Change("pods", len(found.pods), aligned(tried), pods=found.pods, fewest=found.fewest)


def _requests(outcome: Outcome) -> Iterator[Change]:
    for other in other_requests(outcome):
        tried = admit(outcome.before, with_amounts(outcome.pod, other.amounts))
        cost = len(other.amounts) + 8 * (1 - other.kept)
        yield Change("request", cost, aligned(tried), amounts=other.amounts, asked=other.asked)


def _settings(situation: Situation, outcome: Outcome) -> Iterator[Change]:
    """Try other settings on the same past. All pods that are there now have to be admitted then, too."""
    policy_found = False
    for flags in other_settings(situation.setup.config):
        if POLICY in flags and policy_found:
            continue
        config = apply(situation.setup.config, flags)
        tried = _tried(situation._replace(setup=situation.setup._replace(config=config)), outcome)
        if tried is not None:
            policy_found = policy_found or POLICY in flags
            yield Change("setting", _cost(flags), aligned(tried), flags=flags)


def _cost(flags: Flags) -> float:
    if SCOPE in flags:
        return 3
    if POLICY in flags:
        return 4 + STRICTEST_FIRST.index(flags[POLICY])
    return 4 if MEMORY_POLICY in flags else 3.5


def _tried(situation: Situation, outcome: Outcome) -> Outcome | None:
    """Admit the pod elsewhere; None: it is refused there, or a pod that is here now would be."""
    try:
        session: Session = situation.session()
    except (StartError, KubeletPanicError):
        return None
    there = {pod.uid for pod in session.pods}
    if any(pod.uid not in there for pod in outcome.before.pods):
        return None
    tried = admit(session, outcome.pod)
    return tried if tried.admit else None
