"""A node, read again and again for Prometheus: what fails is counted, and nothing old is said of the node then."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from numalign.errors import Notice, NumalignError
from numalign.render.verify_metrics import verify_metrics
from numalign.results.node import VerifyResult


class Readings:
    """One reading after the other."""

    def __init__(
        self,
        read: Callable[[], VerifyResult],
        say: Callable[[str], object],
        tell: Callable[[Iterable[Notice]], object],
    ) -> None:
        """Read nothing yet.

        Args:
            read: reads the node.
            say: is given why a reading failed, once until one succeeds or fails in another way.
            tell: is given what a person should know of a reading, once.
        """
        self._read = read
        self._say = say
        self._tell = tell
        self._told: set[Notice] = set()
        self._failed = ""
        self._last = 0.0
        self._errors = 0

    def text(self) -> str:
        """Read the node, and write its metrics.

        Raises:
            NumalignError: the first reading failed.
        """
        try:
            result = self._read()
        except Exception as error:
            if not self._last:
                raise
            self._errors += 1
            words = str(error) if isinstance(error, NumalignError) else f"bug: {error!r:.200}"
            if words != self._failed:
                self._say(words)
            self._failed = words
            return verify_metrics(None, last=self._last, errors=self._errors)
        self._last, self._failed = result.at, ""
        self._tell([notice for notice in result.notices if notice not in self._told])
        self._told |= {*result.notices}
        return verify_metrics(result, errors=self._errors)
