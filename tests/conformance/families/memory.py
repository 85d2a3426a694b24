"""Family `memory`: the static memory policy alone."""

from __future__ import annotations

from typing import Any

from numalign.errors import StartError
from numalign.kubelet.config import MemoryReservation
from numalign.kubelet.demand import ContainerDemand, PodDemand
from numalign.kubelet.errors import AllocationError, KubeletPanicError
from numalign.kubelet.memory.allocate import remove
from numalign.kubelet.memory.hints import container_hints
from numalign.kubelet.memory.reserved import read_reserved_memory, total_of
from numalign.kubelet.memory.start import start
from numalign.kubelet.memory.state import Block, MemoryManager, MemoryState, initial_state, machine_state
from numalign.kubelet.releases.release import Kubelet
from numalign.kubelet.topology.hints import CANNOT_FIT, NO_PREFERENCE, HintFamily, ProviderAnswer, TopologyHint, expand
from numalign.model import quantity
from numalign.model.cpuset import from_ids, ids
from numalign.model.machine import Machine, NUMANode
from numalign.model.resources import is_memory
from tests.conformance.families.merge import hint_as_recorded
from tests.conformance.versions import kubelet_of, pod_of

Step = dict[str, Any]


def decide(case: dict[str, Any]) -> dict[str, Any]:
    """Carry out the case's steps on a fresh Memory Manager."""
    try:
        manager = _start(case)
    except StartError as error:
        return {"startError": error.message}
    state = initial_state(manager)
    pods = {name: pod_of(case, manifest) for name, manifest in case["pods"].items()}
    answers: list[dict[str, Any]] = []
    for step in case["steps"]:
        try:
            state, answer = _do(kubelet_of(case), manager, state, pods[step["pod"]], step)
        except KubeletPanicError as panic:
            answers.append({"panic": str(panic)})
            break
        except AllocationError as error:
            answer = {"error": error.message}
        answers.append(answer)
    return {"steps": answers, "machineState": machine_state(manager, state)}


def _start(case: dict[str, Any]) -> MemoryManager:
    """Start with a node reservation that equals the sum of `reservedMemory`: the policy alone does not compare them."""
    nodes = tuple(NUMANode(one["id"], memory=one["memory"], hugepages=one.get("hugepages", {})) for one in _nodes(case))
    reserved = tuple(MemoryReservation(one["numaNode"], one["limits"]) for one in case["reservedMemory"])
    resources = {resource for element in reserved for resource in element.limits if is_memory(resource)}
    amounts = {
        resource: [quantity.parse(one.limits[resource]) for one in reserved if resource in one.limits]
        for resource in resources
    }
    reservation = {resource: total for resource, found in amounts.items() if (total := total_of(found))}
    return start(Machine("case", nodes), "Static", read_reserved_memory(reserved), reservation)


def _nodes(case: dict[str, Any]) -> list[dict[str, Any]]:
    nodes: list[dict[str, Any]] = case["machine"]["numaNodes"]
    return nodes


def _do(
    kubelet: Kubelet, manager: MemoryManager, state: MemoryState, pod: PodDemand, step: Step
) -> tuple[MemoryState, dict[str, Any]]:
    if step["op"] == "remove":
        return remove(manager, state, pod.uid, step["container"]), {}
    if step["op"] == "podHints":
        silent = pod.memory is None or pod.uid in state.entries
        return state, {"hints": _recorded(kubelet.memory.pod_hints(manager, state, pod), pod, silent)}
    container = _container(pod, step["container"])
    held = state.blocks(pod.uid, container.name)
    if step["op"] == "hints":
        silent = container.memory is None or bool(held)
        return state, {"hints": _recorded(container_hints(manager, state, pod, container), pod, silent)}
    state = kubelet.memory.allocate(manager, state, pod, container, _hint(step["hint"]))
    return state, {"blocks": _blocks(state.blocks(pod.uid, container.name))}


def _container(pod: PodDemand, name: str) -> ContainerDemand:
    return next(container for container in pod.containers if container.name == name)


def _hint(hint: dict[str, Any] | None) -> TopologyHint:
    if hint is None:
        return TopologyHint(None, False)
    nodes = hint["numaNodes"]
    return TopologyHint(None if nodes is None else from_ids(nodes), hint["preferred"])


def _recorded(answer: ProviderAnswer, pod: PodDemand, silent: bool) -> dict[str, Any] | None:
    """Write an answer as recorded: both null (not asked, or not the same as what is held) and {} are no opinion."""
    if not answer:
        return None if silent or not pod.guaranteed else {}
    result = {}
    for resource, hints in answer.items():
        assert hints != NO_PREFERENCE
        listed = expand(hints) if isinstance(hints, HintFamily) else () if hints == CANNOT_FIT else hints
        result[resource] = [hint_as_recorded(hint) for hint in listed]
    return result


def _blocks(blocks: tuple[Block, ...] | None) -> list[dict[str, Any]] | None:
    if not blocks:
        return None
    return [{"numaNodes": list(ids(one.mask)), "type": one.type, "bytes": one.size} for one in blocks]
