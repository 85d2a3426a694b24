"""What Kubernetes 1.33 changed (docs/rules/kubelet-versions.md).

Three options of the CPU Manager move up a stage. Pods are resized in place, so requests are read from a pod's status.
"""

from __future__ import annotations

from numalign.kubelet.pod_level import complete_in_1_33, names_a_resource
from numalign.kubelet.reading import requests_of_status
from numalign.kubelet.releases.release import (
    Change,
    Gate,
    Kubelet,
    gate_gone,
    gate_locked,
    gate_switched_on,
    option_to_beta,
    option_to_stable,
    with_gate,
    with_reading,
    with_settings,
)
from numalign.kubelet.topology.options import not_enabled

SINCE = (1, 33)


def _lower_case(kubelet: Kubelet) -> Kubelet:
    return kubelet._replace(option_not_enabled=not_enabled)


CHANGES: tuple[Change, ...] = (
    option_to_stable(SINCE, "full-pcpus-only", "cpu"),
    option_to_beta(SINCE, "distribute-cpus-across-numa", "cpu"),
    option_to_beta(SINCE, "strict-cpu-reservation", "cpu"),
    Change(
        topic="text for an option that is not enabled",
        since=SINCE,
        older="`Topology Manager Policy Beta-level Options not enabled, ...`",
        newer="`topology manager policy beta-level options not enabled, ...`",
        concerns="you look for the text in logs",
        apply=_lower_case,
    ),
    gate_locked(SINCE, "CPUManagerPolicyOptions", "beta, can be switched off"),
    gate_gone(SINCE, "CPUManager"),
    gate_locked(SINCE, "SidecarContainers", "beta, can be switched off"),
    Change(
        topic="gate DisableCPUQuotaWithExclusiveCPUs",
        since=SINCE,
        older="unknown",
        newer="on by default: containers with exclusive CPUs have no CPU quota",
        concerns="your containers have exclusive CPUs; placement stays the same",
        apply=with_gate("DisableCPUQuotaWithExclusiveCPUs", Gate(default=True, stage="beta")),
    ),
    gate_switched_on(SINCE, "InPlacePodVerticalScaling", "pods are resized in place, or the kubelet restarts"),
    Change(
        topic="requests of a pod with a status",
        since=SINCE,
        older="read from the spec; with InPlacePodVerticalScaling from `allocatedResources` of app containers",
        newer="read from `allocatedResources` of the status, where there is one",
        concerns="the kubelet restarts with resized pods",
        apply=with_reading(lambda reading: reading._replace(requests=requests_of_status)),
    ),
    Change(
        topic="pod-level huge pages",
        since=SINCE,
        older="pod-level resources are cpu and memory",
        newer="huge pages too; limits that only containers name are filled in",
        concerns="pods carry `spec.resources`, with the gate PodLevelResources on",
        apply=with_reading(lambda reading: reading._replace(complete=complete_in_1_33, is_pod_level=names_a_resource)),
    ),
    Change(
        topic="setting mergeDefaultEvictionSettings",
        since=SINCE,
        older="unknown, and ignored: `evictionHard` takes the place of all defaults",
        newer="true keeps the default thresholds that `evictionHard` lacks",
        concerns="your configuration sets it",
        apply=with_settings("mergeDefaultEvictionSettings"),
    ),
)
