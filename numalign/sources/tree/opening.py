"""Open whatever holds a machine: the live host, a folder or an archive."""

from __future__ import annotations

import os
import stat

from numalign.errors import HostError, InputError
from numalign.sources.tree.folder import FolderTree, LiveTree, Tree


def open_tree(root: str) -> Tree:
    """Open the live host (`/`), a folder or a tar archive, told apart by what is there.

    Raises:
        InputError: there is no such file, or it is neither a folder nor an archive that may be read.
        HostError: there is no permission to read it.
    """
    if root == "/":
        return LiveTree()
    mode = mode_of(root)
    if stat.S_ISDIR(mode):
        tree: Tree = FolderTree(root)
    elif not stat.S_ISREG(mode):
        raise InputError("expected a folder or a tar archive", root)
    else:
        from numalign.sources.tree.archive import ArchiveTree  # most runs read no archive

        tree = ArchiveTree(root)
    if "sys" not in top_of(tree):
        raise InputError('has no folder "sys"; fix: name the folder that stands for "/", or an archive of it', root)
    return tree


def mode_of(path: str) -> int:
    """Tell what a name stands for, as `os.stat` has it.

    Raises:
        InputError: there is no such file.
        HostError: there is no permission to look.
    """
    try:
        return os.stat(path).st_mode
    except PermissionError as error:
        raise HostError(f"cannot be read: {error.strerror}", path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}; fix: correct the path", path) from None
    except ValueError:
        raise InputError("no file can have this name", repr(path)) from None


def top_of(tree: Tree) -> list[str]:
    """List what lies at the top of a tree: nothing where it is no folder.

    Raises:
        HostError: it may not be listed.
    """
    try:
        return tree.names("")
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise HostError(f"cannot be read: {error.strerror}", tree.name) from None
