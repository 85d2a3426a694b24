"""Being somebody else for a while: from root nothing is write-protected."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

NOBODY = 65534


@pytest.fixture
def as_nobody(tmp_path: Path) -> Callable[[], AbstractContextManager[None]]:
    """Return what makes root nobody, to whom pytest's own folders are open then; others stay who they are."""

    @contextlib.contextmanager
    def within() -> Iterator[None]:
        me = os.geteuid()
        for parent in (tmp_path, *tmp_path.parents):
            if parent.name.startswith(("test_", "popen-", "pytest-")):  # pytest's own folders keep others out
                parent.chmod(0o755)
        if me == 0:
            os.seteuid(NOBODY)
        try:
            yield
        finally:
            os.seteuid(me)

    return within
