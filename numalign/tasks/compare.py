"""Compare what pods get under every policy and scope, with options, and on several machines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from numalign.analysis.compare.table import Comparison, run, variants
from numalign.analysis.refusal import refusal
from numalign.errors import Notice
from numalign.results.compare import ComparedMachine, ComparedRow, CompareResult
from numalign.worlds.missing import missing_notices, passing_over
from numalign.worlds.pod_result import pod_result

if TYPE_CHECKING:
    from numalign.kubelet.admission import Session
    from numalign.kubelet.demand import PodDemand
    from numalign.kubelet.setup import Setup
    from numalign.model.pod import Pod


def compare(
    setups: Sequence[Setup],
    pods: Sequence[Pod],
    *,
    beside: Sequence[Pod] = (),
    started: bool = False,
    options: Sequence[str] = (),
    reasons: bool = False,
    there: Session | None = None,
    allow_missing: Sequence[str] = (),
) -> CompareResult:
    """Admit pods, and copies of them until one is refused, under every policy and scope, each from an empty node.

    Args:
        setups: a machine and its kubelet's settings each; all but policy, scope and tried options stay.
        pods: in the order in which they come up.
        beside: pods that are there already, admitted first.
        started: the containers of an admitted pod start before the next pod comes.
        options: policy options, each tried by itself beside those that are set.
        reasons: take refusals apart (`ComparedRow.refusal`).
        there: the node as it is, for the first setup; None: empty.
        allow_missing: devices that pods may go without where a machine does not have them.
    """
    machines: list[ComparedMachine] = []
    notices: list[Notice] = []
    for setup in setups:
        on = there if setup is setups[0] else None
        here = passing_over(pods, setup.machine, allow_missing)
        tried = [run(variant, here, beside, started=started, on=on) for variant in variants(setup, options=options)]
        rows = tuple(compared_row(one, reasons=reasons) for one in tried)
        machines.append(ComparedMachine(setup, rows))
        where = f" on {setup.machine.name}" if len(setups) > 1 else ""
        odd = (*_odd(tried), *missing_notices((pod for row in rows for pod in row.pods), setup.machine))
        notices += [notice._replace(path=f"{notice.path}{where}") for notice in dict.fromkeys(odd)]
    return CompareResult(tuple(machines), tuple(notices))


def compared_row(one: Comparison, *, reasons: bool = False) -> ComparedRow:
    """Work out what every output needs of a variant; the row keeps none of its states."""
    refused = one.refused
    return ComparedRow(
        setup=one.variant.setup,
        option=one.variant.option,
        present=one.variant.present,
        error=one.error,
        pods=tuple(pod_result(outcome, why_apart=reasons) for outcome in one.outcomes),
        refused=refused and pod_result(refused),
        refusal=refusal(refused) if refused and reasons else None,
        replicas=one.replicas,
        aligned_replicas=one.aligned_replicas,
        ended=one.refusal and pod_result(one.refusal),
        stranded=one.stranded,
        exclusive=frozenset(name for outcome in one.outcomes for name in _exclusive(outcome.demand)),
    )


def _exclusive(demand: PodDemand) -> Iterator[str]:
    for container in demand.containers:
        if container.cpus:
            yield "cpu"
        yield from (name for name, amount in (*container.devices, *(container.memory or ())) if amount)


def _odd(tried: Iterable[Comparison]) -> Iterator[Notice]:
    """Warn of pods that are said to be there and are rejected under some policy, and of what the first set met."""
    refused: dict[str, dict[str, None]] = {}
    for one in tried:
        for outcome in one.absent:
            policy = one.variant.setup.config.topology_manager_policy
            refused.setdefault(outcome.pod.name, {})[policy] = None
        for outcome in one.outcomes:
            yield from outcome.notices
    for name, policies in refused.items():
        text = f"rejected under {', '.join(policies)}, so the pod is not on the node"
        yield Notice("beside-refused", text, name)
