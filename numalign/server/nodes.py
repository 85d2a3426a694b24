"""The nodes that the server knows: read again when a file changes; a bad new file leaves the old state in force."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from time import monotonic, time

from numalign.errors import NumalignError
from numalign.scheduler.extender import Extender
from numalign.values import NamedTuple

Load = Callable[[], Extender]


class Reload(NamedTuple):
    """What came of a look at the files."""

    changed: bool
    error: str = ""


class KnownNodes:
    """The extender in force, and the files behind it."""

    def __init__(self, load: Load, files: tuple[str, ...], max_age: float | None = None) -> None:
        """Read the files for the first time.

        Args:
            load: reads them.
            files: files, and folders of files, that are watched.
            max_age: seconds after which a file's data are not trusted; None: never.

        Raises:
            NumalignError: they cannot be read.
        """
        self._load = load
        self._files = files
        self._max_age = max_age
        self._seen = self._look()
        self.extender = load()
        self._read_at = monotonic()

    def _look(self) -> tuple[tuple[str, int, int, int], ...]:
        """Tell files apart from what they were: links are followed, as those of a ConfigMap are swapped."""
        return tuple(_stamps(self._files))

    def reload(self) -> Reload:
        """Read the files again if they changed; on an error what was known stays in force."""
        seen = self._look()
        if seen == self._seen:
            return Reload(False)
        try:
            extender = self._load()
        except NumalignError as error:
            self._seen = seen  # told once, and again when the file changes again
            return Reload(False, str(error))
        if self._look() != seen:
            return Reload(False)  # it is being written; the next look will see it whole
        self.extender, self._seen, self._read_at = extender, seen, monotonic()
        return Reload(True)

    @property
    def age(self) -> float:
        """Seconds since the newest of the files was written: how old what they say is at least."""
        newest = max((changed for _, _, changed, _ in self._seen), default=0)
        return max(time() - newest / 1e9, 0.0)

    @property
    def is_stale(self) -> bool:
        """Tell whether the data are too old to be trusted."""
        return self._max_age is not None and self.age > self._max_age


def _stamps(paths: tuple[str, ...]) -> Iterator[tuple[str, int, int, int]]:
    for path in paths:
        try:
            found = os.stat(path)
            yield path, found.st_ino, found.st_mtime_ns, found.st_size
            if os.path.isdir(path):
                yield from _stamps(tuple(sorted(entry.path for entry in os.scandir(path))))
        except OSError:
            yield path, 0, 0, -1
