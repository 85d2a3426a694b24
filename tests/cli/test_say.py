"""What people read on standard error beside the results."""

from __future__ import annotations

import io
from collections.abc import Iterator
from importlib import import_module

import pytest

from numalign.errors import Notice

say = import_module("numalign.cli.stderr")  # the package's own name `say` is the function


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def slow(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Let each look at the clock find it so much later."""
    times = iter(range(1000))
    monkeypatch.setattr(say, "monotonic", lambda: next(times) * seconds)


def work(count: int) -> Iterator[int]:
    counted: Iterator[int] = say.counted(range(count), "pods")
    return counted


def test_long_work_counts_on_a_terminal_and_cleans_up(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr("sys.stdout", io.StringIO())
    slow(monkeypatch, 0.4)

    assert list(work(3)) == [0, 1, 2]

    assert terminal.getvalue() == "\r2 pods …\r        \r"


@pytest.mark.parametrize(
    ("out", "err", "seconds"),
    [(io.StringIO, Terminal, 0.01), (io.StringIO, io.StringIO, 9), (Terminal, Terminal, 9)],
    ids=["quick work", "no terminal", "results move on the terminal themselves"],
)
def test_otherwise_nothing_is_counted(
    out: type[io.StringIO], err: type[io.StringIO], seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors = err()
    monkeypatch.setattr("sys.stderr", errors)
    monkeypatch.setattr("sys.stdout", out())
    slow(monkeypatch, seconds)

    assert list(work(3)) == [0, 1, 2]

    assert errors.getvalue() == ""


def test_a_line_stays_a_line_and_steers_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    say.say("a\nb \x1b[31m é")
    assert capsys.readouterr().err == "error: a\\nb \\x1b[31m é\n"


def test_warnings_alike_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    say.tell([Notice("odd", "is odd", name) for name in "abca"] + [Notice("odd", "all is odd")])
    assert capsys.readouterr().err == "warning: a, b, c: is odd\nwarning: all is odd\n"


def test_on_a_terminal_a_line_breaks_at_words(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("COLUMNS", "50")

    say.say(
        "a line of words that is too long for it, and /a/path/that/is/never/cut/however/long/it/may/be", "warning: "
    )

    assert terminal.getvalue() == (
        "warning: a line of words that is too long for it,\n  and\n  /a/path/that/is/never/cut/however/long/it/may/be\n"
    )


def test_in_a_file_it_stays_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    monkeypatch.setattr("sys.stderr", file)
    say.say("word " * 40)
    assert file.getvalue().count("\n") == 1
