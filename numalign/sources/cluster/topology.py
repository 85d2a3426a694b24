"""What Volcano and Koordinator publish of a node: every CPU with its core, socket and NUMA node.

Volcano has Numatopology objects, Koordinator annotations on NodeResourceTopology objects (docs/rules/podresources.md
10, 31, 32).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Final

from numalign.model import cpuset
from numalign.model.document import Form, as_dict, field, maybe, raw, record
from numalign.model.document import read as read_as
from numalign.model.document.values import MAX_CPU, MAX_NODE_ID, integer, list_of, map_of, text
from numalign.model.machine import Machine, NUMANode, Unit
from numalign.model.path import FieldError, Path, shown
from numalign.model.resources import CPU
from numalign.sources.text import elements, inside, mapping
from numalign.values import NamedTuple


class CPURead(NamedTuple):
    """One CPU."""

    cpu: int
    core: int
    socket: int
    numa: int


class CPUTopologyRead(NamedTuple):
    """The CPUs of a node, its settings and who holds what, as far as an object says (docs/rules/podresources.md 10)."""

    name: str
    cpus: tuple[CPURead, ...]
    settings: Mapping[str, object]
    """Fields of KubeletConfiguration under its own names."""
    taken: int
    """CPUs that pods hold exclusively, as a set."""
    left_out: tuple[str, ...]
    """What could not be read, or is not said; a sentence each."""


def machine_of(read: CPUTopologyRead) -> Machine:
    """Make the machine: exact for CPUs, without memory and distances.

    A core is the pair of its socket and its number, since numbers repeat on every socket (31).
    """
    nodes: dict[int, int] = {}
    sockets: dict[int, int] = {}
    cores: dict[tuple[int, int], int] = {}
    for cpu, core, socket, numa in read.cpus:
        bit = 1 << cpu
        nodes[numa] = nodes.get(numa, 0) | bit
        sockets[socket] = sockets.get(socket, 0) | bit
        cores[socket, core] = cores.get((socket, core), 0) | bit
    return Machine(
        read.name,
        tuple(NUMANode(number, cpus) for number, cpus in sorted(nodes.items())),
        tuple(Unit(number, cpus) for number, cpus in sorted(sockets.items())),
        tuple(sorted(cores.values(), key=lambda cpus: cpus & -cpus)),
    )


# Koordinator


TOPOLOGY: Final = "node.koordinator.sh/cpu-topology"
ALLOCATIONS: Final = "node.koordinator.sh/pod-cpu-allocs"
POLICY: Final = "kubelet.koordinator.sh/cpu-manager-policy"


def read_koordinator(thing: Mapping[str, object], path: Path = ()) -> CPUTopologyRead | None:
    """Read the annotations of an object; None: it has no CPU topology among them.

    Raises:
        FieldError: the CPU topology cannot be read.
    """
    metadata = read_as(raw, thing.get("metadata") or {}, (*path, "metadata"))
    annotations = read_as(raw, metadata.get("annotations") or {}, (*path, "metadata", "annotations"))
    if TOPOLOGY not in annotations:
        return None
    here = (*path, "metadata", "annotations", TOPOLOGY)
    detail = _decoded(annotations[TOPOLOGY])
    if detail is None:
        raise FieldError(here, "expected JSON")
    cpus = read_as(_DETAIL, detail, here)
    left_out = ["Koordinator's CPU topology has no memory and no distances"]
    everything = sum(1 << cpu for cpu in {one.cpu for one in cpus})
    return CPUTopologyRead(
        read_as(text("the node's name"), metadata.get("name"), (*path, "metadata", "name")),
        tuple(sorted(cpus)),
        _settings(annotations, left_out),
        _taken(annotations, everything, left_out),
        tuple(left_out),
    )


def _decoded(text: object) -> object:
    """Decode an annotation; None: it is no JSON."""
    found: object = None
    with suppress(ValueError, RecursionError):
        found = json.loads(text if isinstance(text, str) else "")
    return found


_ID: Final = integer(0, MAX_NODE_ID)
_CPU: Final = record(
    CPURead,
    field("id", integer(0, MAX_CPU, "a CPU id"), to="cpu"),
    maybe("core", _ID, 0),
    maybe("socket", _ID, 0),
    maybe("node", _ID, 0, to="numa"),
    others=True,
)
_DETAIL: Final = record(lambda *, detail: detail, field("detail", list_of(_CPU, "a list of CPUs")), others=True)


def _settings(annotations: Mapping[str, object], left_out: list[str]) -> dict[str, object]:
    """Read the kubelet's CPU policy with its options and reserved CPUs."""
    policy = mapping(_decoded(annotations.get(POLICY) or "{}"))
    if not isinstance(policy.get("policy"), str):
        left_out.append(f"{POLICY} has no policy: cpuManagerPolicy has its default")
        return {}
    settings: dict[str, object] = {"cpuManagerPolicy": policy["policy"]}
    options, reserved = mapping(policy, "options"), policy.get("reservedCPUs")
    if options:
        settings["cpuManagerPolicyOptions"] = {str(key): str(value) for key, value in options.items()}
    if isinstance(reserved, str) and reserved:
        settings["reservedSystemCPUs"] = reserved
    return settings


