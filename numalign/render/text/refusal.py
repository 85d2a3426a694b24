"""A refusal in words: what is in the way, with amounts and nodes. No word of the kubelet's machinery is needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from numalign.kubelet.cpu.allocate import SMT_ALIGNMENT_ERROR
from numalign.kubelet.fit.check import Shortage
from numalign.model.quantity import NANO, parse, readable_near, value, with_decimals
from numalign.model.resources import CPU, NATIVE, is_bytes, is_hugepages, page_size
from numalign.render.text.amounts import Written, amount_text, nodes_text, written
from numalign.render.text.matrix import mask_of

if TYPE_CHECKING:
    from numalign.analysis.circumstances import Circumstances, Cores, Loose, Unreadable
    from numalign.analysis.handed import Handed
    from numalign.analysis.matrix import Matrix, Row
    from numalign.analysis.refusal import Refusal

MAX_NODES_NAMED = 4
"""How many NUMA nodes are named one by one; of more the best one is told."""

MAX_PODS_NAMED = 3
"""How many pods are named that hold the memory of some nodes."""


def why(refusal: Refusal) -> Iterator[str]:
    """Say why, a sentence a line."""
    now = list(_why(refusal))
    yield from now
    if refusal.empty is not None:
        for text in _why(refusal.empty):
            if text not in now:
                yield f"on an empty machine: {text}"


def _why(refusal: Refusal) -> Iterator[str]:
    yield from _first(refusal)
    yield from _beside(refusal)


def _first(refusal: Refusal) -> Iterator[str]:
    rows, table, around = refusal.culprits, refusal.matrix, refusal.around
    if refusal.stage == "panic":
        for resource, amount in refusal.missing:
            asked = f"{resource}: {amount_text(resource, amount)} asked"
            yield f"{asked}, and not every NUMA node of this machine has such memory"
        yield f"the kubelet itself would crash here: {refusal.message}"
    elif refusal.stage == "hang":
        yield f"the kubelet itself would never come back from here: {refusal.message}"
    elif refusal.stage == "fit":
        yield from _node_too_small(refusal)
    elif around.unreadable:
        for one in around.unreadable:
            yield _no_whole_bytes(one)
    elif around.cores is not None and refusal.reason == SMT_ALIGNMENT_ERROR:
        yield _whole_cores(around.cores)
    elif table is None or not rows:
        return
    elif refusal.stage == "policy" and len(rows) > 1:
        yield from _differ_in_width(rows, refusal.policy)
    elif refusal.stage == "policy":
        yield _too_wide(rows[0], table, refusal.policy, around)
        yield from _also(refusal, table)
    elif refusal.stage == "merge" or (len(rows) > 1 and around.chosen is None and all(map(_alone_somewhere, rows))):
        yield from _never_meet(rows, table, around)
    else:
        for row in rows:
            yield from _too_little(row, table, refusal)
        yield from _memory_apart(refusal)
        yield from _also(refusal, table)


def _also(refusal: Refusal, table: Matrix) -> Iterator[str]:
    """Name what else would be refused alone: who asks for less of the first one only meets it next."""
    for row in refusal.also:
        if row.possible:
            yield _too_wide(row, table, refusal.policy, refusal.around)
        else:
            yield from _too_little(row, table, refusal)


def in_short(refusal: Refusal) -> list[str]:
    """Say why one part of a change is needed, a sentence a line: no more than it takes to follow the amounts."""
    sums = list(_sums(refusal))
    if sums:
        return sums
    return [*_first(refusal._replace(also=())), *_taken_over(refusal)]


def _beside(refusal: Refusal) -> Iterator[str]:
    """Say what the pod's own containers have to do with it."""
    yield from _sums(refusal)
    told = {one.resource for one in refusal.around.sums}
    for row in refusal.culprits:
        if row.resource not in told and not refusal.too_large(row) and not refusal.odd_cores:
            own = [one for one in refusal.around.own if one.resource == row.resource and one.kind != "init"]
            if own:
                say = written(row.resource, [one.amount for one in own])
                held = ", ".join(f"{one.container} {say(one.amount)} on {nodes_text(one.nodes)}" for one in own)
                yield f"{row.resource}: the pod's own earlier containers hold some of it: {held}"
    yield from _taken_over(refusal)


