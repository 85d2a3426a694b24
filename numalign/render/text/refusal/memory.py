"""Memory that is free and cannot be used, since nodes whose memory is held are used only as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from numalign.model.resources import is_bytes
from numalign.render.text.amounts import listed, nodes_text
from numalign.render.text.refusal.nodes import MAX_NODES_NAMED, amounts_of, names_text
from numalign.render.text.written import Written, written

if TYPE_CHECKING:
    from numalign.analysis.circumstances import Circumstances
    from numalign.analysis.handed import Handed
    from numalign.analysis.matrix import Matrix, Row
    from numalign.analysis.memory_together import Wider
    from numalign.analysis.refusal import Refusal


MAX_PODS_NAMED = 3
"""How many pods are named that hold the memory of some nodes."""


def memory_apart(refusal: Refusal) -> Iterator[str]:
    """Say which nodes' memory may be used together, and what that leaves."""
    around, table = refusal.around, refusal.matrix
    if table is None or not told_by_groups(refusal):
        return
    rows = [row for row in refusal.culprits if is_bytes(row.resource)]
    groups = [one.nodes for one in around.groups]
    left = [(one, row) for row in rows for one in around.handed if one.resource == row.resource]
    one_node = refusal.policy == "single-numa-node" and not any(mask & (mask - 1) for mask in (*groups, *around.joined))
    if not one_node and any(row.width == 1 and short_with_left(one, row) is not None for one, row in left):
        return  # what init containers leave ties it to their node
    if not one_node:
        yield f"memory is held already on {_groups(around)}, so {_rule(groups)}"
    sets = [(mask, [_sum(row, table, mask) for row in rows]) for mask in around.joined]
    sets.sort(key=lambda one: (-one[1][0], one[0]))
    says = [amounts_of(row, around, [free[place] for _, free in sets]) for place, row in enumerate(rows)]
    places = [
        f"{nodes_text(mask)} ({', '.join(map(_amount_of, rows, says, free))} free)"
        for mask, free in sets[:MAX_NODES_NAMED]
    ]
    one_of = "one of these: " * (len(places) > 1)
    if one_node:
        yield "policy single-numa-node takes all of it from one node"
    else:
        yield f"so what is asked has to fit {one_of}{', '.join(places)}{', …' * (len(sets) > MAX_NODES_NAMED)}"
    fits = [mask for mask, free in sets if all(map(_enough, rows, free))]
    if fits and around.chosen is not None:
        yield from _unused(fits, len(fits) == len(sets), around)


def told_by_groups(refusal: Refusal) -> bool:
    """Tell whether enough memory is free, but of nodes that are bound by who holds some."""
    rows = [row for row in refusal.culprits if is_bytes(row.resource)]
    return bool(refusal.around.groups) and any(row.free >= row.requested for row in rows)


def short_with_left(one: Handed, row: Row) -> int | None:
    """Return what is free of memory on the node of what init containers leave, where both together do not do."""
    if not is_bytes(one.resource) or one.nodes & (one.nodes - 1):
        return None
    free = next((cell.free for cell in row.cells if cell.handed == one.amount), None)
    return None if free is None or free + one.amount >= row.requested else free


def _rule(groups: Sequence[int]) -> str:
    """Say what follows for the nodes whose memory is held (docs/rules/memory-manager.md 23)."""
    alone = [mask for mask in groups if not mask & (mask - 1)]
    if not alone:
        return "these are used only together" if len(groups) == 1 else "each of these is used only as a whole"
    if len(alone) < len(groups):
        return "a node held alone is not combined with others, and nodes held together are used only together"
    return "these cannot be combined" if len(alone) > 1 else f"{nodes_text(alone[0])} is not combined with another"


def _unused(fits: Sequence[int], every: bool, around: Circumstances) -> Iterator[str]:
    """Say why nodes that have enough memory are not used; `every`: all that are named have."""
    if around.wider is not None:
        yield _too_many(around.wider)
    elif around.chosen not in fits:
        which = "each of these" if every and len(fits) > 1 else " or ".join(map(nodes_text, fits[:MAX_NODES_NAMED]))
        yield (
            f"{which} would do, but before the memory {nodes_text(around.chosen)} had been chosen for all that is "
            "asked, and memory is taken from there"
        )


def _too_many(wider: Wider) -> str:
    """Say that nodes are more than a container needs; the kubelet takes memory from no more than that."""
    needs = "one node is" if wider.width == 1 else f"{wider.width} nodes are"
    return (
        f"{nodes_text(wider.found)} would do, but the kubelet takes no more nodes than it must: for what container "
        f"{wider.container} itself asks {needs} enough on an empty machine, and these are {wider.found.bit_count()}"
    )


def second_look(wider: Wider) -> Iterator[str]:
    """Say why a container does not get its memory although nodes were chosen for it."""
    where, several = nodes_text(wider.chosen), wider.chosen & (wider.chosen - 1)
    for resource, asked, free, own in wider.short:
        say = written(resource, [free, *(amount for _, amount in own)], [asked])
        held = [f"{name} holds {say(amount)}" for name, amount in own]
        yield (
            f"{resource}: container {wider.container} asks for {say(asked)}, and {where}, chosen for it, "
            f"{'have' if several else 'has'} {say(free)} free{f', as {listed(held)}' if held else ''}"
        )
    if any(own for *_, own in wider.short):
        yield "what init containers leave does not count in this; it does in what follows"
    yield f"so nodes are looked for again, with {where} among them"
    yield _too_many(wider)


def _sum(row: Row, table: Matrix, mask: int) -> int:
    return sum(cell.free for numa, cell in zip(table.nodes, row.cells, strict=True) if mask >> numa & 1)


def _amount_of(row: Row, say: Written, free: int) -> str:
    return f"{say(free)} {row.resource}"


def _enough(row: Row, free: int) -> bool:
    return free >= row.requested


def _groups(around: Circumstances) -> str:
    """Name the nodes whose memory is held, and by whom: `node 0 alone (by a) and nodes 1-2 together (by b)`."""
    texts = []
    for one in around.groups[:MAX_NODES_NAMED]:
        names = ", ".join(one.pods[:MAX_PODS_NAMED])
        names += f" and {len(one.pods) - MAX_PODS_NAMED} more" if len(one.pods) > MAX_PODS_NAMED else ""
        own = f"this pod's own {names_text(one.own)}" if one.own else ""
        who = " and ".join(filter(None, [names, own])) or "pods that have ended"
        how = "together" if one.nodes & (one.nodes - 1) else "alone"
        texts.append(f"{nodes_text(one.nodes)} {how} (by {who})")
    if len(around.groups) > MAX_NODES_NAMED:
        return f"{', '.join(texts)} and on {len(around.groups) - MAX_NODES_NAMED} more"
    return listed(texts)
