"""Which set of pods an NRT object describes (docs/rules/scheduling.md 3.4, podresources.md 27)."""

from __future__ import annotations

import pytest
from hypothesis import given

from numalign.scheduler.fingerprint import ONLY_EXCLUSIVE, Published, check_fingerprint, fingerprint, published
from numalign.scheduler.nrt.value import (
    FINGERPRINT,
    FINGERPRINT_ANNOTATION,
    FINGERPRINT_METHOD,
    NodeResourceTopology,
)
from tests.dice import Dice, rolled

PODS = [("ns", "a"), ("ns", "b"), ("other", "a")]
RIGHT = fingerprint(PODS)

CHECKED = [
    ("the same pods", RIGHT, "match"),
    ("other pods", fingerprint(PODS[:2]), "mismatch"),
    ("a text that is none", "x" * 24, "malformed"),
    ("a text that is too short", RIGHT[:15], "malformed"),
    ("the shortest text", RIGHT[:16], "mismatch"),
    ("another version", RIGHT.replace("v001", "v002"), "incompatible-version"),
    ("nothing", "", "malformed"),
]


@pytest.mark.parametrize(("text", "answer"), [row[1:] for row in CHECKED], ids=[row[0] for row in CHECKED])
def test_a_fingerprint_is_held_against_pods(text: str, answer: str) -> None:
    assert check_fingerprint(text, PODS) == answer


def test_the_order_of_pods_does_not_matter_and_their_namespace_does() -> None:
    assert fingerprint(reversed(PODS)) == RIGHT
    assert fingerprint([("a", "ns"), ("b", "ns"), ("a", "other")]) != RIGHT
    assert fingerprint([]) != RIGHT
    assert RIGHT.startswith("pfp0v001")
    assert len(RIGHT) == 24


def test_names_that_no_pod_can_have_are_counted_like_others() -> None:
    """JSON can carry halves of characters."""
    assert check_fingerprint(fingerprint([("ns", "\ud800")]), [("ns", "\ud800")]) == "match"


def some_pods(dice: Dice) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    first, second = (dice.several(lambda one: (one.pick("ab"), one.pick("cd")), 0, 4) for _ in range(2))
    return set(first), set(second)


@given(rolled(some_pods, 60))
def test_equal_sets_of_pods_and_equal_fingerprints_are_the_same_thing(
    drawn: tuple[set[tuple[str, str]], set[tuple[str, str]]],
) -> None:
    """`simulate` compares the pods themselves, which takes no hashes."""
    first, second = drawn
    assert (check_fingerprint(fingerprint(first), second) == "match") == (first == second)


ANNOTATION = {FINGERPRINT_ANNOTATION: "old"}
FOUND = [
    ("none", (), {}, Published("", False)),
    ("an attribute", ((FINGERPRINT, "new"),), {}, Published("new", False)),
    ("an annotation", (), ANNOTATION, Published("old", False)),
    ("the attribute wins", ((FINGERPRINT, "new"),), ANNOTATION, Published("new", False)),
    ("a method", ((FINGERPRINT, "new"), (FINGERPRINT_METHOD, ONLY_EXCLUSIVE)), {}, Published("new", True)),
    ("another method", ((FINGERPRINT, "new"), (FINGERPRINT_METHOD, "all")), {}, Published("new", False)),
    (
        "a method beside an annotation does not count",
        ((FINGERPRINT_METHOD, ONLY_EXCLUSIVE),),
        ANNOTATION,
        Published("old", False),
    ),
]


@pytest.mark.parametrize(
    ("attributes", "annotations", "said"), [row[1:] for row in FOUND], ids=[row[0] for row in FOUND]
)
def test_the_fingerprint_of_an_object(
    attributes: tuple[tuple[str, str], ...], annotations: dict[str, str], said: Published
) -> None:
    assert published(NodeResourceTopology("n", (), attributes, (), annotations)) == said
