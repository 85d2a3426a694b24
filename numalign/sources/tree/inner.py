"""A folder inside a tree, read as if it were a tree of its own."""

from __future__ import annotations

from numalign.sources.tree.folder import Tree


class InnerTree:
    """A folder of a tree as a tree of its own."""

    def __init__(self, tree: Tree, folder: str) -> None:
        self.name = f"{tree.name}/{folder}"
        self.live = tree.live
        self._tree = tree
        self._folder = folder

    def outer(self, path: str) -> tuple[Tree, str]:
        """Return the tree that this is a folder of, and the path in it."""
        return self._tree, f"{self._folder}/{path}"

    def read(self, path: str) -> str:
        """Return a file's text."""
        return self._tree.read(f"{self._folder}/{path}")

    def names(self, path: str) -> list[str]:
        """Return the names in a directory, in byte order."""
        return self._tree.names(f"{self._folder}/{path}".rstrip("/"))

    def target(self, path: str) -> str:
        """Return where a link points to."""
        return self._tree.target(f"{self._folder}/{path}")

    def resolve(self, path: str) -> str:
        """Return the path with every link in it followed."""
        return self._tree.resolve(f"{self._folder}/{path}").removeprefix(f"{self._folder}/")
