"""What was measured on a node: control groups of containers, their processes, and everybody else's."""

from __future__ import annotations

from collections.abc import Mapping

from numalign.values import NamedTuple


class Thread(NamedTuple):
    """One thread."""

    tid: int
    cpus: int
    """CPUs it may run on (`Cpus_allowed_list`), as a set."""
    mems: int
    """NUMA nodes it may have memory from (`Mems_allowed_list`), as a mask."""
    last_cpu: int
    """Where it was seen last; -1: not known."""


class Process(NamedTuple):
    """One process."""

    pid: int
    threads: tuple[Thread, ...]
    pages: Mapping[int, int] | None = None
    """NUMA node -> bytes of its own memory (W-13); None: not counted."""
    bound: bool = False
    """A thread of the kernel that is bound to its CPUs: not judged."""


class Group(NamedTuple):
    """The control group of one container."""

    uid: str
    """Of its pod."""
    id: str
    """The container's."""
    name: str
    """The container's name; empty: not known."""
    path: str
    """Its folder."""
    cpus: int | None
    """`cpuset.cpus`; 0: empty, so inherited; None: not readable."""
    effective_cpus: int | None
    """`cpuset.cpus.effective`, or what stands for it in version 1."""
    mems: int | None
    effective_mems: int | None
    memory: Mapping[int, int] | None
    """NUMA node -> bytes of anonymous and shared memory and of huge pages (W-14); None: not readable."""
    processes: tuple[Process, ...] = ()
    sandbox: bool = False
    """The pod's sandbox, which is no container of its spec (W-3)."""


class Observed(NamedTuple):
    """All that was measured."""

    version: int
    """Of the control groups, 1 or 2; 0: there are none."""
    groups: tuple[Group, ...]
    others: tuple[Process, ...]
    """Processes that are in no pod."""
    device_nodes: Mapping[str, int] = {}
    """Device id -> its NUMA node now; -1: none."""
    interrupts: Mapping[str, int] = {}
    """Device id -> CPUs that handle its interrupts."""
    plan_age: float | None = None
    """Seconds since the plan was written; None: not known."""
    left_out: tuple[str, ...] = ()
    """Checks that could not be made, with the reason."""
