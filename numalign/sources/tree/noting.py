"""A tree that remembers what was read of another one, so that just this can be put into an archive."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from numalign.sources.tree.folder import Tree

if TYPE_CHECKING:
    from numalign.store.archive import Entry


class NotingTree:
    """A tree beside which notes are taken."""

    def __init__(self, tree: Tree, keeps: Callable[[str, str], bool], *, passes_over_refused: bool = False) -> None:
        """Take notes of a tree.

        Args:
            tree: the tree.
            keeps: (directory, name in it) -> whether the name matters, beyond what is read below it.
            passes_over_refused: what may not be read counts as not there, and is noted as well.
        """
        self.name = tree.name
        self.live = tree.live
        self.entries: dict[str, Entry] = {}
        """Path -> what is there."""
        self.unreadable: list[str] = []
        """Paths that may not be read."""
        self._tree = tree
        self._keeps = keeps
        self._passes_over = passes_over_refused

    def read(self, path: str) -> str:
        """Return a file's text."""
        try:
            text = self._tree.read(path)
        except PermissionError as error:
            raise self._refused(path, error) from None
        self.entries[path] = text
        return text

    def names(self, path: str) -> list[str]:
        """Return the names in a directory, in byte order."""
        try:
            names = self._tree.names(path)
        except PermissionError as error:
            raise self._refused(path, error) from None
        self.entries.setdefault(path, None)
        for name in names:
            if self._keeps(path, name):
                self.entries.setdefault(f"{path}/{name}", None)
        return names

    def target(self, path: str) -> str:
        """Return where a link points to."""
        text = self._tree.target(path)
        self.entries[path] = (text,)
        return text

    def resolve(self, path: str) -> str:
        """Return the path with every link in it followed; in the notes one link leads there."""
        found = self._tree.resolve(path)
        if found != path:
            self.entries[path] = ("../" * path.count("/") + found,)
        return found

    def _refused(self, path: str, error: PermissionError) -> OSError:
        if path not in self.unreadable:
            self.unreadable.append(path)
        return FileNotFoundError(path) if self._passes_over else error
