"""What a machine's hardware has beside, or other than, what a kubelet believes of it (docs/discover.md).

Values only; nothing decides by them. None (or an empty tuple) says that the hardware does not differ there, or that
nobody told. Sets of CPUs and of NUMA nodes are ints (see `cpuset`), amounts are bytes.
"""

from __future__ import annotations

from collections.abc import Mapping

from numalign.values import NamedTuple


class Package(NamedTuple):
    """A processor package."""

    id: int | None
    """The operating system's id; None where it has none."""
    cpus: int


class HardwareNode(NamedTuple):
    """A NUMA node as it is."""

    id: int
    cpus: int
    memory: int | None = None
    """None: not told."""
    hugepages: Mapping[str, int] | None = None
    """Page size (`2Mi`) -> bytes; None: not told."""
    distances: tuple[int, ...] | None = None


class L3Cache(NamedTuple):
    """A level 3 cache."""

    id: int | None
    cpus: int
    size: int | None = None


class CPUKind(NamedTuple):
    """A kind of cores of a hybrid machine."""

    kind: str
    cpus: int


class Allowed(NamedTuple):
    """What the process that read the machine may use, where it is confined; None: no limit of that kind."""

    cpus: int | None = None
    numa_nodes: int | None = None
    cpu_quota: float | None = None
    """CPUs' worth of time."""
    memory: int | None = None


class PCIFunction(NamedTuple):
    """One PCI function."""

    address: str
    class_id: str | None = None
    """The first four hex digits."""
    vendor: str | None = None
    device: str | None = None
    numa_node: int | None = None
    """-1: the firmware did not say. None: not known at all."""
    driver: str | None = None
    names: tuple[str, ...] = ()
    """Names the operating system gives it: `eth0`, `mlx5_0`."""
    root: str | None = None
    root_port: str | None = None
    switch: str | None = None
    """The upstream port of the nearest PCIe switch: functions with the same one share it."""
    outer_switch: str | None = None
    """The upstream port of the outermost switch, where it is not the nearest."""
    physical_function: str | None = None
    virtual_functions: tuple[str, ...] = ()
    total_vfs: int | None = None
    num_vfs: int | None = None
    rdma: bool = False
    """Whether it is an RDMA device, for who has just read the host: no file says it."""

    @property
    def function(self) -> str:
        """`vf` a virtual function, `pf` a physical one with virtual ones enabled, else `plain` (discovery.md 3.5)."""
        if self.physical_function is not None:
            return "vf"
        return "pf" if self.virtual_functions or self.num_vfs else "plain"

    @property
    def outermost(self) -> str | None:
        """The switch whose functions all talk without the root complex."""
        return self.outer_switch or self.switch

    @property
    def outer_bridges(self) -> frozenset[str]:
        """What functions have in common that have any bridge in common: bridges are a tree."""
        return frozenset(bridge for bridge in (self.root_port, self.outermost) if bridge is not None)


NV_SWITCHES = ("1ac2", "1af1", "22a3")
"""PCI device ids of NVSwitch, beside V100, A100 and H100."""


class Hardware(NamedTuple):
    """The other side of a machine: the `hardware` section of a machine file."""

    model: str | None = None
    """Name of the processor."""
    cpus: int | None = None
    """The online CPUs, where the kubelet uses others."""
    offline_cpus: int = 0
    isolated_cpus: int = 0
    """CPUs that the kernel's command line (`isolcpus=`) keeps the scheduler off."""
    sockets: tuple[Package, ...] | None = None
    cores: tuple[int, ...] | None = None
    numa_nodes: tuple[HardwareNode, ...] | None = None
    memory: int | None = None
    hugepages: Mapping[str, int] = {}
    """Page size -> bytes on the whole machine."""
    l3_caches: tuple[L3Cache, ...] = ()
    dies: tuple[int, ...] = ()
    clusters: tuple[int, ...] = ()
    cpu_kinds: tuple[CPUKind, ...] = ()
    allowed: Allowed | None = None
    pci: tuple[PCIFunction, ...] = ()
    nv_switch: bool = False
    """NVSwitch joins all GPUs of NVIDIA, where no PCI function tells it."""

    @property
    def nvlink_switched(self) -> bool:
        """Whether NVSwitch joins all GPUs of NVIDIA: those of Blackwell are no PCI functions."""
        return self.nv_switch or any(one.vendor == "10de" and one.device in NV_SWITCHES for one in self.pci)

    def unseen(self, believed: int) -> int:
        """Return the online CPUs that are not among those a kubelet believes in."""
        return 0 if self.cpus is None else self.cpus & ~believed


NOTHING_KNOWN = Hardware()
