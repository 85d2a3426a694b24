"""Work on many processes gives what one process gives, in the order of the work, whatever happens to a worker."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from numalign.tasks.parallel import AHEAD, MAX_ALONE, Done, Engine, in_order, run_all, spread
from tests import copies
from tests.tasks.working import die_always, die_once, fail_at_three, square

pytestmark = [pytest.mark.usefixtures("imported_once"), copies.TOGETHER]

NUMBERS = tuple(range(12))


@pytest.mark.parametrize("jobs", [1, 2, 8])
def test_the_results_come_in_the_order_of_the_work(jobs: int) -> None:
    seen: list[int] = []

    results = run_all(square, NUMBERS, Engine(jobs=jobs), done=seen.append)

    assert results == [Done(number * number) for number in NUMBERS]
    assert seen == list(range(1, len(NUMBERS) + 1))


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_piece_that_fails_is_told_and_the_others_stand(jobs: int) -> None:
    results = run_all(fail_at_three, NUMBERS[:6], Engine(jobs=jobs))

    assert [one.answer for one in results] == [0, 1, 2, None, None, 5]
    assert [one.error for one in results[3:5]] == ["work[3]: three is too many", "ValueError: and four"]


def test_the_work_of_a_lost_worker_is_done_again(tmp_path: Path) -> None:
    markers = [str(tmp_path / f"{number}") for number in range(4)]
    for marker in markers[1:]:
        Path(marker).touch()

    results = run_all(die_once, markers, Engine(jobs=2))

    assert results == [Done(f"{number}") for number in range(4)]


def test_work_that_kills_every_worker_ends_with_a_word() -> None:
    assert run_all(die_always, [1, 2], Engine(jobs=2)) == [Done(None, "its worker process died each time")] * 2


def test_a_dask_cluster_gives_the_same() -> None:
    assert run_all(square, NUMBERS, Engine(jobs=2, dask=True)) == [Done(number * number) for number in NUMBERS]


def test_a_dask_scheduler_that_does_not_answer_is_wrong_input() -> None:
    done = copies.run(program="tests.tasks.working:ask_nobody")

    assert "InputError: --address: no Dask scheduler answers at tcp://127.0.0.1:1" in done.err


@pytest.mark.parametrize("jobs", [1, 2, 8])
def test_work_that_comes_bit_by_bit_keeps_its_order(jobs: int) -> None:
    assert list(in_order(square, iter(NUMBERS), jobs)) == [(number, number * number) for number in NUMBERS]


def test_of_work_that_comes_bit_by_bit_little_is_read_ahead() -> None:
    read: list[int] = []
    answers = in_order(square, (read.append(number) or number for number in NUMBERS), 1)

    assert next(answers) == (0, 0)
    assert len(read) <= AHEAD + 2
    answers.close()


def test_what_a_worker_had_that_died_is_done_here(tmp_path: Path) -> None:
    markers = [str(tmp_path / name) for name in "abc"]
    Path(markers[0]).touch()
    Path(markers[2]).touch()

    assert list(in_order(die_once, markers, 1)) == list(zip(markers, "abc", strict=True))


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("number", [3, MAX_ALONE + 5])
def test_work_that_lies_here_is_spread_without_being_sent(jobs: int, number: int) -> None:
    pieces = [lambda place=place: place * place for place in range(number)]

    assert spread(lambda piece: piece(), pieces, jobs) == [place * place for place in range(number)]


def test_what_a_lost_process_had_of_it_is_done_here() -> None:
    here = os.getpid()

    def answer(place: int) -> int:
        if place == 40 and os.getpid() != here:
            os._exit(1)
        return place

    assert spread(answer, range(MAX_ALONE + 5), 2) == list(range(MAX_ALONE + 5))
