"""Which files of a folder are those of a cluster."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Final

from numalign.errors import InputError, unreadable
from numalign.sources.cluster import file, state_dump
from numalign.sources.pods.files import SUFFIXES
from numalign.sources.text.yaml import load_file

HEAD_BYTES = 4096
"""The bytes at a file's beginning that show what it is."""
_OBJECT = re.compile(rb'(?m)\A\s*\{|^"?apiVersion')
"""How objects begin; a cluster file is YAML without `apiVersion`, or names itself."""
_CLUSTER = re.compile(rb"(?m)^kind: *[\"']?Cluster\b")
STATE_MARK = re.compile(rb'"kind"\s*:\s*"' + state_dump.KIND.name.encode() + rb'"')
ARCHIVES: Final = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
"""How the names of snapshots and must-gathers end."""
_MAX_MACHINE_BYTES: Final = 1 << 20
"""No machine file is larger; what is needs no look whether it is one."""


def files_of(path: str, *, folders: bool = False) -> tuple[str, ...]:
    """List the files that a name stands for: those of a folder, sorted, or the name itself.

    Args:
        path: a file or a folder.
        folders: folders in the folder count as well: they stand for nodes, as a kubelet's root does.

    Raises:
        InputError: the folder cannot be read, or no file in it tells of nodes.
    """
    if not os.path.isdir(path):
        return (path,)
    try:
        with os.scandir(path) as entries:
            listed = [(one.path, one.is_dir()) for one in entries]
    except OSError as error:
        raise InputError(unreadable(error), path) from None
    endings = (*SUFFIXES, *ARCHIVES)
    found = sorted(name for name, is_folder in listed if (folders if is_folder else name.endswith(endings)))
    if not found:
        raise InputError(f"no file that ends in {', '.join(endings)} is in this folder", path)
    return tuple(found)


def may_be_cluster_file(head: bytes) -> bool:
    """Tell by its beginning whether a file may describe a cluster."""
    return not _OBJECT.search(head) or b'"nodes"' in head or _CLUSTER.search(head) is not None


def is_machine(path: str) -> bool:
    """Tell whether a file is a machine."""
    try:
        if path == "-" or os.path.getsize(path) > _MAX_MACHINE_BYTES:
            return False
    except (OSError, ValueError):
        return False  # who reads it says what is wrong
    documents = load_file(path)
    if len(documents) != 1 or not isinstance(documents[0].data, Mapping):
        return False
    data = documents[0].data
    return data.get("kind", "Machine") == "Machine" and not file.is_cluster_file(data)


def is_folder(name: str) -> bool:
    """Tell whether a name is that of a folder."""
    return "\0" not in name and os.path.isdir(name)
