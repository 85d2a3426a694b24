"""The facts of a refusal: what is in the way, in the order in which it is told, and the pod's own part in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from numalign.analysis.reasons.asked import Left, held_by_own, left_to, told_with
from numalign.analysis.reasons.facts import CoresTaken, Fact, NoWholeBytes, OddCores
from numalign.analysis.reasons.memory_facts import HeldByOwn, LeftByInit, SumTooLarge
from numalign.analysis.reasons.shortage import (
    memory_apart,
    node_too_small,
    not_survived,
    second_look,
    short_with_left,
    told_by_groups,
    too_little,
)
from numalign.analysis.reasons.width import (
    as_few_nodes,
    differ_in_width,
    never_meet,
    on_fewer_nodes,
    tied_to,
    too_wide,
)
from numalign.model.resources import CPU, is_bytes

if TYPE_CHECKING:
    from numalign.analysis.circumstances import Cores
    from numalign.analysis.matrix import Matrix, Row
    from numalign.analysis.refusal import Refusal


def facts_of(refusal: Refusal) -> Iterator[Fact]:
    """Tell all that there is to tell of a refusal."""
    yield from _in_the_way(refusal)
    yield from _by_the_pod(refusal)


def in_short(refusal: Refusal) -> list[Fact]:
    """Tell why one part of a change is needed: no more than it takes to follow the amounts."""
    together = list(_sums(refusal))
    if together:
        return together
    wide = refusal.stage == "policy" and len(refusal.culprits) > 1
    more = as_few_nodes(refusal, changed=True) if wide else ()
    return [*_in_the_way(refusal._replace(also=()), brief=True), *more, *_taken_over(refusal)]


def _in_the_way(refusal: Refusal, *, brief: bool = False) -> Iterator[Fact]:
    """Tell what is in the way of a pod, and what would be next."""
    table, around = refusal.matrix, refusal.around
    if refusal.crash is not None:
        yield from not_survived(refusal)
    elif refusal.stage == "fit":
        yield from node_too_small(refusal)
    elif around.unreadable:
        for one in around.unreadable:
            yield NoWholeBytes(one.resource, one.nano, one.container)
    elif around.cores is not None:
        yield _whole_cores(around.cores, refusal)
    elif table is not None and refusal.culprits:
        yield from _of_a_decision(refusal, table, brief=brief)
        for row in refusal.also:  # who asks for less of what is in the way only meets it next
            if row.possible:
                yield too_wide(row, table, refusal.policy, around)
            else:
                yield from too_little(row, table, refusal)


def _of_a_decision(refusal: Refusal, table: Matrix, *, brief: bool) -> Iterator[Fact]:
    """Tell what is in the way of a decision over NUMA nodes."""
    rows, around = refusal.culprits, refusal.around
    if refusal.stage == "policy" and len(rows) > 1:
        yield from differ_in_width(rows, table, refusal.policy, around)
    elif refusal.stage == "policy":
        [row] = rows
        yield too_wide(row, table, refusal.policy, around)
        yield from on_fewer_nodes(row, refusal)
    elif refusal.stage == "merge" or (around.chosen is None and all(map(_alone_somewhere, rows))):
        yield from never_meet(rows, table, around)
    elif around.wider is not None and around.wider.short:
        short = {one.resource for one in around.wider.short}
        for row in table.rows:
            if row.resource in short and refusal.too_large(row):
                yield from too_little(row, table, refusal, brief=brief)
        yield from second_look(around.wider)
    else:
        for row in rows:
            yield from too_little(row, table, refusal, brief=brief)
        yield from memory_apart(refusal)


def _alone_somewhere(row: Row) -> bool:
    """Tell whether some node alone has enough of a resource."""
    return any(cell.verdict == "enough" for cell in row.cells)


def _whole_cores(cores: Cores, refusal: Refusal) -> Fact:
    """Tell that `full-pcpus-only` refused."""
    table, around = refusal.matrix, refusal.around
    # Where the table tells what the whole pod asks for, the number is that of one container.
    rows = table.rows[:1] if table is not None else ()
    by = refusal.container if any(row.requested != cores.requested for row in rows) else None
    if cores.requested % cores.threads:
        return OddCores(cores.requested, cores.threads, by, cores.others)
    if around.when == "ever":
        return CoresTaken(cores.requested, cores.threads, by, free=None, total=cores.total, when="ever", left=None)
    left = next((one for one in around.handed if one.resource == CPU), None)
    leaves = left and Left(left.containers, left.amount)
    return CoresTaken(cores.requested, cores.threads, by, cores.available, cores.total, when=around.when, left=leaves)


def _by_the_pod(refusal: Refusal) -> Iterator[Fact]:
    """Tell what the pod's own containers have to do with it, where the facts about what is free do not."""
    yield from _sums(refusal)
    if refusal.stage == "policy" and len(refusal.culprits) > 1:
        yield from as_few_nodes(refusal)
        return  # how many nodes something takes is counted on an empty machine
    for row in _not_summed(refusal):
        own = held_by_own(row, refusal.around)
        by_groups = is_bytes(row.resource) and told_by_groups(refusal)
        if own and not by_groups and not _told_by_too_little(row, refusal):
            yield HeldByOwn(row.resource, tuple([(one.container, one.amount, one.nodes) for one in own]))
    yield from _taken_over(refusal)


def _not_summed(refusal: Refusal) -> Iterator[Row]:
    """List what is in the way and is not too much by itself, nor of all containers together."""
    told = {one.resource for one in refusal.around.sums}
    for row in refusal.culprits:
        if row.resource not in told and not refusal.too_large(row) and not refusal.odd_cores:
            yield row


def _told_by_too_little(row: Row, refusal: Refusal) -> bool:
    """Tell whether the fact about what is free tells of the pod's own containers, too."""
    apart = refusal.stage == "merge" or refusal.around.cores is not None
    return refusal.stage == "policy" or (row.free < row.requested and not apart)


def _taken_over(refusal: Refusal) -> Iterator[Fact]:
    """Tell what init containers leave to the refused container, and what that ties it to."""
    several = len(refusal.matrix.nodes if refusal.matrix else ()) > 1
    for row in _not_summed(refusal):
        for one in left_to(row, refusal.around):
            if not _told_already(one, row, refusal):
                many = one.nodes.bit_count()
                wide = refusal.stage == "policy" and row.width < many
                free, there = short_with_left(one, row), bool(one.nodes) and several
                yield LeftByInit(
                    row.resource, one, row.requested, there=there, free=free, width=row.width if wide else 0
                )


def _told_already(left: Left, row: Row, refusal: Refusal) -> bool:
    """Tell whether the fact about a resource itself tells what init containers leave of it."""
    if refusal.stage in ("policy", "merge") and not is_bytes(row.resource):
        return True
    if row.resource == CPU and refusal.around.cores is not None:
        return len(refusal.matrix.nodes if refusal.matrix else ()) < 2  # told beside what is free of whole cores
    return row.free + left.amount < row.requested or tied_to(refusal) is not None


def _sums(refusal: Refusal) -> Iterator[Fact]:
    """Tell what containers together ask for too much of, where no fact about the sum itself does."""
    around, every = refusal.around, (*refusal.culprits, *refusal.also)
    rows = () if around.cores is not None or around.unreadable else every
    for one in around.sums:
        if one not in around.together or not any(told_with(one, row) for row in rows):
            spreads = (row.loose for row in every if row.resource == one.resource)
            apart = next((each for each in spreads if each is not None and each.apart), None)
            yield SumTooLarge(one.resource, one.requested, one.capacity, one.parts, apart and apart.all_free)
