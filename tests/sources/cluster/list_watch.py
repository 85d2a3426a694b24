"""An API server of the tests' own: lists in pages, watches with bookmarks, and every way to go wrong.

What goes wrong is said request by request: `trouble` takes a function that gets the request's path and query, and names
one of `TROUBLES`, or nothing.
"""

from __future__ import annotations

import json
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count, cycle
from threading import Condition, Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

from numalign.sources.cluster.api import Server
from numalign.sources.cluster.watch import KINDS

Object = dict[str, Any]
PATHS = {kind.path: kind.name for kind in KINDS}
TROUBLES = (
    *("refused", "error 500", "forbidden", "gone", "garbage", "cut", "cut line", "reset", "silent", "drips", "no end"),
    *("wrong kind", "no version", "no name", "unknown event", "error event", "gone event", "empty", "twice"),
)
"""What a server can do in place of what it should; some concern lists only, or watches only."""
GONE = ("ERROR", {"kind": "Status", "code": 410, "message": "too old resource version"})


class APIServer:
    """Objects, and the history of what happened to them."""

    def __init__(self, keep: int = 1000) -> None:
        self.keep = keep
        """So many events are remembered; who asks for earlier ones is told 410 Gone."""
        self.version = 1
        self.objects: dict[str, dict[tuple[str, str], Object]] = {name: {} for name in PATHS.values()}
        self.history: list[tuple[int, str, str, Object]] = []
        self.missing: set[str] = set()
        """Kinds that the cluster does not have."""
        self.trouble: Callable[[str, Mapping[str, str]], str] = lambda _path, _query: ""
        self.asked: list[tuple[str, Mapping[str, str], str]] = []
        """Path, query and `Authorization` of every request."""
        self.bookmark_seconds = 0.05
        self.changed = Condition()
        self.stopped = False
        self._tokens = count()
        self._lists: dict[str, tuple[int, list[Object]]] = {}

    def put(self, kind: str, thing: Object) -> None:
        """Create an object or replace it."""
        with self.changed:
            self.version += 1
            key = thing["metadata"].get("namespace", ""), thing["metadata"]["name"]
            event = "MODIFIED" if key in self.objects[kind] else "ADDED"
            about = {**thing["metadata"], "resourceVersion": str(self.version)}
            self.objects[kind][key] = {**thing, "kind": kind, "metadata": about}
            self._happened(kind, event, self.objects[kind][key])

    def delete(self, kind: str, name: str, namespace: str = "") -> None:
        """Delete an object."""
        with self.changed:
            self.version += 1
            thing = self.objects[kind].pop((namespace, name))
            about = {**thing["metadata"], "resourceVersion": str(self.version)}
            self._happened(kind, "DELETED", {**thing, "metadata": about})

    def _happened(self, kind: str, event: str, thing: Object) -> None:
        self.history = [*self.history, (self.version, kind, event, thing)][-self.keep :]
        self.changed.notify_all()

    def forget(self) -> None:
        """Forget all that happened, as etcd does when it is compacted."""
        with self.changed:
            self.version += 1
            self.history = []

    @property
    def oldest(self) -> int:
        """From which version on a watch may begin."""
        return self.history[0][0] - 1 if self.history else self.version

    def page(self, kind: str, query: Mapping[str, str]) -> Object | None:
        """Give a page of a list as it was when its first page was given; None: nobody remembers."""
        with self.changed:
            token, _, place = query.get("continue", f"{next(self._tokens)}/0").partition("/")
            if "continue" not in query:
                things = [one for _, one in sorted(self.objects[kind].items())]
                self._lists = {**dict([*self._lists.items()][-50:]), token: (self.version, things)}
            if token not in self._lists:
                return None
            version, things = self._lists[token]
            start, size = int(place), int(query.get("limit", "0")) or len(things)
            items = [{name: part for name, part in one.items() if name != "kind"} for one in things]
            more = start + size < len(items)
            about = {"resourceVersion": str(version)} | ({"continue": f"{token}/{start + size}"} if more else {})
            return {"kind": f"{kind}List", "metadata": about, "items": items[start : start + size]}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    api: APIServer

    def log_message(self, *_: object) -> None: ...

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        self.api.asked.append((parts.path, query, self.headers.get("Authorization", "")))
        self.close_connection = True
        trouble = self.api.trouble(parts.path, query)
        with suppress(OSError):
            self._answer(PATHS.get(parts.path, ""), query, trouble)

    def _answer(self, kind: str, query: Mapping[str, str], trouble: str) -> None:
        statuses = {"error 500": 500, "forbidden": 403, "gone": 410}
        if trouble in statuses or not kind or kind in self.api.missing:
            self._status(statuses.get(trouble, 404))
        elif trouble in ("refused", "reset"):
            if trouble == "reset":
                self.wfile.write(b"HTTP/1.1 200")
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            self.connection.close()
        elif query.get("watch"):
            self._watch(kind, query, trouble)
        else:
            self._list(kind, query, trouble)

    def _status(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _list(self, kind: str, query: Mapping[str, str], trouble: str) -> None:
        page = self.api.page(kind, query)
        if page is None:
            self._status(410)
            return
        if trouble == "wrong kind":
            page["kind"] = "SecretList"
        elif trouble == "no version":
            page["metadata"].pop("resourceVersion")
        elif trouble == "no end":
            page["metadata"]["continue"] = query.get("continue", "x/0")
        elif trouble == "no name":
            page["items"] = [{"metadata": {}}]
        elif trouble == "empty":
            page |= {"items": [], "metadata": {"resourceVersion": "1", "continue": "x/0"}}
        elif trouble == "twice":
            page["items"] = [*page["items"], *page["items"]]
        body = json.dumps(page).encode() if trouble != "garbage" else b"\xff{["
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if trouble in ("cut", "cut line", "silent"):
            self.wfile.write(body[: len(body) // 2])
            self._wait(trouble == "silent")
            return
        if trouble == "drips":
            self._drip(body)
        self.wfile.write(body)

    def _drip(self, data: bytes, write: Callable[[bytes], object] | None = None) -> None:
        """Send a byte now and then: the connection is never silent for long, and nothing ever ends."""
        for place in cycle(range(len(data) - 1)):
            if self.api.stopped:
                return
            (write or self.wfile.write)(data[place : place + 1].replace(b"\n", b" "))
            time.sleep(0.02)

    def _wait(self, long: bool) -> None:
        while long and not self.api.stopped:
            time.sleep(0.02)

    def _watch(self, kind: str, query: Mapping[str, str], trouble: str) -> None:
        since = int(query["resourceVersion"])
        self._start()
        if trouble == "silent":
            self._wait(True)
        for place, (event, thing) in enumerate(self._events(kind, since)):
            bad = trouble if place == 0 else ""
            if bad == "drips":
                self._drip(json.dumps(thing).encode(), self._chunk)
            if bad == "error event":
                self._event("ERROR", {"kind": "Status", "code": 500, "message": "etcdserver: no leader"})
                return
            if bad == "gone event":
                event, thing = GONE
            if bad == "garbage":
                self._chunk(b"\xff{[\n")
            elif bad == "cut line":
                self._chunk(json.dumps({"type": event, "object": thing}).encode()[:-9])
                return
            elif bad == "unknown event":
                self._event("RENAMED", thing)
            elif bad == "wrong kind":
                self._event(event, {**thing, "kind": "Secret"})
            elif bad == "no version":
                self._event(event, {**thing, "metadata": {"name": "x"}})
            elif bad == "no name":
                self._event("ADDED", {**thing, "metadata": {"resourceVersion": "1"}})
            elif bad == "twice":
                self._event(event, thing)
            self._event(event, thing)
            if trouble == "cut" or event == "ERROR":
                return
            if trouble == "no end":
                self._chunk(b"\n")

    def _events(self, kind: str, since: int) -> Iterator[tuple[str, Object]]:
        """Yield what happened since, a bookmark where nothing does."""
        while not self.api.stopped:
            with self.api.changed:
                new = [one for one in self.api.history if one[0] > since and one[1] == kind]
                if not new:
                    self.api.changed.wait(self.api.bookmark_seconds)
                    new = [one for one in self.api.history if one[0] > since and one[1] == kind]
                now, gone = self.api.version, since < self.api.oldest
            if gone:
                yield GONE
                return
            for version, _, event, thing in new:
                since = version
                yield event, thing
            if not new:
                since = now
                yield "BOOKMARK", {"kind": kind, "metadata": {"resourceVersion": str(now)}}

    def _start(self) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _event(self, kind: str, thing: Object) -> None:
        self._chunk(json.dumps({"type": kind, "object": thing}).encode() + b"\n")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()


class _Listening(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 50

    def handle_error(self, *_: object) -> None: ...


@contextmanager
def listening(api: APIServer, context: ssl.SSLContext | None = None) -> Iterator[Server]:
    """Answer on a port of loopback."""
    handler = type("Handler", (_Handler,), {"api": api})
    server = _Listening(("127.0.0.1", 0), handler)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield Server("127.0.0.1", server.server_address[1])
    finally:
        api.stopped = True
        server.shutdown()
        server.server_close()


def node(name: str, cpus: int = 8, **labels: str) -> Object:
    """Write a Node."""
    return {
        "metadata": {"name": name, "labels": labels},
        "status": {"allocatable": {"cpu": str(cpus), "memory": "8Gi", "pods": "110"}, "nodeInfo": {}},
    }


def pod(name: str, on: str = "a", cpus: int = 1, phase: str = "Running") -> Object:
    """Write a Pod of namespace `d` that is bound to a node."""
    resources = {"limits": {"cpu": str(cpus), "memory": "1Gi"}}
    return {
        "metadata": {"name": name, "namespace": "d", "uid": name},
        "spec": {"nodeName": on, "containers": [{"name": "c", "resources": resources}]},
        "status": {"phase": phase},
    }
