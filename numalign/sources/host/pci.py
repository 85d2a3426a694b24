"""PCI devices of a tree: identity, NUMA node, place on the bus, SR-IOV, names of the operating system.

docs/rules/discovery.md section 3. Which resource a device belongs to is `device_rules`' business.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from numalign.errors import Notice
from numalign.model.hardware import PCIFunction
from numalign.model.words import few_of
from numalign.sources.host.text import names_or_none, read_int, read_or_none
from numalign.sources.tree.folder import Tree
from numalign.values import NamedTuple

DEVICES = "sys/bus/pci/devices"

ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]", re.ASCII)
_CLASSES = ("net", "infiniband", "nvme", "drm", "ve", "mic")
"""Kinds of names, in the order in which they are told."""


class FoundPCI(NamedTuple):
    """The PCI functions of a tree."""

    devices: tuple[PCIFunction, ...]
    """By address."""
    notices: tuple[Notice, ...]
    """What may not be read."""


def read_pci(tree: Tree) -> FoundPCI:
    """Read every PCI function of a tree. Devices that vanish while being read are left out."""
    names = _class_names(tree)
    result, locked = [], []
    try:
        listed = tree.names(DEVICES)
    except PermissionError:
        return FoundPCI((), _locked([f"/{DEVICES}"]))
    except OSError:
        listed = []
    for address in filter(ADDRESS.fullmatch, listed):
        try:
            result.append(_device(tree, address, names.get(address, {})))
        except PermissionError:
            locked.append(f"/{DEVICES}/{address}")
        except OSError:
            continue
    return FoundPCI(tuple(sorted(result, key=lambda device: order(device.address))), _locked(locked))


def _locked(paths: Sequence[str]) -> tuple[Notice, ...]:
    """Warn of folders that may not be read, each of which may be of a device that pods ask for."""
    text = f"{few_of(paths, 1)} not readable: GPUs or NICs may be missing here"
    return (Notice("pci-unreadable", text),) if paths else ()


def _class_names(tree: Tree) -> dict[str, dict[str, set[str]]]:
    """Return address -> class -> names, from the links of `sys/class` (also for devices behind virtio)."""
    result: dict[str, dict[str, set[str]]] = {}
    for kind in _CLASSES:
        for name in names_or_none(tree, f"sys/class/{kind}") or ():
            try:
                above = ADDRESS.findall(tree.target(f"sys/class/{kind}/{name}"))
            except OSError:
                continue
            if above and _is_device(kind, name):
                result.setdefault(above[-1], {}).setdefault(kind, set()).add(name)
    return result


def order(address: str) -> tuple[int, ...]:
    """Return what PCI addresses are sorted by: domain, bus, device, function as numbers."""
    return tuple(int(part, 16) for part in re.split("[:.]", address))


def placed(function: PCIFunction, above: Sequence[str]) -> PCIFunction:
    """Say what a function hangs on; `above` are the bridges above it, root complex (`pci0000:00`) first.

    A switch shows as two bridges below the root port: its upstream port and one downstream port a device. An
    accelerator card may bring a switch of its own, and boards put one behind another.
    """
    switch = above[-2] if len(above) > 3 else None
    return function._replace(
        root=above[0] if above else None,
        root_port=above[1] if len(above) > 1 else None,
        switch=switch,
        outer_switch=above[2] if len(above) > 4 and above[2] != switch else None,
    )


def _device(tree: Tree, address: str, class_names: Mapping[str, set[str]]) -> PCIFunction:
    files = _Files(tree, tree.resolve(f"{DEVICES}/{address}"))
    names = _names(files, class_names)
    class_id = files.hexadecimal("class")
    above = [part for part in files.place.split("/")[2:-1] if part.startswith("pci") or ADDRESS.fullmatch(part)]
    found = PCIFunction(
        address=address,
        class_id=class_id[:4] if class_id else None,
        vendor=files.hexadecimal("vendor"),
        device=files.hexadecimal("device"),
        numa_node=files.number("numa_node"),
        driver=files.linked("driver"),
        names=tuple(name for found in names.values() for name in found),
        rdma=bool(names.get("infiniband")),
        total_vfs=files.number("sriov_totalvfs"),
        num_vfs=files.number("sriov_numvfs"),
        virtual_functions=files.virtual_functions(),
        physical_function=files.linked("physfn"),
    )
    return placed(found, above)


class _Files:
    """The files of one device; a file that is not there is not asked for."""

    def __init__(self, tree: Tree, place: str) -> None:
        self.tree = tree
        self.place = place
        self.present = frozenset(tree.names(place))

    def hexadecimal(self, name: str) -> str | None:
        text = read_or_none(self.tree, f"{self.place}/{name}") if name in self.present else None
        return text.strip().removeprefix("0x").lower() if text else None

    def number(self, name: str) -> int | None:
        return read_int(self.tree, f"{self.place}/{name}") if name in self.present else None

    def linked(self, name: str) -> str | None:
        """Return the last name of what a link leads to."""
        if name not in self.present:
            return None
        try:
            return self.tree.target(f"{self.place}/{name}").rpartition("/")[2]
        except OSError:
            return None

    def names(self, kind: str) -> list[str]:
        return (names_or_none(self.tree, f"{self.place}/{kind}") or []) if kind in self.present else []

    def virtual_functions(self) -> tuple[str, ...]:
        links = sorted((name for name in self.present if name.startswith("virtfn")), key=lambda name: (len(name), name))
        return tuple(target for name in links if (target := self.linked(name)) is not None)


def _names(files: _Files, class_names: Mapping[str, set[str]]) -> dict[str, list[str]]:
    """Kind -> names, from the device's own folders and from the classes."""
    return {
        kind: sorted({name for name in files.names(kind) if _is_device(kind, name)} | class_names.get(kind, set()))
        for kind in _CLASSES
        if kind in files.present or kind in class_names
    }


def _is_device(kind: str, name: str) -> bool:
    """Tell names of devices from connectors and the like (`card0-DP-1`, `renderD128`)."""
    return re.fullmatch(r"card\d+", name) is not None if kind == "drm" else True
