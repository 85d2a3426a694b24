"""What an attempt to allocate claims has taken so far, and whether a device may be taken beside it.

docs/rules/dra.md D-6 to D-13.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from numalign.dra.constraints import constraint
from numalign.dra.features import Features
from numalign.dra.plan import Grip, Wanted
from numalign.dra.pools import Pool
from numalign.dra.result import AllocatedDevice, Gate
from numalign.dra.selection import AllocationError, Candidate, RequestKey, tolerated
from numalign.dra.usage import Counters, Usage, added, fits, taken_of
from numalign.dra.values import Claim, Device, DeviceID
from numalign.model.quantity import Quantity


class Holdings:
    """The devices, amounts and counters that the claims of one attempt hold."""

    def __init__(self, claims: Sequence[Claim], pools: Sequence[Pool], used: Usage, features: Features) -> None:
        """Begin with what other claims hold."""
        self._claims = claims
        self._used = used
        self._features = features
        self._counters = Counters(pools, used.holds, by_driver=features.mended)
        self._amounts = dict(used.amounts)
        self._holders: dict[DeviceID, list[int]] = {}
        """Device -> the claims of this attempt that hold it."""
        self._constraints = [
            [made for written in claim.constraints if (made := constraint(written, features)) is not None]
            for claim in claims
        ]
        self.taken: list[list[Grip]] = [[] for _ in claims]
        self.refused_by: int | None = None
        """The constraint that kept a device away last."""

    def free_gate(self, key: RequestKey, wanted: Wanted, candidate: Candidate) -> Gate | None:
        """Say by whom a device is held, if it may not be taken (again)."""
        if self._is_free(key, wanted, candidate):
            return None
        return "taken" if self._holders.get(candidate.identity) else "in use"

    def _is_free(self, key: RequestKey, wanted: Wanted, candidate: Candidate) -> bool:
        """Tell whether a device may be taken (again) by a request (D-6, D-10, D-10a)."""
        identity = candidate.identity
        holders = self._holders.get(identity, ())
        if wanted.request.admin:
            return key.claim not in holders
        return identity not in self._used.whole and not holders

    def take(self, key: RequestKey, wanted: Wanted, candidate: Candidate, *, must: bool) -> Gate | None:
        """Take a device, or name the gate it failed at (D-6, D-7, D-11 to D-13)."""
        identity, device, _ = candidate
        held = self.free_gate(key, wanted, candidate)
        if held is not None:
            return held
        counts = self._counts(candidate)
        if counts and not self._counters.take(device, identity):
            return "counter"
        gate = self._take_uncounted(key, wanted, candidate, must=must)
        if gate is not None and counts:
            self._counters.give_back(device, identity)
        return gate

    def _counts(self, candidate: Candidate) -> bool:
        """Tell whether a device uses up counters: not if it is in use already, by shares (D-12a)."""
        if not self._features.partitionable or not candidate.device.consumes:
            return False
        return not (candidate.device.shared and self._is_shared_out(candidate.identity))

    def _is_shared_out(self, identity: DeviceID) -> bool:
        return identity in self._used.shared or any(
            grip.candidate.identity == identity for grips in self.taken for grip in grips
        )

    def _take_uncounted(self, key: RequestKey, wanted: Wanted, candidate: Candidate, *, must: bool) -> Gate | None:
        identity, device, _ = candidate
        if self._features.taints and not tolerated(device.taints, wanted.request.tolerations):
            return "taint"
        consumed: Mapping[str, Quantity] = {}
        if self._features.consumable:
            taken = self._taken_of(key, wanted, device)
            if taken is None or not fits(device, taken, self._amounts.get(identity, {})):
                return "capacity"
            consumed = taken
        if not self._meets_constraints(key, wanted, candidate, must=must):
            return "constraint"
        shared = device.shared and self._features.consumable
        if shared:
            self._amounts[identity] = added(self._amounts.get(identity, {}), consumed)
        else:
            self._holders.setdefault(identity, []).append(key.claim)
        binds = self._features.binding
        self.taken[key.claim].append(
            Grip(
                candidate,
                AllocatedDevice(
                    request=wanted.result_name,
                    device=identity,
                    admin=wanted.request.admin,
                    shared=shared,
                    consumed=consumed if shared else {},
                    tolerations=wanted.request.tolerations if self._features.taints else (),
                    binding_conditions=device.binding_conditions if binds else (),
                    binding_failure_conditions=device.binding_failure_conditions if binds else (),
                ),
            )
        )
        return None

    def _taken_of(self, key: RequestKey, wanted: Wanted, device: Device) -> Mapping[str, Quantity] | None:
        try:
            return taken_of(device, wanted.request.capacity, self._features)
        except AllocationError as error:
            claim = self._claims[key.claim].full_name
            raise AllocationError(f"claim {claim}, request {wanted.request.name}: {error}") from None

    def _meets_constraints(self, key: RequestKey, wanted: Wanted, candidate: Candidate, *, must: bool) -> bool:
        """Take a device into all constraints of its claim, or into none."""
        made = self._constraints[key.claim]
        for index, one in enumerate(made):
            if one.add(wanted.name, candidate.device, candidate.identity):
                continue
            if must:
                raise AllocationError(
                    f"claim {self._claims[key.claim].full_name}, request {wanted.request.name}: cannot add device "
                    f"{candidate.identity} because a claim constraint would not be satisfied"
                )
            for earlier in made[:index]:
                earlier.remove(wanted.name)
            self.refused_by = index
            return False
        return True

    def give_back(self, key: RequestKey, wanted: Wanted) -> None:
        """Undo the last `take` of a claim."""
        candidate, result = self.taken[key.claim].pop()
        for one in self._constraints[key.claim]:
            one.remove(wanted.name)
        if result.shared:
            amounts = self._amounts[candidate.identity]
            self._amounts[candidate.identity] = added(amounts, result.consumed, -1)
        else:
            self._holders[candidate.identity].pop()
        if self._counts(candidate):
            self._counters.give_back(candidate.device, candidate.identity)
