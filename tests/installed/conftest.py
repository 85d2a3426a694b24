"""Where the built things are: `.ci/release` names the folder dist/ and an environment with nothing but the wheel."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

WITHOUT = ("PYTHON", "NUMALIGN", "VIRTUAL_ENV", "COLUMNS")
"""Variables that would let the checkout answer, or change what is printed."""


class Installed:
    """The wheel in an environment of its own, used from a folder that has nothing else in it."""

    def __init__(self, environment: Path, dist: Path, folder: Path) -> None:
        self.bin = environment / "bin"
        self.dist = dist
        self.folder = folder

    def environ(self, *before: Path) -> dict[str, str]:
        """Name the variables of a user's shell, with the environment's programs and some before them on PATH."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(WITHOUT)}
        path = os.pathsep.join([*map(str, before), str(self.bin), "/usr/local/bin", "/usr/bin", "/bin"])
        return {**kept, "PATH": path, "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "MANPAGER": "cat", "MANWIDTH": "80"}

    def run(self, *words: str | Path, before: tuple[Path, ...] = (), **more: str) -> subprocess.CompletedProcess[str]:
        """Run a program."""
        return subprocess.run(
            [str(word) for word in words],
            cwd=self.folder,
            env={**self.environ(*before), **more},
            capture_output=True,
            text=True,
            timeout=300,
            stdin=subprocess.DEVNULL,
        )


@pytest.fixture
def installed(tmp_path: Path) -> Installed:
    names = [os.environ.get(name) for name in ("NUMALIGN_INSTALLED", "NUMALIGN_DIST")]
    environment, dist = names
    if environment is None or dist is None:
        pytest.skip("nothing was built: `make release` builds, and runs these tests")
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return Installed(Path(environment), Path(dist), folder)
