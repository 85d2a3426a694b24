"""hwloc's XML, version 2 (`lstopo --of xml`), as a machine (docs/rules/discovery.md 4.4).

The XML carries CPUs, packages, cores, caches, nodes with memory and pages, distances and PCI devices. It does not carry
the core ids of cores that hwloc joined, drivers, SR-IOV links, or whether a kernel without NUMA stands behind its one
node. What it carries gives the machine that the kubelet would see on the tree itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from numalign.errors import InputError, Notice
from numalign.model.cpuset import MAX_ID, ids, union
from numalign.model.hardware import NOTHING_KNOWN, HardwareNode, L3Cache, Package, PCIFunction
from numalign.model.machine import Machine
from numalign.model.words import few_of
from numalign.sources.host.contrast import hardware_of
from numalign.sources.host.device_rules import named
from numalign.sources.host.hardware import Hardware
from numalign.sources.host.kubelet_view import Core, KubeletView, Node, to_machine
from numalign.sources.host.pci import ADDRESS, order, placed
from numalign.sources.host.text import pages
from numalign.sources.machine.hwloc_document import MAX_BYTES, Document, Object, read_number

MAX_WORDS = 1 << 9
"""Most 32-bit words of a bitmap: twice as many as Linux has CPUs."""

_UNKNOWN = 4294967295
_MANY_NODES = 64
"""A set with infinitely many bits tells nothing of hidden nodes."""
_PCI_TYPE = re.compile(r"([0-9a-f]{4}) \[([0-9a-f]{4}):([0-9a-f]{4})\]", re.ASCII)


def machine_from_xml(data: bytes, where: str, name: str) -> tuple[Machine, tuple[Notice, ...]]:
    """Read hwloc's XML; returns the machine, and what hwloc hides of it.

    Raises:
        InputError: it is no XML, declares entities or attributes, is no hwloc topology of version 2, or has no CPUs.
    """
    if len(data) > MAX_BYTES:
        raise InputError(f"is larger than {MAX_BYTES >> 20} MiB", where)
    document = Document(where)
    document.parse(data)
    if document.root is None:
        raise InputError("has no <object>: expected hwloc XML as `lstopo --of xml` writes it", where)
    reading = _Reading(document.root, document.distances, where)
    return reading.machine(name), tuple(reading.hidden(document.root))


class _Reading:
    """One walk over the objects."""

    def __init__(self, root: Object, distances: dict[int, tuple[int, ...]], where: str) -> None:
        self.where = where
        self.distances = distances
        self.online = self._set(root, "cpuset")
        self.complete = self._set(root, "complete_cpuset")
        self.model: str | None = None
        self.packages: list[tuple[int, int]] = []
        self.cores: list[tuple[int, int, int]] = []
        """(core id, package id, CPUs)"""
        self.dies: list[int] = []
        self.l3: list[L3Cache] = []
        self.unnamed_caches = 0
        self.nodes: list[tuple[int, int, Object]] = []
        """(id, CPUs of its locality, object)"""
        self.ids: set[int] = set()
        """The ids of the nodes."""
        self.pus = 0
        self.pci: list[tuple[PCIFunction, int]] = []
        """(device, CPUs of its place)"""
        self._walk(root)
        if self.distances.keys() != self.ids:
            self.distances = {}

    def machine(self, name: str) -> Machine:
        """Put together what a kubelet would list, and the hardware."""
        self.online = self.online & self.pus or self.pus
        if not self.online:
            raise InputError('has no processing units (<object type="PU">)', self.where)
        members = self._membership()
        nodes = [
            Node(
                id=number,
                cores=self._cores(members[number]),
                memory=self._number(item, "local_memory"),
                hugepages=_hugepages(item),
                distances=self.distances.get(number),
            )
            for number, _, item in sorted(self.nodes, key=lambda node: f"node{node[0]}")
        ]
        machine = to_machine(KubeletView(tuple(nodes), self.online.bit_count(), len(self.packages), memory=None), name)
        hardware = self._hardware(members)
        machine = machine._replace(devices=named(hardware.pci))
        section = hardware_of(hardware, machine)
        return machine._replace(hardware=None if section == NOTHING_KNOWN else section)

    def hidden(self, root: Object) -> Iterator[Notice]:
        """Tell of NUMA nodes that a kubelet has and hwloc leaves out: the memory of NVIDIA GPUs."""
        missing = [node for node in ids(self._set(root, "complete_nodeset")) if node not in self.ids]
        if missing and len(missing) < _MANY_NODES:
            listed = few_of([str(node) for node in missing], 6)
            cure = "export it with HWLOC_KEEP_NVIDIA_GPU_NUMA_NODES=1"
            text = f"NUMA nodes {listed} are hidden by hwloc, a kubelet has them; {cure}"
            yield Notice("hwloc-hidden", text, self.where)

    def _walk(self, root: Object) -> None:
        stack: list[tuple[Object, int, int, tuple[str, ...]]] = [(root, self.online, -1, ())]
        while stack:
            item, cpus, package, path = stack.pop()
            if "cpuset" in item.attributes:
                cpus = self._set(item, "cpuset") & self.online
            number = self._index(item)
            match item.kind:
                case "Machine" | "Package":
                    self.model = self.model or item.infos.get("CPUModel")
                    if item.kind == "Package":
                        package = number
                        self.packages.append((number, cpus))
                case "Die":
                    self.dies.append(cpus)
                case "Core":
                    self.cores.append((number, package, cpus))
                case "PU":
                    self.pus |= cpus
                case "L3Cache":
                    size = self._number(item, "cache_size")
                    self.l3.append(L3Cache(None if number < 0 else number, cpus, size or None))
                case "NUMANode":
                    self._node(number, cpus, item)
                case "Bridge" | "PCIDev":
                    path = self._pci(item, cpus, path)
            if item.kind.endswith("Cache") and item.kind[0] == "L" and number < 0:
                self.unnamed_caches |= cpus
            stack += [(child, cpus, package, path) for child in reversed(item.children)]

    def _node(self, number: int, cpus: int, item: Object) -> None:
        if not 0 <= number <= MAX_ID:
            raise InputError(f"os_index of a NUMANode: expected a number up to {MAX_ID}", self._place(item))
        if number in self.ids:
            raise InputError(f"duplicate os_index {number} of NUMA nodes", self._place(item))
        self.ids.add(number)
        self.nodes.append((number, cpus, item))

    def _membership(self) -> dict[int, int]:
        """A node without CPUs has the cpuset of its locality: the narrower set, then the lower id, owns the CPUs."""
        taken = 0
        result = {}
        for number, cpus, _ in sorted(self.nodes, key=lambda node: (node[1].bit_count(), node[0])):
            result[number] = 0 if cpus & taken else cpus
            taken |= result[number]
        return result

    def _cores(self, cpus: int) -> tuple[Core, ...]:
        """Group the CPUs of a node as the kubelet does: by core and package id (rule 1.4)."""
        groups: dict[tuple[int, int], int] = {}
        for number, package, members in self.cores:
            if members & cpus:
                groups[number, package] = groups.get((number, package), 0) | members & cpus
        for cpu in ids(cpus & ~union(groups.values())):
            package = next((number for number, members in self.packages if members >> cpu & 1), -1)
            groups[-1 - cpu, package] = 1 << cpu
        return tuple(
            Core(
                id=number,
                socket=package,
                threads=tuple(ids(members)),
                uncore=self._uncore(members, len(groups) * members.bit_count()),
            )
            for (number, package), members in groups.items()
        )

    def _uncore(self, core: int, whole_node: int) -> tuple[int, ...]:
        """Rule 1.11, as far as caches have ids here: without, the kubelet sees none."""
        if core & self.unnamed_caches:
            return ()
        found = (cache for cache in self.l3 if cache.cpus & core and cache.cpus.bit_count() != whole_node)
        return tuple(cache.id for cache in found if cache.id is not None)[:1]

    def _hardware(self, members: dict[int, int]) -> Hardware:
        places = {cpus: number for number, cpus in members.items() if cpus}
        pci = [
            device._replace(numa_node=places[cpus]) if cpus in places and len(places) > 1 else device
            for device, cpus in self.pci
        ]
        packages = tuple(Package(None if number < 0 else number, cpus) for number, cpus in self.packages)
        return Hardware(
            online=self.online,
            offline=self.complete & ~self.online,
            packages=packages or (Package(None, self.online),),
            cores=tuple(cpus for _, _, cpus in self.cores),
            dies=tuple(self.dies) if set(self.dies) != {cpus for _, cpus in packages} else (),
            l3=tuple(self.l3),
            nodes=tuple(
                HardwareNode(
                    id=number,
                    cpus=members[number],
                    memory=self._number(item, "local_memory"),
                    hugepages=_hugepages(item),
                    distances=self.distances.get(number),
                )
                for number, _, item in sorted(self.nodes, key=lambda node: node[0])
            ),
            model=self.model,
            pci=tuple(sorted(pci, key=lambda device: order(device.address))),
        )

    def _pci(self, item: Object, cpus: int, path: tuple[str, ...]) -> tuple[str, ...]:
        """Take in a PCI function or a bridge; return the path for what hangs below it."""
        address = item.attributes.get("pci_busid", "")
        if not ADDRESS.fullmatch(address):
            buses = re.match(r"([0-9a-f]{4,8}):\[([0-9a-f]{2})-", item.attributes.get("bridge_pci", ""))
            return (*path, f"pci{buses[1]}:{buses[2]}") if buses else path
        kind = _PCI_TYPE.match(item.attributes.get("pci_type", ""))
        systems = [child for child in item.children if child.kind == "OSDev"]
        device = PCIFunction(
            address=address,
            class_id=kind[1] if kind else None,
            vendor=kind[2] if kind else None,
            device=kind[3] if kind else None,
            names=tuple(child.attributes.get("name", "") for child in systems),
            rdma=any(child.attributes.get("osdev_type") == "3" for child in systems),
        )
        self.pci.append((placed(device, path), cpus))
        return (*path, address)

    def _index(self, item: Object) -> int:
        if "os_index" not in item.attributes:
            return -1
        index = self._number(item, "os_index")
        return -1 if index == _UNKNOWN else index

    def _number(self, item: Object, key: str) -> int:
        return read_number(item.attributes.get(key, "0"), f"{key} of a {item.kind[:40]}", self._place(item))

    def _place(self, item: Object) -> str:
        return f"{self.where}:{item.line}"

    def _set(self, item: Object, key: str) -> int:
        text = item.attributes.get(key, "")
        words = text.split(",")
        try:
            if len(words) > MAX_WORDS:
                raise ValueError
            if words[0] == "0xf...f":
                # Infinitely many more: the words that follow hold everything that exists.
                words = words[1:] or ["0xffffffff"]
            result = 0
            for word in words:
                value = int(word, 16) if word else 0
                if not 0 <= value < 1 << 32:
                    raise ValueError
                result = result << 32 | value
        except ValueError:
            message = f"{key} of a {item.kind}: expected a bitmap such as 0x000000ff, got {text[:40]!r}"
            raise InputError(message, self.where) from None
        return result


def _hugepages(item: Object) -> dict[str, int]:
    """Page size -> bytes; the smallest size is the base page."""
    return pages({size // 1024: item.pages[size] for size in sorted(item.pages)[1:]})
