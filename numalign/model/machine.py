"""A machine as the kubelet sees it: NUMA nodes, sockets, cores, uncore caches and devices.

Values only. Where the machine came from (a file, /sys, a short form) is `numalign.sources`' business.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from numalign.model.cpuset import CPUSet, union
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.model.hardware import Hardware, PCIFunction
    from numalign.model.quantity import Bytes


LAST_NUMA_ID: Final = 63
"""Masks of NUMA nodes in the kubelet have 64 bits."""


class NUMANode(NamedTuple):
    """One NUMA node."""

    id: int
    cpus: CPUSet = 0
    """Its online CPUs as a set; 0 for a node without CPUs."""
    memory: Bytes = 0
    """All memory of the node in bytes, huge pages included."""
    hugepages: Mapping[str, int] = {}
    """Page size (`2Mi`, `1Gi`) -> bytes set aside on the node. A size that is offered with no page is 0."""
    distances: tuple[int, ...] | None = None
    """Its row of the distance table, by position in ascending node id; None where the machine has none."""


class Unit(NamedTuple):
    """A socket or an uncore cache: an id of the operating system and the CPUs it holds."""

    id: int
    cpus: CPUSet


class Device(NamedTuple):
    """A device as its plugin reports it (docs/rules/device-manager.md 1.2, 1.3)."""

    id: str
    numa_nodes: tuple[int, ...] | None = None
    """None: no topology. (): a topology without nodes. -1 may be an element. These are different cases."""
    healthy: bool = True


class Taint(NamedTuple):
    """A taint of the node."""

    key: str
    value: str = ""
    effect: str = ""


class NodeObject(NamedTuple):
    """What the Kubernetes Node object says beside the hardware; None means not known, so not judged."""

    name: str | None = None
    labels: Mapping[str, str] | None = None
    taints: tuple[Taint, ...] = ()
    extended_resources: Mapping[str, int] = {}
    """Extended resources written into the node's status by hand: name -> amount."""


class Machine(NamedTuple):
    """A machine. Every set of CPUs is an int (see `cpuset`); ids are the operating system's own."""

    name: str
    numa_nodes: tuple[NUMANode, ...]
    """In the order in which the kubelet's discovery lists them."""
    sockets: tuple[Unit, ...] = ()
    cores: tuple[int, ...] = ()
    """The online CPUs of each physical core, one set a core."""
    uncore_caches: tuple[Unit, ...] = ()
    """Last-level caches that do not cover a whole node. Empty: the kubelet uses the socket instead."""
    devices: Mapping[str, tuple[Device, ...]] = {}
    """Resource name -> devices of its plugin."""
    preferred_allocation: Mapping[str, tuple[tuple[str, ...], ...]] = {}
    """Resource name -> device sets its plugin prefers, in order; a resource not named has no such call."""
    links: Mapping[str, tuple[tuple[str, str, int], ...]] = {}
    """Resource name -> (device, device, number of links) pairs, for preferred sets derived from links."""
    total_memory: Bytes | None = None
    """`MemTotal` of the machine in bytes; None: the sum over the nodes."""
    storage: Bytes | None = None
    """Bytes of the file system with the kubelet's root directory; None: not known."""
    cgroup_v1: bool = False
    """The host runs cgroup v1; where nobody knows, it counts as cgroup v2."""
    node: NodeObject = NodeObject()
    kubelet: Mapping[str, Any] | None = None
    """The machine file's own `kubelet:` section (KubeletConfiguration fields, as read); None: no section."""
    kubelet_version: str = ""
    """The release of its kubelet, as written; empty: not told."""
    suggests: Mapping[str, Mapping[str, str]] = {}
    """Policy options that its file suggests: `topologyManagerPolicyOptions` or `cpuManagerPolicyOptions` -> option ->
    value. Nobody applies them unasked."""
    hardware: Hardware | None = None
    """Where the hardware differs from what a kubelet would believe (written by `discover`)."""

    @property
    def cpus(self) -> CPUSet:
        """All CPUs of all nodes."""
        return union([node.cpus for node in self.numa_nodes])

    @property
    def memory(self) -> Bytes:
        """The machine's memory in bytes: `MemTotal` where known, else the sum over the nodes."""
        if self.total_memory is not None:
            return self.total_memory
        return sum(node.memory for node in self.numa_nodes)

    def functions(self) -> dict[str, PCIFunction]:
        """Find PCI functions by their address, and by the names that the operating system gives them."""
        listed = self.hardware.pci if self.hardware else ()
        return {name: function for function in listed for name in (*function.names, function.address)}
