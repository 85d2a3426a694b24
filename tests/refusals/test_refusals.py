"""Explanations hold: a fixed tenth of all recorded refusals, in file order, each change applied and played again."""

from __future__ import annotations

import pytest

from tests.refusals.survey import judged, scenarios

SHARES = 10
"""The tenth is split among so many tests."""


@pytest.mark.parametrize("share", range(SHARES))
def test_a_refusal_has_a_true_reason_and_a_way_out(share: int) -> None:
    found = [one for data in scenarios(every=10 * SHARES, first=10 * share) for one in judged(data)]
    assert found
    assert [one for one in found if one.wrong] == []
