"""Documents on a terminal and off it."""

from __future__ import annotations

import io
import re

import pytest

from numalign.render.page.document import Line, Styled, Table, plain, show

WIDE = Table(
    ("POD", "RESULT", "CPUS", "DEVICES"),
    (
        ("numa-aligned-1", Styled("admitted", "good"), "0-1", "nvidia.com/gpu [gpu0,gpu1]"),
        ("numa-aligned-2", Styled("TopologyAffinityError", "bad"), "-", "-"),
    ),
    right=frozenset({"CPUS"}),
)


def on_a_terminal(width: int, monkeypatch: pytest.MonkeyPatch, *, colour: bool = False) -> str:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    if not colour:
        monkeypatch.setenv("NO_COLOR", "1")
    stream = io.StringIO()
    show([Line("machine: figure-1"), WIDE], stream)
    return re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue()) if not colour else stream.getvalue()


def test_off_a_terminal_columns_are_padded_and_never_wrapped() -> None:
    assert plain([Line("machine: figure-1"), WIDE]) == (
        "machine: figure-1\n"
        "POD             RESULT                 CPUS  DEVICES\n"
        "numa-aligned-1  admitted                0-1  nvidia.com/gpu [gpu0,gpu1]\n"
        "numa-aligned-2  TopologyAffinityError     -  -\n"
    )


def test_a_table_that_fits_the_terminal_has_a_rule_and_whole_words(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [line.rstrip() for line in on_a_terminal(76, monkeypatch).splitlines()]

    assert lines == [
        "machine: figure-1",
        "POD              RESULT                  CPUS   DEVICES",
        "─" * 74,
        "numa-aligned-1   admitted                 0-1   nvidia.com/gpu [gpu0,gpu1]",
        "numa-aligned-2   TopologyAffinityError      -   -",
    ]


def test_one_that_does_not_fit_is_told_row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    assert on_a_terminal(50, monkeypatch) == (
        "machine: figure-1\n"
        "numa-aligned-1  RESULT admitted  CPUS 0-1\n"
        "  DEVICES nvidia.com/gpu [gpu0,gpu1]\n"
        "numa-aligned-2  RESULT TopologyAffinityError\n"
    )


@pytest.mark.parametrize("width", [10, 20, 40, 60, 73, 74, 80, 200])
def test_no_value_is_cut_however_narrow_the_terminal_is(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = on_a_terminal(width, monkeypatch)

    for text in ("numa-aligned-1", "admitted", "0-1", "nvidia.com/gpu [gpu0,gpu1]", "TopologyAffinityError"):
        assert text in shown


@pytest.mark.parametrize("width", [50, 200])
def test_colour_carries_the_meaning_in_both_forms(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    shown = on_a_terminal(width, monkeypatch, colour=True)

    assert re.search(r"\x1b\[32madmitted", shown)
    assert re.search(r"\x1b\[1;31mTopologyAffinityError", shown)
