"""Running a case in this process, and judging what came out: status, streams, time, memory, files that must stay."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import os
import re
import resource
import shutil
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock
from xml.etree import ElementTree

import click

from numalign import cli
from tests.fuzz.case import HERE, Case, fingerprint

STATUSES = (0, 1, 2, 3, 4)
MAX_SECONDS = 10.0
"""Of processor time: other work on the machine does not count."""
MAX_MEMORY = 1 << 30
"""Bytes that a run may add to the process."""
GIT = ".git"
"""Marks a folder as a repository's."""


class Slow(BaseException):
    """The run took too long; no `except Exception` of numalign may swallow it."""


class Verdict(NamedTuple):
    """What a run did."""

    status: int
    out: str
    err: str
    seconds: float
    wrong: str
    """What is wrong with it, in a few words; empty: nothing."""


def run(case: Case, folder: Path) -> Verdict:
    """Run a case in a fresh folder and judge it."""
    below = folder / "working" / "folder"  # so that a file name like `../..` does not mean what lies on this machine
    _make_fresh(folder, below)
    case.lay_out(folder)
    before = {name: fingerprint(folder / name) for name in case.kept}
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    with _alarm(), contextlib.chdir(below):
        status, out, err, wrong = _called(case, folder)
    seconds = time.process_time() - started
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) << 10
    if not wrong:
        wrong = _judged(case, status, out, err)
    if not wrong and seconds > MAX_SECONDS:
        wrong = f"slow: {seconds:.0f} s"
    if not wrong and grown > MAX_MEMORY:
        wrong = f"memory: {grown >> 20} MiB"
    for name, was in before.items():
        if not wrong and fingerprint(folder / name) != was:
            wrong = f"changed {name}"
    return Verdict(status, out, err, seconds, wrong)


def _make_fresh(folder: Path, below: Path) -> None:
    """Make an empty folder with one to work in; most cases leave it as it was made.

    It is one of a repository, so that numalign looks for no defaults in all the folders above.
    """
    made = [[below.parent.name], [GIT, below.name], []]
    with contextlib.suppress(OSError):
        if [sorted(os.listdir(each)) for each in (folder, below.parent, below)] == made:
            return
    shutil.rmtree(folder, ignore_errors=True)
    below.mkdir(parents=True)
    (below.parent / GIT).mkdir()


@contextlib.contextmanager
def _alarm() -> Iterator[None]:
    def ring(*_: object) -> None:
        raise Slow

    signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, MAX_SECONDS * 1.5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, signal.SIG_IGN)  # a late one would end the process


@contextlib.contextmanager
def _environment(more: Mapping[str, str]) -> Iterator[None]:
    """Set variables for a while; `mock.patch.dict` would write the whole environment anew for each case."""
    before = {name: os.environ.get(name) for name in more}
    os.environ.update(more)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


READ = ("params", "args", "_opt_prefixes", "_parameter_source", "_param_default_explicit")
"""What reading a command line leaves in click's context."""
_read: dict[tuple[click.Command, tuple[str, ...]], dict[str, Any]] = {}
"""Command, words -> what they were read as."""


@contextlib.contextmanager
def _words_read_once(case: Case) -> Iterator[None]:
    """Read the words of a command line that many cases have once: click takes longer for it than most commands run.

    Words that name a file of the case or are opened as one are read anew, and so is everything where variables or a
    file set defaults.
    """

    def parse_args(self: click.Command, ctx: click.Context, args: list[str]) -> list[str]:
        key = self, tuple(args)
        if ctx.default_map or any(isinstance(param.type, click.File) for param in self.params):
            return parse(self, ctx, args)
        if key not in _read:
            parse(self, ctx, args)
            _read[key] = {name: copy.copy(getattr(ctx, name)) for name in READ}
        for name, value in _read[key].items():
            setattr(ctx, name, copy.copy(value))
        return ctx.args

    if case.environment or any(HERE in argument for argument in case.arguments):
        yield
        return
    parse = click.Command.parse_args
    with mock.patch.object(click.Command, "parse_args", parse_args):
        yield


def _run(case: Case, folder: Path) -> int:
    program, *words = case.command_line(folder)
    if program == "kubectl":
        from tests.fuzz.programs import run_kubectl

        return run_kubectl(words, folder)
    if program == "http":
        from tests.fuzz.programs import run_http

        return run_http(case.stdin)
    return cli._run([program, *words])


def _called(case: Case, folder: Path) -> tuple[int, str, str, str]:
    """Call the command; returns status, both streams, and what escaped from it."""
    source = io.TextIOWrapper(io.BytesIO(case.stdin), encoding="utf-8")
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace") for _ in range(2))
    status, escaped = -1, ""
    try:
        with (
            mock.patch("sys.stdin", source),
            _words_read_once(case),
            _environment({"NO_COLOR": "1", **case.environment}),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            status = _run(case, folder)
    except Slow:
        escaped = f"slow: over {MAX_SECONDS:.0f} s"
    except BaseException as error:
        escaped = f"escaped: {type(error).__name__}"
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())  # type: ignore[attr-defined]  # a BytesIO
    return status, texts[0], texts[1], escaped


_LINE = re.compile(
    r"(error|warning|note|bug|fix|hint|allowed): |  (fix|hint|allowed): |(see|saved|captured|wrote) |\S+: "
)
"""A line of standard error says what it is, what was done, or which file it is about."""


def _judged(case: Case, status: int, out: str, err: str) -> str:
    """Say what is wrong with an answer."""
    if status == 70:
        return "bug: " + err.partition("bug: ")[2][:100].strip()
    if status not in STATUSES:
        return f"status {status}"
    if "Traceback" in err:
        return "traceback"
    if not all(_LINE.match(line) for line in err.splitlines()):
        return "a line of standard error is not numalign's"
    if status >= 2 and not err and not out and "-q" not in case.arguments and "replay" not in case.arguments:
        return f"status {status} without a word"
    form = _form(case)
    if "FORCE_COLOR" in case.environment:
        out = re.sub(r"\x1b\[[0-9;]*m", "", out)  # numalign's own colours
    for name, text in (("standard output", out), ("standard error", err)):
        if not all(map(_is_harmless, text.split("\n"))) and not (name == "standard output" and form == "github"):
            return f"a control character or a command on {name}"
    return _malformed(form, out)


def _form(case: Case) -> str:
    """Return what `-o` asks for last."""
    asked = [
        argument[2:].removeprefix("=") or after
        for argument, after in zip(case.arguments, (*case.arguments[1:], ""), strict=True)
        if argument.startswith("-o")
    ]
    return "jsonl" if "replay" in case.arguments else asked[-1] if asked else "table"


def _is_harmless(line: str) -> bool:
    return line.isprintable() and not line.lstrip().startswith("::") and "##[" not in line


def _malformed(form: str, out: str) -> str:
    """Say whether data on standard output cannot be read."""
    if not out:
        return ""
    try:
        if form == "json":
            json.loads(out)
        elif form == "jsonl":
            for line in out.splitlines():
                json.loads(line)
        elif form in ("svg", "junit"):
            ElementTree.fromstring(out)
        elif form == "yaml":
            _yaml(out)
    except Exception as error:
        return f"malformed {form}: {type(error).__name__}"
    return ""


def _yaml(text: str) -> None:
    import yaml

    list(yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
