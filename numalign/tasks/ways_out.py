"""Judges what a container has from both worlds, and looks for ways to keep it together; what can be tried is tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from numalign.dra.attempt import Attempt
from numalign.dra.changes import MAX_WORK_EACH
from numalign.dra.constraints import RequestName, covers
from numalign.dra.drivers import PCI_BUS_ID, PCIE_ROOT, numa_names
from numalign.dra.publish.cpus import CAPACITY, DRIVER
from numalign.dra.selection import AllocationError
from numalign.dra.values import Claim, Constraint, Device, DeviceID, DeviceRequest, Request
from numalign.dra.whereabouts import Place
from numalign.errors import InputError
from numalign.model.cpuset import format_set, ids
from numalign.model.machine import Machine
from numalign.model.pod import QoS
from numalign.model.quantity import from_int
from numalign.results.admit import ContainerResult
from numalign.results.claimed import ClaimedDevice, Verdict, WayOut
from numalign.values import NamedTuple

MAX_LISTED: Final = 8
"""How many addresses a suggested selector may list."""
Judged = tuple[Verdict, str, str, tuple[WayOut, ...]]
"""Verdict, reason, what keeps it together, ways out."""


class Held(NamedTuple):
    """What a container has."""

    container: ContainerResult
    qos: QoS
    devices: tuple[ClaimedDevice, ...]
    constraints: tuple[tuple[str, Constraint], ...]
    """Of all claims of its pod: claim and constraint."""


def judge(
    held: Held,
    machine: Machine,
    before: Attempt | None,
    claims: Sequence[Claim],
    places: Mapping[DeviceID, Place],
) -> Judged:
    """Judge a container.

    Args:
        held: what it has.
        machine: the machine.
        before: the cluster before its pod's claims were allocated; None: look for no way out.
        claims: the claims of its pod.
        places: where each device of the node is.
    """
    by_claim = [one for one in held.devices if one.cpus is not None]
    plain = [one for one in held.devices if one.cpus is None]
    cpus = 0
    for one in by_claim:
        cpus |= one.cpus or 0
    own = held.container.holding.cpus or 0
    where = f"{_devices_said(plain)} by claim, " if plain else ""
    if not cpus and not own:
        return "floating", f"{where}CPUs anywhere: {_why_floating(held)}", "", ()
    if cpus and own:
        both = f"CPUs {format_set(cpus)} by claim and {format_set(own)} from the CPU Manager"
        return "floating", f"{where}{both}: dra.cpu needs cpuManagerPolicy none on its nodes", "", ()
    nodes = _nodes_of(machine, cpus | own)
    reason = f"{where}CPUs {format_set(cpus | own)} on {_nodes_said(nodes)} {'by claim' if cpus else _MANAGER}"
    devices = frozenset(node for one in plain for node in one.numa or ())
    alignment = held.container.alignment
    touched = nodes | devices | frozenset(ids(alignment.nodes))
    kept = _kept_by(held) if cpus else ""
    if not plain:
        return "aligned" if len(touched) <= max(1, alignment.least) else "spread", reason, kept, ()
    several = sum(1 for node in machine.numa_nodes if node.cpus) > 1
    if any(one.numa is None for one in plain) and several and devices <= nodes and not kept:
        return "unknown", f"{reason}: nobody says where {_unsaid(plain)} is", "", ()
    verdict: Verdict = "aligned" if devices <= nodes and len(touched) <= max(1, alignment.least) else "spread"
    if kept:
        return verdict, f"{reason}: kept together by {kept}", kept, ()
    tail = "together this time, but nothing keeps them so" if verdict == "aligned" else "nothing keeps them together"
    ways = () if before is None else tuple(_ways_out(held, nodes, before, claims, places))
    return verdict, f"{reason}: {tail}", "", ways


_MANAGER: Final = "from the CPU Manager"


def _nodes_of(machine: Machine, cpus: int) -> frozenset[int]:
    return frozenset(node.id for node in machine.numa_nodes if node.cpus & cpus)


def _devices_said(devices: Sequence[ClaimedDevice]) -> str:
    """Say devices with their nodes: `gpu-4 on NUMA node 1, mlx5-0 on node 0`."""
    groups: dict[tuple[int, ...] | None, list[str]] = {}
    for one in devices:
        groups.setdefault(one.numa, []).append(one.got.device.device)
    return ", ".join(
        f"{', '.join(names)} on {_nodes_said(frozenset(numa))}" if numa is not None else f"{', '.join(names)} somewhere"
        for numa, names in groups.items()
    )


def _nodes_said(nodes: frozenset[int]) -> str:
    listed = ", ".join(map(str, sorted(nodes)))
    return f"NUMA node{'s' * (len(nodes) != 1)} {listed}"


def _unsaid(devices: Sequence[ClaimedDevice]) -> str:
    return ", ".join(one.got.device.device for one in devices if one.numa is None)


def _why_floating(held: Held) -> str:
    if held.qos != "Guaranteed":
        return f"the pod is {held.qos}"
    return "the container has no CPUs of its own"


Wanted = tuple[str, RequestName]
"""A request of a claim: the claim's name, and the request's."""


def _wanted(one: ClaimedDevice) -> Wanted:
    main, _, alternative = one.got.request.partition("/")
    return one.got.claim, RequestName(main, alternative)


def _kept_by(held: Held) -> str:
    """Name the constraints that tie all requests of a container together, one to the next; empty: they do not."""
    wanted = list(dict.fromkeys(map(_wanted, held.devices)))
    together, used = {wanted[0]}, []
    for claim, written in held.constraints * len(held.constraints):
        covered = _covered(wanted, claim, written)
        if written.match is not None and covered & together and not covered <= together:
            together |= covered
            used.append(written.match)
    if len(wanted) == 1:
        used = [
            written.match for claim, written in held.constraints if written.match and _covered(wanted, claim, written)
        ]
    return " and ".join(f"matchAttribute {name}" for name in used) if together == set(wanted) else ""


def _covered(wanted: Sequence[Wanted], claim: str, written: Constraint) -> set[Wanted]:
    return {one for one in wanted if one[0] == claim and covers(written, one[1])}


def _ways_out(
    held: Held,
    nodes: frozenset[int],
    before: Attempt,
    claims: Sequence[Claim],
    places: Mapping[DeviceID, Place],
) -> Iterator[WayOut]:
    pending = [claim._replace(allocation=None) for claim in claims]
    yield from _cpus_by_claim(held, before, pending)
    if len(nodes) == 1:
        yield from _selected(held, min(nodes), before, pending, places)


def _cpus_by_claim(held: Held, before: Attempt, claims: Sequence[Claim]) -> Iterator[WayOut]:
    """Take the CPUs by claim, too, under a name that both dra.cpu and a device of the claim publish."""
    number = (held.container.holding.cpus or 0).bit_count()
    published = _names_of(before)
    form = DeviceRequest("cpus", "dra.cpu", capacity={CAPACITY: from_int(number)})
    for name in sorted(published.get(DRIVER, ()), key=lambda name: (not name.startswith("resource."), name)):
        for place, claim in enumerate(claims):
            tied = _tied_to(held, claim, name, published)
            if not tied:
                continue
            changed = claim._replace(
                requests=(*claim.requests, Request("cpus", form)),
                constraints=(*_narrowed(claim), Constraint(requests=(*tied, "cpus"), match=name)),
            )
            gives = _tried(before, [*claims[:place], changed, *claims[place + 1 :]])
            if gives:
                yield WayOut(
                    f"take the CPUs by claim, too: in {claim.name} a request cpus for {number} {CAPACITY} of class "
                    f"dra.cpu, and matchAttribute {name} over {', '.join((*tied, 'cpus'))}"
                    + "".join(f"; {text}" for text in _narrowings(claim))
                    + "; such nodes need cpuManagerPolicy none",
                    gives,
                )
                return
    drivers = sorted({one.got.device.driver for one in held.devices if one.cpus is None})
    if DRIVER in published and not any(published[DRIVER] & published.get(driver, set()) for driver in drivers):
        yield WayOut(
            f"CPUs by claim would not help: dra.cpu and {' and '.join(drivers)} publish no name in common; from 1.37 "
            "on drivers publish resource.kubernetes.io/numaNode"
        )


def _narrowed(claim: Claim) -> tuple[Constraint, ...]:
    """Let constraints over all requests name them, so that one more request is not under them."""
    names = tuple(request.name for request in claim.requests)
    return tuple(one if one.requests else one._replace(requests=names) for one in claim.constraints)


def _narrowings(claim: Claim) -> Iterator[str]:
    names = ", ".join(request.name for request in claim.requests)
    for one in claim.constraints:
        if not one.requests:
            yield f"let matchAttribute {one.match} name {names}" if one.match else f"let the other one name {names}"


def _tied_to(held: Held, claim: Claim, name: str, published: Mapping[str, set[str]]) -> tuple[str, ...]:
    """Give the requests of a claim to which CPUs could be tied by a name, if that ties them to all of the container."""
    mine = [one for one in held.devices if one.cpus is None]
    direct = {_wanted(one) for one in mine if name in published.get(one.got.device.driver, ())}
    here = {one for one in direct if one[0] == claim.name}
    if not here:
        return ()
    reached = set(here)
    wanted = list(dict.fromkeys(map(_wanted, mine)))
    for owner, written in held.constraints * len(held.constraints):
        covered = _covered(wanted, owner, written)
        if written.match is not None and covered & reached:
            reached |= covered
    return tuple(sorted({one[1].main for one in here})) if reached == set(wanted) else ()


def _names_of(attempt: Attempt) -> dict[str, set[str]]:
    """Give the names for a place that each driver publishes."""
    published: dict[str, set[str]] = {}
    for driver, device in attempt.devices():
        published.setdefault(driver, set()).update(_place_names(device, driver))
    return published


def _place_names(device: Device, driver: str) -> set[str]:
    names = set(numa_names(device, driver))
    return names | {PCIE_ROOT} if PCIE_ROOT in device.attributes else names


def _selected(
    held: Held, node: int, before: Attempt, claims: Sequence[Claim], places: Mapping[DeviceID, Place]
) -> Iterator[WayOut]:
    """Select devices of the CPUs' node in the claim."""
    for one in held.devices:
        if one.numa is not None and node in one.numa:
            continue
        main = one.got.request.partition("/")[0]
        driver = one.got.device.driver
        expression = _expression(driver, node, before, places)
        if not expression:
            continue
        changed = [_with_selector(claim, main, expression) for claim in claims]
        gives = _tried(before, changed)
        if gives:
            yield WayOut(
                f"add to request {main} the selector {expression}: right only while the CPU Manager takes its CPUs "
                f"from NUMA node {node}",
                gives,
            )
        else:
            yield WayOut(f"choosing {driver} devices of NUMA node {node} would not help: none there is free or fits")
        return


