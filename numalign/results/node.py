"""What a host is made of, what a node holds, whether its plan is real, and whether its kubelet would start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.analysis.alignment import Alignment
    from numalign.analysis.config.check import ConfigReport
    from numalign.analysis.holding import Holding
    from numalign.analysis.node.finding import NodeFinding
    from numalign.analysis.node.restart import Restart
    from numalign.analysis.node.room import Room
    from numalign.analysis.verify.compare import Judged, Verdict
    from numalign.errors import Notice
    from numalign.kubelet.setup import Setup
    from numalign.model.hardware import Hardware
    from numalign.model.machine import Machine
    from numalign.results.admit import AdmitResult


class DiscoverResult(NamedTuple):
    """What a host is made of."""

    name: str
    machine: Machine | None
    """The kubelet's view, with what the hardware has otherwise; None where the kubelet's own reading fails."""
    hardware: Hardware | None
    """The hardware alone; None where there is a machine."""
    kubelet_error: str | None
    """Why the kubelet's own reading fails."""
    notices: tuple[Notice, ...]


class ContainerStatus(NamedTuple):
    """One container that holds something."""

    name: str
    holding: Holding
    alignment: Alignment


class ClaimStatus(NamedTuple):
    """A device that a pod holds by claim."""

    claim: str
    namespace: str
    driver: str
    pool: str
    device: str
    share: str = ""
    """The id of its share, where several hold the device (1.35)."""


class PodStatus(NamedTuple):
    """One pod of the node."""

    name: str
    namespace: str
    """Empty: only the UID is known, and stands for the name."""
    uid: str
    active: bool
    """False: it is gone, and what it holds is left over."""
    containers: tuple[ContainerStatus, ...]
    """Those that hold CPUs, memory or devices."""
    claims: tuple[ClaimStatus, ...] = ()
    """Devices that it holds by claim."""

    @property
    def full_name(self) -> str:
        """NAMESPACE/NAME, or the UID."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class StatusResult(NamedTuple):
    """A node as it is."""

    setup: Setup
    origin: str
    node: str
    """What `--node` calls it."""
    exclusive_cpus: bool
    """Whether the CPU manager gives out CPUs at all."""
    shared_pool: int
    """CPUs of those who have none of their own, as a set."""
    reserved_cpus: int
    pods: tuple[PodStatus, ...]
    """Those that hold something, by name; leftovers last."""
    others: int
    """Pods that hold nothing of their own."""
    rooms: tuple[Room, ...]
    largest: Mapping[str, int]
    """Policy -> CPUs of the largest Guaranteed pod that is admitted and aligned now."""
    start_error: str
    """The words of the kubelet if it started now with these files; empty: it comes up, or its words are not known."""
    remedy: str
    """What to do about all that stops it, in order; empty: it comes up."""
    restart: Restart | None
    """What a restart does to the pods that run; None: it does not come up, or has no files."""
    findings: tuple[NodeFinding, ...]
    unknown: tuple[str, ...]
    notices: tuple[Notice, ...]
    picture: AdmitResult
    """Who sits where, as an admission that no pod came to."""

    @property
    def starts(self) -> bool:
        """Whether the kubelet would come up again."""
        return not self.remedy


class Outlook(NamedTuple):
    """What a node is good for, beside what runs on it."""

    rooms: tuple[Room, ...]
    exclusive_cpus: bool
    """Whether the CPU manager gives out CPUs at all."""
    would_restart: bool
    """Whether the kubelet would come up again."""
    rejected: int | None
    """Pods that run and that a restart rejects, or may reject; None: it does not come up, or has no files."""


class VerifyResult(NamedTuple):
    """A node, measured."""

    machine: str
    origin: str
    containers: tuple[Judged, ...]
    """By pod and container."""
    ended: int
    """Init containers that have ended; their CPUs stay with their pod."""
    host_allowed: int
    """Processes of the host that are allowed on exclusive CPUs, without having been seen there."""
    left_out: tuple[str, ...]
    """Checks that could not be made, with the reason."""
    unknown: tuple[str, ...]
    """What the source does not tell."""
    findings: tuple[NodeFinding, ...]
    """What is odd about the plan itself."""
    notices: tuple[Notice, ...]
    at: float
    """When it was measured, in seconds of the epoch."""
    outlook: Outlook | None = None
    """None: nobody asked."""


class ProcessResult(NamedTuple):
    """One process by itself, without any plan (`--pid`, `--self`)."""

    machine: str
    pid: int
    cpus: int
    """CPUs that its threads may run on together, as a set."""
    mems: int
    """NUMA nodes that it may have memory from, as a mask."""
    cpu_nodes: int
    """NUMA nodes of its CPUs, as a mask."""
    pages: Mapping[int, int] | None
    """NUMA node -> bytes of its own memory; None: may not be counted."""
    devices: Mapping[str, int]
    """Device seen in its environment -> its NUMA node; -1: none."""
    verdict: Verdict
    reason: str
    """The verdict in words."""


class NodeCheck(NamedTuple):
    """A configuration, held against the files of a node in use."""

    start_error: str
    """What would stop the kubelet there, in its words; empty: nothing, or its words are not known."""
    remedy: str
    """What to do about all that stops it, in order; empty: it comes up."""
    restart: Restart | None
    """What a restart does to the pods that run; None: it does not come up, or has no files."""
    findings: tuple[NodeFinding, ...]

    @property
    def starts(self) -> bool:
        """Whether the kubelet would come up there."""
        return not self.remedy


class ConfigCheckResult(NamedTuple):
    """A configuration, held against its machine."""

    setup: Setup
    report: ConfigReport
    node: NodeCheck | None = None
    """Whether it comes up with a node's files; None: there is no node."""

    @property
    def starts(self) -> bool:
        """Whether the kubelet comes up, with a node's files where there is one."""
        return bool(self.report.starts) and (self.node is None or self.node.starts)
