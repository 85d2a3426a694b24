"""The built site, served, and the browser that opens it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.server import Site
from tests.cli.running import ROOT

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    server = Site(ROOT / "site")
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright comes with `make site-check`")
    with playwright.sync_playwright() as tool:
        found = tool.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield found
        found.close()
