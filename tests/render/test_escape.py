"""No text of an input moves a cursor, turns writing round or gives a build server a command."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from numalign.render import escape

SHOWN = [
    ("plain text stays", "web-0 on node 1", "web-0 on node 1"),
    ("letters of any script stay", "größe 機械 ×4 (0–3)", "größe 機械 ×4 (0–3)"),
    ("ESC", "\x1b[31mred", "\\x1b[31mred"),
    ("BEL and BS", "a\a\b", "a\\x07\\x08"),
    ("a line break", "a\nb\r\n", "a\\nb\\r\\n"),
    ("C1 controls", "\x9b31m\x85", "\\x9b31m\\x85"),
    ("DEL", "\x7f", "\\x7f"),
    ("text turned round", "\u202egnp.\u2066", "\\u202egnp.\\u2066"),
    ("what has no width", "a\u200bb\ufeff\u00ad", "a\\u200bb\\ufeff\\xad"),
    ("line separators", "a\u2028b\u2029", "a\\u2028b\\u2029"),
    ("odd blanks", "a\u00a0b\u3000", "a\\xa0b\\u3000"),
    ("tags beyond 16 bits", "\U000e0041", "\\U000e0041"),
    ("half a surrogate pair, and bytes of a name", "\ud800\udcff", "\\ud800\\udcff"),
]


@pytest.mark.parametrize(("text", "shown"), [case[1:] for case in SHOWN], ids=[case[0] for case in SHOWN])
def test_what_cannot_be_seen_is_shown_as_its_escape(text: str, shown: str) -> None:
    assert escape.printable(text) == shown


COMMANDS = [
    ("a command at the start", "::error::pwned", "\\x3a:error::pwned"),
    ("a command behind blanks", "  \t::set-output name=x::y", "  \t\\x3a:set-output name=x::y"),
    ("a command on a later line", "fine\n::error::", "fine\n\\x3a:error::"),
    ("an old command anywhere", "name: ##[error]x", "name: #\\x23[error]x"),
    ("a command of Azure", "##vso[task.setvariable variable=x]y", "#\\x23vso[task.setvariable variable=x]y"),
    ("a command of TeamCity", "##teamcity[message]", "#\\x23teamcity[message]"),
    ("colons inside a line stay", "a::b [::1]", "a::b [::1]"),
    ("headings and numbers stay", "## Machines\n#1 ## x [y]", "## Machines\n#1 ## x [y]"),
]


@pytest.mark.parametrize(("text", "shown"), [case[1:] for case in COMMANDS], ids=[case[0] for case in COMMANDS])
def test_nothing_is_a_command_of_a_build_server(text: str, shown: str) -> None:
    assert escape.guarded(text) == shown


PIECES = st.sampled_from(
    ["::error::", "##[error]", "##", "#", ":", "[", "]", "\n", "\t", "\r", "\x1b[", " ", "x", "\u2028"]
)
ODD = st.lists(PIECES | st.text(max_size=3)).map("".join)


@given(ODD)
def test_whatever_the_text_no_line_is_a_command_and_every_sign_is_seen(text: str) -> None:
    for line in escape.lines(text).split("\n"):
        assert line.isprintable()
        assert not line.lstrip().startswith("::")
        assert not re.search(r"##\w*\[", line)


@given(ODD)
def test_yaml_in_double_quotes_says_the_same_and_every_sign_is_seen(text: str) -> None:
    written = escape.in_yaml(yaml.safe_dump([text], allow_unicode=True, default_style='"', width=1 << 30))
    assert yaml.safe_load(written) == [text]
    for line in written.split("\n"):
        assert line.isprintable()
        assert not line.lstrip().startswith("::")
        assert not re.search(r"##\w*\[", line)


@given(st.dictionaries(ODD, ODD, max_size=3))
def test_json_says_the_same_and_every_sign_is_seen(data: dict[str, str]) -> None:
    text = escape.in_json(json.dumps(data, indent=2, ensure_ascii=False))
    assert json.loads(text) == data
    for line in text.split("\n"):
        assert line.isprintable()
        assert not line.lstrip().startswith("::")
        assert not re.search(r"##\w*\[", line)


def test_every_control_and_format_character_counts_as_unseen() -> None:
    categories = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    seen = [
        sign for sign in map(chr, range(0x110000)) if unicodedata.category(sign) in categories and sign.isprintable()
    ]
    assert seen == []
