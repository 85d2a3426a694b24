"""All that `explain` has to say about one pod, as data.

The fit check comes after the managers, so that the kubelet tells of what the node as a whole lacks only once they let
the pod in; for a pod that the managers refuse it is worked out here. So is why an admitted container that could have
CPUs of its own runs in the shared pool.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from numalign.analysis.alignment import verdict_of
from numalign.analysis.circumstances import Circumstances
from numalign.analysis.culprits import decisions
from numalign.analysis.floating import Cause, cause
from numalign.analysis.holding import holding
from numalign.analysis.in_the_way import of_shortage
from numalign.analysis.lint.finding import Finding
from numalign.analysis.lint.in_manifest import fractional_cpus, limit_missing, request_not_limit
from numalign.analysis.lint.subject import subject
from numalign.analysis.matrix import Matrix, matrix
from numalign.analysis.own_containers import shares_of_node, strayed
from numalign.analysis.placement import Placement, placements
from numalign.analysis.refusal import Refusal, refusal
from numalign.analysis.settings import POLICY
from numalign.analysis.situation import Situation
from numalign.analysis.untied import Untied, untied
from numalign.analysis.whatif.besides import NoPolicy, Repair, besides, least_bad, no_policy, repair
from numalign.analysis.whatif.change import Hardware, WayOut
from numalign.analysis.whatif.changes import changes
from numalign.analysis.whatif.goal import ALIGNED
from numalign.analysis.whatif.kinds import Machines
from numalign.analysis.whatif.tries import Tries
from numalign.kubelet.admission import Outcome
from numalign.kubelet.cpu.state import handed_out_twice
from numalign.kubelet.fit.check import Shortage, lacks
from numalign.kubelet.node import Decision
from numalign.model.cpuset import CPUSet
from numalign.model.quantity import MILLI, NANO
from numalign.model.resources import CPU
from numalign.values import NamedTuple


class Unpinned(NamedTuple):
    """One container, and what keeps it in the shared pool."""

    container: str
    cause: Cause
    blame: tuple[Finding, ...]
    """What makes it so, in which container, and what to write instead."""


def unpinned(outcome: Outcome) -> Iterator[Unpinned]:
    """Find the containers of an admitted pod that ask for whole CPUs, or whose pod has devices, and got no CPU."""
    node, demand, pod = outcome.before.node, outcome.demand, outcome.pod
    devices = any(amount for one in demand.containers for _, amount in one.devices)
    for container, asked in zip(pod.containers, demand.containers, strict=True):
        if holding(node, outcome.after, demand.uid, asked).cpus:
            continue
        cpu = container.requests.get("cpu")
        if devices or (cpu is not None and cpu.nano and cpu.nano % NANO == 0):
            why = cause(node, pod, asked)
            yield Unpinned(container.name, why, tuple(_blame(outcome, why, container.name)))


def _blame(outcome: Outcome, why: Cause, name: str) -> Iterator[Finding]:
    """Find in the manifest what to change, as `lint` does."""
    looked_at = subject(outcome.pod, None)
    if why.kind == "qos":
        yield from limit_missing(looked_at)
        yield from request_not_limit(looked_at)
    elif why.kind == "fraction":
        yield from (one for one in fractional_cpus(looked_at) if one.container == name)


def whole_node(outcome: Outcome, told: Refusal, besides: Sequence[Refusal]) -> Iterator[Refusal]:
    """Tell what else refuses a pod: what the node as a whole lacks now, in one refusal.

    Args:
        outcome: the refusal.
        told: the same, taken apart; what it tells of a resource is not told again.
        besides: what else is told of it.
    """
    before = outcome.before
    if told.stage == "fit" or told.crash is not None or before.view is None:
        return
    devices = {name: len(each.devices) for name, each in before.node.device.resources.items()}
    sums = {one.resource for each in (told, *besides) for one in each.around.sums}
    short = tuple(
        one
        for one in lacks(outcome.pod, before.pods, before.view, devices)
        if (one.used or one.resource not in sums) and all(_tells_more(one, each) for each in (told, *besides))
    )
    if short:
        yield Refusal(
            stage="fit",
            reason=short[0].refusal.reason,
            message=short[0].refusal.message,
            container=None,
            policy=told.policy,
            matrix=None,
            culprits=(),
            shortages=short,
            never=any(one.requested > one.capacity for one in short),
            amounts=tuple(map(of_shortage, short)),
            around=Circumstances(shares=tuple(shares_of_node(outcome.pod, short))),
        )


def _tells_more(short: Shortage, told: Refusal) -> bool:
    """Tell whether a shortage is more than a refusal tells: less is left than is free, or more containers ask."""
    if told.around.when == "ever" and short.used:
        return True
    row = next((one for one in (*told.culprits, *told.also) if one.resource == short.resource), None)
    if row is None:
        return True
    unit = NANO // MILLI if short.resource == CPU else 1
    own = sum(one.amount for one in told.around.own if one.resource == short.resource and one.kind != "init")
    left, asked = max(short.capacity - short.used, 0) // unit, short.requested / unit
    return left < row.free + own or asked > row.requested + own


class Explanation(NamedTuple):
    """One pod's admission, told."""

    outcome: Outcome
    decisions: tuple[Decision, ...]
    """What the managers said, container by container or for the pod, up to a refusal."""
    matrices: tuple[Matrix, ...]
    """One for each decision."""
    refusal: Refusal | None
    changes: tuple[WayOut, ...]
    """What would admit a refused pod, or align one that is not aligned, in the order in which it is told."""
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
    least_bad: WayOut | None = None
    """Of an admitted pod that nothing aligns on this machine: the setting under which it lies least apart."""
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
    matrices = tuple([table._replace(strayed=strayed(outcome, table.container or "")) for table in tables])
    if outcome.admit:
        tries = Tries(situation, outcome, ALIGNED)
        apart = verdict_of(outcome) in ("spread", "floating")
        better = changes(tries, others, known=known, altered=altered) if apart else ()
        stuck = apart and all(one.machine or one.hardware or 0 in one.amounts.values() for one in better)
        return Explanation(
            outcome=outcome,
            decisions=asked,
            matrices=matrices,
            refusal=None,
            changes=better,
            least_bad=least_bad(tries) if stuck else None,
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
