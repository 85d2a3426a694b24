"""Which pods a critical pod evicts (docs/rules/admission-fit.md 1.7, 5.1)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.kubelet.fit.preemption import is_critical, priority, victims
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.pod import Pod
from tests.dice import Dice, rolled

GI = 1 << 30


def pod(name: str = "p", cpu: str = "", memory: str = "", *, limits: bool = False, **spec: Any) -> Pod:
    """A pod of one container; with limits it is guaranteed, with amounts burstable, without best effort."""
    amounts = {key: text for key, text in (("cpu", cpu), ("memory", memory)) if text}
    container = {"name": "c", "resources": {"requests": amounts, **({"limits": amounts} if limits else {})}}
    metadata = {"name": name, "annotations": spec.pop("annotations", {})}
    return read_pod({"metadata": metadata, "spec": {"containers": [container], **spec}})


CRITICAL = pod("critical", priority=2_000_000_000)
IMPORTANT = [
    ("of the least priority that is critical", {"priority": 2_000_000_000}, True),
    ("just below it", {"priority": 1_999_999_999}, False),
    ("of no priority", {}, False),
    ("of a class that every cluster has", {"priorityClassName": "system-cluster-critical"}, True),
    ("of the other one", {"priorityClassName": "system-node-critical"}, True),
    ("of another class", {"priorityClassName": "mine"}, False),
    (
        "of such a class with a priority that says something else",
        {"priorityClassName": "system-node-critical", "priority": 0},
        False,
    ),
    ("from a file", {"annotations": {"kubernetes.io/config.source": "file"}}, True),
    ("from the API server", {"annotations": {"kubernetes.io/config.source": "api"}}, False),
    ("a mirror", {"annotations": {"kubernetes.io/config.mirror": ""}}, True),
]


@pytest.mark.parametrize(("spec", "critical"), [row[1:] for row in IMPORTANT], ids=[row[0] for row in IMPORTANT])
def test_a_pod_is_critical(spec: dict[str, Any], critical: bool) -> None:
    assert is_critical(pod(**spec)) is critical


def test_a_class_has_a_priority() -> None:
    assert priority(pod(priorityClassName="system-node-critical")) == 2_000_001_000
    assert priority(pod(priorityClassName="system-cluster-critical")) == 2_000_000_000
    assert priority(pod(priority=-7)) == -7
    assert priority(pod()) is None


MAY = [
    ("a critical pod evicts one that is not", CRITICAL, pod(), True),
    ("but no other critical one", CRITICAL, pod(priority=2_000_000_000), False),
    ("not one of more priority", CRITICAL, pod(priority=2_000_000_001), False),
    ("a critical one of less priority", pod(priority=2_000_000_001), CRITICAL, True),
    (
        "a static pod evicts any that is not critical",
        pod(annotations={"kubernetes.io/config.source": "file"}),
        pod(),
        True,
    ),
    ("of two that are not critical the greater priority counts", pod(priority=2), pod(priority=1), True),
    ("equal ones stay", pod(priority=1), pod(priority=1), False),
    ("without a priority none is greater", pod(), pod(priority=-1), False),
    ("nor less", pod(priority=1), pod(), False),
]


@pytest.mark.parametrize(("mine", "other", "may"), [row[1:] for row in MAY], ids=[row[0] for row in MAY])
def test_who_may_evict_whom(mine: Pod, other: Pod, may: bool) -> None:
    gone, rest = victims(mine, [other], {"pods": 1})

    assert gone == ((other,) if may else ())
    assert rest == ({} if may else {"pods": 1})


def names(*others: Pod, **needs: int) -> list[str]:
    """Who goes for these needs: CPU in milli-CPUs, memory in GiB."""
    if "memory" in needs:
        needs["memory"] *= GI
    return [one.name for one in victims(CRITICAL, others, needs)[0]]


BE, BU, GU = pod("be"), pod("bu", "2", "1Gi"), pod("gu", "2", "1Gi", limits=True)
CHOSEN = [
    ("who gives nothing stays", [BE, BU], {"cpu": 1000}, ["bu"]),
    ("a pod gives itself", [GU, BU, BE], {"pods": 1}, ["be"]),
    ("burstable before guaranteed", [GU, BU], {"cpu": 2000}, ["bu"]),
    ("guaranteed where the others are too few", [GU, BU, BE], {"cpu": 3000}, ["bu", "gu"]),
    (
        "guaranteed first, where it spares the others",
        [pod("gu", "4", limits=True), pod("bu", "1")],
        {"cpu": 4000},
        ["gu"],
    ),
    ("best effort stands first", [GU, BE, BU], {"pods": 3}, ["be", "bu", "gu"]),
    ("the closest goes", [pod("a", "1"), pod("b", "3"), pod("c", "2")], {"cpu": 3000}, ["b"]),
    ("of two that are enough the one with less CPU", [pod("a", "4"), pod("b", "3")], {"cpu": 3000}, ["b"]),
    (
        "of two that are enough the one with less memory",
        [pod("a", "3", "2Gi"), pod("b", "4", "1Gi")],
        {"cpu": 3000},
        ["b"],
    ),
    ("a full tie goes to the first", [pod("a", "3"), pod("b", "3")], {"cpu": 3000}, ["a"]),
    ("none is enough: the largest, then the rest", [pod("a", "1"), pod("b", "2")], {"cpu": 3000}, ["b", "a"]),
    (
        "what is needed of both",
        [pod("a", "3", "1Gi"), pod("b", "1", "3Gi"), pod("c", "2", "2Gi")],
        {"cpu": 2000, "memory": 2},
        ["c"],
    ),
    ("one that lacks a milli-CPU is no match", [pod("a", "999m"), pod("b", "1", "1Gi")], {"cpu": 1000}, ["b"]),
    ("more than is needed is as close as just enough", [pod("a", "1", "1Gi"), pod("b", "2")], {"cpu": 1000}, ["b"]),
    (
        "shares that are missing count by their squares: two halves are less than nine tenths",
        [pod("a", "10", "1Gi"), pod("b", "5", "5Gi"), pod("c", "0", "9Gi")],
        {"cpu": 10_000, "memory": 10},
        ["b", "a", "c"],
    ),
    (
        "and two times six tenths are more than eight tenths",
        [pod("a", "4", "4Gi"), pod("b", "10", "2Gi"), pod("c", "0", "8Gi")],
        {"cpu": 10_000, "memory": 10},
        ["b", "c"],
    ),
    ("nobody where all are too few", [BU, GU], {"cpu": 5000}, []),
]


@pytest.mark.parametrize(("others", "needs", "gone"), [row[1:] for row in CHOSEN], ids=[row[0] for row in CHOSEN])
def test_who_is_evicted(others: list[Pod], needs: dict[str, int], gone: list[str]) -> None:
    assert names(*others, **needs) == gone


def test_what_is_still_missing_is_told() -> None:
    gone, rest = victims(CRITICAL, [pod("a", "1", "3Gi"), CRITICAL], {"cpu": 2500, "memory": 3 * GI, "pods": 2})

    assert (gone, rest) == ((), {"cpu": 1500, "pods": 1})


def several(*requests: tuple[str, str], overhead: str = "") -> Pod:
    """A pod of (kind, CPU): kinds are init, sidecar and app."""
    made: dict[str, list[dict[str, Any]]] = {"initContainers": [], "containers": []}
    for index, (kind, cpu) in enumerate(requests):
        container = {"name": f"c{index}", "resources": {"requests": {"cpu": cpu}}}
        if kind == "sidecar":
            container["restartPolicy"] = "Always"
        made["containers" if kind == "app" else "initContainers"].append(container)
    spec: dict[str, Any] = {**made, **({"overhead": {"cpu": overhead}} if overhead else {})}
    return read_pod({"metadata": {"name": "x"}, "spec": spec})


GIVEN = [
    ("app containers together", several(("app", "1"), ("app", "2")), 3000),
    ("the largest init container", several(("init", "4"), ("init", "3"), ("app", "1")), 4000),
    ("a sidecar counts like an init container", several(("sidecar", "2"), ("app", "3")), 3000),
    ("overhead beside it", several(("app", "1"), overhead="500m"), 1500),
    ("rounded up", several(("app", "1500u")), 2),
]


@pytest.mark.parametrize(("other", "milli"), [row[1:] for row in GIVEN], ids=[row[0] for row in GIVEN])
def test_what_evicting_a_pod_gives(other: Pod, milli: int) -> None:
    assert victims(CRITICAL, [other], {"cpu": milli})[0] == (other,)
    assert victims(CRITICAL, [other], {"cpu": milli + 1}) == ((), {"cpu": 1})


def test_overhead_alone_gives_nothing() -> None:
    bare = read_pod({"metadata": {"name": "x"}, "spec": {"containers": [{"name": "c"}], "overhead": {"cpu": "1"}}})
    assert victims(CRITICAL, [bare], {"cpu": 1}) == ((), {"cpu": 1})


def _case(dice: Dice) -> tuple[list[Pod], dict[str, int]]:
    others = [
        pod(f"p{index}", str(dice.below(4)), f"{dice.below(4)}Gi", limits=dice.flag()) for index in range(dice.below(6))
    ]
    return others, {"cpu": 1000 * dice.between(1, 6), "memory": GI * dice.between(1, 6)}


@given(rolled(_case, 60), st.booleans())
def test_those_who_go_are_enough_and_each_class_is_needed(case: tuple[list[Pod], dict[str, int]], pods: bool) -> None:
    others, needs = case
    needs = {**needs, "pods": 2} if pods else needs
    gone, rest = victims(CRITICAL, others, needs)

    def gives(some: list[Pod]) -> dict[str, int]:
        """What is left to need when some pods are gone."""
        return dict(victims(CRITICAL, some, needs)[1])

    assert gives(others) == rest
    if not rest:
        assert gives(list(gone)) == {}
        for qos in {one.qos for one in gone}:
            assert gives([one for one in gone if one.qos != qos]) != {}
