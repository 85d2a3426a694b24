r"""What an input may not do to the reader of an output: its control characters reach no terminal and no build server.

Names, models and messages come from files that anybody may have written. A character that moves the cursor, changes the
direction of text or cannot be seen is shown as its escape (`\x1b`, `\u202e`); what a build server would take for a
command is shown with one character escaped. Everything that is printed goes through here, once, as late as possible.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_COMMAND: Final = r"(?m)^([^\S\n]*):(?=:)|(?<=#)#(?=\w*\[)"
"""What build servers obey: `::name::` where a line starts (GitHub); `##[name]`, `##vso[name]` and the like anywhere."""

_SECOND_HASH: Final = r"(?<=#)#(?=\w*\[)"


def printable(text: str, keep: str = "") -> str:
    r"""Show each character that cannot be seen as its escape; those of `keep` stay.

    What can be seen is what Python calls printable: no control or format character (bidi included), no line separator,
    no blank but the space, no half of a surrogate pair.
    """
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() or sign in keep else escaped(sign) for sign in text)


def escaped(sign: str) -> str:
    r"""Return the escape of a character: `\n`, `\x1b`, `\u202e`, `\U000e0001`."""
    return sign.encode("unicode_escape").decode("ascii")


def guarded(text: str) -> str:
    """Take from finished text what a build server would obey; lines stay lines."""
    if "::" not in text and "##" not in text:
        return text
    return re.sub(_COMMAND, lambda match: f"{match[1] or ''}\\x{ord(match[0][-1]):02x}", text)


def lines(text: str) -> str:
    """Make text of several lines harmless: `printable` but for its line ends, and `guarded`."""
    return guarded(printable(text, "\n"))


def in_json(text: str) -> str:
    r"""Write what cannot be seen in finished JSON as `\uXXXX`; it stands between quotes, so the JSON says the same."""
    if not text.isascii() or "\x7f" in text:  # JSON itself escapes the other control characters
        text = _rewritten(text, _in_json)
    return re.sub(_SECOND_HASH, r"\\u0023", text) if "##" in text else text


def halved(text: str) -> str:
    r"""Write half of a surrogate pair as the six signs `\ud800`: YAML has no way to carry it."""
    return text.encode("utf-8", "backslashreplace").decode()


def in_yaml(text: str) -> str:
    r"""Write what cannot be seen in finished YAML as `\xXX`, `\uXXXX` or `\UXXXXXXXX`.

    The YAML says the same if texts with such characters, or with `##`, stand in double quotes.
    """
    text = _rewritten(text, escaped)
    return re.sub(_SECOND_HASH, r"\\x23", text) if "##" in text else text


def _rewritten(text: str, rewrite: Callable[[str], str]) -> str:
    lines = text.split("\n")
    if all(line.isprintable() for line in lines):
        return text
    return "\n".join("".join(sign if sign.isprintable() else rewrite(sign) for sign in line) for line in lines)


def _in_json(sign: str) -> str:
    units = sign.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))
