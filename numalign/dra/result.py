"""What an attempt to allocate claims on a node gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from numalign.dra.selection import RequestKey
from numalign.dra.values import Claim, Config, DeviceID, NodeSelector, Taken, Toleration
from numalign.model.quantity import Quantity
from numalign.values import NamedTuple

Gate = Literal["in use", "taken", "class", "selector", "counter", "taint", "capacity", "constraint", "pool"]
"""What a device can fail at. `in use`: by another claim; `taken`: by the pod's own; `class`: the class means other
devices; `pool`: its pool is incomplete or invalid."""


class AllocatedDevice(NamedTuple):
    """A device that a request got."""

    request: str
    """`request`, or `request/alternative`."""
    device: DeviceID
    admin: bool = False
    shared: bool = False
    """Whether this is a share of a device that may serve others too."""
    consumed: Mapping[str, Quantity] = {}
    tolerations: tuple[Toleration, ...] = ()
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()


class ConfigFrom(NamedTuple):
    """Parameters for a driver, and where they come from."""

    source: Literal["FromClass", "FromClaim"]
    config: Config


class ClaimAllocation(NamedTuple):
    """What a claim gets."""

    claim: str
    devices: tuple[AllocatedDevice, ...]
    config: tuple[ConfigFrom, ...]
    node_selector: NodeSelector | None
    """From which nodes the devices can be used; None: from all."""


class Rejections(NamedTuple):
    """Where a search got stuck: the request it could not complete, and what its devices failed at."""

    key: RequestKey
    position: int
    """How many devices of the request had been found."""
    gates: Mapping[Gate, int]
    constraint: int | None
    """The first constraint that refused a device, by its place in the claim."""
    taken: frozenset[DeviceID]
    """What the pod's claims had taken there."""


class Outcome(NamedTuple):
    """The result of one attempt: exactly one of `claims`, `error` and `stuck` or `gave_up` says what happened."""

    claims: tuple[ClaimAllocation, ...] | None = None
    """What each claim gets, if all get something."""
    error: str = ""
    """The allocator's error."""
    ends_cycle: bool = False
    """Whether the error ends the scheduling of the pod, so that it goes to no node at all (D-50)."""
    selector: str = ""
    """The expression that the error is about; empty: it is about none."""
    error_at: RequestKey | None = None
    """The request that the error is about; None: it is about none."""
    stuck: Rejections | None = None
    """Where the search got furthest without success."""
    gave_up: bool = False
    """The search was stopped at its bound: there may be a solution."""
    steps: int = 0
    """How often the search was entered; recorded cases tell it of kube-scheduler's allocator."""
    work: int = 0
    """How much was tried, in the unit of the search's bound."""
    chosen: Mapping[RequestKey, int] = {}
    """For requests with alternatives, the index of the one that was taken."""

    @property
    def allocated(self) -> bool:
        """Whether all claims got their devices."""
        return self.claims is not None

    def held(self, claims: Sequence[Claim]) -> list[Claim]:
        """Give the claims that were tried with what they got; none where they got nothing."""
        return [
            claim._replace(
                allocation=tuple(
                    Taken(one.device, one.request, one.admin, "share" if one.shared else "", one.consumed)
                    for one in got.devices
                )
            )
            for claim, got in zip(claims, self.claims or (), strict=self.allocated)
        ]
