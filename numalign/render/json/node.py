"""Configurations and nodes, for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numalign.kubelet.config import FIELD_NAMES, KubeletConfig
from numalign.kubelet.releases.release import version_text
from numalign.model.cpuset import format_set, ids
from numalign.render.json import Data, head, plain, warnings
from numalign.render.json.admit import holding_json, plain_setting, settings_json, setup_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numalign.analysis.config.reserve import MemorySum
    from numalign.analysis.config.suggest import Suggestion
    from numalign.analysis.node.finding import NodeFinding
    from numalign.analysis.node.restart import Restart
    from numalign.analysis.node.room import Room
    from numalign.errors import Notice
    from numalign.results.node import ConfigCheckResult, PodStatus, StatusResult


_DEFAULTS = KubeletConfig()


def check_json(result: ConfigCheckResult, notices: tuple[Notice, ...]) -> Data:
    """Write the answer of `config check` for programs."""
    setup, report, node = result
    memory = report.memory
    return {
        **head("ConfigCheckResult"),
        **setup_json(setup),
        "starts": report.starts,
        "unknown": [{"setting": name, "fix": fix} for name, fix in report.unknown.items()],
        "startError": report.steps[0].error if report.steps else None,
        "steps": [
            {
                "startError": step.error,
                "change": None
                if step.change is None
                else {
                    "field": FIELD_NAMES[step.change.field],
                    "value": plain_setting(step.change.value),
                    "why": step.change.why,
                    "also": {FIELD_NAMES[one.field]: plain_setting(one.value) for one in step.change.also},
                },
            }
            for step in report.steps
        ],
        "suggestion": changed(report.repaired) if report.repairable else None,
        "reservedCPUs": None if report.reserved_cpus is None else format_set(report.reserved_cpus),
        "memory": None if memory is None else _memory_json(memory),
        "findings": [{"code": one.code, "field": one.field, "message": one.message} for one in report.findings],
        "node": node
        and {
            "starts": node.starts,
            "startError": node.start_error or None,
            "remedy": node.remedy or None,
            "restart": restart_json(node.restart),
            "findings": findings_json(node.findings),
        },
        "warnings": warnings(notices),
    }


def _memory_json(memory: MemorySum) -> Data:
    return {
        "wanted": plain(memory.wanted),
        "wantedBytes": memory.total_wanted,
        "given": plain(memory.given),
        "givenBytes": memory.total_given,
        "hugePages": plain(memory.pages),
        "accepted": None if memory.accepted is None else plain_setting(memory.accepted),
    }


def changed(config: KubeletConfig) -> Data:
    """Write the settings that are not the kubelet's defaults, under KubeletConfiguration's names."""
    return {
        name: plain_setting(getattr(config, field))
        for field, name in FIELD_NAMES.items()
        if getattr(config, field) != getattr(_DEFAULTS, field)
    }


def suggestion_json(suggestion: Suggestion) -> Data:
    """Write a suggested configuration as KubeletConfiguration fields."""
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        **{
            name: plain_setting(getattr(suggestion.config, field))
            for field, name in FIELD_NAMES.items()
            if field in suggestion.reasons and getattr(suggestion.config, field) is not None
        },
    }


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
        "restart": restart_json(result.restart),
        "findings": findings_json(result.findings),
        "unknown": list(result.unknown),
        "warnings": warnings(result.notices),
    }


def restart_json(restart: Restart | None) -> Data | None:
    """Write what a restart does to the pods that run."""
    return restart and {
        "startError": restart.start_error or None,
        "pods": restart.pods,
        "order": restart.order,
        "rejected": [one._asdict() for one in restart.rejected],
        "moveFirst": list(restart.first),
        "reboot": {"memoryMayMove": restart.memory_may_move, "devicesAnew": list(restart.devices)},
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
