"""Two facts tell the same where all is the same that their sentences say, whatever they hold beside it."""

from __future__ import annotations

import pytest

from numalign.analysis.reasons.asked import Asked, Left, Place, Spread
from numalign.analysis.reasons.facts import (
    ChosenElsewhere,
    CoresTaken,
    Fact,
    NoNodeChosen,
    OddCores,
    TooLittle,
    resource_of,
    with_asked,
)
from numalign.analysis.reasons.memory_facts import HasToFit
from numalign.analysis.reasons.order import key
from numalign.analysis.reasons.width_facts import Could, FitsOn, TooWide

ASKED = Asked("cpu", 6)
HAD = Spread(3, 8, (Place(0, 2, 4), Place(1, 1, 4)))
MOVED = Spread(3, 8, (Place(0, 1, 4), Place(1, 2, 4)))
LEFT = Left(("init",), 2, 0b1)
NOW, THEN = TooWide(ASKED, HAD, "restricted", 1), TooWide(ASKED, HAD, "restricted", 1, when="then")
SHORT = NOW._replace(short=True)
SINGLE = THEN._replace(policy="single-numa-node")
TAKEN = CoresTaken(6, 2, None, 4, 8, "now", None)
TWO_LEFT = TAKEN._replace(left=LEFT)
NEVER = TooLittle(ASKED, Spread(5, 5, (Place(0, 3, 3), Place(1, 2, 2))), "now")
JUST = TooLittle(ASKED, Spread(4, 6, (Place(0, 2, 3, 1), Place(1, 2, 3, 1)), left=2), "now")
SOME_LEFT = TooLittle(ASKED, Spread(1, 8, (Place(0, 0, 4, 2), Place(1, 1, 4)), left=2), "now")
OTHER_LEFT = SOME_LEFT._replace(had=SOME_LEFT.had._replace(places=(Place(0, 1, 4, 1), Place(1, 0, 4, 1))))
FACTS: list[tuple[str, Fact, Fact, bool]] = [
    ("free elsewhere, where it is told", NOW, NOW._replace(had=MOVED), False),
    ("more in all, where the nodes are told", NOW, NOW._replace(had=HAD._replace(total=9)), True),
    ("now and then", NOW, THEN, False),
    ("after others of the pod, and one node alone", SINGLE, SINGLE._replace(when="now"), False),
    ("of which it is one", SINGLE._replace(after=("a",)), SINGLE._replace(after=("a",), when="now"), True),
    ("more nodes than one, ever", SINGLE._replace(width=2), SINGLE._replace(width=2, when="now"), True),
    ("no node ever has it", SINGLE._replace(short=True), SINGLE._replace(short=True, when="now"), True),
    ("to which another policy looks", SHORT, SHORT._replace(had=MOVED), False),
    ("and what is free", SINGLE._replace(short=True), SINGLE._replace(short=True, had=MOVED), True),
    ("two nodes", THEN._replace(width=2), NOW._replace(width=2), False),
    ("after others", THEN._replace(after=("a",)), NOW._replace(after=("a",)), False),
    ("after others, tied", THEN._replace(after=("a",), must=LEFT), NOW._replace(after=("a",), must=LEFT), True),
    ("after others, short", THEN._replace(after=("a",), short=True), NOW._replace(after=("a",), short=True), True),
    ("tied", THEN._replace(must=LEFT), NOW._replace(must=LEFT), False),
    ("another policy", NOW, NOW._replace(policy="single-numa-node"), False),
    ("on how few nodes, whatever is free", FitsOn(ASKED, HAD, 2, 4, 0), FitsOn(ASKED, MOVED, 2, 4, 0), True),
    ("of which one has more", FitsOn(ASKED, HAD, 2, 4, 0), FitsOn(ASKED, HAD, 2, 5, 0), False),
    ("on fewer", FitsOn(ASKED, HAD, 2, 4, 0), FitsOn(ASKED, HAD, 1, 4, 0), False),
    ("on whole sockets", FitsOn(ASKED, HAD, 2, 4, 0), FitsOn(ASKED, HAD, 2, 4, 1), False),
    ("of something else", FitsOn(ASKED, HAD, 2, 4, 0), FitsOn(Asked("gpu", 6), HAD, 2, 4, 0), False),
    ("where it could be had", Could(ASKED, HAD, 1, None), Could(ASKED, HAD._replace(total=9), 1, None), True),
    ("on another node", Could(ASKED, HAD, 1, None), Could(ASKED, HAD, 2, None), False),
    ("where it is tied", Could(ASKED, HAD, 1, None), Could(ASKED, HAD, 1, LEFT), False),
    ("as it is free elsewhere", Could(ASKED, HAD, 1, None), Could(ASKED, MOVED, 1, None), False),
    ("more cores in all", TAKEN, TAKEN._replace(total=9), False),
    ("beside those that are left", TWO_LEFT, TWO_LEFT._replace(total=9, when="then"), True),
    ("then", TAKEN, TAKEN._replace(when="then"), False),
    ("never enough, now and then", NEVER, NEVER._replace(when="then"), True),
    ("never enough, on other nodes", NEVER, NEVER._replace(had=Spread(5, 5, (Place(0, 5, 5),))), False),
    ("never enough, some of it held", NEVER, NEVER._replace(had=NEVER.had._replace(free=4)), False),
    ("enough with what init containers leave, now and then", JUST, JUST._replace(when="then"), False),
    ("left on one node and free on the other", SOME_LEFT, OTHER_LEFT, True),
    ("and all of it on one", SOME_LEFT, SOME_LEFT._replace(had=SOME_LEFT.had._replace(places=())), False),
    ("at any time", NEVER._replace(when="ever"), NEVER._replace(when="ever", own=LEFT), True),
    ("at any time, of more", NEVER._replace(when="ever"), TooLittle(ASKED, HAD, "ever"), False),
    ("at any time, and now", NEVER._replace(when="ever"), NEVER, False),
]


RESOURCES: list[tuple[Fact, str]] = [
    (NOW, "cpu"),
    (TAKEN, "cpu"),
    (OddCores(3, 2, None), "cpu"),
    (ChosenElsewhere("memory", 1), "memory"),
    (HasToFit((Asked("memory", 6), Asked("hugepages-1Gi", 1)), (HAD, HAD), ()), ""),
    (NoNodeChosen(), ""),
]


@pytest.mark.parametrize(("fact", "resource"), RESOURCES)
def test_what_a_fact_is_about(fact: Fact, resource: str) -> None:
    assert resource_of(fact) == resource


def test_what_is_asked_is_told_otherwise_wherever_it_stands() -> None:
    one, two = Asked("memory", 6), Asked("hugepages-1Gi", 1)
    both = HasToFit((one, two), (HAD, HAD), ((1, (3, 3)),))
    found = with_asked(both, lambda asked: asked._replace(amount=9))
    assert found == both._replace(asked=(one._replace(amount=9), two._replace(amount=9)))
    assert with_asked(TAKEN, lambda asked: asked._replace(amount=9)) == TAKEN


@pytest.mark.parametrize(("one", "other", "same"), [row[1:] for row in FACTS], ids=[row[0] for row in FACTS])
def test_facts_tell_the_same(one: Fact, other: Fact, same: bool) -> None:
    assert (key(one) == key(other)) is same
