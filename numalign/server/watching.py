"""`verify --listen` as an ASGI application: a scrape reads the node anew, and there is one reading at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Set
from contextlib import suppress
from threading import Thread
from time import monotonic
from typing import Final

from numalign.server.service import RefusedError, Service

FRESH_SECONDS: Final = 5.0
"""So long a reading answers those who come after it: many clients cost no more than one."""
READING_SECONDS: Final = 30.0
"""A client waits so long for a reading."""


class NodeService(Service):
    """Answers Prometheus about one node."""

    def __init__(self, text: Callable[[], str], hosts: Set[str] = frozenset()) -> None:
        """Read nothing yet.

        Args:
            text: reads the node and writes its metrics; an error of its is told in them.
            hosts: names by which the server may be asked.
        """
        super().__init__(hosts)
        self._text = text
        self._reading: asyncio.Future[str] | None = None
        self._ended = 0.0

    @property
    def about(self) -> dict[str, object]:
        """Nothing beside its address."""
        return {}

    async def metrics_text(self) -> str:
        """Read the node, unless a reading is under way or fresh.

        Raises:
            RefusedError: it takes too long; it goes on, and no other begins.
        """
        known = self._reading
        if known is None or (known.done() and monotonic() - self._ended >= FRESH_SECONDS):
            known = self._reading = self._begin()
        await asyncio.wait({known}, timeout=READING_SECONDS)
        if not known.done():
            raise RefusedError(503, f"the reading takes more than {READING_SECONDS:g} s")
        return known.result()

    def _begin(self) -> asyncio.Future[str]:
        """Read in a thread that does not keep the process from its end."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[str] = loop.create_future()

        def end(text: str) -> None:
            self._ended = monotonic()
            future.set_result(text)

        def run() -> None:
            text = self._text()
            with suppress(RuntimeError):  # the loop is closed: the server has ended
                loop.call_soon_threadsafe(end, text)

        Thread(target=run, daemon=True).start()
        return future
