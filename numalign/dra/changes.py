"""The nearest changes that would let claims be allocated on a node, each of them tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, Literal

from numalign.dra.attempt import Attempt
from numalign.dra.drivers import PCIE_ROOT, numa_names
from numalign.dra.result import ClaimAllocation, Outcome
from numalign.dra.selection import RequestKey, candidates
from numalign.dra.usage import Usage
from numalign.dra.values import MAX_RESULTS, Claim, Constraint, DeviceRequest, Toleration
from numalign.dra.why import drivers_by_class, form_of
from numalign.errors import InputError
from numalign.model.quantity import NANO, Quantity, canonical, from_int
from numalign.model.words import nearest
from numalign.values import NamedTuple

ChangeKind = Literal["attribute", "constraint", "count", "capacity", "class", "selector", "toleration", "free"]

MAX_TRIED: Final = 60
"""How many changes are tried at one failure."""
MAX_SHOWN: Final = 4
MAX_AMOUNTS: Final = 5
"""How many amounts of one capacity are tried."""
MAX_WORK_EACH: Final = 100_000
"""How much may be tried for each of them."""
MAX_WORK_ALL: Final = 600_000
"""And for all of them at one failure."""


class ClaimChange(NamedTuple):
    """A change with which the claims are allocated."""

    kind: ChangeKind
    text: str
    """What to do, as an instruction."""
    claims: tuple[ClaimAllocation, ...]
    """What they would get then."""


class _Idea(NamedTuple):
    """A change to try."""

    kind: ChangeKind
    text: str
    claims: tuple[Claim, ...]
    attempt: Attempt


def changes(attempt: Attempt, claims: Sequence[Claim], outcome: Outcome) -> tuple[ClaimChange, ...]:
    """Find changes that work, at most one of a kind (two of another attribute), the smaller ones first."""
    key = outcome.stuck.key if outcome.stuck is not None else outcome.error_at
    if outcome.allocated or key is None or key.claim >= len(claims):
        return ()
    found: list[ClaimChange] = []
    left = MAX_WORK_ALL
    for idea in islice(_ideas(attempt, tuple(claims), key), MAX_TRIED):
        same = sum(change.kind == idea.kind for change in found)
        if same >= (2 if idea.kind == "attribute" else 1) or len(found) >= MAX_SHOWN:
            continue
        try:
            tried = idea.attempt.allocate(idea.claims, work=min(left, MAX_WORK_EACH))
        except InputError:
            continue
        left -= tried.work
        if tried.claims is not None:
            found.append(ClaimChange(idea.kind, idea.text, tried.claims))
    return tuple(found)


def _ideas(attempt: Attempt, claims: tuple[Claim, ...], key: RequestKey) -> Iterator[_Idea]:
    claim = claims[key.claim]
    yield from _other_attributes(attempt, claims, key)
    yield from _smaller(attempt, claims, key)
    yield from _tolerations(attempt, claims, key)
    for index, written in enumerate(claim.constraints):
        rest = claim.constraints[:index] + claim.constraints[index + 1 :]
        changed = _with_claim(claims, key, claim._replace(constraints=rest))
        yield _Idea(
            "constraint",
            f"drop {_constraint_text(written)}: the devices may then be on different NUMA nodes",
            changed,
            attempt,
        )
    _, form = form_of(claim, key)
    for index, selector in enumerate(form.selectors):
        changed_form = form._replace(selectors=form.selectors[:index] + form.selectors[index + 1 :])
        text = f"drop the selector {_short(selector or '')} of {form.name}"
        yield _Idea("selector", text, _with_form(claims, key, changed_form), attempt)
    for name in _other_classes(attempt, form.device_class):
        changed_form = form._replace(device_class=name)
        text = f"request deviceClassName {name} in {form.name} (now {form.device_class or 'none'})"
        yield _Idea("class", text, _with_form(claims, key, changed_form), attempt)
    if attempt.used.whole or attempt.used.shared:
        yield _Idea("free", "wait until other claims on this node end", claims, attempt._replace(used=Usage()))


def _other_classes(attempt: Attempt, asked: str) -> list[str]:
    """Name classes to try instead: of the same drivers; for one that is not there, the one that was probably meant."""
    if asked not in attempt.classes:
        near = nearest(asked, attempt.classes, 0.6)
        return [near] if near is not None else []
    names = [name for name in sorted(attempt.classes) if name != asked]
    drivers = drivers_by_class(attempt, (asked, *names))
    # A class of other things altogether is no small change, unless this one means nothing at all.
    return [name for name in names if not drivers[asked] or drivers[asked] & drivers[name]]


def _constraint_text(written: Constraint) -> str:
    return f"matchAttribute {written.match}" if written.match else f"distinctAttribute {written.distinct}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return f"`{line}`" if len(line) <= 60 else f"`{line[:59]}…`"


def _other_attributes(attempt: Attempt, claims: tuple[Claim, ...], key: RequestKey) -> Iterator[_Idea]:
    """Try the other names under which this node's devices publish where they are."""
    claim = claims[key.claim]
    names: set[str] = set()
    for driver, device in attempt.devices():
        names |= numa_names(device, driver).keys()
        if PCIE_ROOT in device.attributes:
            names.add(PCIE_ROOT)
    for index, written in enumerate(claim.constraints):
        if written.match is None:
            continue
        for name in sorted(names - {written.match}, key=lambda name: (not name.startswith("resource."), name)):
            changed = written._replace(match=name)
            constraints = (*claim.constraints[:index], changed, *claim.constraints[index + 1 :])
            text = f"match {name} instead of {written.match}"
            yield _Idea("attribute", text, _with_claim(claims, key, claim._replace(constraints=constraints)), attempt)


