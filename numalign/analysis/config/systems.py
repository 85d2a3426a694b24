"""Clouds and distributions: what each writes below the settings that people give, and what it takes of these.

A row for each; docs/rules/clouds.md has the sources. Reading their files is `sources.kubelet`, writing them
`render.text.config_files`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import Any, Final

from numalign.analysis.config import reservations as kept
from numalign.analysis.config.instances import pods_of
from numalign.errors import Notice
from numalign.kubelet.config import FIELD_NAMES, KubeletConfig, MemoryReservation
from numalign.kubelet.releases.release import Version
from numalign.kubelet.releases.table import LATEST
from numalign.kubelet.start.reservation import DEFAULT_EVICTION
from numalign.values import NamedTuple

Fields = Mapping[str, Any]


class Facts(NamedTuple):
    """What a system's own part may depend on; None: nobody said."""

    cpus: int | None = None
    memory: int | None = None
    """Bytes."""
    version: Version | None = None
    instance: str | None = None
    pods: int | None = None
    """`--max-pods`."""

    def since(self, version: Version) -> bool:
        """Tell whether the kubelet is of a release or newer; where nobody said, it is the newest that was recorded."""
        return (self.version or LATEST.version) >= version

    @property
    def network_pods(self) -> int | None:
        """How many pods the network of the instance has addresses for."""
        return self.pods if self.pods is not None or self.instance is None else pods_of(self.instance)


class Base(NamedTuple):
    """What a system writes below the settings of people."""

    fields: Mapping[str, object] = {}
    unknown: Mapping[str, str] = {}
    """Setting that is there and not known (`kubeReserved.memory`) -> what makes it known."""
    note: str = ""
    """What is to be said of it."""


class Ground(NamedTuple):
    """What a configuration rests on."""

    system: str = ""
    """Empty: a kubelet by itself."""
    lacks: frozenset[str] = frozenset()
    """Fields of KubeletConfiguration that nobody can set there."""
    unknown: Mapping[str, str] = {}
    """Setting that is there and not known -> what makes it known."""
    unexpanded: frozenset[str] = frozenset()
    """Those of `unknown` that a template left open."""

    def beside(self, flags: Collection[str]) -> Ground:
        """Take out what flags of the kubelet (without dashes), or fields, make known."""
        fields = {"kube-reserved": "kubeReserved", "system-reserved": "systemReserved", "eviction-hard": "evictionHard"}
        known = {*(f"--{flag}" for flag in flags), *(fields.get(flag, flag) for flag in flags)}
        return self._replace(
            unknown={name: fix for name, fix in self.unknown.items() if name.partition(".")[0] not in known}
        )

    def notices(self, path: str) -> Iterator[Notice]:
        """Say what is unknown, but for what was said of the template."""
        for name, fix in self.unknown.items():
            if name not in self.unexpanded:
                yield Notice("settings-incomplete", f"{name} is unknown; fix: {fix}", path)

    def is_unknown(self, resource: str) -> bool:
        """Tell whether a reservation of `cpu` or `memory` is not known."""
        return any(_touches(name, resource) for name in self.unknown)


def _touches(name: str, resource: str) -> bool:
    """Tell whether a setting, or a flag of its name, takes part in what is reserved of a resource."""
    text = name.lower().replace("-", "")
    if name.startswith("the file"):
        return True
    if text.startswith(("kubereserved.", "systemreserved.")):
        return text.endswith(f".{resource}")
    both = ("kubereserved", "systemreserved")
    of = {"cpu": (*both, "reservedcpus", "reservedsystemcpus"), "memory": (*both, "evictionhard", "reservedmemory")}
    return text.startswith(of[resource])


class System(NamedTuple):
    """A cloud or a distribution, with one way to give settings."""

    name: str
    base: Callable[[Facts, Fields], Base]
    """(facts, settings of people) -> its own part."""
    names: Mapping[str, str] = {}
    """Its own names, as paths -> those of KubeletConfiguration; empty: they are the kubelet's."""
    without: frozenset[str] = frozenset()
    """Fields that it does not take although names are the kubelet's."""
    takes_cpus: bool = False
    """Whether it leaves its two cgroups out where CPUs are reserved by name."""
    whole: frozenset[str] = frozenset()
    """Maps of its own part that those of people replace as a whole."""

    @property
    def lacks(self) -> frozenset[str]:
        """Fields of KubeletConfiguration that nobody can set there."""
        if not self.names:
            return self.without
        return frozenset(FIELD_NAMES.values()) - {path.partition(".")[0] for path in self.names.values()}


_ENI: Final = "add --instance-type TYPE or --max-pods N"
_MACHINE: Final = "add --machine"
_CGROUPS: Final = {"kubeReservedCgroup": "/runtime", "systemReservedCgroup": "/system"}
_EKS_EVICTION: Final = {"memory.available": "100Mi", "nodefs.available": "10%", "nodefs.inodesFree": "5%"}


def _always(base: Base) -> Callable[[Facts, Fields], Base]:
    return lambda _, __: base


_PLAIN: Final = _always(Base())


