"""What was found once is found no more: every case of the corpus has an answer, in a process that goes on after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.case import from_json, load
from tests.fuzz.farm import CORPUS
from tests.fuzz.judge import run

FILES = sorted(CORPUS.glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_nothing_of_the_corpus_breaks_it(path: Path, tmp_path: Path) -> None:
    verdict = run(load(path), tmp_path / "case")
    assert verdict.wrong == "", verdict


def test_the_corpus_is_not_empty() -> None:
    assert len(FILES) > 20


@pytest.mark.parametrize("path", FILES[:5], ids=[path.stem for path in FILES[:5]])
def test_a_case_is_read_back_as_it_was_written(path: Path) -> None:
    case = load(path)
    assert from_json(case.to_json()) == case
