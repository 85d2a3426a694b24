"""A drawing of who sits on which CPU.

One character is a hardware thread: cores side by side, threads of a core below each other, caches set apart by a blank,
NUMA nodes as blocks. Plain characters, so that it survives a log, a pipe and a terminal without colour.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from numalign.model.cpuset import format_set, ids
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.model.machine import Machine
    from numalign.results.admit import Occupant

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqstuvwxyz"
"""One for each container drawn; `r` is kept for reserved CPUs. With more containers than letters they start again."""
FREE, OTHER, RESERVED, NO_THREAD = ".", "#", "r", " "
GAP = "   "
"""Between blocks side by side."""


class Seat(NamedTuple):
    """A container whose exclusive CPUs are drawn."""

    letter: str
    label: str
    cpus: int


def seats(occupants: Iterable[Occupant]) -> list[Seat]:
    """Give every container that came up and holds exclusive CPUs a letter."""
    found: list[Seat] = []
    for one in occupants:
        if one.tried and one.holding.cpus:
            found.append(Seat(LETTERS[len(found) % len(LETTERS)], f"{one.pod}/{one.container}", one.holding.cpus))
    return found


def draw(machine: Machine, reserved: int, occupants: Sequence[Occupant], width: int) -> list[str]:
    """Draw the machine with its CPUs' holders, and a legend, no line longer than `width` where a core fits.

    Args:
        machine: the machine.
        reserved: CPUs that are never given out, as a set.
        occupants: who is there.
        width: of the drawing.
    """
    drawn = seats(occupants)
    signs = _signs(machine, reserved, occupants, drawn)
    blocks = [_block(machine, numa.id, numa.cpus, signs, width) for numa in machine.numa_nodes if numa.cpus]
    lines: list[str] = []
    row: list[list[str]] = []
    for block in blocks:
        if row and sum(map(_width, row)) + len(GAP) * len(row) + _width(block) > width:
            lines += [*_side_by_side(row), ""]
            row = []
        row.append(block)
    lines += [*_side_by_side(row), ""]
    lines += [f"{seat.letter} {seat.label}: {seat.cpus.bit_count()} CPUs, {format_set(seat.cpus)}" for seat in drawn]
    legend = [f"{FREE} shared pool"]
    if OTHER in signs.values():
        legend.append(f"{OTHER} other pods")
    if RESERVED in signs.values():
        legend.append(f"{RESERVED} reserved")
    return [*lines, "  ".join(legend) + "; a column is a core, a blank separates caches"]


def _signs(machine: Machine, reserved: int, occupants: Iterable[Occupant], drawn: Sequence[Seat]) -> Mapping[int, str]:
    """Choose the character of every CPU. Where containers share one (init and app), the later one shows."""
    signs = dict.fromkeys(ids(machine.cpus), FREE)
    for cpu in ids(reserved):
        signs[cpu] = RESERVED
    for one in occupants:
        signs.update(dict.fromkeys(ids(one.holding.cpus or 0), OTHER))
    for seat in drawn:
        signs.update(dict.fromkeys(ids(seat.cpus), seat.letter))
    return signs


def _block(machine: Machine, numa: int, cpus: int, signs: Mapping[int, str], width: int) -> list[str]:
    """Draw one NUMA node: a title, then for each thread of its cores a row that starts with its first CPU id."""
    groups = _caches(machine, cpus)
    depth = max(len(core) for group in groups for core in group)
    digits = len(str(machine.cpus.bit_length() - 1))
    lines = [f"NUMA {numa}"]
    for strip in _strips(groups, width - digits - 1):
        for thread in range(depth):
            row = [[core[thread] for core in group if thread < len(core)] for group in strip]
            first = min((cpu for group in row for cpu in group), default=None)
            if first is None:
                continue
            text = " ".join(
                "".join(signs[core[thread]] if thread < len(core) else NO_THREAD for core in group) for group in strip
            )
            lines.append(f"{first:>{digits}} {text}".rstrip())
    return lines


Core = list[int]


def _caches(machine: Machine, cpus: int) -> list[list[Core]]:
    """Group a NUMA node's cores by uncore cache, each core as its threads ascending."""
    caches = [cache.cpus & cpus for cache in machine.uncore_caches if cache.cpus & cpus]
    groups: dict[int, list[Core]] = {}
    for core in _cores(machine, cpus):
        bit = 1 << core[0]
        place = next((index for index, cache in enumerate(caches) if cache & bit), len(caches))
        groups.setdefault(place, []).append(core)
    return [groups[place] for place in sorted(groups)]


def _cores(machine: Machine, cpus: int) -> Iterable[Core]:
    left = cpus
    for core in sorted(machine.cores, key=lambda one: one & -one):
        if core & cpus:
            left &= ~core
            yield list(ids(core & cpus))
    for cpu in ids(left):
        yield [cpu]


def _strips(groups: list[list[Core]], width: int) -> Iterable[list[list[Core]]]:
    """Break a node's cores into strips that fit the width."""
    strip: list[list[Core]] = []
    used = 0
    for group in groups:
        for start in range(0, len(group), max(width, 1)):
            part = group[start : start + max(width, 1)]
            if strip and used + 1 + len(part) > width:
                yield strip
                strip, used = [], 0
            strip.append(part)
            used += len(part) + (used > 0)
    if strip:
        yield strip


def _width(block: list[str]) -> int:
    return max(map(len, block))


def _side_by_side(blocks: list[list[str]]) -> Iterable[str]:
    widths = [_width(block) for block in blocks]
    for line in range(max((len(block) for block in blocks), default=0)):
        yield GAP.join(
            (block[line] if line < len(block) else "").ljust(width) for block, width in zip(blocks, widths, strict=True)
        ).rstrip()
