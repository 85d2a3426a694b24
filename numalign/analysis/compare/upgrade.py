"""What another kubelet version decides about the same pods on the same machine, and which difference makes it so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from numalign.analysis.whatif.situation import Situation
from numalign.errors import StartError
from numalign.kubelet.admission import Outcome, Session, admit_in_order
from numalign.kubelet.proposals.table import with_proposals
from numalign.kubelet.releases.release import Change, Kubelet
from numalign.kubelet.releases.table import between, without
from numalign.model.pod import Pod


class Run(NamedTuple):
    """One version's decisions."""

    kubelet: Kubelet
    session: Session | None
    """What the pods find; None: the kubelet does not start."""
    outcomes: tuple[Outcome, ...] = ()
    """Of the tried pods."""
    error: str = ""
    """Why it does not start."""


class TriedDifference(NamedTuple):
    """A difference between two versions."""

    difference: Change
    decides: bool
    """Without this one difference the newer version would decide otherwise here."""


def run(situation: Situation, tried: Sequence[Pod], kubelet: Kubelet, *, started: bool = False) -> Run:
    """Admit pods as one kubelet, which saw everything that happened before."""
    try:
        session = situation._replace(setup=situation.setup._replace(kubelet=kubelet)).session()
    except StartError as error:
        return Run(kubelet, None, error=error.message)
    return Run(kubelet, session, tuple(admit_in_order(session, tried, started=started)))


def tried_differences(
    situation: Situation, tried: Sequence[Pod], older: Run, newer: Run, *, started: bool = False
) -> tuple[TriedDifference, ...]:
    """List what lies between two versions; each difference is tried by taking it back alone."""
    now = decisions(newer)
    version, proposals = newer.kubelet.version, newer.kubelet.proposals
    found = []
    for difference in between(older.kubelet.version, version):
        taken_back = with_proposals(without(version, [difference]), proposals)
        decides = decisions(run(situation, tried, taken_back, started=started)) != now
        found.append(TriedDifference(difference, decides))
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
