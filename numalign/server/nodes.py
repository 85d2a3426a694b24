"""The nodes that the server knows: read again when a file changes; a bad new file leaves the old state in force."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from time import time

from numalign.errors import InputError, NumalignError
from numalign.scheduler.extender import Extender
from numalign.scheduler.node import Fleet
from numalign.tasks.cluster import merged
from numalign.tasks.cluster_files import files_of
from numalign.values import NamedTuple

Load = Callable[[str], Fleet]
"""Reads one file."""
Referred = Callable[[str], tuple[str, ...]]
"""Names the files, there or not, that what is read of a file depends on."""
Build = Callable[[Fleet], Extender]

Stamp = tuple[int, int, int]
"""(inode, time of the last change in nanoseconds, size): tells a file apart from what it was."""

_GONE: Stamp = (0, 0, -1)
"""Stands for a file that is not there."""


class Reload(NamedTuple):
    """What came of a look at the files."""

    changed: bool
    error: str = ""


class _Source(NamedTuple):
    """One file, as it was read."""

    stamps: tuple[Stamp, ...]
    """Its own, then those of the files that it refers to."""
    fleet: Fleet


class KnownNodes:
    """The extender in force, and the files behind it."""

    def __init__(
        self, load: Load, referred: Referred, build: Build, paths: tuple[str, ...], max_age: float | None = None
    ) -> None:
        """Read the files for the first time.

        Args:
            load: reads a file.
            referred: names the files that it refers to; they are watched, too.
            build: makes the extender of all nodes.
            paths: files, and folders of files, that are watched.
            max_age: seconds after which the data of a file are not trusted any more; None: never.

        Raises:
            NumalignError: they cannot be read.
        """
        self._load = load
        self._referred = referred
        self._referred_of: dict[str, tuple[Stamp, tuple[str, ...]]] = {}
        self._build = build
        self._paths = paths
        self._max_age = max_age
        for path in paths:
            files_of(path)
        self._seen = self._look()
        self._sources: dict[str, _Source] = {}
        self._sources = self._read(self._seen)
        self.extender = self._built(self._sources)
        self._stale: tuple[tuple[str, ...], frozenset[str]] = ((), frozenset())

    def _look(self) -> dict[str, tuple[Stamp, ...]]:
        """Stamp all files: links are followed, as those of a ConfigMap are swapped."""
        known, stamps = self._referred_of, {file: _stamp(file) for file in _files(self._paths)}
        self._referred_of = {
            file: known[file] if file in known and known[file][0] == stamp else (stamp, self._referred(file))
            for file, stamp in stamps.items()
        }
        others = {other: _stamp(other) for _, named in self._referred_of.values() for other in named}
        return {
            file: (stamp, *[others[other] for other in self._referred_of[file][1]]) for file, stamp in stamps.items()
        }

    def _read(self, seen: Mapping[str, tuple[Stamp, ...]]) -> dict[str, _Source]:
        """Read what is new or has changed; the rest is known."""
        known = self._sources
        return {
            path: known[path] if path in known and known[path].stamps == stamps else _Source(stamps, self._load(path))
            for path, stamps in seen.items()
        }

    def _built(self, sources: Mapping[str, _Source]) -> Extender:
        return self._build(merged((path, source.fleet) for path, source in sources.items()))

    def reload(self) -> Reload:
        """Read again what changed; on an error, whatever it is, what was known stays in force."""
        seen = self._seen
        try:
            seen = self._look()
            if seen == self._seen:
                return Reload(False)
            sources = self._read(seen)
            extender = self._built(sources)
        except Exception as error:
            self._seen = seen  # told once, and again when a file changes again
            return Reload(False, str(error) if isinstance(error, NumalignError) else f"bug: {error!r:.200}")
        if self._look() != seen:
            return Reload(False)  # it is being written; the next look will see it whole
        self._seen, self._sources, self._stale = seen, sources, ((), frozenset())
        self.extender = extender
        return Reload(True)

    @property
    def age(self) -> float:
        """Seconds since the oldest of the files was written: how old what is known of some node is at least."""
        oldest = min((source.stamps[0][1] for source in self._sources.values()), default=0)
        return max(time() - oldest / 1e9, 0.0)

    @property
    def stale(self) -> frozenset[str]:
        """Name the nodes whose data are too old to be trusted: those of files that nobody has written for so long."""
        if self._max_age is None:
            return frozenset()
        limit = (time() - self._max_age) * 1e9
        old = tuple([path for path, source in self._sources.items() if source.stamps[0][1] < limit])
        if old != self._stale[0]:
            names = frozenset(node.name for path in old for node in self._sources[path].fleet.nodes)
            self._stale = old, names
        return self._stale[1]


def _files(paths: tuple[str, ...]) -> Iterator[str]:
    for path in paths:
        try:
            yield from files_of(path)
        except InputError:
            yield path  # reading it says what is wrong


def _stamp(file: str) -> Stamp:
    try:
        found = os.stat(file)
    except (OSError, ValueError):
        return _GONE
    return found.st_ino, found.st_mtime_ns, found.st_size
