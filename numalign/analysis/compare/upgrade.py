"""What another kubelet version decides about the same pods on the same machine, and which difference makes it so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from numalign.analysis.whatif.situation import Situation
from numalign.errors import StartError
from numalign.kubelet.admission import Outcome, Session, admit_in_order
from numalign.kubelet.profile import Profile
from numalign.kubelet.releases import Difference, between
from numalign.model.pod import Pod


class Run(NamedTuple):
    """One version's decisions."""

    profile: Profile
    session: Session | None
    """What the pods find; None: the kubelet does not start."""
    outcomes: tuple[Outcome, ...] = ()
    """Of the tried pods."""
    error: str = ""
    """Why it does not start."""


class TriedDifference(NamedTuple):
    """A difference between two versions."""

    difference: Difference
    decides: bool
    """Without this one difference the newer version would decide otherwise here."""


def run(situation: Situation, tried: Sequence[Pod], profile: Profile, *, started: bool = False) -> Run:
    """Admit pods as one kubelet, which saw everything that happened before."""
    try:
        session = situation._replace(setup=situation.setup._replace(kubelet=profile)).session()
    except StartError as error:
        return Run(profile, None, error=error.message)
    return Run(profile, session, tuple(admit_in_order(session, tried, started=started)))


def tried_differences(
    situation: Situation, tried: Sequence[Pod], older: Run, newer: Run, *, started: bool = False
) -> tuple[TriedDifference, ...]:
    """List what lies between two versions; each difference is tried by taking it back alone."""
    verdicts: dict[str, bool] = {}
    now = decisions(newer)
    found = []
    for difference in between(older.profile.release, newer.profile.release):
        field = difference.field.partition(".")[0]
        if field not in verdicts:
            without = newer.profile._replace(**{field: getattr(older.profile, field)})
            verdicts[field] = decisions(run(situation, tried, without, started=started)) != now
        found.append(TriedDifference(difference, verdicts[field]))
    return tuple(found)


def decisions(of: Run) -> Sequence[object]:
    """Put down what a version decides, so that two versions can be compared."""
    return [of.error, *map(decision, of.outcomes)]


def decision(outcome: Outcome) -> object:
    """Put down one decision: admitted or why not, and what the pod holds."""
    uid, after = outcome.demand.uid, outcome.after
    if not outcome.admit:
        return (outcome.reason, outcome.message)
    return (
        outcome.result.hints,
        after.device.holdings.get(uid, {}),
        after.cpu.assignments.get(uid, {}),
        [after.memory.blocks(uid, container.name) for container in outcome.demand.containers],
    )
