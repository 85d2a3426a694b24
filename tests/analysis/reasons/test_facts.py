"""Two facts tell the same where all is the same that their sentences say, whatever they hold beside it."""

from __future__ import annotations

import pytest

from numalign.analysis.reasons.asked import Asked, Left, Place, Spread
from numalign.analysis.reasons.facts import CoresTaken, Fact, TooLittle
from numalign.analysis.reasons.order import key
from numalign.analysis.reasons.width_facts import Could, FitsOn, TooWide

ASKED = Asked("cpu", 6)
HAD = Spread(3, 8, (Place(0, 2, 4), Place(1, 1, 4)))
MOVED = Spread(3, 8, (Place(0, 1, 4), Place(1, 2, 4)))
LEFT = Left(("init",), 2, 0b1)
NOW, THEN = TooWide(ASKED, HAD, "restricted", 1), TooWide(ASKED, HAD, "restricted", 1, when="then")
SINGLE = THEN._replace(policy="single-numa-node")
TAKEN = CoresTaken(6, 2, None, 4, 8, "now", None)
TWO_LEFT = TAKEN._replace(left=LEFT)
NEVER = TooLittle(ASKED, Spread(5, 5, (Place(0, 3, 3), Place(1, 2, 2))), "now")
FACTS: list[tuple[str, Fact, Fact, bool]] = [
    ("free elsewhere, where it is told", NOW, NOW._replace(had=MOVED), False),
    ("more in all, where the nodes are told", NOW, NOW._replace(had=HAD._replace(total=9)), True),
    ("now and then", NOW, THEN, False),
    ("after others of the pod, and one node alone", SINGLE, SINGLE._replace(when="now"), False),
    ("of which it is one", SINGLE._replace(after=("a",)), SINGLE._replace(after=("a",), when="now"), True),
    ("more nodes than one, ever", SINGLE._replace(width=2), SINGLE._replace(width=2, when="now"), True),
    ("no node ever has it", SINGLE._replace(short=True), SINGLE._replace(short=True, when="now"), True),
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
    ("at any time", NEVER._replace(when="ever"), NEVER._replace(when="ever", own=LEFT), True),
    ("at any time, of more", NEVER._replace(when="ever"), TooLittle(ASKED, HAD, "ever"), False),
    ("at any time, and now", NEVER._replace(when="ever"), NEVER, False),
]


@pytest.mark.parametrize(("one", "other", "same"), [row[1:] for row in FACTS], ids=[row[0] for row in FACTS])
def test_facts_tell_the_same(one: Fact, other: Fact, same: bool) -> None:
    assert (key(one) == key(other)) is same
