"""What init containers hand on to the containers after them (docs/rules/cpu-manager.md 9, device-manager.md 6)."""

from __future__ import annotations

from numalign.analysis.holding import Handed, handed_on
from numalign.kubelet.admission import Outcome
from tests.analysis.support import GPU, STATIC, config, limits, outcome, pod_of

PINS = config("single-numa-node", **STATIC)
GI = 1 << 30


def handed(found: Outcome) -> list[Handed]:
    return list(handed_on(found.before.node, found.after, found.demand))


def test_a_pod_without_init_containers_hands_nothing_on() -> None:
    assert handed(outcome(PINS, pod_of("p", a=limits(2, gpu=1)))) == []


def test_what_the_last_init_container_held_is_there_for_the_next_container() -> None:
    refused = outcome(PINS, pod_of("p", init=limits(2, "1Gi", gpu=1), a=limits(5)))

    assert handed(refused) == [
        Handed("cpu", ("init",), 2, 1, {0: 2, 1: 0}),
        Handed(GPU, ("init",), 1, 1, {0: 1}),
        Handed("memory", ("init",), GI, 1, {0: GI}),
    ]


def test_several_that_held_it_are_named() -> None:
    refused = outcome(PINS, pod_of("p", init1=limits(1, "1Gi"), init2=limits(2, "2Gi"), a=limits(5)))

    [cpus, memory] = handed(refused)
    assert (cpus.containers, cpus.amount) == (("init1", "init2"), 2)
    assert (memory.containers, memory.amount, memory.nodes) == (("init1", "init2"), 2 * GI, 1)


def test_what_a_container_took_over_is_handed_on_no_more() -> None:
    assert handed(outcome(PINS, pod_of("p", init=limits(2, "1Gi", gpu=1), a=limits(2, "1Gi", gpu=1)))) == []


def test_memory_on_several_nodes_is_told_as_a_whole() -> None:
    settings = config("best-effort", **STATIC)
    refused = outcome(settings, pod_of("p", init=limits(1, "20Gi"), a=limits(1, "40Gi")), fit_check=False)

    [memory] = [one for one in handed(refused) if one.resource == "memory"]
    assert (memory.amount, memory.nodes, memory.per_numa) == (20 * GI, 3, {})
