"""The CPUs of a machine, from the devices of `dra.cpu` (docs/rules/dra.md D-22, D-23; podresources.md 10)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeVar

from numalign.dra.publish.cpus import CAPACITY
from numalign.dra.values import Device
from numalign.errors import InputError
from numalign.model.cpuset import MAX_ID, format_set
from numalign.model.hardware import CPUKind
from numalign.model.machine import Unit
from numalign.model.quantity import value
from numalign.values import NamedTuple

K = TypeVar("K")

DRIVER: Final = "dra.cpu"
MAX_CPU: Final = 16383
_NUMA: Final = f"{DRIVER}/numaNodeID"


class CPUs(NamedTuple):
    """The CPUs of a node, as far as slices say."""

    nodes: Mapping[int, int]
    """NUMA node -> its CPUs."""
    sockets: tuple[Unit, ...]
    cores: tuple[int, ...]
    caches: tuple[Unit, ...]
    kinds: tuple[CPUKind, ...]
    left_out: tuple[str, ...]
    """What is not said; a sentence each."""


def cpus_of(devices: Sequence[Device]) -> CPUs:
    """Read the devices of `dra.cpu`: exact where each CPU is a device, else as many CPUs as each NUMA node has.

    Raises:
        InputError: they do not say which NUMA node has how many CPUs.
    """
    single = [one for one in devices if _number(one, "cpuID") is not None]
    if single:
        return _exact(single)
    if any(_number(one, "numaNodeID") is None for one in devices) or not devices:
        what = f"{devices[0].name} of {DRIVER} has no NUMA node" if devices else f"no device of {DRIVER} found"
        raise InputError(f"{what}; fix: publish {_NUMA} by NUMA node or for each CPU")
    return _counted(devices)


def _number(device: Device, name: str) -> int | None:
    """Take a whole number that the driver publishes; None: it does not."""
    attribute = device.attributes.get(f"{DRIVER}/{name}") or device.attributes.get(name)
    if attribute is None or attribute.kind != "int":
        return None
    if not 0 <= attribute.value <= (MAX_CPU if name in ("cpuID", "numCPUs") else MAX_ID):
        raise InputError(f"{device.name}: {DRIVER}/{name} {attribute.value} is not a valid number in Linux")
    return int(attribute.value)


def _exact(devices: Iterable[Device]) -> CPUs:
    """Read one device a CPU. A core is the pair of its socket and its number, which may repeat on every socket."""
    nodes: dict[int, int] = {}
    sockets: dict[int, int] = {}
    caches: dict[int, int] = {}
    cores: dict[tuple[int, int], int] = {}
    kinds: dict[str, int] = {}
    seen = 0
    for device in devices:
        cpu, numa = _number(device, "cpuID"), _number(device, "numaNodeID")
        if cpu is None or numa is None:
            raise InputError(f"{device.name} of {DRIVER} has no CPU id or no NUMA node")
        bit = 1 << cpu
        if seen & bit:
            raise InputError(f"{device.name} of {DRIVER}: duplicate CPU {cpu}")
        seen |= bit
        socket, core, cache = (_number(device, name) for name in ("socketID", "coreID", "cacheL3ID"))
        own = numa if socket is None else socket
        _add(nodes, numa, bit)
        _add(sockets, own, bit)
        _add(cores, (own, cpu if core is None else core), bit)
        if cache is not None:
            _add(caches, cache, bit)
        kind = device.attributes.get(f"{DRIVER}/coreType")
        if kind is not None and kind.kind == "string" and kind.value != "standard":
            _add(kinds, kind.value, bit)
    gaps = (1 << seen.bit_length()) - 1 & ~seen
    left_out = [f"CPUs {format_set(gaps)} are in no slice: reserved by the driver, or offline"] if gaps else []
    left_out.append("unknown: CPUs above the last published CPU, and NUMA nodes without published CPUs")
    # A cache that holds whole NUMA nodes says nothing more than they do (docs/rules/cpu-manager.md 1).
    split = any(cache & node not in (0, node) for cache in caches.values() for node in nodes.values())
    return CPUs(
        nodes=nodes,
        sockets=_units(sockets),
        cores=tuple(sorted(cores.values(), key=lambda cpus: cpus & -cpus)),
        caches=_units(caches) if split else (),
        kinds=tuple(CPUKind(kind, cpus) for kind, cpus in kinds.items()),
        left_out=tuple(left_out),
    )


def _add(sets: dict[K, int], key: K, bit: int) -> None:
    sets[key] = sets.get(key, 0) | bit


def _units(sets: Mapping[int, int]) -> tuple[Unit, ...]:
    return tuple(Unit(number, cpus) for number, cpus in sorted(sets.items()))


def _counted(devices: Iterable[Device]) -> CPUs:
    """Make up CPUs for devices of a NUMA node each, numbered as Linux does: first threads first, node by node."""
    counts = {_number(one, "numaNodeID") or 0: _count(one) for one in devices}
    smt = any(getattr(one.attributes.get(f"{DRIVER}/smtEnabled"), "value", False) for one in devices)
    threads = 2 if smt else 1
    cores_of = {numa: -(-count // threads) for numa, count in sorted(counts.items())}
    total = sum(cores_of.values())
    if total * threads > MAX_CPU:
        raise InputError(f"more than {MAX_CPU} CPUs")
    nodes: dict[int, int] = {}
    cores: list[int] = []
    for numa, number in cores_of.items():
        inside = [1 << core | (1 << core + total if smt else 0) for core in range(len(cores), len(cores) + number)]
        if counts[numa] % threads:
            inside[-1] &= (1 << total) - 1
        cores += inside
        nodes[numa] = sum(inside)
    sockets: dict[int, int] = {}
    for one in devices:
        numa = _number(one, "numaNodeID") or 0
        socket = _number(one, "socketID")
        _add(sockets, numa if socket is None else socket, nodes[numa])
    made_up = "numalign chose CPU ids and cores: grouped devices of dra.cpu are only counts"
    reserved = "unknown: CPUs that the driver reserves, and level 3 caches"
    return CPUs(
        nodes=nodes,
        sockets=_units(sockets),
        cores=tuple(cores),
        caches=(),
        kinds=(),
        left_out=(made_up, reserved),
    )


def _count(device: Device) -> int:
    """Give how many CPUs a device of a NUMA node stands for."""
    count = _number(device, "numCPUs")
    if count is None and CAPACITY in device.capacity:
        count = value(device.capacity[CAPACITY].value)
    if count is None or not 0 <= count <= MAX_CPU:
        raise InputError(f"{device.name} of {DRIVER} has no number of CPUs")
    return count
