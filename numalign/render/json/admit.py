"""What numalign promises to programs: the JSON shapes of hints, allocations and decisions (plain data, no text)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from numalign.kubelet.config import FIELD_NAMES, KubeletConfig
from numalign.kubelet.releases.release import version_text
from numalign.model.cpuset import format_set, ids
from numalign.render.json import Data, closeness_json, head, warnings

if TYPE_CHECKING:
    from numalign.analysis.holding import Holding
    from numalign.analysis.placed import Nearby
    from numalign.errors import Notice
    from numalign.kubelet.memory.state import Block
    from numalign.kubelet.setup import Setup
    from numalign.kubelet.topology.hints import TopologyHint
    from numalign.model.pod import QoS
    from numalign.results.admit import AdmitResult, ContainerResult, Gang, PodResult, Together
    from numalign.results.dra import NodeClaims


def hint_json(hint: TopologyHint) -> Data:
    """Write a hint: its node ids ascending (None: no mask) and whether it is preferred."""
    nodes = None if hint.numa_affinity is None else list(ids(hint.numa_affinity))
    return {"numaNodes": nodes, "preferred": hint.preferred}


def holding_json(holding: Holding) -> Data:
    """Write what one container holds: exclusive CPUs, memory blocks, devices."""
    cpus, devices, memory, _ = holding
    return {
        "cpus": cpus_json(cpus),
        "memory": blocks_json(memory) if memory else None,
        "devices": {
            held.resource: {
                "ids": sorted(held.ids),
                "perNuma": {str(numa): count for numa, count in held.per_numa.items()},
            }
            for held in devices
        }
        if devices
        else {},
    }


def blocks_json(blocks: Iterable[Block]) -> list[Data]:
    """Write blocks of memory."""
    return [{"numaNodes": list(ids(mask)), "type": resource, "bytes": size} for mask, resource, size in blocks]


SETTINGS: Final = KubeletConfig._fields[: KubeletConfig._fields.index("feature_gates") + 1]
"""Fields that decide over pods."""
_REMEMBERED: Final = lru_cache(maxsize=1024)(format_set)
"""Of the sets that recorded scenarios have, four of five were written a moment before."""


def cpus_json(cpus: int | None) -> str | None:
    """Write a set of CPUs as a Linux list; None stays None."""
    return None if cpus is None else _REMEMBERED(cpus)


def admit_json(result: AdmitResult, notices: Sequence[Notice]) -> Data:
    """Write the result of `admit` for programs (product contract: keys are only ever added)."""
    return {
        **head("AdmitResult"),
        **setup_json(result.setup),
        "pods": [pod_json(pod) for pod in result.pods],
        **({"gangs": [_gang_json(gang) for gang in result.gangs]} if result.gangs else {}),
        **together_json(result.together),
        **claims_of(result.claims),
        "warnings": warnings(notices),
    }


def _gang_json(gang: Gang) -> Data:
    return {
        "kind": gang.kind,
        "name": gang.name,
        "wanted": gang.wanted,
        "admitted": gang.admitted,
        "roles": [{"role": role, "admitted": admitted, "wanted": wanted} for role, admitted, wanted in gang.roles],
    }


def together_json(every: Sequence[Together]) -> dict[str, object]:
    """Write how close the devices of pods are that belong together, as the key `together`; nothing if none do."""
    listed = [
        {"kind": one.kind, "name": one.name, "pods": list(one.pods), "closeness": closeness_json(one.pairs)}
        for one in every
    ]
    return {"together": listed} if listed else {}


def claims_of(claims: NodeClaims | None) -> dict[str, object]:
    """Write what pods hold by claim, as the key `claims`; nothing if that was not asked."""
    if claims is None:
        return {}
    from numalign.render.json.dra import claims_json

    return {"claims": claims_json(claims)}


def pod_json(pod: PodResult) -> Data:
    """Write one pod of an `AdmitResult`; a refused pod has no containers."""
    return {
        "name": pod.name,
        "namespace": pod.namespace,
        "admit": pod.admitted,
        "qos": pod.qos,
        "stage": pod.stage,
        "reason": pod.reason,
        "message": pod.message,
        "containers": [
            {
                "name": container.name,
                "kind": container.kind,
                "hint": hint_json(container.hint),
                **holding_json(container.holding),
                "aligned": container.aligned,
                "alignment": alignment_json(container, pod.qos),
                **({"closeness": closeness_json(container.neighbours)} if container.neighbours else {}),
            }
            for container in pod.containers
        ],
        "verdict": pod.verdict if pod.admitted else None,
        "missing": list(pod.missing),
        "sharedPool": cpus_json(pod.shared_pool),
    }


def alignment_json(container: ContainerResult, qos: QoS) -> Data:
    """Write the verdict on a container and what it rests on; amounts are bytes."""
    judged, reason = container.alignment, None
    if judged.verdict not in ("aligned", "none"):
        from numalign.render.text.alignment import reason_of

        reason = reason_of(container, qos)
    return {
        "verdict": judged.verdict,
        "reason": reason,
        "numaNodes": list(ids(judged.nodes)),
        "leastNodes": judged.least,
        "floating": list(judged.floating),
        "remote": [
            {"resource": part.resource, "ids": list(part.ids), "numaNodes": list(ids(part.nodes))}
            for part in judged.remote
        ],
        "unknown": [{"resource": part.resource, "ids": list(part.ids)} for part in judged.unknown],
        "missing": list(judged.missing),
        **({"nearby": list(map(_nearby_json, judged.nearby))} if judged.nearby else {}),
    }


def _nearby_json(part: Nearby) -> Data:
    return {
        "resource": part.resource,
        "ids": list(part.ids),
        "numaNodes": list(ids(part.nodes)),
        "withoutCPUs": list(ids(part.without_cpus)),
        "nearest": list(ids(part.nearest)),
    }


def setup_json(setup: Setup) -> Data:
    """Write which kubelet decided, and on which machine."""
    return {
        "machine": setup.machine.name,
        "base": setup.base,
        "kubeletVersion": version_text(setup.kubelet.version),
        "kubelet": settings_json(setup.config),
    }


def settings_json(config: KubeletConfig) -> Data:
    """Write the settings in force under KubeletConfiguration's own names."""
    settings = {FIELD_NAMES[field]: plain_setting(getattr(config, field)) for field in SETTINGS}
    options = ("topologyManagerPolicyOptions", "cpuManagerPolicyOptions")
    return settings | {name: settings[name] or {} for name in options}


def plain_setting(value: object) -> object:
    """Turn a setting into plain data."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, tuple):
        return [{"numaNode": element.numa_node, "limits": dict(element.limits)} for element in value]
    return value
