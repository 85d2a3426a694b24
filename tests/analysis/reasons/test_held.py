"""What pods to move hold of what is in the way, and what is short where a pod goes once they have gone."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.analysis.circumstances import Circumstances
from numalign.analysis.in_the_way import Amount
from numalign.analysis.matrix import Cell, Matrix, Row
from numalign.analysis.own_containers import Own, Sum
from numalign.analysis.reasons.asked import Asked
from numalign.analysis.reasons.change_facts import (
    AskedOf,
    Goes,
    LeftOf,
    PodHolds,
    PodsHold,
    Reasonable,
    TooLittleThere,
    WithoutThem,
)
from numalign.analysis.reasons.held import held_by_them, room
from numalign.analysis.reasons.width_facts import Could
from numalign.analysis.refusal import Refusal
from numalign.analysis.whatif.change import Part, WayOut
from numalign.analysis.whatif.past import Held, HeldAmount
from numalign.kubelet.fit.check import Shortage
from numalign.model.quantity import NANO

GPU = "v.com/gpu"
CPUS, GPUS = HeldAmount("cpu", 2, ((0b01, 2),)), HeldAmount(GPU, 1, ((0b10, 1),))
ONE = Held("one", (CPUS, GPUS), (("cpu", 2 * NANO), ("memory", 5 * NANO)))
TWO = ONE._replace(name="two", amounts=(CPUS,))
HERE = (Goes("app", 0b01, {"cpu": 0b01}, 0b01),)
SHORT = (Shortage("memory", 9, 10, 12),)


def row(name: str, requested: int, *free: int, handed: int = 0, width: int = 1) -> Row:
    cells = tuple(Cell(one, 4, "no" if one < requested else "enough", handed) for one in free)
    return Row(name, requested, cells, sum(free), width, possible=False)


def refused(*rows: Row, culprits: int = 1, **more: Any) -> Refusal:
    table = Matrix("app", (0, 1), rows, "restricted")
    found = Refusal("merge", "", "", "app", "restricted", table, rows[:culprits], (), never=False)
    return found._replace(**more)


def part(*held: Held, **more: Any) -> Part:
    return Part(WayOut(), None, held=held, **more)


OF_CPUS = refused(row("cpu", 4, 2, 4))
OF_FIT = refused(row("cpu", 4, 4, 4), culprits=0, stage="fit", amounts=(Amount("memory", 9, 10, 12),))
MANY = [ONE._replace(name=f"p{number}") for number in range(7)]
CASES: list[tuple[str, Part, Refusal | None, set[str], list[Reasonable]]] = [
    ("no pods", part(), OF_CPUS, set(), []),
    ("what is in the way", part(ONE), OF_CPUS, set(), [PodHolds("one", (CPUS,))]),
    ("without a decision", part(ONE), OF_CPUS._replace(matrix=None), set(), [PodHolds("one", (CPUS,))]),
    ("what the pod gets, and is held elsewhere", part(ONE), OF_CPUS, {GPU}, [PodHolds("one", (CPUS,))]),
    (
        "and where the pod goes",
        part(ONE._replace(amounts=(CPUS, GPUS._replace(places=((0b01, 1),))))),
        OF_CPUS,
        {GPU},
        [PodHolds("one", (CPUS, GPUS._replace(places=((0b01, 1),))))],
    ),
    ("all that it holds where nothing is known", part(ONE), None, set(), [PodHolds("one", (CPUS, GPUS))]),
    (
        "what it asks for of what the node has too little of",
        part(ONE, short=SHORT),
        OF_CPUS,
        set(),
        [PodHolds("one", (CPUS,), (AskedOf("memory", 5 * NANO, (10, 12)),), (LeftOf("memory", 7, 12),))],
    ),
    (
        "more than it holds",
        part(ONE._replace(asks=(("cpu", 3 * NANO),)), short=(Shortage("cpu", 9000, 10000, 12000),)),
        OF_CPUS,
        set(),
        [
            PodHolds(
                "one",
                (CPUS,),
                (AskedOf("cpu", 3 * NANO, (10000, 12000), in_all=True),),
                (LeftOf("cpu", 5000, 12000),),
            )
        ],
    ),
    (
        "just what it holds",
        part(ONE, short=(Shortage("cpu", 9000, 10000, 12000),)),
        OF_CPUS,
        set(),
        [PodHolds("one", (CPUS,))],
    ),
    (
        "nothing of it",
        part(ONE._replace(asks=(("memory", 0),)), short=SHORT),
        OF_CPUS,
        set(),
        [PodHolds("one", (CPUS,))],
    ),
    (
        "the least there is of it",
        part(ONE._replace(asks=(("memory", 1),)), short=SHORT),
        OF_CPUS,
        set(),
        [PodHolds("one", (CPUS,), (AskedOf("memory", 1, (10, 12)),), (LeftOf("memory", 2, 12),))],
    ),
    (
        "of two pods what they leave together",
        part(ONE, TWO, short=SHORT),
        OF_CPUS,
        set(),
        [
            PodHolds("one", (CPUS,), (AskedOf("memory", 5 * NANO, (10, 12)),)),
            PodHolds("two", (CPUS,), (AskedOf("memory", 5 * NANO, (10, 12)),)),
            WithoutThem((LeftOf("memory", 12, 12),)),
        ],
    ),
    (
        "who leaves the last CPU to share",
        part(ONE, TWO, staying=(OF_CPUS, None)),
        OF_CPUS,
        set(),
        [PodHolds("one", (CPUS,)), PodHolds("two", (CPUS,), last=True)],
    ),
    ("six pods one by one", part(*MANY[:6]), OF_CPUS, set(), [PodHolds(f"p{number}", (CPUS,)) for number in range(6)]),
    ("more pods together", part(*MANY), OF_CPUS, set(), [PodsHold(7, (AskedOf("cpu", 14 * NANO, None),), asked=False)]),
    (
        "more pods on too small a node",
        part(*MANY, short=SHORT),
        OF_FIT,
        set(),
        [PodsHold(7, (AskedOf("memory", 35 * NANO, (10, 12)),), asked=True)],
    ),
    (
        "on a node that is too small what they ask for",
        part(ONE, TWO._replace(asks=(("memory", 0),)), short=SHORT, staying=(None, None)),
        OF_FIT,
        set(),
        [PodHolds("one", (), (AskedOf("memory", 5 * NANO, (10, 12)),), last=True)],
    ),
]


@pytest.mark.parametrize(
    ("moved", "refusal", "wanted", "told"), [one[1:] for one in CASES], ids=[one[0] for one in CASES]
)
def test_what_pods_to_move_hold(moved: Part, refusal: Refusal | None, wanted: set[str], told: list[Reasonable]) -> None:
    assert list(held_by_them(moved, refusal, HERE, wanted)) == told


@pytest.mark.parametrize(
    ("places", "held"),
    [
        pytest.param({"cpu": 0b01}, (CPUS, GPUS), id="less is free there today"),
        pytest.param({"cpu": 0b10}, (GPUS,), id="enough is free there today"),
        pytest.param({}, (GPUS,), id="it comes from no node"),
    ],
)
def test_what_is_taken_today_where_a_pod_goes_is_in_the_way(
    places: dict[str, int], held: tuple[HeldAmount, ...]
) -> None:
    """Too few GPUs are free, and four CPUs on node 1 alone."""
    found = refused(row(GPU, 3, 1, 1), row("cpu", 4, 2, 4))
    after = (Goes("app", 0b11, {**places, GPU: 0b11}, 0b11),)
    assert list(held_by_them(part(ONE), found, after, set())) == [PodHolds("one", held)]
    assert list(held_by_them(part(ONE), found, after * 2, set())) == [PodHolds("one", (GPUS,))]
    left = refused(row(GPU, 3, 1, 1), row("cpu", 7, 2, 4, handed=1))
    anywhere = (after[0]._replace(places={GPU: 0b11}),)
    assert list(held_by_them(part(ONE), left, anywhere, set())) == [PodHolds("one", (GPUS,))]
    assert found.matrix is not None
    beyond = found._replace(matrix=found.matrix._replace(nodes=(-1, 1)))
    assert list(held_by_them(part(ONE), beyond, after, set())) == [PodHolds("one", (GPUS,))]


def test_a_pod_that_is_in_the_way_elsewhere_says_what_comes_as_long_as_it_stays() -> None:
    """It holds CPUs of node 0, and the refused pod goes to node 1."""
    there = (Goes("app", 0b10, {"cpu": 0b10}, 0b10),)
    first, *more = held_by_them(part(ONE, staying=(OF_CPUS,)), OF_CPUS, there, set())
    assert first == PodHolds("one", (CPUS,), stays=True)
    assert more
    nowhere = (Goes("app", 0, {}, None),)
    assert list(held_by_them(part(ONE, staying=(OF_CPUS,)), OF_CPUS, nowhere, set())) == [PodHolds("one", (CPUS,))]
    assert list(held_by_them(part(ONE), OF_CPUS, there, set())) == [PodHolds("one", (CPUS,))]


def test_of_devices_nobody_knows_where_they_are_nobody_knows_that_they_are_elsewhere() -> None:
    somewhere = GPUS._replace(places=((0, 1),))
    held, of_gpus = part(ONE._replace(amounts=(somewhere,)), staying=(OF_CPUS,)), refused(row(GPU, 3, 1, 1))
    there = (Goes("app", 0b10, {}, 0b10),)
    assert list(held_by_them(held, of_gpus, there, set())) == [PodHolds("one", (somewhere,))]


def test_of_what_a_pod_is_in_the_way_of_two_facts_are_told() -> None:
    """Four CPUs are enough on node 1, two GPUs on node 0: where each is, and not that they never meet."""
    apart = refused(row("cpu", 4, 2, 4), row(GPU, 2, 2, 1), culprits=2)
    first, *more = held_by_them(part(ONE, staying=(apart,)), OF_CPUS, (Goes("app", 0b10, {}, 0b10),), set())
    assert first == PodHolds("one", (CPUS,), stays=True)
    assert [type(one) for one in more] == [Could, Could]


@pytest.mark.parametrize(
    ("staying", "stays"),
    [
        pytest.param(row("cpu", 4, 1, 2, handed=1), True, id="enough with what init containers leave"),
        pytest.param(row("cpu", 6, 1, 2, handed=1), False, id="too little with that"),
        pytest.param(row("cpu", 3, 1, 2), False, id="init containers leave nothing"),
        pytest.param(row("memory", 4, 1, 2, handed=1), False, id="memory ties nothing to where it was"),
    ],
)
def test_where_a_pod_goes_does_not_say_why_if_init_containers_tie_it_elsewhere(staying: Row, *, stays: bool) -> None:
    """What the pod holds lies on the node where the refused pod goes: that alone would say why."""
    first, *_ = held_by_them(part(ONE, staying=(refused(staying),)), OF_CPUS, HERE, set())
    assert first == PodHolds("one", (CPUS,), stays=stays)


BOTH = refused(row("cpu", 4, 2, 4), row(GPU, 2, 1, 2))
SIDE = Own("cpu", "side", "sidecar", 1, 0b01)
INIT, AWAY = SIDE._replace(container="init", kind="init"), SIDE._replace(container="away", nodes=0b10)
LACKS = ((Asked("cpu", 4), 2, 0), (Asked(GPU, 2), 1, 0))
UNKNOWN = Row(GPU, 2, (Cell(0, 0, "any"), Cell(0, 0, "any")), 1, 0, possible=False)
ROOM: list[tuple[str, Refusal, tuple[Goes, ...], list[Reasonable]]] = [
    ("two resources on one node", BOTH, HERE, [TooLittleThere(None, 0b01, (), LACKS)]),
    ("of one of two containers", BOTH, (*HERE, HERE[0]._replace(name="b")), [TooLittleThere("app", 0b01, (), LACKS)]),
    (
        "beside the pod's own containers there",
        BOTH._replace(around=Circumstances(own=(SIDE, INIT, AWAY, SIDE))),
        HERE,
        [TooLittleThere(None, 0b01, ("side",), LACKS)],
    ),
    ("one resource", refused(row("cpu", 4, 2, 4), row(GPU, 1, 1, 2)), HERE, []),
    (
        "with what init containers leave there is enough",
        refused(row("cpu", 4, 2, 4), row(GPU, 2, 1, 2, handed=1)),
        HERE,
        [],
    ),
    (
        "on the whole machine",
        refused(row("cpu", 9, 2, 4), row(GPU, 4, 1, 2)),
        (HERE[0]._replace(nodes=0b11),),
        [TooLittleThere(None, 0, (), ((Asked("cpu", 9), 6, 0), (Asked(GPU, 4), 3, 0)))],
    ),
    ("which the refusal names", refused(row("cpu", 9, 2, 4), row(GPU, 4, 1, 2), culprits=2), (
        HERE[0]._replace(nodes=0b11),
    ), []),
    (
        "with what init containers leave on the whole machine",
        refused(row("cpu", 9, 2, 4, handed=1), row(GPU, 9, 1, 2, handed=1)),
        (HERE[0]._replace(nodes=0b11),),
        [TooLittleThere(None, 0, (), ((Asked("cpu", 9), 6, 2), (Asked(GPU, 9), 3, 2)))],
    ),
    (
        "devices on no node, wherever a pod goes",
        refused(row("cpu", 4, 2, 4), UNKNOWN),
        HERE,
        [TooLittleThere(None, 0b01, (), LACKS)],
    ),
    (
        "another container goes elsewhere",
        BOTH,
        (*HERE, Goes("b", 0b10, {}, 0b10)),
        [TooLittleThere("app", 0b01, (), LACKS)],
    ),
    (
        "beside all of the pod's own containers",
        refused(row("cpu", 9, 2, 4), row(GPU, 4, 1, 2), around=Circumstances(own=(SIDE, INIT, AWAY))),
        (HERE[0]._replace(nodes=0b11),),
        [TooLittleThere(None, 0, ("side", "away"), ((Asked("cpu", 9), 6, 0), (Asked(GPU, 4), 3, 0)))],
    ),
    ("which the refusal names, on one node", BOTH._replace(culprits=BOTH.matrix.rows if BOTH.matrix else ()), HERE, [
        TooLittleThere(None, 0b01, (), LACKS),
    ]),
    (
        "what containers ask for together",
        BOTH._replace(around=Circumstances(together=(Sum("cpu", 4, 8, (("a", 1), ("b", 3))),))),
        HERE,
        [TooLittleThere(None, 0b01, (), LACKS)],
    ),
    ("no decision", BOTH._replace(matrix=None), HERE, []),
]  # fmt: skip


@pytest.mark.parametrize(("found", "after", "told"), [one[1:] for one in ROOM], ids=[one[0] for one in ROOM])
def test_what_is_short_where_a_pod_goes(found: Refusal, after: tuple[Goes, ...], told: list[Reasonable]) -> None:
    assert room(found, after) == told
