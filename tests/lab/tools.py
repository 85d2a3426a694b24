"""What each tool says of a machine, and what numalign says, field by field under the same names.

A field is one fact: `NUMA 1 CPUs`, `core of CPU 4`, `0000:21:00.0 driver`. CPUs are lists as text, memory is bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from xml.etree import ElementTree

from numalign.model.cpuset import format_set, from_ids, ids, parse

Fields = dict[str, str | int]
NAMES: Mapping[str, str] = {"64Ki": "64", "2Mi": "2048", "32Mi": "32768", "512Mi": "524288", "1Gi": "1048576"}
"""Sizes of huge pages as numalign writes them -> kB."""
MIB = 1 << 20


def of_discover(text: str) -> Fields:
    """Read `numalign discover -o json`."""
    machine = json.loads(text)
    hardware = machine["hardware"]
    found: Fields = {"memory": machine["totalMemory"], "NUMA nodes": len(machine["numaNodes"])}
    members = {node["id"]: parse(node["cpus"]) for node in machine["numaNodes"]}
    online = from_ids(cpu for cpus in members.values() for cpu in ids(cpus))
    found |= {"online CPUs": format_set(online), "offline CPUs": hardware.get("offlineCPUs", "")}
    for node in machine["numaNodes"]:
        name = f"NUMA {node['id']}"
        found |= {f"{name} CPUs": node["cpus"], f"{name} memory": node["memory"]}
        found[f"{name} memory, MiB"] = node["memory"] // MIB
        for size, amount in node["hugepages"].items():
            found[f"{name} pages of {NAMES[size]} kB"] = amount // (int(NAMES[size]) << 10)
        for other, distance in zip(machine["numaNodes"], node["distances"], strict=True):
            found[f"{name} to {other['id']}"] = distance
    cores = [from_ids(core) for core in machine["cores"]]
    sockets = [parse(socket["cpus"] if isinstance(socket, dict) else socket) for socket in machine["sockets"]]
    found |= _groups("core", cores) | _groups("package", sockets)
    found |= {"threads a core": max(core.bit_count() for core in cores), "packages": len(sockets)}
    found |= _groups("die", map(parse, hardware.get("dies", ())))
    for cache in hardware["l3Caches"]:
        found |= _groups("L3", [parse(cache["cpus"])], cache["size"])
    for device in hardware["pci"]:
        name, place = device["address"], device["numaNode"]
        found |= {f"{name} {key}": device[key] for key in ("class", "vendor", "device")}
        found |= {f"{name} driver": device.get("driver", ""), f"{name} NUMA node": place}
        found[f"{name} names"] = " ".join(sorted(device.get("names", ())))
        found[f"{name} local CPUs"] = format_set(members.get(place) or online)
    return found


def _groups(kind: str, groups: Iterable[int], size: int | None = None) -> Fields:
    """Name each group of CPUs by its first."""
    found: Fields = {}
    for cpus in groups:
        name = f"{kind} of CPU {next(ids(cpus))}"
        found[name] = format_set(cpus)
        if size is not None:
            found[f"{name}, bytes"] = size
    return found


def of_lstopo(text: str) -> Fields:
    """Read `lstopo --of xml`."""
    root = ElementTree.fromstring(text)
    machine = root.find("object")
    assert machine is not None
    found: Fields = {}
    online = 0
    for one, cpus in _objects(machine, 0):
        kind = one.get("type", "")
        if kind == "PU":
            online |= 1 << int(one.attrib["os_index"])
        elif kind in ("Core", "Package", "Die"):
            found |= _groups(kind.lower(), [cpus])
        elif kind == "L3Cache":
            found |= _groups("L3", [cpus], int(one.attrib["cache_size"]))
        elif kind == "NUMANode":
            found |= _numa_node(one, cpus)
        elif kind == "PCIDev" or one.get("pci_busid"):
            found |= _pci_device(one, cpus)
    nodes = [name for name in found if name.endswith("memory")]
    found |= {"online CPUs": format_set(online), "NUMA nodes": len(nodes)}
    found |= {"memory": sum(int(found[name]) for name in nodes)}
    for matrix in root.findall("distances2"):
        numbers = [int(word) for one in matrix.findall("indexes") for word in (one.text or "").split()]
        values = [int(word) for one in matrix.findall("u64values") for word in (one.text or "").split()]
        for place, value in enumerate(values):
            found[f"NUMA {numbers[place // len(numbers)]} to {numbers[place % len(numbers)]}"] = value
    return found


def _objects(one: ElementTree.Element, cpus: int) -> Iterator[tuple[ElementTree.Element, int]]:
    """Yield objects with their CPUs; those of I/O have none of their own, but those of what they hang on."""
    words = one.get("cpuset", "").replace("0x", "").split(",")
    own = int("".join(word.zfill(8) for word in words), 16) if one.get("cpuset") else cpus
    yield one, own
    for child in one.findall("object"):
        yield from _objects(child, own)


def _numa_node(one: ElementTree.Element, cpus: int) -> Fields:
    """A node without CPUs has those of what it hangs on, so its CPUs are other tools' to say."""
    del cpus
    name = f"NUMA {one.attrib['os_index']}"
    found: Fields = {f"{name} memory": int(one.get("local_memory", "0"))}
    for page in one.findall("page_type"):
        size = int(page.attrib["size"]) >> 10
        if size > 4:
            found[f"{name} pages of {size} kB"] = int(page.attrib["count"])
    return found


