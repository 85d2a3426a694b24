"""The result of `status`: who holds what on a node, what is free, what is odd, and would its kubelet come up again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.analysis.alignment import Alignment
    from numalign.analysis.holding import Holding
    from numalign.analysis.node.finding import NodeFinding
    from numalign.analysis.node.room import Room
    from numalign.errors import Notice
    from numalign.kubelet.setup import Setup
    from numalign.results.admit import AdmitResult


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
    share: str
    """The id of its share, where several hold the device."""


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
    findings: tuple[NodeFinding, ...]
    unknown: tuple[str, ...]
    notices: tuple[Notice, ...]
    picture: AdmitResult
    """Who sits where, as an admission that no pod came to."""

    @property
    def starts(self) -> bool:
        """Whether the kubelet would come up again."""
        return not self.remedy
