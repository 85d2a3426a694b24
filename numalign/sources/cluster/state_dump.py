"""A cluster as the document of a state (`kind: ClusterState`): what every pod holds, so that nothing is replayed.

Machines with their settings, and shapes of pods, are there once each; nodes and pods refer to them by number. What pods
hold is written in the words of a node: CPU lists, device ids, bytes by NUMA node.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Final

from numalign.kubelet.admission import Session
from numalign.kubelet.device.state import device_ids
from numalign.kubelet.node import Node, NodeState, collect
from numalign.model.cpuset import format_set, ids
from numalign.model.document import write
from numalign.model.pod import Pod
from numalign.model.quantity import Quantity, canonical
from numalign.scheduler.config import ExporterConfig
from numalign.scheduler.kai.records import PlacedPod
from numalign.scheduler.node import ClusterNode, Fleet
from numalign.scheduler.nrt.value import manifest
from numalign.sources.cluster.objects import trimmed
from numalign.sources.cluster.settings import AMOUNTS, EXPORTER, SCHEDULER, TIMING
from numalign.sources.kubelet.fields import dump as dump_config
from numalign.sources.machine.dump import dump as dump_machine
from numalign.sources.node.state import status_of
from numalign.store.state_file import Kind

KIND: Final = Kind("ClusterState", 1)


def document(fleet: Fleet) -> dict[str, object]:
    """Write a cluster; `state.read` reads it back."""
    writing = _Writing()
    nodes = [writing.node(node) for node in fleet.nodes]
    return {
        "scheduler": write(SCHEDULER, fleet.scheduler),
        "seed": fleet.scheduler.seed,
        "timing": write(TIMING, fleet.timing),
        "kinds": writing.kinds,
        "shapes": writing.shapes,
        "nodes": nodes,
    }


class _Writing:
    """Collects machines and shapes, each once."""

    def __init__(self) -> None:
        self.kinds: list[dict[str, object]] = []
        self.shapes: list[dict[str, object]] = []
        self._known_kinds: dict[Hashable, int] = {}
        self._known_shapes: dict[Hashable, tuple[int, object]] = {}

    def node(self, node: ClusterNode) -> dict[str, object]:
        """Write one node."""
        pods = node.session.pods if node.session else ()
        result: dict[str, object] = {
            "name": node.name,
            "known": node.known,
            "allocatable": write(AMOUNTS, node.totals.allocatable),
            "pods": [
                [pod.namespace, pod.name, pod.uid, self._shape(pod), pod.created, *([pod.labels] if pod.labels else ())]
                for pod in pods
            ],
        }
        if node.totals.unjudged:
            result["unjudged"] = sorted(node.totals.unjudged)
        if node.labels:
            result["labels"] = dict(node.labels)
        if node.taints:
            result["taints"] = [list(taint) for taint in node.taints]
        if node.unschedulable:
            result["unschedulable"] = True
        if node.exporter != ExporterConfig():
            result["exporter"] = write(EXPORTER, node.exporter)
        if node.known != "exact" and node.nrt is not None:
            result["nrt"] = manifest(node.nrt)
        if node.placed:
            result["kaiPlacements"] = [_placed(pod) for pod in node.placed]
        if node.session is not None:
            result["kind"] = self._kind(node.session)
            result |= _held(node.session)
        else:  # its pods are not known one by one
            result["used"] = write(AMOUNTS, node.totals.used)
            result["bound"] = node.totals.pods
        return result

    def _kind(self, session: Session) -> int:
        machine = session.node.machine._replace(name="machine")
        key = id(session.node.cpu), id(session.node.memory), id(session.node.device)
        if key not in self._known_kinds:
            self._known_kinds[key] = len(self.kinds)
            self.kinds.append({"machine": dump_machine(machine), "kubelet": dump_config(session.node.config)})
        return self._known_kinds[key]

    def _shape(self, pod: Pod) -> int:
        key = id(pod.containers), pod.status.qos, id(pod.status) if pod.status.resizes else 0
        known = self._known_shapes.get(key)
        if known is None:  # the containers are kept, so that their id stays theirs
            known = self._known_shapes[key] = len(self.shapes), (pod.containers, pod.status)
            shape: dict[str, object] = {"spec": trimmed(pod.spec) if pod.spec else _spec(pod), "qos": pod.status.qos}
            self.shapes.append({**shape, "status": status_of(pod.status)} if pod.status.resizes else shape)
        return known[0]


def _placed(pod: PlacedPod) -> dict[str, object]:
    """Write KAI's records of a pod."""
    records = {"observed": pod.observed, "bindRequest": pod.bind_request, "predicted": pod.predicted}
    return {"status": pod.status} | {
        name: [{"zone": zone, "amount": write(AMOUNTS, amounts)} for zone, amounts in kept]
        for name, kept in records.items()
        if kept
    }


def _spec(pod: Pod) -> dict[str, object]:
    """Write the containers of a pod that came without a manifest."""
    containers: list[object] = []
    init: list[object] = []
    for one in pod.containers:
        resources = {"requests": _texts(one.requests), "limits": _texts(one.limits)}
        entry: dict[str, object] = {"name": one.name, "resources": resources}
        if one.kind == "sidecar":
            entry["restartPolicy"] = "Always"
        (containers if one.kind == "app" else init).append(entry)
    return {"containers": containers, "initContainers": init}


def _texts(quantities: Mapping[str, Quantity]) -> dict[str, str]:
    return {name: canonical(quantity) for name, quantity in quantities.items()}


def _held(session: Session) -> dict[str, object]:
    """Write what the pods of a node hold, by pod and container, and the tables of the Memory Manager."""
    node, state = session.node, collect(session.node, session.state)
    held = {
        uid: {
            container.name: entry
            for container in pod.containers
            if (entry := _held_by(node, state, uid, container.name))
        }
        for uid, pod in state.pods.items()
    }
    result: dict[str, object] = {"held": held}
    if node.memory.resources:
        memory = state.memory
        result["memory"] = {
            "counts": list(memory.counts),
            "groups": list(memory.groups),
            "free": [list(row) for row in memory.free],
            "reserved": [list(row) for row in memory.reserved],
        }
    return result


def _held_by(node: Node, state: NodeState, uid: str, container: str) -> dict[str, object]:
    """Write what one container holds; empty: nothing."""
    entry: dict[str, object] = {}
    cpus = state.cpu.assigned(uid, container)
    if cpus:
        entry["cpus"] = format_set(cpus)
    devices = state.device.holdings.get(uid, {}).get(container)
    if devices:
        entry["devices"] = {name: device_ids(node.device.resources[name], bits) for name, bits in devices.items()}
    blocks = state.memory.blocks(uid, container)
    if blocks:
        entry["memory"] = [[list(ids(block.mask)), block.type, block.size] for block in blocks]
    return entry
