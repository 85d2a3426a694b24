"""The output of `numactl -H`: CPUs and memory of the NUMA nodes, and their distances."""

from __future__ import annotations

import re
from typing import Final

from numalign.model.cpuset import from_ids
from numalign.sources.machine.pasted.told import Told

_AVAILABLE: Final = re.compile(r"^[ \t]*available: (\d{1,4}) nodes? \(", re.MULTILINE | re.ASCII)
_LINE: Final = re.compile(r"^[ \t]*node (\d{1,4}) (cpus|size):[ \t]*(.*?)[ \t]*$", re.MULTILINE | re.ASCII)
_TABLE: Final = re.compile(
    r"^[ \t]*node[ \t]+(\d+(?:[ \t]+\d+)*)[ \t]*\n((?:[ \t]*\d+:.*\n?)*)", re.MULTILINE | re.ASCII
)
TOOL: Final = "numactl -H"


def read_text(text: str, told: Told) -> None:
    """Read it.

    Raises:
        InputError: it is cut off, or contradicts another output.
    """
    available = _AVAILABLE.search(text)
    if not available:
        return
    told.tools.append(TOOL)
    nodes: dict[int, int] = {}
    for number, what, value in _LINE.findall(text):
        if what == "cpus":
            nodes[int(number)] = _cpus(value, told)
        elif re.fullmatch(r"\d{1,12} [MG]B", value, re.ASCII):
            told.memory[int(number)] = int(value[:-3]) << (20 if value.endswith("MB") else 30)
    if len(nodes) != int(available[1]):
        message = f"{TOOL} is cut off: it lists {len(nodes)} of {available[1]} NUMA nodes; paste its whole output"
        raise told.error(message)
    told.say_nodes(TOOL, nodes)
    if not told.memory.keys() >= nodes.keys():
        told.note("paste-cut", f"{TOOL} is cut off: memory unknown for some NUMA nodes")
    _distances(text, nodes, told)


def _cpus(value: str, told: Told) -> int:
    """Read `0 1 2`, or `0-15 (16)` as --cpu-compress prints it."""
    words = re.sub(r"\(\d+\)|,", " ", value).split()
    if all(word.isdecimal() and len(word) < 6 for word in words):
        return from_ids(map(int, words))
    return told.cpus(TOOL, ",".join(words))


def _distances(text: str, nodes: dict[int, int], told: Told) -> None:
    table = _TABLE.search(text)
    rows = {}
    for line in table[2].splitlines() if table else ():
        number, _, cells = line.partition(":")
        words = cells.split()
        if len(words) == len(nodes) and all(word.isdecimal() and 1 < len(word) < 4 for word in words):
            rows[int(number)] = tuple(map(int, words))
    if rows.keys() == nodes.keys():
        told.distances = rows
    else:
        told.note("paste-cut", f"{TOOL} is cut off: distances of the NUMA nodes unknown")
