"""One container's plan against what was measured (docs/rules/verify.md W-6 to W-18)."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.analysis.alignment import alignment
from numalign.analysis.holding import Holding, holding
from numalign.analysis.placed import Part
from numalign.analysis.verify.compare import (
    REMOTE_BYTES,
    Deviation,
    Machine,
    Plan,
    allowed_everywhere,
    intruders,
    judge,
    pages,
)
from numalign.analysis.verify.observed import Group, Observed, Process, Thread
from numalign.model.cpuset import parse
from tests.analysis.support import STATIC, config, limits, outcome, pod_of

MI = 1 << 20
GPU = "gpu-vendor.com/gpu"
DECIDED = outcome(config("single-numa-node", **STATIC), pod_of("p", a=limits(2, "1Gi", gpu=1)))
HELD = holding(DECIDED.before.node, DECIDED.after, DECIDED.demand.uid, DECIDED.demand.containers[0])
ALIGNED = alignment(DECIDED.before.node, HELD, DECIDED.demand.containers[0])
"""Two CPUs, a GPU and memory of node 0 of figure 1, whose nodes have CPUs 0-3 and 4-7."""
ON = Machine(0xFF, {0: 0x0F, 1: 0xF0})


def plan(cpus: str | None = "0-1", *, exclusive: bool = True, nodes: int | None = 1, **changes: Any) -> Plan:
    made = Plan("u", "ns/p", "a", None if cpus is None else parse(cpus), exclusive, nodes, HELD, ALIGNED)
    return made._replace(**changes)


def thread(cpus: str = "0-1", last: int = -1, tid: int = 7) -> Thread:
    return Thread(tid, parse(cpus), 1, last)


def group(cpus: str | None = "0-1", **changes: Any) -> Group:
    measured = None if cpus is None else parse(cpus)
    return Group("u", "c" * 20, "a", "/g", measured, measured, 1, 1, None)._replace(**changes)


def observed(*groups: Group, **changes: Any) -> Observed:
    return Observed(2, groups, ())._replace(**changes)


def found(
    planned: Plan, measured: Group | None, seen: Observed | None = None, exclusive: str = "0-1"
) -> tuple[str, list[tuple[str, bool]]]:
    """The verdict, and (code, whether it is drift) of each finding."""
    judged = judge(planned, measured, ON, seen or observed(), parse(exclusive))
    return judged.verdict, [(one.code, one.drift) for one in judged.findings]


POOL = plan("2-7", exclusive=False, holding=Holding(0, (), ()), nodes=None)
CPUS = [
    ("as planned", plan(), group(), None, ("aligned", [])),
    ("not measured", plan(), None, None, ("unknown", [])),
    ("not readable", plan(), group(None), None, ("unknown", [])),
    ("more than planned", plan(), group("0-2"), None, ("drifted", [("cpuset-differs", True)])),
    ("an empty set is the one above it", plan(), group("", effective_cpus=0b11), None, ("aligned", [])),
    ("which may differ", plan(), group("", effective_cpus=0b111), None, ("drifted", [("cpuset-differs", True)])),
    ("no plan", plan(None), group("0-7"), None, ("aligned", [])),
    (
        "the kubelet has just written its plan",
        plan(),
        group("0-2"),
        observed(plan_age=9.9),
        ("aligned", [("waiting", False)]),
    ),
    ("ten seconds ago", plan(), group("0-2"), observed(plan_age=10.0), ("drifted", [("cpuset-differs", True)])),
    ("a CPU of the plan is gone", plan("0,8"), group("0,8"), None, ("drifted", [("missing-cpu", True)])),
    ("of a pool none is missed", POOL._replace(cpus=parse("2-8")), group("2-8"), None, ("aligned", [])),
    (
        "a thread outside",
        plan(),
        group(processes=(Process(1, (thread("0-2"),)),)),
        None,
        ("drifted", [("thread-outside", True)]),
    ),
    ("a thread on fewer", plan(), group(processes=(Process(1, (thread("0"),)),)), None, ("aligned", [])),
    ("on a CPU that is not there", plan(), group(processes=(Process(1, (thread("0,8"),)),)), None, ("aligned", [])),
]


@pytest.mark.parametrize(
    ("planned", "measured", "seen", "said"), [row[1:] for row in CPUS], ids=[row[0] for row in CPUS]
)
def test_cpus(planned: Plan, measured: Group | None, seen: Observed | None, said: Any) -> None:
    assert found(planned, measured, seen) == said


def message(planned: Plan, measured: Group, seen: Observed | None = None) -> str:
    [one] = judge(planned, measured, ON, seen or observed(), parse("0-1")).findings
    return one.message


def test_the_words_say_what_is_and_what_is_planned() -> None:
    assert message(plan(), group("0-2")) == "CPUs 0-2 allowed, 0-1 planned"
    assert message(plan("", exclusive=False), group("2")) == "CPUs 2 allowed, none planned"
    assert message(POOL, group("1-7")) == (
        "runs in the shared pool, but may use exclusive CPUs 1; CPUs 1-7 allowed, 2-7 planned"
    )
    assert message(POOL, group("2-6")) == "CPUs 2-6 allowed, 2-7 planned"
    assert message(plan(), group("0-2"), observed(plan_age=0.0)).endswith(
        "; the kubelet corrects the cpuset within 10 s"
    )
    many = Process(1, tuple(thread("0-2", tid=tid) for tid in range(7)))
    assert message(plan(), group(processes=(many,))).startswith("threads 0, 1, 2, 3, 4")
    one = group(processes=(Process(1, (thread(), thread("0-2", tid=9))),))
    assert message(plan(), one) == "thread 9 may run on CPUs 0-2"
    assert message(plan(), group(mems=3)) == "memory from NUMA 0-1 allowed, NUMA 0 planned"


LARGE = 100 * REMOTE_BYTES
MEMORY = [
    ("from the nodes of the plan", plan(), group(memory={0: LARGE}), []),
    ("other nodes are allowed", plan(), group(mems=3), [("mems-differ", True)]),
    ("an empty set is the one above it", plan(), group(mems=0, effective_mems=1), []),
    ("nothing pinned", plan(holding=Holding(0, (), ())), group(mems=3), []),
    ("nobody planned it", plan(nodes=None), group(mems=3), []),
    ("some elsewhere, up to a twentieth", plan(), group(memory={0: 95 * REMOTE_BYTES, 1: 5 * REMOTE_BYTES}), []),
    (
        "more than a twentieth",
        plan(),
        group(memory={0: 94 * REMOTE_BYTES, 1: 6 * REMOTE_BYTES}),
        [("memory-remote", True)],
    ),
    ("much of little", plan(), group(memory={0: 1, 1: REMOTE_BYTES}), []),
    ("one byte more", plan(), group(memory={0: 1, 1: REMOTE_BYTES + 1}), [("memory-remote", True)]),
    (
        "where nobody planned it the CPUs' nodes count",
        plan(nodes=None),
        group(memory={1: LARGE}),
        [("memory-remote", False)],
    ),
    ("without exclusive CPUs nothing counts", POOL, group("2-7", memory={1: LARGE}), []),
]


@pytest.mark.parametrize(("planned", "measured", "said"), [row[1:] for row in MEMORY], ids=[row[0] for row in MEMORY])
def test_memory(planned: Plan, measured: Group, said: list[tuple[str, bool]]) -> None:
    assert found(planned, measured)[1] == said


def test_where_memory_is_and_how_much() -> None:
    measured = group(memory={0: 300 * MI, 1: 100 * MI})
    assert message(plan(), measured) == "25 % of its memory is not on NUMA 0: 100Mi on NUMA 1"


def test_pages_are_those_of_the_processes_where_they_were_counted() -> None:
    counted = (Process(1, (), {0: 1, 1: 2}), Process(2, (), {1: 3}), Process(3, ()))
    assert pages(group(memory={0: 9}, processes=counted)) == {0: 1, 1: 5}
    assert pages(group(memory={0: 9}, processes=counted[2:])) == {0: 9}
    assert pages(group()) is None


[HELD_GPU] = HELD.devices
DEVICES = [
    ("where the kubelet took it for", observed(device_nodes={"0": 0}), []),
    ("on another node now", observed(device_nodes={"0": 1}), [("device-moved", True)]),
    ("on no node now", observed(device_nodes={"0": -1}), [("device-moved", True)]),
    ("another device", observed(device_nodes={"9": 1}), []),
    ("its interrupts are handled on one of its CPUs", observed(interrupts={"0": 0b110}), []),
    ("elsewhere", observed(interrupts={"0": 0b100}), [("irq-elsewhere", False)]),
    ("nobody handles them", observed(interrupts={"0": 0}), []),
]


@pytest.mark.parametrize(("seen", "said"), [row[1:] for row in DEVICES], ids=[row[0] for row in DEVICES])
def test_devices(seen: Observed, said: list[tuple[str, bool]]) -> None:
    assert HELD_GPU.ids == ("0",)
    assert found(plan(), group(), seen)[1] == said
    pooled = plan("0-1", exclusive=False)
    assert found(pooled, group(), seen)[1] == [one for one in said if one[0] != "irq-elsewhere"]


AWAY = {
    "as planned, where nobody tells": ({}, False),
    "where its CPUs are": ({"0": 0}, False),
    "moved away": ({"0": 1}, True),
    "moved to no node": ({"0": -1}, False),
}


@pytest.mark.parametrize("case", AWAY)
def test_devices_away_from_the_cpus_are_those_that_are_there_now(case: str) -> None:
    nodes, away = AWAY[case]
    seen = observed(device_nodes=nodes)
    far = plan("4-5", alignment=ALIGNED._replace(remote=(Part(GPU, 1, ("0",)),)))

    assert judge(plan(), group(), ON, seen, 0).remote_devices == ({"0"} if away else set())
    assert judge(plan(exclusive=False), group(), ON, seen, 0).remote_devices == set()
    assert judge(far, group(), ON, seen, 0).remote_devices == ({"0"} if nodes.get("0", 0) == 0 else set())


def test_a_device_without_a_node_has_not_moved() -> None:
    nowhere = HELD._replace(devices=(HELD_GPU._replace(per_numa={-1: 1}),))
    assert found(plan(holding=nowhere), group(), observed(device_nodes={"0": 1}))[1] == []


OWN, OTHER = ("u", "a"), ("v", "b")
PLANS = {
    OWN: plan(),
    OTHER: plan("4-5", uid="v", container="b"),
    ("w", "c"): plan("2-3,6-7", exclusive=False, uid="w", container="c"),
}


def seen_by(*groups: Group, others: tuple[Process, ...] = ()) -> list[tuple[str, str]]:
    """(whose CPUs, who and how) of each intruder."""
    return [
        (owner.uid, one.message.partition(", exclusive")[0])
        for owner, _, one in intruders(PLANS, observed(*groups, others=others))
    ]


def ran(cpus: str, last_cpu: int) -> Thread:
    return thread(cpus, last_cpu)._replace(ran=True)


def running(uid: str, name: str, *threads: Thread, **changes: Any) -> Group:
    return group(uid=uid, name=name, processes=(Process(3, threads),), **changes)


INTRUDERS = [
    ("on its own", running("u", "a", ran("0-1", 0)), []),
    ("on somebody else's", running("v", "b", ran("0-5", 0)), [("u", "process 3 of container b ran on CPU 0")]),
    ("it sleeps", running("v", "b", thread("0-5", 0)), []),
    ("nobody saw it", running("v", "b", ran("0-5", -1)), []),
    ("in the pool", running("v", "b", ran("0-7", 6)), []),
    (
        "bound, and asleep",
        running("v", "b", thread("0-1", 0)),
        [("u", "process 3 of container b is bound to CPUs 0-1")],
    ),
    ("bound to its own", running("v", "b", thread("5", 5)), []),
    (
        "several threads are one line",
        running("v", "b", ran("0-7", 0), ran("0-7", 1), thread("0-7", 1)),
        [("u", "process 3 of container b ran on CPUs 0-1")],
    ),
    (
        "a container that nobody planned",
        running("x", "y", ran("0-5", 4)),
        [("v", "process 3 of container y ran on CPU 4")],
    ),
    ("one without a name", running("x", "", ran("0-5", 4)), [("v", f"process 3 of container {'c' * 12} ran on CPU 4")]),
    ("a sandbox", running("x", "", ran("0-5", 4), sandbox=True), []),
]


@pytest.mark.parametrize(("one", "said"), [row[1:] for row in INTRUDERS], ids=[row[0] for row in INTRUDERS])
def test_who_runs_on_somebody_else_s_cpus(one: Group, said: list[tuple[str, str]]) -> None:
    assert seen_by(one) == said


def test_processes_of_the_host() -> None:
    host = (
        Process(5, (ran("0-7", 0),), name="stress"),
        Process(6, (ran("0", 0),), kernel=True),
        Process(7, (thread("0-7", 0),)),
        Process(8, (thread("2", 2),)),
    )

    assert seen_by(others=host) == [("u", "process 5 (stress) of the host ran on CPU 0")]
    assert allowed_everywhere(PLANS, observed(others=host), {5}) == 1
    several = Process(9, (thread("6"), thread("5-6")))
    assert allowed_everywhere(PLANS, observed(others=(several, Process(4, (thread("2"),)))), ()) == 1
    assert list(intruders({("w", "c"): PLANS["w", "c"]}, observed(others=host))) == []


def test_an_intrusion_is_told_once_with_its_file() -> None:
    [(owner, pid, one)] = intruders(PLANS, observed(others=(Process(3, (ran("0-7", 4), ran("0-7", 1))),)))

    assert (owner, pid) == (PLANS[OWN], 3)
    assert one == Deviation(
        "intruder",
        False,
        "/proc/3/task",
        "process 3 of the host ran on CPUs 1,4, exclusive to this container and others",
    )


def test_containers_of_a_pod_have_plans_of_their_own() -> None:
    assert seen_by(running("u", "other", ran("0-1", 0))) == [("u", "process 3 of container other is bound to CPUs 0-1")]
