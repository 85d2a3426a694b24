"""What numalign promises to programs: the JSON shapes of hints, allocations and decisions (plain data, no text)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numalign.analysis.alignment import alignment
from numalign.errors import Notice
from numalign.kubelet import device, memory
from numalign.kubelet.admission import Outcome
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.demand import PodDemand
from numalign.kubelet.node import AdmitResult, Node, NodeState
from numalign.kubelet.topology.hints import TopologyHint
from numalign.model.cpuset import format_set, ids


def hint_json(hint: TopologyHint) -> dict[str, Any]:
    """Write a hint: its node ids ascending (None: no mask) and whether it is preferred."""
    nodes = None if hint.numa_affinity is None else list(ids(hint.numa_affinity))
    return {"numaNodes": nodes, "preferred": hint.preferred}


def allocation_json(node: Node, state: NodeState, uid: str, container: str) -> dict[str, Any]:
    """Write what one container holds: exclusive CPUs, memory blocks, devices."""
    cpus = state.cpu.assigned(uid, container)
    blocks = state.memory.blocks(uid, container)
    devices = {}
    for name, members in sorted(state.device.holdings.get(uid, {}).get(container, {}).items()):
        resource = node.device.resources[name]
        devices[name] = {
            "ids": sorted(device.device_ids(resource, members)),
            "perNuma": {str(numa): count for numa, count in device.per_numa(resource, members).items()},
        }
    return {
        "cpus": None if cpus is None else format_set(cpus),
        "memory": [{"numaNodes": list(ids(block.mask)), "type": block.type, "bytes": block.size} for block in blocks]
        if blocks
        else None,
        "devices": devices,
    }


def shared_pool(node: Node, state: NodeState) -> str | None:
    """Write the shared pool; None with CPU manager `none`."""
    return format_set(state.cpu.default) if node.cpu.static else None


def step_json(node: Node, state: NodeState, pod: PodDemand, qos: str, result: AdmitResult) -> dict[str, Any]:
    """Write one admission of a replay in the shape of the recorded decisions."""
    if result.stage == "panic":
        return {"panic": result.message}
    answer: dict[str, Any] = {"admit": result.admit, "qos": qos}
    if result.admit:
        answer["containers"] = {
            container.name: {
                "hint": hint_json(result.hints[container.name]),
                **allocation_json(node, state, pod.uid, container.name),
            }
            for container in pod.containers
        }
    else:
        answer["reason"] = result.reason
        answer["message"] = result.message
    answer["sharedPool"] = shared_pool(node, state)
    return answer


def admit_json(node: Node, base: str, outcomes: Sequence[Outcome], notices: Sequence[Notice]) -> dict[str, Any]:
    """Write the result of `admit` for programs (product contract: keys are only ever added)."""
    return {
        "apiVersion": "numalign/v1",
        "kind": "AdmitResult",
        "machine": node.machine.name,
        "base": base,
        "kubelet": settings_json(node.config),
        "pods": [pod_json(node, outcome) for outcome in outcomes],
        "warnings": [notice._asdict() for notice in notices],
    }


def pod_json(node: Node, outcome: Outcome) -> dict[str, Any]:
    """Write one pod of an `AdmitResult`; a refused pod has no containers."""
    return {
        "name": outcome.pod.name,
        "namespace": outcome.pod.namespace,
        "admit": outcome.admit,
        "qos": outcome.pod.qos,
        "stage": outcome.stage,
        "reason": outcome.reason,
        "message": outcome.message,
        "containers": [
            {
                "name": container.name,
                "kind": container.kind,
                "hint": hint_json(outcome.result.hints[container.name]),
                **allocation_json(node, outcome.after, outcome.demand.uid, container.name),
                "aligned": alignment(node, outcome.after, outcome.demand.uid, container).aligned,
            }
            for container in outcome.demand.containers
            if outcome.admit
        ],
        "sharedPool": shared_pool(node, outcome.then.state),
    }


def settings_json(config: KubeletConfig) -> dict[str, Any]:
    """Write the settings in force under KubeletConfiguration's own names."""
    return {
        "topologyManagerPolicy": config.topology_manager_policy,
        "topologyManagerScope": config.topology_manager_scope,
        "topologyManagerPolicyOptions": dict(config.topology_manager_policy_options or {}),
        "cpuManagerPolicy": config.cpu_manager_policy,
        "cpuManagerPolicyOptions": dict(config.cpu_manager_policy_options or {}),
        "reservedSystemCPUs": config.reserved_system_cpus,
        "memoryManagerPolicy": config.memory_manager_policy,
        "reservedMemory": [
            {"numaNode": element.numa_node, "limits": dict(element.limits)} for element in config.reserved_memory
        ],
        "kubeReserved": dict(config.kube_reserved),
        "systemReserved": dict(config.system_reserved),
        "evictionHard": None if config.eviction_hard is None else dict(config.eviction_hard),
        "featureGates": dict(config.feature_gates),
    }


def final_state_json(node: Node, state: NodeState, names: dict[str, str]) -> dict[str, Any]:
    """Write what all pods hold in the end; `names` maps pod UIDs to names."""
    return {
        "memory": memory.machine_state(node.memory, state.memory),
        "pods": {
            names[uid]: {
                container.name: allocation_json(node, state, uid, container.name) for container in pod.containers
            }
            for uid, pod in state.pods.items()
        },
        "sharedPool": shared_pool(node, state),
    }
