"""Amounts in facts: in which unit they are told, what there is of a resource, and which nodes have the most."""

from __future__ import annotations

import pytest

from numalign.analysis.circumstances import Circumstances
from numalign.analysis.holding import Handed
from numalign.analysis.loose import Loose
from numalign.analysis.reasons.amounts_left import amounts_of, limit_of, nothing_left, units_of
from numalign.analysis.reasons.asked import Asked, Best, Left, Place, Spread
from numalign.analysis.reasons.change_facts import LeavesNone
from numalign.analysis.reasons.facts import CoresTaken, EnoughInAll, Fact, NodeTooSmall, OddCores, TooLittle
from numalign.analysis.reasons.memory_facts import SumTooLarge
from numalign.analysis.reasons.width_facts import FitsOn, TooWide
from numalign.analysis.refusal import Refusal
from numalign.analysis.whatif.change import Part, WayOut
from numalign.model.quantity import NANO

KI, MI, GI = 1 << 10, 1 << 20, 1 << 30
UNITS = [
    ("nothing", (), (1, 1)),
    ("a byte", (1,), (1, 1)),
    ("less than a KiB", (1023,), (1, 1)),
    ("a KiB", (KI,), (KI, KI)),
    ("whole GiB", (2 * GI, 3 * GI), (GI, GI)),
    ("tenths of a GiB, exactly", (GI * 5 // 2,), (GI, GI)),
    ("no tenths, but whole MiB", (GI + MI,), (GI, MI)),
    ("one of less than the unit", (GI, 512 * MI), (GI, MI)),
    ("MiB up to ten thousand", (10 * GI - MI,), (GI, MI)),
    ("too many MiB", (10 * GI + MI,), (GI, 0)),
    ("no whole MiB", (GI + 1,), (GI, 0)),
    ("zeros do not count", (0, 2 * GI), (GI, GI)),
    ("one of them in tenths of a GiB", (2 * GI, GI + MI), (GI, MI)),
    ("one of them in whole MiB", (GI + MI, GI + 1), (GI, 0)),
    ("one of them of too many MiB", (10 * GI + MI, GI + MI), (GI, 0)),
    ("one of them of just too many MiB", (10 * GI, GI + MI), (GI, 0)),
]


@pytest.mark.parametrize(("sizes", "said"), [row[1:] for row in UNITS], ids=[row[0] for row in UNITS])
def test_bytes_are_told_in_the_largest_unit_that_is_exact(sizes: tuple[int, ...], said: tuple[int, int]) -> None:
    assert units_of(size * NANO for size in sizes) == said


def test_less_than_a_byte_is_no_byte() -> None:
    assert units_of([NANO // 2, 5 * NANO]) == (1, 1)


def spread(*places: tuple[int, ...]) -> Spread:
    """Node by node what is free, there at all, and left by init containers."""
    there = tuple(Place(node, *one) for node, one in enumerate(places))
    return Spread(sum(one.free for one in there), sum(one.total for one in there), there)


BEST = [
    ("none has any", spread((0, 0), (0, 0)), Best(0, 0, 0, 0, others=False)),
    ("one has most", spread((1, 4), (3, 4), (0, 4)), Best(0b010, 3, 4, 0, others=True)),
    ("several are alike", spread((3, 4), (1, 4), (3, 4)), Best(0b101, 3, 4, 0, others=True)),
    ("all are alike", spread((3, 4), (3, 4)), Best(0b11, 3, 4, 0, others=False)),
    ("the others never have any", spread((3, 4), (0, 0)), Best(0b01, 3, 4, 0, others=False)),
    ("what is left counts", spread((2, 4), (1, 4, 2)), Best(0b10, 1, 4, 2, others=True)),
    ("as free as another, of more", spread((3, 4), (3, 8)), Best(0b01, 3, 4, 0, others=True)),
]


@pytest.mark.parametrize(("had", "best"), [row[1:] for row in BEST], ids=[row[0] for row in BEST])
def test_the_nodes_that_have_the_most(had: Spread, best: Best) -> None:
    assert had.best == best


def test_of_many_nodes_the_best_are_told() -> None:
    few, many = spread(*[(1, 4)] * 4), spread(*[(1, 4)] * 5)
    assert (few.shown, many.shown) == (few.places, Best(0b11111, 1, 4, 0, others=False))


A, B = Asked("cpu", 6), Asked("cpu", 7)
HAD, LESS = spread((2, 4), (1, 4)), spread((1, 4), (1, 4))
SINGLE, LEFT, MEMORY = "single-numa-node", Left(("init",), 2, 1), Asked("memory", 7 * MI)
LOOSE = Loose((0, 1), ((1, 1, 7),), 1, 8)
G9 = SumTooLarge("v.com/gpu", 9, 8, (("a", 5),), LOOSE)
NO_NODE = TooWide(A, HAD, SINGLE, 2, short=True)
LIMITS: list[tuple[str, Fact, Fact, bool]] = [
    ("another amount asked", TooLittle(A, HAD, "now"), TooLittle(B, HAD, "now"), True),
    ("less is free", TooLittle(A, HAD, "now"), TooLittle(A, LESS, "now"), False),
    ("at any time it does not matter", TooLittle(A, HAD, "ever"), TooLittle(A, LESS, "ever"), True),
    ("but what there is", TooLittle(A, HAD, "ever"), TooLittle(A, spread((2, 5), (1, 4)), "ever"), False),
    ("enough in all", EnoughInAll(A, HAD, "now"), EnoughInAll(B, HAD, "then"), True),
    ("of less", EnoughInAll(A, HAD, "now"), EnoughInAll(A, LESS, "now"), False),
    ("too wide for one", TooWide(A, HAD, "single-numa-node", 2), TooWide(B, HAD, "single-numa-node", 2), True),
    ("which has less", TooWide(A, HAD, "single-numa-node", 2), TooWide(A, LESS, "single-numa-node", 2), False),
    ("as many cores", OddCores(5, 2, "c"), OddCores(4, 2, "d"), True),
    ("more cores", OddCores(5, 2, "c"), OddCores(6, 2, "c"), False),
    ("cores are taken", CoresTaken(6, 2, "c", 3, 8, "now", None), CoresTaken(4, 2, "d", 3, 8, "now", None), True),
    ("fewer are free", CoresTaken(6, 2, "c", 3, 8, "now", None), CoresTaken(6, 2, "c", 2, 8, "now", None), False),
    ("the node has too little", NodeTooSmall(A, 2, 7, 0), NodeTooSmall(B, 2, 7, 0), True),
    ("and more is used", NodeTooSmall(A, 2, 7, 0), NodeTooSmall(A, 3, 7, 0), False),
    ("more than it ever has", NodeTooSmall(A, 2, 6, 0), NodeTooSmall(B, 2, 6, 0), False),
    ("a sum", SumTooLarge("cpu", 9, 8, (("a", 5),), None), SumTooLarge("cpu", 9, 8, (("a", 5),), None), True),
    ("devices of which some lie on no node", G9, G9._replace(amount=10), True),
    ("and fewer of them are free", G9, G9._replace(loose=LOOSE.all_free), False),
    ("what the pod itself holds of it", TooLittle(A, HAD, "now"), TooLittle(A, HAD, "then", own=LEFT), True),
    ("in the same unit", TooLittle(Asked("memory", 6 * MI), HAD, "now"), TooLittle(MEMORY, HAD, "now"), True),
    ("in another unit", TooLittle(Asked("memory", 7 * GI), HAD, "now"), TooLittle(MEMORY, HAD, "now"), False),
    ("no node ever has it", NO_NODE, NO_NODE._replace(asked=B, had=LESS), True),
    ("but for one", NO_NODE, NO_NODE._replace(nodes=1), False),
    ("tied to one", TooWide(A, HAD, SINGLE, 1), TooWide(A, HAD, SINGLE, 1, must=LEFT), False),
    ("too wide, and tied to one", TooWide(A, HAD, SINGLE, 2), TooWide(A, HAD, SINGLE, 2, must=LEFT), True),
    ("tied to fewer", TooWide(A, HAD, "restricted", 2), TooWide(A, HAD, "restricted", 2, must=LEFT), False),
    ("on how few nodes it fits", FitsOn(A, HAD, 2, 4, 0), FitsOn(B, LESS, 2, 4, 0), True),
    ("and on fewer", FitsOn(A, HAD, 2, 4, 0), FitsOn(A, HAD, 1, 4, 0), False),
    ("another sum", SumTooLarge("cpu", 9, 8, (("a", 5),), None), SumTooLarge("cpu", 10, 8, (("a", 5),), None), False),
]


@pytest.mark.parametrize(("one", "other", "same"), [row[1:] for row in LIMITS], ids=[row[0] for row in LIMITS])
def test_the_limit_is_what_there_is_whatever_is_asked(one: Fact, other: Fact, same: bool) -> None:
    assert (limit_of(one) == limit_of(other)) is same


def test_amounts_of_a_fact_are_those_that_are_told() -> None:
    assert set(amounts_of(OddCores(5, 2, "c"))) == {5 * NANO, 4 * NANO, 6 * NANO}
    small = NodeTooSmall(Asked("cpu", 6500, (("a", 500),)), 1500, 6500, 0)
    told = {6500, 500, 1500, 5000}
    assert {one * NANO // 1000 for one in told} == set(amounts_of(small))
    some = small._replace(used=2000, capacity=7500)
    told = {6500, 500, 2000, 7500, 5500, 5000}
    assert {one * NANO // 1000 for one in told} == set(amounts_of(some))
    assert set(amounts_of(some._replace(capacity=6000))) == {one * NANO // 1000 for one in (6500, 500, 2000, 6000)}


NONE: list[tuple[str, dict[str, object], str, int, int, bool]] = [
    ("all that it leaves", {}, "cpu", 0, 2, True),
    ("more than it leaves", {"amount": 1}, "cpu", 0, 2, True),
    ("less than it leaves", {"amount": 3}, "cpu", 0, 2, False),
    ("all, beside a little more", {"amount": 1}, "cpu", 3, 2, True),
    ("a part, beside a little more", {}, "cpu", 3, 2, False),
    ("of another resource", {"resource": "v.com/gpu"}, "cpu", 0, 2, False),
    ("another container leaves it", {"containers": ("other",)}, "cpu", 0, 2, False),
    ("several do", {"containers": ("init", "other")}, "cpu", 0, 2, False),
    ("it ties nobody", {"nodes": 0}, "cpu", 0, 2, False),
    ("memory is not handed on", {"resource": "memory"}, "memory", 0, 2, False),
]


@pytest.mark.parametrize(
    ("left", "resource", "larger", "asks", "told"), [row[1:] for row in NONE], ids=[row[0] for row in NONE]
)
def test_an_init_container_that_asks_for_less_may_leave_none(
    left: dict[str, object], resource: str, larger: int, asks: int, told: bool
) -> None:
    """Four are asked for, and two are left to later containers."""
    key = ("init", resource)
    part = Part(WayOut(amounts={key: asks * NANO}, asked={key: 4 * NANO}), None, larger=larger * NANO)
    handed = Handed("cpu", ("init",), 2, 0b10, {})._replace(**left)
    around = Circumstances(handed=(handed,))
    found = Refusal("merge", "", "", "app", "restricted", None, (), (), never=False, around=around)
    expected = [LeavesNone(resource, asks * NANO, "init", "app", 0b10)] if told else []
    assert list(nothing_left(part, found)) == expected
    assert list(nothing_left(part, found._replace(around=Circumstances()))) == []
