"""Some recorded pods that are admitted and not aligned: each fix is true, and brute force finds none that is nearer."""

from __future__ import annotations

from tests.unaligned.survey import judged, sample


def test_what_is_said_aligns_a_pod() -> None:
    found = [judged(one) for one in sample(30, every=40)]
    assert len(found) == 30
    assert [one for one in found if one.false or one.missed or one.nearer or not one.kinds] == []
