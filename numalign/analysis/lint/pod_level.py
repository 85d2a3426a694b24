"""What lint finds of resources for the whole pod, in regular and static pods."""

from __future__ import annotations

from collections.abc import Iterator

from numalign.analysis.lint.finding import Finding
from numalign.analysis.lint.subject import Subject
from numalign.kubelet.pod_level import complete_in_1_34
from numalign.kubelet.releases import NEWEST_TEXT
from numalign.kubelet.releases.release import version_text
from numalign.model.resources import is_hugepages


def pod_level_resources(subject: Subject) -> Iterator[Finding]:
    """CPU Manager and Memory Manager skip pods with resources for the whole pod (docs/rules/kubelet-versions.md 6)."""
    resources = subject.pod.spec.get("resources") or {}
    named = {name for which in ("requests", "limits") for name in resources.get(which) or {}}
    if subject.on and (subject.demand.guaranteed or not subject.guaranteed):
        return
    if any(name in ("cpu", "memory") or is_hugepages(name) for name in named):
        yield Finding(
            f"spec.resources: {_kubelets_that_skip(subject)} no CPUs and no memory for this pod",
            "set requests and limits in each container, and remove spec.resources",
            "spec.resources",
            "unaligned",
        )


def static_pod_level(subject: Subject) -> Iterator[Finding]:
    """From 1.37 on the API server fills in pod-level defaults, which no static pod passes (kubelet-1.37.md 4.2)."""
    pod, level = subject.pod, subject.pod.level
    if not pod.is_static or level is None or complete_in_1_34(pod, level) == level:
        return
    yield Finding(
        "a static pod whose spec.resources lacks requests or limits: kubelet 1.37 probably fills in none",
        "write all requests and limits of the pod into spec.resources",
        "spec.resources",
        "note",
    )


def _kubelets_that_skip(subject: Subject) -> str:
    if subject.on is None:
        return f"kubelets 1.34 to {NEWEST_TEXT} by default pin"
    return f"kubelet {version_text(subject.on.node.kubelet.version)} pins"
