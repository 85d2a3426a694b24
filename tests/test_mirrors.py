"""tests/ mirrors numalign/: whoever changes a module of the core or a use case finds the tests that are about it."""

from __future__ import annotations

import fnmatch

import pytest

from tests import mirrors
from tests.source_code import MODULES, layer

PARTS = ("kubelet", "dra", "scheduler", "analysis", "tasks")
JUDGES = mirrors.TESTS / "conformance" / "families"


@pytest.mark.parametrize("module", [module for module in MODULES if layer(module) in PARTS])
def test_a_module_has_tests_of_its_own(module: str) -> None:
    """A file of its name or one that imports it, where it is mirrored; a row of mirrors.toml; or a recorded family."""
    judged = any(module in mirrors.imported(file) for file in JUDGES.glob("*.py"))

    assert mirrors.own(module) or judged or mirrors.holds_values(module)


def test_the_table_names_what_is_there() -> None:
    table = mirrors.elsewhere()
    assert {pattern for pattern in table if not fnmatch.filter(MODULES, f"numalign.{pattern}")} == set()
    assert {file for files in table.values() for file in files if not file.is_file()} == set()


def test_tests_stand_where_there_is_something_to_mirror() -> None:
    """A folder of tests of the core has a folder in numalign/ beside it."""
    for part in PARTS:
        for folder in mirrors.folders(mirrors.TESTS / part):
            if mirrors.files(folder):
                assert (mirrors.PACKAGE / folder.relative_to(mirrors.TESTS)).is_dir(), folder
