"""What people read, line by line: `golden/COMMAND/NAME.cmd` is a command line, and what it prints stands beside it.

`NAME.out` is standard output, `NAME.err` standard error (no such file: nothing is said there). A command runs in this
process, in the root of the repository; a few run as real processes too, which must print the same. Lines before the
command may say `# status N`, the exit status (0), and `# columns N`, the width of the terminal (120).
A case that names no release says `NEWEST` where the newest stands, so that a new release changes none.
`NUMALIGN_UPDATE_GOLDEN=1` writes the files anew; read what changed before you commit it.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from tests import copies
from tests.cli.running import ENVIRONMENT as PLAIN
from tests.cli.running import ROOT, Done, in_process, numalign
from tests.newest import unnamed

GOLDEN = ROOT / "tests" / "golden"
CASES = sorted(GOLDEN.glob("*/*.cmd"))
FIRST_OF_EACH_COMMAND = list({case.parent: case for case in reversed(CASES)}.values())
ENVIRONMENT = {"COLUMNS": "120", "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}


def name(case: Path) -> str:
    return f"{case.parent.name}/{case.stem}"


def command(case: Path) -> tuple[list[str], int, dict[str, str]]:
    """Read a case: the arguments, the exit status it ends with, and the environment it runs in."""
    text = case.read_text(encoding="utf-8")
    said = dict(re.findall(r"^# (status|columns) (\d+)$", text, re.M))
    words = shlex.split(text, comments=True)
    assert words[0] == "numalign"
    assert words[1] == case.parent.name, "a case lies in the folder of its command"
    return words[1:], int(said.get("status", 0)), ENVIRONMENT | {"COLUMNS": said.get("columns", "120")}


@pytest.mark.parametrize("case", CASES, ids=name)
def test_prints_what_it_printed(case: Path) -> None:
    arguments, status, env = command(case)
    done = plain(in_process(*arguments, env=env), arguments)
    if os.environ.get("NUMALIGN_UPDATE_GOLDEN"):
        write(case, done)
    assert done.out == case.with_suffix(".out").read_text(encoding="utf-8"), done.err
    assert done.err == errors(case)
    assert done.status == status, done.err


@copies.TOGETHER
@pytest.mark.parametrize("case", FIRST_OF_EACH_COMMAND, ids=name)
def test_a_process_prints_the_same(case: Path) -> None:
    arguments, status, env = command(case)
    done = plain(copies.run(*arguments, environment=PLAIN | env), arguments)
    assert done == (status, case.with_suffix(".out").read_text(encoding="utf-8"), errors(case))


def test_so_does_one_that_starts_python() -> None:
    (case,) = (case for case in CASES if name(case) == "admit/announcement-best-effort")
    arguments, status, env = command(case)
    done = plain(numalign(*arguments, env=env), arguments)
    assert done == (status, case.with_suffix(".out").read_text(encoding="utf-8"), errors(case))


def plain(done: Done, arguments: list[str]) -> Done:
    """Leave out the newest release, which stands in nearly all headers."""
    return done._replace(out=unnamed(done.out, *arguments), err=unnamed(done.err, *arguments))


def errors(case: Path) -> str:
    path = case.with_suffix(".err")
    return path.read_text(encoding="utf-8") if path.exists() else ""


def write(case: Path, done: Done) -> None:
    case.with_suffix(".out").write_text(done.out, encoding="utf-8")
    path = case.with_suffix(".err")
    if done.err:
        path.write_text(done.err, encoding="utf-8")
    else:
        path.unlink(missing_ok=True)


def test_every_output_belongs_to_a_command() -> None:
    assert {path.with_suffix(".cmd") for path in [*GOLDEN.glob("*/*.out"), *GOLDEN.glob("*/*.err")]} == set(CASES)
