"""All that `explain` has to say about one pod, as data."""

from __future__ import annotations

from collections.abc import Iterable

from numalign.analysis.culprits import decisions
from numalign.analysis.matrix import Matrix, matrix
from numalign.analysis.own_containers import strayed
from numalign.analysis.placement import Placement, placements
from numalign.analysis.refusal import Refusal, refusal
from numalign.analysis.unpinned import Unpinned, unpinned
from numalign.analysis.untied import Untied, untied
from numalign.analysis.whatif.besides import besides
from numalign.analysis.whatif.change import Hardware, WayOut
from numalign.analysis.whatif.changes import Machines, changes
from numalign.analysis.whatif.plugin import Repair, repair
from numalign.analysis.whatif.policies import NoPolicy, no_policy
from numalign.analysis.whatif.settings import POLICY
from numalign.analysis.whatif.situation import Situation
from numalign.analysis.whatif.tries import Tries
from numalign.analysis.whole_node import whole_node
from numalign.kubelet.admission import Outcome
from numalign.kubelet.cpu.state import handed_out_twice
from numalign.kubelet.node import Decision
from numalign.model.cpuset import CPUSet
from numalign.values import NamedTuple


class Explanation(NamedTuple):
    """One pod's admission, told."""

    outcome: Outcome
    decisions: tuple[Decision, ...]
    """What the managers said, container by container or for the pod, up to a refusal."""
    matrices: tuple[Matrix, ...]
    """One for each decision."""
    refusal: Refusal | None
    changes: tuple[WayOut, ...]
    """Of a refused pod: what would admit it, in the order in which it is told."""
    placements: tuple[Placement, ...]
    """Of an admitted pod: where its containers are."""
    unpinned: tuple[Unpinned, ...] = ()
    """Of an admitted pod: the containers that could have CPUs of their own and have none."""
    besides: tuple[Refusal, ...] = ()
    """Of a refused pod: what else refuses it, for ever or as the node as a whole lacks it now."""
    untied: tuple[Untied, ...] = ()
    """Of a refused pod: what it asks for that no decision counts."""
    doubled: CPUSet = 0
    """Of a refused pod: CPUs of the node that are handed out twice, so that amounts of them do not add up."""
    no_policy: NoPolicy | None = None
    """Of a refused pod: no other policy admits it as it is; None: one does, or a change sets one."""
    repair: Repair | None = None
    """Of a refused pod: what becomes of it with device plugins that name no node where they name one that is none."""


def explain_outcome(
    situation: Situation,
    outcome: Outcome,
    others: Machines = (),
    *,
    known: Machines = (),
    altered: Iterable[tuple[Hardware, Situation]] = (),
) -> Explanation:
    """Explain an admission.

    Args:
        situation: what the pod met; its past ends right before the pod.
        outcome: what came of it.
        others: further machines where a refused pod is tried, with the same past.
        known: machines that nobody asked about (see `changes`).
        altered: this machine with more devices or huge pages (see `changes`).
    """
    # Where providers cannot be asked, nodes have no place in masks, by which tables and steps name them.
    asked = tuple(decision for decision in decisions(outcome) if decision.answers)
    tables = (matrix(outcome.before.node, outcome.demand, decision) for decision in asked)
    matrices = tuple([table._replace(strayed=strayed(outcome, table.container)) for table in tables])
    if outcome.admit:
        return Explanation(
            outcome=outcome,
            decisions=asked,
            matrices=matrices,
            refusal=None,
            changes=(),
            placements=placements(outcome),
            unpinned=tuple(unpinned(outcome)),
        )
    tries = Tries(situation, outcome)
    found = changes(tries, others, known=known, altered=altered)
    told = refusal(outcome)
    for_ever = tuple(besides(tries, found))
    return Explanation(
        outcome=outcome,
        decisions=asked,
        matrices=matrices,
        refusal=told,
        changes=found,
        placements=(),
        besides=(*for_ever, *whole_node(outcome, told, for_ever)),
        untied=tuple(untied(outcome, matrices)),
        doubled=handed_out_twice(outcome.before.state.cpu),
        no_policy=None if any(POLICY in change.flags for change in found) else no_policy(tries),
        repair=repair(situation, outcome, told),
    )
