"""What in a claim can never work: constraints that no driver involved can meet, classes and selectors without a device.

Without slices only drivers that are known are judged, by what they publish (docs/rules/dra.md D-19, docs/dra.md).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final, Literal

from numalign.dra.cel.device import most_cost
from numalign.dra.cel.errors import CompileError
from numalign.dra.cel.values import COST_LIMIT
from numalign.dra.constraints import RequestName, covers, lookup
from numalign.dra.drivers import DRIVERS, PCIE_ROOT, STANDARD_NUMA, Driver, is_place_name
from numalign.dra.selection import AllocationError, Candidate, GaveUpError, Selection
from numalign.dra.values import Claim, Constraint, DeviceClass, DeviceID, DeviceRequest, Slice
from numalign.errors import InputError
from numalign.model.words import nearest
from numalign.values import NamedTuple

Effect = Literal["note", "impossible"]
_DRIVER: Final = re.compile(r"""device\.driver\s*==\s*(["'])([^"']+)\1""")


class ClaimFinding(NamedTuple):
    """One thing in a claim that cannot work."""

    code: Literal["claim-attribute", "claim-class", "claim-devices", "claim-selector"]
    message: str
    advice: str
    effect: Effect


def requests_of(claim: Claim) -> Iterator[tuple[RequestName, DeviceRequest]]:
    """Yield every form of every request of a claim."""
    for request in claim.requests:
        if request.alternatives:
            yield from ((RequestName(request.name, form.name), form) for form in request.alternatives)
        elif request.exactly is not None:
            yield RequestName(request.name), request.exactly


def driver_of_class(name: str, classes: Mapping[str, DeviceClass]) -> str | None:
    """Name the driver whose devices a class means, where its first selector says it; None: it does not."""
    known = classes.get(name) or next(
        (one for each in DRIVERS.values() for one in each.classes if one.name == name), None
    )
    if known is None or not known.selectors:
        return None
    found = _DRIVER.search(known.selectors[0] or "")
    return found[2] if found else None


def lint_claim(claim: Claim, classes: Mapping[str, DeviceClass]) -> Iterator[ClaimFinding]:
    """Judge a claim by what is known of drivers, and its selectors as the API server does."""
    for message in too_complex(claim):
        yield ClaimFinding(
            "claim-selector",
            message,
            "compare with ==, startsWith or contains, or read the attribute directly",
            "impossible",
        )
    for written in claim.constraints:
        if written.match is None:
            continue
        named: dict[str, str] = {}
        for name, form in requests_of(claim):
            driver = driver_of_class(form.device_class, classes)
            if driver is None or driver not in DRIVERS or not covers(written, name):
                continue
            if not _publishes(DRIVERS[driver], written.match):
                named.setdefault(driver, name.main)
        if named:
            yield _never(written, named, _common(claim, written, classes))


def too_complex(claim: Claim) -> Iterator[str]:
    """Say which selectors the API server rejects by their static cost (D-51)."""
    for name, form in requests_of(claim):
        for index, text in enumerate(form.selectors):
            try:
                cost = most_cost(text or "true")
            except CompileError:
                continue  # whoever evaluates it says what is wrong
            if cost > COST_LIMIT:
                yield (
                    f"request {name.alternative or name.main}, selector {index}: the API server rejects it, "
                    f"its cost may exceed {COST_LIMIT:,}: {text}"
                )


def _never(written: Constraint, named: Mapping[str, str], common: Sequence[str]) -> ClaimFinding:
    who = " and ".join(sorted(named))
    advice = (
        f"match {common[0]}, which all its drivers publish"
        if common
        else "select devices with a selector in each request: its drivers have no common name"
    )
    late = written.match == STANDARD_NUMA
    return ClaimFinding(
        "claim-attribute",
        f"matchAttribute {written.match} can never hold: {who} {'do' if len(named) > 1 else 'does'} not publish it"
        + (" (drivers for 1.37 do)" if late else ""),
        advice,
        "note" if late else "impossible",
    )


def _publishes(driver: Driver, attribute: str) -> bool:
    """Tell whether a driver may publish an attribute; only names for places, and other drivers' own, are judged."""
    if attribute == PCIE_ROOT:
        return driver.pcie_root
    domain = attribute.partition("/")[0]
    if domain == driver.name:
        return attribute in driver.numa or not is_place_name(attribute)
    if is_place_name(attribute):
        return attribute in driver.numa
    return domain not in DRIVERS


def _common(claim: Claim, written: Constraint, classes: Mapping[str, DeviceClass]) -> list[str]:
    """Give the names for a place that all drivers under a constraint publish, if all are known."""
    drivers = {
        driver_of_class(form.device_class, classes) for name, form in requests_of(claim) if covers(written, name)
    }
    known = [driver for one in drivers if (driver := DRIVERS.get(one or "")) is not None]
    if len(known) < len(drivers):
        return []
    counts: Counter[str | None] = Counter()
    for name, form in requests_of(claim):
        if covers(written, name):
            counts[driver_of_class(form.device_class, classes)] += 2 if form.mode == "All" else form.number
    # Behind one PCIe root there is one device of a kind, or few: several are matched by their NUMA node.
    rooted = {PCIE_ROOT} if max(counts.values()) < 2 else set()
    names = set.intersection(*({*one.numa, *rooted} if one.pcie_root else set(one.numa) for one in known))
    return sorted(names, key=lambda name: (name != PCIE_ROOT, name))


def lint_claim_on(
    claim: Claim, classes: Mapping[str, DeviceClass], slices: Sequence[Slice], selection: Selection
) -> Iterator[ClaimFinding]:
    """Judge a claim by what is published, on any node and whoever holds it.

    Args:
        claim: the claim.
        classes: DeviceClasses by name.
        slices: what is published.
        selection: a fresh one; once its cost is used up, every device may be meant.
    """
    found: dict[RequestName, list[Candidate]] = {}
    for name, form in requests_of(claim):
        if form.device_class not in classes:
            near = nearest(form.device_class, classes, 0.6)
            yield ClaimFinding(
                "claim-class",
                f"request {name.main}: unknown DeviceClass {form.device_class or '(nothing)'}",
                f"similar: {near}" if near else f"allowed: {', '.join(sorted(classes)[:5]) or 'none'}",
                "impossible",
            )
            continue
        class_ = classes[form.device_class]
        meant = [one for one in _candidates(slices) if _selects(selection, one, name, form, class_)]
        found[name] = meant
        if not meant:
            of_class = sum(
                _selects(selection, one, form.device_class, DeviceRequest("", ""), class_)
                for one in _candidates(slices)
            )
            yield ClaimFinding(
                "claim-devices",
                f"request {name.main}: no published device matches; {of_class} are of class {form.device_class}",
                "change its selectors" if of_class else "change the class, or start its driver",
                "impossible",
            )
    yield from _unpublished(claim, found)


def _unpublished(claim: Claim, found: Mapping[RequestName, Sequence[Candidate]]) -> Iterator[ClaimFinding]:
    """Find constraints whose attribute no device of a request publishes."""
    for written in claim.constraints:
        attribute = written.match or written.distinct
        for name, meant in found.items():
            if attribute is None or not meant or not covers(written, name):
                continue
            if not any(lookup(one.device, one.identity.driver, attribute) for one in meant):
                drivers = " and ".join(sorted({one.identity.driver for one in meant}))
                yield ClaimFinding(
                    "claim-attribute",
                    f"request {name.main}: none of its {len(meant)} devices publishes {attribute} ({drivers})",
                    "match a name that all its drivers publish (numalign dra check tests each)",
                    "impossible",
                )


def _candidates(slices: Iterable[Slice]) -> Iterator[Candidate]:
    """Yield all devices, as if all were on one node."""
    for slice_ in slices:
        anywhere = slice_._replace(per_device=False)
        for device in slice_.devices:
            yield Candidate(DeviceID(slice_.driver, slice_.pool, device.name), device, anywhere)


def _selects(
    selection: Selection, candidate: Candidate, key: Hashable, form: DeviceRequest, class_: DeviceClass
) -> bool:
    """Tell whether a request means a device; one that nobody could ask about may be meant."""
    with suppress(AllocationError):
        try:
            return selection.selects(candidate, key, form, class_, "")
        except (GaveUpError, InputError):
            return True
    return False