def _expression(driver: str, node: int, attempt: Attempt, places: Mapping[DeviceID, Place]) -> str:
    """Write a selector for a driver's devices on a node, with what the driver publishes."""
    here = [
        (identity, device)
        for identity, device in _devices_of(attempt, driver)
        if identity in places and places[identity].numa == (node,)
    ]
    if not here:
        return ""
    for name, attribute in numa_names(here[0][1], driver).items():
        if attribute.kind == "int":
            domain, _, short = name.partition("/")
            return f"device.attributes['{domain}'].{short} == {node}"
    for full in (PCI_BUS_ID, PCIE_ROOT):
        values = [str(device.attributes[full].value) for _, device in here if full in device.attributes]
        if len(values) == len(here) and len(values) <= MAX_LISTED:
            domain, _, short = full.partition("/")
            listed = ", ".join(f"'{value}'" for value in dict.fromkeys(values))
            return f"device.attributes['{domain}'].{short} in [{listed}]"
    return ""


def _devices_of(attempt: Attempt, driver: str) -> Iterator[tuple[DeviceID, Device]]:
    for pool in attempt.pools():
        if pool.driver == driver and pool.is_usable:
            for slice_ in pool.slices:
                for device in slice_.devices:
                    yield DeviceID(pool.driver, pool.name, device.name), device


def _with_selector(claim: Claim, main: str, expression: str) -> Claim:
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


def _tried(attempt: Attempt, claims: Sequence[Claim]) -> tuple[str, ...]:
    """Allocate changed claims; nothing if that fails."""
    try:
        outcome = attempt.allocate(claims, work=MAX_WORK_EACH)
    except (InputError, AllocationError):
        return ()
    return tuple(one.device.device for claim in outcome.claims or () for one in claim.devices)
