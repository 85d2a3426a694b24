"""What systems set of their own accord: what each base says, by the facts of a node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from numalign.analysis.config import reservations as kept
from numalign.analysis.config.system import CGROUPS, ENI, MACHINE, Base, Facts, Fields
from numalign.kubelet.start.reservation import DEFAULT_EVICTION

EKS_EVICTION: Final = {"memory.available": "100Mi", "nodefs.available": "10%", "nodefs.inodesFree": "5%"}


def always(base: Base) -> Callable[[Facts, Fields], Base]:
    """Take the same base whatever the node is."""
    return lambda _, __: base


PLAIN: Final = always(Base())


def flags_alone(facts: Facts, _: Fields) -> Base:
    """A kubelet without `--config` has no eviction threshold from 1.26 on (0.3)."""
    return Base({"evictionHard": {}} if facts.since((1, 26)) else {"evictionHard": DEFAULT_EVICTION})


def by_pods(facts: Facts, pods: int | None, why: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return what EKS and Bottlerocket keep for Kubernetes, and what of it is unknown."""
    reserved, unknown = {"ephemeral-storage": "1Gi"}, {}
    if facts.cpus is None:
        unknown["kubeReserved.cpu"] = MACHINE
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
    reserved, unknown = by_pods(facts, count, ENI)
    fields: dict[str, object] = {"kubeReserved": reserved, "evictionHard": EKS_EVICTION}
    if count is not None:
        fields["maxPods"] = count
    return Base(fields | (CGROUPS if cgroups else {}), unknown)


def bottlerocket(facts: Facts, given: Fields) -> Base:
    """Bottlerocket counts the pods in force, and has no cgroups beside reserved CPUs (8, 51)."""
    pods = given.get("maxPods") or facts.network_pods
    reserved, unknown = by_pods(facts, pods, f"on AWS {ENI}; elsewhere set max-pods")
    fields: dict[str, object] = {"kubeReserved": reserved, **({} if given.get("reservedSystemCPUs") else CGROUPS)}
    return Base(fields | ({"maxPods": pods} if pods else {}), unknown)


def gke(facts: Facts, given: Fields) -> Base:
    """GKE's own part is an estimate; with a Static Memory Manager Google writes `reservedMemory`, too (52, 67)."""
    if facts.cpus is None or facts.memory is None:
        return Base(unknown={"kubeReserved": MACHINE})
    memory = kept.gke_memory(facts.memory >> 20)
    fields: dict[str, object] = {
        "kubeReserved": {"cpu": kept.cpu_share(facts.cpus, kept.EKS_CPU), "memory": memory},
        "evictionHard": {"memory.available": "100Mi"},
    }
    if given.get("memoryManagerPolicy") == "Static":
        limits = {"memory": f"{int(memory.removesuffix('Mi')) + 100}Mi"}
        fields["reservedMemory"] = [{"numaNode": 0, "limits": limits}]
    return Base(fields, note="what GKE reserves is an estimate: the formula depends on the release of the node")


def aks(facts: Facts, given: Fields) -> Base:
    """AKS reserves by pods from 1.29 on, by memory before (54-56)."""
    newer = facts.since((1, 29))
    pods = given.get("maxPods") or facts.pods
    if facts.cpus is None or facts.memory is None:
        return Base(unknown={"kubeReserved": MACHINE})
    reserved = {"cpu": kept.cpu_share(facts.cpus, kept.AKS_CPU)}
    fields: dict[str, object] = {
        "kubeReserved": reserved,
        "evictionHard": {**EKS_EVICTION, "memory.available": "100Mi" if newer else "750Mi"},
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
        return Base(fields, {"systemReserved": MACHINE})
    version_2 = facts.since((1, 31))
    reserved = {
        "cpu": kept.openshift_cpu(facts.cpus, newer=newer) if version_2 else kept.eks_cpu(facts.cpus),
        "memory": kept.openshift_memory(facts.memory >> 30, newer=newer),
        "ephemeral-storage": "1Gi",
    }
    note = "the node computes systemReserved (autoSizingReserved), here by the memory of --machine"
    return Base({**fields, "systemReserved": reserved}, note=note)


THRESHOLDS: Final = {
    "memoryAvailable": "memory.available",
    "imageFSAvailable": "imagefs.available",
    "imageFSInodesFree": "imagefs.inodesFree",
    "nodeFSAvailable": "nodefs.available",
    "nodeFSInodesFree": "nodefs.inodesFree",
}
