"""Pods, machines and admissions for the tests of what an answer means."""

from __future__ import annotations

from typing import Any

from numalign.analysis.culprits import decisions
from numalign.analysis.situation import Situation, arrivals
from numalign.kubelet.admission import Outcome, admit
from numalign.kubelet.config import IDEAL, KubeletConfig, MemoryReservation
from numalign.kubelet.node import Decision
from numalign.kubelet.setup import Setup
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.machine import Machine
from numalign.model.pod import Pod
from numalign.sources.machine.loading import load_machine

GPU, NIC, PAGES = "gpu-vendor.com/gpu", "nic-vendor.com/nic", "hugepages-2Mi"
NAMES = {"gpu": GPU, "nic": NIC, "pages": PAGES}
STATIC: dict[str, Any] = {
    "memory_manager_policy": "Static",
    "reserved_memory": (MemoryReservation(0, {"memory": "1Gi"}),),
    "kube_reserved": {"memory": "1Gi"},
}
"""A Memory Manager that pins, with one Gi of node 0 kept back."""


def machine(name: str) -> Machine:
    return load_machine(name).machine


def config(policy: str, **more: Any) -> KubeletConfig:
    return IDEAL._replace(topology_manager_policy=policy, **more)


def limits(cpu: float = 1, memory: str = "200Mi", **more: Any) -> dict[str, str]:
    return {"cpu": str(cpu), "memory": memory, **{NAMES[key]: str(more[key]) for key in more}}


def pod(name: str, cpu: float = 1, memory: str = "200Mi", **more: Any) -> Pod:
    """A Guaranteed pod of one container `app`; `gpu=1`, `nic=1`, `pages="1Gi"` beside CPUs and memory."""
    return pod_of(name, app=limits(cpu, memory, **more))


def pod_of(name: str, /, **containers: dict[str, str]) -> Pod:
    """A pod of several containers by their limits; a name that begins with `init` is an init container."""
    parts: dict[str, list[dict[str, Any]]] = {"initContainers": [], "containers": []}
    for each, amounts in containers.items():
        entry = {"name": each, "resources": {"limits": amounts}}
        parts["initContainers" if each.startswith("init") else "containers"].append(entry)
    return read_pod({"metadata": {"name": name}, "spec": parts})


def outcome(
    settings: KubeletConfig, asked: Pod, *before: Pod, on: Machine | None = None, fit_check: bool = True
) -> Outcome:
    """Admit a pod after others; without a machine on `figure-1`: two nodes of four CPUs, a GPU and a NIC each."""
    setup = Setup(on or machine("figure-1"), settings, "ideal")
    return admit(Situation(setup, fit_check, past=arrivals(before)).session(), asked)


def decision(found: Outcome, container: str | None = "app") -> Decision:
    """Take out the decision about one container, or (None) about the whole pod."""
    return next(one for one in decisions(found) if one.container == container)
