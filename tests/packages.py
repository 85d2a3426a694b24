"""The wheel of this checkout, built once for all tests of a worker that look at it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TOGETHER = pytest.mark.together("packages")
"""Of tests that ask for it."""

_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []
"""Kept until the process ends."""


def build(source: Path, target: Path, *kinds: str) -> list[Path]:
    """Build of a source folder a `wheel`, an `sdist`, or both."""
    wanted = [word for kind in kinds for word in ("-t", kind)]
    command = [sys.executable, "-m", "hatchling", "build", *wanted, "-d", str(target)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return sorted(target.iterdir())


@cache
def of_checkout() -> tuple[Path, Path]:
    """Return the wheel and the source distribution of this checkout."""
    _FOLDERS.append(tempfile.TemporaryDirectory())
    wheel, archive = build(ROOT, Path(_FOLDERS[-1].name), "sdist", "wheel")
    return wheel, archive
