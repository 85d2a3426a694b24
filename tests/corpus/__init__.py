"""Files such as people keep, and what is read of each: `answers.json` beside the files of a corpus."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


class Answers:
    """What is known of a corpus' files; with NUMALIGN_UPDATE_GOLDEN=1 it is what is found, to be read by a person."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def judge(self, name: str, found: dict[str, Any]) -> None:
        """Hold what is found in a file against its answer."""
        if os.environ.get("NUMALIGN_UPDATE_GOLDEN"):
            self.known[name] = found
            lines = [f"{json.dumps(key)}: {json.dumps(self.known[key])}" for key in sorted(self.known)]
            self.path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")

        assert found == self.known.get(name)
