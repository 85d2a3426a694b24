"""numalign against the recorded decisions of the kubelet: every case of every family file.

`pytest tests/test_conformance.py --vectors DIR` judges by another folder. The summary ends with a line a family.
"""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from tests.conformance import NOT_COVERED, RESULTS, cases, difference, expected, family_files, matches, module_of

SHOWN = 5
"""How many mismatches of a family are shown."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    folder = Path(metafunc.config.getoption("--vectors"))
    found = list(family_files(folder)) if folder.is_dir() else []
    metafunc.parametrize(("family", "path"), found, ids=[family for family, _ in found])


def test_family(family: str, path: Path) -> None:
    """Every decision of the family is the kubelet's."""
    module = importlib.import_module(f"tests.conformance.families.{module_of(family)}")
    matched = total = 0
    wrong: list[str] = []
    for case in cases(path):
        total += 1
        if case["id"] in NOT_COVERED:
            continue
        try:
            expect = expected(module, case)
            answer = module.decide(case)
        except Exception as error:  # one case that fails must not hide the others
            wrong.append(f"{case['id']}: {type(error).__name__}: {error}")
            continue
        if matches(expect, answer):
            matched += 1
        else:
            wrong.append(f"{case['id']}: {difference(expect, answer)}")
    RESULTS[family] = (matched, total)
    assert total > 0, f"{path} has no case"
    assert not wrong, f"{len(wrong)} of {total} differ:\n" + "\n".join(wrong[:SHOWN])
