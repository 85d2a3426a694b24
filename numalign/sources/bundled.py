"""The machines that come with numalign: their names, and their files as they were written."""

from __future__ import annotations

from pathlib import Path

from numalign.errors import InputError
from numalign.sources import fields


def names() -> tuple[str, ...]:
    """List the names, sorted."""
    return tuple(sorted(file.stem for file in _folder().glob("*.yaml")))


def path(name: str) -> Path:
    """Return the file of a machine."""
    return _folder() / f"{name}.yaml"


def check(name: str) -> None:
    """Check that a bundled machine has this name.

    Raises:
        InputError: there is none; the nearest is named.
    """
    if name not in names():
        raise InputError(f"no bundled machine has this name; {nearest(name)}", fields.shown(name))


def text(name: str) -> str:
    """Return a machine's file as it was written, with its comments."""
    return path(name).read_text(encoding="utf-8")


def description(name: str) -> str:
    """Return what the first line of a machine's file says about it."""
    return text(name).partition("\n")[0].removeprefix("# ")


def nearest(name: str) -> str:
    """Say which name was probably meant, or which there are."""
    meant = fields.nearest(name, names())
    return f"did you mean {meant}?" if meant else f"bundled are {', '.join(names())}"


def _folder() -> Path:
    """Find the files: inside an installed package, else beside the package in a checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "machines"
    return installed if installed.is_dir() else package.parent / "machines"
