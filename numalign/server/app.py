"""The extender as an ASGI application: verbs, bodies within bounds and deadlines, a log line a request.

Nothing of a pod is logged but how it was answered: environment variables hold secrets.
"""

from __future__ import annotations

import asyncio
from collections.abc import Set
from time import monotonic
from typing import Final, Protocol

from numalign.scheduler.extender import Extender
from numalign.server.metrics import Metrics
from numalign.server.nodes import Reload
from numalign.server.service import Receive, RefusedError, Reply, Scope, Service, say
from numalign.server.wire import BadRequestError, filter_result, priorities, read_args
from numalign.values import NamedTuple

LARGE_BODY_BYTES: Final = 1 << 20
"""A body of so many bytes is worked on in a thread, so that others are answered meanwhile."""
VERBS: Final = ("filter", "prioritize")


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


class _Body:
    """A body as it comes."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0


class App(Service):
    """Answers kube-scheduler."""

    paths = (*VERBS, *Service.paths)

    def __init__(
        self, nodes: Nodes, prefix: str = "/v1", limits: Limits | None = None, hosts: Set[str] = frozenset()
    ) -> None:
        """Know the nodes.

        Args:
            nodes: what is known of them.
            prefix: the path of urlPrefix.
            limits: what one client may ask.
            hosts: names by which the server may be asked.
        """
        super().__init__(hosts)
        self.nodes = nodes
        self.metrics = Metrics()
        self._prefix = prefix.rstrip("/")
        self._limits = limits or Limits()
        self._room = asyncio.Condition()
        self.held = 0
        """Bytes of all bodies that are held now."""
        self._bodies: list[_Body] = []
        """Those that are held, the first that came first."""
        self._large = asyncio.Lock()

    @property
    def about(self) -> dict[str, object]:
        """How many nodes it knows."""
        return {"nodes": len(self.nodes.extender)}

    async def metrics_text(self) -> str:
        """Write what was counted, and how old the data are."""
        return self.metrics.text(len(self.nodes.extender), self.nodes.age, len(self.nodes.stale))

    async def look(self) -> bool:
        """Read the nodes that have changed."""
        result = await asyncio.to_thread(self.nodes.reload)
        if result.changed:
            self.metrics.reloads += 1
            say({"level": "info", "event": "reloaded", **self.about})
        elif result.error:
            self.metrics.failed_reloads += 1
            say({"level": "error", "event": "reload failed, the known nodes stay in use", "error": result.error})
        return result.changed

    async def answer(self, scope: Scope, receive: Receive) -> Reply:
        """Answer a verb of the extender, or what every server is asked; `preempt` and `bind` are not offered (E-10)."""
        verb = self._verb(scope["path"])
        if verb is None:
            return await super().answer(scope, receive)
        start = monotonic()
        log: dict[str, object] = {"verb": verb, "method": scope["method"]}
        try:
            reply = Reply(200, "application/json", await self._answered(scope, receive, verb, log))
        except RefusedError as refused:
            reply = refused.reply
            log["error"] = str(refused)
        seconds = monotonic() - start
        self.metrics.answered(verb, reply.status, seconds)
        weight = "info" if reply.status < 400 else "warning"
        say({"level": weight, **log, "status": reply.status, "ms": round(seconds * 1e3, 3)})
        return reply

    def _verb(self, path: str) -> str | None:
        """Name the verb of an extender call; None: the path is none."""
        if not path.startswith(f"{self._prefix}/"):
            return None
        verb = path.removeprefix(f"{self._prefix}/").rstrip("/")
        return verb if verb in VERBS else None

    async def _answered(self, scope: Scope, receive: Receive, verb: str, log: dict[str, object]) -> bytes:
        self.check_host(scope)
        if scope["method"] != "POST":
            raise RefusedError(405, "expected POST")
        length = _length(scope)
        if length is not None and length > self._limits.body:
            raise RefusedError(413, f"a body may have at most {self._limits.body} bytes")
        coming = _Body()
        try:
            await self._receive(receive, coming)
            body = b"".join(coming.parts)
            log["bytes"] = len(body)
            if len(body) <= LARGE_BODY_BYTES:
                return self._work(verb, body, log)
            async with self._large:  # what is made of one takes many times its bytes
                return await asyncio.to_thread(self._work, verb, body, log)
        except BadRequestError as error:
            raise RefusedError(400, str(error)) from None
        finally:
            async with self._room:
                self.held -= coming.size
                self._bodies = [one for one in self._bodies if one is not coming]
                self._room.notify_all()

    async def _take(self, part: bytes, coming: _Body) -> None:
        """Take a part of a body that came, once there is room for it: for the body that came first there always is."""
        if coming.size + len(part) > self._limits.body:
            raise RefusedError(413, f"a body may have at most {self._limits.body} bytes")
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
                        raise RefusedError(400, "the client went away")
                    await self._take(message.get("body", b""), coming)
                    if not message.get("more_body"):
                        return
        except TimeoutError:
            raise RefusedError(408, f"the body did not arrive within {self._limits.body_seconds:g} s") from None

    def _work(self, verb: str, body: bytes, log: dict[str, object]) -> bytes:
        args, extender = read_args(body), self.nodes.extender
        log["nodes"] = len(args.names)
        asked = args.pod, args.names, self.nodes.stale, args.objects
        if verb == "prioritize":
            return priorities(extender.prioritize(*asked))
        answer = extender.filter(*asked)
        log["passed"] = len(answer.passed)
        self.metrics.judged(answer)
        return filter_result(args, answer)


def _length(scope: Scope) -> int | None:
    """Read Content-Length; None: the body comes in chunks."""
    value = next((value for name, value in scope["headers"] if name == b"content-length"), b"")
    return int(value) if value.isdigit() and len(value) < 19 else None
