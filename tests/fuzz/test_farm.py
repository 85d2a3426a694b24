"""A short run of the farm: the same first cases of each class every time, and whether it would see what is wrong."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from numalign.cli.commands import lint
from tests.cli.running import PODS
from tests.fuzz.case import Case
from tests.fuzz.classes import CLASSES, make
from tests.fuzz.farm import kind_of, smaller
from tests.fuzz.judge import Verdict, run

CASES = 60
"""Of each class."""


AGAIN = ("manifests", "beside", "machines", "scenarios")
"""Classes whose cases are run twice."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make one folder for the cases: outputs name it."""
    return tmp_path_factory.mktemp("farm") / "case"


@cache
def first_of(name: str, number: int, folder: Path) -> Verdict:
    """Run a case for the first time."""
    return run(make(name, number), folder)


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.together(f"farm {name}")) for name in CLASSES])
def test_the_first_cases_of_a_class_have_an_answer(name: str, folder: Path) -> None:
    wrong = {}
    for number in range(CASES):
        verdict = first_of(name, number, folder)
        if verdict.wrong:
            wrong[number] = verdict.wrong
    assert wrong == {}


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.together(f"farm {name}")) for name in AGAIN])
def test_the_same_case_gives_the_same_bytes(name: str, folder: Path) -> None:
    for number in range(20):
        first, again = first_of(name, number, folder), run(make(name, number), folder)
        assert (first.status, first.out, first.err) == (again.status, again.out, again.err)


@pytest.mark.parametrize("name", ["settings", "kept_states", "cluster_files", "answers", "requests"])
def test_a_class_is_not_refused_at_the_door(name: str, folder: Path) -> None:
    """At least a fifth of the cases come to an answer: what is refused at once tries nothing."""
    answered = [first_of(name, number, folder).status in (0, 1) for number in range(CASES)]
    assert sum(answered) * 5 >= CASES


def test_a_number_is_the_same_case_everywhere() -> None:
    assert [make(name, 7) for name in CLASSES] == [make(name, 7) for name in CLASSES]


GOOD = Case(("lint", "{here}/a", "{here}/b"), files={name: (PODS / "burstable.yaml").read_bytes() for name in "ab"})


def _broken(what: str) -> Any:
    def task(*_: object, **__: object) -> Any:
        if what == "escape":
            raise SystemExit(3)
        raise ZeroDivisionError("1 pods")

    return task


@pytest.mark.parametrize(
    ("what", "wrong"), [("bug", "bug: ZeroDivisionError: 1 pods"), ("escape", "escaped: SystemExit")]
)
def test_the_farm_sees_bugs_and_makes_them_small(
    what: str, wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lint, "lint", _broken(what))
    verdict = run(GOOD, tmp_path / "case")
    assert verdict.wrong.startswith(wrong)
    small = smaller(GOOD, verdict.wrong, tmp_path / "case")
    assert sum(map(len, small.files.values())) < sum(map(len, GOOD.files.values())) / 2
    assert kind_of(run(small, tmp_path / "case").wrong) == kind_of(verdict.wrong)


def test_the_farm_sees_a_file_that_changed(tmp_path: Path) -> None:
    case = Case(("discover", "-m", "figure-1", "--save", "{here}/keep"), files={"keep": b"old"}, kept=("keep",))
    assert run(case, tmp_path / "case").wrong == "changed keep"


@pytest.mark.parametrize("line", ["\x1b[31m", "a\x07", "  ::error::x", "x ##[error]", "\u202e", "\x85"], ids=repr)
def test_the_farm_sees_what_would_steer_a_terminal_or_a_build_server(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lint, "tell_and_show", lambda *_, **__: print(line))  # noqa: T201 (that is what is seen)
    assert run(GOOD, tmp_path / "case").wrong == "a control character or a command on standard output"
