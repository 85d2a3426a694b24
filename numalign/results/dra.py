"""Claims: where their devices lie, and what is told of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.analysis.closeness import Neighbours, Rail
    from numalign.dra.changes import ClaimChange
    from numalign.dra.features import Features
    from numalign.dra.publish.slices import Published
    from numalign.dra.result import Outcome
    from numalign.dra.values import DeviceID
    from numalign.dra.whereabouts import ToldBy
    from numalign.dra.why import Why
    from numalign.errors import Notice


class DeviceGot(NamedTuple):
    """A device that a request gets."""

    claim: str
    request: str
    device: DeviceID
    numa: tuple[int, ...] | None
    """The NUMA nodes it says it is on; None: it does not say."""
    shared: bool
    admin: bool
    consumed: tuple[tuple[str, str], ...]
    """Capacity -> amount, of a shared device."""


class NodeCheck(NamedTuple):
    """What becomes of the claims of a pod on one node."""

    node: str
    outcome: Outcome
    devices: tuple[DeviceGot, ...] = ()
    score: int = 0
    """By the choices of `firstAvailable`: 8 for each first one, 7 for each second (docs/rules/dra.md D-8)."""
    why: Why | None = None
    changes: tuple[ClaimChange, ...] = ()
    """What would let the claims be allocated; looked for on the first node that fails in a way."""

    @property
    def fits(self) -> bool:
        """Whether all claims get their devices here."""
        return self.outcome.allocated

    @property
    def failure(self) -> tuple[object, ...]:
        """What nodes that fail alike have in common."""
        where = (self.why.claim, self.why.request, self.why.found, self.why.constraint) if self.why else ()
        return (self.outcome.error, self.outcome.gave_up, *where)


class ClaimsCheck(NamedTuple):
    """What becomes of the claims of one pod, or of a claim that no pod is given for."""

    kind: str
    """`Pod`, `ResourceClaim` or `ResourceClaimTemplate`."""
    name: str
    namespace: str
    origin: str
    """`file:line`."""
    claims: tuple[str, ...]
    allocated: tuple[str, ...]
    """Claims that have their devices already: they are taken as they are."""
    absent: tuple[str, ...]
    """Claims and templates that nothing given has."""
    nodes: tuple[NodeCheck, ...] = ()

    @property
    def full_name(self) -> str:
        """NAMESPACE/NAME."""
        return f"{self.namespace}/{self.name}"

    @property
    def fits(self) -> bool:
        """Whether some node has everything, and none ends the attempt with an error (docs/rules/dra.md D-50)."""
        return not self.absent and self.ended is None and any(node.fits for node in self.nodes)

    @property
    def ended(self) -> NodeCheck | None:
        """The first node whose error ends the scheduling of the pod: it goes to no node, whoever fits."""
        return next((node for node in self.nodes if node.outcome.ends_cycle), None)


class DraCheckResult(NamedTuple):
    """The claims of several pods, each by itself."""

    checks: tuple[ClaimsCheck, ...]
    features: Features
    nodes: int
    slices: int
    devices: int
    notices: tuple[Notice, ...]
    deterministic: bool
    """Whether the devices are certain: schedulers before 1.36 try several pools and slices in random order."""


class DraSlicesResult(NamedTuple):
    """What drivers would publish for a machine."""

    machine: str
    node: str
    published: Published
    passed_over: tuple[str, ...]
    """Resources of the machine that no known driver is for."""


Verdict = Literal["aligned", "spread", "floating", "unknown"]
"""As for an admission (docs/dra.md): over CPUs and memory of the kubelet and claimed devices together."""


class ClaimedDevice(NamedTuple):
    """A claimed device, and where it is."""

    got: DeviceGot
    numa: tuple[int, ...] | None
    """None: nobody says."""
    told_by: ToldBy
    cpus: int | None
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
    kept_by: str
    """The constraint that keeps all of it together; empty: nothing does."""
    rail: Rail | None
    """Whether its GPUs reach its NICs below a switch, those of plugins too."""
    neighbours: tuple[Neighbours, ...]
    """How close all its devices are on the PCI bus, where that is known."""
    ways_out: tuple[WayOut, ...]


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
    pods: tuple[PodClaims, ...]
    copies: int | None
    """How many times the claims of all pods can be allocated, counted up to what was asked; None: not asked."""
    release: str
    """Of the scheduler."""
    deterministic: bool
    """Whether the devices are certain: schedulers before 1.36 try pools and slices in random order."""
    notices: tuple[Notice, ...]
    """What is not certain about the CPUs that are held by claim."""
