"""What Kubernetes 1.36 changed (docs/rules/kubelet-versions.md).

Device hints name only NUMA nodes that have such devices. A gate, off by default, pins pods with `spec.resources` as a
whole; extended resources may come from claims by default.
"""

from __future__ import annotations

from numalign.kubelet.device.provider import start as start_devices
from numalign.kubelet.pod_level import as_a_whole, skipped
from numalign.kubelet.reading import Gates, PodReading, Serve
from numalign.kubelet.releases.release import (
    Change,
    Gate,
    Kubelet,
    gate_gone,
    gate_locked,
    gate_switched_on,
    option_to_stable,
    with_gate,
    with_needs,
    with_reading,
)
from numalign.kubelet.topology.scope_pod_level import admit_by_container, admit_pod

SINCE = (1, 36)


def _hints_where_devices_are(kubelet: Kubelet) -> Kubelet:
    return kubelet._replace(device=kubelet.device._replace(start=start_devices))


def _skip_without_gate(reading: PodReading) -> PodReading:
    with_gate = reading.serve
    return reading._replace(serve=lambda gates: with_gate(gates) if gates("PodLevelResources") else skipped)


def _serve_with_gate(kubelet: Kubelet) -> Kubelet:
    without = kubelet.reading.serve

    def serve(gates: Gates) -> Serve:
        whole = gates("PodLevelResources") and gates("PodLevelResourceManagers")
        return as_a_whole if whole else without(gates)

    gate = with_gate("PodLevelResourceManagers", Gate(default=False, stage="alpha"))
    return gate(
        kubelet._replace(
            reading=kubelet.reading._replace(serve=serve),
            scopes={"container": admit_by_container, "pod": admit_pod},
        )
    )


CHANGES: tuple[Change, ...] = (
    option_to_stable(SINCE, "prefer-align-cpus-by-uncorecache", "cpu"),
    Change(
        topic="device hints",
        since=SINCE,
        older="name every NUMA node, whether it has devices of the resource or not",
        newer="name only nodes that have devices of the resource",
        concerns="policy best-effort, or requests for 0 devices, and devices on some NUMA nodes only",
        remedy="policy restricted or single-numa-node keeps the placement as it was",
        apply=_hints_where_devices_are,
    ),
    Change(
        topic="pinning with PodLevelResources off",
        since=SINCE,
        older="pods that carry pod-level resources are pinned by their containers' requests",
        newer="they are not pinned, as with the gate on",
        concerns="pods carry `spec.resources` where the gate is off",
        remedy="take spec.resources out of the pod: its containers are pinned then",
        apply=with_reading(_skip_without_gate),
    ),
    Change(
        topic="gate PodLevelResourceManagers",
        since=SINCE,
        older="unknown",
        newer="alpha, off; on, pods get CPUs and memory as a whole, and share them among their containers",
        concerns="you switch it on and pods carry `spec.resources`",
        apply=_serve_with_gate,
    ),
    Change(
        topic="gate DRAExtendedResource",
        since=SINCE,
        older="alpha, off",
        newer="on by default: devices of a ResourceClaim do not come from the plugin",
        concerns="claims provide extended resources",
        apply=with_gate("DRAExtendedResource", Gate(default=True, stage="beta")),
    ),
    Change(
        topic="gate InPlacePodLevelResourcesVerticalScaling",
        since=SINCE,
        older="alpha, off",
        newer="on by default: PodLevelResources cannot be switched off alone",
        concerns="your configuration sets PodLevelResources to false",
        apply=with_gate("InPlacePodLevelResourcesVerticalScaling", Gate(default=True, stage="beta")),
    ),
    Change(
        topic="gate NodeDeclaredFeatures",
        since=SINCE,
        older="alpha, off",
        newer="on by default",
        concerns="your configuration names the gate",
        apply=with_gate("NodeDeclaredFeatures", Gate(default=True, stage="beta")),
    ),
    Change(
        topic="feature gates that need others",
        since=SINCE,
        older="PodLevelResourceManagers is unknown, InPlacePodVerticalScalingExclusiveMemory needs MemoryManager",
        newer="PodLevelResourceManagers needs PodLevelResources; MemoryManager is needed no more",
        concerns="your configuration sets PodLevelResources to false",
        apply=with_needs(
            {
                "PodLevelResourceManagers": ("PodLevelResources",),
                "InPlacePodVerticalScalingExclusiveMemory": ("InPlacePodVerticalScaling",),
            }
        ),
    ),
    gate_gone(SINCE, "MemoryManager"),
    gate_locked(SINCE, "TopologyManagerPolicyOptions", "on, can be switched off"),
    gate_switched_on(SINCE, "ResourceHealthStatus", "nobody, as far as placement goes"),
    Change(
        topic="gate DisableCPUQuotaWithExclusiveCPUs",
        since=SINCE,
        older="beta, on",
        newer="deprecated, on",
        concerns="nobody, as far as placement goes",
        apply=with_gate("DisableCPUQuotaWithExclusiveCPUs", Gate(default=True, stage="deprecated")),
    ),
)
