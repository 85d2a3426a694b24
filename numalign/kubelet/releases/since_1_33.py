"""What Kubernetes changed from 1.33 on, until 1.37 (docs/rules/kubelet-versions.md).

Names of new gates are in `start.feature_gates`, what changed with claims in `dra/`.
"""

from __future__ import annotations

from collections.abc import Callable

from numalign.kubelet.cpu.provider import start_until_1_36 as start_cpu_until_1_36
from numalign.kubelet.device.provider import start as start_devices
from numalign.kubelet.pod_level import as_a_whole, complete_in_1_33, complete_in_1_34, names_a_resource, skipped
from numalign.kubelet.reading import RESIZING, Gates, Serve, always, as_written, behind, of_spec, of_status
from numalign.kubelet.releases.release import (
    Change,
    Gate,
    Kubelet,
    gate_appears,
    gate_gone,
    gate_locked,
    gate_switched_on,
    option_changes,
    with_gate,
    with_needs,
    with_reading,
    with_settings,
)
from numalign.kubelet.resized import by_container, by_spec
from numalign.kubelet.topology.options import not_enabled
from numalign.kubelet.topology.scopes import admit_by_container, admit_pod


def _serve_as_a_whole(kubelet: Kubelet) -> Kubelet:
    serve: Callable[[Gates], Serve] = behind(
        ("PodLevelResources", "PodLevelResourceManagers"), always(as_a_whole), kubelet.reading.serve
    )
    gate = with_gate("PodLevelResourceManagers", Gate(default=False, stage="alpha"))
    return gate(
        kubelet._replace(
            reading=kubelet.reading._replace(serve=serve),
            scopes={"container": admit_by_container, "pod": admit_pod},
        )
    )


