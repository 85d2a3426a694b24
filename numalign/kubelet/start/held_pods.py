"""Pods of which only their holdings are known: what they must have asked for, at the least."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from numalign.kubelet.node import NodeState
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.pod import Pod, PodStatus

_OF_A_FILE = re.compile(r"[0-9a-f]{32}")
"""The UID of a static pod, which the kubelet makes of its file; the API server's have dashes (60)."""


def held_pod(
    state: NodeState,
    uid: str,
    name: str,
    namespace: str,
    granted: Mapping[str, Mapping[str, Mapping[str, str]]] | None = None,
    listed: Collection[str] | None = None,
) -> Pod:
    """Describe a pod by what it was granted, else by what it holds: whole CPUs, pinned memory, devices.

    What a container that was granted nothing asks of the shared pool is in no file, so it may ask for more.

    Args:
        state: who holds what.
        uid: the pod.
        name: its name, or its UID.
        namespace: its namespace; empty: not known.
        granted: container -> `requests` and `limits` that the kubelet agreed to; plain init containers are in it from
            1.36 on (23a).
        listed: the pod's containers that are no plain init containers, by name; None: not known.
    """
    cpus = state.cpu.assignments.get(uid, {})
    blocks = state.memory.entries.get(uid, {})
    devices = state.device.holdings.get(uid, {})
    agreed = granted or {}
    ended = {*cpus, *blocks, *devices} - set(agreed) if agreed else set[str]()
    ended |= _ended(cpus, blocks) if listed is None else {*agreed} - {*listed}
    before = _before(cpus, ended)
    kinds: dict[str, list[dict[str, object]]] = {"containers": [], "initContainers": []}
    for container in sorted({*cpus, *blocks, *devices, *agreed}) or ["unknown"]:
        kind = "initContainers" if container in ended else "containers"
        if container in agreed:
            kinds[kind].append({"name": container, "resources": agreed[container]})
            if container in before:
                kinds["initContainers"].insert(0, {**kinds[kind].pop(), "restartPolicy": "Always"})
            continue
        limits: dict[str, str] = {}
        if container in cpus:
            limits["cpu"] = str(cpus[container].bit_count())
        for block in blocks.get(container, ()):
            limits[block.type] = str(block.size)
        for resource, members in devices.get(container, {}).items():
            limits[resource] = str(members.bit_count())
        kinds[kind].append({"name": container, "resources": {"limits": limits}})
    # Reading looks no further than it must at a plain manifest; all else is known.
    pod = read_pod({"metadata": {"name": name, "uid": uid}, "spec": kinds})
    annotations = {"kubernetes.io/config.source": "file"} if _OF_A_FILE.fullmatch(uid) else {}
    pod = pod._replace(namespace=namespace or pod.namespace, annotations=annotations)
    return pod._replace(qos="Guaranteed", status=PodStatus(qos="Guaranteed")) if cpus or blocks else pod


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


def _before(cpus: Mapping[str, int], ended: Collection[str]) -> frozenset[str]:
    """Tell which containers must be sidecars that started before the init containers: they took none of their CPUs.

    What init containers leave is given to the containers behind them first, so one that stayed away while some of it
    is left came earlier, and the pod counts both together.
    """
    given = taken = 0
    for name, held in cpus.items():
        given, taken = (given | held, taken) if name in ended else (given, taken | held)
    if not given & ~taken:
        return frozenset()
    later = {name: held for name, held in cpus.items() if name not in ended}
    return frozenset(name for name, held in later.items() if not held & given)


def holders(state: NodeState) -> Mapping[str, None]:
    """List the pods that hold anything, by UID, each once."""
    return dict.fromkeys((*state.cpu.assignments, *state.memory.entries, *state.device.holdings))
