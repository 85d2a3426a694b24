"""Amounts and sets of nodes as people write them."""

from __future__ import annotations

from numalign.model.cpuset import format_set
from numalign.model.resources import is_bytes

_UNITS = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


def bytes_text(amount: int) -> str:
    """Write bytes with the largest binary suffix that keeps them exact, or rounded to a tenth above 1024 units."""
    size, unit = amount, 0
    while size and size % 1024 == 0 and unit < len(_UNITS) - 1:
        size //= 1024
        unit += 1
    if abs(size) < 10240:
        return f"{size}{_UNITS[unit]}"
    value = float(size)
    while abs(value) >= 1024 and unit < len(_UNITS) - 1:
        value /= 1024
        unit += 1
    return f"{value:.1f}{_UNITS[unit]}"


def amount_text(resource: str, amount: int) -> str:
    """Write an amount of a resource: bytes for memory, storage and huge pages, a count for the rest."""
    if is_bytes(resource):
        return bytes_text(amount)
    return str(amount)


def nodes_text(mask: int | None) -> str:
    """Write a set of NUMA nodes: `node 0`, `nodes 0-1`, `any node`, `no node`."""
    if mask is None:
        return "any node"
    if not mask:
        return "no node"
    return f"{'node' if mask.bit_count() == 1 else 'nodes'} {format_set(mask)}"
