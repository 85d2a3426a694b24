"""Families of hints, as providers give them and odder, generated."""

from __future__ import annotations

from numalign.kubelet.topology.hints import (
    CANNOT_FIT,
    NO_PREFERENCE,
    AtLeast,
    HintFamily,
    Hints,
    MaskSet,
    SocketAlignment,
)
from numalign.kubelet.topology.merge.lists import NUMAInfo, numa_info
from tests.dice import Dice

LARGEST = 5
"""Nodes of the largest machine: all masks of several lists can still be walked."""


def size(dice: Dice) -> int:
    return dice.between(1, LARGEST)


def mask(dice: Dice, nodes: int) -> int:
    return dice.between(1, (1 << nodes) - 1)


def masks(dice: Dice, nodes: int, most: int) -> tuple[int, ...]:
    """Some masks, every second time none."""
    return tuple(dice.several(lambda each: mask(each, nodes), 0, most)) if dice.flag() else ()


def demand(dice: Dice, nodes: int) -> AtLeast:
    weights = tuple(dice.below(4) for _ in range(nodes))
    return AtLeast(weights, dice.below(8), masks(dice, nodes, 3))


def mask_set(dice: Dice, nodes: int) -> MaskSet:
    inside = mask(dice, nodes) if dice.flag() else (1 << nodes) - 1
    wanted = tuple(dice.several(lambda each: demand(each, nodes), 0, 2))
    required = mask(dice, nodes) if dice.flag() else 0
    made = MaskSet(inside, wanted, required & inside, masks(dice, nodes, 2))
    if made.has(inside) or dice.flag():
        return made
    return made._replace(conditions=tuple(one._replace(need=one.need // 3) for one in wanted))


def family(dice: Dice, nodes: int) -> Hints:
    """A family of sets that have members, else what a provider answers without one."""
    parts = tuple([one for one in dice.several(lambda each: mask_set(each, nodes), 1, 3) if one.has(one.nodes)])
    if dice.below(5) == 4:
        group = mask(dice, nodes)
        parts = (*parts, MaskSet(group, (), group))
    sockets = None
    if dice.below(6) == 5:
        sockets = SocketAlignment(dice.between(1, 2), (mask(dice, nodes), mask(dice, nodes)))
    return HintFamily(parts, dice.between(1, nodes), sockets) if parts else CANNOT_FIT


def machine(dice: Dice) -> NUMAInfo:
    nodes = size(dice)
    if dice.flag():
        return numa_info(range(nodes), {node: row(dice, nodes) for node in range(nodes)})
    return numa_info(range(nodes))


def row(dice: Dice, nodes: int) -> tuple[int, ...]:
    return tuple(dice.pick((10, 11, 20, 21)) for _ in range(nodes))


def answers(dice: Dice, nodes: int) -> list[Hints]:
    return dice.several(lambda each: family(each, nodes) if each.below(3) else NO_PREFERENCE, 1, 3)


def merge_case(dice: Dice) -> tuple[NUMAInfo, list[Hints]]:
    """A machine and up to four answers; some of them are the same, as those of memory and its huge pages are."""
    numa = machine(dice)
    given = answers(dice, len(numa.nodes))
    return numa, [*given, given[0]] if dice.flag() else given
