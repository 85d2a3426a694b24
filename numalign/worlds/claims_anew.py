"""Claims written anew: selectors, names that are free, and what to write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Final

from numalign.dra.attempt import Attempt
from numalign.dra.changes import MAX_WORK_EACH
from numalign.dra.drivers import PCI_ADDRESSES, PCIE_ROOT, numa_names
from numalign.dra.selection import AllocationError, candidates
from numalign.dra.values import Claim, Constraint, Device, DeviceID, DeviceRequest, Request
from numalign.dra.whereabouts import Place
from numalign.errors import InputError
from numalign.kubelet.setup import Setup
from numalign.model.pod import Pod
from numalign.model.quantity import canonical
from numalign.results.dra import WayOut
from numalign.values import NamedTuple
from numalign.worlds.claims_verdict import Held, wanted_of

MAX_LISTED: Final = 8
"""How many addresses a suggested selector may list."""


class Trial(NamedTuple):
    """What a way is tried on."""

    attempt: Attempt
    """The cluster without what the pod's own claims hold."""
    claims: tuple[Claim, ...]
    """The pod's, without devices."""
    others: tuple[Claim, ...]
    """What other claims hold."""
    setup: Setup
    kept: int
    """CPUs that `dra.cpu` keeps back."""
    pod: Pod
    shared: frozenset[str]
    """Claims that several containers use: a claim of CPUs is for one (docs/rules/dra.md D-24)."""

    def devices(self) -> dict[DeviceID, Device]:
        """Give the devices of the node's usable pools."""
        return {one.identity: one.device for pool in self.attempt.pools() if pool.is_usable for one in candidates(pool)}


class More(NamedTuple):
    """What is added to a claim."""

    requests: tuple[Request, ...]
    constraints: tuple[Constraint, ...] = ()
    selectors: Mapping[str, str] = {}
    """Request that is there -> a further selector."""

    def added_to(self, claim: Claim) -> Claim:
        """Give the claim with all of it. Constraints over all requests come to name those that were there."""
        names = tuple(request.name for request in claim.requests)
        narrowed = tuple(one if one.requests else one._replace(requests=names) for one in claim.constraints)
        for main, expression in self.selectors.items():
            claim = with_selector(claim, main, expression)
        return claim._replace(requests=(*claim.requests, *self.requests), constraints=(*narrowed, *self.constraints))

    def written(self, claim: Claim) -> tuple[str, ...]:
        """Write it as it stands in YAML, below `devices`: requests to add, selectors to add, all constraints."""
        lines = [f"# below devices of claim {claim.name}", "requests:"]
        for main, expression in self.selectors.items():
            lines += [f"- name: {main}  # unchanged, and", "  exactly:", *_selector_lines(expression)]
        for request in self.requests:
            form = request.exactly or DeviceRequest(request.name, "")
            lines += [f"- name: {request.name}", "  exactly:", f"    deviceClassName: {form.device_class}"]
            if form.capacity:
                lines += ["    capacity:", "      requests:"]
                lines += [f'        {name}: "{canonical(amount)}"' for name, amount in form.capacity.items()]
            lines += [line for one in form.selectors for line in _selector_lines(one or "")]
        constraints = self.added_to(claim).constraints
        if constraints:
            lines.append("constraints:")
        for one in constraints:
            kind = "matchAttribute" if one.match else "distinctAttribute"
            lines += [f"- requests: [{', '.join(one.requests)}]", f"  {kind}: {one.match or one.distinct}"]
        return tuple(lines)


def _selector_lines(expression: str) -> list[str]:
    return [
        "    selectors:",
        "    - cel:",
        "        expression: >-",
        *wrap(expression, 64, initial_indent=" " * 10, subsequent_indent=" " * 10, break_long_words=False),
    ]


def free_name(claim: Claim, name: str) -> str:
    """Find a name for one more request of a claim."""
    taken = {request.name for request in claim.requests}
    return next(one for one in (name, *(f"{name}-{count}" for count in range(2, len(taken) + 3))) if one not in taken)


def standard_first(names: Iterable[str]) -> list[str]:
    """Order names of attributes, those of Kubernetes first."""
    return sorted(names, key=lambda name: (not name.startswith("resource."), name))


def names_of(attempt: Attempt) -> dict[str, set[str]]:
    """Give the names for a place that each driver publishes, as one value: lists match nothing (D-1a)."""
    found: dict[str, set[str]] = {}
    for driver, device in attempt.devices():
        names = dict(numa_names(device, driver))
        if PCIE_ROOT in device.attributes:
            names[PCIE_ROOT] = device.attributes[PCIE_ROOT]
        found.setdefault(driver, set()).update(name for name, attribute in names.items() if not attribute.is_list)
    return found


def selected(held: Held, node: int, trial: Trial, where: Mapping[DeviceID, Place]) -> Iterator[WayOut]:
    """Select devices of the CPUs' node in the claim: right as long as the CPU Manager takes its CPUs there."""
    devices = trial.devices()
    for one in held.devices:
        if one.numa is not None and node in one.numa:
            continue
        main, driver = wanted_of(one)[1].main, one.got.device.driver
        found = expression(driver, node, devices, where)
        if not found:
            continue
        changed = [
            with_selector(claim, main, found) if claim.name == one.got.claim else claim for claim in trial.claims
        ]
        got = [taken for claim in allocated(trial.attempt, changed) for taken in claim.allocation or ()]
        if got and all(node in (((place := where.get(taken.device)) and place.numa) or ()) for taken in got):
            yield WayOut(
                f"select {driver} devices of NUMA node {node} in request {main}",
                tuple(taken.device.device for taken in got),
                f"valid only while the CPU Manager takes the container's CPUs from NUMA node {node}",
                More((), selectors={main: found}).written(Claim(one.got.claim)),
            )
        else:
            yield WayOut(f"choosing {driver} devices of NUMA node {node} would not help: none there is free or fits")
        return


def expression(driver: str, node: int, devices: Mapping[DeviceID, Device], where: Mapping[DeviceID, Place]) -> str:
    """Write a selector for a driver's devices on a node, with what the driver publishes."""
    here = [
        device
        for identity, device in devices.items()
        if identity.driver == driver and identity in where and where[identity].numa == (node,)
    ]
    if not here:
        return ""
    for name, attribute in numa_names(here[0], driver).items():
        if attribute.kind == "int":
            domain, _, short = name.partition("/")
            return f"device.attributes['{domain}'].{short} == {node}"
    for full in (*PCI_ADDRESSES, PCIE_ROOT):
        values = [str(device.attributes[full].value) for device in here if full in device.attributes]
        if len(values) == len(here) and len(values) <= MAX_LISTED:
            domain, _, short = (full if "/" in full else f"{driver}/{full}").partition("/")
            listed = ", ".join(f"'{value}'" for value in dict.fromkeys(values))
            return f"device.attributes['{domain}'].{short} in [{listed}]"
    return ""


def with_selector(claim: Claim, main: str, expression: str) -> Claim:
    """Give a request of a claim a further selector, in all its alternatives."""
    requests = tuple(
        request._replace(
            exactly=request.exactly and request.exactly._replace(selectors=(*request.exactly.selectors, expression)),
            alternatives=tuple(one._replace(selectors=(*one.selectors, expression)) for one in request.alternatives),
        )
        if request.name == main
        else request
        for request in claim.requests
    )
    return claim._replace(requests=requests)


def allocated(attempt: Attempt, claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """Allocate claims; nothing if that fails."""
    try:
        return tuple(attempt.allocate(claims, work=MAX_WORK_EACH).held(claims))
    except (InputError, AllocationError):
        return ()
