"""Clouds and distributions: what each writes below the settings that people give, and what it takes of these.

A row for each; docs/rules/clouds.md has the sources. Reading their files is `sources.kubelet`, writing them
`render.text.config_files`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from numalign.analysis.config.system import Base, Fields, System
from numalign.analysis.config.system_bases import (
    EKS_EVICTION,
    PLAIN,
    THRESHOLDS,
    aks,
    always,
    bottlerocket,
    eks,
    flags_alone,
    gke,
    openshift,
    talos,
)
from numalign.kubelet.config import FIELD_NAMES, KubeletConfig, MemoryReservation


def _same(names: str) -> dict[str, str]:
    return {name: name for name in names.split()}


KUBELET: Final = System("", PLAIN)
FLAGS: Final = System("", flags_alone)
"""A kubelet's whole command line without `--config`."""
SOME_FLAGS: Final = System(
    "", always(Base(unknown={"the file of --config": "check that file, or add its settings as flags"}))
)
"""Flags over a file that was not read."""
NODECONFIG: Final = System("EKS", eks)
AL2: Final = System("EKS AL2", eks)
KARPENTER: Final = System(
    "Karpenter",
    PLAIN,
    _same("maxPods podsPerCore kubeReserved systemReserved evictionHard"),
)
"""`spec.kubelet` of an EC2NodeClass, but for AL2023."""
BOTTLEROCKET: Final = System(
    "Bottlerocket",
    bottlerocket,
    {
        "cpu-manager-policy": "cpuManagerPolicy",
        "cpu-manager-policy-options": "cpuManagerPolicyOptions",
        "topology-manager-policy": "topologyManagerPolicy",
        "topology-manager-scope": "topologyManagerScope",
        "topology-manager-policy-options": "topologyManagerPolicyOptions",
        "memory-manager-policy": "memoryManagerPolicy",
        "memory-manager-reserved-memory": "reservedMemory",
        "reserved-cpus": "reservedSystemCPUs",
        "kube-reserved": "kubeReserved",
        "system-reserved": "systemReserved",
        "eviction-hard": "evictionHard",
        "max-pods": "maxPods",
    },
    takes_cpus=True,
    whole=frozenset({"evictionHard"}),
)
KARPENTER_BOTTLEROCKET: Final = BOTTLEROCKET._replace(
    name="Karpenter with Bottlerocket",
    names={},
    takes_cpus=False,
    without=frozenset({"reservedSystemCPUs", "featureGates"}),
)
"""Karpenter loses reserved CPUs (0.5)."""
GKE: Final = System(
    "GKE",
    gke,
    {
        "cpuManagerPolicy": "cpuManagerPolicy",
        "topologyManager.policy": "topologyManagerPolicy",
        "topologyManager.scope": "topologyManagerScope",
        "memoryManager.policy": "memoryManagerPolicy",
    },
)
KARPENTER_GCP: Final = System("Karpenter for GCP", gke, KARPENTER.names)
AKS: Final = System(
    "AKS",
    aks,
    {
        "cpuManagerPolicy": "cpuManagerPolicy",
        "topologyManagerPolicy": "topologyManagerPolicy",
        "kubeReserved.cpuMillicores": "kubeReserved.cpu",
        "kubeReserved.memoryMB": "kubeReserved.memory",
        "hardEvictionThreshold.memoryAvailable": "evictionHard.memory.available",
        "hardEvictionThreshold.nodeFsAvailable": "evictionHard.nodefs.available",
        "hardEvictionThreshold.nodeFsInodesFree": "evictionHard.nodefs.inodesFree",
    },
)
AKS_NODECLASS: Final = System("AKSNodeClass", aks, _same("cpuManagerPolicy topologyManagerPolicy"))
_OTHER_SIGNALS: Final = ("imagefs.available", "imagefs.inodesFree", "nodefs.available", "nodefs.inodesFree")
GARDENER: Final = System(
    "Gardener",
    always(
        Base(
            {
                "kubeReserved": {"cpu": "80m", "memory": "1Gi"},
                "evictionHard": {"memory.available": "100Mi", **dict.fromkeys(_OTHER_SIGNALS, "5%")},
            }
        )
    ),
    {
        **_same("cpuManagerPolicy maxPods featureGates"),
        **{f"kubeReserved.{name}": f"kubeReserved.{name}" for name in ("cpu", "memory", "pid")},
        "kubeReserved.ephemeralStorage": "kubeReserved.ephemeral-storage",
        **{f"evictionHard.{own}": f"evictionHard.{name}" for own, name in THRESHOLDS.items()},
    },
)
K3S: Final = System(
    "K3s",
    always(Base({"evictionHard": {"imagefs.available": "15%", "nodefs.available": "15%"}})),
    whole=frozenset({"evictionHard"}),
)
TALOS: Final = System("Talos", talos, whole=frozenset({"systemReserved"}))
KOPS: Final = System(
    "kops",
    always(Base({"evictionHard": {**EKS_EVICTION, "imagefs.available": "10%", "imagefs.inodesFree": "5%"}})),
    _same(
        "cpuManagerPolicy topologyManagerPolicy kubeReserved systemReserved evictionHard featureGates maxPods "
        "kubeReservedCgroup systemReservedCgroup"
    ),
    whole=frozenset({"evictionHard"}),
)
KUBEADM: Final = System("kubeadm", PLAIN)
_BOTH: Final = {"ephemeral-storage": "500Mi", "pid": "1000"}
KUBESPRAY: Final = System(
    "kubespray",
    always(
        Base(
            {
                "kubeReserved": {"cpu": "100m", "memory": "256Mi", **_BOTH},
                "systemReserved": {"cpu": "500m", "memory": "512Mi", **_BOTH},
            }
        )
    ),
)
KUBESPRAY_NAMES: Final = {
    "kubelet_cpu_manager_policy": "cpuManagerPolicy",
    "kubelet_cpu_manager_policy_options": "cpuManagerPolicyOptions",
    "kubelet_topology_manager_policy": "topologyManagerPolicy",
    "kubelet_topology_manager_scope": "topologyManagerScope",
    "kubelet_max_pods": "maxPods",
    "eviction_hard": "evictionHard",
    **{
        f"{owner}_{own}_reserved": f"{owner}Reserved.{name}"
        for owner in ("kube", "system")
        for own, name in ((text.replace("-", "_"), text) for text in ("cpu", "memory", "ephemeral-storage", "pid"))
    },
}
"""Variables -> fields; the other fields are in `kubelet_config_extra_args`."""
OPENSHIFT: Final = System("OpenShift", openshift, without=frozenset({"featureGates"}), takes_cpus=True)
OKE: Final = System("OKE", always(Base(unknown={"evictionHard": "add --eviction-hard"})))
MICROSHIFT: Final = System(
    "MicroShift", always(Base(unknown={"the file of MicroShift": "check the settings of the node (/configz)"}))
)


