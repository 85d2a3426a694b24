"""What a node keeps for itself: system, kube and hard eviction parts, per resource, exact to the byte.

Stands for docs/rules/kubelet-files.md rules 33-35 and 38. A part that cannot be read raises `StartError` with the
kubelet's own text. Where several entries are bad the kubelet names a random one; here it is the first by name.
"""

from __future__ import annotations

import math
import re
import struct
from collections import defaultdict
from collections.abc import Mapping

from numalign.errors import StartError
from numalign.kubelet.config import KubeletConfig
from numalign.model import cpuset, quantity
from numalign.model.cpuset import CPUSetError
from numalign.model.gotext import quote
from numalign.model.machine import Machine
from numalign.model.quantity import NANO, Format, Quantity, QuantityError
from numalign.model.resources import hugepages
from numalign.values import NamedTuple

DEFAULT_EVICTION: Mapping[str, str] = {
    "imagefs.available": "15%",
    "imagefs.inodesFree": "5%",
    "memory.available": "100Mi",
    "nodefs.available": "10%",
    "nodefs.inodesFree": "5%",
}
"""`evictionHard` where the configuration has none."""

SIGNALS = frozenset(
    {
        "allocatableMemory.available",
        "containerfs.available",
        "containerfs.inodesFree",
        "imagefs.available",
        "imagefs.inodesFree",
        "memory.available",
        "nodefs.available",
        "nodefs.inodesFree",
        "pid.available",
    }
)
"""What `evictionHard` may name."""
EVICTED = {"memory.available": "memory", "nodefs.available": "ephemeral-storage"}
"""The signals that enter the reservation, and the resource of each."""
_RESERVABLE = frozenset({"cpu", "memory", "ephemeral-storage", "pid"})


class Amount(NamedTuple):
    """A quantity of the configuration with its decimal exponent (rule 38)."""

    quantity: Quantity
    scale: int | None = 0
    """The power of ten the kubelet counts in; None: the long form, which it prints as a memory address."""


class Reservation(NamedTuple):
    """The node reservation and the parts it is made of. Each mapping: resource -> amount."""

    capacity: Mapping[str, Amount]
    """What can be reserved and how much the machine has (admission-fit.md 6.1)."""
    system: Mapping[str, Amount]
    kube: Mapping[str, Amount]
    eviction: Mapping[str, Amount]
    total: Mapping[str, Amount]
    """Sums that are not zero, for the resources the machine has (rule 35)."""

    def nano(self, resource: str) -> int:
        """Return the reservation of a resource in billionths; 0 where nothing is reserved."""
        amount = self.total.get(resource)
        return amount.quantity.nano if amount else 0


def reserve(config: KubeletConfig, machine: Machine, reserved_cpus: int) -> Reservation:
    """Compute the node reservation, checks in the kubelet's order (kubelet-files.md 33-35; 56 rows 4 and 5).

    Args:
        config: the settings.
        machine: the machine.
        reserved_cpus: what `reservedSystemCPUs` says, as a set; it takes the place of the CPU reservations.

    Raises:
        StartError: an entry of `kubeReserved`, `systemReserved` or `evictionHard` that stops the kubelet.
    """
    kube_texts = dict(config.kube_reserved)
    system_texts = dict(config.system_reserved)
    if reserved_cpus:
        kube_texts.pop("cpu", None)
        system_texts["cpu"] = str(reserved_cpus.bit_count())
    kube = read_reserved("--kube-reserved", kube_texts)
    system = read_reserved("--system-reserved", system_texts)
    eviction = evict(thresholds(config), machine)
    capacity = _capacity(machine, storage=config.local_storage_capacity_isolation)
    total = {}
    for resource in capacity:
        parts = [part[resource] for part in (system, kube, eviction) if resource in part]
        amount = add(parts)
        if amount.quantity.nano:
            total[resource] = amount
    return Reservation(capacity=capacity, system=system, kube=kube, eviction=eviction, total=total)


def thresholds(config: KubeletConfig) -> Mapping[str, str]:
    """Return the hard eviction thresholds in force: the given ones, the defaults, or both put together."""
    if config.eviction_hard is None:
        return DEFAULT_EVICTION
    if config.merge_default_eviction_settings:
        return {**DEFAULT_EVICTION, **config.eviction_hard}
    return config.eviction_hard


def readable_reservation(config: KubeletConfig, machine: Machine) -> Reservation | None:
    """Compute the node reservation of a configuration that nobody validated; None where a text cannot be read."""
    try:
        return reserve(config, machine, cpuset.parse(config.reserved_system_cpus))
    except (StartError, CPUSetError):
        return None


def _capacity(machine: Machine, *, storage: bool) -> dict[str, Amount]:
    """List how much a machine has; `storage`: the kubelet counts local storage (`localStorageCapacityIsolation`)."""
    cpus = machine.cpus.bit_count()
    result = {
        "cpu": Amount(Quantity(cpus * NANO, "DecimalSI", cpus), -3),
        "memory": _bytes(machine.memory),
    }
    if machine.storage is not None and storage:
        result["ephemeral-storage"] = _bytes(machine.storage)
    pages: dict[str, int] = defaultdict(int)
    for node in machine.numa_nodes:
        for size, amount in node.hugepages.items():
            pages[size] += amount
    for size in sorted(pages):
        result[hugepages(size)] = _bytes(pages[size])
    return result


