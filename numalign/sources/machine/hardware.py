"""The `hardware` section of a machine file: plain data and back. What it means is `model.hardware`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from numalign.model.cpuset import format_set
from numalign.model.hardware import Allowed, CPUKind, Hardware, HardwareNode, L3Cache, Package, PCIFunction
from numalign.sources.text import fields
from numalign.sources.text.fields import FieldError, Path

Data = dict[str, object]
Item = TypeVar("Item")

KEYS = (
    "model",
    "cpus",
    "offlineCPUs",
    "isolatedCPUs",
    "sockets",
    "cores",
    "numaNodes",
    "memory",
    "hugepages",
    "l3Caches",
    "dies",
    "clusters",
    "cpuKinds",
    "allowed",
    "pci",
)
PCI_KEYS = (
    "address",
    "class",
    "vendor",
    "device",
    "numaNode",
    "driver",
    "names",
    "root",
    "rootPort",
    "switch",
    "physicalFunction",
    "virtualFunctions",
    "totalVFs",
    "numVFs",
)
"""Keys of an entry of `pci`, in the order of the fields of `PCIFunction`."""


# To plain data


def dump(hardware: Hardware) -> Data:
    """Write the section as plain data that `read` reads back; what is not known is left out."""
    known: Data = {
        "model": hardware.model,
        "cpus": _set(hardware.cpus),
        "offlineCPUs": format_set(hardware.offline_cpus) or None,
        "isolatedCPUs": format_set(hardware.isolated_cpus) or None,
        "sockets": None
        if hardware.sockets is None
        else [_known(id=one.id, cpus=format_set(one.cpus)) for one in hardware.sockets],
        "cores": None if hardware.cores is None else [format_set(cpus) for cpus in hardware.cores],
        "numaNodes": None if hardware.numa_nodes is None else [_node(node) for node in hardware.numa_nodes],
        "memory": hardware.memory,
        "hugepages": dict(hardware.hugepages) or None,
        "l3Caches": [_known(id=one.id, cpus=format_set(one.cpus), size=one.size) for one in hardware.l3_caches] or None,
        "dies": [format_set(cpus) for cpus in hardware.dies] or None,
        "clusters": [format_set(cpus) for cpus in hardware.clusters] or None,
        "cpuKinds": [{"kind": one.kind, "cpus": format_set(one.cpus)} for one in hardware.cpu_kinds] or None,
        "allowed": None if hardware.allowed is None else _allowed(hardware.allowed),
        "pci": [_pci(function) for function in hardware.pci] or None,
    }
    return _known(**known)


def _known(**items: object) -> Data:
    return {key: value for key, value in items.items() if value is not None}


def _set(members: int | None) -> str | None:
    return None if members is None else format_set(members)


def _node(node: HardwareNode) -> Data:
    return _known(
        id=node.id,
        cpus=format_set(node.cpus),
        memory=node.memory,
        hugepages=None if node.hugepages is None else dict(node.hugepages),
        distances=None if node.distances is None else list(node.distances),
    )


def _allowed(allowed: Allowed) -> Data:
    return _known(
        cpus=_set(allowed.cpus), numaNodes=_set(allowed.numa_nodes), cpuQuota=allowed.cpu_quota, memory=allowed.memory
    )


def _pci(function: PCIFunction) -> Data:
    """One function; a key that is missing is not known, `numaNode: -1` is what the firmware did not say."""
    found: dict[str, object] = dict(zip(PCI_KEYS, function, strict=True))
    found["names"] = list(function.names) or None
    found["virtualFunctions"] = list(function.virtual_functions) or None
    return _known(**found)


# From plain data


def read(value: object, path: Path) -> Hardware:
    """Read the section.

    Raises:
        FieldError: a key that is not known, or a value of the wrong kind.
    """
    data = fields.mapping(value, path)
    fields.only(data, KEYS, path)
    reading = _Reading(data, path)
    return Hardware(
        model=reading.text("model"),
        cpus=reading.cpus("cpus"),
        offline_cpus=reading.cpus("offlineCPUs") or 0,
        isolated_cpus=reading.cpus("isolatedCPUs") or 0,
        sockets=reading.each("sockets", _package),
        cores=reading.each("cores", fields.cpus),
        numa_nodes=reading.each("numaNodes", _hardware_node),
        memory=reading.amount("memory"),
        hugepages=reading.pages("hugepages") or {},
        l3_caches=reading.each("l3Caches", _cache) or (),
        dies=reading.each("dies", fields.cpus) or (),
        clusters=reading.each("clusters", fields.cpus) or (),
        cpu_kinds=reading.each("cpuKinds", _kind) or (),
        allowed=reading.one("allowed", _limits),
        pci=reading.each("pci", _pci_function) or (),
    )


class _Reading:
    """A mapping whose keys may be missing: each getter gives None then."""

    def __init__(self, value: object, path: Path, known: tuple[str, ...] = ()) -> None:
        self.data = fields.mapping(value, path)
        self.path = path
        if known:
            fields.only(self.data, known, path)

    def one(self, key: str, reader: Callable[[object, Path], Item]) -> Item | None:
        value = self.data.get(key)
        return None if value is None else reader(value, (*self.path, key))

    def needed(self, key: str, reader: Callable[[object, Path], Item]) -> Item:
        if self.data.get(key) is None:
            raise FieldError((*self.path, key), "missing; it is required")
        return reader(self.data[key], (*self.path, key))

    def each(self, key: str, reader: Callable[[object, Path], Item]) -> tuple[Item, ...] | None:
        return self.one(key, lambda value, path: _each(value, path, reader))

    def text(self, key: str) -> str | None:
        return self.one(key, fields.text)

    def texts(self, key: str) -> tuple[str, ...]:
        return self.each(key, fields.text) or ()

    def cpus(self, key: str) -> int | None:
        return self.one(key, fields.cpus)

    def amount(self, key: str) -> int | None:
        return self.one(key, fields.amount)

    def number(self, key: str, low: int = 0) -> int | None:
        return self.one(key, lambda value, path: fields.integer(value, path, low, fields.MAX_NODE_ID))

    def pages(self, key: str) -> dict[str, int] | None:
        return self.one(key, fields.hugepages)


def _each(value: object, path: Path, reader: Callable[[object, Path], Item]) -> tuple[Item, ...]:
    return tuple(reader(item, (*path, index)) for index, item in enumerate(fields.sequence(value, path)))


def _package(value: object, path: Path) -> Package:
    reading = _Reading(value, path, ("id", "cpus"))
    return Package(reading.number("id", -fields.MAX_NODE_ID), reading.needed("cpus", fields.cpus))


def _cache(value: object, path: Path) -> L3Cache:
    reading = _Reading(value, path, ("id", "cpus", "size"))
    number = reading.one("id", lambda given, here: fields.integer(given, here, 0, fields.MAX_BYTES))
    return L3Cache(number, reading.needed("cpus", fields.cpus), reading.amount("size"))


def _kind(value: object, path: Path) -> CPUKind:
    reading = _Reading(value, path, ("kind", "cpus"))
    return CPUKind(reading.needed("kind", fields.text), reading.needed("cpus", fields.cpus))


def _hardware_node(value: object, path: Path) -> HardwareNode:
    reading = _Reading(value, path, ("id", "cpus", "memory", "hugepages", "distances"))
    return HardwareNode(
        id=reading.needed("id", lambda given, here: fields.integer(given, here, 0, fields.MAX_NODE_ID)),
        cpus=reading.needed("cpus", fields.cpus),
        memory=reading.amount("memory"),
        hugepages=reading.pages("hugepages"),
        distances=reading.each("distances", lambda given, here: fields.integer(given, here, 0, 2**31)),
    )


def _limits(value: object, path: Path) -> Allowed:
    reading = _Reading(value, path, ("cpus", "numaNodes", "cpuQuota", "memory"))
    quota = reading.data.get("cpuQuota")
    if quota is not None and (isinstance(quota, bool) or not isinstance(quota, int | float)):
        raise FieldError((*path, "cpuQuota"), f"expected a number of CPUs, got {fields.shown(quota)}")
    return Allowed(
        cpus=reading.cpus("cpus"),
        numa_nodes=reading.cpus("numaNodes"),
        cpu_quota=quota,
        memory=reading.amount("memory"),
    )


def _pci_function(value: object, path: Path) -> PCIFunction:
    reading = _Reading(value, path, PCI_KEYS)
    return PCIFunction(
        address=reading.needed("address", fields.text),
        class_id=reading.text("class"),
        vendor=reading.text("vendor"),
        device=reading.text("device"),
        numa_node=reading.number("numaNode", -1),
        driver=reading.text("driver"),
        names=reading.texts("names"),
        root=reading.text("root"),
        root_port=reading.text("rootPort"),
        switch=reading.text("switch"),
        physical_function=reading.text("physicalFunction"),
        virtual_functions=reading.texts("virtualFunctions"),
        total_vfs=reading.number("totalVFs"),
        num_vfs=reading.number("numVFs"),
    )
