"""The machines that come with numalign: their names, and their files as they were written.

Found by this file's own place, without pathlib and importlib.resources, which would cost every start some milliseconds.
"""

from __future__ import annotations

import os
import re
from functools import cache

from numalign.errors import InputError
from numalign.model.path import shown


def names() -> tuple[str, ...]:
    """List the names, sorted."""
    return tuple(sorted(file.removesuffix(".yaml") for file in os.listdir(_folder()) if file.endswith(".yaml")))


def path(name: str) -> str:
    """Return the path of a machine's file."""
    return os.path.join(_folder(), f"{name}.yaml")


def check_bundled(name: str) -> None:
    """Check that a bundled machine has this name.

    Raises:
        InputError: there is none; the nearest is named.
    """
    if name not in names():
        raise InputError(f"no bundled machine has this name; {nearest(name)}", shown(name))


def text(name: str) -> str:
    """Return a machine's file as it was written, with its comments."""
    with open(path(name), encoding="utf-8") as file:
        return file.read()


def description(name: str) -> str:
    """Return what the first line of a machine's file says about it."""
    return text(name).partition("\n")[0].removeprefix("# ")


def found(word: str) -> tuple[str, ...]:
    """List the machines whose name or first line has all parts of a word, upper or lower case."""
    parts = re.findall(r"[a-z]+|[0-9]+", word.lower())
    return tuple(
        name for name in names() if all(part in f"{name} {description(name)}".lower() for part in parts) and parts
    )


def nearest(name: str) -> str:
    """Say which name was probably meant, or which there are."""
    from numalign.model.words import nearest as nearest_word

    meant = nearest_word(name, names())
    return f"hint: similar: {meant}" if meant else "hint: numalign machines lists all"


@cache
def _folder() -> str:
    """Find the files: inside an installed package, else beside the package in a checkout."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    installed = os.path.join(package, "machines")
    return installed if os.path.isdir(installed) else os.path.join(os.path.dirname(package), "machines")
