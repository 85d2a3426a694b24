"""What every server of numalign is to HTTP: who may ask it, whether it is up, its metrics, and its log."""

from __future__ import annotations

import json
import re
import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Set
from typing import Any, Final

from numalign.errors import Notice
from numalign.notices import level
from numalign.render.escape import printable
from numalign.render.prometheus import CONTENT_TYPE
from numalign.values import NamedTuple

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

PROBES: Final = ("/healthz", "/readyz")
FORBIDDEN: Final = ""
"""In place of a path that somebody may not ask for; no request has it."""
PLAIN: Final = "text/plain; charset=utf-8"


class Reply(NamedTuple):
    """What a client is answered."""

    status: int
    kind: str
    body: bytes


class RefusedError(Exception):
    """A request gets no answer; an answer itself, and no error of ours."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.reply = Reply(status, PLAIN, f"{printable(text)}\n".encode())


class Service(ABC):
    """An ASGI application."""

    paths: tuple[str, ...] = (*PROBES, "/metrics")
    """What may be asked for."""

    def __init__(self, hosts: Set[str] = frozenset()) -> None:
        """Be ready.

        Args:
            hosts: names by which the server may be asked: on loopback a page of the web could else lead its own name
                here, and ask in a browser's place. Empty: any.
        """
        self._hosts = hosts
        self.ready = True

    @property
    @abstractmethod
    def about(self) -> dict[str, object]:
        """What the log says of the server when it begins to listen."""

    @abstractmethod
    async def metrics_text(self) -> str:
        """Write the metrics."""

    async def look(self) -> bool:
        """Notice what has changed; tells whether much was read anew."""
        return False

    async def probes(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request of somebody who may only ask whether the server is up, as a kubelet does."""
        if scope["type"] == "http" and scope["path"] not in PROBES:
            scope = {**scope, "path": FORBIDDEN}
        await self(scope, receive, send)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        try:
            status, kind, body = await self.answer(scope, receive)
        except RefusedError as refused:
            status, kind, body = refused.reply
        headers = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def answer(self, scope: Scope, receive: Receive) -> Reply:  # noqa: ARG002 (others read a body)
        """Answer probes and Prometheus.

        Raises:
            RefusedError: the client may not ask for this.
        """
        self.check_host(scope)
        if scope["path"] == "/healthz":
            return Reply(200, PLAIN, b"ok\n")
        if scope["path"] == "/readyz":
            return Reply(200, PLAIN, b"ok\n") if self.ready else Reply(503, PLAIN, b"stopping\n")
        if scope["path"] == "/metrics":
            return Reply(200, CONTENT_TYPE, (await self.metrics_text()).encode())
        if scope["path"] == FORBIDDEN:
            raise RefusedError(403, "the client certificate is not allowed")
        raise RefusedError(404, f"unknown path; allowed: {', '.join(self.paths)}")

    def check_host(self, scope: Scope) -> None:
        """Refuse who knows the server by a name that is not its own.

        Raises:
            RefusedError: it is none of the server's.
        """
        if self._hosts and _host(scope) not in self._hosts:
            raise RefusedError(421, "the Host header is not this server")


def _host(scope: Scope) -> str:
    """Read the name, without its port, by which the client knows the server."""
    host = next((value.decode("latin-1").lower() for name, value in scope["headers"] if name == b"host"), "")
    return host.rpartition(":")[0] if re.search(r":[0-9]*$", host) else host


def log(notices: Iterable[Notice]) -> None:
    """Log what a person should know of the files, once however many nodes it is said of."""
    about = Counter((notice.code, notice.message) for notice in notices)
    for (code, message), places in about.items():
        weight = "warning" if level(code) == "warning" else "info"
        say({"level": weight, "event": "notice", "code": code, "message": message, "places": places})


def say(event: dict[str, object]) -> None:
    """Write a log line: JSON, one line, on standard error."""
    sys.stderr.write(json.dumps(event) + "\n")
    sys.stderr.flush()
