"""What is remembered is bounded, and a number never stands for two states."""

from __future__ import annotations

import pytest

from numalign.scheduler.simulate import known


def test_equal_states_have_one_number_and_others_have_others() -> None:
    numbers = known.Numbers()

    first, second = numbers.of((1, (2, 3))), numbers.of((1, (2, 4)))

    assert first != second
    assert numbers.of((1, (2, 3))) == first


def test_states_are_counted_from_0() -> None:
    numbers = known.Numbers()

    assert [numbers.of(state) for state in ("a", "b", "a", "c")] == [0, 1, 0, 2]


def test_a_number_is_not_used_again_after_everything_was_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "MAX_KNOWN", 3)
    numbers = known.Numbers()

    given = [numbers.of(state) for state in range(20)]

    assert len(set(given)) == 20


def test_no_more_is_remembered_than_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "MAX_KNOWN", 3)
    answers: dict[int, int] = {}

    for number in range(20):
        assert known.remember(answers, number, -number) == -number
        assert len(answers) <= 3
