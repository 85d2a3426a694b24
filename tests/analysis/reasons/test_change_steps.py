"""The parts of a change as steps: what is told already is not told again, and what is the same is told once."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from numalign.analysis.reasons.asked import Asked, Spread
from numalign.analysis.reasons.change_facts import AskedOf, Effect, OddBytes, PodHolds, Reason
from numalign.analysis.reasons.facts import Fact, TooLittle
from numalign.analysis.reasons.order import Told
from numalign.analysis.reasons.steps import Above, change_steps
from numalign.analysis.reasons.width_facts import FitOne, FitsOn, OnTheSame, TakeTogether, TooWide
from numalign.analysis.whatif.change import Part, WayOut
from numalign.model.pod import Pod
from numalign.model.quantity import NANO
from tests.analysis.support import config

ASKED, HAD = Asked("cpu", 6), Spread(3, 8)
SAME, ONE, TWO = OnTheSame("restricted"), FitsOn(ASKED, HAD, 1, 4, 0), FitsOn(ASKED, HAD, 2, 4, 0)
LITTLE, WIDE = TooLittle(ASKED, HAD, "now"), TooWide(ASKED, HAD, "restricted", 1)
FIT, TAKE = FitOne(("cpu",), "v.com/gpu", 2, "restricted"), TakeTogether(("memory",), 2)
HOLDS = PodHolds("one", (), (AskedOf("cpu", NANO, None),))
CPU, MEMORY = ("app", "cpu"), ("app", "memory")
POD = Pod("one", "one", "Guaranteed", ())


def part(key: tuple[str, str] = CPU, larger: int = 0) -> Part:
    return Part(WayOut(amounts={key: NANO}, asked={key: 2 * NANO}), None, larger=larger)


def setting(flag: str) -> Part:
    return Part(WayOut(flags={flag: "x"}), None)


MOVE = Part(WayOut(pods=(POD,)), None)
NO_WORD = Above((), ())
DOES = (Effect("policy", "x"),)
STEPS: list[tuple[str, Part, list[Reason], list[Fact], Above | None, list[Reason]]] = [
    ("nothing is told yet", part(), [Reason(LITTLE)], [], None, [Reason(LITTLE)]),
    ("it is told of the refusal", part(), [Reason(LITTLE)], [LITTLE], NO_WORD, [Reason(LITTLE)]),
    ("then, as it is told of now", part(), [Reason(LITTLE._replace(when="then"))], [LITTLE], NO_WORD, [
        Reason(LITTLE._replace(when="then")),
    ]),
    ("another fact of the same resource", part(), [Reason(LITTLE)], [WIDE], None, [Reason(LITTLE)]),
    ("of another container", part(), [Reason(LITTLE, "other")], [LITTLE], None, [Reason(LITTLE, "other")]),
    ("of the refused one", part(), [Reason(LITTLE, "app")], [LITTLE], NO_WORD, [Reason(LITTLE, "app")]),
    ("with what another would have to ask for", part(), [Reason(LITTLE, larger=("app", 5))], [LITTLE], None, [
        Reason(LITTLE, larger=("app", 5)),
    ]),
    ("a little more of what was too much", part(larger=2 * NANO), [Reason(LITTLE._replace(had=Spread(1, 8)))], [
        LITTLE,
    ], NO_WORD, [Reason(LITTLE._replace(had=Spread(1, 8)))]),
    ("a little more, and another fact", part(larger=2 * NANO), [Reason(LITTLE), Reason(WIDE)], [LITTLE], None, [
        Reason(LITTLE), Reason(WIDE),
    ]),
    ("no reason", part(), [], [LITTLE], None, []),
    ("what several nodes hold is new", part(), [Reason(TWO), Reason(SAME)], [SAME], None, [Reason(TWO)]),
    ("what one node holds is", part(), [Reason(ONE), Reason(SAME)], [SAME], None, [Reason(ONE), Reason(SAME)]),
    ("it is told whole beside another fact", part(), [Reason(TWO), Reason(LITTLE)], [LITTLE], None, [
        Reason(TWO), Reason(LITTLE),
    ]),
    ("what pods hold, and no more", MOVE, [Reason(HOLDS), Reason(LITTLE)], [LITTLE], None, [Reason(HOLDS)]),
    ("what comes before it is told", MOVE, [Reason(LITTLE), Reason(HOLDS)], [LITTLE], None, [
        Reason(LITTLE), Reason(HOLDS),
    ]),
    ("a setting, for what it does", setting("policy"), [Reason(LITTLE)], [LITTLE], Above(("cpu",), DOES), [
        Reason(LITTLE),
    ]),
    ("a setting, for what names its resources", setting("policy"), [Reason(LITTLE), Reason(FIT)], [LITTLE, FIT], (
        Above((), DOES)
    ), [Reason(LITTLE), Reason(FIT)]),
    ("a setting, for memory together", setting("policy"), [Reason(LITTLE), Reason(TAKE)], [LITTLE, TAKE], (
        Above((), DOES)
    ), [
        Reason(LITTLE), Reason(TAKE),
    ]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("of", "reasons", "above", "told", "left"), [row[1:] for row in STEPS], ids=[row[0] for row in STEPS]
)
def test_what_is_told_of_the_refusal_is_not_told_of_a_change(
    of: Part, reasons: list[Reason], above: list[Fact], told: Above | None, left: list[Reason]
) -> None:
    [step] = change_steps(of.change, [(of, reasons)], [Told(one) for one in above], "app", config("restricted"))
    assert (step.told, list(step.reasons)) == (told, left)


def test_what_is_told_besides_of_another_container_is_told_of_it() -> None:
    [step] = change_steps(
        part().change, [(part(), [Reason(LITTLE, "b")])], [Told(LITTLE, "besides", "b")], "app", config("restricted")
    )
    assert step.told == NO_WORD


def grouped(*parts: tuple[Part, Reason]) -> list[list[Mapping[object, object]]]:
    """Of each step what is asked for, or set."""
    steps = change_steps(WayOut(), [(one, [why]) for one, why in parts], [], "app", config("restricted"))
    return [[{**one.amounts, **one.flags} for one in step.changes] for step in steps]


def test_parts_with_one_reason_are_one_step() -> None:
    """Containers that are to ask for the same of a resource are one change; settings stay apart."""
    why, other = Reason(LITTLE), Reason(WIDE)
    both = {("a", "cpu"): NANO, ("b", "cpu"): NANO}
    assert grouped((part(("a", "cpu")), why), (part(("b", "cpu")), why)) == [[both]]
    assert grouped((part(("a", "cpu")), why), (part(("b", "memory")), why)) == [
        [{("a", "cpu"): NANO}, {("b", "memory"): NANO}]
    ]
    assert grouped((part(("a", "cpu")), why), (part(("b", "cpu")), other)) == [
        [{("a", "cpu"): NANO}],
        [{("b", "cpu"): NANO}],
    ]
    assert grouped((setting("a"), why), (setting("b"), why)) == [[{"a": "x"}, {"b": "x"}]]


def test_pods_to_move_come_first() -> None:
    steps = change_steps(
        WayOut(), [(part(), [Reason(OddBytes(1))]), (MOVE, [Reason(HOLDS)])], [], "app", config("restricted")
    )
    assert [len(step.part.held) + len(step.part.change.pods) for step in steps] == [1, 0]
