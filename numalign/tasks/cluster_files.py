"""The files that a cluster is made of, each read by itself.

So a server reads again only what changed and knows how old the data of every node are, and a folder may hold a
snapshot a node.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Final

from numalign.errors import InputError
from numalign.scheduler.node import Fleet
from numalign.sources.cluster import file as cluster_file
from numalign.sources.cluster import folder
from numalign.sources.text.yaml import load_file
from numalign.tasks.cluster import ClusterRequest, LoadedCluster, load_cluster, load_one_node
from numalign.tasks.requests import KubeletRequest, PodsRequest

ARCHIVES: Final = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
"""How the names of snapshots and must-gathers end."""
TEXTS: Final = (".yaml", ".yml", ".json")
_MAX_MACHINE_BYTES: Final = 1 << 20
"""No machine file is larger; what is needs no look whether it is one."""


def files_of(path: str) -> tuple[str, ...]:
    """List the files that a name stands for: those of a folder, sorted, or the name itself.

    Raises:
        InputError: the folder cannot be read, or no file in it tells of nodes.
    """
    if not os.path.isdir(path):
        return (path,)
    try:
        with os.scandir(path) as entries:
            found = sorted(one.path for one in entries if one.name.endswith((*ARCHIVES, *TEXTS)) and one.is_file())
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path) from None
    if not found:
        raise InputError(f"no file that ends in {', '.join((*TEXTS, *ARCHIVES))} is in this folder", path)
    return tuple(found)


def load_file_nodes(path: str, machine_of: tuple[str, ...] = ()) -> LoadedCluster:
    """Read one file: a cluster file, objects, a state, a snapshot, or a machine.

    Raises:
        NumalignError: as `load_cluster`, or as the reading of a node.
    """
    if path.endswith(ARCHIVES):
        return load_one_node(path, None, KubeletRequest(), PodsRequest(()))
    if _is_machine(path):
        built = folder.read_files([path])
        return LoadedCluster(built.fleet, path, built.notices)
    return load_cluster(ClusterRequest(path, machine_of=machine_of))


def _is_machine(path: str) -> bool:
    try:
        if path == "-" or os.path.getsize(path) > _MAX_MACHINE_BYTES:
            return False
    except (OSError, ValueError):
        return False  # who reads it says what is wrong
    documents = load_file(path)
    if len(documents) != 1 or not isinstance(documents[0].data, Mapping):
        return False
    data = documents[0].data
    return data.get("kind", "Machine") == "Machine" and not cluster_file.is_cluster_file(data)


def merged(fleets: Iterable[tuple[str, Fleet]]) -> Fleet:
    """Put the nodes of several files together; how the scheduler is set is the first file's to say.

    Raises:
        InputError: two files have a node of one name, or there is no file.
    """
    nodes, first = {}, None
    for path, fleet in fleets:
        first = first or fleet
        for node in fleet.nodes:
            if node.name in nodes:
                raise InputError(f'a node "{node.name}" is in another file, too', path)
            nodes[node.name] = node
    if first is None:
        raise InputError("no file tells of nodes", "--cluster")
    return first._replace(nodes=tuple(nodes.values()))