def _taken_over(refusal: Refusal) -> Iterator[str]:
    """Say what init containers hand on to the refused container, and what that ties it to."""
    told = {one.resource for one in refusal.around.sums}
    every = refusal.matrix.nodes if refusal.matrix else ()
    for row in refusal.culprits:
        if row.resource in told or refusal.too_large(row) or refusal.odd_cores:
            continue
        for one in refusal.around.handed:
            # Of what is short everywhere the sentence about what is free tells it.
            told_by = _tied_to(refusal) is not None if row.resource == CPU else row.free + one.amount < row.requested
            if one.resource == row.resource and not told_by:
                yield _handed(one, row, len(every) > 1, refusal)


def _handed(one: Handed, row: Row, several: bool, refusal: Refusal) -> str:
    """Say what is handed on of one resource; the sum, where it does not do."""
    say = written(one.resource, [one.amount, row.requested])
    there = f" on {nodes_text(one.nodes)}" if one.nodes and several else ""
    text = f"{one.resource}: {_names(one.containers)} {_verb('hand', one.containers)} on {say(one.amount)}{there}"
    if one.resource == CPU:
        must = f", which must use {nodes_text(one.nodes)}, too" if several else ""
        cores = refusal.around.cores
        if cores is not None:
            return f"{text} to the containers after it{must}; full-pcpus-only does not count these as free"
        return f"{text} to the containers after it{must}"
    if is_bytes(one.resource):
        free = f"as free memory of exactly {nodes_text(one.nodes)}{_with_free(one, row)}"
        return f"{text} to the containers after it, {free}"
    return f"{text} to the containers after it"


def _with_free(one: Handed, row: Row) -> str:
    """Add up what a container could have of memory on the nodes of what is handed on, where it does not do."""
    if one.nodes & (one.nodes - 1):
        return ""
    free = next((cell.free for cell in row.cells if cell.handed == one.amount), None)
    if free is None or free + one.amount >= row.requested:
        return ""
    say = written(one.resource, [free, one.amount, free + one.amount, row.requested])
    return f": {say(free)} + {say(one.amount)} = {say(free + one.amount)}, {say(row.requested)} asked"


def _names(names: Sequence[str]) -> str:
    return " and ".join([*filter(None, [", ".join(names[:-1])]), *names[-1:]]) or "init containers"


def _verb(verb: str, names: Sequence[str]) -> str:
    return verb if len(names) != 1 else f"{verb}s"


def _sums(refusal: Refusal) -> Iterator[str]:
    for one in refusal.around.sums:
        say = written(one.resource, [one.requested, one.capacity, *(amount for _, amount in one.parts)])
        parts = " + ".join(f"{name} {say(amount)}" for name, amount in one.parts)
        spread = next((each for each in refusal.around.loose if each.resource == one.resource and _apart(each)), None)
        where = f" ({_all_devices(spread)})" if spread else ""
        yield (
            f"{one.resource}: the pod's containers together ask for {say(one.requested)} ({parts}), and the machine "
            f"never has more than {say(one.capacity)}{where}"
        )


def _alone_somewhere(row: Row) -> bool:
    """Tell whether some node alone has enough of a resource."""
    return any(cell.verdict == "enough" for cell in row.cells)


def _say(row: Row) -> Written:
    """Write all amounts of a row in one unit."""
    cells = (
        [amount for cell in row.cells for amount in (cell.free, cell.total)]
        if len(row.cells) <= MAX_NODES_NAMED
        else []
    )
    total = max(sum(cell.total for cell in row.cells), row.free)
    return written(row.resource, [row.requested, row.free, total, *cells])


def _asked(row: Row) -> str:
    return f"{row.resource}: {_say(row)(row.requested)} asked"


def _too_little(row: Row, table: Matrix, refusal: Refusal) -> Iterator[str]:
    """Not enough on the whole machine, or not where it may be used."""
    say = _say(row)
    loose = _loose(row, refusal.around)
    total = max(sum(cell.total for cell in row.cells), row.free) if loose is None else loose.total
    if total == 0:
        yield f"{_asked(row)}, and this machine has none to give on any node{_how_to_add(row.resource, row.requested)}"
        return
    each = _each(row, table, loose)
    if row.free >= row.requested:
        yield f"{_asked(row)}, {say(row.free)} free in all ({each})"
        yield from _cannot_be_used(row, refusal, loose)
    elif total < row.requested:
        free = "" if row.free == total else f", and has {say(row.free)} free now{_by_the_pod(row, refusal)}"
        yield f"{_asked(row)}, the whole machine never has more than {say(total)}{free} ({each})"
    else:
        yield f"{_asked(row)}, the whole machine has {say(row.free)} free{_by_the_pod(row, refusal)} ({each})"


