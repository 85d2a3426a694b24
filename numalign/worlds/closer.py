"""What brings each GPU of a container and a NIC of it closer on the PCI bus: each way is tried before it is named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from numalign.analysis.closeness import NEAREST_FIRST, ends, farthest, functions, rail
from numalign.analysis.holding import HeldDevices, Holding
from numalign.analysis.situation import with_amounts
from numalign.dra.attempt import Attempt
from numalign.dra.drivers import DRIVERS, PCIE_ROOT
from numalign.dra.features import features
from numalign.dra.pools import published
from numalign.dra.publish.slices import Options, driver_of, publish
from numalign.dra.usage import Usage
from numalign.dra.values import Claim, Constraint, DeviceRequest, Node, Request
from numalign.errors import NumalignError
from numalign.kubelet import admission
from numalign.kubelet.admission import Outcome
from numalign.kubelet.setup import Setup
from numalign.model.cpuset import ids
from numalign.model.machine import Machine
from numalign.model.quantity import NANO
from numalign.results.admit import ContainerResult, PodResult
from numalign.results.explain import Closer
from numalign.worlds.pod_result import pod_result
from numalign.worlds.ways_out import More, allocated

MAX_TRIED: Final = 24
"""How many counts are tried for a container."""
MAX_GPUS: Final = 8
"""Of more GPUs no claim is tried."""
RDMA: Final = "dra.net/rdma"


def ways_closer(setup: Setup, outcome: Outcome, pod: PodResult) -> Iterator[Closer]:
    """Yield, for the containers with a GPU that shares no PCI switch with a NIC of theirs, what brings them closer.

    Counts of devices, on the node as it is; a claim for devices of one PCIe root, and NICs of one NUMA node as a
    resource of their own, on an empty node. Ways are the drivers' and the plugin's to allow, so none is the kubelet's.
    """
    for container in pod.containers if pod.admitted else ():
        if rail(setup.machine, container.holding) == "far":
            yield from _Container(setup, outcome, pod, container).ways()


class _Container:
    """One container, and the two resources in question."""

    def __init__(self, setup: Setup, outcome: Outcome, pod: PodResult, container: ContainerResult) -> None:
        self._setup, self._outcome, self._pod, self._held = setup, outcome, pod, container
        self._machine = setup.machine
        self._now = farthest(self._machine, container.holding)
        gpus, nics = ends(container.holding, functions(self._machine))
        self._gpus, self._nics = Counter(one for one, _ in gpus), Counter(one for one, _ in nics)

    def ways(self) -> Iterator[Closer]:
        """Yield what does it, or that nothing tried does; of several resources of GPUs or NICs nothing is tried."""
        if len(self._gpus) == len(self._nics) == 1:
            found = [*islice(self._counts(), 1), *self._claim(), *self._pool()]
            yield from found or [Closer(self._held.name, self._now)]

    def _counts(self) -> Iterator[Closer]:
        """Ask for more NICs, then for more GPUs with their share of the NICs."""
        for counts in islice(self._larger(), MAX_TRIED):
            amounts = {(self._held.name, name): number * NANO for name, number in counts.items()}
            tried = admission.admit(self._outcome.before, with_amounts(self._outcome.pod, amounts))
            yield from self._closer(tried, self._machine, amounts=counts)

    def _larger(self) -> Iterator[dict[str, int]]:
        ((gpu, gpus),), ((nic, nics),) = self._gpus.items(), self._nics.items()
        all_gpus, all_nics = (len(self._machine.devices.get(name, ())) for name in (gpu, nic))
        yield from ({nic: number} for number in range(nics + 1, all_nics + 1))
        for number in range(gpus + 1, all_gpus + 1):
            yield {gpu: number, nic: max(nics, -(-all_nics * number // all_gpus))}

    def _closer(
        self, tried: Outcome, machine: Machine, amounts: Mapping[str, int] = {}, numa: int = 0
    ) -> Iterator[Closer]:
        """Yield a trial if it is closer than now, and the pod no less aligned; counts have to reach a switch."""
        then = pod_result(tried)
        mine = next((one for one in then.containers if one.name == self._held.name), None)
        if mine is None or then.missing or (then.aligned is False and self._pod.aligned is not False):
            return
        near = farthest(machine, mine.holding)
        if rail(machine, mine.holding) == "near" or (numa and self._is_closer(near)):
            yield Closer(container=self._held.name, closeness=near, amounts=amounts, numa=numa)

    def _is_closer(self, near: str | None) -> bool:
        order: tuple[str | None, ...] = NEAREST_FIRST
        return order.index(near) < order.index(self._now)

    def _pool(self) -> Iterator[Closer]:
        """Offer only the NICs of the NUMA nodes where the GPUs are, if these are apart."""
        ((gpu, _),), ((nic, _),) = self._gpus.items(), self._nics.items()
        numa = self._held.alignment.places.get(gpu, 0)
        here = set(ids(numa))
        near = tuple(one for one in self._machine.devices[nic] if here.intersection(one.numa_nodes or ()))
        if self._now != "other node" or not near:
            return
        machine = self._machine._replace(devices={**self._machine.devices, nic: near})
        try:
            session = admission.open_session(self._setup._replace(machine=machine))
            yield from self._closer(admission.admit(session, self._outcome.pod), machine, numa=numa)
        except NumalignError:
            return

    def _claim(self) -> Iterator[Closer]:
        """Claim each GPU with a NIC of its PCIe root."""
        ((gpu, gpus),), ((nic, _),) = self._gpus.items(), self._nics.items()
        drivers = {resource: driver for resource in (gpu, nic) if (driver := driver_of(resource)) is not None}
        if len(set(drivers.values())) < 2 or gpus > MAX_GPUS:
            return
        node = self._machine.node.name or self._machine.name
        made = publish(self._machine, {drivers[one]: (one,) for one in (gpu, nic)}, Options(node=node))
        listed = {
            resource: [one for part in made.slices if part.driver == driver for one in part.devices]
            for resource, driver in drivers.items()
        }
        rdma = all((told := one.attributes.get(RDMA)) is not None and told.value is True for one in listed[nic])
        classes = [DRIVERS[drivers[one]].classes[0].name for one in (gpu, nic)]
        claim = _claim(classes[0], classes[1], gpus, rdma=rdma)
        attempt = Attempt(
            cluster=published(made.slices),
            classes={one.name: one for one in made.classes},
            used=Usage(),
            features=features(),
            node=Node(node),
        )
        taken = {one.device.device for held in allocated(attempt, [claim]) for one in held.allocation or ()}
        got = tuple([self._got(resource, [one.name in taken for one in listed[resource]]) for resource in (gpu, nic)])
        near = farthest(self._machine, Holding(None, got, ()))
        if taken and self._is_closer(near):
            lines = More(claim.requests, claim.constraints).written(Claim("devices"))
            yield Closer(container=self._held.name, closeness=near, write=lines)

    def _got(self, resource: str, taken: list[bool]) -> HeldDevices:
        """Name the devices of the machine that a claim takes: a driver publishes them in the machine's order."""
        pairs = zip(self._machine.devices[resource], taken, strict=True)
        return HeldDevices(resource, tuple(one.id for one, there in pairs if there), {}, 0)


def _claim(gpu: str, nic: str, number: int, *, rdma: bool) -> Claim:
    """Make a claim for so many GPUs, each with a NIC of its PCIe root; `gpu` and `nic` are classes of devices."""
    selectors = (f"device.attributes['dra.net'].{RDMA.rpartition('/')[2]}",) if rdma else ()
    requests: list[Request] = []
    constraints = []
    for place in range(number):
        names = [f"{name}-{place}" if number > 1 else name for name in ("gpu", "nic")]
        requests.append(Request(names[0], DeviceRequest(names[0], gpu)))
        requests.append(Request(names[1], DeviceRequest(names[1], nic, selectors)))
        constraints.append(Constraint(tuple(names), match=PCIE_ROOT))
    return Claim("devices", requests=tuple(requests), constraints=tuple(constraints))
