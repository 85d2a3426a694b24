"""Virtual machines of KubeVirt -> the virt-launcher pod that KubeVirt would make of one, approximately.

The guest's CPUs, memory, huge pages and passed-through devices become requests of the pod's container `compute`.
Memory gets the overhead that KubeVirt estimates: 1/512 of the guest for page tables, 220Mi for its own processes, 8Mi
a virtual CPU and for the I/O thread, 32Mi for a graphics device, 1Gi where a device is passed through.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Final

from numalign.model.apiserver import amount
from numalign.model.path import child
from numalign.model.quantity import MEBI, NANO, QuantityError, canonical, from_int
from numalign.model.resources import hugepages
from numalign.sources.pods.counts import count
from numalign.sources.pods.roles import Fields
from numalign.sources.pods.shapes import PLACING_FIELDS, Place, Template
from numalign.sources.text import elements, inside, mapping
from numalign.values import NamedTuple

_GROUP: Final = "kubevirt.io/"
_OWN_PROCESSES: Final = 220 * MEBI
"""What KubeVirt adds for its own processes, in bytes."""
_EACH_THREAD: Final = 8 * MEBI
"""What it adds for each virtual CPU and I/O thread."""
_GRAPHICS: Final = 32 * MEBI
"""What it adds for a screen."""
_PASSED_THROUGH: Final = 1 << 30
"""What it adds where devices are passed through."""
_OVERCOMMIT: Final = 10
"""KubeVirt's default: so many virtual CPUs share one requested CPU."""


def templates_of(thing: Fields, kind: str, path: str) -> Iterator[Template]:
    """Yield the pods of a virtual machine, or of a set of them; nothing for objects that are none.

    Raises:
        CountError: a count is no whole number.
    """
    if _GROUP not in str(thing.get("apiVersion")):
        return
    wanted = 1
    value: object = thing.get("spec")
    place = child(path, "spec")
    for field in ("virtualMachineTemplate", "spec", "template", "spec"):
        if isinstance(value, Mapping) and field in value:
            wanted *= count(value, "replicas", place)
            value, place = value[field], child(place, field)
    if isinstance(value, Mapping) and isinstance(value.get("domain"), Mapping):
        yield _template(value, place, kind, wanted)


def _template(spec: Fields, place: str, kind: str, wanted: int) -> Template:
    guest = _guest(spec["domain"])
    requests, limits = _resources(spec["domain"], guest)
    pod_spec = {
        "containers": [{"name": "compute", "resources": {"requests": requests, "limits": limits}}],
        **{field: spec[field] for field in PLACING_FIELDS if spec.get(field) is not None},
    }
    said = [f"the memory includes an overhead of about {_bytes(guest.overhead)}"]
    if guest.networks:
        said.append(f"skipped SR-IOV interfaces ({', '.join(guest.networks)}): only the cluster has their names")
    if spec.get("instancetype") or not guest.memory:
        said.append("its size is not in the file" if not guest.memory else "its instance type may add to it")
    return Template(
        path=place,
        manifest={"spec": pod_spec},
        wanted=wanted,
        places=(
            *(Place(f"spec.{field}", child(place, field)) for field in PLACING_FIELDS),
            Place("", f"{place}.domain", exact=False),
        ),
        approximation=f"{kind}: tested as KubeVirt's virt-launcher pod; {'; '.join(said)}",
    )


class _Guest(NamedTuple):
    """What decides about the pod of a guest."""

    cpus: int
    dedicated: bool
    extra: int
    """CPUs beside the virtual ones: for the emulator, for I/O threads."""
    memory: int
    """Bytes of the guest."""
    page: str
    """Page size (`1Gi`) where the guest's memory is huge pages."""
    devices: tuple[str, ...]
    """Resources of passed-through devices, one each."""
    networks: tuple[str, ...]
    """Names of SR-IOV interfaces, whose resources are named elsewhere."""
    overhead: int


def _guest(domain: Fields) -> _Guest:
    cpu, memory, parts = (mapping(domain, name) for name in ("cpu", "memory", "devices"))
    asked = {**mapping(domain, "resources", "limits"), **mapping(domain, "resources", "requests")}
    cpus = _virtual_cpus(cpu, asked)
    size = _whole(memory.get("guest")) or _whole(asked.get("memory"))
    devices = tuple(
        one["deviceName"]
        for kind in ("gpus", "hostDevices")
        for one in elements(parts, kind)
        if isinstance(one.get("deviceName"), str)
    )
    networks = tuple(str(one.get("name")) for one in elements(parts, "interfaces") if "sriov" in one)
    pool = inside(domain, "ioThreads", "supplementalPoolThreadCount")
    extra = int(cpu.get("isolateEmulatorThread") is True) + (pool if type(pool) is int else 0)
    overhead = size // 512 + _OWN_PROCESSES + _EACH_THREAD * (cpus + 1)
    overhead += 0 if parts.get("autoattachGraphicsDevice") is False else _GRAPHICS
    overhead += _PASSED_THROUGH if devices or networks else 0
    return _Guest(
        cpus=cpus,
        dedicated=cpu.get("dedicatedCpuPlacement") is True,
        extra=extra,
        memory=size,
        page=str(inside(memory, "hugepages", "pageSize") or ""),
        devices=devices,
        networks=networks,
        overhead=overhead,
    )


def _virtual_cpus(cpu: Fields, asked: Fields) -> int:
    shape = [cpu.get(field) for field in ("sockets", "cores", "threads")]
    if any(shape):
        return prod(number if type(number) is int and number > 0 else 1 for number in shape)
    return max(1, _whole(asked.get("cpu")))


def _resources(domain: Fields, guest: _Guest) -> tuple[dict[str, object], dict[str, object]]:
    """Requests and limits of the container that runs the guest."""
    given_requests, given_limits = (mapping(domain, "resources", which) for which in ("requests", "limits"))
    memory = guest.overhead if guest.page else max(guest.memory, _whole(given_requests.get("memory"))) + guest.overhead
    requests: dict[str, object] = {"memory": _bytes(memory)}
    limits: dict[str, object] = {}
    if guest.page:
        limits[hugepages(guest.page)] = _bytes(guest.memory)
    for device in guest.devices:
        limits[device] = guest.devices.count(device)
    requests.update(limits)
    if guest.dedicated:
        requests["cpu"] = limits["cpu"] = guest.cpus + guest.extra
        limits["memory"] = requests["memory"]
        return requests, limits
    requests["cpu"] = given_requests.get("cpu", f"{guest.cpus * 1000 // _OVERCOMMIT}m")
    if given_limits.get("cpu") is not None:
        limits["cpu"] = given_limits["cpu"]
    if given_limits.get("memory") is not None:
        limits["memory"] = _bytes(_whole(given_limits["memory"]) + guest.overhead)
    return requests, limits


def _whole(written: object) -> int:
    """Read an amount in whole units; what is no amount counts as none."""
    try:
        return 0 if written is None else max(0, amount(written).nano // NANO)
    except (QuantityError, TypeError, ValueError):
        return 0


def _bytes(number: int) -> str:
    return canonical(from_int(number - number % MEBI or number, "BinarySI"))
