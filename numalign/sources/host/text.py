"""The small text forms of /sys and /proc: lists, maps, sizes, `key: value` lines."""

from __future__ import annotations

import re
from collections.abc import Mapping

from numalign.model.cpuset import MAX_ID
from numalign.sources.tree.folder import Tree

_SIZE = re.compile(r"\s*(\d+)([KMG]?)B?\s*", re.ASCII)
_RANGE = re.compile(r"(\d{1,7})(?:-(\d{1,7})(?::(\d{1,7}))?)?", re.ASCII)
_BLANK = " \t\n\0"
"""What may surround a value; some old captures end files with a NUL."""
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def cpu_list(text: str) -> int:
    """Read a list such as `0-3,8` or `0-30:2` (docs/rules/discovery.md 2.2) as a set; empty is empty.

    Raises:
        ValueError: the text is no such list.
    """
    result = 0
    for part in text.strip(_BLANK).split(","):
        if not part and not result:
            continue
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            raise ValueError(f'expected a list like "0-3,8", got {part[:40]!r}')
        first, last = int(match[1]), int(match[2] or match[1])
        if first > last or last > MAX_ID:
            raise ValueError(f'expected a list like "0-3,8", got {part[:40]!r}')
        step = int(match[3] or 1)
        if step == 1:
            result |= ((1 << (last - first + 1)) - 1) << first
        else:
            for one in range(first, last + 1, step or last + 1):
                result |= 1 << one
    return result


def cpu_map(text: str) -> int:
    """Read a map of 32-bit hex words, most significant first (docs/rules/discovery.md 2.2).

    Raises:
        ValueError: the text is no such map.
    """
    words = text.strip(_BLANK).split(",")
    if len(words) > MAX_ID // 32:
        raise ValueError(f"expected a map of CPUs, got {len(words)} words")
    if max(map(len, words)) > 8:
        raise ValueError(f"expected words of 8 hex digits, got {text[:40]!r}")
    joined = "".join(words)
    if len(joined) != len(words[0]) + 8 * (len(words) - 1):
        joined = "".join([word.rjust(8, "0") for word in words])
    return int(joined, 16)


def size_bytes(text: str) -> int | None:
    """Read a cache size such as `32K`; None for an empty or foreign text."""
    match = _SIZE.fullmatch(text)
    return int(match[1]) * _UNITS[match[2]] if match else None


def page_name(kilobytes: int) -> str:
    """Name a huge page the Kubernetes way: 2048 is `2Mi`, 1048576 is `1Gi`."""
    for unit, factor in (("Gi", 1 << 20), ("Mi", 1 << 10)):
        if kilobytes >= factor and kilobytes % factor == 0:
            return f"{kilobytes // factor}{unit}"
    return f"{kilobytes}Ki"


def pages(counts: Mapping[int, int]) -> dict[str, int]:
    """Turn page sizes in kB with numbers of pages into names with bytes, the smallest first."""
    return {page_name(size): size * 1024 * count for size, count in sorted(counts.items())}


def read_or_none(tree: Tree, path: str) -> str | None:
    """Return a file's text, or None where it cannot be read for whatever reason."""
    try:
        return tree.read(path)
    except OSError:
        return None


def read_int(tree: Tree, path: str) -> int | None:
    """Return the number in a file, or None."""
    text = read_or_none(tree, path)
    try:
        return int(text) if text is not None else None
    except ValueError:
        return None


def names_or_none(tree: Tree, path: str) -> list[str] | None:
    """Return the names in a directory, or None where it cannot be read."""
    try:
        return tree.names(path)
    except OSError:
        return None


def read_set(tree: Tree, base: str, list_name: str, map_name: str) -> int | None:
    """Return the set in the list file, else in the map file; None where neither can be read."""
    for name, parse in ((list_name, cpu_list), (map_name, cpu_map)):
        text = read_or_none(tree, f"{base}/{name}")
        if text is not None:
            try:
                return parse(text)
            except ValueError:
                continue
    return None


def numbered(names: list[str], prefix: str) -> list[int]:
    """Return the numbers N of the names `prefixN`, in the order of the names; none is above `MAX_ID`."""
    cut = len(prefix)
    texts = [name[cut:] for name in names if name.startswith(prefix)]
    numbers = [int(text) for text in texts if text.isascii() and text.isdecimal() and len(text) < 8]
    return [number for number in numbers if number <= MAX_ID]
