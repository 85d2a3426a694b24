"""What `compare` shows: a row a variant, and below it why some refuse; and the same for programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from numalign.analysis.compare.table import Comparison, Left, Variant
from numalign.analysis.refusal import refusal
from numalign.errors import Notice
from numalign.kubelet.admission import Outcome
from numalign.kubelet.demand import PodDemand
from numalign.model.machine import Machine
from numalign.render.json.admit import pod_json, settings_json
from numalign.render.page.document import Cell, Document, Line, Styled, Table
from numalign.render.text.admit import header, hint_text, lacking, machine_line
from numalign.render.text.amounts import amount_text, nodes_text
from numalign.render.text.refusal import why

NOTHING = "-"
FEW = 3
"""So many different hints of a set of pods are shown in a row; `wide` shows all."""


class Tried(NamedTuple):
    """All that was tried on one machine."""

    machine: Machine
    origin: str
    """Where the machine came from."""
    base: str
    """`ideal` or `kubelet`."""
    comparisons: Sequence[Comparison]


def compare_document(tried: Sequence[Tried], *, wide: bool = False) -> Document:
    """Build the header, the table, and below it what the rows have no room for."""
    everything = [one for machine in tried for one in machine.comparisons]
    document: list[Line | Table] = [Line(text, "dim") for text in _header(tried)]
    document += [Line(), _table(everything, wide=wide, machines=len(tried) > 1)]
    if any(one.variant.present for one in everything):
        document.append(Line("* the settings as given", "dim"))
    document += [*_told(_start_errors(everything), everything), *_told(_refusals(everything), everything)]
    return [*document, Line(), Line(_difference(everything), "bold")]


def _header(tried: Sequence[Tried]) -> Iterator[str]:
    labels: dict[str, None] = {}
    for machine, origin, base, comparisons in tried:
        config = comparisons[0].variant.config
        yield machine_line(machine, origin)
        settings = [f"CPU manager {config.cpu_manager_policy}", f"memory manager {config.memory_manager_policy}"]
        if config.reserved_system_cpus:
            settings.append(f"reserved CPUs {config.reserved_system_cpus}")
        given = {**(config.topology_manager_policy_options or {}), **(config.cpu_manager_policy_options or {})}
        settings += [f"{name}={value}" for name, value in given.items()]
        yield f"kubelet: {base} base, {', '.join(settings)}"
        started = next((one.outcomes[0].before.node for one in comparisons if one.outcomes), None)
        if started is not None:
            labels.update(dict.fromkeys(header(started, base, origin)[2:]))
    yield from labels


def _table(comparisons: Sequence[Comparison], *, wide: bool, machines: bool) -> Table:
    options = any(one.variant.option for one in comparisons)
    columns = ("", "POLICY", "SCOPE", "RESULT", "HINT", "ALIGNED", "REPLICAS", "THEN", "STRANDED")
    rows = []
    for one in comparisons:
        row = list(_row(one, wide=wide))
        row[1:1] = [one.variant.machine.name] * machines
        row[3 + machines : 3 + machines] = [one.variant.option or NOTHING] * options
        rows.append(tuple(row))
    titles = [*columns[:1], *["MACHINE"] * machines, *columns[1:3], *["OPTION"] * options, *columns[3:]]
    return Table(tuple(titles), tuple(rows))


def _row(one: Comparison, *, wide: bool) -> Iterator[Cell]:
    config = one.variant.config
    yield "*" if one.variant.present else ""
    yield config.topology_manager_policy
    yield NOTHING if config.topology_manager_policy == "none" else config.topology_manager_scope
    if one.error:
        yield Styled("does not start", "bad")
        yield from [NOTHING] * 5
        return
    yield _result(one)
    yield _hints(one.outcomes, wide=wide)
    yield _aligned(one.aligned)
    yield _replicas(one)
    yield _then(one)
    yield stranded_text(one, wide=wide)


def _result(one: Comparison) -> Cell:
    admitted, pods = sum(outcome.admit for outcome in one.outcomes), len(one.outcomes)
    if one.refused is None:
        text = "admitted" if pods == 1 else f"all {pods} admitted"
        missing = ", ".join(dict.fromkeys(name for outcome in one.outcomes for name in lacking(outcome)))
        return Styled(f"{text} WITHOUT {missing}", "warn") if missing else Styled(text, "good")
    reason = reason_text(one.refused)
    return Styled(reason if pods <= 1 else f"{admitted} of {pods}, {reason}", "bad")


def reason_text(outcome: Outcome) -> str:
    """Name a refusal: the kubelet's reason, or that the kubelet itself fails."""
    return outcome.reason or {"panic": "kubelet crashes", "hang": "kubelet hangs"}[outcome.stage]


