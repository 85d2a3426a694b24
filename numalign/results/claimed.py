"""What pods on one node hold by claim, judged together with what the kubelet gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.dra.result import Outcome
    from numalign.dra.whereabouts import ToldBy
    from numalign.dra.why import Why
    from numalign.errors import Notice
    from numalign.results.dra import DeviceGot

Verdict = Literal["aligned", "spread", "floating", "unknown"]
"""As for an admission (docs/dra.md): over CPUs and memory of the kubelet and claimed devices together."""


class ClaimedDevice(NamedTuple):
    """A claimed device, and where it is."""

    got: DeviceGot
    numa: tuple[int, ...] | None
    """None: nobody says."""
    told_by: ToldBy
    cpus: int | None = None
    """The CPUs behind a share of `dra.cpu`, as a set; None: it is no CPU device."""


class WayOut(NamedTuple):
    """How to keep a container together, or why a usual way does not."""

    text: str
    gives: tuple[str, ...] = ()
    """What a trial of it gave, devices and CPUs; empty: it gives nothing that is together."""
    holds: str = ""
    """Where, and as long as what, it holds."""
    write: tuple[str, ...] = ()
    """Lines of YAML: what to add, below `devices` of the claim, or in the container."""


class ContainerClaims(NamedTuple):
    """What one container has by claim."""

    container: str
    devices: tuple[ClaimedDevice, ...]
    verdict: Verdict
    reason: str
    """One sentence."""
    kept_by: str = ""
    """The constraint that keeps all of it together; empty: nothing does."""
    ways_out: tuple[WayOut, ...] = ()


class PodClaims(NamedTuple):
    """The claims of one pod on the node."""

    pod: str
    namespace: str
    outcome: Outcome | None
    """What the allocator says; None: a claim is missing."""
    absent: tuple[str, ...] = ()
    why: Why | None = None
    containers: tuple[ContainerClaims, ...] = ()

    @property
    def allocated(self) -> bool:
        """Whether all claims get their devices here; otherwise the scheduler would not send the pod here."""
        return self.outcome is not None and self.outcome.allocated

    @property
    def aligned(self) -> bool | None:
        """Whether every container with claims is aligned; None: it is not known, or nothing was allocated."""
        verdicts = {container.verdict for container in self.containers}
        if verdicts & {"spread", "floating"}:
            return False
        return None if "unknown" in verdicts or not verdicts else True


class NodeClaims(NamedTuple):
    """The claims of several pods on one node, in the order of their admission."""

    node: str
    source: str
    """The dump."""
    pods: tuple[PodClaims, ...] = ()
    copies: int | None = None
    """How many times the claims of all pods can be allocated, counted up to what was asked; None: not asked."""
    release: str = ""
    """Of the scheduler."""
    deterministic: bool = True
    """Whether the devices are certain: schedulers before 1.36 try pools and slices in random order."""
    notices: tuple[Notice, ...] = ()
    """What is not certain about the CPUs that are held by claim."""