def _pci_device(one: ElementTree.Element, cpus: int) -> Fields:
    name = one.attrib["pci_busid"]
    match = re.match(r"(\w{4}) \[(\w{4}):(\w{4})\]", one.attrib["pci_type"])
    assert match is not None
    found: Fields = {f"{name} {key}": match[place + 1] for place, key in enumerate(("class", "vendor", "device"))}
    names = [child.attrib["name"] for child in one.findall("object") if child.get("type") == "OSDev"]
    if names:  # it has none for a controller whose disks the kernel does not show
        found[f"{name} names"] = " ".join(sorted(names))
    return {**found, f"{name} local CPUs": format_set(cpus)}


def of_lscpu(text: str) -> Fields:
    """Read `lscpu -J`."""
    told = dict(_pairs(json.loads(text)["lscpu"]))
    found: Fields = {
        "online CPUs": _list(told["On-line CPU(s) list"]),
        "offline CPUs": _list(told.get("Off-line CPU(s) list", "")),
        "threads a core": int(told["Thread(s) per core"]),
        "packages": int(told["Socket(s)"]),
        "NUMA nodes": int(told["NUMA node(s)"]),
    }
    nodes = {match[1]: value for key, value in told.items() if (match := re.match(r"NUMA node(\d+) CPU", key))}
    return found | {f"NUMA {node} CPUs": _list(cpus or "") for node, cpus in nodes.items()}


def _list(text: str) -> str:
    """Write a list as numalign does: `0-1` for lscpu's `0,1`."""
    return format_set(parse(text))


def _pairs(rows: Any) -> Iterator[tuple[str, str]]:
    for row in rows:
        yield row["field"].rstrip(":"), row["data"]
        yield from _pairs(row.get("children", ()))


def of_lscpu_table(text: str) -> Fields:
    """Read `lscpu -p=CPU,CORE,SOCKET,NODE,CACHE`, whose last column is of the largest cache."""
    found: Fields = {}
    rows = [line.split(",") for line in text.splitlines() if line and not line.startswith("#")]
    for kind, column in (("core", 1), ("package", 2), ("L3", -1)):
        groups: dict[str, int] = {}
        for row in rows:
            groups[row[column]] = groups.get(row[column], 0) | 1 << int(row[0])
        found |= _groups(kind, groups.values())
    return found


def of_numactl(text: str) -> Fields:
    """Read `numactl -H`."""
    found: Fields = {}
    nodes = []
    for line in text.splitlines():
        if match := re.match(r"node (\d+) cpus:(.*)", line):
            nodes.append(int(match[1]))
            found[f"NUMA {match[1]} CPUs"] = format_set(from_ids(int(word) for word in match[2].split()))
        elif match := re.match(r"node (\d+) size: (\d+) MB", line):
            found[f"NUMA {match[1]} memory, MiB"] = int(match[2])
        elif match := re.match(r"\s*(\d+):(.*)", line):
            for other, word in zip(nodes, match[2].split(), strict=True):
                found[f"NUMA {match[1]} to {other}"] = int(word)
    return found | {"NUMA nodes": len(nodes)}


def of_lspci(text: str) -> Fields:
    """Read `lspci -Dvmmkn`."""
    found: Fields = {}
    for block in text.strip().split("\n\n"):
        told = dict(line.split(":\t", 1) for line in block.splitlines())
        name = told["Slot"]
        found |= {f"{name} {key.lower()}": told[key] for key in ("Class", "Vendor", "Device")}
        found |= {f"{name} driver": told.get("Driver", ""), f"{name} NUMA node": int(told.get("NUMANode", "-1"))}
    return found


def of_free(text: str) -> Fields:
    """Read `free -b`."""
    match = re.search(r"^Mem:\s+(\d+)", text, re.M)
    assert match is not None
    return {"memory": int(match[1])}


def of_numactl_show(text: str) -> Fields:
    """Read `numactl -s`: what its process may use."""
    told = dict(line.partition(":")[::2] for line in text.splitlines())
    lists = {"CPUs": told["physcpubind"], "NUMA nodes": told["membind"]}
    return {name: format_set(from_ids(map(int, words.split()))) for name, words in lists.items()}


def of_allowed(allowed: Mapping[str, Any]) -> Fields:
    """Read what `numalign discover -o json` says of the limits of its process."""
    found: Fields = {"CPUs": allowed.get("cpus", ""), "NUMA nodes": allowed.get("numaNodes", "")}
    return found | {"quota": str(allowed.get("cpuQuota", "")), "memory": allowed.get("memory", 0)}


READERS: Mapping[str, tuple[tuple[str, ...], Callable[[str], Fields]]] = {
    "lstopo.xml": (
        ("lstopo-no-graphics", "--of", "xml", "--whole-io", "--disallowed", "--filter", "io:all"),
        of_lstopo,
    ),
    "lscpu.json": (("lscpu", "-J"), of_lscpu),
    "lscpu-p.csv": (("lscpu", "-p=CPU,CORE,SOCKET,NODE,CACHE"), of_lscpu_table),
    "numactl-H.txt": (("numactl", "-H"), of_numactl),
    "lspci.txt": (("lspci", "-Dvmmkn"), of_lspci),
    "free.txt": (("free", "-b"), of_free),
}
"""File -> the command line whose output it holds, and what reads it."""
