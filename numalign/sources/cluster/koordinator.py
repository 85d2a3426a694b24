"""Koordinator's annotations on NodeResourceTopology objects (docs/rules/podresources.md 10, 31, 32)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from numalign.model import cpuset
from numalign.sources.cluster.topology import CPURead, CPUTopologyRead
from numalign.sources.text import fields
from numalign.sources.text.fields import MAX_CPU, MAX_NODE_ID, FieldError, Path

TOPOLOGY: Final = "node.koordinator.sh/cpu-topology"
ALLOCATIONS: Final = "node.koordinator.sh/pod-cpu-allocs"
POLICY: Final = "kubelet.koordinator.sh/cpu-manager-policy"


def read(thing: Mapping[str, object], path: Path = ()) -> CPUTopologyRead | None:
    """Read the annotations of an object; None: it has no CPU topology among them.

    Raises:
        FieldError: the CPU topology cannot be read.
    """
    metadata = fields.mapping(thing.get("metadata") or {}, (*path, "metadata"))
    annotations = fields.mapping(metadata.get("annotations") or {}, (*path, "metadata", "annotations"))
    if TOPOLOGY not in annotations:
        return None
    here = (*path, "metadata", "annotations", TOPOLOGY)
    detail = fields.mapping(_decoded(annotations[TOPOLOGY], here), here).get("detail")
    cpus = [
        _cpu(fields.mapping(one, (*here, "detail", place)), (*here, "detail", place))
        for place, one in enumerate(fields.sequence(detail, (*here, "detail"), "a list of CPUs"))
    ]
    left_out = ["Koordinator's CPU topology does not say memory and distances"]
    everything = sum(1 << cpu for cpu in {one.cpu for one in cpus})
    return CPUTopologyRead(
        fields.text(metadata.get("name"), (*path, "metadata", "name"), "the node's name"),
        tuple(sorted(cpus)),
        _settings(annotations, left_out),
        _taken(annotations, everything, left_out),
        tuple(left_out),
    )


def _decoded(text: object, path: Path) -> object:
    try:
        found: object = json.loads(text if isinstance(text, str) else "")
    except (ValueError, RecursionError):
        raise FieldError(path, "expected JSON") from None
    return found


def _cpu(one: Mapping[str, object], path: Path) -> CPURead:
    cpu = fields.integer(one.get("id"), (*path, "id"), 0, MAX_CPU, "a CPU id")
    core, socket, numa = (
        fields.integer(one.get(key) or 0, (*path, key), 0, MAX_NODE_ID) for key in ("core", "socket", "node")
    )
    return CPURead(cpu, core, socket, numa)


def _settings(annotations: Mapping[str, object], left_out: list[str]) -> dict[str, object]:
    """Read the kubelet's CPU policy with its options and reserved CPUs."""
    try:
        policy = _decoded(annotations.get(POLICY) or "{}", (POLICY,))
    except FieldError:
        policy = None
    if not isinstance(policy, Mapping) or not isinstance(policy.get("policy"), str):
        left_out.append(f"{POLICY} does not say the policy: cpuManagerPolicy is left at its default")
        return {}
    settings: dict[str, object] = {"cpuManagerPolicy": policy["policy"]}
    options, reserved = policy.get("options"), policy.get("reservedCPUs")
    if isinstance(options, Mapping) and options:
        settings["cpuManagerPolicyOptions"] = {str(key): str(value) for key, value in options.items()}
    if isinstance(reserved, str) and reserved:
        settings["reservedSystemCPUs"] = reserved
    return settings


def _taken(annotations: Mapping[str, object], everything: int, left_out: list[str]) -> int:
    """Add up the CPUs of pinned pods that the machine has."""
    try:
        pods = _decoded(annotations.get(ALLOCATIONS) or "[]", (ALLOCATIONS,))
    except FieldError:
        pods = None
    if not isinstance(pods, list):
        left_out.append(f"{ALLOCATIONS} is no list: no CPU counts as taken")
        return 0
    taken = 0
    for one in pods:
        text = one.get("cpu") if isinstance(one, Mapping) else None
        try:
            taken |= cpuset.parse(text) if isinstance(text, str) else 0
        except cpuset.CPUSetError:
            left_out.append(f"{ALLOCATIONS}: {fields.shown(text)} is no CPU list")
    if taken & ~everything:
        outside = cpuset.format_set(taken & ~everything)
        left_out.append(f"{ALLOCATIONS}: CPUs {outside} are not in the CPU topology")
    return taken & everything