def _hints(outcomes: Iterable[Outcome], *, wide: bool) -> str:
    texts = list(
        dict.fromkeys(
            hint_text(outcome.result.hints[container.name])
            for outcome in outcomes
            if outcome.admit
            for container in outcome.demand.containers
        )
    )
    more = len(texts) - FEW
    shown = texts if wide or more <= 0 else [*texts[:FEW], f"{more} more"]
    return "; ".join(shown) or NOTHING


def _aligned(aligned: bool | None) -> Cell:
    if aligned is None:
        return NOTHING
    return Styled("yes", "good") if aligned else Styled("NO", "warn")


def _replicas(one: Comparison) -> Cell:
    number = f"{one.replicas}{'' if one.refusal else ' or more'}"
    if one.aligned_replicas == one.replicas:
        return number
    return Styled(f"{number}, {one.aligned_replicas} aligned", "warn")


def _then(one: Comparison) -> str:
    """Say what ends the count, where RESULT does not say it."""
    if one.refusal is None or not one.replicas:
        return NOTHING
    return "evicts a pod" if one.refusal.admit else reason_text(one.refusal)


def stranded_text(one: Comparison, *, wide: bool = False) -> str:
    """Say what is left on which nodes: of the resources that the pods take exclusively, or of all."""
    if one.refusal is None:
        return NOTHING
    asked = {name for outcome in one.outcomes for name in _exclusive(outcome.demand)}
    places: dict[str, list[int | None]] = {}
    for numa, free in one.stranded:
        amounts = (
            f"{amount_text(name, amount)} {name}" for name, amount in free.items() if amount and (wide or name in asked)
        )
        text = ", ".join(amounts)
        if text:
            places.setdefault(text, []).append(numa)
    if not places and not wide and asked.isdisjoint(name for left in one.stranded for name in left.free):
        return NOTHING
    return (
        "; ".join(f"{_place(numas)}: {text}{' each' * (len(numas) > 1)}" for text, numas in places.items()) or "nothing"
    )


def _exclusive(demand: PodDemand) -> Iterator[str]:
    for container in demand.containers:
        if container.cpus:
            yield "cpu"
        yield from (name for name, amount in (*container.devices, *(container.memory or ())) if amount)


def _place(numas: Sequence[int | None]) -> str:
    mask = sum(1 << numa for numa in numas if numa is not None and numa >= 0)
    odd = ["without a node" if numa is None else f"node {numa}" for numa in numas if numa is None or numa < 0]
    return " and ".join([*([nodes_text(mask)] if mask else []), *odd])


_Groups = Mapping[tuple[str, ...], list[Variant]]
"""Lines of text -> the variants they hold for."""


def _start_errors(comparisons: Iterable[Comparison]) -> _Groups:
    groups: dict[tuple[str, ...], list[Variant]] = {}
    for one in comparisons:
        if one.error:
            groups.setdefault(("the kubelet does not start", one.error), []).append(one.variant)
    return groups


def _refusals(comparisons: Iterable[Comparison]) -> _Groups:
    groups: dict[tuple[str, ...], list[Variant]] = {}
    for one in comparisons:
        if one.refused is not None:
            reasons = list(why(refusal(one.refused), one.refused.before.node)) or [one.refused.message]
            groups.setdefault((f"{one.refused.pod.name} is refused", *reasons), []).append(one.variant)
    return groups