def _flags_alone(facts: Facts, _: Fields) -> Base:
    """A kubelet without `--config` has no eviction threshold from 1.26 on (0.3)."""
    return Base({"evictionHard": {}} if facts.since((1, 26)) else {"evictionHard": DEFAULT_EVICTION})


def _by_pods(facts: Facts, pods: int | None, why: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return what EKS and Bottlerocket keep for Kubernetes, and what of it is unknown."""
    reserved, unknown = {"ephemeral-storage": "1Gi"}, {}
    if facts.cpus is None:
        unknown["kubeReserved.cpu"] = _MACHINE
    else:
        reserved["cpu"] = kept.eks_cpu(facts.cpus)
    if pods is None:
        unknown["kubeReserved.memory"] = why
    else:
        reserved["memory"] = kept.eks_memory(pods)
    return reserved, unknown


def eks(facts: Facts, _: Fields, *, cgroups: bool = True, pods: Callable[[Facts], int | None] | None = None) -> Base:
    """Write what nodeadm and `bootstrap.sh` write (3, 4, 6, 49, 50).

    Args:
        facts: what it depends on.
        cgroups: whether the two cgroups are there.
        pods: works out `maxPodsExpression`; None: there is none.
    """
    count = pods(facts) if pods else facts.network_pods
    reserved, unknown = _by_pods(facts, count, _ENI)
    fields: dict[str, object] = {"kubeReserved": reserved, "evictionHard": _EKS_EVICTION}
    if count is not None:
        fields["maxPods"] = count
    return Base(fields | (_CGROUPS if cgroups else {}), unknown)


def _bottlerocket(facts: Facts, given: Fields) -> Base:
    """Bottlerocket counts the pods in force, and has no cgroups beside reserved CPUs (8, 51)."""
    pods = given.get("maxPods") or facts.network_pods
    reserved, unknown = _by_pods(facts, pods, f"on AWS {_ENI}; elsewhere set max-pods")
    fields: dict[str, object] = {"kubeReserved": reserved, **({} if given.get("reservedSystemCPUs") else _CGROUPS)}
    return Base(fields | ({"maxPods": pods} if pods else {}), unknown)


def _gke(facts: Facts, given: Fields) -> Base:
    """GKE's own part is an estimate; with a Static Memory Manager Google writes `reservedMemory`, too (52, 67)."""
    if facts.cpus is None or facts.memory is None:
        return Base(unknown={"kubeReserved": _MACHINE})
    memory = kept.gke_memory(facts.memory >> 20)
    fields: dict[str, object] = {
        "kubeReserved": {"cpu": kept.cpu_share(facts.cpus, kept.EKS_CPU), "memory": memory},
        "evictionHard": {"memory.available": "100Mi"},
    }
    if given.get("memoryManagerPolicy") == "Static":
        limits = {"memory": f"{int(memory.removesuffix('Mi')) + 100}Mi"}
        fields["reservedMemory"] = [{"numaNode": 0, "limits": limits}]
    return Base(fields, note="what GKE reserves is an estimate: the formula depends on the release of the node")


def _aks(facts: Facts, given: Fields) -> Base:
    """AKS reserves by pods from 1.29 on, by memory before (54-56)."""
    newer = facts.since((1, 29))
    pods = given.get("maxPods") or facts.pods
    if facts.cpus is None or facts.memory is None:
        return Base(unknown={"kubeReserved": _MACHINE})
    reserved = {"cpu": kept.cpu_share(facts.cpus, kept.AKS_CPU)}
    fields: dict[str, object] = {
        "kubeReserved": reserved,
        "evictionHard": {**_EKS_EVICTION, "memory.available": "100Mi" if newer else "750Mi"},
    }
    if newer and pods is None:
        return Base(fields, {"kubeReserved.memory": "add --max-pods N"})
    reserved["memory"] = kept.aks_memory(facts.memory, pods if newer else None)
    return Base(fields | ({"maxPods": pods} if pods else {}))


def talos(_: Facts, __: Fields, *, role: str = "") -> Base:
    """Write what Talos reserves on a `worker`, or on a `controlplane`; an empty role is an unknown one (59)."""
    reserved = {"cpu": "50m", "pid": "100", "ephemeral-storage": "256Mi"}
    if not role:
        return Base(
            {"systemReserved": reserved}, {"systemReserved.memory": "add systemReserved, or machine.type, to the file"}
        )
    return Base({"systemReserved": {**reserved, "memory": "384Mi" if role == "worker" else "512Mi"}})


def openshift(facts: Facts, given: Fields, *, sizing: bool | None = False) -> Base:
    """Write what the machine config operator reserves; `sizing` None: as the release does by default (60, 61)."""
    newer = facts.since((1, 34))
    cgroup = {} if given.get("reservedSystemCPUs") else {"systemReservedCgroup": "/system.slice"}
    fields: dict[str, object] = {"maxPods": 250, **cgroup}
    if not (newer if sizing is None else sizing):
        reserved = {"cpu": "500m", "memory": "1Gi", "ephemeral-storage": "1Gi"}
        return Base({**fields, "systemReserved": reserved})
    if facts.cpus is None or facts.memory is None:
        return Base(fields, {"systemReserved": _MACHINE})
    version_2 = facts.since((1, 31))
    reserved = {
        "cpu": kept.openshift_cpu(facts.cpus, newer=newer) if version_2 else kept.eks_cpu(facts.cpus),
        "memory": kept.openshift_memory(facts.memory >> 30, newer=newer),
        "ephemeral-storage": "1Gi",
    }
    note = "the node computes systemReserved (autoSizingReserved), here by the memory of --machine"
    return Base({**fields, "systemReserved": reserved}, note=note)


_THRESHOLDS: Final = {
    "memoryAvailable": "memory.available",
    "imageFSAvailable": "imagefs.available",
    "imageFSInodesFree": "imagefs.inodesFree",
    "nodeFSAvailable": "nodefs.available",
    "nodeFSInodesFree": "nodefs.inodesFree",
}


def _same(*names: str) -> dict[str, str]:
    return {name: name for name in names}


KUBELET: Final = System("", _PLAIN)
FLAGS: Final = System("", _flags_alone)
"""A kubelet's whole command line without `--config`."""
SOME_FLAGS: Final = System(
    "", _always(Base(unknown={"the file of --config": "check that file, or add its settings as flags"}))
)
"""Flags over a file that was not read."""
NODECONFIG: Final = System("EKS", eks)
AL2: Final = System("EKS AL2", eks)
KARPENTER: Final = System(
    "Karpenter",
    _PLAIN,
    _same("maxPods", "podsPerCore", "kubeReserved", "systemReserved", "evictionHard"),
)
"""`spec.kubelet` of an EC2NodeClass, but for AL2023."""
BOTTLEROCKET: Final = System(
    "Bottlerocket",
    _bottlerocket,
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
    _gke,
    {
        "cpuManagerPolicy": "cpuManagerPolicy",
        "topologyManager.policy": "topologyManagerPolicy",
        "topologyManager.scope": "topologyManagerScope",
        "memoryManager.policy": "memoryManagerPolicy",
    },
)
KARPENTER_GCP: Final = System("Karpenter for GCP", _gke, KARPENTER.names)
AKS: Final = System(
    "AKS",
    _aks,
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
AKS_NODECLASS: Final = System("AKSNodeClass", _aks, _same("cpuManagerPolicy", "topologyManagerPolicy"))
_OTHER_SIGNALS: Final = ("imagefs.available", "imagefs.inodesFree", "nodefs.available", "nodefs.inodesFree")
GARDENER: Final = System(
    "Gardener",
    _always(
        Base(
            {
                "kubeReserved": {"cpu": "80m", "memory": "1Gi"},
                "evictionHard": {"memory.available": "100Mi", **dict.fromkeys(_OTHER_SIGNALS, "5%")},
            }
        )
    ),
    {
        **_same("cpuManagerPolicy", "maxPods", "featureGates"),
        **{f"kubeReserved.{name}": f"kubeReserved.{name}" for name in ("cpu", "memory", "pid")},
        "kubeReserved.ephemeralStorage": "kubeReserved.ephemeral-storage",
        **{f"evictionHard.{own}": f"evictionHard.{name}" for own, name in _THRESHOLDS.items()},
    },
)
K3S: Final = System(
    "K3s",
    _always(Base({"evictionHard": {"imagefs.available": "15%", "nodefs.available": "15%"}})),
    whole=frozenset({"evictionHard"}),
)
TALOS: Final = System("Talos", talos, whole=frozenset({"systemReserved"}))
KOPS: Final = System(
    "kops",
    _always(Base({"evictionHard": {**_EKS_EVICTION, "imagefs.available": "10%", "imagefs.inodesFree": "5%"}})),
    _same(
        "cpuManagerPolicy",
        "topologyManagerPolicy",
        "kubeReserved",
        "systemReserved",
        "evictionHard",
        "featureGates",
        "maxPods",
        "kubeReservedCgroup",
        "systemReservedCgroup",
    ),
    whole=frozenset({"evictionHard"}),
)
KUBEADM: Final = System("kubeadm", _PLAIN)
_BOTH: Final = {"ephemeral-storage": "500Mi", "pid": "1000"}
KUBESPRAY: Final = System(
    "kubespray",
    _always(
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
OKE: Final = System("OKE", _always(Base(unknown={"evictionHard": "add --eviction-hard"})))
MICROSHIFT: Final = System(
    "MicroShift", _always(Base(unknown={"the file of MicroShift": "check the settings of the node (/configz)"}))
)


def config_of(fields: Fields) -> KubeletConfig:
    """Make the settings of a system's own part, which needs no check."""
    names = {name: field for field, name in FIELD_NAMES.items()}
    settings = {names[name]: value for name, value in fields.items() if name in names}
    if "reserved_memory" in settings:
        elements = settings["reserved_memory"]
        settings["reserved_memory"] = tuple(MemoryReservation(one["numaNode"], one["limits"]) for one in elements)
    return KubeletConfig(**settings)


_POLICIES: Final = _same("cpuManagerPolicy", "topologyManagerPolicy")
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
