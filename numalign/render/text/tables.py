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
from numalign.render.text.matrix import SOME, matrix_notes, matrix_table
from numalign.render.text.words.shortage import taken_text

if TYPE_CHECKING:
    from numalign.analysis.matrix import Matrix
    from numalign.analysis.placement import Placement
    from numalign.analysis.refusal import Refusal
    from numalign.analysis.untied import Untied
    from numalign.model.pod import QoS
    from numalign.results.explain import ExplainedPod

NO_TABLE = "the kubelet {} before it counts free resources"
"""Why there is no table of what a kubelet does not survive."""

NO_PLUGIN = "no device plugin on this machine"
NO_NODES = "policy none ignores NUMA nodes"


def tables(told: ExplainedPod) -> Iterator[Block]:
    """Lay out, with what "~" means before the first note; see `_tables`."""
    before: Block | None = None
    for block in _tables(told):
        if (
            isinstance(block, Paragraph)
            and isinstance(before, Paragraph)
            and before.text == SOME
            and block.text[:1].islower()
        ):
            block = Paragraph(f"{SOME}; {block.text}", block.indent)
        elif before is not None:
            yield before
        before = block
    if before is not None:
        yield before


def _tables(told: ExplainedPod) -> Iterator[Block]:
    """Lay out what there was to choose from, decision by decision, and say why a node with all of it does not help."""
    refusal = told.refusal
    if refusal is not None and refusal.crash is not None:
        yield Paragraph()
        yield Paragraph(f"No table: {NO_TABLE.format('hangs' if refusal.stage == 'hang' else 'crashes')}.", 2)
    if refusal is not None and refusal.stage == "fit" and refusal.policy == "none":
        yield Paragraph()
        small = f"the node total of {listed(refusal.resources)} is too small" if refusal.resources else "no NUMA reason"
        yield Paragraph(f"No table: {small}; {NO_NODES}.", 2)
        return
    for tied, some in groupby(told.matrices, key=lambda table: bool(table.rows)):
        if tied:
            for table in some:
                yield from _one_table(table, told)
        else:
            yield Paragraph()
            yield Paragraph(_nothing_tied([table.container for table in some]), 2)
    notes = [*_no_columns(told.matrices)]
    if refusal is not None:
        notes += [*_not_reached(told), *_not_counted(told), *_doubled(told)]
    yield from (Paragraph(text, 2) for text in notes)
    if refusal is not None and told.matrices and told.matrices[-1].rows:
        yield from (Paragraph(text, 2) for text in _requests(told, refusal))


def _one_table(table: Matrix, told: ExplainedPod) -> Iterator[Block]:
    refusal = told.refusal if table is told.matrices[-1] else None
    yield Paragraph()
    if told.containers > 1:
        yield Paragraph("Whole pod" if table.container is None else f"Container {table.container}", 2)
    if refusal is not None and refusal.odd_cores:
        table = table.of_parts()
    given, far = allocated(told).get(table.container or ""), in_the_table(told).get(table.container or "")
    yield matrix_table(table, verdict=True, given=given, mean=mean_distance(far) if far else "")
    yield from (Paragraph(text, 2) for text in (_in_spite(told, refusal) if refusal is not None else ()))
    last = set() if table is told.matrices[-1] else {text for text in matrix_notes(told.matrices[-1]) if text != SOME}
    yield from (Paragraph(text, 2) for text in matrix_notes(table) if text not in last)
    if far:
        yield Paragraph(f"local distance is {far.local}", 2)
    if table.strayed and refusal is None:
        chosen = "align-by-socket also takes CPUs of the socket's other NUMA nodes"
        yield Paragraph(f"The CPUs are from {nodes_text(table.strayed)}: {chosen}.", 2)


def allocated(told: ExplainedPod) -> dict[str, dict[str, tuple[str, str]]]:
    """Give of each container whose own table has all its resources where each was allocated, and its distance."""
    rows = {table.container: {row.resource for row in table.rows} for table in told.matrices}
    found: dict[str, dict[str, tuple[str, str]]] = {}
    for one in told.placements:
        pinned = any(place.resource == CPU for place in one.places)
        cells = {
            place.resource: (nodes_text(place.nodes), distance_text(place.distance, pinned=pinned))
            for place in one.places
        }
        if cells and set(cells) <= rows.get(one.container, set()):
            found[one.container] = cells
    return found


def distance_text(distance: int | None, *, pinned: bool) -> str:
    """Write a distance from the CPUs of a container; `pinned`: it has CPUs that a distance could be from."""
    return ("unknown" if pinned else "-") if distance is None else str(distance)


def mean_distance(placement: Placement) -> str:
    """Write how far the nodes of a container are from each other on average; empty: not known, or all are local."""
    if placement.distance is None or placement.local is None or placement.distance == placement.local:
        return ""
    return f"{placement.distance:.1f}".removesuffix(".0")