NEWER_CHANGES: tuple[Change, ...] = (
    # 1.33. Three options of the CPU Manager move up a stage. Pods are resized in place, so requests are read from a
    # pod's status.
    *option_changes((1, 33)),
    Change(
        topic="text for an option that is not enabled",
        since=(1, 33),
        older="`Topology Manager Policy Beta-level Options not enabled, ...`",
        newer="`topology manager policy beta-level options not enabled, ...`",
        concerns="you look for the text in logs",
        apply=lambda kubelet: kubelet._replace(option_not_enabled=not_enabled),
    ),
    gate_locked((1, 33), "CPUManagerPolicyOptions", "beta, can be switched off"),
    gate_gone((1, 33), "CPUManager"),
    gate_locked((1, 33), "SidecarContainers", "beta, can be switched off"),
    Change(
        topic="gate DisableCPUQuotaWithExclusiveCPUs",
        since=(1, 33),
        older="unknown",
        newer="on by default: containers with exclusive CPUs have no CPU quota",
        concerns="your containers have exclusive CPUs; placement stays the same",
        apply=with_gate("DisableCPUQuotaWithExclusiveCPUs", Gate(default=True, stage="beta")),
    ),
    gate_switched_on((1, 33), "InPlacePodVerticalScaling", "pods are resized in place, or the kubelet restarts"),
    Change(
        topic="requests of a pod with a status",
        since=(1, 33),
        older="read from the spec; with InPlacePodVerticalScaling from `allocatedResources` of app containers",
        newer="read from `allocatedResources` of the status, where there is one",
        concerns="the kubelet restarts with resized pods",
        apply=with_reading(
            lambda reading: reading._replace(
                requests=behind((RESIZING,), always(of_status), always(of_spec)),
                counted=behind((RESIZING,), always(by_container), always(by_spec)),
            )
        ),
    ),
    Change(
        topic="host ports of sidecars",
        since=(1, 33),
        older="only those of app containers count",
        newer="they also count: a pod whose sidecar requests a port in use is rejected",
        concerns="sidecars carry `hostPort`",
        apply=with_reading(lambda reading: reading._replace(see=as_written)),
    ),
    Change(
        topic="pod-level huge pages",
        since=(1, 33),
        older="pod-level resources are cpu and memory",
        newer="also huge pages; limits that only containers name are filled in",
        concerns="pods carry `spec.resources`, with the gate PodLevelResources on",
        apply=with_reading(
            lambda reading: reading._replace(complete=always(complete_in_1_33), is_pod_level=names_a_resource)
        ),
    ),
    Change(
        topic="setting mergeDefaultEvictionSettings",
        since=(1, 33),
        older="unknown, and ignored: `evictionHard` takes the place of all defaults",
        newer="true keeps the default thresholds that `evictionHard` lacks",
        concerns="your configuration sets it",
        apply=with_settings("mergeDefaultEvictionSettings"),
    ),
    # 1.34. Pods with resources of their own (`spec.resources`) are read by default, and pinned no more. An odd number
    # of CPUs may come from one uncore cache.
    *option_changes((1, 34)),
    Change(
        topic="CPUs from an uncore cache",
        since=(1, 34),
        older="a rest that is no multiple of a core is never taken from one cache",
        newer="a rest of any size is taken from the first cache whose cores give exactly that many CPUs",
        concerns="prefer-align-cpus-by-uncorecache is on and pods ask for odd numbers of CPUs",
        remedy="nothing: the CPUs lie in one cache now",
        apply=lambda kubelet: kubelet._replace(cpu=kubelet.cpu._replace(start=start_cpu_until_1_36)),
    ),
    Change(
        topic="gate PodLevelResources",
        since=(1, 34),
        older="off by default: pod-level resources are ignored",
        newer="on by default: pod-level resources decide the QoS class and what the node must have",
        concerns="pods carry `spec.resources`",
        remedy="take spec.resources out of the pod, or give it limits that make it Guaranteed as before",
        apply=with_gate("PodLevelResources", Gate(default=True, stage="beta")),
    ),
    Change(
        topic="pinning of pods with pod-level resources",
        since=(1, 34),
        older="by their containers' requests",
        newer="none: no exclusive CPUs, no pinned memory, no message",
        concerns="Guaranteed pods carry `spec.resources`",
        remedy="take spec.resources out of the pod: its containers are pinned then",
        apply=with_reading(
            lambda reading: reading._replace(serve=behind(("PodLevelResources",), always(skipped), reading.serve))
        ),
    ),
    Change(
        topic="pod-level huge pages requested",
        since=(1, 34),
        older="containers' limits are filled in, whatever the pod requests",
        newer="not where the pod-level requests name that page size",
        concerns="pods request huge pages in `spec.resources`",
        apply=with_reading(lambda reading: reading._replace(complete=always(complete_in_1_34))),
    ),
    gate_switched_on(
        (1, 34), "DynamicResourceAllocation", "you use claims; placement by plugins stays the same", stage="GA"
    ),
    gate_appears((1, 34), "ContainerRestartRules"),
    gate_appears((1, 34), "DRAExtendedResource"),
    gate_appears((1, 34), "InPlacePodVerticalScalingExclusiveMemory"),
    # 1.35. More is refused at the start: hosts with cgroup v1, gates whose needs are off. Requests are read from the
    # spec again.
    *option_changes((1, 35)),
    Change(
        topic="requests of a pod with a status",
        since=(1, 35),
        older="read from `allocatedResources` of the status, where there is one",
        newer="read from the spec",
        concerns="the kubelet restarts with resized pods",
        apply=with_reading(lambda reading: reading._replace(requests=always(of_spec))),
    ),
    Change(
        topic="devices of a ResourceClaim",
        since=(1, 35),
        older="an extended resource is allocated by its plugin, whatever the pod's claims say",
        newer="with DRAExtendedResource one that a claim provides is left out",
        concerns="claims provide extended resources, with the gate DRAExtendedResource on",
        apply=with_reading(
            lambda reading: reading._replace(claimed=behind(("DRAExtendedResource",), always(True), always(False)))
        ),
    ),
    Change(
        topic="feature gates that need others",
        since=(1, 35),
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
    Change(
        topic="restart policies of containers",
        since=(1, 35),
        older="only an init container may have one, and only Always",
        newer="any container may have Always, OnFailure or Never, and rules beside it",
        concerns="pods carry `restartPolicy` in a container",
        remedy="take restartPolicy out of containers, or switch ContainerRestartRules on",
        apply=with_gate("ContainerRestartRules", Gate(default=True, stage="beta")),
    ),
    gate_locked((1, 35), "InPlacePodVerticalScaling", "beta, can be switched off"),
    gate_locked((1, 35), "DynamicResourceAllocation", "on, can be switched off"),
    gate_appears((1, 35), "InPlacePodLevelResourcesVerticalScaling"),
    gate_appears((1, 35), "NodeDeclaredFeatures"),
    Change(
        topic="setting failCgroupV1",
        since=(1, 35),
        older="false by default: the kubelet runs on hosts with cgroup v1",
        newer="true by default: it does not start there",
        concerns="hosts still run cgroup v1",
        remedy="move the host to cgroup v2, or set failCgroupV1: false",
        apply=lambda kubelet: kubelet._replace(fail_cgroup_v1=True),
    ),
    # 1.36. Device hints name only NUMA nodes that have such devices. A gate, off by default, pins pods with
    # `spec.resources` as a whole; extended resources may come from claims by default.
    *option_changes((1, 36)),
    Change(
        topic="device hints",
        since=(1, 36),
        older="name every NUMA node, whether it has devices of the resource or not",
        newer="name only nodes that have devices of the resource",
        concerns="policy best-effort, or requests for 0 devices, and devices on some NUMA nodes only",
        remedy="policy restricted or single-numa-node keeps the placement as it was",
        apply=lambda kubelet: kubelet._replace(device=kubelet.device._replace(start=start_devices)),
    ),
    Change(
        topic="pinning with PodLevelResources off",
        since=(1, 36),
        older="pods that carry pod-level resources are pinned by their containers' requests",
        newer="they are not pinned, as with the gate on",
        concerns="pods carry `spec.resources` where the gate is off",
        remedy="take spec.resources out of the pod: its containers are pinned then",
        apply=with_reading(
            lambda reading: reading._replace(serve=behind(("PodLevelResources",), reading.serve, always(skipped)))
        ),
    ),
    Change(
        topic="gate PodLevelResourceManagers",
        since=(1, 36),
        older="unknown",
        newer="alpha, off; on, pods get CPUs and memory as a whole, and share them among their containers",
        concerns="you switch it on and pods carry `spec.resources`",
        apply=_serve_as_a_whole,
    ),
    Change(
        topic="gate DRAExtendedResource",
        since=(1, 36),
        older="alpha, off",
        newer="on by default: devices of a ResourceClaim do not come from the plugin",
        concerns="claims provide extended resources",
        apply=with_gate("DRAExtendedResource", Gate(default=True, stage="beta")),
    ),
    Change(
        topic="gate InPlacePodLevelResourcesVerticalScaling",
        since=(1, 36),
        older="alpha, off",
        newer="on by default: PodLevelResources cannot be switched off alone",
        concerns="your configuration sets PodLevelResources to false",
        apply=with_gate("InPlacePodLevelResourcesVerticalScaling", Gate(default=True, stage="beta")),
    ),
    Change(
        topic="gate NodeDeclaredFeatures",
        since=(1, 36),
        older="alpha, off",
        newer="on by default",
        concerns="your configuration names the gate",
        apply=with_gate("NodeDeclaredFeatures", Gate(default=True, stage="beta")),
    ),
    Change(
        topic="feature gates that need others",
        since=(1, 36),
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
    gate_gone((1, 36), "MemoryManager"),
    gate_locked((1, 36), "TopologyManagerPolicyOptions", "on, can be switched off"),
    gate_switched_on((1, 36), "ResourceHealthStatus", "no pod, as far as placement is concerned"),
    Change(
        topic="gate DisableCPUQuotaWithExclusiveCPUs",
        since=(1, 36),
        older="beta, on",
        newer="deprecated, on",
        concerns="no pod, as far as placement is concerned",
        apply=with_gate("DisableCPUQuotaWithExclusiveCPUs", Gate(default=True, stage="deprecated")),
    ),
)
"""Oldest first."""