def add(parts: list[Amount]) -> Amount:
    """Add amounts: the first that is not zero gives the format, the finest one the exponent (rules 38, 54)."""
    total = 0
    form: Format | None = None
    scales = []
    for part in parts:
        if part.quantity.nano:
            form = form or part.quantity.format
            total += part.quantity.nano
            scales.append(part.scale)
    known = [scale for scale in scales if scale is not None]
    finest = min(known, default=0) if len(known) == len(scales) else None
    return Amount(Quantity(total, form or "DecimalSI", None), finest)


def check_capacity(reservation: Reservation) -> None:
    """Refuse a reservation beyond the machine's capacity (rule 38).

    Raises:
        StartError: naming every such resource, by name.
    """
    have = reservation.capacity
    too_much = [
        f'Resource "{resource}" has a reservation of {inner_form(amount)} but capacity of '
        f"{inner_form(have[resource])}. Expected capacity >= reservation."
        for resource, amount in sorted(reservation.total.items())
        if amount.quantity.nano > have[resource].quantity.nano
    ]
    if too_much:
        raise StartError("invalid Node Allocatable configuration. " + " ".join(too_much))


def inner_form(amount: Amount) -> str:
    """Print an amount the way rule 38 shows it: `{{I S} {<nil>}  F}`.

    The long form holds a memory address that differs from run to run; `0x…` stands for it.
    """
    value, form = amount.quantity.nano, amount.quantity.format
    if amount.scale is None:
        return f"{{{{0 0}} {{0x…}}  {form}}}"
    power = 9 + amount.scale
    return f"{{{{{value // 10**power} {amount.scale}}} {{<nil>}}  {form}}}"


def _bytes(amount: int) -> Amount:
    return Amount(Quantity(amount * NANO, "BinarySI", amount))


def read_reserved(flag: str, texts: Mapping[str, str]) -> dict[str, Amount]:
    """Read `kubeReserved` or `systemReserved` (table of kubelet-files.md section 6).

    Raises:
        StartError: an entry that stops the kubelet; `flag` begins its text.
    """
    result = {}
    for resource, text in sorted(texts.items()):
        if resource not in _RESERVABLE:
            raise StartError(f"{flag} value failed to parse: cannot reserve {quote(resource)} resource")
        try:
            amount = _read(text)
        except QuantityError as error:
            raise StartError(
                f"{flag} value failed to parse: failed to parse quantity {quote(text)} for {quote(resource)} "
                f"resource: {error}"
            ) from None
        if amount.quantity.nano < 0:
            raise StartError(
                f"{flag} value failed to parse: resource quantity for {quote(resource)} cannot be negative: {text}"
            )
        result[resource] = amount
    return result


def _read(text: str) -> Amount:
    return Amount(quantity.parse(text), quantity.exponent(text))


def evict(thresholds: Mapping[str, str], machine: Machine) -> dict[str, Amount]:
    """Read the hard eviction thresholds; the result has the parts that enter the reservation (rule 34).

    Raises:
        StartError: an unknown signal, or a threshold that is no positive amount and no percentage.
    """
    result = {}
    wholes = {"memory.available": machine.memory, "nodefs.available": machine.storage}
    for signal, text in sorted(thresholds.items()):
        if signal not in SIGNALS:
            raise StartError(f"unsupported eviction signal {signal}")
        resource = EVICTED.get(signal)
        if text.endswith("%"):
            share = _percentage(signal, text)
            of = wholes.get(signal)
            amount = None if share is None or of is None else _bytes(_portion(share, of))
        else:
            amount = _absolute(signal, text)
        if resource is not None and amount is not None:
            result[resource] = amount
    return result


def _absolute(signal: str, text: str) -> Amount:
    try:
        amount = _read(text)
    except QuantityError as error:
        raise StartError(str(error)) from None
    if amount.quantity.nano <= 0:
        shown = quantity.canonical(amount.quantity)
        raise StartError(f"eviction threshold {signal} must be positive: {shown}")
    return amount


_NUMBER = r"(?i)[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?inf(?:inity)?|nan"


def _percentage(signal: str, text: str) -> float | None:
    """Read `5%` as the 32-bit fraction the kubelet computes with; None: no threshold."""
    if text in ("0%", "100%"):
        return None
    number = text.rstrip("%")
    if not re.fullmatch(_NUMBER, number):
        raise StartError(f"strconv.ParseFloat: parsing {quote(number)}: invalid syntax")
    try:
        share = _float32(_float32(float(number)) / 100)
    except OverflowError:
        raise StartError(f"strconv.ParseFloat: parsing {quote(number)}: value out of range") from None
    if share < 0:
        raise StartError(f"eviction percentage threshold {signal} must be >= 0%: {text}")
    if share > 1:
        raise StartError(f"eviction percentage threshold {signal} must be <= 100%: {text}")
    return share


def _portion(share: float, whole: int) -> int:
    """Cut the product to an integer; of a not-a-number amd64 makes the lowest 64-bit one."""
    return -(2**63) if math.isnan(share) else int(share * float(whole))


def _float32(value: float) -> float:
    result: float = struct.unpack("<f", struct.pack("<f", value))[0]
    return result
