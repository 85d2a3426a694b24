"""NodeResourceTopology as a value (docs/rules/podresources.md part B), and how the schedulers read one.

Reading files is `sources.cluster`, writing them `render`; here it becomes plain data for `kubectl apply` (v1alpha2).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, Literal

from numalign.kubelet.topology.options import POLICIES, SCOPES
from numalign.model.quantity import NANO, Quantity, canonical
from numalign.scheduler.resources import Amounts
from numalign.values import NamedTuple

NUMA_ZONE: Final = "Node"
"""The type of a zone that stands for a NUMA node."""
LAST_ZONE: Final = 63
"""Highest NUMA id that the plugin can hold. It skips 65 and above, and fails at exactly 64 (scheduling.md T-6)."""
MAX_NUMA_NODES: Final = 1024
"""The most that `topologyManagerMaxNUMANodes` can say (scheduling.md 1.4)."""
UNKNOWN_COST: Final = 255
"""Distance between zones that name no cost (scheduling.md L-6)."""

POLICY: Final = "topologyManagerPolicy"
SCOPE: Final = "topologyManagerScope"
MAX_NODES: Final = "topologyManagerMaxNUMANodes"
FINGERPRINT: Final = "nodeTopologyPodsFingerprint"
FINGERPRINT_METHOD: Final = "nodeTopologyPodsFingerprintMethod"
FINGERPRINT_ANNOTATION: Final = "topology.node.k8s.io/fingerprint"
PLACEMENT_METADATA: Final = "topology.node.k8s.io/numaplacement-metadata"
PLACEMENT_VECTOR: Final = "topology.node.k8s.io/numaplacement-vector"
CPU_MANAGER: Final = "cpuManagerPolicy"
MEMORY_MANAGER: Final = "memoryManagerPolicy"


Attributes = tuple[tuple[str, str], ...]
"""(name, value) pairs; of equal names the first counts."""


class ZoneResource(NamedTuple):
    """One resource of a zone, in billionths. None: the object does not say."""

    capacity: int | None = None
    allocatable: int | None = None
    available: int | None = None


class Units(NamedTuple):
    """A resource of a NUMA node in whole units."""

    capacity: int
    allocatable: int
    available: int


class Zone(NamedTuple):
    """One zone, as written."""

    name: str
    type: str = NUMA_ZONE
    resources: Mapping[str, ZoneResource] = {}
    costs: Mapping[str, int] = {}
    """Name of the other zone -> distance."""
    attributes: Attributes = ()
    parent: str = ""


class NodeResourceTopology(NamedTuple):
    """One object, as written. Everything is in the object's own order."""

    name: str
    zones: tuple[Zone, ...] = ()
    attributes: Attributes = ()
    topology_policies: tuple[str, ...] = ()
    """The old list; only its first element counts."""
    annotations: Mapping[str, str] = {}

    @property
    def listed(self) -> frozenset[str]:
        """The resources that some zone lists."""
        return frozenset(name for zone in self.zones for name in zone.resources)


class NUMAZone(NamedTuple):
    """A zone as the plugin works with it."""

    id: int
    available: Amounts
    costs: Mapping[int, int] = {}
    """NUMA id -> distance."""


class TopologyManagerConfig(NamedTuple):
    """What an NRT says of the kubelet's Topology Manager."""

    policy: str = "none"
    scope: str = "container"
    max_numa_nodes: int = 8


def attribute(attributes: Attributes, name: str) -> str | None:
    """Look an attribute up from the left; None: it is not there (podresources.md 19)."""
    for key, value in attributes:
        if key == name:
            return value
    return None


_LEGACY: Final = {
    "SingleNUMANodeContainerLevel": ("single-numa-node", "container"),
    "SingleNUMANodePodLevel": ("single-numa-node", "pod"),
    "RestrictedContainerLevel": ("restricted", "container"),
    "RestrictedPodLevel": ("restricted", "pod"),
    "BestEffortContainerLevel": ("best-effort", "container"),
    "BestEffortPodLevel": ("best-effort", "pod"),
}
"""Entries of the old list that the plugin understands (scheduling.md 1.4)."""

SHORT_LEGACY: Final = {"Restricted": ("restricted", "container"), "BestEffort": ("best-effort", "container")}
"""Older entries that the plugin passes over and KAI understands (scheduling.md K-1, podresources.md 18)."""
LEGACY_NONE: Final = "None"

_NUMBER = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)


def legacy_policy(name: str, *, short: bool = False) -> tuple[str, str] | None:
    """Return policy and scope of an entry of the old list; None: not understood."""
    return _LEGACY.get(name) or (SHORT_LEGACY.get(name) if short else None)


DEFAULT_CONFIG: Final = TopologyManagerConfig()


