"""Keep a guest as a captured machine (tests/sysfs): its tree, what the tools printed, the facts they agree on."""

from __future__ import annotations

import io
import json
import re
import shutil
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.lab.shapes import Shape
from tests.lab.tools import READERS, Fields

LEFT_OUT = re.compile(rb'\s*<info name="(?:DMI\w*|Address|HostName)".*?/>')
"""Of lstopo's XML: what names a machine."""


def keep(shape: Shape, folder: Path, target: Path) -> None:
    """Write the three files of a captured machine.

    Args:
        shape: the guest.
        folder: what it wrote about its hardware.
        target: the folder of captured machines.
    """
    name = f"vm-lab-{shape.name}"
    target.mkdir(parents=True, exist_ok=True)
    shutil.copy(folder / f"{shape.name}.tar.xz", target / f"{name}.tar.xz")
    said = {file: read((folder / file).read_text()) for file, (_, read) in READERS.items()}
    text = json.dumps(facts(shape, name, said), indent=1)
    (target / f"{name}.facts.json").write_text(f"{text}\n")
    with tarfile.open(target / f"{name}.tools.tar.xz", "w:xz") as archive:
        for file in READERS:
            content = LEFT_OUT.sub(b"", (folder / file).read_bytes())
            member = tarfile.TarInfo(file)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def facts(shape: Shape, name: str, said: dict[str, Fields]) -> dict[str, Any]:
    """Write down what the tools say; what two of them say otherwise is contested."""
    one: Fields = {}
    contested = set()
    for fields in said.values():
        contested |= {key for key, value in fields.items() if one.setdefault(key, value) != value}
    assert not contested, f"the tools differ: {sorted(contested)}"
    nodes = sorted({int(match[1]) for key in one if (match := re.fullmatch(r"NUMA (\d+) memory", key))})
    pages = {node: _pages(one, node) for node in nodes}
    sizes = {size for of_node in pages.values() for size in of_node}
    found = {
        "schema": "numalign-facts/1",
        "machine": name,
        "kind": "real",
        "traits": f"QEMU guest of `make lab`: {shape.about}",
        "source": {"project": "own capture", "repository": "QEMU guest, Debian", "licence": "no third-party content"},
        "preparation": [],
        "online_cpus": one["online CPUs"],
        "offline_cpus": one["offline CPUs"],
        "numa_directory": True,
        "numa_nodes": [
            {
                "id": node,
                "cpus": one[f"NUMA {node} CPUs"],
                "memory_bytes": one[f"NUMA {node} memory"],
                "hugepages": pages[node],
            }
            for node in nodes
        ],
        "distances": {"nodes": nodes, "matrix": [[one[f"NUMA {a} to {b}"] for b in nodes] for a in nodes]},
        "packages": _groups(one, "package"),
        "cores": _groups(one, "core"),
        "l3": _groups(one, "L3"),
        "l3_bytes": sorted(
            {value for key, value in one.items() if re.fullmatch(r"L3 of CPU \d+, bytes", key)}, key=int
        ),
        "memory_total_bytes": one["memory"],
        "hugepages_total": {size: sum(of_node[size] for of_node in pages.values()) for size in sorted(sizes, key=int)},
        "pci": [_device(one, key.split()[0]) for key in sorted(one) if key.endswith(" class")],
        "contested": {},
    }
    dies = _groups(one, "die")
    return {**found, "dies": dies} if dies else found


def _pages(one: Fields, node: int) -> dict[str, int]:
    names = {key: re.fullmatch(rf"NUMA {node} pages of (\d+) kB", key) for key in one}
    return {match[1]: int(one[key]) for key, match in names.items() if match}


def _groups(one: Fields, kind: str) -> list[str]:
    return [str(one[key]) for key in _by_number(key for key in one if re.fullmatch(rf"{kind} of CPU \d+", key))]


def _by_number(keys: Iterable[str]) -> list[str]:
    return sorted(keys, key=lambda key: int(key.rsplit(" ", 1)[1]))


def _device(one: Fields, name: str) -> dict[str, Any]:
    node = one[f"{name} NUMA node"]
    device = {key: one[f"{name} {key}"] for key in ("class", "vendor", "device")}
    found: dict[str, Any] = {"address": name, **device, "numa_node": None if node == -1 else node}
    if one.get(f"{name} driver"):
        found["driver"] = one[f"{name} driver"]
    if one.get(f"{name} names"):
        found["os_devices"] = str(one[f"{name} names"]).split()
    return found
