"""Patterns in RE2's syntax, read into a small program of single steps.

Python's own patterns go back and forth without bound on a hostile pattern; these run in time that grows with pattern
times text, as RE2's do.
"""

from __future__ import annotations

from typing import Final, Literal

from numalign.dra.cel.regex_chars import CLASSES, LAST_CODE, POSIX, Chars, Range, complement, in_both_cases
from numalign.values import NamedTuple

MAX_REPEAT: Final = 1000
"""Largest count in `x{n}`: RE2's."""
MAX_PROGRAM: Final = 10_000
"""Most steps a pattern may become."""
MAX_GROUPS: Final = 40
"""Deepest nesting of groups."""


class RegexError(ValueError):
    """A text is no pattern of RE2, or one that is too large."""


class Step(NamedTuple):
    """One instruction: take a character, go one of two ways, hold only at a place, or end."""

    kind: Literal["take", "split", "assert", "match"]
    chars: Chars = Chars(())
    first: int = 0
    """Where to go on; of a split, the way that is tried first."""
    second: int = 0
    place: str = ""
    """`^`, `$`, `b` or `B`, or `m^` and `m$` at any line."""


class _Flags(NamedTuple):
    fold: bool = False
    lines: bool = False
    dot_all: bool = False
    swap: bool = False


_HEXADECIMAL: Final = frozenset("0123456789abcdefABCDEF")
_CONTROLS: Final = {"a": 7, "f": 12, "t": 9, "n": 10, "r": 13, "v": 11}

Tree = tuple[object, ...]
"""A pattern as nested tuples: ("chars", Chars) | ("place", name) | ("chain", tree…) | ("either", tree…) |
("repeat", tree, low, high, greedy)."""


