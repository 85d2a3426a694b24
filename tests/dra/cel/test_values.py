"""Equality, keys of maps, semantic versions (docs/rules/dra.md D-20a)."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.dra.cel.errors import EvaluationError
from numalign.dra.cel.values import (
    NOTHING,
    Domains,
    Optional,
    Semver,
    Uint,
    compare_semver,
    equal,
    map_key,
    parse_semver,
    plain_key,
    type_name,
)
from numalign.model.quantity import parse

V1 = Semver(1, 2, 3)
EQUAL: list[tuple[str, object, object, bool]] = [
    ("numbers of one value", 3, 3.0, True),
    ("signed and unsigned", Uint(3), 3, True),
    ("numbers of two values", 3, 4, False),
    ("a number and a truth", 1, True, False),
    ("a truth and a number", True, 1, False),
    ("a number and a text", 1, "1", False),
    ("truths", True, True, True),
    ("texts", "a", "a", True),
    ("a text and bytes", "a", b"a", False),
    ("nothing", None, None, True),
    ("nothing and false", None, False, False),
    ("amounts written in two ways", parse("1Gi"), parse("1024Mi"), True),
    ("two amounts", parse("1Gi"), parse("1G"), False),
    ("versions", V1, Semver(1, 2, 3), True),
    ("two versions", V1, Semver(1, 2, 4), False),
    ("lists by what is in them", [1, [2]], [1.0, [Uint(2)]], True),
    ("lists of true and of 1", [True], [1], False),
    ("lists of amounts written in two ways", [parse("1Gi")], [parse("1024Mi")], True),
    ("lists of a number and of an amount", [1], [parse("1")], False),
    ("maps of a number and of an amount", {"a": 1}, {"a": parse("1")}, False),
    ("optionals of a number and of an amount", Optional(True, 1), Optional(True, parse("1")), False),
    ("one that is missing and one that is there", NOTHING, Optional(True, 1), False),
    ("lists of two lengths", [1], [1, 2], False),
    ("lists in two orders", [1, 2], [2, 1], False),
    ("a list and a map", [], {}, False),
    ("a map and a list", {}, [], False),
    ("maps by what is in them", {"a": 1, "b": 2}, {"b": 2.0, "a": 1}, True),
    ("maps of two sizes", {"a": 1}, {"a": 1, "b": 2}, False),
    ("maps of other keys", {"a": 1}, {"b": 1}, False),
    ("maps of other values", {"a": 1}, {"a": 2}, False),
    ("a map of domains is a map", Domains({"a": 1}), {"a": 1}, True),
    ("optionals of one value", Optional(True, 1), Optional(True, 1.0), True),
    ("optionals of two values", Optional(True, 1), Optional(True, 2), False),
    ("one that is missing", Optional(True, 1), NOTHING, False),
    ("two that are missing", NOTHING, Optional(False, 7), True),
    ("an optional and its value", Optional(True, 1), 1, False),
    ("a value and its optional", 1, Optional(True, 1), False),
    ("a list and an optional", [1], Optional(True, [1]), False),
    ("a text and an optional", "a", Optional(True, "a"), False),
]


@pytest.mark.parametrize(("one", "other", "same"), [row[1:] for row in EQUAL], ids=[row[0] for row in EQUAL])
def test_values_are_equal(one: object, other: object, same: bool) -> None:
    assert equal(one, other) is same


@pytest.mark.parametrize("one", [parse("1"), V1], ids=["an amount", "a version"])
def test_an_amount_or_a_version_is_compared_with_its_like_alone(one: object) -> None:
    for other in (1, "1", None, [one], parse("1") if one == V1 else V1):
        with pytest.raises(EvaluationError, match="no such overload"):
            equal(one, other)


def test_keys_of_maps() -> None:
    for key in (True, False, 1, 0, "a", 1.5, Uint(2)):
        assert plain_key(map_key(key)) is key
    assert map_key(True) != map_key(1)
    assert map_key("true") != map_key(True)
    for key in (None, [], b"a", parse("1")):
        with pytest.raises(EvaluationError, match=f"unsupported key type: {type_name(key)}"):
            map_key(key)


def test_a_domain_that_is_missing_is_an_empty_map() -> None:
    domains = Domains({"a": 1})
    assert domains["b"] == {}
    assert "b" not in domains
    assert len(domains) == 1


NORMAL = [
    ("a whole version", "1.2.3", V1),
    ("with a part before its release", "1.2.3-rc.1", Semver(1, 2, 3, ("rc", 1))),
    ("with a hyphen in it", "1.2.3--1-a", Semver(1, 2, 3, ("-1-a",))),
    ("build data count for nothing", "1.2.3+b.01", V1),
    ("both", "1.2.3-a+b", Semver(1, 2, 3, ("a",))),
    ("zeros", "0.0.0-0", Semver(0, 0, 0, (0,))),
    ("the largest number", "18446744073709551615.0.0", Semver(2**64 - 1, 0, 0)),
    ("a larger one", "0.18446744073709551616.0", None),
    ("the largest before a release", "1.0.0-18446744073709551615", Semver(1, 0, 0, (2**64 - 1,))),
    ("a larger one before a release", "1.0.0-18446744073709551616", None),
    ("too few parts", "1.2", None),
    ("too many", "1.2.3.4", None),
    ("a zero at the start", "1.02.3", None),
    ("a zero at the start of a number before a release", "1.2.3-01", None),
    ("a zero at the start of a text", "1.2.3-0a", Semver(1, 2, 3, ("0a",))),
    ("a prefix", "v1.2.3", None),
    ("a blank", " 1.2.3", None),
    ("nothing behind the sign", "1.2.3-", None),
    ("figures of another script", "1.2.٣", None),
    ("a long one", "1.2.3-" + "a" * 250, Semver(1, 2, 3, ("a" * 250,))),
    ("too long a one", "1.2.3-" + "a" * 251, None),
]


@pytest.mark.parametrize(("text", "version"), [row[1:] for row in NORMAL], ids=[row[0] for row in NORMAL])
def test_a_version_is_read(text: str, version: Semver | None) -> None:
    assert parse_semver(text) == version
    if version is not None:
        assert parse_semver(text, normalize=True) == version


LOOSE = [
    ("a prefix", "v1.2.3", V1),
    ("only one prefix", "vv1.2.3", None),
    ("blanks", " 1.2.3\n", V1),
    ("parts that are missing", "1", Semver(1, 0, 0)),
    ("one part that is missing", "1.2", Semver(1, 2, 0)),
    ("zeros at the start", "01.002.0003", V1),
    ("zeros alone", "00.0.000", Semver(0, 0, 0)),
    ("zeros before a release", "v01.02.03-a", Semver(1, 2, 3, ("a",))),
    ("nothing is added before a release", "1.2-a", None),
    ("nor before build data", "1.2+a", None),
    ("no number", "x", None),
    ("nothing", "", None),
]


@pytest.mark.parametrize(("text", "version"), [row[1:] for row in LOOSE], ids=[row[0] for row in LOOSE])
def test_a_version_is_made_whole(text: str, version: Semver | None) -> None:
    assert parse_semver(text, normalize=True) == version


ORDER = [
    "0.9.9", "1.0.0-1", "1.0.0-2", "1.0.0-10", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta",
    "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1", "1.1.0", "1.10.0", "2.0.0",
]  # fmt: skip


def test_versions_stand_in_their_order() -> None:
    versions = [parse_semver(text) for text in ORDER]
    for (left, one), (right, other) in itertools.product(enumerate(versions), repeat=2):
        assert one is not None
        assert other is not None
        assert compare_semver(one, other) == (left > right) - (left < right), (ORDER[left], ORDER[right])


_PARTS = st.lists(st.one_of(st.integers(0, 3), st.sampled_from("ab")), max_size=2)
_VERSIONS = st.builds(lambda a, b, pre: Semver(a, b, 0, tuple(pre)), st.integers(0, 1), st.integers(0, 1), _PARTS)


@given(_VERSIONS, _VERSIONS)
def test_the_order_of_versions_is_one(one: Semver, other: Semver) -> None:
    assert compare_semver(one, other) == -compare_semver(other, one)
    assert (compare_semver(one, other) == 0) == (one == other)
    text = f"{one.major}.{one.minor}.0" + ("-" + ".".join(map(str, one.pre)) if one.pre else "")
    assert parse_semver(text) == one