def _smaller(attempt: Attempt, claims: tuple[Claim, ...], key: RequestKey) -> Iterator[_Idea]:
    """Try fewer devices, the most first, and the largest amounts of capacity that are left."""
    _, form = form_of(claims[key.claim], key)
    if form.mode == "ExactCount":
        for number in range(form.number - 1, 0, -1)[:MAX_RESULTS]:
            text = f"request {number} in {form.name} (now {form.number})"
            yield _Idea("count", text, _with_form(claims, key, form._replace(number=number)), attempt)
    capacity = form.capacity or {}
    for name, asked in capacity.items():
        for amount in sorted(_left(attempt, name), reverse=True)[:MAX_AMOUNTS]:
            if 0 < amount < asked.nano:
                smaller = _amount(amount, asked)
                changed = form._replace(capacity={**capacity, name: smaller})
                text = f"request {canonical(smaller)} of {name} in {form.name} (now {canonical(asked)})"
                yield _Idea("capacity", text, _with_form(claims, key, changed), attempt)


def _amount(nano: int, like: Quantity) -> Quantity:
    return from_int(nano // NANO, like.format) if nano >= NANO else Quantity(nano, like.format, None)


def _left(attempt: Attempt, name: str) -> set[int]:
    """Give what the node's devices have left of a capacity, in billionths."""
    found: set[int] = set()
    for pool in attempt.pools():
        for candidate in candidates(pool):
            if name in candidate.device.capacity:
                used = attempt.used.amounts.get(candidate.identity, {}).get(name, 0)
                found.add(candidate.device.capacity[name].value.nano - used)
    return found


def _tolerations(attempt: Attempt, claims: tuple[Claim, ...], key: RequestKey) -> Iterator[_Idea]:
    """Try to put up with each taint of the node's devices."""
    _, form = form_of(claims[key.claim], key)
    for name, effect in dict.fromkeys(
        (one.key, one.effect) for _, device in attempt.devices() for one in device.taints
    ):
        changed = form._replace(tolerations=(*form.tolerations, Toleration(name, "Exists", effect=effect)))
        text = f"tolerate the taint {name}:{effect} in {form.name}"
        yield _Idea("toleration", text, _with_form(claims, key, changed), attempt)


def _with_claim(claims: tuple[Claim, ...], key: RequestKey, claim: Claim) -> tuple[Claim, ...]:
    return (*claims[: key.claim], claim, *claims[key.claim + 1 :])


def _with_form(claims: tuple[Claim, ...], key: RequestKey, form: DeviceRequest) -> tuple[Claim, ...]:
    """Put another form of a request in."""
    claim = claims[key.claim]
    request = claim.requests[key.request]
    # What the other alternatives get is nothing, whatever this one is.
    changed = request._replace(alternatives=(form,)) if request.alternatives else request._replace(exactly=form)
    requests = (*claim.requests[: key.request], changed, *claim.requests[key.request + 1 :])
    return _with_claim(claims, key, claim._replace(requests=requests))
