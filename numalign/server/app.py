"""The extender as an ASGI application: routes, bodies within bounds and deadlines, a log line a request.

Nothing of a pod is logged but how it was answered: environment variables hold secrets.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Set
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Protocol

from numalign.errors import Notice
from numalign.notices import level
from numalign.render.escape import printable
from numalign.server.metrics import Metrics
from numalign.server.nodes import Reload
from numalign.server.wire import BadRequestError, ExtenderArgs, filter_result, priorities, read_args
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.scheduler.extender import Extender

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

LARGE_BODY_BYTES: Final = 1 << 20
"""A body of so many bytes is worked on in a thread, so that others are answered meanwhile."""
VERBS: Final = ("filter", "prioritize")
PROBES: Final = ("/healthz", "/readyz")
FORBIDDEN: Final = ""
"""In place of a path that somebody may not ask for; no request has it."""


class Limits(NamedTuple):
    """What one client may ask of the server."""

    body: int = 128 << 20
    """Bytes of a body: 5,000 whole Node objects are some 50 MB."""
    body_seconds: float = 10
    """In which a body has to arrive."""
    in_flight: int = 512 << 20
    """Bytes of all bodies that are held at a time; more have to wait their turn."""


class Nodes(Protocol):
    """What is known of the nodes, of files or of a cluster that is watched."""

    extender: Extender

    def reload(self) -> Reload:
        """Look whether something changed, and take it in."""

    @property
    def age(self) -> float:
        """Seconds since the oldest of the data were true."""

    @property
    def stale(self) -> frozenset[str]:
        """Name the nodes whose data are too old to be trusted."""


class _Refused(Exception):  # noqa: N818 (an answer, not an error of ours)
    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


class _Body:
    """A body as it comes."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0


class App:
    """Answers kube-scheduler."""

    def __init__(
        self, nodes: Nodes, prefix: str = "/v1", limits: Limits | None = None, hosts: Set[str] = frozenset()
    ) -> None:
        """Know the nodes.

        Args:
            nodes: what is known of them.
            prefix: the path of urlPrefix.
            limits: what one client may ask.
            hosts: names by which the server may be asked: on loopback a page of the web could else lead its own name
                here, and ask in a browser's place. Empty: any.
        """
        self.nodes = nodes
        self.metrics = Metrics()
        self._prefix = prefix.rstrip("/")
        self._limits = limits or Limits()
        self._hosts = hosts
        self._room = asyncio.Condition()
        self.held = 0
        """Bytes of all bodies that are held now."""
        self._bodies: list[_Body] = []
        """Those that are held, the first that came first."""
        self._large = asyncio.Lock()
        self.ready = True

    async def probes(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request of somebody who may only ask whether the server is up, as a kubelet does."""
        if scope["type"] == "http" and scope["path"] not in PROBES:
            scope = {**scope, "path": FORBIDDEN}
        await self(scope, receive, send)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        start = monotonic()
        verb = self._verb(scope["path"])
        log: dict[str, object] = {"verb": verb or "other", "method": scope["method"]}
        try:
            status, kind, body = await self._answer(scope, receive, verb, log)
        except _Refused as refused:
            status, kind, body = refused.status, "text/plain; charset=utf-8", f"{printable(refused.text)}\n".encode()
            log["error"] = refused.text
        seconds = monotonic() - start
        if verb is not None:
            self.metrics.answered(verb, status, seconds)
            say(
                {"level": "info" if status < 400 else "warning", **log, "status": status, "ms": round(seconds * 1e3, 3)}
            )
        headers = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _verb(self, path: str) -> str | None:
        """Name the verb of an extender call; None: the path is none."""
        if not path.startswith(f"{self._prefix}/"):
            return None
        verb = path.removeprefix(f"{self._prefix}/").rstrip("/")
        return verb if verb in VERBS else None

    async def _answer(
        self, scope: Scope, receive: Receive, verb: str | None, log: dict[str, object]
    ) -> tuple[int, str, bytes]:
        if self._hosts and _host(scope) not in self._hosts:
            raise _Refused(421, "the Host header is not this server")
        if verb is None:
            return self._about_itself(scope)
        if scope["method"] != "POST":
            raise _Refused(405, "expected POST")
        length = _length(scope)
        if length is not None and length > self._limits.body:
            raise _Refused(413, f"a body may have at most {self._limits.body} bytes")
        coming = _Body()
        try:
            await self._receive(receive, coming)
            body = b"".join(coming.parts)
            log["bytes"] = len(body)
            work = self._work if verb == "filter" else self._rank
            if len(body) <= LARGE_BODY_BYTES:
                return 200, "application/json", work(body, log)
            async with self._large:  # what is made of one takes many times its bytes
                return 200, "application/json", await asyncio.to_thread(work, body, log)
        except BadRequestError as error:
            raise _Refused(400, str(error)) from None
        finally:
            async with self._room:
                self.held -= coming.size
                self._bodies = [one for one in self._bodies if one is not coming]
                self._room.notify_all()

    async def _take(self, part: bytes, coming: _Body) -> None:
        """Take a part of a body that came, once there is room for it: for the body that came first there always is."""
        if coming.size + len(part) > self._limits.body:
            raise _Refused(413, f"a body may have at most {self._limits.body} bytes")
        async with self._room:
            limit = self._limits.in_flight - self._limits.body
            if not coming.parts:
                self._bodies.append(coming)
            await self._room.wait_for(lambda: self._bodies[0] is coming or self.held + len(part) <= limit)
            self.held += len(part)
            coming.size += len(part)
            coming.parts.append(part)

    async def _receive(self, receive: Receive, coming: _Body) -> None:
        """Read the whole body, within its bound and its time, its turn included."""
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise _Refused(400, "the client went away")
                    await self._take(message.get("body", b""), coming)
                    if not message.get("more_body"):
                        return
        except TimeoutError:
            raise _Refused(408, f"the body did not arrive within {self._limits.body_seconds:g} s") from None

    def _work(self, body: bytes, log: dict[str, object]) -> bytes:
        args = self._args(body, log)
        answer = self.nodes.extender.filter(args.pod, args.names, self.nodes.stale, args.objects)
        log["passed"] = len(answer.passed)
        self.metrics.judged(answer)
        return filter_result(args, answer)

    def _rank(self, body: bytes, log: dict[str, object]) -> bytes:
        args = self._args(body, log)
        return priorities(self.nodes.extender.prioritize(args.pod, args.names, self.nodes.stale, args.objects))

    def _args(self, body: bytes, log: dict[str, object]) -> ExtenderArgs:
        args = read_args(body)
        log["nodes"] = len(args.names)
        return args

    def _about_itself(self, scope: Scope) -> tuple[int, str, bytes]:
        """Answer probes and Prometheus; `preempt` and `bind` are not offered (E-10)."""
        plain = "text/plain; charset=utf-8"
        if scope["path"] == "/healthz":
            return 200, plain, b"ok\n"
        if scope["path"] == "/readyz":
            return (200, plain, b"ok\n") if self.ready else (503, plain, b"stopping\n")
        if scope["path"] == "/metrics":
            text = self.metrics.text(len(self.nodes.extender), self.nodes.age, len(self.nodes.stale))
            return 200, "text/plain; version=0.0.4; charset=utf-8", text.encode()
        if scope["path"] == FORBIDDEN:
            raise _Refused(403, "the client certificate is not allowed")
        raise _Refused(404, "unknown path; allowed: filter, prioritize, /healthz, /readyz, /metrics")


def _length(scope: Scope) -> int | None:
    """Read Content-Length; None: the body comes in chunks."""
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() and len(value) < 19 else None
    return None


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