def config_of(fields: Fields) -> KubeletConfig:
    """Make the settings of a system's own part, which needs no check."""
    names = {name: field for field, name in FIELD_NAMES.items()}
    settings = {names[name]: value for name, value in fields.items()}
    if "reserved_memory" in settings:
        elements = settings["reserved_memory"]
        settings["reserved_memory"] = tuple(MemoryReservation(one["numaNode"], one["limits"]) for one in elements)
    return KubeletConfig(**settings)


_POLICIES: Final = _same("cpuManagerPolicy topologyManagerPolicy")
FORMATS: Final[Mapping[str, System]] = {
    "kubeadm": KUBEADM,
    "kubeletconfig": OPENSHIFT,
    "performanceprofile": KUBELET,
    "nodeadm": NODECONFIG,
    "eksctl": NODECONFIG,
    "karpenter": NODECONFIG,
    "karpenter-bottlerocket": KARPENTER_BOTTLEROCKET,
    "bottlerocket": BOTTLEROCKET,
    "eks-bootstrap": System("EKS AL2", partial(eks, cgroups=False)),
    "gke": GKE,
    "gke-configconnector": GKE._replace(names=_same("cpuManagerPolicy")),
    "aks": AKS._replace(names=_POLICIES),
    "aks-nodeclass": AKS_NODECLASS,
    "gardener": GARDENER,
    "k3s": K3S,
    "rke2": K3S,
    "talos": TALOS._replace(base=partial(talos, role="worker")),
    "kops": KOPS,
    "capi": KUBEADM,
    "capi-v1beta1": KUBEADM,
    "kubespray": KUBESPRAY,
    "butane": KUBEADM,
    "oke": OKE,
}
"""Output of `config suggest` -> the system that it is for."""
