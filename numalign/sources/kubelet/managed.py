"""GKE, AKS and Gardener: clouds with names of their own for few of the kubelet's settings (clouds.md 1.5-1.7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from numalign.analysis.config.system import Fields
from numalign.analysis.config.systems import AKS, AKS_NODECLASS, GARDENER, GKE, KARPENTER_GCP
from numalign.errors import Notice
from numalign.sources.kubelet.found import Found, renamed, under
from numalign.sources.text import elements, inside, mapping
from numalign.sources.text.yaml import Document


def gke(document: Document, fields: Fields, path: str) -> Found:
    """Read GKE's `kubeletConfig`; `static` of the Memory Manager may be spelled either way (21)."""
    found = renamed(GKE, fields, under(document, path))
    policy = found.fields.get("memoryManagerPolicy")
    if policy in ("static", "none"):
        found = found._replace(fields={**found.fields, "memoryManagerPolicy": str(policy).capitalize()})
    if str(document.data.get("apiVersion")).startswith("container.cnrm.") and "topologyManager" in fields:
        said = "Config Connector of August 2026 does not take topologyManager and memoryManager"
        found = found._replace(notices=(*found.notices, Notice("setting-not-taken", said, document.where(path))))
    return found


def gke_object(document: Document) -> Iterator[Found]:
    """Read a node pool, a cluster or a ComputeClass of GKE (20)."""
    places = ("spec.nodeConfig", "spec.nodeConfigDefaults", "spec.nodePoolDefaults.nodeConfigDefaults", "config")
    for path in (*places, "spec.priorityDefaults.nodeSystemConfig"):
        fields = mapping(document.data, *path.split("."), "kubeletConfig")
        if fields:
            yield gke(document, fields, f"{path}.kubeletConfig")
    for place, one in enumerate(elements(document.data, "spec", "priorities")):
        path = f"spec.priorities[{place}].nodeSystemConfig.kubeletConfig"
        fields = mapping(one, "nodeSystemConfig", "kubeletConfig")
        if fields:
            yield gke(document, fields, path)._replace(name=f"priorities[{place}]")


def aks(document: Document, fields: Fields, path: str = "") -> Found:
    """Read AKS' custom node configuration, as the command line and ARM spell it (24)."""
    found = renamed(AKS, fields, under(document, path))
    reserved = found.fields.get("kubeReserved")
    if isinstance(reserved, Mapping):
        units = {"cpu": "m", "memory": "Mi"}
        spelt = {name: f"{value}{units[name]}" for name, value in reserved.items()}
        found = found._replace(fields={**found.fields, "kubeReserved": spelt})
    return found


def aks_object(document: Document) -> Iterator[Found]:
    """Read an AKSNodeClass or a machine pool of Cluster API for Azure (24)."""
    if document.data.get("kind") == "AKSNodeClass":
        fields = mapping(document.data, "spec", "kubelet")
        found = renamed(AKS_NODECLASS, fields, under(document, "spec.kubelet"))
        pods = inside(document.data, "spec", "maxPods")
        more = {"maxPods": pods} if type(pods) is int else {}
        yield found._replace(fields={**found.fields, **more})
    else:
        yield aks(document, mapping(document.data, "spec", "kubeletConfig"), "spec.kubeletConfig")


def gcp_node_class(document: Document) -> Found:
    """Read the node class of Karpenter for GCP (46)."""
    path = "spec.kubeletConfiguration"
    return renamed(KARPENTER_GCP, mapping(document.data, *path.split(".")), under(document, path))


_SHOOT: Final = "spec.kubernetes.kubelet"


def shoot(document: Document) -> Iterator[Found]:
    """Read a Shoot: a pool's block takes the place of that for all pools, as a whole (27)."""
    shared = mapping(document.data, *_SHOOT.split("."))
    version = str(inside(document.data, "spec", "kubernetes", "version") or "")
    workers = elements(document.data, "spec", "provider", "workers")
    for place, worker in enumerate(workers):
        path = f"spec.provider.workers[{place}].kubernetes.kubelet"
        own = inside(worker, "kubernetes", "kubelet")
        fields, path = (own, path) if isinstance(own, Mapping) else (shared, _SHOOT)
        if fields:
            found = renamed(GARDENER, fields, under(document, path))
            yield found._replace(
                name=str(worker.get("name", "")),
                version=str(inside(worker, "kubernetes", "version") or version),
                instance=str(inside(worker, "machine", "type") or ""),
            )
    if not workers and shared:
        yield renamed(GARDENER, shared, under(document, _SHOOT))._replace(version=version)


_AKS_NAMES: Final = """
cpuCfsQuota cpuCfsQuotaPeriod imageGcHighThreshold imageGcLowThreshold podMaxPids containerLogMaxSizeMB
containerLogMaxFiles allowedUnsafeSysctls failSwapOn kubeReserved hardEvictionThreshold
"""
_AKS_OWN: Final = frozenset(_AKS_NAMES.split())


def is_aks(data: Fields) -> bool:
    """Tell whether a document without a kind is AKS' JSON."""
    if "kind" in data or "apiVersion" in data:
        return False
    return "cpuManagerPolicy" in data or len(data.keys() & _AKS_OWN) > 1
