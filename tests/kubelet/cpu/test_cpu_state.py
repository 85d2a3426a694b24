"""Who holds which CPUs: assignments, the pool, what init containers leave (docs/rules/cpu-manager.md 4, 9, 10)."""

from __future__ import annotations

import pytest

from numalign.kubelet.cpu.state import CPUState, assign, handed_out_twice, keep, remove, remove_pod
from numalign.kubelet.cpu.topology import NO_TOPOLOGY
from numalign.model.pod import ContainerKind
from tests.kubelet.cpu.support import container


def test_at_first_nobody_holds_anything() -> None:
    """Rule 4.5."""
    assert CPUState(0b11) == (0b11, {}, "", 0, {})


def test_without_the_static_policy_no_topology_is_known() -> None:
    assert not any(NO_TOPOLOGY)


@pytest.mark.parametrize(
    ("pool", "held", "twice"),
    [
        (0b1100, {"a": {"c": 0b1}, "b": {"c": 0b10}}, 0),
        (0b1101, {"a": {"c": 0b1}}, 0b1),
        (0b1000, {"a": {"c": 0b11}, "b": {"c": 0b110}}, 0b10),
        (0b1000, {"a": {"c": 0b1}, "b": {"c": 0b1}, "d": {"c": 0b10}, "e": {"c": 0b10}}, 0b11),
        (0b1001, {"a": {"c": 0b1}, "b": {"c": 0b100}, "d": {"c": 0b100}}, 0b101),
        (0b1000, {"a": {"init": 0b11, "c": 0b110}}, 0),
    ],
    ids=["nobody", "one and the pool", "two pods", "two pairs", "a pair, and one and the pool", "two of a pod"],
)
def test_cpus_that_are_handed_out_twice(pool: int, held: dict[str, dict[str, int]], twice: int) -> None:
    """docs/rules/cpu-manager.md 8.11; containers of a pod may share CPUs, one after the other."""
    assert handed_out_twice(CPUState(pool, held)) == twice


@pytest.mark.parametrize(
    ("kind", "before", "reuse"), [("init", 0b1, 0b111), ("init", 0, 0b110), ("app", 0b11, 0b1), ("sidecar", 0b10, 0)]
)
def test_an_init_container_leaves_its_cpus(kind: ContainerKind, before: int, reuse: int) -> None:
    """Rule 9.2; so it does when it has been there before (7.4)."""
    state = CPUState(0b111000, {"p": {"other": 0b1}}, "p", before)
    held = container("c", 2, kind)
    found = assign(state, "p", held, 0b110)
    assert found == CPUState(0b111000, {"p": {"other": 0b1, "c": 0b110}}, "p", reuse)
    assert keep(found._replace(reuse=before), "p", held, 0b110) == found
    assert found.reusable("p") == reuse
    assert found.reusable("q") == 0
    assert (found.assigned("p", "c"), found.assigned("p", "d"), found.assigned("q", "c")) == (0b110, None, None)


def test_what_another_pod_left_is_gone() -> None:
    state = CPUState(0b1100, {}, "q", 0b1)
    assert assign(state, "p", container("c", 1, "init"), 0b100) == CPUState(0b1000, {"p": {"c": 0b100}}, "p", 0b100)


HELD = CPUState(0b1000000, {"p": {"a": 0b11, "b": 0b110}, "q": {"c": 0b11000}}, "p", 0b1, {"r": 0b100000})


def test_what_a_container_held_is_free_but_for_cpus_of_others() -> None:
    """Rule 10.1."""
    assert remove(HELD, "p", "a") == HELD._replace(
        default=0b1000001, assignments={"p": {"b": 0b110}, "q": {"c": 0b11000}}
    )
    assert remove(HELD, "q", "c") == HELD._replace(default=0b1011000, assignments={"p": HELD.assignments["p"]})
    assert remove(HELD, "q", "none") is HELD


def test_what_a_pod_held_is_free() -> None:
    assert remove_pod(HELD, "p") == HELD._replace(default=0b1000111, assignments={"q": {"c": 0b11000}})
    assert remove_pod(HELD, "none") is HELD


def test_what_a_pod_held_as_a_whole_is_free_whatever_its_containers_have() -> None:
    """docs/rules/kubelet-versions.md 6.9."""
    held = HELD._replace(pods={"r": 0b100000, "q": 0b111000, "s": 0b1})
    assert remove_pod(held, "q") == held._replace(
        default=0b1111000, assignments={"p": HELD.assignments["p"]}, pods={"r": 0b100000, "s": 0b1}
    )
