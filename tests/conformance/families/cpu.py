"""Family `cpu`: the static CPU policy alone, step by step."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from numalign.errors import StartError
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.cpu.manager import CPUManager
from numalign.kubelet.cpu.state import CPUState, initial_state, remove
from numalign.kubelet.demand import ContainerDemand, PodDemand, read_demand
from numalign.kubelet.errors import AllocationError, KubeletHangError
from numalign.kubelet.topology.hints import TopologyHint
from numalign.kubelet.topology.provider import StartInput
from numalign.model import quantity
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.cpuset import format_set, from_ids, parse
from numalign.model.machine import Machine, NUMANode, Unit
from tests.conformance import Case
from tests.conformance.versions import kubelet_of


def when_started(answer: Callable[[Case, CPUManager], dict[str, Any]]) -> Callable[[Case], dict[str, Any]]:
    """Answer a case with a started manager, or with what the policy itself says where it does not start.

    These cases were recorded without the kubelet around it.
    """

    def decide(case: Case) -> dict[str, Any]:
        try:
            manager = start_case(case)
        except StartError as error:
            return {"startError": error.message.removeprefix("new static policy error: ")}
        return answer(case, manager)

    return decide


@when_started
def decide(case: Case, manager: CPUManager) -> dict[str, Any]:
    """Answer a case of the family."""
    state = initial_state(manager)
    steps = []
    for step in case["steps"]:
        try:
            state, answer = run_step(case, manager, state, step)
        except KubeletHangError:
            return {"hang": True}
        steps.append({**answer, "sharedPool": format_set(state.default)})
    return {"reserved": format_set(manager.reserved), "steps": steps}


def run_step(case: Case, manager: CPUManager, state: CPUState, step: dict[str, Any]) -> tuple[CPUState, dict[str, Any]]:
    """Run one `allocate` or `remove` and say what it gave."""
    uid, name = step["pod"], step["container"]
    if step["op"] == "remove":
        return remove(state, uid, name), {}
    pod = lone_pod(uid, name, str(step["cpus"]))
    container = pod.containers[0]._replace(kind=step.get("kind", "app"))
    nodes = (step["hint"] or {}).get("numaNodes")
    mask = None if nodes is None else from_ids(nodes)
    return try_allocate(case, manager, state, pod, container, mask)


def try_allocate(
    case: Case, manager: CPUManager, state: CPUState, pod: PodDemand, container: ContainerDemand, mask: int | None
) -> tuple[CPUState, dict[str, Any]]:
    """Allocate, and say what it gave."""
    try:
        state = kubelet_of(case).cpu.allocate(manager, state, pod, container, TopologyHint(mask, preferred=True))
    except AllocationError as error:
        told = error.reason and case.get("kubeletVersion") != "1.37"  # rebuilt without reasons
        return state, {"error": error.message} | ({"reason": error.reason} if told else {})
    cpus = state.assigned(pod.uid, container.name)
    return state, {"cpus": None if cpus is None else format_set(cpus)}


def start_case(case: Case) -> CPUManager:
    """Start the CPU Manager of a case."""
    reserved = parse(case["reserved"].get("cpus", ""))
    count = case["reserved"].get("count", reserved.bit_count())
    kubelet = kubelet_of(case)
    config = KubeletConfig(
        cpu_manager_policy="static",
        cpu_manager_policy_options=case["options"],
        topology_manager_policy=case["topologyManagerPolicy"],
    )
    given = StartInput(
        machine=machine(case["machine"]),
        config=config,
        gates=lambda _name: True,
        levels=kubelet.levels("cpu"),
        reserved_cpus=reserved,
        reserved_memory=(),
        reservation={"cpu": quantity.from_int(count)},
        waive_cpu_reservation=True,  # a few cases were recorded with nothing reserved
    )
    return kubelet.cpu.start(given)


@cache
def lone_pod(uid: str, name: str, cpus: str) -> PodDemand:
    """Return a Guaranteed pod of one container: a single allocation does not look at the others."""
    amounts = {"cpu": cpus, "memory": "1Gi"}
    container = {"name": name, "resources": {"limits": amounts, "requests": amounts}}
    return read_demand(read_pod({"metadata": {"name": uid, "uid": uid}, "spec": {"containers": [container]}}))


@cache
def cpus(text: str) -> int:
    """Read a list of CPUs: few lists make up all machines."""
    return parse(text)


def machine(data: dict[str, Any]) -> Machine:
    """Read the `machine` field."""
    return Machine(
        "",
        tuple(NUMANode(node["id"], cpus(node["cpus"])) for node in data["numaNodes"]),
        tuple(Unit(index, cpus(text)) for index, text in enumerate(data["sockets"])),
        tuple(from_ids(core) for core in data["cores"]),
        tuple(Unit(index, cpus(text)) for index, text in enumerate(data.get("uncoreCaches") or ())),
    )
