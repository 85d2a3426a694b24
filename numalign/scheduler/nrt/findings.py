"""What is odd about an NRT object, and who would stumble over it (docs/rules/podresources.md 18, 20, 30)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from numalign.kubelet.topology.options import POLICIES, SCOPES
from numalign.scheduler.nrt.value import (
    LAST_ZONE,
    LEGACY_NONE,
    MAX_NODES,
    NUMA_ZONE,
    POLICY,
    SCOPE,
    SHORT_LEGACY,
    NodeResourceTopology,
    Zone,
    attribute,
    legacy_policy,
    number_of,
    zone_id,
)
from numalign.values import NamedTuple


class NRTFinding(NamedTuple):
    """Something to know about one object."""

    code: str
    """Stable, kebab-case."""
    path: str
    """The field, `zones[0].name`."""
    message: str


def findings(nrt: NodeResourceTopology) -> Iterator[NRTFinding]:
    """Yield what is odd, in the order of the fields."""
    yield from _policies(nrt)
    yield from _attributes(nrt)
    names = {zone.name for zone in nrt.zones}
    numa = [zone for zone in nrt.zones if zone.type == NUMA_ZONE]
    for place, zone in enumerate(nrt.zones):
        yield from _zone(zone, f"zones[{place}]", names)
    for place, zone in enumerate(nrt.zones):
        if crashes(zone, numa):
            text = f"{zone.name}: NodeResourceTopologyMatch panics when it scores this node, and its process ends"
            yield NRTFinding("nrt-crash", f"zones[{place}].name", text)
    if not numa:
        yield NRTFinding("nrt-no-zone", "zones", f"no zone has the type {NUMA_ZONE}: readers find no NUMA node")
    elif not any(zone.costs for zone in numa) and len(numa) > 1:
        yield NRTFinding("nrt-no-costs", "zones", "no zone has costs: numalign assumes distances 10 and 20")


def crashes(zone: Zone, numa: Sequence[Zone]) -> bool:
    """Tell whether a zone ends the plugin when it scores: its number is not below the number of zones (2.5)."""
    numbers = [zone_id(one.name) for one in numa]
    counted = sum(number is not None and number <= LAST_ZONE for number in numbers)
    number = zone_id(zone.name)
    return zone.type == NUMA_ZONE and number is not None and counted <= number <= LAST_ZONE


def doubled_zones(nrt: NodeResourceTopology) -> Iterator[NRTFinding]:
    """Yield zones whose name, or number among the NUMA zones, is there twice: no machine can be made of them."""
    seen: dict[object, str] = {}
    for place, zone in enumerate(nrt.zones):
        number = number_of(zone.name) if zone.type == NUMA_ZONE else None
        for key in (zone.name, *(() if number is None else (number,))):
            if seen.setdefault(key, f"zones[{place}]") != f"zones[{place}]":
                yield NRTFinding("nrt-zone-twice", f"zones[{place}].name", f"duplicate {zone.name!r}, see {seen[key]}")
                break


def _policies(nrt: NodeResourceTopology) -> Iterator[NRTFinding]:
    for place, name in enumerate(nrt.topology_policies):
        path = f"topologyPolicies[{place}]"
        if place:
            yield NRTFinding("nrt-policy-ignored", path, f"{name}: readers use the first element only")
        elif name in SHORT_LEGACY:
            yield NRTFinding(
                "nrt-policy-old", path, f"{name}: the scheduler plugin skips the policy, KAI reads container scope"
            )
        elif legacy_policy(name) is None and name != LEGACY_NONE:
            yield NRTFinding("nrt-policy-unknown", path, f"{name}: unknown policy, readers ignore it")


def _attributes(nrt: NodeResourceTopology) -> Iterator[NRTFinding]:
    for name, known in ((POLICY, POLICIES), (SCOPE, SCOPES)):
        value = attribute(nrt.attributes, name)
        if value is not None and value not in known:
            yield NRTFinding("nrt-attribute-unknown", f"attributes.{name}", f"{value!r}: expected {', '.join(known)}")
    most = attribute(nrt.attributes, MAX_NODES)
    if most is not None and not (most.isascii() and most.isdigit() and int(most[:18]) > 1):
        yield NRTFinding("nrt-attribute-unknown", f"attributes.{MAX_NODES}", f"{most!r}: expected a number above 1")
    legacy = legacy_policy(nrt.topology_policies[0]) if nrt.topology_policies else None
    policy = attribute(nrt.attributes, POLICY)
    if legacy and policy in POLICIES and legacy[0] != policy:
        message = f"{nrt.topology_policies[0]} contradicts the attribute {policy}, which wins"
        yield NRTFinding("nrt-policy-contradicted", "topologyPolicies", message)


def _zone(zone: Zone, path: str, names: set[str]) -> Iterator[NRTFinding]:
    if zone.type != NUMA_ZONE:
        yield NRTFinding(
            "nrt-zone-type", f"{path}.type", f"{zone.type!r} is not a NUMA node: all readers skip this zone"
        )
        return
    number = zone_id(zone.name)
    if zone.parent:
        message = f"the zone belongs to {zone.parent!r}: numalign skips the zone, the scheduler plugin does not"
        yield NRTFinding("nrt-zone-parent", f"{path}.parent", message)
    if number is None:
        message = f"{zone.name!r} is not node-<number>: the plugin skips the zone"
        message += ", KAI reads it" if number_of(zone.name) is not None else ", KAI sorts it last"
        yield NRTFinding("nrt-zone-name", f"{path}.name", message)
    elif number > LAST_ZONE:
        yield NRTFinding(
            "nrt-zone-name", f"{path}.name", f"the largest NUMA id is {LAST_ZONE}: the scheduler plugin skips this zone"
        )
    yield from _amounts(zone, path)
    for other in zone.costs:
        if other not in names:
            yield NRTFinding("nrt-cost-unknown", f"{path}.costs", f"unknown zone {other!r}: readers ignore its cost")


def _amounts(zone: Zone, path: str) -> Iterator[NRTFinding]:
    for name, (capacity, allocatable, available) in zone.resources.items():
        where = f"{path}.resources.{name}"
        if available is not None and available < 0:
            yield NRTFinding("nrt-amount-negative", where, "available is negative: readers use 0")
        if available is not None and allocatable is not None and available > allocatable:
            yield NRTFinding("nrt-amount-odd", where, "available is more than allocatable")
        if allocatable is not None and capacity is not None and allocatable > capacity:
            yield NRTFinding("nrt-amount-odd", where, "allocatable is more than capacity")
        if available is None:
            yield NRTFinding("nrt-amount-missing", where, "available is missing: the scheduler plugin uses 0")