def legacy_name(policy: str, scope: str) -> str:
    """Write policy and scope as an entry of the old list (podresources.md 18)."""
    return next((name for name, both in _LEGACY.items() if both == (policy, scope)), LEGACY_NONE)


def manager_config(nrt: NodeResourceTopology, start: TopologyManagerConfig = DEFAULT_CONFIG) -> TopologyManagerConfig:
    """Read policy, scope and number of NUMA nodes as the plugin does (scheduling.md 1.4).

    The old list comes first, the attributes come second and win, one by one. What is not understood changes nothing.
    """
    config = start
    legacy = legacy_policy(nrt.topology_policies[0]) if nrt.topology_policies else None
    if legacy:
        config = config._replace(policy=legacy[0], scope=legacy[1])
    policy, scope = attribute(nrt.attributes, POLICY), attribute(nrt.attributes, SCOPE)
    if policy in POLICIES:
        config = config._replace(policy=policy)
    if scope in SCOPES:
        config = config._replace(scope=scope)
    most = attribute(nrt.attributes, MAX_NODES)
    if most is not None and _NUMBER.fullmatch(most) and int(most) > 1:
        config = config._replace(max_numa_nodes=min(int(most), MAX_NUMA_NODES))
    return config


_ZONE_NAME = re.compile(r"node-([0-9]{1,18})", re.ASCII)


def zone_id(name: str) -> int | None:
    """Read the NUMA id of a zone as the plugin does: `node-<n>` exactly (podresources.md 20); None: no such name."""
    match = _ZONE_NAME.fullmatch(name)
    return int(match[1]) if match else None


def numa_zones(nrt: NodeResourceTopology, amount: Literal["available", "kep"] = "available") -> tuple[NUMAZone, ...]:
    """List the zones that the plugin looks at, in the object's order (scheduling.md T-6).

    Args:
        nrt: the object.
        amount: `available` as today's plugin reads it; `kep`: `allocatable` where `available` is absent (1.1).
    """
    result = []
    for zone in nrt.zones:
        number = zone_id(zone.name)
        if zone.type != NUMA_ZONE or number is None or number > LAST_ZONE:
            continue
        available = {}
        for name, resource in zone.resources.items():
            free = resource.available
            if free is None:
                free = (resource.allocatable if amount == "kep" else None) or 0
            available[name] = free
        costs = ((zone_id(other), cost) for other, cost in zone.costs.items())
        result.append(NUMAZone(number, available, {other: cost for other, cost in costs if other is not None}))
    return tuple(result)


def with_available(nrt: NodeResourceTopology, available: Iterable[Amounts]) -> NodeResourceTopology:
    """Replace the free amounts of every zone, in the object's order. Resources that are not named stay."""
    zones = []
    for zone, amounts in zip(nrt.zones, available, strict=True):
        resources = {
            name: resource._replace(available=amounts[name]) if name in amounts else resource
            for name, resource in zone.resources.items()
        }
        zones.append(zone._replace(resources=resources))
    return nrt._replace(zones=tuple(zones))


def number_of(name: str) -> int | None:
    """Read the NUMA id of a zone as leniently as KAI does: its trailing number; None: it has none."""
    match = _TRAILING.search(name)
    return int(match[0]) if match else None


_TRAILING = re.compile(r"[0-9]{1,18}\Z", re.ASCII)


API_VERSION = "topology.node.k8s.io/v1alpha2"
KIND = "NodeResourceTopology"


def manifest(nrt: NodeResourceTopology) -> dict[str, object]:
    """Write an object; amounts are plain decimal numbers of whole units, as the exporters write them."""
    metadata: dict[str, object] = {"name": nrt.name}
    if nrt.annotations:
        metadata["annotations"] = dict(nrt.annotations)
    result: dict[str, object] = {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata}
    if nrt.topology_policies:
        result["topologyPolicies"] = list(nrt.topology_policies)
    if nrt.attributes:
        result["attributes"] = _attributes(nrt.attributes)
    result["zones"] = [_zone(zone) for zone in nrt.zones]
    return result


def _zone(zone: Zone) -> dict[str, object]:
    result: dict[str, object] = {"name": zone.name, "type": zone.type}
    if zone.parent:
        result["parent"] = zone.parent
    if zone.costs:
        result["costs"] = [{"name": name, "value": cost} for name, cost in zone.costs.items()]
    if zone.attributes:
        result["attributes"] = _attributes(zone.attributes)
    resources = [
        {"name": name, **{field: amount_text(one) for field, one in resource._asdict().items() if one is not None}}
        for name, resource in zone.resources.items()
    ]
    if resources:
        result["resources"] = resources
    return result


def _attributes(attributes: Attributes) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in attributes]


def amount_text(nano: int) -> str:
    """Write an amount: a plain number where it is whole, else in its shortest form."""
    whole, rest = divmod(nano, NANO)
    return str(whole) if not rest else canonical(Quantity(nano, "DecimalSI", None))
