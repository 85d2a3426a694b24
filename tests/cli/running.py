"""How the tests of the command line run it: as a real process, or in this one where many runs are needed."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from numalign import cli

ROOT = Path(__file__).parent.parent.parent
PODS = ROOT / "pods"
MACHINES = ROOT / "machines"
ENVIRONMENT = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}


class Done(NamedTuple):
    """What a run left."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "numalign", *map(str, arguments)]


def numalign(
    *arguments: str | Path, stdin: bytes | None = None, cwd: Path = ROOT, env: dict[str, str] | None = None
) -> Done:
    """Run the command as a real process."""
    done = subprocess.run(
        command(*arguments),
        cwd=cwd,
        env={**ENVIRONMENT, "PYTHONPATH": str(ROOT), **(env or {})},
        input=b"" if stdin is None else stdin,
        capture_output=True,
        timeout=120,
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def in_process(
    *arguments: str | Path,
    stdin: bytes = b"",
    cwd: Path = ROOT,
    env: dict[str, str] | None = None,
    terminal: bool = False,
) -> Done:
    """Run the command in this process; unlike `main` it leaves the process alone. Without `env` ours holds."""
    source = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    kind = Terminal if terminal else io.TextIOWrapper
    out = kind(io.BytesIO(), encoding="utf-8", errors="backslashreplace")
    err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace")
    with (
        mock.patch("sys.stdin", source),
        contextlib.nullcontext() if env is None else mock.patch.dict(os.environ, ENVIRONMENT | env, clear=True),
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        status = cli._run([str(argument) for argument in arguments])
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())
    return Done(status, *texts)


def one_line(text: str) -> str:
    """Return the only error of a text; what to do, which has lines of its own, stands behind it as in its message."""
    first, *rest = text.splitlines()
    assert first.startswith(("error: ", "warning: ", "note: ")), text
    assert all(line.strip().startswith(("fix: ", "hint: ", "allowed: ")) for line in rest), text
    assert text.endswith("\n"), text
    assert "Traceback" not in text
    return "; ".join([first.removeprefix("error: "), *map(str.strip, rest)])