def _told(groups: _Groups, comparisons: Sequence[Comparison]) -> Iterator[Line]:
    for (title, *lines), variants in groups.items():
        yield Line()
        yield Line(f"{title} under {_names(variants, comparisons)}:", "bad")
        yield from (Line(f"  {text}") for text in lines)


def _names(variants: Sequence[Variant], comparisons: Sequence[Comparison]) -> str:
    """Name variants, those of a machine and an option together; a policy alone stands for all its scopes."""
    everything = [one.variant for one in comparisons]
    if len(variants) == len(everything):
        return "every variant"
    several = len({variant.machine.name for variant in everything}) > 1
    names = []
    for machine, option in dict.fromkeys((variant.machine.name, variant.option) for variant in variants):
        there = [variant for variant in everything if (variant.machine.name, variant.option) == (machine, option)]
        where = f" with {option}" * bool(option) + f" on {machine}" * several
        names.append(f"{_policies([variant for variant in variants if variant in there], there)}{where}")
    return "; ".join(names)


def _policies(variants: Sequence[Variant], there: Sequence[Variant]) -> str:
    if len(variants) == len(there):
        return "every policy"
    names = []
    for policy in dict.fromkeys(variant.config.topology_manager_policy for variant in variants):
        scopes = [one.config.topology_manager_scope for one in variants if one.config.topology_manager_policy == policy]
        all_scopes = sum(one.config.topology_manager_policy == policy for one in there)
        names.append(policy if len(scopes) == all_scopes else f"{policy} in scope {scopes[0]}")
    return ", ".join(names)


def _difference(comparisons: Sequence[Comparison]) -> str:
    """Say which variants are best; those without a device that is asked for only where all are without one."""
    if not any(one.replicas for one in comparisons):
        return "no variant admits everything"
    whole = [one for one in comparisons if one.replicas and not any(lacking(outcome) for outcome in one.outcomes)]
    most = max(one.aligned_replicas for one in whole or comparisons)
    best = [one.variant for one in whole or comparisons if one.aligned_replicas == most]
    kind = "replicas" if all(one.aligned is None for one in comparisons) else "aligned replicas"
    return f"most {kind}: {most} under {_names(best, comparisons)}"


def compare_json(tried: Sequence[Tried], notices: Iterable[Notice]) -> dict[str, Any]:
    """Write the comparison for programs."""
    return {
        "apiVersion": "numalign/v1",
        "kind": "CompareResult",
        "variants": [_variant_json(one, machine.base) for machine in tried for one in machine.comparisons],
        "warnings": [notice._asdict() for notice in notices],
    }


def _variant_json(one: Comparison, base: str) -> dict[str, Any]:
    ended = one.refusal
    return {
        "machine": one.variant.machine.name,
        "base": base,
        "kubelet": settings_json(one.variant.config),
        "option": one.variant.option or None,
        "present": one.variant.present,
        "startError": one.error or None,
        "admit": one.admit,
        "aligned": one.aligned,
        "pods": [pod_json(outcome.before.node, outcome) for outcome in one.outcomes],
        "replicas": one.replicas,
        "alignedReplicas": one.aligned_replicas,
        "moreReplicas": not one.error and ended is None,
        "refusal": ended
        and {"pod": ended.pod.name, "stage": ended.stage, "reason": ended.reason, "message": ended.message},
        "stranded": [_left_json(left) for left in one.stranded],
    }


def _left_json(left: Left) -> dict[str, Any]:
    memory = {name: amount for name, amount in left.free.items() if name == "memory" or name.startswith("hugepages-")}
    return {
        "numaNode": left.numa,
        "cpus": left.free.get("cpu"),
        "memory": memory,
        "devices": {name: amount for name, amount in left.free.items() if name != "cpu" and name not in memory},
    }
