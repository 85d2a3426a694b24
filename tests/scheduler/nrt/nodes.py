"""Nodes with pods on them, to be exported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from numalign.kubelet import admission
from numalign.kubelet.admission import Session
from numalign.kubelet.config import KubeletConfig, MemoryReservation
from numalign.kubelet.setup import Setup
from numalign.model.machine import Machine
from numalign.model.pod import Pod
from tests.conformance.sched import pod


def static(machine: Machine, kept: int = 1 << 30, **settings: object) -> Setup:
    """Both managers static; the first CPU and some memory of the first NUMA node that has any are reserved."""
    first = next(node for node in machine.numa_nodes if node.memory - sum(node.hugepages.values()) > kept)
    cpu = next(cpu for cpu in range(machine.cpus.bit_length()) if machine.cpus >> cpu & 1)
    config = KubeletConfig(
        topology_manager_policy="best-effort",
        topology_manager_policy_options={"max-allowable-numa-nodes": "64"} if len(machine.numa_nodes) > 8 else None,
        cpu_manager_policy="static",
        reserved_system_cpus=str(cpu),
        memory_manager_policy="Static",
        reserved_memory=(MemoryReservation(first.id, {"memory": str(kept)}),),
        system_reserved={"memory": str(kept)},
        eviction_hard={},
    )
    return Setup(machine, config._replace(**settings), "kubelet")


def guaranteed(name: str, *containers: Mapping[str, str], namespace: str = "default", init: bool = False) -> Pod:
    written: dict[str, object] = {
        "containers": [{"name": f"c{n}", "requests": c, "limits": c} for n, c in enumerate(containers)]
    }
    if init:
        written["initContainers"] = [{"name": "i0", "requests": containers[0], "limits": containers[0]}]
    return pod(written, name, namespace)


def with_pods(setup: Setup, pods: Iterable[Pod]) -> Session:
    session = admission.open_session(setup, fit_check=False)
    for one in pods:
        outcome = admission.admit(session, one)
        session = outcome.then
    return session
