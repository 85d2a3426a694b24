"""Pods of which only their holdings are known: what they must have asked for, at the least."""

from __future__ import annotations

from collections.abc import Mapping

from numalign.kubelet.node import NodeState
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.pod import Pod


def held_pod(
    state: NodeState,
    uid: str,
    name: str,
    namespace: str,
    granted: Mapping[str, Mapping[str, Mapping[str, str]]] | None = None,
) -> Pod:
    """Describe a pod by what it was granted, else by what it holds: whole CPUs, pinned memory, devices.

    What a container that was granted nothing asks of the shared pool is in no file, so it may ask for more.

    Args:
        state: who holds what.
        uid: the pod.
        name: its name, or its UID.
        namespace: its namespace; empty: not known.
        granted: container -> `requests` and `limits` that the kubelet agreed to; plain init containers are not in it.
    """
    cpus = state.cpu.assignments.get(uid, {})
    blocks = state.memory.entries.get(uid, {})
    devices = state.device.holdings.get(uid, {})
    agreed = granted or {}
    ended = {*cpus, *blocks, *devices} - set(agreed) if agreed else _ended(cpus, blocks)
    kinds: dict[str, list[dict[str, object]]] = {"containers": [], "initContainers": []}
    for container in sorted({*cpus, *blocks, *devices, *agreed}) or ["unknown"]:
        if container in agreed:
            kinds["containers"].append({"name": container, "resources": agreed[container]})
            continue
        limits: dict[str, str] = {}
        if container in cpus:
            limits["cpu"] = str(cpus[container].bit_count())
        for block in blocks.get(container, ()):
            limits[block.type] = str(block.size)
        for resource, members in devices.get(container, {}).items():
            limits[resource] = str(members.bit_count())
        kind = "initContainers" if container in ended else "containers"
        kinds[kind].append({"name": container, "resources": {"limits": limits}})
    manifest: dict[str, object] = {"metadata": {"name": name, "namespace": namespace, "uid": uid}, "spec": kinds}
    if cpus or blocks:
        manifest["status"] = {"qosClass": "Guaranteed"}
    return read_pod(manifest)


def _ended(cpus: Mapping[str, int], blocks: Mapping[str, object]) -> frozenset[str]:
    """Tell which containers must be init containers: others of the pod have some of the same CPUs.

    Of two the one without memory has ended; otherwise the smaller one, which is as many CPUs for the pod either way.
    """
    ended: set[str] = set()
    taken = 0
    for name in sorted(cpus, key=lambda one: (one not in blocks, -cpus[one].bit_count(), one)):
        if cpus[name] & taken:
            ended.add(name)
        taken |= cpus[name]
    return frozenset(ended)


def holders(state: NodeState) -> Mapping[str, None]:
    """List the pods that hold anything, by UID, each once."""
    return dict.fromkeys((*state.cpu.assignments, *state.memory.entries, *state.device.holdings))
