"""Files such as people keep, and what is read of each: `answers.json` beside the files of a corpus."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Corpus:
    """A folder of files and what is known of each; with NUMALIGN_UPDATE_GOLDEN=1 that is what is found, to be read."""

    def __init__(self, name: str) -> None:
        self.folder = Path(__file__).parent / name
        self._answers = self.folder / "answers.json"
        self.known: dict[str, Any] = {}
        if self._answers.exists():
            self.known = json.loads(self._answers.read_text(encoding="utf-8"))
        self.files = sorted(path.name for path in self.folder.iterdir() if path.is_file() and path != self._answers)

    def judge(self, name: str, answer: Callable[[str], dict[str, Any]]) -> None:
        """Hold what is found in a file, named as one who stands in the folder names it, against its answer."""
        with contextlib.chdir(self.folder):
            found = answer(name)
        if os.environ.get("NUMALIGN_UPDATE_GOLDEN"):
            self.known[name] = found
            lines = [f"{json.dumps(key)}: {json.dumps(self.known[key])}" for key in sorted(self.known)]
            self._answers.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")

        assert found == self.known.get(name)
