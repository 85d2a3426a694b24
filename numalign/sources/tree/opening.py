"""Open whatever holds a machine: the live host, a folder or an archive."""

from __future__ import annotations

import os
import stat

from numalign.errors import InputError
from numalign.sources.tree.folder import FolderTree, LiveTree, Tree


def open_tree(root: str) -> Tree:
    """Open the live host (`/`), a folder or a tar archive, told apart by what is there.

    Raises:
        InputError: there is no such file, or it is neither a folder nor an archive that may be read.
    """
    if root == "/":
        return LiveTree()
    try:
        mode = os.stat(root).st_mode
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", root) from None
    if stat.S_ISDIR(mode):
        tree: Tree = FolderTree(root)
    elif not stat.S_ISREG(mode):
        raise InputError("is neither a folder nor a file; expected a folder or a tar archive", root)
    else:
        from numalign.sources.tree.archive import ArchiveTree  # most runs read no archive

        tree = ArchiveTree(root)
    if "sys" not in tree.names(""):
        raise InputError('holds no "sys": give the folder (or an archive of it) that stands for "/"', root)
    return tree
