"""The wheel and the source distribution of a folder; those of this checkout are the fixture `checkout_packages`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TOGETHER = pytest.mark.together("packages")
"""Of tests that ask for it."""


def build(source: Path, target: Path, *kinds: str) -> list[Path]:
    """Build of a source folder a `wheel`, an `sdist`, or both."""
    wanted = [word for kind in kinds for word in ("-t", kind)]
    command = [sys.executable, "-m", "hatchling", "build", *wanted, "-d", str(target)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return sorted(target.iterdir())
