"""No state that a kubelet was recorded in contradicts itself. Most edits that do: tests/sources/node/test_state.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from numalign.analysis.node.whole import Contradiction, contradictions
from numalign.kubelet import node as twin
from numalign.kubelet.config import MemoryReservation
from numalign.kubelet.node import Node, NodeState
from tests.analysis.support import GPU, STATIC, config, limits, machine, outcome, pod, pod_of
from tests.conformance import cases
from tests.conformance.families import e2e, lifecycle

VECTORS = Path(__file__).parents[2] / "vectors"
FAMILIES = [
    (lifecycle, VECTORS / "lifecycle.jsonl.gz", 2),
    (e2e, VECTORS / "e2e.jsonl.gz", 10),
    *((lifecycle, path, 2) for path in sorted(VECTORS.glob("versions/**/lifecycle*.jsonl.gz"))),
    *((e2e, path, 5) for path in sorted(VECTORS.glob("versions/**/e2e*.jsonl.gz"))),
]


def test_no_recorded_state_contradicts_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[Contradiction] = []
    seen = [0]

    def watch(name: str, state_of: Any) -> None:
        real = getattr(twin, name)

        def watching(node: Node, state: NodeState, what: Any) -> Any:
            result = real(node, state, what)
            found.extend(contradictions(node, state_of(result)))
            seen[0] += 1
            return result

        monkeypatch.setattr(twin, name, watching)

    watch("admit", lambda result: result[0])
    watch("remove", lambda result: result)
    watch("start_containers", lambda result: result.state)
    for family, path, every in FAMILIES:
        for case in cases(path, every):
            family.decide(case)

    assert found == []
    assert seen[0] > 5000


def test_an_init_container_that_has_ended_may_hold_nothing() -> None:
    admitted = outcome(config("none"), pod_of("p", init=limits(2), app=limits(2)))
    device, cpu, memory = admitted.after.states
    [[uid, held]] = cpu.assignments.items()

    def without(name: str) -> list[str]:
        left = {key: cpus for key, cpus in held.items() if key != name}
        default = cpu.default | (held[name] if name == "app" else 0)
        states = (device, cpu._replace(assignments={uid: left}, default=default), memory)
        return [one.message for one in contradictions(admitted.before.node, admitted.after._replace(states=states))]

    assert without("init") == []
    assert "0 CPUs, 2 requested" in without("app")


@pytest.mark.parametrize(
    ("init", "told"),
    [(0b11, []), (0b01, ["1 devices, 2 requested"]), (0, [])],
    ids=["all", "some", "none, as it ended"],
)
def test_devices_of_an_init_container_are_all_that_it_requests_or_none(init: int, told: list[str]) -> None:
    admitted = outcome(config("none"), pod_of("p", init=limits(1, gpu=2), app=limits(1)))
    device, cpu, memory = admitted.after.states
    [uid] = device.holdings
    held = {"init": {GPU: init}} if init else {}
    edited = device._replace(holdings={uid: held}, allocated={GPU: init}, reusable={})
    found = contradictions(admitted.before.node, admitted.after._replace(states=(edited, cpu, memory)))
    assert [one.message for one in found] == told


def test_where_no_cpus_are_pinned_none_are_missed() -> None:
    admitted = outcome(config("none", cpu_manager_policy="none"), pod("p", 2))
    assert list(contradictions(admitted.before.node, admitted.after)) == []


@pytest.mark.parametrize(
    ("first_core", "told"), [(0b1, ["1 CPUs, 2 requested"]), (0b11, [])], ids=["equal cores", "one of two threads"]
)
def test_cpus_are_counted_where_all_cores_are_equal(first_core: int, told: list[str]) -> None:
    """Elsewhere a kubelet errs (docs/rules/cpu-manager.md 8.11) and may have handed out another number."""
    on = machine("figure-1")
    on = on._replace(cores=(first_core, *(core for core in on.cores if not core & first_core)))
    admitted = outcome(config("none"), pod("p", 2), on=on)
    device, cpu, memory = admitted.after.states
    [[uid, held]] = cpu.assignments.items()
    less = held["app"] & (held["app"] - 1)
    cpu = cpu._replace(assignments={uid: {"app": less}}, default=cpu.default | held["app"] & ~less)
    edited = admitted.after._replace(states=(device, cpu, memory))
    assert [one.message for one in contradictions(admitted.before.node, edited)] == told


@pytest.mark.parametrize(
    ("groups", "told"),
    [((0b11, 0b11), []), ((0b100011, 0b11), ["0"]), ((0b10, 0b11), ["0"]), ((0b11, 0b01), ["1"])],
    ids=[
        "as the pod holds them",
        "a node that is not there",
        "the other one alone",
        "of the other one, the first alone",
    ],
)
def test_a_group_has_nodes_that_are_there_and_its_own(groups: tuple[int, int], told: list[str]) -> None:
    admitted = outcome(config("none", **STATIC), pod("p", 2, "20Gi"), fit_check=False)
    device, cpu, memory = admitted.after.states
    assert memory.groups == (0b11, 0b11), "it takes both nodes"

    edited = admitted.after._replace(states=(device, cpu, memory._replace(groups=groups)))
    found = [one.path for one in contradictions(admitted.before.node, edited)]
    assert found == [("memory", "nodes", numa, "cells") for numa in told]


@pytest.mark.parametrize(("kept", "told"), [("1Gi", True), ("20Gi", False)], ids=["less", "more than node 0 has"])
def test_what_is_reserved_is_what_pods_hold_where_no_more_is_kept_than_there_is(kept: str, told: bool) -> None:
    """Elsewhere amounts wrap around (docs/rules/memory-manager.md 14), and nothing adds up."""
    section = (MemoryReservation(0, {"memory": kept}),)
    settings = config("none", memory_manager_policy="Static", kube_reserved={"memory": kept}, reserved_memory=section)
    admitted = outcome(settings, pod("p", 1, "2Gi"), fit_check=False)
    device, cpu, memory = admitted.after.states
    place, moved = admitted.before.node.memory.places["memory"], 1 << 30

    def with_more(table: tuple[tuple[int, ...], ...], more: int) -> tuple[tuple[int, ...], ...]:
        first, second = table[place]
        return (*table[:place], (first, second + more), *table[place + 1 :])

    edited = memory._replace(free=with_more(memory.free, -moved), reserved=with_more(memory.reserved, moved))
    found = contradictions(admitted.before.node, admitted.after._replace(states=(device, cpu, edited)))
    said = f"{3 * moved} bytes of memory are reserved, the pods hold {2 * moved}"
    assert [one.message for one in found] == [said] * told
