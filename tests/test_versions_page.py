"""docs/versions.md is made from the table that decides; `NUMALIGN_UPDATE_GOLDEN=1` writes it anew."""

from __future__ import annotations

import os

from manual.versions import versions_page
from numalign.kubelet.releases.since_1_33 import NEWER_CHANGES
from numalign.kubelet.releases.table import all_changes
from tests.cli.running import ROOT

PAGE = ROOT / "docs" / "versions.md"


def test_the_page_tells_what_the_table_does() -> None:
    page = versions_page(all_changes())
    if os.environ.get("NUMALIGN_UPDATE_GOLDEN"):
        PAGE.write_text(page, encoding="utf-8")
    assert page == PAGE.read_text(encoding="utf-8")


def test_every_change_since_132_says_whom_it_concerns() -> None:
    assert not [change.topic for change in NEWER_CHANGES if change.concerns == "anybody"]