class PatternReader:
    """Reads a pattern into a tree."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0
        self.flags = _Flags()

    def read(self) -> Tree:
        """Read all of it."""
        tree = self.either()
        if self.at < len(self.text):
            raise RegexError("unexpected )")
        return tree

    def peek(self, text: str) -> bool:
        """Go past a text if it is next."""
        if self.text.startswith(text, self.at):
            self.at += len(text)
            return True
        return False

    def char(self) -> str:
        """Take a character."""
        if self.at >= len(self.text):
            raise RegexError("the pattern ends too early")
        self.at += 1
        return self.text[self.at - 1]

    def either(self) -> Tree:
        """Read `a|b`."""
        self.depth += 1
        if self.depth > MAX_GROUPS:
            raise RegexError("groups are nested too deep")
        parts = [self.chain()]
        while self.peek("|"):
            parts.append(self.chain())
        self.depth -= 1
        return ("either", *parts) if len(parts) > 1 else parts[0]

    def chain(self) -> Tree:
        """Read what stands one after the other."""
        parts: list[Tree] = []
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            if self.peek("\\Q"):
                end = self.text.find("\\E", self.at)
                end = len(self.text) if end < 0 else end
                parts += [self.literal(ord(char)) for char in self.text[self.at : end]]
                self.at = min(len(self.text), end + 2)
                continue
            part = self.atom()
            if part is not None:
                parts.append(self.repeated(part))
        return ("chain", *parts)

    def repeated(self, part: Tree) -> Tree:
        """Read the `*`, `+`, `?` or `{n,m}` behind an atom."""
        if self.at < len(self.text) and self.text[self.at] in "*+?":
            low, high = {"*": (0, -1), "+": (1, -1), "?": (0, 1)}[self.char()]
        else:
            counts = self.counts()
            if counts is None:
                return part
            low, high = counts
        greedy = self.peek("?") == self.flags.swap
        if self.at < len(self.text) and (self.text[self.at] in "*+?" or self.counts()):
            raise RegexError("invalid nested repetition operator")
        return ("repeat", part, low, high, greedy)

    def counts(self) -> tuple[int, int] | None:
        """Read `{n}`, `{n,}` or `{n,m}`; anything else is plain text."""
        import re

        match = re.compile(r"\{([0-9]{1,9})(,?)([0-9]{0,9})\}").match(self.text, self.at)
        if match is None:
            return None
        low = int(match[1])
        high = low if not match[2] else int(match[3]) if match[3] else -1
        if low > MAX_REPEAT or high > MAX_REPEAT or -1 < high < low:
            raise RegexError("invalid repeat count")
        self.at = match.end()
        return low, high

    def atom(self) -> Tree | None:
        """Read a character, a class, a place or a group; None for flags alone."""
        char = self.char()
        if char == "(":
            return self.group()
        if char == "[":
            return ("chars", self.bracket())
        if char == ".":
            return ("chars", Chars(() if self.flags.dot_all else ((10, 10),), negated=True))
        if char in "^$":
            return ("place", ("m" if self.flags.lines else "") + char)
        if char in "*+?":
            raise RegexError("missing argument to repetition operator")
        if char == "\\":
            return self.escape()
        return self.literal(ord(char))

    def literal(self, code: int) -> Tree:
        """Make a tree of one character."""
        return ("chars", self.folded(((code, code),)))

    def folded(self, ranges: tuple[Range, ...], *, negated: bool = False) -> Chars:
        """Make a set of characters, of both cases where case does not matter."""
        return Chars(in_both_cases(ranges) if self.flags.fold else ranges, negated)

    def group(self) -> Tree | None:
        """Read the rest of a group, or of flags, which count to the end of the group around them."""
        outer = self.flags
        if self.peek("?"):
            if self.peek("P<") or self.peek("<"):
                self.group_name()
            elif self.group_flags():
                return None
        inner = self.either()
        if not self.peek(")"):
            raise RegexError("missing closing )")
        self.flags = outer
        return inner

    def group_name(self) -> None:
        """Go past a group's name."""
        name = ""
        while (char := self.char()) != ">":
            name += char
        if not name.isascii() or not name.replace("_", "a").isalnum():
            raise RegexError("invalid named capture")

    def group_flags(self) -> bool:
        """Read `i`, `-s:` and the like; true if they stand alone, false if a group follows."""
        value = True
        while (char := self.char()) not in "):":
            if char == "-" and value:
                value = False
            elif char in "imsU":
                field = {"i": "fold", "m": "lines", "s": "dot_all", "U": "swap"}[char]
                self.flags = self.flags._replace(**{field: value})
            else:
                raise RegexError("invalid or unsupported Perl syntax")
        return char == ")"

    def escape(self) -> Tree:
        """Read what follows a backslash."""
        char = self.char()
        if char in "bB":
            return ("place", char)
        if char == "A":
            return ("place", "^")
        if char == "z":
            return ("place", "$")
        if char.lower() in CLASSES:
            return ("chars", Chars(CLASSES[char.lower()], char.isupper()))
        return self.literal(self.escaped_code(char))

    def escaped_code(self, char: str) -> int:
        """Give the code point of an escaped character."""
        if char in _CONTROLS:
            return _CONTROLS[char]
        if char == "x":
            return self.hexadecimal()
        if char.isascii() and not char.isalnum():
            return ord(char)
        if char == "0":
            digits = char
            while len(digits) < 3 and self.at < len(self.text) and self.text[self.at] in "01234567":
                digits += self.char()
            return int(digits, 8)
        raise RegexError(f"invalid escape sequence: \\{char}")

    def hexadecimal(self) -> int:
        r"""Read the rest of `\x41` or `\x{1F600}`."""
        if self.peek("{"):
            digits = ""
            while (char := self.char()) != "}":
                digits += char
        else:
            digits = self.char() + self.char()
        if not digits or not set(digits) <= _HEXADECIMAL or (code := int(digits, 16)) > LAST_CODE:
            raise RegexError("invalid escape sequence")
        return code

    def bracket(self) -> Chars:
        """Read the rest of `[a-z]`."""
        negated = self.peek("^")
        ranges: list[Range] = []
        first = True
        while first or not self.peek("]"):
            first = False
            if ":]" in self.text[self.at + 2 :] and self.peek("[:"):
                ranges += self.posix()
                continue
            char = self.char()
            if char == "\\" and self.text[self.at : self.at + 1].lower() in (*CLASSES,):
                name = self.char()
                ranges += complement(CLASSES[name.lower()]) if name.isupper() else CLASSES[name]
                continue
            low = self.escaped_code(self.char()) if char == "\\" else ord(char)
            high = low
            if self.text[self.at : self.at + 1] == "-" and self.text[self.at + 1 : self.at + 2] not in ("]", ""):
                self.at += 1
                char = self.char()
                high = self.escaped_code(self.char()) if char == "\\" else ord(char)
                if high < low:
                    raise RegexError("invalid character class range")
            ranges.append((low, high))
        return self.folded(tuple(ranges), negated=negated)

    def posix(self) -> tuple[Range, ...]:
        """Read the rest of `[:alpha:]`."""
        end = self.text.index(":]", self.at)
        name = self.text[self.at : end]
        if name.removeprefix("^") not in POSIX:
            raise RegexError("invalid character class range")
        self.at = end + 2
        ranges = POSIX[name.removeprefix("^")]
        return complement(ranges) if name.startswith("^") else ranges
