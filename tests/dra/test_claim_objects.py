"""What files hold of claims: which of several is taken, and what lies over a dump."""

from __future__ import annotations

import pytest

from numalign.dra.claim_objects import ClaimObjects, Placed
from numalign.dra.values import Claim, DeviceClass, Node, Slice, TaintRule
from numalign.model.machine import Taint

KEY = ("default", "c")


def placed(origin: str) -> Placed:
    return Placed(Claim(origin, "default"), origin)


FIRST, *FURTHER = (placed(origin) for origin in ("way-1/all.yaml:1", "way-2/claim.yaml:3", "way-2/pod.yaml:9"))
NEAR = [
    ("of the file itself", "way-2/pod.yaml", "way-2/pod.yaml:9"),
    ("else of its folder, the first", "way-2/other.yaml", "way-2/claim.yaml:3"),
    ("else the first of all", "elsewhere/pod.yaml", "way-1/all.yaml:1"),
    ("a folder in it is another one", "way-2/sub/pod.yaml", "way-1/all.yaml:1"),
]


@pytest.mark.parametrize("kind", ["ResourceClaim", "ResourceClaimTemplate"])
@pytest.mark.parametrize(("file", "origin"), [row[1:] for row in NEAR], ids=[row[0] for row in NEAR])
def test_of_claims_of_one_name_the_nearest_is_taken(kind: str, file: str, origin: str) -> None:
    known, again = {KEY: FIRST}, {(kind, KEY): tuple(FURTHER)}
    several = ClaimObjects(claims=known, templates=known, again=again)

    found = several.near(file)

    taken, left = (found.claims, found.templates) if kind == "ResourceClaim" else (found.templates, found.claims)
    assert (taken[KEY].origin, left[KEY].origin, found.again) == (origin, FIRST.origin, {})


def test_what_is_given_lies_over_a_dump() -> None:
    here, there = placed("here.yaml:1"), placed("dump.yaml:1")
    given = ClaimObjects(claims={KEY: here}, templates={KEY: here}, classes={"c": DeviceClass("c")}, nodes=(Node("a"),))
    dump = ClaimObjects(
        claims={KEY: there, ("o", "c"): there},
        templates={KEY: there, ("o", "c"): there},
        classes={"c": DeviceClass("c", ("true",)), "d": DeviceClass("d")},
        nodes=(Node("b"),),
    )

    found = given.over(dump)

    assert found.claims == found.templates == {KEY: here, ("o", "c"): there}
    assert found.classes == {"c": DeviceClass("c"), "d": DeviceClass("d")}
    assert [one.name for one in found.nodes] == ["b", "a"]


def test_slices_and_taints_of_both_count() -> None:
    one, other = (Slice(name, "d", "p", 1, 1) for name in "ab")
    rules = [TaintRule(Taint(name, "", "NoSchedule")) for name in "xy"]
    found = ClaimObjects(slices=(one,), taint_rules=(rules[0],)).over(
        ClaimObjects(slices=(other,), taint_rules=(rules[1],))
    )
    assert (found.slices, found.taint_rules) == ((other, one), (rules[1], rules[0]))
