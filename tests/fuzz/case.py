"""One case: a command line, what it reads, and how it is written to a file of the corpus."""

from __future__ import annotations

import base64
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests import files

HERE = "{here}"
"""Stands in arguments for the folder with the case's files."""


class Case(NamedTuple):
    """A run of the command."""

    arguments: tuple[str, ...]
    stdin: bytes = b""
    files: Mapping[str, bytes] = {}
    """Path below the case's folder -> content."""
    links: Mapping[str, str] = {}
    """Path -> target of a symbolic link."""
    pipes: tuple[str, ...] = ()
    environment: Mapping[str, str] = {}
    kept: tuple[str, ...] = ()
    """Paths that no run may change."""

    def lay_out(self, folder: Path) -> None:
        """Make the files, links and pipes."""
        for name, content in self.files.items():
            files.write(f"{folder}/{name}", content)
        for name, target in self.links.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            path.symlink_to(target)
        for name in self.pipes:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            os.mkfifo(path)

    def command_line(self, folder: Path) -> list[str]:
        """Return the arguments with the case's folder in them."""
        return [argument.replace(HERE, str(folder)) for argument in self.arguments]

    def to_json(self) -> dict[str, Any]:
        """Return plain data; content that is text stays readable."""
        result: dict[str, Any] = {"arguments": list(self.arguments)}
        if self.stdin:
            result["stdin"] = _written(self.stdin)
        if self.files:
            result["files"] = {name: _written(content) for name, content in self.files.items()}
        for key in ("links", "environment"):
            if getattr(self, key):
                result[key] = dict(getattr(self, key))
        for key in ("pipes", "kept"):
            if getattr(self, key):
                result[key] = list(getattr(self, key))
        return result


def from_json(data: Mapping[str, Any]) -> Case:
    """Read what `to_json` wrote."""
    return Case(
        arguments=tuple(_text(argument) for argument in data["arguments"]),
        stdin=_read(data.get("stdin", "")),
        files={name: _read(content) for name, content in data.get("files", {}).items()},
        links=data.get("links", {}),
        pipes=tuple(data.get("pipes", ())),
        environment=data.get("environment", {}),
        kept=tuple(data.get("kept", ())),
    )


def load(path: Path) -> Case:
    """Read a file of the corpus."""
    return from_json(json.loads(path.read_text(encoding="utf-8")))


def fingerprint(path: Path) -> tuple[object, ...]:
    """Return what must stay the same of a path."""
    try:
        status = path.lstat()
    except OSError:
        return ()
    content = path.read_bytes() if stat.S_ISREG(status.st_mode) else os.readlink(path) if path.is_symlink() else None
    return status.st_ino, status.st_mode, content


def _text(written: Any) -> str:
    """An argument may say how often a text is repeated, so that long ones stay readable: `{"repeat": ["9", 5000]}`."""
    if isinstance(written, str):
        return written
    text, count = written["repeat"]
    return str(written.get("before", "")) + str(text) * int(count) + str(written.get("after", ""))


def _written(content: bytes) -> Any:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode()}
    return text


def _read(written: Any) -> bytes:
    """Content is text, base64, or a list of such and of repeated pieces."""
    if isinstance(written, str):
        return written.encode("utf-8", "surrogatepass")
    if isinstance(written, list):
        return b"".join(map(_read, written))
    if "repeat" in written:
        piece, count = written["repeat"]
        return _read(piece) * int(count)
    return base64.b64decode(written["base64"])
