"""What Kubernetes 1.34 changed (docs/rules/kubelet-versions.md).

Pods with resources of their own (`spec.resources`) are read by default, and pinned no more. An odd number of CPUs may
come from one uncore cache.
"""

from __future__ import annotations

from numalign.kubelet.cpu.provider import start as start_cpu
from numalign.kubelet.pod_level import as_containers, complete, skipped
from numalign.kubelet.reading import Gates, Serve
from numalign.kubelet.releases.release import (
    Change,
    Gate,
    Kubelet,
    gate_appears,
    gate_switched_on,
    option_to_beta,
    with_gate,
    with_reading,
)

SINCE = (1, 34)


def _exact_fit(kubelet: Kubelet) -> Kubelet:
    return kubelet._replace(cpu=kubelet.cpu._replace(start=start_cpu))


def _skip_with_gate(gates: Gates) -> Serve:
    return skipped if gates("PodLevelResources") else as_containers


CHANGES: tuple[Change, ...] = (
    option_to_beta(SINCE, "prefer-align-cpus-by-uncorecache", "cpu"),
    Change(
        topic="CPUs from an uncore cache",
        since=SINCE,
        older="a rest that is no multiple of a core is never taken from one cache",
        newer="a rest of any size is taken from the first cache whose cores give exactly that many CPUs",
        concerns="prefer-align-cpus-by-uncorecache is on and pods ask for odd numbers of CPUs",
        remedy="nothing: the CPUs lie in one cache now",
        apply=_exact_fit,
    ),
    Change(
        topic="gate PodLevelResources",
        since=SINCE,
        older="off unless asked for: pod-level resources are ignored",
        newer="on by default: pod-level resources decide the QoS class and what the node must have",
        concerns="pods carry `spec.resources`",
        remedy="take spec.resources out of the pod, or give it limits that make it Guaranteed as before",
        apply=with_gate("PodLevelResources", Gate(default=True, stage="beta")),
    ),
    Change(
        topic="pinning of pods with pod-level resources",
        since=SINCE,
        older="by their containers' requests",
        newer="none: no exclusive CPUs and no pinned memory, and the pod is admitted without a word",
        concerns="Guaranteed pods carry `spec.resources`",
        remedy="take spec.resources out of the pod: its containers are pinned then",
        apply=with_reading(lambda reading: reading._replace(serve=_skip_with_gate)),
    ),
    Change(
        topic="pod-level huge pages requested",
        since=SINCE,
        older="containers' limits are filled in, whatever the pod requests",
        newer="not where the pod-level requests name that page size",
        concerns="pods request huge pages in `spec.resources`",
        apply=with_reading(lambda reading: reading._replace(complete=complete)),
    ),
    gate_switched_on(
        SINCE, "DynamicResourceAllocation", "you use claims; placement by plugins stays the same", stage="GA"
    ),
    gate_appears(SINCE, "DRAExtendedResource"),
    gate_appears(SINCE, "InPlacePodVerticalScalingExclusiveMemory"),
)