def in_the_table(told: ExplainedPod) -> dict[str, Placement]:
    """Give of each container that is far from something, and whose table says where all is, how far it is."""
    aligning = {table.container for table in told.matrices if table.policy != "none"} & set(allocated(told))
    return {one.container: one for one in told.placements if one.container in aligning and mean_distance(one)}


def _nothing_tied(containers: Sequence[str | None]) -> str:
    """Say so of the whole pod or of containers of which no decision counts anything."""
    if len(containers) > 1:
        names = few_of([name for name in containers if name is not None], MAX_IDS_NAMED)
        return f"The kubelet aligns nothing of containers {names}."
    whom = "the whole pod" if containers[0] is None else f"container {containers[0]}"
    return f"The kubelet aligns nothing of {whom}."


def _not_reached(told: ExplainedPod) -> Iterator[str]:
    """Say why later containers have no table."""
    last, left = (told.matrices[-1].container if told.matrices else None), told.containers - len(told.matrices)
    if last is not None and left > 0 and (told.refusal is None or told.refusal.crash is None):
        what = "table for the container" if left == 1 else f"tables for the {left} containers"
        yield f"No {what} after {last}: the kubelet stopped there."


def _no_columns(tables: Sequence[Matrix]) -> Iterator[str]:
    """Say which numbers no NUMA node of the machine has, below the largest one."""
    told = next((table.nodes for table in tables if table.rows), ())
    missing = sum(1 << numa for numa in range(max(told, default=0)) if numa not in told)
    if missing:
        yield f"This machine has no {nodes_text(missing)}."


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
        if why == NO_PLUGIN:
            yield f"{what}: {why}"
        elif counted:
            yield f"{what} is counted without {few_of(some, MAX_IDS_NAMED)} ({why})"
        else:
            of = f" of {few_of(some, MAX_IDS_NAMED)}" if len(some) < told.containers else ""
            out = f" {'is' if len(set(resources)) == 1 else 'are'} not aligned" * any(
                table.rows for table in told.matrices
            )
            yield f"{what}{of}{out} ({why})"


def _doubled(told: ExplainedPod) -> Iterator[str]:
    """Say that amounts of CPUs do not add up, as the kubelet hands some out twice."""
    if told.doubled:
        many = told.doubled & (told.doubled - 1)
        which = f"CPU{'s' * bool(many)} {format_set(told.doubled)} {'are' if many else 'is'}"
        yield (
            f"cpu does not add up: {which} allocated and counted as free, or allocated twice "
            "(kubelet bug on cores of unequal size)."
        )


def untied_text(one: Untied, qos: QoS) -> str:
    """Say why no decision counts what a container asks for."""
    if one.kind == "memory-manager":
        return "memoryManagerPolicy: None"
    if one.kind == "init":
        return "only init containers request it"
    if one.kind == "bytes" and not one.odd:
        return "the request is not a whole number of bytes"
    if one.kind == "bytes":
        amounts = [f"{with_decimals(nano)} of {name}" for name, nano in one.odd]
        verb = "is" if len(amounts) == 1 else "are"
        odd = few_of(amounts, MAX_IDS_NAMED)
        return f"{odd} {verb} not a whole number of bytes"
    if one.kind == "no-plugin":
        return NO_PLUGIN
    return cause_text(one.cause, qos)


def _in_spite(told: ExplainedPod, refusal: Refusal) -> Iterator[str]:
    """Say why a node that has everything did not help."""
    last = told.matrices[-1]
    yield from _enough_alone(last, refusal)
    if refusal.odd_cores:
        first = "The table counts single CPUs." if last.policy == "none" else "cpu ✗ also where single CPUs are enough:"
        yield f"{first} full-pcpus-only allocates whole cores only."
        return
    if refusal.around.cores is None and _counts_single_cpus(told, last):
        yield "✓ counts single CPUs; full-pcpus-only allocates whole cores only"
    if not any(map(last.fits, range(len(last.nodes)))):
        if refusal.stage == "fit":
            yield "✗ counts NUMA nodes only; the node totals reject the pod"
        return
    if refusal.around.cores is not None:
        yield "✓ counts single CPUs; full-pcpus-only allocates whole cores only"
    elif refusal.stage == "fit":
        yield "✓ counts NUMA nodes only; the node totals reject the pod"
    elif refusal.stage == "allocation":
        yield "✓ counts free amounts; the allocation failed"


def _enough_alone(last: Matrix, refusal: Refusal) -> Iterator[str]:
    """Say of a container's own ✓ that it does not count the other containers, where all of them ask for too much."""
    for one in refusal.around.sums:
        others = [name for name, _ in one.parts if name != last.container]
        row = next((row for row in last.rows if row.resource == one.resource), None)
        if row is None or len(others) == len(one.parts) or not any(cell.verdict == "enough" for cell in row.cells):
            continue
        whom = few_of(others, MAX_IDS_NAMED)
        yield f"{one.resource} ✓ is for {last.container} alone; with {whom} the sum is too large"


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
            yield (f"{row.resource}: other pods request {taken_text(one)}; FREE leaves out only exclusive resources")
