"""Volcano's Numatopology objects (docs/rules/podresources.md 10, 31, 32)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from numalign.model import cpuset
from numalign.model.resources import CPU
from numalign.sources.cluster.topology import CPURead, CPUTopologyRead
from numalign.sources.text import fields
from numalign.sources.text.fields import MAX_CPU, MAX_NODE_ID, FieldError, Path

GROUP: Final = "nodeinfo.volcano.sh"
KIND: Final = "Numatopology"
_POLICIES: Final = {"CPUManagerPolicy": "cpuManagerPolicy", "TopologyManagerPolicy": "topologyManagerPolicy"}


def is_numatopology(thing: Mapping[str, object]) -> bool:
    """Tell whether something is an object of this kind."""
    return thing.get("kind") == KIND and str(thing.get("apiVersion")).partition("/")[0] == GROUP


def read(thing: Mapping[str, object], path: Path = ()) -> CPUTopologyRead:
    """Read one object.

    Raises:
        FieldError: it has no name, or no CPU with an id.
    """
    metadata = fields.mapping(thing.get("metadata") or {}, (*path, "metadata"))
    spec = fields.mapping(thing.get("spec") or {}, (*path, "spec"))
    detail = fields.mapping(spec.get("cpuDetail"), (*path, "spec", "cpuDetail"), "CPU ids with numa, socket and core")
    cpus = tuple(_cpu(key, one, (*path, "spec", "cpuDetail", key)) for key, one in detail.items())
    if not cpus:
        raise FieldError((*path, "spec", "cpuDetail"), "expected at least one CPU")
    left_out = ["Volcano does not say memory, devices, distances and the scope"]
    settings = _settings(spec, left_out)
    everything = sum(1 << one.cpu for one in cpus)
    taken = _taken(spec, everything, left_out)
    if spec.get("gpuDetail"):
        left_out.append("gpuDetail does not name a resource: its GPUs are left out")
    return CPUTopologyRead(
        fields.text(metadata.get("name"), (*path, "metadata", "name"), "the node's name"),
        tuple(sorted(cpus)),
        settings,
        taken,
        tuple(left_out),
    )


def _cpu(key: str, written: object, path: Path) -> CPURead:
    """Read one CPU; zero values are left out, so that CPU 0 may be `{}`."""
    if not key.isascii() or not key.isdigit() or int(key[:9]) > MAX_CPU:
        raise FieldError(path, "expected a CPU id")
    one = fields.mapping(written or {}, path)
    numbers = {
        name: fields.integer(one.get(name) or 0, (*path, name), 0, MAX_NODE_ID) for name in ("core", "socket", "numa")
    }
    return CPURead(int(key), **numbers)


def _settings(spec: Mapping[str, object], left_out: list[str]) -> dict[str, object]:
    settings: dict[str, object] = {}
    policies = spec.get("policies")
    for name, field in _POLICIES.items():
        value = policies.get(name) if isinstance(policies, Mapping) else None
        if isinstance(value, str) and value:
            settings[field] = value
        else:
            left_out.append(f"policies.{name} is not a text: {field} is left at its default")
    reserved = spec.get("resReserved")
    cpu = reserved.get("cpu") if isinstance(reserved, Mapping) else None
    if cpu is not None:
        settings["systemReserved"] = {"cpu": str(cpu)}
    return settings


def _taken(spec: Mapping[str, object], everything: int, left_out: list[str]) -> int:
    """Work out which CPUs are not free: those that are not among the free ones, and those of pods."""
    allocated = _allocated(spec, left_out)
    if allocated & ~everything:
        outside = cpuset.format_set(allocated & ~everything)
        left_out.append(f"podAllocations: CPUs {outside} are not in cpuDetail")
    return _not_free(spec, everything, left_out, known=bool(allocated)) | allocated & everything


def _allocated(spec: Mapping[str, object], left_out: list[str]) -> int:
    """Add up the CPUs of pods; what else they hold is said without NUMA nodes."""
    held, others = 0, set()
    for name, written in _allocations(spec.get("podAllocations")):
        if name != CPU:
            others.add(str(name))
            continue
        try:
            held |= cpuset.parse(written) if isinstance(written, str) else 0
        except cpuset.CPUSetError:
            left_out.append(f"podAllocations: {fields.shown(written)} is no CPU list")
    if others:
        left_out.append(f"podAllocations says no NUMA node of {', '.join(sorted(others))}: left out")
    return held


def _allocations(pods: object) -> Iterator[tuple[str, object]]:
    """Yield (resource, what is held) of all containers; what has another shape is passed over (32)."""
    for pod in pods if isinstance(pods, list) else ():
        containers = pod.get("containerAllocations") if isinstance(pod, Mapping) else None
        for container in containers if isinstance(containers, list) else ():
            held = container.get("allocations") if isinstance(container, Mapping) else None
            yield from held.items() if isinstance(held, Mapping) else ()


def _not_free(spec: Mapping[str, object], everything: int, left_out: list[str], *, known: bool) -> int:
    """Take what `numares.cpu.allocatable` does not list as free; `known`: pods say what they hold."""
    said = "those that no pod holds count as free" if known else "all CPUs count as free"
    resources = spec.get("numares")
    cpu = resources.get("cpu") if isinstance(resources, Mapping) else None
    free = cpu.get("allocatable") if isinstance(cpu, Mapping) else None
    if not isinstance(free, str):
        left_out.append(f"numares.cpu.allocatable is no CPU list: {said}")
        return 0
    try:
        return everything & ~cpuset.parse(free)
    except cpuset.CPUSetError:
        left_out.append(f"numares.cpu.allocatable: {fields.shown(free)} is no CPU list: {said}")
        return 0
