"""The matrices of `nvidia-smi topo -m` and `rocm-smi --showtopo`: GPUs and NICs, what joins them, and their NUMA nodes.

Cells that a terminal glued together are read as the words they are. NUMA Affinity tells the node: CPU Affinity is cut
at the sixth item on some machines, and confined in containers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from numalign.model.cpuset import CPUSetError, from_ids, ids, parse
from numalign.model.hardware import PCIFunction
from numalign.sources.machine.devices import MAX_DEVICES
from numalign.sources.machine.pasted.told import Told
from numalign.values import NamedTuple

NVIDIA, AMD = "nvidia-smi topo -m", "rocm-smi --showtopo"
_NAME: Final = r"GPU\d{1,4}|NIC\d{1,4}|mlx\d?_\w+|(?:hfi|bnxt_re|rdmap|ib)\w*\d"
_HEADER: Final = re.compile(
    r"^[ \t|]*((?:CPU Affinity[ \t|]+)?(?:NUMA Affinity[ \t|]+)?GPU0[ \t|]*(?:GPU|NIC|mlx|CPU|NUMA|$).*)$", re.M
)
_ROW: Final = re.compile(rf"^[ \t|]*({_NAME})[ \t|]+(.*)$", re.M)
_WORD: Final = re.compile(r"NV\d{1,2}|PIX|PXB|PHB|NODE|SYS|SOC|(?<![\w/])X(?![\w/])")
_LEGEND: Final = re.compile(r"^[ \t]*(NIC\d{1,4}):[ \t]*(\S+)", re.M)
_AMD_NODE: Final = re.compile(r"GPU\[(\d{1,4})\][ \t]*: \(Topology\) Numa (Node|Affinity):[ \t]*(-?\d{1,4})", re.ASCII)
_AMD_TABLE: Final = re.compile(r"=+ (Weight|Hops|Link Type) between two GPUs =+")
BRIDGES: Final = ("PIX", "PXB", "PHB")
"""What is between two devices: one bridge at most, several, the host bridge."""


class Row(NamedTuple):
    """One device of the matrix."""

    to: Mapping[str, str]
    cpu_affinity: str
    numa_affinity: str


class Matrix(NamedTuple):
    """What `nvidia-smi topo -m` says."""

    columns: tuple[str, ...]
    rows: Mapping[str, Row]
    names: Mapping[str, str]
    """`NIC0` -> `mlx5_0`."""
    cut: tuple[str, ...]
    """Devices whose row is not whole."""


def matrix(text: str) -> Matrix | None:
    """Read the matrix; None: there is none."""
    header = _HEADER.search(text)
    if header is None or header.start() == _header_of_amd(text):
        return None
    columns = tuple(re.findall(_NAME, header[1]))
    rows, cut = {}, []
    for name, body in _ROW.findall(text[header.end() :]):
        if name in rows or name not in columns:
            continue
        words = _WORD.findall(body)
        if len(words) < len(columns):
            cut.append(name)
        affinity = [*_WORD.sub(" ", body).replace("|", " ").split(), "", ""]
        there = "NUMA Affinity" in header[1]
        rows[name] = Row(dict(zip(columns, words, strict=False)), affinity[0], affinity[1] if there else "")
    cut += [name for name in columns if name not in rows]
    return Matrix(columns, rows, dict(_LEGEND.findall(text)), tuple(cut))


def _header_of_amd(text: str) -> int:
    """Return where a header of rocm-smi stands, whose titles are rules of equals signs."""
    title = _AMD_TABLE.search(text)
    header = _HEADER.search(text, title.end()) if title else None
    return header.start() if header else -1


def read_nvidia(text: str, told: Told) -> None:
    """Read `nvidia-smi topo -m`.

    Raises:
        InputError: no row of a GPU is there.
    """
    found = matrix(text)
    if found is None or not found.columns:
        return
    told.tools.append(NVIDIA)
    gpus = [name for name in found.columns if name.startswith("GPU") and name in found.rows]
    if not gpus or len(found.columns) > MAX_DEVICES:
        raise told.error(f"{NVIDIA} is cut off: it has no row of a GPU; paste its whole output")
    if any(name.startswith("GPU") for name in found.cut):
        told.note("paste-cut", f"{NVIDIA} is cut off in the rows of {', '.join(found.cut[:5])}")
    devices = told.gpus.setdefault("nvidia.com/gpu", {})
    for name in gpus:
        row = found.rows[name]
        devices[name.lower()] = _list(row.numa_affinity)
        cpus = _list(row.cpu_affinity)
        if cpus is not None:
            told.near_cpus[name.lower()] = from_ids(cpus)
    links = [
        (one.lower(), other.lower(), int(found.rows[one].to[other][2:]))
        for index, one in enumerate(gpus)
        for other in gpus[index + 1 :]
        if found.rows[one].to.get(other, "").startswith("NV")
    ]
    if links or not found.cut:
        told.links["nvidia.com/gpu"] = tuple(links)
    told.functions = tuple(_functions(found))
    for name in found.columns:
        if not name.startswith("GPU"):
            near = next((gpu for gpu in gpus if found.rows[gpu].to.get(name) in (*BRIDGES, "NODE")), None)
            if near:
                told.near_gpus[found.names.get(name, name)] = near.lower()


def _list(text: str) -> tuple[int, ...] | None:
    """Read a list of numbers; None: it is none, or not told."""
    try:
        return tuple(ids(parse(text))) or None
    except CPUSetError:
        return None


def _functions(found: Matrix) -> Iterator[PCIFunction]:
    """Yield GPUs and NICs with what they have in common; SYS does not prove another node, so it tells nothing."""
    groups = {word: _groups(found, BRIDGES[: index + 1]) for index, word in enumerate(BRIDGES)}
    for name in found.columns:
        gpu = name.startswith("GPU")
        own = name.lower() if gpu else found.names.get(name, name)
        switch, bridge, root = (
            f"{word} with {groups[word][name]}" if name in groups[word] else None for word in BRIDGES
        )
        yield PCIFunction(
            own,
            "0302" if gpu else "0200",
            "10de" if gpu else None,
            numa_node=None,
            names=(own,) if own != name.lower() else (),
            root=root,
            switch=switch or bridge,
            outer_switch=bridge if switch else None,
        )


def _groups(found: Matrix, words: tuple[str, ...]) -> dict[str, str]:
    """Put what these words join into groups: device -> the first of its group; alone is none."""
    first: dict[str, str] = {}
    for name in found.columns:
        if name in first:
            continue
        stack, members = [name], {name}
        while stack:
            one = stack.pop()
            for other, word in found.rows[one].to.items() if one in found.rows else ():
                if word in words and other not in members:
                    members.add(other)
                    stack.append(other)
        if len(members) > 1:
            first.update(dict.fromkeys(members, name))
    return first


def read_amd(text: str, told: Told) -> None:
    """Read `rocm-smi --showtopo`."""
    nodes = {(number, what): int(node) for number, what, node in _AMD_NODE.findall(text)}
    tables = _amd_tables(text)
    if not nodes and not tables:
        return
    told.tools.append(AMD)
    names = sorted({int(number) for number, _ in nodes} | {int(name[3:]) for name in next(iter(tables.values()), {})})
    if len(names) > MAX_DEVICES:
        raise told.error(f"{AMD}: expected at most {MAX_DEVICES} GPUs, got {len(names)}")
    if not nodes:
        told.note("paste-cut", f"{AMD} is cut off before its NUMA nodes: NUMA node unknown for every GPU")
    devices = told.gpus.setdefault("amd.com/gpu", {})
    for number in names:
        node = nodes.get((str(number), "Node"), nodes.get((str(number), "Affinity"), -1))
        devices[f"gpu{number}"] = (node,) if node >= 0 else None
    kinds = tables.get("Link Type", {})
    hops = tables.get("Hops", {})
    links = [
        (one.lower(), other.lower(), 1)
        for one, row in kinds.items()
        for other, kind in row.items()
        if kind == "XGMI" and int(one[3:]) < int(other[3:]) and hops.get(one, {}).get(other, "1") == "1"
    ]
    if links or kinds:
        told.links["amd.com/gpu"] = tuple(links)


def _amd_tables(text: str) -> dict[str, dict[str, dict[str, str]]]:
    """Title -> GPU -> GPU -> cell."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for title in _AMD_TABLE.finditer(text):
        lines = text[title.end() :].splitlines()[1:]
        columns = lines[0].split() if lines else []
        table = found.setdefault(title[1], {})
        for line in lines[1:]:
            cells = line.split()
            if not cells or not re.fullmatch(r"GPU\d{1,4}", cells[0]):
                break
            table[cells[0]] = dict(zip(columns, cells[1:], strict=False))
    return found
