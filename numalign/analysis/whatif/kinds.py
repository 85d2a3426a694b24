"""Changes by kind: another machine, pods that move, settings, each tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from numalign.analysis.alignment import aligned
from numalign.analysis.settings import POLICY
from numalign.analysis.situation import Situation
from numalign.analysis.whatif.change import Hardware, WayOut
from numalign.analysis.whatif.goal import ADMITTED
from numalign.analysis.whatif.past import moved, without
from numalign.analysis.whatif.tries import Tries, newcomers
from numalign.errors import CrashError, StartError
from numalign.kubelet.admission import Outcome, Session, admit, forecast
from numalign.model.pod import Pod

Machines = Iterable[tuple[str, Situation]]
"""A machine's name, and the same past there."""

MAX_PODS_SEARCHED = 12
"""On a node with more pods no other one is tried in place of the one that is to be moved."""


def altered_machine(tries: Tries, altered: Iterable[tuple[Hardware, Situation]]) -> Iterator[WayOut]:
    """Try the pod on its machine with other hardware."""
    for hardware, situation in altered:
        tried = _tried(situation, tries)
        if tried is not None:
            yield WayOut(aligned(tried), hardware=hardware, tried=tried)


def known_machines(tries: Tries, known: Machines) -> Iterator[WayOut]:
    """Try machines that have every device the pod asks for: where one is unknown, the pod would run without it."""
    asked = {name for container in tries.outcome.demand.containers for name, amount in container.devices if amount}
    for name, situation in known:
        if asked <= situation.setup.machine.devices.keys():
            for change in on_machines(tries, [(name, situation)]):
                yield change._replace(example=True)


def on_machines(tries: Tries, others: Machines) -> Iterator[WayOut]:
    """Try the pod on other machines."""
    for name, situation in others:
        tried = _tried(situation, tries)
        if tried is not None:
            yield WayOut(aligned(tried), machine=name, tried=tried)


def pods_moved(tries: Tries) -> Iterator[WayOut]:
    """Try the pod without some of the pods that are there."""
    outcome = tries.outcome
    found = moved(outcome.before, outcome.pod, tries.goal) if outcome.before.pods else None
    if found is not None:
        tried = admit(without(outcome.before, found.pods), outcome.pod)
        change = WayOut(aligned(tried), pods=found.pods, fewest=found.fewest, tried=tried)
        yield change._replace(or_pods=tuple(_instead(outcome, change)))


def _instead(outcome: Outcome, change: WayOut) -> Iterator[Pod]:
    """Find other pods that make room as well as the only one that is to be moved, older ones than that."""
    before = outcome.before.pods
    if len(change.pods) == 1 and len(before) <= MAX_PODS_SEARCHED:
        for pod in before[: before.index(change.pods[0])]:
            session = without(outcome.before, [pod])
            tried = ADMITTED.reached(session, outcome.pod)
            if tried is not None and aligned(tried) == change.aligned:
                yield pod


def other_settings(tries: Tries) -> Iterator[WayOut]:
    """Try other settings on the same past. All pods that are there now have to be admitted then, too.

    Pods refused so far may be admitted first under them, and be in the way.
    """
    rival_found, outcome = False, tries.outcome
    if forecast(outcome.before, outcome.pod) is False:
        return
    for flags in tries.settings():  # policies come last
        found = tries.beside(flags)
        if found is None or (found[1] and rival_found):
            continue
        tried, kept_out = found
        change = WayOut(aligned(tried), flags=flags, tried=tried, kept_out=kept_out)
        change = change._replace(needs_newcomers=tries.needs_newcomers(change))
        yield change
        if POLICY in flags and not change.needs_newcomers:
            if not kept_out:
                return
            rival_found = True


def _tried(situation: Situation, tries: Tries) -> Outcome | None:
    """Admit the pod elsewhere; None: that misses the goal, or a pod that is here now is refused there."""
    outcome = tries.outcome
    try:
        session: Session = situation.session()
    except (StartError, CrashError):
        return None
    return None if newcomers(session, outcome.before) is None else tries.goal.reached(session, outcome.pod)
