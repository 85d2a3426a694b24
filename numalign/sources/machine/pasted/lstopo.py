"""The text of lstopo (hwloc): short or verbose, of hwloc 1 and 2."""

from __future__ import annotations

import re
from typing import Final

from numalign.model.cpuset import MAX_ID
from numalign.model.hardware import PCIFunction
from numalign.sources.machine.pasted.told import Told
from numalign.values import NamedTuple

_MACHINE: Final = re.compile(r"^[ \t]*Machine (?:L#0 )?\(", re.MULTILINE)
_ITEM: Final = re.compile(
    r"(Machine|Package|Socket|NUMANode|L3(?:Cache)?|Core|PU)(?:\([\w, ]+\))?(?: (?:P#(\d{1,6})|L#\d+))?(?: \((.*?)\))?$"
)
_PCI: Final = re.compile(
    r"PCI (?:L#\d+ \(busid=)?((?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]).*?\(([\w -]+)\)", re.I
)
_OS: Final = re.compile(r'(?:Net|OpenFabrics|GPU|CoProc|Block)(?:\([^)]*\))? .*?"([\w.-]+)"')
_BYTES: Final = re.compile(r"(?:local=)?(\d{1,9})(KB|MB|GB|TB|KiB|MiB|GiB|TiB)\b")
_SHIFT: Final = {"K": 10, "M": 20, "G": 30, "T": 40}
_CLASSES: Final = {
    "3D": "0302",
    "VGA": "0300",
    "Display": "0380",
    "Ethernet": "0200",
    "InfiniBand": "0207",
    "Network": "0280",
    "NVMExp": "0108",
    "Co-Processor": "0b40",
    "Processing Accelerator": "1200",
}
_GPUS: Final = {"nvml": "nvidia.com/gpu", "cuda": "nvidia.com/gpu", "rsmi": "amd.com/gpu"}


class _Object(NamedTuple):
    """One object of the text."""

    kind: str
    id: int | None
    """As Linux numbers it."""
    about: str
    above: int
    """Which object holds it, by its position; -1: none."""


class _Function(NamedTuple):
    """One PCI function."""

    address: str
    kind: str
    above: int
    names: list[str]


def read_text(text: str, told: Told) -> None:
    """Read it; memory is told in rounded amounts.

    Raises:
        InputError: it is cut off.
    """
    start = _MACHINE.search(text)
    if not start:
        return
    told.tools.append("lstopo")
    objects, functions = _tree(text[start.start() :])
    members = _members(objects, told)
    cpus = _cpus_of_nodes(objects, members)
    if not cpus:
        raise told.error("lstopo is cut off before its NUMA nodes: paste its whole output")
    if not told.nodes:
        lacks = "lstopo rounds the memory and hides NUMA nodes of NVIDIA GPUs"
        told.note("paste-rounded", f"{lacks}; fix: add the output of numactl -H")
    for index, one in enumerate(objects):
        if one.kind == "NUMANode" and one.id is not None:
            size = _BYTES.search(one.about)
            told.memory.setdefault(one.id, int(size[1]) << _SHIFT[size[2][0]] if size else 0)
        if one.kind in ("Package", "Socket", "Core") and not members[index]:
            raise told.error("lstopo is cut off: it has packages or cores without PUs; paste its whole output")
    told.say_nodes("lstopo", cpus)
    packages = [members[index] for index, one in enumerate(objects) if one.kind in ("Package", "Socket")]
    told.sockets = dict(enumerate(packages))
    told.cores = tuple(members[index] for index, one in enumerate(objects) if one.kind == "Core")
    told.caches = tuple(members[index] for index, one in enumerate(objects) if one.kind.startswith("L3"))
    _devices(functions, members, cpus, told)


def _tree(text: str) -> tuple[list[_Object], list[_Function]]:
    """Read the lines by their indentation; ` + ` puts objects inside each other on one line."""
    objects: list[_Object] = []
    functions: list[_Function] = []
    stack: list[tuple[int, int]] = []
    for line in text.splitlines():
        depth = len(line) - len(line.lstrip())
        while stack and stack[-1][0] >= depth:
            stack.pop()
        above = stack[-1][1] if stack else -1
        found = _PCI.search(line)
        if found:
            functions.append(_Function(found[1].lower(), found[2], above, []))
            continue
        name = _OS.match(line.strip())
        if name and functions:
            functions[-1].names.append(name[1])
        for part in line.strip().split(" + "):
            item = _ITEM.match(part)
            if not item:
                continue
            number = item[2] or (re.search(r"P#(\d{1,6})", item[3] or "") or [None, None])[1]
            objects.append(_Object(item[1], int(number) if number else None, item[3] or "", above))
            above = len(objects) - 1
        if above >= 0 and (not stack or above != stack[-1][1]):
            stack.append((depth, above))
        if line.strip() and stack and depth == 0 and len(objects) > 1 and not line.strip().startswith("Machine"):
            break
    return objects, functions


def _members(objects: list[_Object], told: Told) -> list[int]:
    """Return the CPUs below each object."""
    members = [0] * len(objects)
    for index in range(len(objects) - 1, -1, -1):
        one = objects[index]
        if one.kind == "PU":
            if one.id is None or one.id > MAX_ID:
                raise told.error("lstopo names no P# of its PUs: print it without -l")
            members[index] |= 1 << one.id
        if one.above >= 0:
            members[one.above] |= members[index]
    return members


def _cpus_of_nodes(objects: list[_Object], members: list[int]) -> dict[int, int]:
    """Return the CPUs of each node: those below it, or of what holds it; of several nodes there the first has them."""
    nodes: dict[int, int] = {}
    seen = 0
    for index, one in sorted(enumerate(objects), key=lambda pair: pair[1].id or 0):
        if one.kind == "NUMANode" and one.id is not None:
            inside, at = members[index], one.above
            while not inside and at >= 0:
                inside, at = members[at], objects[at].above
            nodes[one.id] = inside & ~seen
            seen |= inside
    return nodes


def _devices(functions: list[_Function], members: list[int], nodes: dict[int, int], told: Told) -> None:
    made = []
    for one in functions:
        near = members[one.above] if one.above >= 0 else 0
        at = [node for node, cpus in nodes.items() if cpus & near]
        address = one.address if one.address.count(":") == 2 else f"0000:{one.address}"
        node = at[0] if len(at) == 1 else -1
        made.append(PCIFunction(address, _CLASSES.get(one.kind), numa_node=node, names=tuple(one.names)))
        for prefix, resource in _GPUS.items():
            if any(name.startswith(prefix) for name in one.names):
                told.gpus.setdefault(resource, {})[address] = (node,) if node >= 0 else None
                break
    told.functions = told.functions or tuple(made)
