"""Outputs of lscpu: the text, its JSON, and the tables of `-e` and `-p`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from numalign.model.cpuset import MAX_ID
from numalign.sources.machine.pasted.told import Told
from numalign.sources.text import elements, listed

_FIELD: Final = re.compile(r"^[ \t]*([A-Z][A-Za-z0-9 ()-]*?):[ \t]*(.*?)[ \t]*$", re.MULTILINE)
_NODE: Final = re.compile(r"NUMA node(\d{1,4}) CPU\(s\)", re.ASCII)
_COUNTS: Final = ("NUMA node(s)", "Socket(s)", "Thread(s) per core", "Core(s) per socket")
_HEADER: Final = re.compile(r"^[ \t]*(CPU[ \t]+[A-Z][\w:. \t]*?)[ \t]*$", re.MULTILINE)
_PARSABLE: Final = re.compile(r"^[ \t]*#?[ \t]*(CPU,[\w,]*)[ \t]*$", re.MULTILINE)


def read_text(text: str, told: Told) -> None:
    """Read what `lscpu` prints.

    Raises:
        InputError: it is cut off, or contradicts another output.
    """
    found: dict[str, str] = {}
    nodes: dict[int, int] = {}
    for key, value in _FIELD.findall(text):
        node = _NODE.fullmatch(key)
        if node:
            if nodes.setdefault(int(node[1]), cpus := told.cpus("lscpu", value)) != cpus:
                raise told.error(f"NUMA node {node[1]} has CPUs {value}, and others above: are these of one machine?")
        else:
            found.setdefault(key, value)
    if "NUMA node(s)" not in found and not ("CPU(s)" in found and ("Socket(s)" in found or "Architecture" in found)):
        return
    told.tools.append("lscpu")
    counts = {key: int(found[key]) for key in _COUNTS if found.get(key, "").isdecimal() and len(found[key]) < 6}
    told.model = told.model or found.get("Model name")
    told.socket_count, told.threads = counts.get("Socket(s)"), counts.get("Thread(s) per core")
    told.adjacent = False if found.get("Architecture") in (None, "x86_64", "i686") else None
    # `512 MiB (32 instances)`; older releases say the size of one, without a count.
    instances = re.search(r"\((\d{1,5}) instance", found.get("L3") or found.get("L3 cache") or "", re.ASCII)
    told.cache_count = int(instances[1]) if instances else told.cache_count
    if "On-line CPU(s) list" in found:
        told.online = told.cpus("lscpu", found["On-line CPU(s) list"])
    count = counts.get("NUMA node(s)")
    if count is None and not nodes:
        return
    if count != len(nodes):
        listed = f"only {len(nodes)} of {count}" if count is not None else f"{len(nodes)} of an unknown number of"
        raise told.error(f"lscpu is cut off: it lists {listed} NUMA nodes; paste its whole output")
    # Old kernels leave offline CPUs in the lists of nodes (docs/rules/discovery.md 2.3).
    told.say_nodes("lscpu", {node: cpus if told.online is None else cpus & told.online for node, cpus in nodes.items()})


def read_json(data: object, told: Told) -> None:
    """Read what `lscpu -J` and `lscpu -Je` print."""
    read_text("\n".join(_fields(data)), told)
    rows = elements(data, "cpus")
    if rows and len(rows) == len(listed(data, "cpus")) and all("cpu" in row for row in rows):
        cells = ({key.upper(): "" if one is None else str(one) for key, one in row.items()} for row in rows)
        _table("lscpu -Je", list(cells), told)


def _fields(data: object) -> Iterator[str]:
    """Yield the lines of the text; newer releases put fields inside each other."""
    stack = elements(data, "lscpu")[::-1]
    while stack:
        entry = stack.pop()
        yield f"{entry.get('field') or ''} {entry.get('data') or ''}"
        stack += reversed(elements(entry, "children"))


def read_table(text: str, told: Told) -> None:
    """Read what `lscpu -e` and `lscpu -p` print.

    Raises:
        InputError: a column or the end is missing.
    """
    header = _PARSABLE.search(text)
    if header:
        _table("lscpu -p", _rows(text[header.end() :], header[1].upper().split(","), ",", told, "lscpu -p"), told)
        return
    header = _HEADER.search(text)
    if header and {"NODE", "SOCKET", "CORE"} & set(header[1].split()):
        _table("lscpu -e", _rows(text[header.end() :], header[1].upper().split(), None, told, "lscpu -e"), told)


def _rows(text: str, columns: list[str], apart: str | None, told: Told, tool: str) -> list[dict[str, str]]:
    rows = []
    for line in text.strip().splitlines():
        cells = line.strip().split(apart)
        if not cells[0].isdecimal():
            break
        # The clock of a CPU that is offline is left out, at the end of the line.
        if len(cells) < min(len(columns), max(map(columns.index, {"CORE", "SOCKET", "CPU"} & set(columns))) + 1):
            raise told.error(f"{tool} is cut off in the row of CPU {cells[0]}: paste its whole output")
        rows.append(dict(zip(columns, cells, strict=False)))
    return rows


def _table(tool: str, rows: list[dict[str, str]], told: Told) -> None:
    told.tools.append(tool)
    for column in ("CORE", "SOCKET"):
        if rows and column not in rows[0]:
            raise told.error(f"{tool} has no column {column}: paste the output of `lscpu -p` without a list of columns")
    online = [
        row for row in rows if row.get("ONLINE", "yes").lower() not in ("no", "false") and row["CORE"].isdecimal()
    ]
    if not any(row.get("NODE", "").isdecimal() for row in online):
        told.note("paste-no-numa", f"{tool} names no NUMA nodes: as a kubelet does, each socket is taken as one")
    told.say_rows(tool, [_row(row, tool, told) for row in online])


def _row(row: Mapping[str, str], tool: str, told: Told) -> tuple[int, int, int, int, int | None]:
    socket = row["SOCKET"] if row["SOCKET"].isdecimal() else "0"
    node = row.get("NODE", "")
    numbers = [row["CPU"], node if node.isdecimal() else socket, socket, row["CORE"]]
    if any(not one.isdecimal() or len(one) > 5 for one in numbers) or int(numbers[0]) > MAX_ID:
        raise told.error(f"{tool}: expected numbers in the row of CPU {row['CPU'][:20]}")
    cpu, at, package, core = map(int, numbers)
    return cpu, at, package, core, _last_cache(row)


def _last_cache(row: Mapping[str, str]) -> int | None:
    """Return the L3 cache of a row: of a column of its own, or the last of `L1d:L1i:L2:L3`."""
    cell = row.get("L3", "")
    for column, joined in row.items():
        names = column.split(":")
        if "L3" in names[1:]:
            cell = dict(zip(names, joined.split(":"), strict=False)).get("L3", "")
    return int(cell) if cell.isdecimal() and len(cell) < 10 else None
