"""Public issues about alignment are answered as their threads ended; `public_issues.toml` has them."""

from __future__ import annotations

import pytest

from manual.issues import issues, words
from tests.cli.running import in_process

ISSUES = issues()


@pytest.mark.parametrize("issue", ISSUES, ids=[f"{one['issues']}: {one['about']}" for one in ISSUES])
def test_what_the_thread_found(issue: dict[str, object]) -> None:
    done = in_process(*words(str(issue["command"])))
    assert done.status == issue["status"], done.err
    says = issue["says"]
    assert isinstance(says, list)
    assert [text for text in says if text not in done.out] == [], done.out
