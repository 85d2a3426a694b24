"""What a shape of pods keeps of each machine: which fit, and what they said of attempts that failed."""

from __future__ import annotations

import pytest

from numalign.model.apiserver.defaulting import read_pod
from numalign.scheduler import choice
from numalign.scheduler.attempt import Judgement
from numalign.scheduler.simulate.shapes import Shape, Shapes
from numalign.scheduler.verdict import PASS, Verdict
from tests.scheduler.make import asking

FULL, SPLIT = Verdict(False, "Insufficient cpu"), Verdict(False, "cannot align container")
JUDGED = (Judgement(FULL, fits=False), Judgement(PASS, 3), Judgement(SPLIT, marks=True), Judgement(PASS, 9))


def shape() -> Shape:
    made = Shape(0, asking(1), len(JUDGED))
    for place, judgement in enumerate(JUDGED):
        made.put(place, judgement)
    return made


def test_pods_that_ask_the_same_share_a_shape_however_it_is_written() -> None:
    shapes = Shapes(1)
    zones = {"zone": "a", "disk": "ssd"}
    one, other, without = (
        read_pod({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}], "nodeSelector": dict(each)}})
        for each in (zones.items(), reversed(zones.items()), ())
    )
    assert shapes.of(one) is shapes.of(other)
    assert shapes.of(one) is not shapes.of(without)


@pytest.mark.parametrize(
    ("place", "without", "machine"), [(0, (), 1), (1, (), 2), (2, (), 3), (0, (1,), 2), (1, (2,), 3), (0, (1, 2), 3)]
)
def test_machines_that_fit_as_bags_are_counted_in_their_order(
    place: int, without: tuple[int, ...], machine: int
) -> None:
    assert shape().nth_fitting(place, without) == machine


def test_a_machine_that_nobody_looked_at_neither_fits_nor_passes() -> None:
    made = Shape(0, asking(1), 2)
    assert (made.fitting, made.best("first", 0, 0)) == (0, None)
    made.put(1, Judgement(PASS))
    assert (made.fitting, made.best("first", 0, 0)) == (1, 1)
    made.put(1, Judgement(FULL, fits=False))
    assert made.fitting == 0
    assert made.tally() == {}


def test_messages_count_for_the_failed_attempts_in_which_they_were_true() -> None:
    """Two attempts fail, then machine 0 has another reason, then a third one fails, which keeps 3 away."""
    made = shape()
    made.failed_attempts = 2
    made.put(0, Judgement(SPLIT))
    made.failed_attempts = 3
    made.missed(3, "ports")
    assert made.tally() == {(0, FULL.message): 2, (0, SPLIT.message): 1, (2, SPLIT.message): 3, (3, "ports"): 1}


def test_the_best_machine_is_the_one_with_the_highest_score_now() -> None:
    made = shape()
    assert made.best("first", 0, 0) == 3
    made.put(3, Judgement(PASS, 3))
    assert made.best("first", 0, 0) == 1
    made.put(2, Judgement(PASS))
    assert {made.best("random", 7, attempt) for attempt in range(20)} == {1, 3}
    made.put(3, Judgement(FULL, fits=False))
    assert {made.best("random", 7, attempt) for attempt in range(20)} == {1}
    made.put(1, Judgement(FULL, fits=False))
    assert made.best("first", 0, 0) == 2
    made.put(2, Judgement(SPLIT))
    assert made.best("first", 0, 0) is None


def test_of_equal_machines_chance_takes_one_by_their_numbers() -> None:
    made = Shape(0, asking(1), 9)
    for place in range(9):
        made.put(place, Judgement(PASS, 9) if place in (1, 8) else Judgement(FULL, fits=False))
    for attempt in range(20):
        assert made.best("random", 7, attempt) == choice.pick((1, 8), "random", 7, attempt)
