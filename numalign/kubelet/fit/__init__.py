"""The fit check of the node as a whole, after the managers (docs/rules/admission-fit.md).

Here is what it has to go round: node allocatable, what pods may request of each resource (6), and the active pods with
what they request together (3.2). The rule adds up every pod that is there for each that comes; here the sums go along
from pod to pod, so that the thousandth costs what the first one does.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from functools import cached_property

from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.demand import with_overhead
from numalign.kubelet.start.reservation import Reservation
from numalign.model.machine import Machine
from numalign.model.pod import Pod
from numalign.model.quantity import Quantity, from_int
from numalign.model.resources import is_hugepages, whole


def allocatable(config: KubeletConfig, machine: Machine, reservation: Reservation) -> dict[str, Quantity]:
    """Compute allocatable per resource: capacity less reservation, in exact quantities (6.3).

    Without a known file system `ephemeral-storage` is missing, and the fit check should not judge it (6.5).
    """
    had = reservation.capacity
    result = {
        resource: Quantity(max(0, amount.quantity.nano - reservation.nano(resource)), amount.quantity.format, None)
        for resource, amount in had.items()
    }
    pages = sum(amount.quantity.nano for resource, amount in had.items() if is_hugepages(resource))
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


class ActivePods(tuple[Pod, ...]):
    """Pods in order of admission; what they request is added up when it is first asked for."""

    @cached_property
    def used(self) -> Mapping[str, int]:
        """Every resource that they request -> how much, each pod rounded by itself. Copies are worked out once."""
        total: dict[str, int] = {}
        known: dict[tuple[int, ...], list[tuple[str, int]]] = {}
        for pod in self:
            alike = id(pod.containers), id(pod.overhead), id(pod.level), id(pod.status)
            amounts = known.get(alike)
            if amounts is None:
                amounts = known[alike] = requested(pod)
            _add(total, amounts, 1)
        return total

    def plus(self, pod: Pod) -> ActivePods:
        """Return these and one more."""
        return self._changed((*self, pod), (pod,), 1)

    def without(self, uids: Container[str]) -> ActivePods:
        """Return these but those of some UIDs."""
        return self._changed(
            tuple([pod for pod in self if pod.uid not in uids]), [pod for pod in self if pod.uid in uids], -1
        )

    def _changed(self, pods: tuple[Pod, ...], difference: Iterable[Pod], sign: int) -> ActivePods:
        """Return other pods; what they request is known if that of these is."""
        result = ActivePods(pods)
        if "used" in self.__dict__:
            total = dict(self.used)
            for pod in difference:
                _add(total, requested(pod), sign)
            result.__dict__["used"] = total
        return result


def requested(pod: Pod) -> list[tuple[str, int]]:
    """Return all that a pod requests, overhead included, in the units of the fit check."""
    return [(resource, whole(resource, nano)) for resource, nano in with_overhead(pod).items()]


def _add(total: dict[str, int], amounts: Iterable[tuple[str, int]], sign: int) -> None:
    for resource, amount in amounts:
        total[resource] = total.get(resource, 0) + sign * amount