def _by_the_pod(row: Row, refusal: Refusal) -> str:
    """Say what the pod's own containers have to do with what is free: what they hand on, or hold."""
    for one in refusal.around.handed:
        if one.resource == row.resource:
            return (
                f" besides the {_say(row)(one.amount)} that {_names(one.containers)} {_verb('hand', one.containers)} on"
            )
    held = [one for one in refusal.around.own if one.resource == row.resource and one.kind != "init"]
    if held and refusal.too_large(row):
        names = [one.container for one in held]
        return (
            f", as this pod's own {_names(names)} {_verb('hold', names)} {_say(row)(sum(one.amount for one in held))}"
        )
    return ""


def _how_to_add(resource: str, amount: int) -> str:
    """Say how a node gets a resource of which it has none."""
    if is_hugepages(resource):
        size = page_size(resource)
        pages = -(-amount // value(parse(size)))
        return f" (they are set aside at boot: hugepagesz={size.removesuffix('i')} hugepages={pages})"
    return "" if resource in NATIVE else " (a device plugin has to offer healthy ones)"


def _cannot_be_used(row: Row, refusal: Refusal, loose: Loose | None) -> Iterator[str]:
    """Say why what is free does not count; memory that is held has sentences of its own."""
    if loose is not None and loose.nowhere[1] and loose.placed < row.requested:
        yield (
            f"{row.resource}: policy {refusal.policy} takes only devices whose plugin tells their NUMA node, and of "
            f"these {loose.placed} {'is' if loose.placed == 1 else 'are'} free"
        )
    elif not refusal.around.groups:
        yield f"{row.resource}: but it is not free on the nodes where the container's other resources have to be"


def _memory_apart(refusal: Refusal) -> Iterator[str]:
    """Say which nodes' memory may be used together, and what that leaves."""
    around, table = refusal.around, refusal.matrix
    rows = [row for row in refusal.culprits if is_bytes(row.resource)]
    if table is None or not around.groups or not any(row.free >= row.requested for row in rows):
        return
    yield f"while memory of a node is held, that node is used only as it is: {_groups(around)}"
    sets = [(mask, [_sum(row, table, mask) for row in rows]) for mask in around.joined]
    sets.sort(key=lambda one: (-one[1][0], one[0]))
    places = [f"{nodes_text(mask)} ({', '.join(map(_amount_of, rows, free))})" for mask, free in sets[:MAX_NODES_NAMED]]
    yield f"so what is asked has to be free on one of: {', '.join(places)}{', …' * (len(sets) > MAX_NODES_NAMED)}"
    fits = [mask for mask, free in sets if all(map(_enough, rows, free))]
    if fits and around.chosen is not None:
        yield _unused(fits[0], around.chosen)


def _unused(fits: int, chosen: int) -> str:
    """Say why nodes that have enough memory are not used."""
    if chosen & ~fits:
        return (
            f"{nodes_text(fits)} would do, but before the memory {nodes_text(chosen)} had been chosen for everything "
            "the container asks for, and memory is taken from there"
        )
    return f"{nodes_text(fits)} would do, but that is more nodes than this container's memory alone would need"


def _sum(row: Row, table: Matrix, mask: int) -> int:
    return sum(cell.free for numa, cell in zip(table.nodes, row.cells, strict=True) if mask >> numa & 1)


def _amount_of(row: Row, free: int) -> str:
    return f"{written(row.resource, [row.requested, free])(free)} {row.resource}"


def _enough(row: Row, free: int) -> bool:
    return free >= row.requested


def _groups(around: Circumstances) -> str:
    texts = []
    for one in around.groups[:MAX_NODES_NAMED]:
        names = ", ".join(one.pods[:MAX_PODS_NAMED])
        names += f" and {len(one.pods) - MAX_PODS_NAMED} more" if len(one.pods) > MAX_PODS_NAMED else ""
        own = f"this pod's own {_names(one.own)}" if one.own else ""
        who = " and ".join(filter(None, [names, own])) or "ended pods"
        how = "with no other" if one.nodes & (one.nodes - 1) == 0 else "only together"
        texts.append(f"{nodes_text(one.nodes)} {how} (held by {who})")
    return ", ".join(texts) + (", …" if len(around.groups) > MAX_NODES_NAMED else "")


def _each(row: Row, table: Matrix, loose: Loose | None = None) -> str:
    """List what the nodes have; devices that lie on none or on several nodes apart, so that the amounts add up."""
    if loose is not None and _apart(loose):
        return _each_device(loose)
    if len(table.nodes) <= MAX_NODES_NAMED:
        return ", ".join(f"node {numa}: {_of(row, place)}" for place, numa in enumerate(table.nodes))
    if not any(cell.total for cell in row.cells):
        return "no node has any"
    return f"most on {_best(row, table)}"


def _apart(loose: Loose) -> bool:
    """Tell whether some devices lie on no node or on several, so that nodes do not add up."""
    return bool(loose.nowhere[1] or any(mask & (mask - 1) for mask, _, _ in loose.places))


def _each_device(loose: Loose) -> str:
    """List where the devices are, each once."""
    places = sorted((one for one in loose.places if one[2]), key=lambda one: -one[1])
    texts = [
        f"{'between ' * bool(mask & (mask - 1))}{nodes_text(mask)}: {free} of {total}"
        for mask, free, total in sorted(places[:MAX_NODES_NAMED])
    ]
    if len(places) > MAX_NODES_NAMED:
        texts.append("…")
    if loose.nowhere[1]:
        texts.append(f"on no known node: {loose.nowhere[0]} of {loose.nowhere[1]}")
    return ", ".join(texts)


def _all_devices(loose: Loose) -> str:
    """List how many devices there are where, each once."""
    texts = [
        f"{'between ' * bool(mask & (mask - 1))}{nodes_text(mask)}: {total}"
        for mask, _, total in sorted(loose.places)
        if total
    ]
    if loose.nowhere[1]:
        texts.append(f"on no known node: {loose.nowhere[1]}")
    return ", ".join(texts)


def _of(row: Row, place: int) -> str:
    cell, say = row.cells[place], _say(row)
    return f"{say(cell.free)} of {say(cell.total)}"


def _best(row: Row, table: Matrix) -> str:
    place = max(range(len(table.nodes)), key=lambda one: row.cells[one].free)
    return f"node {table.nodes[place]}: {_of(row, place)}"


def _loose(row: Row, around: Circumstances) -> Loose | None:
    return next((one for one in around.loose if one.resource == row.resource), None)


def _too_wide(row: Row, table: Matrix, policy: str, around: Circumstances) -> str:
    """One resource cannot be had in the way the policy wants."""
    say, each = _say(row), _each(row, table, _loose(row, around))
    largest = max(range(len(table.nodes)), key=lambda place: row.cells[place].total)
    most = row.cells[largest].total
    places = [place for place, cell in enumerate(row.cells) if cell.total == most]
    if policy == "single-numa-node":
        if most < row.requested:
            return (
                f"{_asked(row)}, but no NUMA node ever has more than {say(most)} "
                f"({nodes_text(mask_of(table, places))}), and policy single-numa-node takes all of it from one node"
            )
        if row.width > 1:
            return (
                f"{_asked(row)}, which the kubelet counts as {row.width} nodes' worth even on an empty machine, "
                f"and policy single-numa-node takes all of it from one node ({each})"
            )
        return f"{_asked(row)}, and policy single-numa-node takes all of it from one node; free now: {each}"
    many = "one node" if row.width == 1 else f"{row.width} nodes"
    return f"{_asked(row)}, and policy {policy} takes it from {many}, as an empty machine would; free now: {each}"


def _differ_in_width(rows: Sequence[Row], policy: str) -> Iterator[str]:
    """Resources that need different numbers of nodes never go together under `restricted`."""
    for row in rows:
        most = f"has {_say(row)(max(cell.total for cell in row.cells))} at most"
        yield f"{_asked(row)}: " + (
            f"fits one node, which {most}" if row.width == 1 else f"takes {row.width} nodes, as one {most}"
        )
    yield f"policy {policy} wants each on as few nodes as it could do with, and all of them on the same nodes"


def _never_meet(rows: Sequence[Row], table: Matrix, around: Circumstances) -> Iterator[str]:
    """Each resource could be had, but not where the others are."""
    numa = _left_by_init(rows, table, around)
    if numa is not None:
        yield from _bound_by_cpus(rows, table, around, numa)
        return
    anywhere = [row for row in rows if all(cell.verdict == "enough" for cell in row.cells)]
    if len(rows) - len(anywhere) > 1:
        rows = [row for row in rows if row not in anywhere]
    for row in rows:
        each = _each(row, table, _loose(row, around))
        alone = [place for place, cell in enumerate(row.cells) if cell.verdict == "enough"]
        if alone:
            which = f"only {nodes_text(mask_of(table, alone))}" if len(alone) < len(row.cells) else "any node"
            yield f"{_asked(row)}: {which} could give it ({each})"
        else:
            yield f"{_asked(row)}: takes several nodes together ({each})"
    yield "each could be had alone, but not from the same nodes"


def _left_by_init(rows: Sequence[Row], table: Matrix, around: Circumstances) -> int | None:
    """Give the one node to which an init container's CPUs tie a container that needs one node, and has too little."""
    left = reduce(or_, (one.nodes for one in around.own if one.resource == CPU and one.kind == "init"), 0)
    if rows[0].resource != CPU or left.bit_count() != 1 or any(row.width > 1 for row in rows):
        return None
    numa = left.bit_length() - 1
    place = table.nodes.index(numa)
    return None if any(row.cells[place].verdict in ("enough", "any") for row in rows[1:]) else numa


def _tied_to(refusal: Refusal) -> int | None:
    """Give that node where it is what a refusal is about."""
    if refusal.matrix is None or not refusal.culprits or refusal.stage != "merge":
        return None
    return _left_by_init(refusal.culprits, refusal.matrix, refusal.around)


def _bound_by_cpus(rows: Sequence[Row], table: Matrix, around: Circumstances, numa: int) -> Iterator[str]:
    """CPUs left by an init container fix the node, and what else is asked is not there."""
    yield f"{_asked(rows[0])}: init containers leave CPUs of node {numa} to it, so it must use node {numa}"
    for row in rows[1:]:
        each = _each(row, table, _loose(row, around))
        yield f"{_asked(row)}, and node {numa} cannot give it; what other nodes have does not help ({each})"


def _whole_cores(cores: Cores) -> str:
    """`full-pcpus-only` refused."""
    asked = f"cpu: {cores.requested} asked"
    below = cores.requested - cores.requested % cores.threads
    if cores.requested % cores.threads:
        near = f"{below} or {below + cores.threads}" if below else str(cores.threads)
        return f"{asked}, but full-pcpus-only gives out whole cores of {cores.threads} threads: ask for {near}"
    what = "CPUs" if cores.threads == 1 else f"CPUs of cores whose {cores.threads} threads are all free, on any node"
    return f"{asked}, but full-pcpus-only counts only {what}: {cores.available} now, {cores.total} on an empty machine"


def _no_whole_bytes(one: Unreadable) -> str:
    """An amount that the Memory Manager cannot hold."""
    return (
        f"{one.resource}: {with_decimals(one.nano)} of container {one.container} is not read as a whole number of "
        f"bytes, and the Memory Manager takes no other: write {' or '.join(readable_near(one.nano)) or 'less'}"
    )


def _node_too_small(refusal: Refusal) -> Iterator[str]:
    """The managers would, but the node as a whole has too little, or does not want the pod."""
    for one in refusal.shortages:
        yield _short(one, refusal.around) if isinstance(one, Shortage) else f"{one.reason}: {one.message}"


def _short(short: Shortage, around: Circumstances) -> str:
    """Say what the node lacks, and which container asks for how much of it."""
    text = shortage_text(short)
    for one in around.shares:
        if one.resource == short.resource:
            say = written(one.resource, [amount // NANO for _, amount in one.parts])
            parts = " + ".join(
                f"{name} {_cores_text(nano * 1000 // NANO) if one.resource == CPU else say(nano // NANO)}"
                for name, nano in one.parts
            )
            text = text.replace(" asked,", f" asked ({parts}),", 1)
    return text


def shortage_text(short: Shortage) -> str:
    """Say what the node as a whole lacks, in the units in which people ask for it."""
    if short.resource == "cpu":
        asked, used, there = (_cores_text(amount) for amount in (short.requested, short.used, short.capacity))
    else:
        say = written(short.resource, [short.requested, short.used, short.capacity])
        asked, used, there = say(short.requested), say(short.used), say(short.capacity)
    if not short.capacity:
        return f"{short.resource}: {asked} asked, and the node has none{_how_to_add(short.resource, short.requested)}"
    if short.requested > short.capacity:
        return f"{short.resource}: {asked} asked, and the node has {there}" + (
            f", of which other pods have {used}" if short.used else ""
        )
    return f"{short.resource}: {asked} asked, {used} of the node's {there} taken by other pods"


def _cores_text(milli: int) -> str:
    """Write milli-CPUs as CPUs: `19.5`."""
    return f"{milli / 1000:.3f}".rstrip("0").rstrip(".")