def _taken(annotations: Mapping[str, object], everything: int, left_out: list[str]) -> int:
    """Add up the CPUs of pinned pods that the machine has."""
    pods = _decoded(annotations.get(ALLOCATIONS) or "[]")
    if not isinstance(pods, list):
        left_out.append(f"{ALLOCATIONS} is not a list: all CPUs count as free")
        return 0
    return _held([inside(one, "cpu") for one in pods], everything, (ALLOCATIONS, "the CPU topology"), left_out)


def _held(written: Iterable[object], everything: int, names: tuple[str, str], left_out: list[str]) -> int:
    """Add up CPU lists of pods; what is none, or not on the machine, is said by the names of the two fields."""
    held = 0
    for one in written:
        try:
            held |= cpuset.parse(one) if isinstance(one, str) else 0
        except cpuset.CPUSetError:
            left_out.append(f"{names[0]}: {shown(one)} is not a CPU list")
    if held & ~everything:
        left_out.append(f"{names[0]}: CPUs {cpuset.format_set(held & ~everything)} are not in {names[1]}")
    return held & everything


# Volcano


GROUP: Final = "nodeinfo.volcano.sh"
KIND: Final = "Numatopology"
_POLICIES: Final = {"CPUManagerPolicy": "cpuManagerPolicy", "TopologyManagerPolicy": "topologyManagerPolicy"}


def read_numatopology(thing: Mapping[str, object], path: Path = ()) -> CPUTopologyRead:
    """Read one object.

    Raises:
        FieldError: it has no name, or no CPU with an id.
    """
    metadata = read_as(raw, thing.get("metadata") or {}, (*path, "metadata"))
    spec = read_as(raw, thing.get("spec") or {}, (*path, "spec"))
    detail = read_as(_VOLCANO_DETAIL, spec.get("cpuDetail"), (*path, "spec", "cpuDetail"))
    cpus = tuple(CPURead(int(key), **numbers) for key, numbers in detail.items())
    if not cpus:
        raise FieldError((*path, "spec", "cpuDetail"), "expected at least one CPU")
    left_out = ["Volcano publishes no memory, devices, distances and scope"]
    settings = _volcano_settings(spec, left_out)
    everything = sum(1 << one.cpu for one in cpus)
    taken = _volcano_taken(spec, everything, left_out)
    if spec.get("gpuDetail"):
        left_out.append("skipped the GPUs of gpuDetail: it names no resource")
    return CPUTopologyRead(
        read_as(text("the node's name"), metadata.get("name"), (*path, "metadata", "name")),
        tuple(sorted(cpus)),
        settings,
        taken,
        tuple(left_out),
    )


def _check_cpu(key: str) -> None:
    if not key.isascii() or not key.isdigit() or int(key[:9]) > MAX_CPU:
        raise FieldError((), "expected a CPU id")


_VOLCANO_CPU: Final = record(
    as_dict, maybe("core", _ID, 0), maybe("socket", _ID, 0), maybe("numa", _ID, 0), others=True
)
_VOLCANO_DETAIL: Final = map_of(  # zero values are left out, so that CPU 0 may be `{}`
    Form(lambda value: _VOLCANO_CPU.read(value or {}), dict, {}), "CPU ids with numa, socket and core", _check_cpu
)


def _volcano_settings(spec: Mapping[str, object], left_out: list[str]) -> dict[str, object]:
    settings: dict[str, object] = {}
    for name, ours in _POLICIES.items():
        value = inside(spec, "policies", name)
        if isinstance(value, str) and value:
            settings[ours] = value
        else:
            left_out.append(f"policies.{name} is not a text: {ours} has its default")
    cpu = inside(spec, "resReserved", "cpu")
    if cpu is not None:
        settings["systemReserved"] = {"cpu": str(cpu)}
    return settings


def _volcano_taken(spec: Mapping[str, object], everything: int, left_out: list[str]) -> int:
    """Work out which CPUs are not free: those that are not among the free ones, and those of pods."""
    allocated = list(_allocations(spec))
    others = sorted({str(name) for name, _ in allocated if name != CPU})
    if others:
        left_out.append(f"skipped {', '.join(others)}: podAllocations has no NUMA node for them")
    lists = [one for name, one in allocated if name == CPU]
    held = _held(lists, everything, ("podAllocations", "cpuDetail"), left_out)
    return _not_free(spec, everything, left_out, known=bool(held)) | held


def _allocations(spec: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield (resource, what is held) of all containers; what has another shape is passed over (32)."""
    for pod in elements(spec, "podAllocations"):
        for container in elements(pod, "containerAllocations"):
            yield from mapping(container, "allocations").items()


def _not_free(spec: Mapping[str, object], everything: int, left_out: list[str], *, known: bool) -> int:
    """Take what `numares.cpu.allocatable` does not list as free; `known`: pods say what they hold."""
    said = "CPUs that no pod holds count as free" if known else "all CPUs count as free"
    free = inside(spec, "numares", "cpu", "allocatable")
    if not isinstance(free, str):
        left_out.append(f"numares.cpu.allocatable is not a CPU list: {said}")
        return 0
    try:
        return everything & ~cpuset.parse(free)
    except cpuset.CPUSetError:
        left_out.append(f"numares.cpu.allocatable: {shown(free)} is not a CPU list: {said}")
        return 0
