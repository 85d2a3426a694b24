"""What brings each GPU of a container and a NIC of it closer on the PCI bus: each way is tried before it is named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from numalign.analysis.closeness import NEAREST_FIRST, Closeness, ends, farthest, rail
from numalign.analysis.holding import HeldDevices, Holding
from numalign.analysis.situation import with_amounts
from numalign.dra.attempt import Attempt
from numalign.dra.drivers import DRIVERS, PCIE_ROOT
from numalign.dra.features import features
from numalign.dra.pools import published
from numalign.dra.publish.slices import Options, driver_of, publish
from numalign.dra.usage import Usage
from numalign.dra.values import Claim, Constraint, DeviceRequest, Node, Request
from numalign.kubelet import admission
from numalign.kubelet.admission import Outcome
from numalign.kubelet.setup import Setup
from numalign.model.cpuset import ids
from numalign.model.machine import Machine
from numalign.model.quantity import NANO
from numalign.results.admit import ContainerResult, PodResult
from numalign.results.explain import Closer
from numalign.worlds.claims_anew import More, allocated
from numalign.worlds.pod_result import pod_result

MAX_TRIED: Final = 24
"""How many counts are tried for a container."""
RDMA: Final = "dra.net/rdma"


def ways_closer(setup: Setup, outcome: Outcome, pod: PodResult) -> Iterator[Closer]:
    """Yield, for the containers with a GPU that shares no PCI switch with a NIC of theirs, what brings them closer.

    Counts of devices, on the node as it is; a claim for devices of one PCIe root, and NICs of one NUMA node as a
    resource of their own, on an empty node. Ways are the drivers' and the plugin's to allow, so none is the kubelet's.
    """
    for container in pod.containers:
        if rail(setup.machine, container.holding) == "far":
            gpus, nics = ends(container.holding, setup.machine.functions())
            if len({one for one, _ in gpus}) == len({one for one, _ in nics}) == 1:
                yield from _Container(setup, outcome, pod, container, gpus[0][0], nics[0][0]).ways()


class _Container:
    """One container, and the two resources in question: of several of a kind nothing is tried."""

    def __init__(
        self, setup: Setup, outcome: Outcome, pod: PodResult, container: ContainerResult, gpu: str, nic: str
    ) -> None:
        self._setup, self._outcome, self._pod, self._held = setup, outcome, pod, container
        self._gpu, self._nic, self._machine = gpu, nic, setup.machine
        self._gpus, self._nics = len(container.devices[gpu]), len(container.devices[nic])
        self._now = farthest(self._machine, container.holding)

    def ways(self) -> Iterator[Closer]:
        """Yield what does it, or that nothing tried does."""
        found = [*islice(self._counts(), 1), *self._claim(), *self._pool()]
        yield from found or [Closer(self._held.name, self._now)]

    def _counts(self) -> Iterator[Closer]:
        """Ask for more NICs."""
        for number in range(self._nics + 1, min(len(self._machine.devices[self._nic]), self._nics + MAX_TRIED) + 1):
            more = with_amounts(self._outcome.pod, {(self._held.name, self._nic): number * NANO})
            tried = admission.admit(self._outcome.before, more)
            yield from self._closer(tried, self._machine, amounts={self._nic: number})

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

    def _is_closer(self, near: Closeness) -> bool:
        return NEAREST_FIRST.index(near) < NEAREST_FIRST.index(self._now)

    def _pool(self) -> Iterator[Closer]:
        """Offer only the NICs of the NUMA nodes where the GPUs are, if these are apart."""
        numa = self._held.alignment.places.get(self._gpu, 0)
        here = set(ids(numa))
        near = tuple(one for one in self._machine.devices[self._nic] if here.intersection(one.numa_nodes or ()))
        if self._now == "other node" and near:
            links, preferred = dict(self._machine.links), dict(self._machine.preferred_allocation)
            for told in (links, preferred):
                told.pop(self._nic, None)  # these may name the NICs of other nodes
            devices = {**self._machine.devices, self._nic: near}
            machine = self._machine._replace(devices=devices, links=links, preferred_allocation=preferred)
            session = admission.open_session(self._setup._replace(machine=machine))
            yield from self._closer(admission.admit(session, self._outcome.pod), machine, numa=numa)

    def _claim(self) -> Iterator[Closer]:
        """Claim each GPU with a NIC of its PCIe root."""
        drivers = {one: driver for one in (self._gpu, self._nic) if (driver := driver_of(one)) is not None}
        if len(set(drivers.values())) < 2:
            return
        node = self._machine.node.name or self._machine.name
        made = publish(self._machine, {driver: (one,) for one, driver in drivers.items()}, Options(node=node))
        listed = {
            one: [device for part in made.slices if part.driver == driver for device in part.devices]
            for one, driver in drivers.items()
        }
        rdma = all(RDMA in one.attributes and one.attributes[RDMA].value is True for one in listed[self._nic])
        gpu, nic = (DRIVERS[driver].classes[0].name for driver in drivers.values())
        claim = _claim(gpu, nic, self._gpus, rdma=rdma)
        classes = {one.name: one for one in made.classes}
        attempt = Attempt(published(made.slices), classes, Usage(), features(), Node(node))
        taken = {one.device.device for held in allocated(attempt, [claim]) for one in held.allocation or ()}
        got = [  # a driver publishes the machine's devices in their order
            HeldDevices(one, tuple(known.id for known, device in pairs if device.name in taken), {}, 0)
            for one in drivers
            for pairs in (zip(self._machine.devices[one], listed[one], strict=True),)
        ]
        if taken and self._is_closer(near := farthest(self._machine, Holding(None, tuple(got), ()))):
            lines = More(claim.requests, claim.constraints).written(Claim("devices"))
            yield Closer(container=self._held.name, closeness=near, write=lines)


def _claim(gpu: str, nic: str, number: int, *, rdma: bool) -> Claim:
    """Make a claim for so many GPUs, each with a NIC of its PCIe root; `gpu` and `nic` are classes of devices."""
    selectors = (f"device.attributes['dra.net'].{RDMA.rpartition('/')[2]}",) if rdma else ()
    names = [(f"gpu-{place}", f"nic-{place}") if number > 1 else ("gpu", "nic") for place in range(number)]
    requests = [
        Request(one.name, one)
        for gpu_name, nic_name in names
        for one in (DeviceRequest(gpu_name, gpu), DeviceRequest(nic_name, nic, selectors))
    ]
    constraints = tuple([Constraint(each, match=PCIE_ROOT) for each in names])
    return Claim("devices", requests=tuple(requests), constraints=constraints)
