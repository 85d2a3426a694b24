"""The details of a decision: its steps, all aligned allocations, the kubelet's own words, what is in the way next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from numalign.analysis.limits import MAX_ALLOCATIONS_SHOWN, MAX_COMBINATIONS_SHOWN
from numalign.analysis.reasons.next import Rivals, ThenNext, next_in_the_way
from numalign.kubelet.memory.allocate import GROUP_BROKEN, NO_DEFAULT
from numalign.model.resources import CPU
from numalign.model.words import counted, duration, few_of
from numalign.render.page.document import Block, Cell, Paragraph, Styled, Table, Title
from numalign.render.text.amounts import amount_text, listed, nodes_text, readable_text

if TYPE_CHECKING:
    from numalign.analysis.alternatives import Alternatives
    from numalign.analysis.crash import Crash
    from numalign.analysis.merging import Merging, Said
    from numalign.analysis.refusal import Refusal
    from numalign.kubelet.topology.hints import TopologyHint
    from numalign.results.explain import ExplainedPod


MAX_HINTS_LISTED = 16
"""How many hints a line holds; of more only the preferred ones are written, and how many there are."""

RULES: Mapping[str, str] = {
    "preferred": "a preferred hint beats one that is not",
    "fewer nodes": "both are preferred, and the winner has fewer NUMA nodes",
    "closer": "equally many NUMA nodes, and these are closer to each other",
    "smaller number": "equally many NUMA nodes, and the mask is the smaller number",
    "exactly as many nodes as needed": "neither is preferred, and the winner has as many NUMA nodes as the "
    "most demanding resource needs",
    "nearest to the nodes needed": "neither is preferred, and the number of NUMA nodes is nearer to what "
    "the most demanding resource needs",
}


def details(steps: Merging) -> Iterator[Block]:
    """Write one decision, step by step."""
    yield Paragraph()
    whom = "the whole pod" if steps.container is None else f"container {steps.container}"
    yield Title(f"details of {whom}: masks as {{binary, NUMA 0 last: preferred}}", 2)
    rows = [(said.provider, said.resource or "-", _said(steps.nodes, said)) for said in steps.said]
    yield Table(("PROVIDER", "RESOURCE", "HINTS"), tuple(rows), indent=2)
    yield from _walk(steps)
    if steps.policy == "none":
        yield Paragraph("Policy none merges nothing. The table shows what the providers would return.", 2)
        return
    verdict = "admits" if steps.admit else "rejects"
    yield Paragraph(f"The merge results in {_winner(steps)}: {steps.policy} {verdict}.", 2)
    if steps.admit and steps.runner_up is not None and steps.rule is not None:
        yield Paragraph(f"Runner-up {hint_text(steps.nodes, steps.runner_up)}: {RULES[steps.rule]}.", 2)


def _winner(steps: Merging) -> str:
    mask = steps.winner.numa_affinity
    if not steps.admit:
        return "nothing preferred"
    where = "" if mask is None else f" ({nodes_text(mask)})"
    return f"{hint_text(steps.nodes, steps.winner)}{where}"


def hint_text(nodes: int, hint: TopologyHint) -> str:
    """Write a hint as the announcement of the Topology Manager does, `{01: True}`; `nodes` is the mask of all nodes."""
    mask = "no mask" if hint.numa_affinity is None else format(hint.numa_affinity, f"0{max(nodes.bit_length(), 1)}b")
    return f"{{{mask}: {hint.preferred}}}"


def _said(nodes: int, said: Said) -> str:
    if said.opinion != "hints":
        return {"no preference": "no preference", "cannot fit": "none: no set of NUMA nodes has enough"}[said.opinion]
    if said.hints is None:
        return f"up to {said.number}, too many to list"
    shown: Sequence[TopologyHint] = said.hints
    if said.number > MAX_HINTS_LISTED:
        shown = [hint for hint in said.hints if hint.preferred][:MAX_HINTS_LISTED]
    text = " ".join(hint_text(nodes, hint) for hint in shown) or "none preferred"
    return text if len(shown) == said.number else f"{text} and {said.number - len(shown)} more"


def _walk(steps: Merging) -> Iterator[Block]:
    """The cross product: all of it where it is small, else how large it is."""
    if steps.policy == "none":
        return
    if steps.table and steps.resources:
        yield Paragraph()
        rows: list[tuple[Cell, ...]] = []
        for entry in steps.table:
            merged = hint_text(steps.nodes, entry.merged)
            wins = entry.merged == steps.winner and steps.admit
            rows.append(
                (*(hint_text(steps.nodes, hint) for hint in entry.hints), Styled(merged, "good") if wins else merged)
            )
        yield Table((*steps.resources, "MERGED"), tuple(rows), indent=2)
        return
    if steps.combinations > MAX_COMBINATIONS_SHOWN:
        text = f"The kubelet walks {counted(steps.combinations)} combinations, in about {duration(steps.seconds)}."
        yield Paragraph(text, 2)
    elif not steps.combinations:
        yield Paragraph("No combination: some resource has no hint that the policy keeps.", 2)


def alternatives_lines(container: str | None, found: Sequence[Alternatives]) -> Iterator[Block]:
    """Write all aligned allocations of a container or pod; where there are many, how many."""
    total = sum(one.ways for one in found)
    whom = "the whole pod" if container is None else f"container {container}"
    yield Paragraph()
    if not total:
        yield Paragraph(f"No aligned allocation for {whom} now.", 2)
        return
    yield Paragraph(f"{total} aligned allocation{'s' * (total != 1)} for {whom}:", 2)
    if total <= MAX_ALLOCATIONS_SHOWN:
        for one in found:
            yield from (Paragraph(_set(chosen), 4) for chosen in one.listed())
        return
    for one in found:
        ways = " × ".join(
            f"{choice.ways} of {choice.resource} ({choice.amount} of {len(choice.members)})" for choice in one.choices
        )
        first = next(one.listed())
        yield Paragraph(f"{one.ways} on {nodes_text(one.nodes)}: {ways}; for example {_set(first)}", 4)


def _set(chosen: Iterable[tuple[str, tuple[str, ...]]]) -> str:
    """Write one allocation: `{cpu: {0, 1}, gpu: 0}`."""
    parts = (
        f"{name}: {members[0] if len(members) == 1 else '{' + ', '.join(members) + '}'}" for name, members in chosen
    )
    return f"{{{', '.join(parts)}}}"


def next_lines(told: ExplainedPod) -> Iterator[str]:
    """Say what would be in the way next, where no cut of a single request does."""
    several = told.containers > 1
    if told.refusal is not None:
        for one in next_in_the_way(told.refusal, told.besides, told.changes, several=several):
            yield _rivals(one) if isinstance(one, Rivals) else _then(one, several=several)


def _rivals(one: Rivals) -> str:
    """Say which containers want the same few devices, and which change takes them from whom."""
    see = ", ".join(f"{name}: fix {number}" for name, number in one.changes if number)
    only = f"only {amount_text(one.resource, one.capacity)} {'exists' if one.capacity == 1 else 'exist'}"
    names = listed([name for name, _ in one.changes])
    return f"{names} request {one.resource}, of which {only}: reduce the request of either ({see})."


def _then(one: ThenNext, *, several: bool) -> str:
    """Say what is in the way then: `8Gi memory of container a and 2 cpu of container b`."""
    texts = []
    for container in dict.fromkeys(name for name, *_ in one.asked):
        asked = (f"{readable_text(name, nano)} {name}" for whose, name, nano in one.asked if whose == container)
        texts.append(f"{', '.join(asked)}{f' of container {container}' * several}")
    where = f" in container {one.container}" if one.container is not None else ""
    return f"Lowering {listed(one.resources)}{where} is not enough: {listed(texts)} would not fit either."


MAX_PODS_NAMED = 4
"""How many pods are named that must not come first."""


def plugins_to_mend(told: ExplainedPod) -> Iterator[str]:
    """Say which plugins to mend, and what becomes of the pod then."""
    if told.repair is None:
        return
    names = [name for name, _ in told.repair.devices]
    ids = sorted({numa for _, wrong in told.repair.devices for numa in wrong})
    many = len(names) > 1
    where = f"NUMA {listed(list(map(str, ids)))}, not on this machine"
    head = "Or repair" if told.repair.admits else "Also repair"
    first = ""
    if told.repair.kept_out:
        who = few_of(told.repair.kept_out, MAX_PODS_NAMED)
        first = f", unless {who} (rejected so far) {'start' if len(told.repair.kept_out) > 1 else 'starts'} first"
    yield f"{head} the device plugin{'s' * many} of {listed(names)}, which report{'s' * (not many)} {where}."
    then = f"the kubelet admits the pod{first} (tested)" if told.repair.admits else "the kubelet counts these devices"
    yield f"With no NUMA node reported, {then}."


def first_of_all(crash: Crash) -> str:
    """Say what an operator does about a pod that the kubelet does not survive before anything else."""
    again = "hangs again" if crash.kind == "endless" else "crashes again"
    return f"First delete the pod or keep it off this node: after each restart the kubelet meets the pod and {again}."


def meant(refusal: Refusal) -> str:
    """Say what a message means whose numbers are not those of the request, or that names no resource; else nothing."""
    numbers = numbers_text(refusal)
    if numbers or refusal.stage != "allocation":
        return numbers
    chosen, lacking = refusal.around.chosen or 0, refusal.around.lacking
    several = chosen & (chosen - 1)
    nodes = refusal.matrix.nodes if refusal.matrix is not None else ()
    if chosen and lacking:
        more = chosen.bit_count() < len(nodes)
        where = nodes_text(chosen) + ", the choice of the kubelet," * more
        there = f"{where} {'have' if several else 'has'} too little {listed(lacking)} free"
        return f"Meaning: {there}{', also combined with other NUMA nodes' * more}."
    if NO_DEFAULT in refusal.message and len(nodes) > 1:
        return "Meaning: no NUMA node has enough free memory, and no set that the Memory Manager may combine."
    if several and GROUP_BROKEN in refusal.message:
        return f"Meaning: the Memory Manager may not combine {nodes_text(chosen)}, because memory there is in use."
    return ""


def numbers_text(refusal: Refusal) -> str:
    """Say what the numbers in the kubelet's message are, where they are not those of the request; empty: they are."""
    found = refusal.rest
    if found is None:
        return ""
    if found.taken:
        return f"Before, {' and '.join(f'{name} of this pod took {amount}' for name, amount in found.taken)}."
    whose = f"the socket{'s' * (found.sockets > 1)} of " * bool(found.sockets)
    first = f"{whose}{nodes_text(found.nodes)}" if found.nodes else "init containers"
    word = "requested=" if found.resource == CPU else "Requested: "
    rest = f"{found.requested - found.left} of {found.requested} {found.resource} come from {first}"
    return f"{word}{found.left} is the rest for container {found.container}: {rest}."
