"""Public issues about alignment are answered as their threads ended; `public_issues.toml` has them."""

from __future__ import annotations

import tomllib

import pytest

from tests.cli.running import ROOT, in_process

TABLE = ROOT / "tests/cli/public_issues.toml"
FOLDER = (ROOT / "tests/cli/public_issues").relative_to(ROOT)
ISSUES = tomllib.loads(TABLE.read_text(encoding="utf-8"))["issue"]


@pytest.mark.parametrize("issue", ISSUES, ids=[f"{one['issues']}: {one['about']}" for one in ISSUES])
def test_what_the_thread_found(issue: dict[str, object]) -> None:
    files = {path.name for path in (ROOT / FOLDER).iterdir()}
    words = str(issue["command"]).split()
    done = in_process(*[str(FOLDER / word) if word in files else word for word in words])
    assert done.status == issue["status"], done.err
    says = issue["says"]
    assert isinstance(says, list)
    assert [text for text in says if text not in done.out] == [], done.out
