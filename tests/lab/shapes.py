"""The guests: what each machine looks like, which pods run on it, and what is done to them by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

MIB = 1 << 20
NIC = "lab.test/nic"
"""Resource of the network cards of the kind `CARD`."""
CARD = "e1000e"
"""Its driver asks for interrupts when the interface comes up, so they go where they are told before."""

QUOTA, LIMIT = "1.5", 512 * MIB
"""CPUs' worth of time and bytes of a control group in which the hardware is read, too."""


class Numa(NamedTuple):
    """A NUMA node of the emulated machine."""

    cpus: str
    """Such as `0-3`; empty: none."""
    memory: int
    """MiB; 0: none."""
    cards: tuple[str, ...] = ()
    """Network cards behind a root port of its own root bus."""


class LabPod(NamedTuple):
    """A pod of one container."""

    name: str
    cpus: int = 0
    """Exclusive ones; 0: it runs in the shared pool."""
    touched: int = 0
    """MiB of its memory that its process writes to."""
    shared: int = 0
    """MiB of memory that its processes could share, as databases have it; all of it written to."""
    huge: int = 0
    """MiB of huge pages of 2 MiB, all of them written to."""
    giant: int = 0
    """Huge pages of 1 GiB, all of them written to."""
    nic: bool = False
    """It holds a network card."""


class ByHand(NamedTuple):
    """One thing that is done to a running pod behind the kubelet's back."""

    what: str
    """A function of `by_hand.py`."""
    pod: str
    value: str = ""
    code: str | None = None
    """What `verify` has to find; None: nothing."""
    victim: str = ""
    """Pod that the finding is about; empty: the same."""
    deep: bool = False
    """Only `--deep` finds it."""


class Shape(NamedTuple):
    """A guest."""

    name: str
    about: str
    smp: str
    numa: tuple[Numa, ...]
    distances: tuple[tuple[int, ...], ...]
    pods: tuple[LabPod, ...]
    by_hand: tuple[ByHand, ...]
    alone: Mapping[str, str] = {}
    """Pod -> what `verify --pid` says of its process then."""
    crun: bool = False
    """Control groups are as CRI-O with crun makes them, not containerd."""
    reserved: str = "0"
    """CPUs reserved for the system."""
    kernel: str = ""
    """More words of the kernel's command line."""
    pages: Mapping[tuple[int, int], int] = {}
    """(NUMA node, kB) -> huge pages that it gets when the guest runs."""


SHAPES = (
    Shape(
        name="two-nodes",
        about="two NUMA nodes, PCI devices on both",
        smp="8,sockets=2,cores=4,threads=1",
        numa=(Numa("0-3", 1024, ("e1000e", "virtio-net-pci")), Numa("4-7", 1024, ("e1000e",))),
        distances=((10, 21), (21, 10)),
        pods=(
            LabPod("db", 2, touched=100),
            LabPod("fwd", 2, nic=True),
            LabPod("web"),
            LabPod("train", 2, touched=8),
        ),
        by_hand=(
            ByHand("pages", "db", "1", "memory-remote"),
            ByHand("cpuset", "train", "0,4", "cpuset-differs"),
            ByHand("mems", "train", "0-1", "mems-differ"),
            ByHand("narrow", "db"),
            ByHand("bound", "fwd", code="intruder"),
            ByHand("interrupts", "fwd", "0", "irq-elsewhere"),
            ByHand("renumber", "fwd", "0", "device-moved"),
            ByHand("idle", "fwd"),
        ),
        alone={"db": "spread", "fwd": "aligned", "train": "spread"},
    ),
    Shape(
        name="four-nodes-smt",
        about="four NUMA nodes in two sockets, two threads a core, a CPU goes offline",
        smp="16,sockets=2,dies=2,cores=2,threads=2",
        numa=(
            Numa("0-3", 768),
            Numa("4-7", 512, ("virtio-net-pci",)),
            Numa("8-11", 512, ("e1000e",)),
            Numa("12-15", 512),
        ),
        distances=((10, 12, 21, 21), (12, 10, 21, 21), (21, 21, 10, 12), (21, 21, 12, 10)),
        crun=True,
        reserved="0-1",
        pods=(
            LabPod("db", 2, touched=100),
            LabPod("fwd", 4, nic=True),
            LabPod("web", touched=8),
            LabPod("train", 4),
        ),
        by_hand=(
            ByHand("unplug", "fwd", code="missing-cpu"),  # first: it takes what threads were bound to back
            ByHand("pages", "db", "3", "memory-remote"),
            ByHand("cpuset", "web", "0-15", "cpuset-differs"),
            ByHand("occupy", "web", "5", "intruder", victim="train"),
            ByHand("narrow", "train"),
            ByHand("mems", "train", "0-1", "mems-differ"),
            ByHand("ran", "fwd", code="intruder"),
        ),
    ),
    Shape(
        name="node-without-memory",
        about="three NUMA nodes, one of them without memory",
        smp="6,sockets=3,cores=2,threads=1",
        numa=(Numa("0-1", 1024), Numa("2-3", 768), Numa("4-5", 0, ("virtio-net-pci",))),
        distances=((10, 21, 31), (21, 10, 21), (31, 21, 10)),
        pods=(LabPod("db", 1, touched=100), LabPod("train", 2, touched=8), LabPod("web")),
        by_hand=(
            ByHand("pages", "db", "1", "memory-remote"),
            ByHand("cpuset", "web", "4", "cpuset-differs"),
            ByHand("narrow", "train"),
            ByHand("bound", "db", code="intruder"),
        ),
    ),
    Shape(
        name="node-without-cpus",
        about="three NUMA nodes, one of them without CPUs",
        smp="4,sockets=2,cores=2,threads=1",
        numa=(Numa("0-1", 1024), Numa("2-3", 768, ("e1000e",)), Numa("", 512)),
        distances=((10, 21, 17), (21, 10, 28), (17, 28, 10)),
        pods=(LabPod("db", 1, touched=100), LabPod("train", 1, touched=8), LabPod("web", touched=8)),
        by_hand=(
            ByHand("pages", "db", "2", "memory-remote"),
            ByHand("mems", "train", "2", "mems-differ"),
            ByHand("ran", "train", code="intruder"),
        ),
        alone={"db": "spread", "train": "aligned"},
    ),
    Shape(
        name="huge-pages",
        about="huge pages of two sizes, by the kernel's command line and by NUMA node",
        smp="12,sockets=2,cores=3,threads=2",
        numa=(Numa("0-5", 4096), Numa("6-11", 1024)),
        distances=((10, 20), (20, 10)),
        reserved="0-1",
        kernel="hugepagesz=1G hugepages=0:1 hugepagesz=2M hugepages=0:80,1:16",
        pages={(1, 2048): 64},
        pods=(
            LabPod("db", 2, huge=96),
            LabPod("big", 2, giant=1),
            LabPod("train", 2, shared=100),
            LabPod("fwd", 2),
            LabPod("web"),
        ),
        by_hand=(
            # hugetlb.2MB.numa_stat goes on counting a huge page where it was allocated; numa_maps does not.
            ByHand("pages", "db", "1", "memory-remote", deep=True),
            ByHand("pages", "train", "0", "memory-remote"),
            ByHand("mems", "fwd", "0", "mems-differ"),
            ByHand("bound", "train", code="intruder"),
        ),
    ),
)
