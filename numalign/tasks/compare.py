"""Compare what pods get under every policy and scope, with options, and on several machines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from numalign.analysis.compare.table import Comparison, run, variants
from numalign.analysis.refusal import refusal
from numalign.errors import Notice
from numalign.kubelet.demand import PodDemand
from numalign.kubelet.setup import Setup
from numalign.model.pod import Pod
from numalign.results.compare import ComparedMachine, ComparedRow, CompareResult
from numalign.tasks.loaded_pods import ALONE, Terms
from numalign.worlds.missing import missing_notices
from numalign.worlds.pod_result import pod_result


def compare(
    setups: Sequence[Setup],
    pods: Sequence[Pod],
    terms: Terms = ALONE,
    *,
    options: Sequence[str] = (),
    reasons: bool = False,
) -> CompareResult:
    """Admit pods, and copies of them until one is refused, under every policy and scope, each from an empty node.

    Args:
        setups: a machine and its kubelet's settings each; all but policy, scope and tried options stay.
        pods: in the order in which they come up.
        terms: what is there before them, for the first setup the node as it is, too, and how they come.
        options: policy options, each tried by itself beside those that are set.
        reasons: take refusals apart (`ComparedRow.refusal`).
    """
    machines: list[ComparedMachine] = []
    notices: list[Notice] = []
    for setup in setups:
        on = terms.there if setup is setups[0] else None
        here, beside = tuple(terms.passing_over(pods, setup.machine)), terms.beside
        kinds = variants(setup, options=options)
        tried = [run(variant, here, beside, started=terms.started, on=on) for variant in kinds]
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
