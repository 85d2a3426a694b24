"""What Kubernetes 1.33 changed (docs/rules/kubelet-versions.md)."""

from __future__ import annotations

from numalign.kubelet.pod_level import complete_in_1_33, names_a_resource
from numalign.kubelet.reading import requests_of_status
from numalign.kubelet.releases.release import (
    Change,
    Gate,
    Kubelet,
    with_gate,
    with_option,
    with_reading,
    with_settings,
    without_gate,
)
from numalign.kubelet.topology.options import not_enabled

SINCE = (1, 33)


def _lower_case(kubelet: Kubelet) -> Kubelet:
    return kubelet._replace(option_not_enabled=not_enabled)


CHANGES: tuple[Change, ...] = (
    Change(
        topic="option full-pcpus-only",
        since=SINCE,
        older="beta",
        newer="stable: it needs no feature gate",
        concerns="you set it and switch CPUManagerPolicyBetaOptions off",
        apply=with_option("full-pcpus-only", "cpu", "Stable"),
    ),
    Change(
        topic="option distribute-cpus-across-numa",
        since=SINCE,
        older="alpha: it needs CPUManagerPolicyAlphaOptions",
        newer="beta: on without a feature gate",
        concerns="you set it",
        apply=with_option("distribute-cpus-across-numa", "cpu", "Beta"),
    ),
    Change(
        topic="option strict-cpu-reservation",
        since=SINCE,
        older="alpha: it needs CPUManagerPolicyAlphaOptions",
        newer="beta: on without a feature gate",
        concerns="you set it",
        apply=with_option("strict-cpu-reservation", "cpu", "Beta"),
    ),
    Change(
        topic="text for an option that is not enabled",
        since=SINCE,
        older="`Topology Manager Policy Beta-level Options not enabled, ...`",
        newer="`topology manager policy beta-level options not enabled, ...`",
        concerns="you look for the text in logs",
        apply=_lower_case,
    ),
    Change(
        topic="gate CPUManagerPolicyOptions",
        since=SINCE,
        older="beta, can be switched off",
        newer="locked on; setting it to false stops the kubelet",
        concerns="your configuration sets the gate to false",
        apply=with_gate("CPUManagerPolicyOptions", Gate(default=True, stage="GA", locked=True)),
    ),
    Change(
        topic="gate CPUManager",
        since=SINCE,
        older="locked on",
        newer="gone; naming it stops the kubelet",
        concerns="your configuration names the gate",
        apply=without_gate("CPUManager"),
    ),
    Change(
        topic="gate SidecarContainers",
        since=SINCE,
        older="beta, can be switched off",
        newer="locked on; setting it to false stops the kubelet",
        concerns="your configuration sets the gate to false",
        apply=with_gate("SidecarContainers", Gate(default=True, stage="GA", locked=True)),
    ),
    Change(
        topic="gate DisableCPUQuotaWithExclusiveCPUs",
        since=SINCE,
        older="unknown",
        newer="on by default: containers with exclusive CPUs have no CPU quota",
        concerns="your containers have exclusive CPUs; placement stays the same",
        apply=with_gate("DisableCPUQuotaWithExclusiveCPUs", Gate(default=True, stage="beta")),
    ),
    Change(
        topic="gate InPlacePodVerticalScaling",
        since=SINCE,
        older="off unless asked for",
        newer="on by default",
        concerns="pods are resized in place, or the kubelet restarts",
        apply=with_gate("InPlacePodVerticalScaling", Gate(default=True, stage="beta")),
    ),
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
