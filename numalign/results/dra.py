"""What claims get on the nodes of a cluster, and what drivers would publish."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.dra.changes import ClaimChange
    from numalign.dra.features import Features
    from numalign.dra.publish.slices import Published
    from numalign.dra.result import Outcome
    from numalign.dra.values import DeviceID
    from numalign.dra.why import Why
    from numalign.errors import Notice


class DeviceGot(NamedTuple):
    """A device that a request gets."""

    claim: str
    request: str
    device: DeviceID
    numa: tuple[int, ...] | None
    """The NUMA nodes it says it is on; None: it does not say."""
    shared: bool = False
    admin: bool = False
    consumed: tuple[tuple[str, str], ...] = ()
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
    allocated: tuple[str, ...] = ()
    """Claims that have their devices already: they are taken as they are."""
    absent: tuple[str, ...] = ()
    """Claims and templates that nothing given has."""
    nodes: tuple[NodeCheck, ...] = ()

    @property
    def full_name(self) -> str:
        """NAMESPACE/NAME."""
        return f"{self.namespace}/{self.name}"

    @property
    def fits(self) -> bool:
        """Whether some node has everything."""
        return not self.absent and any(node.fits for node in self.nodes)


class DraCheckResult(NamedTuple):
    """The claims of several pods, each by itself."""

    checks: tuple[ClaimsCheck, ...]
    features: Features
    nodes: int
    slices: int
    devices: int
    notices: tuple[Notice, ...] = ()
    deterministic: bool = True
    """Whether the devices are certain: schedulers before 1.36 try several pools and slices in random order."""


class DraSlicesResult(NamedTuple):
    """What drivers would publish for a machine."""

    machine: str
    node: str
    published: Published
    passed_over: tuple[str, ...] = ()
    """Resources of the machine that no known driver is for."""
