"""The way out of claims: ask the device plugin, so that the Topology Manager sees devices and CPUs together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from numalign.dra.drivers import PCIE_ROOT
from numalign.dra.publish.slices import driver_of
from numalign.dra.values import DeviceID
from numalign.errors import NumalignError
from numalign.kubelet import admission
from numalign.kubelet.setup import Setup
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.machine import Device, Machine
from numalign.model.pod import Pod
from numalign.results.dra import WayOut
from numalign.worlds.claims_verdict import Held
from numalign.worlds.pod_result import pod_result

KEEPING: Final = ("single-numa-node", "restricted")
"""Policies that refuse a pod rather than part its CPUs from its devices."""

HOLDS: Final = "valid on nodes with the device plugin instead of the driver; tested on an empty node"
BUT_ROOT: Final = "; it knows NUMA nodes, no PCIe roots"


def by_plugin(held: Held, setup: Setup, pod: Pod, taken: Iterable[DeviceID]) -> WayOut | None:
    """Ask for a container's devices as extended resources, under a policy that keeps them with the CPUs.

    It is tried on this machine with no other pod on it, but without the devices that claims hold.

    Args:
        held: what the container has now.
        setup: the node.
        pod: its pod.
        taken: the node's devices that other claims hold.
    """
    resources = _resources(held, setup.machine)
    machine = _without(setup.machine, taken) if resources else None
    if machine is None:
        return None
    amounts = Counter(resources[one.got.device.driver] for one in held.devices)
    policies = [setup.config.topology_manager_policy]
    for policy in policies if policies[0] in KEEPING else KEEPING:
        config = setup.config._replace(topology_manager_policy=policy)
        gives = _tried(setup._replace(machine=machine, config=config), _asking(pod, held.container.name, amounts), held)
        if gives:
            asked = ", ".join(f"{resource}: {number}" for resource, number in amounts.items())
            return WayOut(
                f"request from the device plugin instead of the claim: {asked}, under policy {policy}",
                gives,
                f"{HOLDS}{BUT_ROOT if any(one.match == PCIE_ROOT for _, one in held.constraints) else ''}",
                (
                    f"# in container {held.container.name}, without its claims",
                    "resources:",
                    "  limits:",
                    *(f'    {name}: "{number}"' for name, number in amounts.items()),
                ),
            )
    return None


def _resources(held: Held, machine: Machine) -> dict[str, str]:
    """Give driver -> the resource of its plugin; nothing unless the machine has one for each of the devices."""
    found: dict[str, str] = {}
    for driver in dict.fromkeys(one.got.device.driver for one in held.devices):
        resource = next((name for name in machine.devices if driver_of(name) == driver), None)
        if resource is None:
            return {}
        found[driver] = resource
    return found


def _without(machine: Machine, taken: Iterable[DeviceID]) -> Machine | None:
    """Take away the devices that claims hold; None: it is not clear which of the plugin's these are."""
    devices: dict[str, tuple[Device, ...]] = dict(machine.devices)
    for identity in taken:
        for resource in [name for name in devices if driver_of(name) == identity.driver]:
            left = tuple(one for one in devices[resource] if _number(one.id) != _number(identity.device))
            if len(left) != len(devices[resource]) - 1:
                return None
            devices[resource] = left
    return machine._replace(devices=devices)


def _number(name: str) -> str:
    digits = re.search(r"([0-9]{1,9})\D*$", name)
    return digits[1] if digits else ""


def _asking(pod: Pod, name: str, amounts: Mapping[str, int]) -> Pod:
    """Give the pod with devices in place of a container's claims."""
    asked = {resource: str(number) for resource, number in amounts.items()}
    containers = [
        {**one, "resources": _with_devices(one.get("resources") or {}, asked)} if one["name"] == name else one
        for one in pod.spec["containers"]
    ]
    metadata = {"name": pod.name, "namespace": pod.namespace, "uid": pod.uid}
    return read_pod({"metadata": metadata, "spec": {**pod.spec, "containers": containers}})


def _with_devices(resources: Mapping[str, object], asked: Mapping[str, str]) -> dict[str, object]:
    found: dict[str, object] = {key: value for key, value in resources.items() if key != "claims"}
    for which in ("requests", "limits"):
        given = resources.get(which)
        found[which] = {**(given if isinstance(given, Mapping) else {}), **asked}
    return found


def _tried(setup: Setup, pod: Pod, held: Held) -> tuple[str, ...]:
    """Admit the pod on the empty node; what the container gets, if that is aligned."""
    try:
        result = pod_result(admission.admit(admission.open_session(setup), pod))
    except NumalignError:
        return ()
    for container in result.containers:
        if container.name == held.container.name and container.aligned:
            return (*(one for ids in container.devices.values() for one in ids), f"CPUs {container.cpus}")
    return ()
