"""Why claims get nothing on a node: which request, which gates, and who publishes the attribute asked for."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from numalign.dra.attempt import Attempt
from numalign.dra.constraints import RequestName, covers, lookup
from numalign.dra.result import Gate, Outcome, Rejections
from numalign.dra.selection import MAX_REPORT_COST, AllocationError, Candidate, RequestKey, Selection, candidates
from numalign.dra.values import Claim, Constraint, DeviceClass, DeviceRequest, Request
from numalign.errors import InputError
from numalign.values import NamedTuple


class Publisher(NamedTuple):
    """How many devices of a driver publish an attribute."""

    driver: str
    having: int
    devices: int


class Why(NamedTuple):
    """Where an attempt failed."""

    claim: str
    request: str
    """`request`, or `request/alternative`."""
    found: int
    """How many devices of the request had been found."""
    wanted: int | None
    """How many it wants; None for all."""
    gates: Mapping[Gate, int]
    """What the node's other devices failed at, where the search got furthest."""
    constraint: Constraint | None = None
    """The constraint that refused devices first."""
    publishers: tuple[Publisher, ...] = ()
    """Of the constraint's attribute, by driver."""
    classes: tuple[str, ...] = ()
    """The classes that there are, where the one that is asked for is none of them."""


def why(attempt: Attempt, claims: Sequence[Claim], outcome: Outcome) -> Why | None:
    """Say where an attempt got stuck; None if the outcome names no request."""
    stuck = outcome.stuck
    key = stuck.key if stuck is not None else outcome.error_at
    if key is None or key.claim >= len(claims):
        return None
    claim = claims[key.claim]
    request, form = form_of(claim, key)
    written = None
    if stuck is not None and stuck.constraint is not None:
        written = claim.constraints[stuck.constraint]
    return Why(
        claim=claim.name,
        request=f"{request.name}/{form.name}" if request.alternatives else request.name,
        found=stuck.position if stuck is not None else 0,
        wanted=None if form.mode == "All" else form.number,
        gates=_by_class(attempt, form, stuck) if stuck is not None else {},
        constraint=written,
        publishers=publishers(attempt, claim, written) if written is not None else (),
        classes=() if form.device_class in attempt.classes else tuple(sorted(attempt.classes)),
    )


def _by_class(attempt: Attempt, form: DeviceRequest, stuck: Rejections) -> dict[Gate, int]:
    """Count devices of other classes as such, whatever they failed at first."""
    selection = Selection(attempt.node, attempt.features, MAX_REPORT_COST)
    bare = DeviceRequest("", form.device_class)
    gates = dict(stuck.gates)
    others = 0
    for pool in attempt.pools():
        for one in candidates(pool) if pool.is_usable else ():
            if _selects(selection, one, "", bare, attempt.classes):
                continue
            gate: Gate = "selector"
            if one.identity in stuck.taken:
                gate = "taken"
            elif one.identity in attempt.used.whole:
                gate = "in use"
            if gates.get(gate, 0):
                gates[gate] -= 1
                others += 1
    found: dict[Gate, int] = {"class": others, **gates}
    return {gate: count for gate, count in found.items() if count}


def form_of(claim: Claim, key: RequestKey) -> tuple[Request, DeviceRequest]:
    """Find a request and the form of it that a key names."""
    request = claim.requests[key.request]
    if request.alternatives:
        return request, request.alternatives[max(0, key.alternative)]
    return request, request.exactly or DeviceRequest(request.name, "")


def publishers(attempt: Attempt, claim: Claim, written: Constraint) -> tuple[Publisher, ...]:
    """Count, driver by driver, the devices a constraint is about that publish its attribute."""
    attribute = written.match or written.distinct or ""
    counts: dict[str, list[int]] = {}
    for candidate in _meant(attempt, claim, written):
        driver = candidate.identity.driver
        count = counts.setdefault(driver, [0, 0])
        count[0] += lookup(candidate.device, driver, attribute) is not None
        count[1] += 1
    return tuple(Publisher(driver, having, devices) for driver, (having, devices) in sorted(counts.items()))


def _meant(attempt: Attempt, claim: Claim, written: Constraint) -> Iterator[Candidate]:
    """Yield the devices of a node that some request under a constraint selects."""
    selection = Selection(attempt.node, attempt.features, MAX_REPORT_COST)
    forms = [
        ((number, index), form)
        for number, request in enumerate(claim.requests)
        for index, form in enumerate(request.alternatives or ((request.exactly,) if request.exactly else ()))
        if covers(written, RequestName(request.name, form.name if request.alternatives else ""))
    ]
    for pool in attempt.pools():
        for candidate in candidates(pool) if pool.is_usable else ():
            if any(_selects(selection, candidate, key, form, attempt.classes) for key, form in forms):
                yield candidate


def drivers_by_class(attempt: Attempt, names: Iterable[str]) -> dict[str, frozenset[str]]:
    """Name, for each of some classes, the drivers of the node's devices that it selects; none where that costs much."""
    selection = Selection(attempt.node, attempt.features, MAX_REPORT_COST)
    pools = [pool for pool in attempt.pools() if pool.is_usable]
    return {
        name: frozenset(
            pool.driver
            for pool in pools
            if any(_selects(selection, one, name, DeviceRequest("", name), attempt.classes) for one in candidates(pool))
        )
        for name in names
    }


def _selects(
    selection: Selection,
    candidate: Candidate,
    key: Hashable,
    form: DeviceRequest,
    classes: Mapping[str, DeviceClass],
) -> bool:
    """Tell whether a request selects a device; one whose selectors fail on it does not."""
    with suppress(AllocationError, InputError):
        return form.device_class in classes and selection.selects(candidate, key, form, classes[form.device_class], "")
    return False
