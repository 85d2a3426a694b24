"""What Kubernetes 1.37 changed: from its published changes, not recorded (docs/rules/kubelet-1.37.md).

How sure a rule is stands in that document: read in released sources or notes (A), merged but not read whole (B),
concluded (C). What rests on a C is told by `kubelet.inferred`.
"""

from __future__ import annotations

from collections.abc import Callable

from numalign.kubelet.cpu.provider import CPU
from numalign.kubelet.memory.provider import MEMORY
from numalign.kubelet.pod_level import complete, names_a_resource
from numalign.kubelet.reading import RESIZING, Complete, Decides, Gates, always, behind
from numalign.kubelet.releases.release import (
    Change,
    Gate,
    Kubelet,
    gate_gone,
    gate_locked,
    with_gate,
    with_needs,
    with_reading,
)
from numalign.kubelet.resized import Count, by_spec, by_sum, by_sum_of_containers

SINCE = (1, 37)


def _complete_limits(kubelet: Kubelet) -> Kubelet:
    reading = kubelet.reading
    fixed: Callable[[Gates], Complete] = behind(("PodLevelResourcesFixDefaulting",), always(complete), reading.complete)
    gate = with_gate("PodLevelResourcesFixDefaulting", Gate(default=True, stage="beta"))
    return gate(kubelet._replace(reading=reading._replace(complete=fixed)))


def _class_of_a_list(kubelet: Kubelet) -> Kubelet:
    reading = kubelet.reading
    fixed: Callable[[Gates], Decides] = behind(
        ("PodLevelResourcesFixKubeletQOSClass",), always(names_a_resource), reading.decides
    )
    gate = with_gate("PodLevelResourcesFixKubeletQOSClass", Gate(default=True, stage="beta"))
    return gate(kubelet._replace(reading=reading._replace(decides=fixed)))


_BY_SPEC: Callable[[Gates], Count] = always(by_spec)
_BY_SUM_OF_CONTAINERS: Callable[[Gates], Count] = behind((RESIZING,), always(by_sum_of_containers), _BY_SPEC)
_BY_SUM: Callable[[Gates], Count] = behind(
    (RESIZING, "InPlacePodLevelResourcesVerticalScaling"), always(by_sum), _BY_SUM_OF_CONTAINERS
)


PUBLISHED_CHANGES: tuple[Change, ...] = (
    # What decides over CPUs and memory.
    Change(
        topic="distribute-cpus-across-numa with align-by-socket",
        since=SINCE,
        sure="B",
        older="the most even NUMA nodes win, whatever their sockets; uneven ones are skipped",
        newer="NUMA nodes of one socket win over all others, and uneven ones give fewer CPUs each",
        concerns="you set both options; a reserved number can also be other CPUs",
        remedy="reservedSystemCPUs keeps the reserved CPUs as they are",
        apply=lambda kubelet: kubelet._replace(cpu=kubelet.cpu._replace(start=CPU.start)),
    ),
    Change(
        topic="full-pcpus-only after a restart",
        since=SINCE,
        sure="B",
        older="whole cores are checked again for a container that has its CPUs, which can reject a running pod",
        newer="a container that has its CPUs keeps them unchecked",
        concerns="you set full-pcpus-only and the kubelet restarts on a full node",
        apply=lambda kubelet: kubelet._replace(cpu=kubelet.cpu._replace(allocate=CPU.allocate)),
    ),
    Change(
        topic="memory of containers that share",
        since=SINCE,
        sure="B",
        older="an empty request is also allocated: under policy none the pod is rejected",
        newer="a container that shares its pod's memory is skipped",
        concerns="PodLevelResourceManagers is on, in scope container or under policy none",
        apply=lambda kubelet: kubelet._replace(memory=kubelet.memory._replace(allocate=MEMORY.allocate)),
    ),
    Change(
        topic="pod-level defaults",
        since=SINCE,
        sure="A",
        older="pod-level requests are filled in only beside pod-level limits, limits never",
        newer="requests are filled in always, limits where every container has one: more pods are Guaranteed",
        concerns="pods carry `spec.resources` with requests",
        remedy="give pods the limits that they shall have in `spec.resources`",
        apply=_complete_limits,
    ),
    Change(
        topic="QoS class of empty pod-level lists",
        since=SINCE,
        sure="A",
        older="`spec.resources: {}` makes a pod BestEffort",
        newer="the containers decide where `spec.resources` names no resource of a pod",
        concerns="pods carry an empty `spec.resources`",
        apply=_class_of_a_list,
    ),
    Change(
        topic="requests of pods that are resized",
        since=SINCE,
        sure="A",
        older="the largest amounts of each container are added up",
        newer="the largest of three sums counts: of the spec, of what is set aside, of what is in force",
        concerns="pods are resized in place",
        apply=with_reading(lambda reading: reading._replace(counted=_BY_SUM)),
    ),
    # Feature gates.
    Change(
        topic="feature gates that need others",
        since=SINCE,
        sure="A",
        older="PodLevelResources: false needs InPlacePodLevelResourcesVerticalScaling: false",
        newer="it needs PodLevelResourcesFixDefaulting and PodLevelResourcesFixKubeletQOSClass off as well",
        concerns="your configuration sets PodLevelResources to false",
        remedy="set all three gates to false, or leave PodLevelResources on",
        apply=with_needs(
            {
                "PodLevelResourcesFixDefaulting": ("PodLevelResources",),
                "PodLevelResourcesFixKubeletQOSClass": ("PodLevelResources",),
            }
        ),
    ),
    Change(
        topic="gate PodLevelResourceManagers",
        since=SINCE,
        sure="A",
        older="alpha, off",
        newer="beta, off",
        concerns="your configuration sets AllAlpha or AllBeta",
        apply=with_gate("PodLevelResourceManagers", Gate(default=False, stage="beta")),
    ),
    gate_locked(SINCE, "NodeDeclaredFeatures", "beta, can be switched off")._replace(sure="A"),
    gate_locked(SINCE, "DRAExtendedResource", "beta, can be switched off")._replace(sure="A"),
    Change(
        topic="gate DisableCPUQuotaWithExclusiveCPUs",
        since=SINCE,
        sure="A",
        older="deprecated, on",
        newer="locked on; setting it to false stops the kubelet",
        concerns="your configuration sets the gate to false",
        apply=with_gate("DisableCPUQuotaWithExclusiveCPUs", Gate(default=True, stage="deprecated", locked=True)),
    ),
    gate_gone(SINCE, "SidecarContainers")._replace(sure="A"),
)
"""Oldest first."""
