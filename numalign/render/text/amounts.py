"""Amounts, sets of nodes and ids of devices as people write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from numalign.model.cpuset import format_set
from numalign.model.quantity import NANO, Quantity, canonical, with_decimals
from numalign.model.resources import CPU, is_bytes

if TYPE_CHECKING:
    from numalign.analysis.placed import Nearby, Part


UNITS = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
"""Binary suffixes by the power of 1024."""


def bytes_text(amount: int, *, up: bool = False) -> str:
    """Write bytes with the largest binary suffix that keeps them exact; a long number with one decimal.

    What there is is rounded down, what is requested up: who requests what is shown as free gets it, and too little
    never looks like enough.
    """
    size, unit = amount, 0
    while size and size % 1024 == 0 and unit < len(UNITS) - 1:
        size //= 1024
        unit += 1
    if abs(size) < (EXACT if up else LONG):
        return f"{size}{UNITS[unit]}"
    larger = unit + unit_of(size, len(UNITS) - 1 - unit)
    return f"{_in_unit(-amount if up else amount, larger, 1, down=True).removeprefix('-' * up)}{UNITS[larger]}"


def amount_text(resource: str, amount: int, *, up: bool = False) -> str:
    """Write an amount of a resource: bytes for memory, storage and huge pages, a count for the rest."""
    if is_bytes(resource):
        return bytes_text(amount, up=up)
    return str(amount)


LONG = 10240
"""From how many units on an amount is written in the next larger one."""

EXACT = 100_000
"""From how many units on what is requested is written in the next larger one: people wrote it in these."""

_HUNDRED = 100
"""Below so many units an amount has a decimal."""


def unit_of(amount: int, most: int = len(UNITS) - 1) -> int:
    """Return the largest power of 1024, up to `most`, of which an amount has one."""
    return min(max(abs(amount).bit_length() - 1, 0) // 10, most)


def divided(amount: int, unit: int) -> int:
    """Divide by a power of 1024; what lies in the middle becomes even."""
    whole, rest = divmod(amount, 1 << 10 * unit)
    return whole + (2 * rest + (whole & 1) > 1 << 10 * unit)


def with_point(number: int, decimals: int) -> str:
    """Write a number of last places: 125 with 1 decimal as `12.5`."""
    whole, rest = divmod(abs(number), 10**decimals)
    return f"{'-' * (number < 0)}{whole}{f'.{rest:0{decimals}d}' * bool(decimals)}"


def _in_unit(amount: int, unit: int, decimals: int, *, down: bool = False) -> str:
    """Write an amount in a unit, rounded to the nearest, or down."""
    sign, number = -1 if amount < 0 else 1, abs(amount) * 10**decimals
    return with_point(sign * (number >> 10 * unit if down else divided(number, unit)), decimals)


def nodes_text(mask: int | None) -> str:
    """Write a set of NUMA nodes: `NUMA 0`, `NUMA 0-1`, `any NUMA node`, `no NUMA node`."""
    if mask is None:
        return "any NUMA node"
    if not mask:
        return "no NUMA node"
    return f"NUMA {format_set(mask)}"


def places_text(nodes: int) -> str:
    """Write where a device lies, which may be of several nodes: `NUMA 0`, `NUMA 0-1 at once`."""
    return f"{nodes_text(nodes)}{' at once' * bool(nodes & (nodes - 1))}"


def amount_of(resource: str, amount: int, *, up: bool = False) -> str:
    """Write an amount and its noun: `16 CPUs`, `1 CPU`, `8 nvidia.com/gpu`, `40Gi of memory`."""
    if resource == CPU:
        return f"{amount} CPU{'s' * (amount != 1)}"
    return f"{amount_text(resource, amount, up=up)} {'of ' * is_bytes(resource)}{resource}"


def many(count: int, noun: str) -> str:
    """Write how many there are: `1 pod`, `2 pods`."""
    return f"{count} {noun}{'s' * (count != 1)}"


def nodes_count(count: int) -> str:
    """Write how many NUMA nodes: `1 NUMA node`, `2 NUMA nodes`."""
    return many(count, "NUMA node")


def named(resource: str) -> str:
    """Name what a container gets: `CPUs`, and devices and memory by their resource."""
    return "CPUs" if resource == CPU else resource


def listed(names: Sequence[str]) -> str:
    """Write names behind each other: `a, b and c`."""
    return " and ".join([*filter(None, [", ".join(names[:-1])]), *names[-1:]])


def quantity_text(nano: int) -> str:
    """Write an amount as a manifest would: `24G`, which is no round number of binary units, not `23437500Ki`."""
    whole = nano // NANO
    binary = nano % NANO == 0 and whole >= 1 << 20 and whole % 1024 == 0
    decimal = canonical(Quantity(nano, "DecimalSI", None))
    text = canonical(Quantity(nano, "BinarySI", None)) if binary else decimal
    return decimal if text.endswith("Ki") and decimal[-1] in "MGTPE" else text


def as_asked_text(resource: str, nano: int) -> str:
    """Write what a manifest asks for; a part of a byte as the `1.6Gi` that it comes from."""
    return with_decimals(nano) if is_bytes(resource) and nano % NANO else quantity_text(nano)


def like_asked(resource: str, nano: int, asked: int) -> tuple[str, str]:
    """Write an amount and what it is instead of, both in one unit; empty: each is written as it is best read.

    That is the smaller unit of what is asked: `1024Mi` instead of `1026Mi`; or that of the amount, where what is asked
    would look the same as the amount, rounded, or is no binary number: `11251Mi` instead of `11264Mi (11Gi)`.
    """
    unit, own = (re.fullmatch(r"(\d+)([KMG]i|[kMG]?)", quantity_text(one)) for one in (asked, nano))
    if not is_bytes(resource) or unit is None or own is None or own[2] not in UNITS:
        return "", ""
    if unit[2] in UNITS and UNITS.index(own[2]) > UNITS.index(unit[2]):
        size = nano // NANO >> 10 * UNITS.index(unit[2])
        return (f"{size}{unit[2]}", readable_text(resource, asked)) if size < LONG else ("", "")
    alike = unit[0] in re.findall(r"[^ ()]+", readable_text(resource, nano))
    if not alike and unit[2] not in ("k", "M", "G"):
        return "", ""
    size, decimals = asked // NANO, int(asked // NANO >> 10 * UNITS.index(own[2]) < _HUNDRED)
    same = _in_unit(size, UNITS.index(own[2]), decimals).removesuffix(".0") + own[2]
    return own[0], f"{same} ({unit[0]})" if alike else f"{unit[0]} ({same})"


def readable_text(resource: str, nano: int, *, down: bool = False) -> str:
    """Write what a manifest asks for; beside a long number of bytes the same in a unit that can be taken in.

    Args:
        resource: what it is of.
        nano: how much, in billionths.
        down: round down, as what there is.
    """
    text = as_asked_text(resource, nano)
    amount = nano // NANO
    if not is_bytes(resource) or nano % NANO or amount < LONG:
        return text
    if text[-1] in "kMGTPE":
        unit = unit_of(amount)
        decimals = int(amount >> 10 * unit < _HUNDRED)
        return f"{text} ({_in_unit(amount, unit, decimals, down=down)}{UNITS[unit]})"
    digits = re.match(r"\d+", text)
    if digits is None or int(digits[0]) < LONG:
        return text
    unit = unit_of(amount)
    rounded = f"{_in_unit(amount, unit, 1, down=True)}{UNITS[unit]}" if down else bytes_text(amount)
    return f"{text} ({rounded.replace('.0', '')})"


MAX_IDS_NAMED = 4
"""How many ids of devices that do not count up are named; of more their number is told."""


def part_text(part: Part | Nearby) -> str:
    """Name devices or memory: `nvidia.com/gpu gpu4–7`, `nvidia.com/gpu gpu0 and gpu1`, `memory`."""
    return devices_text(part.resource, part.ids)


def devices_text(resource: str, some: Sequence[str]) -> str:
    """Name devices of a resource, without its name their ids alone; without ids the resource alone."""
    return " ".join(filter(None, [resource, listed(some) if len(some) == 2 else ids_text(some)]))


def ids_text(ids: Sequence[str], most: int = MAX_IDS_NAMED) -> str:
    """Write ids of devices, those that count up as a range: `gpu0–3,gpu6`; of more than `most` others their number."""
    pieces = [
        f"{prefix}{first}" + (f"–{last}" if first and last > int(first) else "") for prefix, first, last in _runs(ids)
    ]
    if len(pieces) > most:
        return f"{ids[0]} and {len(ids) - 1} more"
    return ",".join(pieces)


def _runs(ids: Iterable[str]) -> list[tuple[str, str, int]]:
    """Join ids that count up into (prefix, first, last); an id without a number is a prefix alone."""
    runs: list[tuple[str, str, int]] = []
    for each in ids:
        match = re.fullmatch(r"(.*?)(0|[1-9][0-9]{0,8})", each)
        if match is None:
            runs.append((each, "", 0))
            continue
        prefix, number = match[1], int(match[2])
        if runs and runs[-1][1] and runs[-1][0] == prefix and runs[-1][2] == number - 1:
            runs[-1] = (prefix, runs[-1][1], number)
        else:
            runs.append((prefix, match[2], number))
    return runs
