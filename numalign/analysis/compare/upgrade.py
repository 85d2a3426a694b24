"""What another kubelet version decides about the same pods on the same machine, and which difference makes it so."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from numalign.analysis.situation import Situation
from numalign.errors import StartError
from numalign.kubelet.admission import Outcome, Session, admit_in_order
from numalign.kubelet.node import Node, start
from numalign.kubelet.releases.release import Change, Kubelet
from numalign.kubelet.releases.table import between, without
from numalign.model.pod import Pod
from numalign.values import NamedTuple


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
    pods: tuple[int, ...]
    """Positions of the pods about which it would."""


def run(situation: Situation, tried: Sequence[Pod], kubelet: Kubelet, *, started: bool) -> Run:
    """Admit pods as one kubelet, which saw everything that happened before."""
    try:
        session = situation._replace(setup=situation.setup._replace(kubelet=kubelet)).session()
    except StartError as error:
        return Run(kubelet, None, error=error.message)
    return Run(kubelet, session, tuple(admit_in_order(session, tried, started=started)))


def tried_differences(
    situation: Situation, tried: Sequence[Pod], older: Run, newer: Run, *, started: bool
) -> tuple[TriedDifference, ...]:
    """List what lies between two versions; each difference is tried by taking it back alone."""
    version = newer.kubelet.version
    found = []
    for difference in between(older.kubelet.version, version):
        decides, pods = _otherwise(situation, tried, newer, without(version, [difference]), started=started)
        found.append(TriedDifference(difference, decides, pods))
    return tuple(found)


def _otherwise(
    situation: Situation, tried: Sequence[Pod], newer: Run, taken_back: Kubelet, *, started: bool
) -> tuple[bool, tuple[int, ...]]:
    """Tell whether another kubelet decides otherwise, and about which pods.

    Where it comes up with the same managers and reads pods alike, nothing has to be admitted to know.
    """
    setup = situation.setup._replace(kubelet=taken_back)
    try:
        node = start(setup)[0]
    except StartError as error:
        return error.message != newer.error, ()
    if newer.session is None:
        return True, ()
    if _parts(node) == _parts(newer.session.node):
        return False, ()
    other = run(situation, tried, taken_back, started=started)
    both = zip_longest(map(decision, other.outcomes), map(decision, newer.outcomes))
    pods = tuple(place for place, (before, after) in enumerate(both) if before != after)
    return bool(pods), pods


def _parts(node: Node) -> object:
    """Put down all that decides on a started node; how a manager was started is seen in the manager."""
    topology = node.topology
    providers = [
        ([part for part in provider if part is not provider.start], manager) for provider, manager in topology.providers
    ]
    return topology._replace(providers=()), providers, node.reader, node.reservation


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
