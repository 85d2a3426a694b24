"""CHANGELOG is a page, and its newest release is the one that the package says it is."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

from numalign import __version__

TEXT = (Path(__file__).parent.parent / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_newest_release_is_this_one_with_its_date() -> None:
    heading = re.search(r"^## (\S+) - (\S+)$", TEXT, re.M)

    assert heading is not None
    assert heading[1] == __version__
    assert datetime.date.fromisoformat(heading[2])


def test_it_is_a_page() -> None:
    assert len(TEXT.splitlines()) <= 70
