"""What Kubernetes 1.35 changed (docs/rules/kubelet-versions.md); new gates are in `gate_names`, claims in `dra/`.

More is refused at the start: hosts with cgroup v1, gates whose needs are off. Requests are read from the spec again.
"""

from __future__ import annotations

from numalign.kubelet.reading import Gates, requests_of_spec
from numalign.kubelet.releases.release import (
    Change,
    Kubelet,
    gate_appears,
    gate_locked,
    option_to_stable,
    with_needs,
    with_reading,
)

SINCE = (1, 35)


def _claimed_with_gate(gates: Gates) -> bool:
    return gates("DRAExtendedResource")


def _refuse_cgroup_v1(kubelet: Kubelet) -> Kubelet:
    return kubelet._replace(fail_cgroup_v1=True)


CHANGES: tuple[Change, ...] = (
    option_to_stable(SINCE, "strict-cpu-reservation", "cpu"),
    option_to_stable(SINCE, "max-allowable-numa-nodes", "topology"),
    Change(
        topic="requests of a pod with a status",
        since=SINCE,
        older="read from `allocatedResources` of the status, where there is one",
        newer="read from the spec",
        concerns="the kubelet restarts with resized pods",
        apply=with_reading(lambda reading: reading._replace(requests=requests_of_spec)),
    ),
    Change(
        topic="devices of a ResourceClaim",
        since=SINCE,
        older="an extended resource is allocated by its plugin, whatever the pod's claims say",
        newer="with DRAExtendedResource one that a claim provides is left out",
        concerns="claims provide extended resources, with the gate DRAExtendedResource on",
        apply=with_reading(lambda reading: reading._replace(claimed=_claimed_with_gate)),
    ),
    Change(
        topic="feature gates that need others",
        since=SINCE,
        older="not checked",
        newer="a gate that is on while one it needs is off stops the kubelet",
        concerns="your configuration switches gates off that others need",
        apply=with_needs(
            {
                "InPlacePodLevelResourcesVerticalScaling": (
                    "InPlacePodVerticalScaling",
                    "PodLevelResources",
                    "NodeDeclaredFeatures",
                ),
                "DRAExtendedResource": ("DynamicResourceAllocation",),
                "InPlacePodVerticalScalingExclusiveCPUs": ("InPlacePodVerticalScaling",),
                "InPlacePodVerticalScalingExclusiveMemory": ("InPlacePodVerticalScaling", "MemoryManager"),
            }
        ),
    ),
    gate_locked(SINCE, "InPlacePodVerticalScaling", "beta, can be switched off"),
    gate_locked(SINCE, "DynamicResourceAllocation", "on, can be switched off"),
    gate_appears(SINCE, "InPlacePodLevelResourcesVerticalScaling"),
    gate_appears(SINCE, "NodeDeclaredFeatures"),
    Change(
        topic="setting failCgroupV1",
        since=SINCE,
        older="false by default: the kubelet runs on hosts with cgroup v1",
        newer="true by default: it does not start there",
        concerns="hosts still run cgroup v1",
        remedy="move the host to cgroup v2, or set failCgroupV1: false",
        apply=_refuse_cgroup_v1,
    ),
)
