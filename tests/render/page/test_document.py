"""Documents on a terminal and off it."""

from __future__ import annotations

import io
import re

import pytest

from numalign.render.page.document import (
    Block,
    Command,
    Item,
    Note,
    Paragraph,
    Picture,
    Styled,
    Table,
    Title,
    one_below_the_other,
    plain,
    show,
)
from numalign.render.page.markdown import markdown

WIDE = Table(
    ("POD", "RESULT", "CPUS", "DEVICES"),
    (
        ("numa-aligned-1", Styled("admitted", "good"), "0-1", "nvidia.com/gpu [gpu0,gpu1]"),
        ("numa-aligned-2", Styled("TopologyAffinityError", "bad"), "-", "-"),
    ),
    right=frozenset({"CPUS"}),
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def on_a_terminal(width: int, monkeypatch: pytest.MonkeyPatch, *, colour: bool = False, table: Table = WIDE) -> str:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    if not colour:
        monkeypatch.setenv("NO_COLOR", "1")
    stream = Terminal()
    show([Paragraph("machine: figure-1"), table], stream)
    return re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue()) if not colour else stream.getvalue()


def test_off_a_terminal_columns_are_padded_and_never_wrapped() -> None:
    assert plain([Paragraph("machine: figure-1"), WIDE]) == (
        "machine: figure-1\n"
        "POD             RESULT                 CPUS  DEVICES\n"
        "numa-aligned-1  admitted                0-1  nvidia.com/gpu [gpu0,gpu1]\n"
        "numa-aligned-2  TopologyAffinityError     -  -\n"
    )


def test_a_table_that_fits_the_terminal_has_a_rule_and_whole_words(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [line.rstrip() for line in on_a_terminal(76, monkeypatch).splitlines()]

    assert lines == [
        "machine: figure-1",
        "POD             RESULT                 CPUS  DEVICES",
        "─" * 71,
        "numa-aligned-1  admitted                0-1  nvidia.com/gpu [gpu0,gpu1]",
        "numa-aligned-2  TopologyAffinityError     -  -",
    ]


def test_cells_of_one_that_does_not_fit_wrap_in_their_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [line.rstrip() for line in on_a_terminal(60, monkeypatch).splitlines()]

    assert lines == [
        "machine: figure-1",
        "POD             RESULT                 CPUS  DEVICES",
        "─" * 60,
        "numa-aligned-1  admitted                0-1  nvidia.com/gpu",
        "                                             [gpu0,gpu1]",
        "numa-aligned-2  TopologyAffinityError     -  -",
    ]


@pytest.mark.parametrize("width", [10, 20, 40, 60, 73, 74, 80, 200])
def test_no_character_is_cut_however_narrow_the_terminal_is(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = on_a_terminal(width, monkeypatch)

    told = "".join(("numa-aligned-1", "admitted", "0-1", "nvidia.com/gpu[gpu0,gpu1]", "TopologyAffinityError"))
    assert not {sign: told.count(sign) for sign in set(told) if shown.count(sign) < told.count(sign)}


def test_what_rows_share_stands_above_them_before_a_word_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = (
        ("xeon-2s-snc2", "-", "admitted"),
        ("xeon-2s-snc2", "-", "TopologyAffinityError"),
        ("dgx-1", "x=1", "admitted"),
    )
    table = Table(("MACHINE", "OPTION", "RESULT"), rows, headings=("MACHINE", "OPTION"))

    lines = [line.rstrip() for line in on_a_terminal(40, monkeypatch, table=table).splitlines()[1:]]
    assert lines == [
        "OPTION  RESULT",
        "─" * 29,
        "machine xeon-2s-snc2",
        "-       admitted",
        "-       TopologyAffinityError",
        "machine dgx-1",
        "x=1     admitted",
    ]
    assert "xeon-2s-snc2  -       TopologyAffinityError" in on_a_terminal(50, monkeypatch, table=table)


@pytest.mark.parametrize("width", [60, 200])
def test_colour_carries_the_meaning_in_both_forms(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    shown = on_a_terminal(width, monkeypatch, colour=True)

    assert re.search(r"\x1b\[32madmitted", shown)
    assert re.search(r"\x1b\[1;31mTopologyAffinityError", shown)


EVERY: list[tuple[Block, str, str]] = [
    (Title("pods"), "pods\n", "**pods**\n"),
    (Paragraph("two of *them*", 2), "  two of *them*\n", "two of \\*them\\*\n"),
    (Paragraph("1. is a number"), "1. is a number\n", "1. is a number\n"),
    (Note("refused", "bad"), "refused\n", "**refused**\n"),
    (Note("aside", "dim", 2), "  aside\n", "aside\n"),
    (Item(2, "ask for less", 2), "  2. ask for less\n", "2. ask for less\n"),
    (
        Command("numalign explain a_b.yaml", 5),
        "     numalign explain a_b.yaml\n",
        "```sh\n   numalign explain a_b.yaml\n   ```\n",
    ),
    (Picture(("+--+", "|  |")), "+--+\n|  |\n", "```\n+--+\n|  |\n```\n"),
    (Table(("A",), (("1|2",),)), "A\n1|2\n", "| A |\n| --- |\n| 1\\|2 |\n"),
]


@pytest.mark.parametrize(("part", "text", "marked"), EVERY, ids=[type(one).__name__ for one, _, _ in EVERY])
def test_a_block_is_plain_text_and_markdown(part: Block, text: str, marked: str) -> None:
    assert plain([part]) == text
    assert markdown([part]).lstrip(" ") == marked


def test_prose_breaks_on_a_terminal_and_commands_and_pictures_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    command, frame = "numalign explain pod.yaml --machine hgx-h100", "| Provider 0 | ((0, 1), True)   |"
    stream = Terminal()
    show(
        [Item(1, "ask for less of all", 2), Paragraph("a sentence is broken"), Command(command), Picture((frame,))],
        stream,
    )

    lines = re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue()).splitlines()
    assert lines == ["  1. ask for less of", "     all", "a sentence is broken", command, frame]


def test_documents_stand_apart() -> None:
    assert plain(one_below_the_other([[Title("a")], [Title("b")]])) == "a\n\nb\n"
    assert one_below_the_other([]) == []
