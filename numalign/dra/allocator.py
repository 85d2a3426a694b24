"""Finds devices for the claims of a pod on one node, as the scheduler does (docs/rules/dra.md 4).

First fit with full backtracking: claims in the order of the pod, requests in the order of the claim, the devices of a
request one after the other; the first complete solution is taken. The search keeps its own stack, so that no number of
devices can exhaust Python's, and is stopped at a bound.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from enum import Enum
from typing import Final

from numalign.dra.features import UNTIL_1_35, Features
from numalign.dra.holdings import Holdings
from numalign.dra.plan import Planner, Wanted, claim_allocation
from numalign.dra.pools import Pool, Published, pools_of
from numalign.dra.result import Gate, Outcome, Rejections
from numalign.dra.selection import AllocationError, Candidate, GaveUpError, RequestKey, Selection, candidates
from numalign.dra.usage import Usage
from numalign.dra.values import MAX_RESULTS, Claim, DeviceClass, Node
from numalign.values import NamedTuple

MAX_WORK: Final = 2_000_000
"""How many devices a search may look at on one node, each again as often as it is tried: about a second here. The
scheduler stops after 10 seconds."""
COST_OF_WORK: Final = 10
"""So much cost of selectors counts like one device that is looked at."""


def allocate(
    node: Node,
    cluster: Published,
    classes: Mapping[str, DeviceClass],
    claims: Sequence[Claim],
    used: Usage,
    features: Features,
    *,
    work: int = MAX_WORK,
) -> Outcome:
    """Try to allocate all claims on a node.

    Args:
        node: the node that is tried.
        cluster: every ResourceSlice there is.
        classes: DeviceClasses by name.
        claims: the claims of the pod that have no devices yet, in its order.
        used: what other claims hold.
        features: what the allocator may use.
        work: how much may be tried before the search gives up.

    Raises:
        InputError: a selector uses what numalign does not follow.
    """
    pools = pools_of(node, cluster, features)
    selection = Selection(node, features, COST_OF_WORK * work)
    try:
        wanted = Planner(pools, classes, selection, used, features).plan(claims)
    except GaveUpError:
        return Outcome(gave_up=True, work=selection.cost // COST_OF_WORK)
    except AllocationError as error:
        return _failed(error, error.key, 0, selection.cost // COST_OF_WORK)
    search = _Search(claims, wanted, pools, used, features, selection, work)
    try:
        done = search.run()
    except GaveUpError:
        return Outcome(gave_up=True, stuck=search.stuck, steps=search.steps, work=search.spent())
    except AllocationError as error:
        return _failed(error, search.at, search.steps, search.spent())
    if not done:
        invalid = any(pool.invalid for pool in pools) and features.release != "1.34"
        said = "invalid resource pools were encountered" if invalid else ""
        return Outcome(error=said, stuck=search.stuck, steps=search.steps, work=search.spent())
    results = tuple(
        claim_allocation(node, index, claim, wanted, search.held.taken[index], mended=features.mended)
        for index, claim in enumerate(claims)
    )
    return Outcome(claims=results, steps=search.steps, work=search.spent(), chosen=search.chosen)


def _failed(error: AllocationError, at: RequestKey | None, steps: int, work: int) -> Outcome:
    """Fail for good: all but "nothing fits on this node" ends the scheduling cycle of the pod (D-50)."""
    return Outcome(error=str(error), ends_cycle=True, selector=error.selector, error_at=at, steps=steps, work=work)


class _Found(Enum):
    """What a part of the search gives."""

    YES = "a complete solution"
    NO = "no solution from here"
    TOO_MANY = "no solution from here: the claim would have too many devices (D-9)"


class _Place(NamedTuple):
    """Where the search is: the device of a request that is looked for next."""

    key: RequestKey
    position: int = 0
    start: int = 0
    """Before this device nothing is tried (D-6a)."""
    in_alternative: bool = False
    """Whether an alternative of the request has been chosen."""


_Part = Generator[_Place, _Found, _Found]
"""A part of the search: yields the part it needs next, is sent what that gave."""


class _Search:
    """One attempt: where it is, and what is left to do."""

    def __init__(
        self,
        claims: Sequence[Claim],
        wanted: Mapping[RequestKey, Wanted],
        pools: Sequence[Pool],
        used: Usage,
        features: Features,
        selection: Selection,
        work: int,
    ) -> None:
        self._claims = claims
        self._wanted = wanted
        self._features = features
        self._selection = selection
        self._devices = [(pool, one) for pool in pools for one in candidates(pool)]
        self.held = Holdings(claims, pools, used, features)
        self.chosen: dict[RequestKey, int] = {}
        self.stuck: Rejections | None = None
        self.steps = 0
        self.at: RequestKey | None = None
        """The request that was looked at last."""
        self.work = work
        self._start = work
        self._passed: list[tuple[RequestKey, Mapping[Gate, int]]] = []
        """For each device taken from among others: what those before it failed at."""

    def run(self) -> bool:
        """Search; true if all claims got their devices."""
        stack: list[_Part] = [self._part(_Place(RequestKey(0, 0)))]
        self.steps = 1
        sent: _Found | None = None
        while stack:
            try:
                place = stack[-1].send(sent) if sent is not None else next(stack[-1])
            except StopIteration as stop:
                sent = stop.value
                stack.pop()
                continue
            self.steps += 1
            self._spend()
            stack.append(self._part(place))
            sent = None
        return sent is _Found.YES

    def spent(self) -> int:
        """Give how much was tried, selectors included."""
        return self._start - self.work + self._selection.cost // COST_OF_WORK

    def _spend(self) -> None:
        """Count one more thing tried."""
        self.work -= 1
        if self.work < 0:
            raise GaveUpError

    def _part(self, place: _Place) -> _Part:
        """Find everything from one place on (D-5)."""
        key = place.key
        if key.claim >= len(self._claims):
            return _Found.YES
        if key.request >= len(self._claims[key.claim].requests):
            found = yield _Place(RequestKey(key.claim + 1, 0))
            return _Found.NO if found is _Found.TOO_MANY else found
        wanted = self._wanted[key]
        self.at = key
        if wanted.name.alternative and not place.in_alternative:
            return (yield from self._alternatives(key))
        if wanted.all_devices == ():
            self._record(place, {}, None)
            return _Found.NO
        if place.position >= wanted.number:
            return (yield _Place(RequestKey(key.claim, key.request + 1)))
        if len(self.held.taken[key.claim]) + wanted.number - place.position > MAX_RESULTS:
            return _Found.TOO_MANY
        if wanted.all_devices is not None:
            return (yield from self._next_of_all(place, wanted, wanted.all_devices))
        return (yield from self._next_of_some(place, wanted))

    def _alternatives(self, key: RequestKey) -> _Part:
        """Try the alternatives of a request in their order (D-8)."""
        index, failed = 0, _Found.NO
        while (alternative := key._replace(alternative=index)) in self._wanted:
            self.chosen[key._replace(alternative=0)] = index
            found = yield _Place(alternative, in_alternative=True)
            if found is _Found.YES:
                return found
            if found is _Found.TOO_MANY:
                failed = found
            index += 1
        return failed

    def _next_of_all(self, place: _Place, wanted: Wanted, devices: Sequence[Candidate]) -> _Part:
        """Take the next of all devices: each of them is needed (D-7)."""
        candidate = devices[place.position]
        gate = self.held.take(place.key, wanted, candidate, must=True)
        if gate is not None:
            alike = [one for one in devices if gate == self.held.free_gate(place.key, wanted, one)]
            self._record(place, {gate: len(alike) or 1}, None)
            return _Found.NO
        following = place.key if self._features.release not in UNTIL_1_35 else place.key._replace(alternative=0)
        found = yield place._replace(key=following, position=place.position + 1)
        if found is not _Found.YES:
            self.held.give_back(place.key, wanted)
        return found

    def _next_of_some(self, place: _Place, wanted: Wanted) -> _Part:
        """Take the first device that leads to a solution (D-6)."""
        gates: dict[Gate, int] = {}
        constraint_index: int | None = None
        start = place.start if self._features.release != "1.34" else 0
        for index in range(start, len(self._devices)):
            pool, candidate = self._devices[index]
            self._spend()
            gate = self._pool_gate(pool) or self._gate(place.key, wanted, candidate)
            if gate is None:
                gate = self.held.take(place.key, wanted, candidate, must=False)
            if gate is not None:
                gates[gate] = gates.get(gate, 0) + 1
                if gate == "constraint" and constraint_index is None:
                    constraint_index = self.held.refused_by
                continue
            self._passed.append((place.key, gates))
            found = yield place._replace(position=place.position + 1, start=index + 1)
            self._passed.pop()
            if found is _Found.YES:
                return found
            self.held.give_back(place.key, wanted)
            if found is _Found.TOO_MANY:
                return found
        self._record(place, gates, constraint_index)
        return _Found.NO

    def _pool_gate(self, pool: Pool) -> Gate | None:
        """Refuse devices of a pool that cannot be used (D-4, D-4a)."""
        if pool.invalid and self._features.release == "1.34":
            raise AllocationError(f"pool {pool.name} is invalid: {pool.invalid}")
        if pool.invalid or (pool.incomplete and self._features.release != "1.34"):
            return "pool"
        return None

    def _gate(self, key: RequestKey, wanted: Wanted, candidate: Candidate) -> Gate | None:
        """Look at what needs no bookkeeping: is it free, is it selected (D-6a)."""
        taken = self.held.free_gate(key, wanted, candidate)
        if taken is not None:
            return taken
        if candidate.device.binding_conditions and not self._features.binding:
            return "pool"
        if candidate.device.consumes and not self._features.partitionable:
            return "pool"
        claim = self._claims[key.claim].full_name
        if not self._selection.selects(candidate, key, wanted.request, wanted.class_, claim):
            return "selector"
        return None

    def _record(self, place: _Place, gates: Mapping[Gate, int], constraint_index: int | None) -> None:
        """Remember where the search got furthest."""
        here = (place.key.claim, place.key.request, place.position)
        stuck = self.stuck
        if stuck is None or here > (stuck.key.claim, stuck.key.request, stuck.position):
            total = dict(gates)
            # From 1.35 on a request goes on behind the device it took last (D-6a): what fell before is counted there.
            for key, earlier in self._passed if self._features.release != "1.34" else ():
                for gate, count in earlier.items() if key == place.key else ():
                    total[gate] = total.get(gate, 0) + count
            taken = frozenset(grip.candidate.identity for grips in self.held.taken for grip in grips)
            self.stuck = Rejections(place.key, place.position, total, constraint_index, taken)
