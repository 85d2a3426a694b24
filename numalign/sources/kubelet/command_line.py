"""A kubelet's command line as text: a line of `ps`, a file of arguments, an environment file, a unit of systemd."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_MAPS: Final = frozenset({"kube-reserved", "system-reserved", "eviction-hard", "feature-gates"})
"""Flags that add to a map where they are repeated."""
_FLAG: Final = re.compile(r"--[a-z][a-z0-9-]*(?=[=\s\0\"']|$)")


def flags_of_words(words: Iterable[str]) -> dict[str, str]:
    """Read flags; `--flag=text`, `--flag text` and `flag=text` are understood, a flag alone is `true`.

    What follows a flag without a text is its text, with `=` in it, too: `--system-reserved cpu=1`.
    """
    flags: dict[str, str] = {}
    last = ""
    for word in words:
        name, sign, value = word.removeprefix("--").partition("=")
        if word.startswith("--") or (sign and not last):
            earlier = f"{flags[name]}," if name in _MAPS and sign and flags.get(name) else ""
            flags[name] = earlier + value if sign else "true"
            last = "" if sign else name
        elif last:
            flags[last] = word
            last = ""
    return flags


def flags_of_text(text: str) -> dict[str, str] | None:
    """Read the flags in a text, whatever stands around them; None: there is none."""
    if not _FLAG.search(text):
        return None
    lines = [line for line in text.replace("\\\n", " ").splitlines() if not line.lstrip().startswith(("#", ";"))]
    words = re.split(r"[\s\0]+", " ".join(lines))
    return flags_of_words(word.strip("\"'") for word in _from_flags(words))


def _from_flags(words: Iterable[str]) -> Iterable[str]:
    """Cut what stands before a flag in its word: `KUBELET_EXTRA_ARGS="--a=b`."""
    for word in words:
        match = _FLAG.search(word)
        yield word[match.start() :] if match else "" if "=" in word and word.split("=")[0].isupper() else word
