"""One line for people on standard error, whatever the text holds."""

from __future__ import annotations

from collections.abc import Iterable

import click

from numalign.errors import Notice

NAMED = 3
"""A warning about more things than this names so many of them and counts the rest."""


def say(text: str) -> None:
    """Print one line; characters that would break the line or steer the terminal are written as escapes."""
    line = "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)
    click.echo(f"numalign: {line}", err=True)


def tell(notices: Iterable[Notice]) -> None:
    """Print warnings, one a line; what is said of several pods or places is said once and names them."""
    about: dict[str, list[str]] = {}
    for notice in notices:
        about.setdefault(notice.message, []).append(notice.path)
    for message, paths in about.items():
        named = list(dict.fromkeys(path for path in paths if path))
        more = len(named) - NAMED
        where = ", ".join(named[:NAMED]) + (f" and {more} more" if more > 0 else "")
        say(f"warning: {where}: {message}" if where else f"warning: {message}")
