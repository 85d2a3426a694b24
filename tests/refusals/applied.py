"""A change written into a recorded scenario as a person would write it: steps before, amounts, settings.

Nothing of the search is trusted: the scenario is read and played again from its plain data.
"""

from __future__ import annotations

import marshal
from typing import Any

from numalign.analysis.whatif.change import WayOut
from numalign.kubelet.demand import NANO
from numalign.model.quantity import Quantity, canonical
from numalign.model.resources import of_limit

FIELDS = {
    "topology-manager-policy": "topologyManagerPolicy",
    "topology-manager-scope": "topologyManagerScope",
    "topology-manager-policy-options": "topologyManagerPolicyOptions",
    "cpu-manager-policy": "cpuManagerPolicy",
    "reserved-system-cpus": "reservedSystemCPUs",
    "cpu-manager-policy-options": "cpuManagerPolicyOptions",
    "memory-manager-policy": "memoryManagerPolicy",
    "feature-gates": "featureGates",
}


FIRMWARE = {"nps": "nodesPerSocket", "snc": "clustersPerSocket"}
"""Flag -> the key that stands for it in a changed scenario; a recorded one has none of these."""


def with_change(data: dict[str, Any], index: int, change: WayOut) -> tuple[dict[str, Any], int]:
    """Write a change into a scenario; returns it and where the pod now comes up."""
    data = marshal.loads(marshal.dumps(data))  # many times quicker than `copy`
    del data["steps"][index + 1 :]
    data["steps"][index:index] = [{"op": "remove", "pod": pod.name} for pod in (*change.pods, *change.kept_out)]
    for flag, text in change.flags.items():
        value: Any = text
        if "=" in text:
            value = dict(pair.split("=") for pair in text.split(","))
        if flag == "feature-gates":
            value = {name: on == "true" for name, on in value.items()}
        data["kubelet"][FIELDS[flag]] = value
    for flag, text in change.hardware:
        if flag in FIRMWARE:
            data[FIRMWARE[flag]] = int(text)
            continue
        what, _, amount = text.rpartition("=")
        name, _, node = what.partition("@")
        write_hardware(data, flag, name, int(amount), int(node) if node else None)
    spec = data["steps"][-1]["pod"]["spec"]
    for container in (*(spec.get("initContainers") or ()), *spec["containers"]):
        write_amounts(container.setdefault("resources", {}), container["name"], change)
    return data, len(data["steps"]) - 1


def write_amounts(resources: dict[str, Any], container: str, change: WayOut) -> None:
    limits = resources.setdefault("limits", {})
    requests = resources.get("requests")
    for (name, resource), nano in change.amounts.items():
        if name != container:
            continue
        if not nano:
            for amounts in (limits, requests or {}):
                amounts.pop(resource, None)
            continue
        text = canonical(Quantity(nano, "DecimalSI", nano // NANO))
        if limit := of_limit(resource):
            limits[limit] = text
            continue
        if resource in limits and (requests is None or requests.get(resource, limits[resource]) == limits[resource]):
            limits[resource] = text
        if requests is not None and resource in requests:
            requests[resource] = text


def write_hardware(data: dict[str, Any], flag: str, name: str, amount: int, node: int | None) -> None:
    """Write huge pages (bytes) or devices of a node, None: every one, into the scenario's machine."""
    if flag == "hugepages":
        for numa in data["machine"]["numaNodes"]:
            if numa["id"] == node or (node is None and numa.get("memory")):
                numa["hugepages"] = {**(numa.get("hugepages") or {}), name: amount}
        return
    assert node is not None, "devices are always asked for on a node"
    stay = [one for one in data["devices"].get(name, ()) if set(one.get("numaNodes") or [node]) != {node}]
    more = [{"id": f"more-{number}", "numaNodes": [node]} for number in range(amount)]
    data["devices"] = {**data["devices"], name: [*stay, *more]}
    (data.get("preferredAllocation") or {}).pop(name, None)
