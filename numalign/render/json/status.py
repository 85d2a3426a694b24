"""What `status` says to programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numalign.kubelet.releases.release import version_text
from numalign.model.cpuset import format_set, ids
from numalign.render.json import Data, head, warnings
from numalign.render.json.admit import holding_json, settings_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numalign.analysis.node.finding import NodeFinding
    from numalign.analysis.node.room import Room
    from numalign.results.status import PodStatus, StatusResult


def status_json(result: StatusResult) -> Data:
    """Write the answer of `status` (product contract: keys are only ever added)."""
    return {
        **head("StatusResult"),
        "machine": result.setup.machine.name,
        "source": result.origin,
        "base": result.setup.base,
        "kubelet": settings_json(result.setup.config),
        "kubeletVersion": version_text(result.setup.kubelet.version),
        "sharedPool": format_set(result.shared_pool) if result.exclusive_cpus else None,
        "reservedCPUs": format_set(result.reserved_cpus),
        "pods": [_pod(pod) for pod in result.pods],
        "otherPods": result.others,
        "numaNodes": [_room(room) for room in result.rooms],
        "largestAlignedPod": dict(result.largest),
        "starts": result.starts,
        "startError": result.start_error or None,
        "remedy": result.remedy or None,
        "findings": findings_json(result.findings),
        "unknown": list(result.unknown),
        "warnings": warnings(result.notices),
    }


def findings_json(findings: Iterable[NodeFinding]) -> list[Data]:
    """Write findings about a node."""
    return [one._asdict() for one in findings]


def _pod(pod: PodStatus) -> Data:
    return {
        "name": pod.name,
        "namespace": pod.namespace,
        "uid": pod.uid,
        "active": pod.active,
        "containers": [
            {
                "name": one.name,
                **holding_json(one.holding),
                "numaNodes": list(ids(one.alignment.nodes)),
                "aligned": one.alignment.aligned,
                "verdict": one.alignment.verdict,
            }
            for one in pod.containers
        ],
        "claims": [one._asdict() for one in pod.claims],
    }


def _room(room: Room) -> Data:
    return {
        "id": room.node,
        "cpus": format_set(room.total_cpus),
        "freeCPUs": format_set(room.cpus),
        "reservedCPUs": format_set(room.reserved),
        "memory": {name: {"free": free, "allocatable": every} for name, (free, every) in room.memory.items()},
        "devices": {name: {"free": free, "healthy": every} for name, (free, every) in room.devices.items()},
        "largestAlignedPodCPUs": room.largest,
    }
