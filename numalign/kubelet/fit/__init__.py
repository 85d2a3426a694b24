"""The fit check of the node as a whole, after the managers (docs/rules/admission-fit.md).

Here is what it has to go round: node allocatable, what pods may request of each resource (6).
"""

from __future__ import annotations

from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.start.reservation import Reservation, capacity
from numalign.model.machine import Machine
from numalign.model.quantity import Quantity, from_int
from numalign.model.resources import is_hugepages


def allocatable(config: KubeletConfig, machine: Machine, reservation: Reservation) -> dict[str, Quantity]:
    """Compute allocatable per resource: capacity less reservation, in exact quantities (6.3).

    Without a known file system `ephemeral-storage` is missing, and the fit check should not judge it (6.5).
    """
    whole = capacity(machine, storage=config.local_storage_capacity_isolation)
    result = {
        resource: Quantity(max(0, amount.quantity.nano - reservation.nano(resource)), amount.quantity.format, None)
        for resource, amount in whole.items()
    }
    pages = sum(amount.quantity.nano for resource, amount in whole.items() if is_hugepages(resource))
    result["memory"] = Quantity(max(0, result["memory"].nano - pages), "BinarySI", None)
    pods = config.max_pods
    if config.pods_per_core > 0:
        pods = min(pods, machine.cpus.bit_count() * config.pods_per_core)
    result["pods"] = from_int(pods)
    for resource, number in machine.node.extended_resources.items():
        result[resource] = from_int(number)
    for resource, devices in machine.devices.items():
        result[resource] = from_int(sum(device.healthy for device in devices))
    return result
