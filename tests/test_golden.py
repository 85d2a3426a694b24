"""What people read, line by line: `golden/NAME.cmd` is a command line, `golden/NAME.out` what it prints.

The command runs as a real process in the root of the repository. Lines before it may say `# status N`, the exit status
(0), and `# columns N`, the width of the terminal (120).
`NUMALIGN_UPDATE_GOLDEN=1` writes the files anew; read what changed before you commit it.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
GOLDEN = ROOT / "tests" / "golden"
CASES = sorted(GOLDEN.glob("*.cmd"))
ENVIRONMENT = {"PATH": os.environ["PATH"], "COLUMNS": "120", "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_prints_what_it_printed(case: Path) -> None:
    text = case.read_text(encoding="utf-8")
    said = dict(re.findall(r"^# (status|columns) (\d+)$", text, re.M))
    words = shlex.split(text, comments=True)
    assert words[0] == "numalign"
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=ROOT,
        env=ENVIRONMENT | {"COLUMNS": said.get("columns", ENVIRONMENT["COLUMNS"])},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    expected = case.with_suffix(".out")
    if os.environ.get("NUMALIGN_UPDATE_GOLDEN"):
        expected.write_text(done.stdout, encoding="utf-8")
    assert done.stdout == expected.read_text(encoding="utf-8"), done.stderr
    assert done.returncode == int(said.get("status", 0)), done.stderr
