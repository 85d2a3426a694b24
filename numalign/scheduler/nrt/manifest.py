"""NodeResourceTopology as a manifest for `kubectl apply`: v1alpha2, plain data (docs/rules/podresources.md 6)."""

from __future__ import annotations

from numalign.model.quantity import NANO, Quantity, canonical
from numalign.scheduler.nrt.value import Attributes, NodeResourceTopology, Zone

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
