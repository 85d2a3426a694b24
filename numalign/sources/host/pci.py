"""PCI devices of a tree: identity, NUMA node, place on the bus, SR-IOV, names of the operating system.

docs/rules/discovery.md section 3. Which resource a device belongs to is `device_rules`' business.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from numalign.sources.host.text import names_or_none, read_int, read_or_none
from numalign.sources.tree.folder import Tree

DEVICES = "sys/bus/pci/devices"

_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]", re.ASCII)
_CLASSES = ("net", "infiniband", "nvme", "drm", "ve", "mic")
"""Kinds of names, in the order in which they are told."""


class PCIDevice(NamedTuple):
    """One PCI function."""

    address: str
    """`dddd:bb:dd.f`; the domain may have more than four digits."""
    class_id: str | None = None
    """The first four hex digits; None: the tree does not tell, the device is incomplete."""
    vendor: str | None = None
    device: str | None = None
    numa_node: int | None = None
    """-1: the firmware did not say. None: not known at all (rule 3.2)."""
    driver: str | None = None
    names: tuple[str, ...] = ()
    """Names the operating system gives it: `eth0`, `mlx5_0`, `nvme0`, `card0`."""
    infiniband: tuple[str, ...] = ()
    """Those of `names` that are RDMA devices."""
    path: tuple[str, ...] = ()
    """The bridges above it, root complex (`pci0000:00`) first."""
    total_vfs: int | None = None
    num_vfs: int | None = None
    vfs: tuple[str, ...] = ()
    """Addresses of its virtual functions."""
    pf: str | None = None
    """Address of the physical function it belongs to."""

    @property
    def function(self) -> str:
        """`vf` a virtual function, `pf` a physical one with virtual ones enabled, else `plain` (rule 3.5)."""
        if self.pf is not None:
            return "vf"
        return "pf" if self.vfs or self.num_vfs else "plain"

    @property
    def root_port(self) -> str | None:
        """The bridge nearest to the CPU; None where the device sits on the root complex itself."""
        return self.path[1] if len(self.path) > 1 else None

    @property
    def switch(self) -> str | None:
        """The upstream port of the nearest PCIe switch above it.

        A switch shows as two bridges below the root port: its upstream port and one downstream port a device.
        """
        return self.path[-2] if len(self.path) > 3 else None


def read_pci(tree: Tree) -> tuple[PCIDevice, ...]:
    """Read every PCI function of a tree, by address. Devices that vanish while being read are left out."""
    names = _class_names(tree)
    result = []
    for address in names_or_none(tree, DEVICES) or ():
        if _ADDRESS.fullmatch(address):
            try:
                result.append(_device(tree, address, names.get(address, {})))
            except OSError:
                continue
    return tuple(sorted(result, key=lambda device: order(device.address)))


def _class_names(tree: Tree) -> dict[str, dict[str, set[str]]]:
    """Return address -> class -> names, from the links of `sys/class` (also for devices behind virtio)."""
    result: dict[str, dict[str, set[str]]] = {}
    for kind in _CLASSES:
        for name in names_or_none(tree, f"sys/class/{kind}") or ():
            try:
                above = _ADDRESS.findall(tree.target(f"sys/class/{kind}/{name}"))
            except OSError:
                continue
            if above and _is_device(kind, name):
                result.setdefault(above[-1], {}).setdefault(kind, set()).add(name)
    return result


def order(address: str) -> tuple[int, ...]:
    """Return what PCI addresses are sorted by: domain, bus, device, function as numbers."""
    return tuple(int(part, 16) for part in re.split("[:.]", address))


def _device(tree: Tree, address: str, class_names: Mapping[str, set[str]]) -> PCIDevice:
    place = tree.resolve(f"{DEVICES}/{address}")
    here = tree.names(place)
    present = frozenset(here)

    def hexadecimal(name: str) -> str | None:
        text = read_or_none(tree, f"{place}/{name}") if name in present else None
        return text.strip().removeprefix("0x").lower() if text else None

    def linked(name: str) -> str | None:
        try:
            return tree.target(f"{place}/{name}").rpartition("/")[2]
        except OSError:
            return None

    found = {
        kind: sorted(
            {name for name in _under(tree, f"{place}/{kind}", kind in present) if _is_device(kind, name)}
            | class_names.get(kind, set())
        )
        for kind in _CLASSES
        if kind in present or kind in class_names
    }
    class_text = hexadecimal("class")
    return PCIDevice(
        address=address,
        class_id=class_text[:4] if class_text else None,
        vendor=hexadecimal("vendor"),
        device=hexadecimal("device"),
        numa_node=read_int(tree, f"{place}/numa_node") if "numa_node" in present else None,
        driver=linked("driver") if "driver" in present else None,
        names=tuple(name for names in found.values() for name in names),
        infiniband=tuple(found.get("infiniband", ())),
        path=tuple(part for part in place.split("/")[2:-1] if part.startswith("pci") or _ADDRESS.fullmatch(part)),
        total_vfs=read_int(tree, f"{place}/sriov_totalvfs") if "sriov_totalvfs" in present else None,
        num_vfs=read_int(tree, f"{place}/sriov_numvfs") if "sriov_numvfs" in present else None,
        vfs=tuple(
            target
            for name in sorted((name for name in here if name.startswith("virtfn")), key=lambda n: (len(n), n))
            if (target := linked(name)) is not None
        ),
        pf=linked("physfn") if "physfn" in present else None,
    )


def _under(tree: Tree, path: str, there: bool) -> list[str]:
    return (names_or_none(tree, path) or []) if there else []


def _is_device(kind: str, name: str) -> bool:
    """Tell names of devices from connectors and the like (`card0-DP-1`, `renderD128`)."""
    return re.fullmatch(r"card\d+", name) is not None if kind == "drm" else True
