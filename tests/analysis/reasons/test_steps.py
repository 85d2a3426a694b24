"""Facts that hold for the node as it is, and facts about pods to move: what is said of "as long as they stay"."""

from __future__ import annotations

import pytest

from numalign.analysis.loose import Loose
from numalign.analysis.reasons.asked import Asked, Left, Place, Spread
from numalign.analysis.reasons.change_facts import LastShared, OddBytes, PodHolds, PodsHold, Reasonable
from numalign.analysis.reasons.facts import EnoughInAll, NodeTooSmall, TooLittle
from numalign.analysis.reasons.steps import of_pods, of_the_state
from numalign.analysis.reasons.width_facts import TooWide

ASKED = Asked("cpu", 4)
PART, ALL, NEVER = Spread(2, 8), Spread(8, 8), Spread(2, 2)
FIVE = tuple(Place(numa, 0, 1) for numa in range(5))
LEFT_SOME = Spread(1, 8, left=2)
STATE: list[tuple[str, Reasonable, bool]] = [
    ("less is free than is asked", TooLittle(ASKED, PART, "now"), True),
    ("where free is not told", TooLittle(ASKED, PART, "ever"), False),
    ("all of it is free, and could be enough", TooLittle(ASKED, ALL, "now"), True),
    ("there was never enough, and all of it is free", TooLittle(ASKED, NEVER, "now"), False),
    ("there was never enough, and some is held", TooLittle(ASKED, Spread(1, 2), "now"), True),
    ("init containers leave some", TooLittle(ASKED, LEFT_SOME, "now"), False),
    ("nothing is free on too many nodes to name", TooLittle(Asked("cpu", 9), Spread(0, 5, FIVE), "now"), True),
    ("nothing is free on few nodes", TooLittle(Asked("cpu", 9), Spread(4, 4, FIVE[:4]), "now"), False),
    (
        "all is free on too many nodes",
        TooLittle(Asked("cpu", 9), Spread(5, 5, (Place(0, 1, 1), *FIVE[1:])), "now"),
        False,
    ),
    ("nothing is free and free is not told", TooLittle(Asked("cpu", 9), Spread(0, 5, FIVE), "ever"), False),
    ("too wide for what is free", TooWide(ASKED, PART, "restricted", 1), True),
    ("after containers of the pod", TooWide(ASKED, PART, "restricted", 1, after=("a",)), False),
    ("too wide for ever", TooWide(ASKED, PART, "restricted", 1, when="ever"), False),
    ("too wide for more than one node", TooWide(ASKED, PART, "restricted", 2), True),
    ("one node has it", TooWide(ASKED, PART, "single-numa-node", 1), True),
    ("no node ever has it", TooWide(ASKED, PART, "single-numa-node", 2), False),
    ("nodes that are never enough", TooWide(ASKED, PART, "single-numa-node", 1, short=True), False),
    ("nodes that are never enough to restricted", TooWide(ASKED, PART, "restricted", 1, short=True), True),
    ("other pods use the node", NodeTooSmall(ASKED, 3, 6, 0), True),
    ("it would just do", NodeTooSmall(ASKED, 3, 4, 0), True),
    ("the node is too small", NodeTooSmall(ASKED, 0, 3, 0), False),
    ("a node of one", NodeTooSmall(Asked("cpu", 1), 1, 1, 0), True),
    ("enough, but not there", EnoughInAll(ASKED, ALL, "now"), True),
    ("no whole bytes", OddBytes(1), False),
]


@pytest.mark.parametrize(("fact", "expected"), [row[1:] for row in STATE], ids=[row[0] for row in STATE])
def test_what_is_said_of_the_node_as_it_is(fact: Reasonable, expected: bool) -> None:
    assert bool(of_the_state(fact)) is expected


PODS: list[tuple[Reasonable, bool]] = [
    (PodHolds("p", ()), True),
    (PodsHold(2, (), asked=False), True),
    (LastShared(more=False), True),
    (LastShared(more=True), False),
    (OddBytes(1), False),
]


@pytest.mark.parametrize(("fact", "expected"), PODS)
def test_what_is_said_of_pods_to_move(fact: Reasonable, expected: bool) -> None:
    assert of_pods(fact) is expected


APART = Loose((1, 1), ((1, 0, 7),), 0, 8)
LEFT: list[tuple[str, Spread, bool, bool]] = [
    ("it does not do with what is free", Spread(1, 8, left=2), True, True),
    ("it does", Spread(1, 8, left=3), False, True),
    ("one is left", Spread(1, 8, left=1), True, True),
    ("nothing is left", Spread(1, 8), False, True),
    ("nothing is free beside it", Spread(0, 8, left=2), True, True),
    ("more is free than would do with it", Spread(3, 8, left=1), False, True),
    ("some lie on no node", Spread(1, 8, loose=APART, left=2), False, True),
    ("of these none is free", Spread(0, 8, loose=APART, left=2), True, True),
    ("others hold none", Spread(2, 4, left=2), False, False),
    ("all are free", Spread(4, 4), False, False),
]


@pytest.mark.parametrize(("had", "left", "held"), [row[1:] for row in LEFT], ids=[row[0] for row in LEFT])
def test_what_init_containers_leave_is_told_where_it_does_not_do(had: Spread, left: bool, held: bool) -> None:
    """Four are asked for."""
    fact = TooLittle(ASKED, had, "now")
    assert (fact.left, fact.free_too, fact.never) == (left, held, False)
    assert fact.there.free == had.free + had.left * (left and had.free > 0)


def test_what_is_left_and_what_others_hold() -> None:
    some = TooLittle(ASKED, Spread(1, 8, (Place(0, 1, 4, 2), Place(1, 0, 4)), left=2), "now", own=Left(("a",), 3))

    assert some.left
    assert some.others == 8 - 1 - 3
    assert some.there == Spread(3, 8, (Place(0, 3, 4), Place(1, 0, 4)), left=2)
    assert some._replace(own=None).others == 0
    assert TooLittle(ASKED, PART, "now").there == PART
