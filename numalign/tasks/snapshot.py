"""Put a node into one archive, for the other commands to answer about it elsewhere."""

from __future__ import annotations

from numalign.errors import Notice
from numalign.values import NamedTuple


class SnapshotResult(NamedTuple):
    """An archive that was written."""

    file: str
    machine: str
    entries: int
    missing: tuple[str, ...]
    """What a whole snapshot would have, a phrase each."""
    notices: tuple[Notice, ...]


def snapshot(file: str | None, *, host_root: str = "/", redact: bool = False) -> SnapshotResult:
    """Read a node and write its archive.

    Args:
        file: the archive; None: `numalign-MACHINE.tar.xz` in the present folder.
        host_root: `/` for the live host, else the tree that stands for one.
        redact: replace names of pods, namespaces and containers by hashes.

    Raises:
        InputError: the archive cannot be written.
        HostError: not even the hardware may be read.
    """
    from numalign.sources.kubelet.command_line import flags_of_words
    from numalign.sources.node import snapshot as snapshots
    from numalign.sources.node import source
    from numalign.sources.node.kubelet_folder import find_flags, root_of
    from numalign.sources.tree.opening import open_tree
    from numalign.store.archive import compression, write_archive

    if file is not None:
        compression(file)
    tree = open_tree(host_root)
    version, answer, why = "", None, "numalign reads the PodResources API on a live host only"
    if tree.live:
        from numalign.sources.node.processes import kubelet_version, running_kubelet

        words = running_kubelet()
        flags = None if words is None else flags_of_words(words)
        version = kubelet_version() if words is not None else ""
        answer, why = source.ask_live(root_of(flags))
    else:
        flags = find_flags(tree)
    taken = snapshots.take(tree, flags, version, answer, redact=redact)
    name = file or f"numalign-{taken.name}.tar.xz"
    notices = write_archive(name, taken.entries)
    missing = tuple(f"{one} ({why})" if one.startswith("the PodResources") else one for one in taken.unreadable)
    return SnapshotResult(name, taken.name, len(taken.entries), missing, notices)
