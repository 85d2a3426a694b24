"""Family `cpuhints`: hints of the static CPU policy, and what allocations with them give."""

from __future__ import annotations

from typing import Any

from numalign.kubelet.cpu.manager import CPUManager
from numalign.kubelet.cpu.state import initial_state
from numalign.kubelet.topology.hints import CANNOT_FIT, HintFamily, ProviderAnswer, expand
from numalign.model.cpuset import format_set
from tests.conformance import Case
from tests.conformance.families.cpu import run_step, try_allocate, when_started
from tests.conformance.families.merge import hint_as_recorded
from tests.conformance.versions import kubelet_of, pod_of

CPU_GATES = {"CPUManagerPolicyAlphaOptions": True}

Shown = dict[str, list[dict[str, Any]]] | None


@when_started
def decide(case: Case, manager: CPUManager) -> dict[str, Any]:
    """Answer a case of the family."""
    state = initial_state(manager)
    for step in case["prior"]:
        state, _ = run_step(case, manager, state, step)
    provider, pod = kubelet_of(case).cpu, pod_of(case, case["pod"], CPU_GATES)
    answer: dict[str, Any] = {
        "sharedPool": format_set(state.default),
        "pod": shown(provider.pod_hints(manager, state, pod)),
        "containers": [],
    }
    for container in pod.containers:
        hints = shown(provider.container_hints(manager, state, pod, container))
        state, given = try_allocate(case, manager, state, pod, container, chosen_mask(hints))
        answer["containers"].append({"name": container.name, "hints": hints, "cpus": None, **given})
    answer["again"] = {
        "pod": shown(provider.pod_hints(manager, state, pod)),
        "containers": {one.name: shown(provider.container_hints(manager, state, pod, one)) for one in pod.containers},
    }
    return answer


def shown(answer: ProviderAnswer) -> Shown:
    """Write hints as they were recorded."""
    if not answer:
        return None
    hints = answer["cpu"]
    if hints == CANNOT_FIT:
        return {"cpu": []}
    assert isinstance(hints, HintFamily)
    return {"cpu": list(map(hint_as_recorded, expand(hints)))}


def chosen_mask(hints: Shown) -> int | None:
    """Pick the first preferred hint, else the first, else no mask."""
    listed = (hints or {}).get("cpu") or []
    best = next((hint for hint in listed if hint["preferred"]), listed[0] if listed else None)
    return None if best is None else sum(1 << node for node in best["numaNodes"])
