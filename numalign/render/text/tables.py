"""The tables of an explanation: what each NUMA node has for each decision, and what that does not tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from numalign.model.cpuset import format_set
from numalign.model.quantity import NANO, with_decimals
from numalign.model.resources import CPU
from numalign.model.words import few_of
from numalign.render.page.document import Block, Paragraph
from numalign.render.text.alignment import cause_text
from numalign.render.text.amounts import MAX_IDS_NAMED, listed, nodes_text
from numalign.render.text.matrix import matrix_notes, matrix_table
from numalign.render.text.words.shortage import taken_text

if TYPE_CHECKING:
    from numalign.analysis.matrix import Matrix
    from numalign.analysis.refusal import Refusal
    from numalign.analysis.untied import Untied
    from numalign.model.pod import QoS
    from numalign.results.explain import ExplainedPod

NO_TABLE = "it goes down before it knows what is free"
"""Why there is no table of what a kubelet does not survive."""

NO_NODES = "under policy none, no NUMA node is in the way"


def tables(told: ExplainedPod) -> Iterator[Block]:
    """Lay out what there was to choose from, decision by decision, and say why a node with all of it does not help."""
    refusal = told.refusal
    if refusal is not None and refusal.crash is not None:
        yield Paragraph()
        yield Paragraph(f"no table{' of that container' * bool(refusal.container)}: {NO_TABLE}", 2)
    if refusal is not None and refusal.stage == "fit" and refusal.policy == "none":
        yield Paragraph()
        lacks = f"lacks {listed(refusal.resources)}" if refusal.resources else "refuses the pod"
        yield Paragraph(f"no table: the machine as a whole {lacks}; {NO_NODES}", 2)
        return
    for tied, some in groupby(told.matrices, key=lambda table: bool(table.rows)):
        if tied:
            for table in some:
                yield from _one_table(table, told)
        else:
            yield Paragraph()
            yield Paragraph(_nothing_tied([table.container for table in some]), 2)
    yield from (Paragraph(text, 2) for text in _no_columns(told.matrices))
    if refusal is not None:
        yield from (Paragraph(text, 2) for text in (*_not_reached(told), *_not_counted(told), *_doubled(told)))
    if refusal is not None and told.matrices and told.matrices[-1].rows:
        yield from (Paragraph(text, 2) for text in _requests(told, refusal))


def _one_table(table: Matrix, told: ExplainedPod) -> Iterator[Block]:
    refusal = told.refusal if table is told.matrices[-1] else None
    yield Paragraph()
    yield Paragraph(_whom(table.container), 2)
    if refusal is not None and refusal.odd_cores:
        table = table.of_parts()
    yield matrix_table(table, verdict=True)
    yield from (Paragraph(text, 2) for text in (_in_spite(told, refusal) if refusal is not None else ()))
    yield from (Paragraph(text, 2) for text in matrix_notes(table))
    if table.strayed and refusal is None:
        chosen = "takes CPUs of the whole socket, also of nodes that were not chosen"
        yield Paragraph(f"its CPUs came from {nodes_text(table.strayed)}: option align-by-socket {chosen}", 2)
    if refusal is None and _on_no_node(table):
        whom = "the pod" if table.container is None else "this container"
        yield Paragraph(f"no ✗ is about one NUMA node alone: {whom} passes", 2)


def _nothing_tied(containers: Sequence[str | None]) -> str:
    """Say so of the whole pod or of containers of which no decision counts anything."""
    if len(containers) > 1:
        names = few_of([name for name in containers if name is not None], MAX_IDS_NAMED)
        return f"containers {names}: the kubelet ties nothing that they ask for to NUMA nodes"
    return f"{_whom(containers[0])}: the kubelet ties nothing that it asks for to NUMA nodes"


def _on_no_node(table: Matrix) -> bool:
    """Tell whether no node alone has all that is asked, where a policy looks at nodes."""
    return table.policy != "none" and not any(map(table.fits, range(len(table.nodes))))


def _not_reached(told: ExplainedPod) -> Iterator[str]:
    """Say why later containers have no table."""
    last, left = (told.matrices[-1].container if told.matrices else None), told.containers - len(told.matrices)
    if last is not None and left > 0 and (told.refusal is None or told.refusal.crash is None):
        what = "table for the container" if left == 1 else f"tables for the {left} containers"
        yield f"no {what} after {last}: the kubelet goes no further"


def _no_columns(tables: Sequence[Matrix]) -> Iterator[str]:
    """Say which numbers no NUMA node of the machine has, below the largest one."""
    told = next((table.nodes for table in tables if table.rows), ())
    missing = sum(1 << numa for numa in range(max(told, default=0)) if numa not in told)
    if missing:
        yield f"this machine has no {nodes_text(missing)}"


def _not_counted(told: ExplainedPod) -> Iterator[str]:
    """Say what a pod asks for that no row counts, and why."""
    names: dict[tuple[bool, str], list[str]] = {}
    whose: dict[tuple[bool, str, str], list[str]] = {}
    for one in told.untied:
        why = untied_text(one, told.pod.qos)
        names.setdefault((one.counted, why), []).append(one.resource)
        whose.setdefault((one.counted, why, one.resource), []).append(one.container)
    for (counted, why), resources in names.items():
        some = list(dict.fromkeys(name for one in resources for name in whose[counted, why, one]))
        what = listed(list(dict.fromkeys(resources)))
        if counted:
            yield f"{what} counts without {few_of(some, MAX_IDS_NAMED)}: {why}"
        else:
            of = f" of {few_of(some, MAX_IDS_NAMED)}" if len(some) < told.containers else ""
            out = f" {'is' if len(set(resources)) == 1 else 'are'} not counted" * any(
                table.rows for table in told.matrices
            )
            yield f"{what}{of}{out}: {why}"


def _doubled(told: ExplainedPod) -> Iterator[str]:
    """Say that amounts of CPUs do not add up, as the kubelet hands some out twice."""
    if told.doubled:
        many = told.doubled & (told.doubled - 1)
        which = f"CPU{'s' * bool(many)} {format_set(told.doubled)} {'are' if many else 'is'}"
        yield (
            f"cpu does not add up: {which} held by a pod and counted as free, or held by two, since the kubelet "
            "misjudges cores of unequal size"
        )


def untied_text(one: Untied, qos: QoS) -> str:
    """Say why no decision counts what a container asks for."""
    if one.kind == "memory-manager":
        return "memoryManagerPolicy is None"
    if one.kind == "init":
        return "only init containers ask for it, which does not count for a whole pod"
    if one.kind == "bytes" and not one.odd:
        return "the container asks for no whole number of bytes"
    if one.kind == "bytes":
        amounts = [f"{with_decimals(nano)} of {name}" for name, nano in one.odd]
        verb = "is" if len(amounts) == 1 else "are"
        odd = few_of(amounts, MAX_IDS_NAMED)
        return f"{odd} {verb} no whole number of bytes, so what the whole pod asks for is not counted"
    if one.kind == "no-plugin":
        return "no device plugin offers it"
    return cause_text(one.cause, qos)


def _whom(container: str | None) -> str:
    return "the whole pod" if container is None else f"container {container}"


def _in_spite(told: ExplainedPod, refusal: Refusal) -> Iterator[str]:
    """Say why a node that has everything did not help."""
    last = told.matrices[-1]
    yield from _enough_alone(last, refusal)
    if refusal.odd_cores:
        first = "cpu counts single CPUs;" if last.policy == "none" else "cpu ✗ also where enough single CPUs are free:"
        yield f"{first} full-pcpus-only gives out whole cores only"
        return
    if refusal.around.cores is None and _counts_single_cpus(told, last):
        yield "cpu ✓ counts single CPUs; full-pcpus-only gives out whole cores only"
    if not any(map(last.fits, range(len(last.nodes)))):
        if refusal.stage == "fit":
            yield "no ✗ is about one NUMA node alone and not in the way; the node as a whole refuses the pod, see above"
        return
    if refusal.around.cores is not None:
        yield "yes ✓ counts single CPUs; full-pcpus-only gives out whole cores only"
    elif refusal.stage == "fit":
        yield "yes ✓ is about NUMA nodes; the node as a whole refuses the pod, see above"
    elif refusal.stage == "allocation":
        yield "yes ✓ is about what is free; it was refused while it was handed out, see above"


def _enough_alone(last: Matrix, refusal: Refusal) -> Iterator[str]:
    """Say of a container's own ✓ that it does not count the other containers, where all of them ask for too much."""
    for one in refusal.around.sums:
        others = [name for name, _ in one.parts if name != last.container]
        row = next((row for row in last.rows if row.resource == one.resource), None)
        if row is None or len(others) == len(one.parts) or not any(cell.verdict == "enough" for cell in row.cells):
            continue
        whom = few_of(others, MAX_IDS_NAMED)
        yield f"{one.resource} ✓ is for {last.container} alone; with {whom} it is too much, see above"


def _counts_single_cpus(told: ExplainedPod, last: Matrix) -> bool:
    """Tell whether the last table has CPUs as enough that are found to be no whole cores further on."""
    found = [part.otherwise for change in told.changes for part in change.parts if part.otherwise is not None]
    odd = any(one.odd_cores and one.at == last.container for one in found)
    return odd and any(row.resource == CPU and any(cell.verdict == "enough" for cell in row.cells) for row in last.rows)


def _requests(told: ExplainedPod, refusal: Refusal) -> Iterator[str]:
    """Say what the node as a whole has less left of than a table has free, as pods share what they ask for."""
    here = [change for change in told.changes if not (change.pods or change.flags or change.machine or change.hardware)]
    parts = [part.otherwise for change in here for part in change.parts]
    found = [one for one in (refusal, refusal.mended, *told.besides, *parts) if one is not None]
    short = {one.resource: one for each in found if each.stage == "fit" for one in each.amounts if one.used}
    for row in told.matrices[-1].rows:
        one = short.get(row.resource)
        if one is not None and one.capacity - one.used < row.free * NANO:
            yield (
                f"{row.resource}: other pods ask for {taken_text(one)} in all; "
                "FREE leaves out only what they hold as their own"
            )
