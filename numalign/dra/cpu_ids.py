"""Which CPUs stand behind the devices of `dra.cpu` that claims hold (docs/rules/dra.md D-22, D-23)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from numalign.dra.publish.cpus import CAPACITY, DRIVER, Share, group_cpus, pick
from numalign.dra.values import Claim, Device, DeviceID, Taken
from numalign.kubelet.cpu.packed import take_packed
from numalign.kubelet.cpu.topology import CPUTopology, build
from numalign.kubelet.errors import AllocationError
from numalign.model.cpuset import parse
from numalign.model.machine import Machine
from numalign.model.quantity import value
from numalign.values import NamedTuple

CPU_ID: Final = "dra.cpu/cpuID"
CPU_IDS: Final = "dra.cpu/cpuIDs"
"""The CPUs of a group that claims can have; published with an external allocator."""
WHOLE_MACHINE: Final = "cpudevmachine"

HeldKey = tuple[str, str, DeviceID]
"""A claim's full name, a request, a device."""


class KeptBack(NamedTuple):
    """What the driver keeps from claims."""

    cpus: int = 0
    doubts: tuple[str, ...] = ()
    """What nobody says, a sentence each."""


class HeldCPUs(NamedTuple):
    """The CPUs of each claim."""

    cpus: Mapping[HeldKey, int]
    doubts: tuple[str, ...]


def kept_back(machine: Machine, devices: Mapping[DeviceID, Device], told: int) -> KeptBack:
    """Find out which CPUs the driver keeps back (`--reserved-cpus`), from what it publishes on a node.

    Args:
        machine: the node's.
        devices: all that is published there.
        told: CPUs that the kubelet keeps back, which the driver is told, too; they count where their number fits.
    """
    own = {identity: device for identity, device in devices.items() if identity.driver == DRIVER}
    if not own or not machine.cpus:
        return KeptBack()
    topology = build(machine)
    single = 0
    kept = 0
    doubts: list[str] = []
    for identity, device in own.items():
        number = _number(device, CPU_ID)
        if number is not None:
            single |= 1 << number
            continue
        try:
            group = group_cpus(topology, identity.device)
        except AllocationError:
            continue
        said = _of_group(topology, identity.device, device, group, told)
        kept |= said.cpus
        doubts += said.doubts
    return KeptBack(kept | (machine.cpus & ~single if single else 0), tuple(doubts))


def _number(device: Device, name: str) -> int | None:
    attribute = device.attributes.get(name) or device.attributes.get(name.rpartition("/")[2])
    found = attribute.value if attribute is not None else None
    return found if type(found) is int and 0 <= found < 1 << 16 else None


def _of_group(topology: CPUTopology, name: str, device: Device, group: int, told: int) -> KeptBack:
    listed = device.attributes.get(CPU_IDS)
    if listed is not None and isinstance(listed.value, str):
        try:
            return KeptBack(group & ~parse(listed.value))
        except ValueError:
            return KeptBack(0, (f"{CPU_IDS} of {name} is not a CPU list: {listed.value[:40]}",))
    if CAPACITY not in device.capacity:
        return KeptBack()
    count = value(device.capacity[CAPACITY].value)
    missing = group.bit_count() - count
    if missing < 0:
        text = (
            f"{name} has {count} CPUs in the slices and {group.bit_count()} here: the slices may be of another machine"
        )
        return KeptBack(0, (text,))
    if missing == 0 or (told & group).bit_count() == missing:
        return KeptBack(told & group if missing else 0)
    text = f"dra.cpu reserves {missing} CPUs of {name}: used the first; fix: add --reserved-cpus"
    return KeptBack(take_packed(topology, group, missing), (text,))


def order_doubt(claims: Iterable[Claim], node: str) -> tuple[str, ...]:
    """Say that the CPUs of claims that hold some already depend on the order in which the driver prepared them."""
    shares = Counter(taken.device for _, taken in _of_driver(claims, node) if CAPACITY in taken.consumed)
    if all(count == 1 for count in shares.values()):
        return ()
    return ("claims hold CPUs of one group in unknown order: CPU ids are one possible answer",)


def cpus_held(
    machine: Machine, devices: Mapping[DeviceID, Device], claims: Sequence[Claim], node: str, kept: int
) -> HeldCPUs:
    """Give the CPUs behind every device of `dra.cpu` that claims hold on a node.

    Single CPUs say their number. Of a group the driver picks them at prepare time, claim by claim; of the whole machine
    it takes those that the claim's parameters list.

    Args:
        machine: the node's.
        devices: what is published there.
        claims: those that hold something, in the order in which they came.
        node: its name, which is that of the driver's pool.
        kept: the CPUs that the driver keeps back.
    """
    found: dict[HeldKey, int] = {}
    doubts: list[str] = []
    groups: list[tuple[HeldKey, Share]] = []
    taken_already = 0
    for claim, taken in _of_driver(claims, node):
        key = (claim.full_name, taken.request, taken.device)
        single = _number(devices[taken.device], CPU_ID) if taken.device in devices else None
        if single is not None:
            found[key] = 1 << single
        elif taken.device.device == WHOLE_MACHINE:
            cpus = _listed(claim, taken.request)
            if cpus is None:
                doubts.append(
                    f"claim {claim.full_name} lists no cpuset for {WHOLE_MACHINE}: dra.cpu would not prepare it"
                )
            else:
                found[key] = cpus
        elif CAPACITY in taken.consumed:
            groups.append((key, Share(claim.full_name, taken.device.device, value(taken.consumed[CAPACITY]))))
            continue
        taken_already |= found.get(key, 0)
    if not groups or not machine.cpus:
        return HeldCPUs(found, tuple(doubts))
    topology = build(machine)
    free = machine.cpus & ~(kept | taken_already)
    for key, share in groups:
        try:
            found[key] = pick(topology, free, share)
        except AllocationError as error:
            doubts.append(f"dra.cpu would not prepare claim {share.claim}: {error}")
        free &= ~found.get(key, 0)
    return HeldCPUs(found, tuple(doubts))


def _of_driver(claims: Iterable[Claim], node: str) -> Iterator[tuple[Claim, Taken]]:
    for claim in claims:
        for taken in claim.allocation or ():
            if taken.device.driver == DRIVER and taken.device.pool == node:
                yield claim, taken


def _listed(claim: Claim, request: str) -> int | None:
    """Give the CPUs that a claim's parameters list for a request (`cpuConfig.cpuset`)."""
    for config in claim.config:
        if config.requests not in ((), (request,), (request.partition("/")[0],)):
            continue
        text: object = config.fields
        for key in ("opaque", "parameters", "cpuConfig", "cpuset"):
            text = text.get(key) if isinstance(text, Mapping) else None
        if isinstance(text, str):
            try:
                return parse(text)
            except ValueError:
                return None
    return None
