"""A tree that remembers what was read of another one, so that just this can be put into an archive."""

from __future__ import annotations

from collections.abc import Callable

from numalign.sources.tree.folder import Tree

Entry = str | None | tuple[str]
"""A file's text, None for a directory, or a tuple with the target of a link."""


class NotingTree:
    """A tree beside which notes are taken. What may not be read counts as not there, and is noted as well."""

    def __init__(self, tree: Tree, keeps_names: Callable[[str], bool]) -> None:
        """Take notes of a tree.

        Args:
            tree: the tree.
            keeps_names: tells for a directory whether the names in it matter, beyond what is read below it.
        """
        self.name = tree.name
        self.live = tree.live
        self.entries: dict[str, Entry] = {}
        """Path -> what is there."""
        self.unreadable: list[str] = []
        """Paths that may not be read."""
        self._tree = tree
        self._keeps_names = keeps_names

    def read(self, path: str) -> str:
        """Return a file's text."""
        try:
            text = self._tree.read(path)
        except PermissionError:
            self._refused(path)
            raise FileNotFoundError(path) from None
        self.entries[path] = text
        return text

    def names(self, path: str) -> list[str]:
        """Return the names in a directory, in byte order."""
        try:
            names = self._tree.names(path)
        except PermissionError:
            self._refused(path)
            raise FileNotFoundError(path) from None
        self.entries.setdefault(path, None)
        if self._keeps_names(path):
            for name in names:
                self.entries.setdefault(f"{path}/{name}", None)
        return names

    def target(self, path: str) -> str:
        """Return where a link points to."""
        text = self._tree.target(path)
        self.entries[path] = (text,)
        return text

    def resolve(self, path: str) -> str:
        """Return the path with every link in it followed."""
        return self._tree.resolve(path)

    def _refused(self, path: str) -> None:
        if path not in self.unreadable:
            self.unreadable.append(path)
