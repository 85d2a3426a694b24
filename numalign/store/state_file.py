"""A state that lives in a file: one JSON document with a kind and a version, changed by one process at a time.

The file is replaced whole (`store.atomic`), so a reader needs no lock, and whoever is killed leaves the old document or
the new one. A file that is broken, of another kind or of a newer numalign is an error and stays as it is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import BinaryIO, TypeAlias

from numalign.errors import InputError, Notice
from numalign.store.atomic import writing_whole
from numalign.store.lock import locked
from numalign.values import NamedTuple

API_VERSION = "numalign/v1"
MAX_BYTES = 256 << 20
"""Most bytes of a state: a thousand times what a full node needs."""

Document: TypeAlias = Mapping[str, object]


class Kind(NamedTuple):
    """A kind of state."""

    name: str
    """`kind` of the document."""
    version: int
    """`version` of the documents that are written. It grows when an older numalign could not read them."""
    upgrades: Mapping[int, Callable[[Document], Document]] = {}
    """Version -> what makes the next version of a document."""


def read(path: str, kind: Kind) -> Document | None:
    """Read a state; None: there is no such file, or an empty one (as `mktemp` makes it).

    Raises:
        InputError: it cannot be read, is broken, of another kind, or of a newer numalign.
    """
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {getattr(error, 'strerror', None) or error}", path) from None
    if len(content) > MAX_BYTES:
        raise InputError(f"is larger than {MAX_BYTES >> 20} MiB, which no state is", path)
    if not content.strip():
        return None
    return _checked(content, path, kind)


def _checked(content: bytes, path: str, kind: Kind) -> Document:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        text = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise InputError(f"is no state of a node: not JSON ({text}); it is left as it is", path) from None
    found = document.get("kind") if isinstance(document, dict) else None
    if not isinstance(document, dict) or document.get("apiVersion") != API_VERSION or found != kind.name:
        shown = f"kind {found}" if isinstance(found, str) else "another file"
        raise InputError(f"is no state ({kind.name}) but {shown}; it is left as it is", path)
    version = document.get("version")
    if type(version) is not int or version < 1:
        raise InputError(f"version: expected a number from 1 to {kind.version}", path)
    if version > kind.version:
        raise InputError(f"was written by a newer numalign (version {version}, this one knows {kind.version})", path)
    result: Document = document
    while version < kind.version:
        result = kind.upgrades[version](result)
        version += 1
    return result


class OpenState:
    """A state under change: what is in the file, and how to replace it. Only inside `changing`."""

    def __init__(self, path: str, kind: Kind, document: Document | None) -> None:
        self.document = document
        """What is in the file; None: nothing yet."""
        self._path = path
        self._kind = kind

    def writing(self, content: Mapping[str, object]) -> AbstractContextManager[tuple[Notice, ...]]:
        """Replace the file's content at the end of a `with` block; gives what a person should know of it.

        Raises:
            InputError: it cannot be written; the old content is still there.
        """
        document = {"apiVersion": API_VERSION, "kind": self._kind.name, "version": self._kind.version, **content}
        data = json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"

        def put(file: BinaryIO) -> None:
            file.write(data)

        return writing_whole(self._path, put)


@contextmanager
def changing(path: str, kind: Kind, waiting: Callable[[], None] = lambda: None) -> Iterator[OpenState]:
    """Open a state for a change; nobody else changes it meanwhile. Without `writing` the file stays as it is.

    Raises:
        InputError: see `read`; or it may not be changed.
    """
    if os.path.isdir(path):
        raise InputError("is a folder; expected the name of a file", path)
    with locked(path, waiting):
        yield OpenState(path, kind, read(path, kind))
