"""Family `fit`: one pod against what is left of a node; and allocatable against where it comes from."""

from __future__ import annotations

from typing import Any

from numalign.kubelet.fit import ActivePods, allocatable
from numalign.kubelet.fit.check import NodeView, check_node_fit
from numalign.kubelet.start.reservation import reserve
from numalign.model import cpuset, quantity
from numalign.model.machine import Device, Machine, NodeObject, NUMANode, Taint
from numalign.sources.kubelet.fields import read_fields
from tests.conformance.versions import seen


def decide(case: dict[str, Any]) -> dict[str, Any]:
    """Check the pod of a case."""
    node = case["node"]
    given = {name: quantity.parse(text) for name, text in node["allocatable"].items()}
    if "from" in node:
        computed = {name: amount.nano for name, amount in _computed(node["from"]).items()}
        recorded = {name: amount.nano for name, amount in given.items()}
        if computed != recorded:
            return {"allocatable": computed}
    pods = ActivePods([seen(case, pod) for pod in case["pods"]])
    pod = seen(case, case["pod"])
    held = case.get("heldDevices", {})
    allocated: dict[str, int] = {}
    for devices in held.values():
        for resource, number in devices.items():
            allocated[resource] = allocated.get(resource, 0) + number
    view = NodeView(
        given,
        node.get("name", "node"),
        node.get("labels", {}),
        tuple(Taint(one["key"], one.get("value", ""), one["effect"]) for one in node.get("taints", ())),
    )
    holds_devices = any(held.get(pod.name, {}).values())
    result = check_node_fit(pod, pods, view, allocated=allocated if holds_devices else {})
    answer: dict[str, Any] = {"admit": result.admit}
    if not result.admit:
        answer |= {"reason": result.reason, "message": result.message}
    if result.preempted:
        answer["preempted"] = sorted(one.name for one in result.preempted)
    return answer


def _computed(source: dict[str, Any]) -> dict[str, quantity.Quantity]:
    machine = source["machine"]
    devices = source.get("devices", {})
    gone = {name: 0 for name, counts in devices.items() if counts.get("gone")}
    config = read_fields(source["kubelet"], "kubelet").config
    node = Machine(
        "node",
        (NUMANode(0, (1 << machine["cpus"]) - 1, machine["memory"], machine.get("hugepages", {})),),
        storage=machine.get("storage"),
        devices={name: _devices(counts) for name, counts in devices.items() if name not in gone},
        node=NodeObject(extended_resources=gone),
    )
    return allocatable(config, node, reserve(config, node, cpuset.parse(config.reserved_system_cpus)))


def _devices(counts: dict[str, Any]) -> tuple[Device, ...]:
    healthy, unhealthy = counts.get("healthy", 0), counts.get("unhealthy", 0)
    return tuple(Device(str(number), healthy=number < healthy) for number in range(healthy + unhealthy))
