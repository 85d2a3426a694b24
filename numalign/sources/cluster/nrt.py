"""NodeResourceTopology objects of any served version -> values (docs/rules/podresources.md 17 to 22, 30)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from numalign.errors import Notice
from numalign.model.apiserver import amount
from numalign.model.quantity import QuantityError
from numalign.scheduler.nrt.findings import doubled_zones, findings
from numalign.scheduler.nrt.manifest import KIND
from numalign.scheduler.nrt.value import Attributes, NodeResourceTopology, Zone, ZoneResource
from numalign.sources.text import fields
from numalign.sources.text.fields import FieldError, Path, dotted
from numalign.values import NamedTuple

GROUP: Final = "topology.node.k8s.io"
VERSION: Final = "v1alpha2"
"""The version that is written; v1alpha1 is older, others turn up in print."""


class ReadNRT(NamedTuple):
    """An object, and what is odd about it."""

    nrt: NodeResourceTopology
    notices: tuple[Notice, ...]


def is_nrt(thing: object) -> bool:
    """Tell whether something is an object of this kind, in any version of the group."""
    if not isinstance(thing, Mapping):
        return False
    return thing.get("kind") == KIND and str(thing.get("apiVersion")).partition("/")[0] == GROUP


def read(thing: Mapping[str, object], path: Path = ()) -> ReadNRT:
    """Read one object.

    Raises:
        FieldError: it has no name or no zones, a field has the wrong type, an amount is no quantity, or two zones are
            one NUMA node.
    """
    metadata = fields.mapping(thing.get("metadata") or {}, (*path, "metadata"))
    name = fields.text(metadata.get("name"), (*path, "metadata", "name"), "the node's name")
    zones = [
        _zone(fields.mapping(one, (*path, "zones", place)), (*path, "zones", place))
        for place, one in enumerate(fields.sequence(thing.get("zones"), (*path, "zones"), "the list of zones"))
    ]
    policies = fields.sequence(thing.get("topologyPolicies") or (), (*path, "topologyPolicies"))
    annotations = fields.mapping(metadata.get("annotations") or {}, (*path, "metadata", "annotations"))
    nrt = NodeResourceTopology(
        name,
        tuple(zones),
        _attributes(thing.get("attributes"), (*path, "attributes")),
        tuple([fields.text(one, (*path, "topologyPolicies", place), empty=True) for place, one in enumerate(policies)]),
        {key: value for key, value in annotations.items() if isinstance(value, str)},
    )
    for finding in doubled_zones(nrt):
        raise FieldError((*path, "zones"), finding.message)
    return ReadNRT(nrt, tuple(_notices(thing, nrt, path)))


def _notices(thing: Mapping[str, object], nrt: NodeResourceTopology, path: Path) -> Iterator[Notice]:
    version = str(thing.get("apiVersion")).partition("/")[2]
    where = f"{dotted(path)}." if path else ""
    if version not in ("v1alpha1", VERSION):
        message = f"{version} is no served version; read as {VERSION}"
        yield Notice("nrt-version", message, f"{where}apiVersion")
    name = nrt.name
    if name != name.lower():
        message = f"{name}: an API server would refuse capital letters in a name"
        yield Notice("nrt-name", message, f"{where}metadata.name")
    for finding in findings(nrt):
        yield Notice(finding.code, finding.message, f"{where}{finding.path}")


def _zone(zone: Mapping[str, object], path: Path) -> Zone:
    costs = {}
    for place, one in enumerate(fields.sequence(zone.get("costs") or (), (*path, "costs"))):
        here = (*path, "costs", place)
        cost = fields.mapping(one, here)
        name = fields.text(cost.get("name"), (*here, "name"), "the name of a zone")
        costs[name] = fields.integer(cost.get("value"), (*here, "value"), -(2**31), 2**31, "a distance")
    resources = {}
    for place, one in enumerate(fields.sequence(zone.get("resources") or (), (*path, "resources"))):
        here = (*path, "resources", place)
        resource = fields.mapping(one, here)
        name = fields.text(resource.get("name"), (*here, "name"), "the name of a resource")
        if name in resources:
            raise FieldError((*here, "name"), f'"{name}" is there twice')
        resources[name] = ZoneResource(*(_amount(resource.get(key), (*here, key)) for key in ZoneResource._fields))
    return Zone(
        name=fields.text(zone.get("name"), (*path, "name"), "the zone's name"),
        type=fields.text(zone.get("type"), (*path, "type"), "the zone's type"),
        resources=resources,
        costs=costs,
        attributes=_attributes(zone.get("attributes"), (*path, "attributes")),
        parent=fields.text(zone.get("parent") or "", (*path, "parent"), empty=True),
    )


def _amount(written: object, path: Path) -> int | None:
    """Read a quantity: text or a number (22)."""
    if written is None:
        return None
    try:
        return amount(written).nano
    except (TypeError, QuantityError):
        raise FieldError(path, f"expected a quantity, got {fields.shown(written)}") from None


def _attributes(written: object, path: Path) -> Attributes:
    result = []
    for place, one in enumerate(fields.sequence(written or (), path)):
        attribute = fields.mapping(one, (*path, place))
        name = fields.text(attribute.get("name"), (*path, place, "name"), "the attribute's name")
        value = attribute.get("value")
        if not isinstance(value, str):  # 32: an integer where a text belongs
            value = fields.name(value, (*path, place, "value"), "the attribute's value")
        result.append((name, value))
    return tuple(result)
