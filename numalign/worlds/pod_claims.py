"""From a pod to its claims: by name, or made from a template as the cluster would make them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from numalign.dra import extended
from numalign.dra.allocator import MAX_WORK
from numalign.dra.attempt import Attempt
from numalign.dra.claim_objects import ClaimObjects
from numalign.dra.drivers import numa_node
from numalign.dra.pools import matches
from numalign.dra.result import Outcome
from numalign.dra.values import Claim, Device, DeviceID, Slice, Taken
from numalign.model.pod import Pod
from numalign.model.quantity import canonical
from numalign.results.dra import DeviceGot
from numalign.values import NamedTuple

MAX_TOTAL_WORK: Final = 10 * MAX_WORK
"""What all attempts together may take; after that each of them gets little."""
LITTLE_WORK: Final = MAX_WORK // 100


class Allocating:
    """Allocates claims, and remembers how much has been tried."""

    def __init__(self) -> None:
        self._work = 0

    @property
    def tired(self) -> bool:
        """Whether each further attempt gets little."""
        return self._work >= MAX_TOTAL_WORK

    def allocate(self, attempt: Attempt, claims: Sequence[Claim]) -> Outcome:
        """Try claims on a node (see `allocator.allocate`)."""
        outcome = attempt.allocate(claims, work=LITTLE_WORK if self.tired else MAX_WORK)
        self._work += outcome.work
        return outcome


class Reference(NamedTuple):
    """An entry of a pod's `resourceClaims`."""

    name: str
    """What containers call it."""
    claim: Claim | None
    """None: neither the claim nor the template is there."""
    wanted: str
    """The object it names: `ResourceClaim gpus`."""
    from_template: bool = False
    origin: str = ""
    """Where the object stands: `file:line`."""
    annotations: Mapping[str, object] = {}
    """Of the object."""


def references(pod: Pod, objects: ClaimObjects) -> Iterator[Reference]:
    """Yield the claims of a pod, in its order."""
    for entry in pod.spec.get("resourceClaims") or ():
        name = entry["name"]
        if entry.get("resourceClaimTemplateName"):
            template = entry["resourceClaimTemplateName"]
            placed = objects.templates.get((pod.namespace, template))
            claim = placed.claim._replace(name=f"{pod.name}-{name}") if placed is not None else None
            origin = placed.origin if placed is not None else ""
            wanted = f"ResourceClaimTemplate {template}"
            notes = placed.annotations if placed is not None else {}
            yield Reference(name, claim, wanted, from_template=True, origin=origin, annotations=notes)
        else:
            named = entry.get("resourceClaimName") or ""
            placed = objects.claims.get((pod.namespace, named))
            found, origin, notes = placed if placed is not None else (None, "", {})
            yield Reference(name, found, f"ResourceClaim {named}", origin=origin, annotations=notes)
    if pod.status.claimed:
        own = f"{pod.name}-{extended.CLAIM}-"
        given = (one for key, one in objects.claims.items() if key[0] == pod.namespace and key[1].startswith(own))
        placed = next(given, None)
        made = placed.claim if placed is not None else extended.claim_of(pod, objects.classes)
        yield Reference(extended.CLAIM, made, f"ResourceClaim {made.name}", from_template=True)


def elsewhere(claims: Iterable[Claim], attempt: Attempt) -> str:
    """Say which claim holds a device of another node; nothing if none does, or nothing is published of its pool."""
    for claim in claims:
        for taken in claim.allocation or ():
            driver, pool, name = taken.device
            published = attempt.cluster.by_pool.get((driver, pool), ())
            slices = [one for one in published if any(device.name == name for device in one.devices)]
            if slices and not any(_offers(one, name, attempt) for one in slices):
                return f"claim {claim.full_name} holds {taken.device}, which this node does not have"
    return ""


def _offers(slice_: Slice, name: str, attempt: Attempt) -> bool:
    """Tell whether a node can use a device of a slice (docs/rules/dra.md D-3, D-3a)."""
    if not slice_.per_device:
        return matches(slice_.placement, attempt.node)
    return any(device.name == name and matches(device.placement, attempt.node) for device in slice_.devices)


def users(pod: Pod) -> Mapping[str, tuple[tuple[str, str], ...]]:
    """Give, for each container, the (claim, request) pairs it uses; an empty request stands for all of a claim."""
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    for field in ("initContainers", "containers"):
        for container in pod.spec.get(field) or ():
            claims = (container.get("resources") or {}).get("claims") or ()
            found[container["name"]] = tuple((one["name"], one.get("request") or "") for one in claims)
    for owner, _, request in extended.requests_of(pod) if pod.status.claimed else ():
        found[owner] = (*found.get(owner, ()), (extended.CLAIM, request))
    return found


def device_got(claim: str, taken: Taken, devices: Mapping[DeviceID, Device]) -> DeviceGot:
    """Describe a device that a claim holds."""
    device = devices.get(taken.device)
    node = numa_node(device, taken.device.driver) if device is not None else None
    return DeviceGot(
        claim=claim,
        request=taken.request,
        device=taken.device,
        numa=(node,) if node is not None else None,
        shared=bool(taken.share),
        admin=taken.admin,
        consumed=tuple((name, canonical(amount)) for name, amount in taken.consumed.items()),
    )
