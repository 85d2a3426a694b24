"""The nodes, pods and topology objects of a cluster, as its API server has them now: listed, then watched.

Each kind has a thread of its own. A watch that breaks goes on where it ended; where the server does not know that
place any more (410 Gone), is silent or lies, the kind is listed anew. What is known stays until the new list is whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from random import uniform
from threading import Event, Lock, Thread
from time import monotonic
from typing import Final

from numalign.errors import InputError, Notice
from numalign.model.path import FieldError
from numalign.sources.cluster import nrt, topology
from numalign.sources.cluster.api import APIError, Data, Server, events, get
from numalign.sources.cluster.dump import Dump, gathered
from numalign.sources.cluster.nrt import ReadNRT
from numalign.sources.cluster.objects import Ended, NodeRead, PodRead, PodReader, read_node
from numalign.sources.cluster.topology import CPUTopologyRead
from numalign.values import NamedTuple

PAGE: Final = 500
"""Objects of a page of a list."""
MAX_OBJECTS: Final = 1_000_000
"""Objects of a kind."""
WATCH_SECONDS: Final = 300
"""After which the server should end a watch, so that connections move on to other servers."""
SILENCE_SECONDS: Final = 90.0
"""An API server sends a bookmark each minute; one that says nothing for longer counts as gone."""
MISSING_SECONDS: Final = 60.0
"""How often a kind is looked for that the cluster does not have."""
LONGEST_PAUSE: Final = 30.0
"""Seconds between two attempts, at most; they begin with one second."""

Key = tuple[str, str]
"""Namespace and name."""
Say = Callable[[dict[str, object]], None]
"""Takes a line of the log."""
Reader = Callable[[Data], Sequence[object]]
"""Reads what there is to know of an object; empty: nothing."""


class Kind(NamedTuple):
    """A kind of objects."""

    name: str
    path: str
    reader: Callable[[], Reader]
    """Makes what reads the objects, anew for each watch, since a reader may remember."""
    query: Mapping[str, str] = {}
    optional: bool = False
    """A cluster may do without it."""


def _pods() -> Reader:
    reader = PodReader()

    def read(thing: Data) -> Sequence[object]:
        found = reader.read(thing)
        return () if found is None else (found,)

    return read


def _nrt(thing: Data) -> Sequence[object]:
    detail = topology.read_koordinator(thing)
    return (nrt.read_nrt(thing), *([] if detail is None else [detail]))


KINDS: Final = (
    Kind("Node", "/api/v1/nodes", lambda: lambda thing: (read_node(thing),)),
    Kind("Pod", "/api/v1/pods", _pods, {"fieldSelector": "spec.nodeName!="}),
    Kind("NodeResourceTopology", f"/apis/{nrt.GROUP}/{nrt.VERSION}/noderesourcetopologies", lambda: _nrt, {}, True),
    Kind(
        topology.KIND,
        f"/apis/{topology.GROUP}/v1alpha1/numatopologies",
        lambda: lambda thing: (topology.read_numatopology(thing),),
        optional=True,
    ),
)
"""What is watched; deploy/extender lets a pod do so."""


class Mirror:
    """The objects of one kind."""

    def __init__(self, kind: Kind, server: Server, say: Say) -> None:
        """Know nothing yet; `run` fills it."""
        self.kind = kind
        self._server = server
        self._say = say
        self._read = kind.reader()
        self._objects: dict[Key, Sequence[object]] = {}
        self._lock = Lock()
        self._version = ""
        """From which a watch goes on; empty: the kind has to be listed."""
        self._pause = 0.0
        self.changes = 0
        """How often something became known, or is no more."""
        self.alive = 0.0
        """When the server last said that all else is still true, by `monotonic`."""
        self.listed = Event()
        self.error = ""
        """What last went wrong."""

    def objects(self) -> list[object]:
        """Return what is known, in the order in which the server lists."""
        with self._lock:
            found = dict(self._objects)
        return [part for key in sorted(found) for part in found[key]]

    def run(self, stop: Event) -> None:
        """List and watch until told to stop."""
        while not stop.is_set():
            start = monotonic()
            try:
                if not self._version:
                    self._list()
                self._watch(stop)
                self._pause = max(start + 1 - monotonic(), 0.0)
            except APIError as error:
                self._failed(error)
            except Exception as error:  # whatever it is, a watch goes on: what is known would else stay for ever
                self._failed(APIError(f"bug: {error!r:.200}"))
            stop.wait(self._pause)

    def _failed(self, error: APIError) -> None:
        if error.lost:
            self._version = ""
        if error.status == HTTPStatus.NOT_FOUND and self.kind.optional:
            self._replace({}, monotonic())
            self._pause = MISSING_SECONDS
            return
        self._pause = min(max(2 * self._pause, 1.0), LONGEST_PAUSE) * uniform(0.8, 1)  # noqa: S311 (no secret)
        self.error = str(error)
        self._say({"level": "warning", "event": "watch interrupted", "kind": self.kind.name, "error": self.error})

    def _list(self) -> None:
        """Replace all that is known, once the last page is there."""
        start, fresh, version, seen = monotonic(), {}, "", 0
        self._read = self.kind.reader()
        query = {**self.kind.query, "limit": str(PAGE)}
        while True:
            page = get(self._server, self.kind.path, query)
            about, items = _part(page, "metadata"), page.get("items") or []
            if page.get("kind") != f"{self.kind.name}List" or not isinstance(items, list):
                raise APIError(f"expected a {self.kind.name}List")
            for thing in items:
                fresh[_key(thing)] = self._parts(thing)
            version = version or _text(about, "resourceVersion")
            seen += len(items)
            if not about.get("continue"):
                break
            token = _text(about, "continue")
            if not items or token == query.get("continue") or seen > MAX_OBJECTS:
                raise APIError(f"a list does not end: {seen} objects")
            query["continue"] = token
        self._replace(fresh, start)
        self._version = version

    def _replace(self, fresh: dict[Key, Sequence[object]], when: float) -> None:
        fresh = {key: parts for key, parts in fresh.items() if parts}
        with self._lock:
            self.changes += fresh != self._objects
            self._objects = fresh
        self.alive = when
        self.listed.set()

    def _watch(self, stop: Event) -> None:
        """Take events until the server ends the watch, or it has lasted twice as long as it should."""
        end = monotonic() + 2 * WATCH_SECONDS
        self._read = self.kind.reader()
        about = {"resourceVersion": self._version, "allowWatchBookmarks": "true", "timeoutSeconds": str(WATCH_SECONDS)}
        for event in events(self._server, self.kind.path, {**self.kind.query, **about}, SILENCE_SECONDS):
            if event is not None:
                self._take(event)
                self._pause = 0.0
            self.alive = monotonic()
            if stop.is_set() or self.alive > end:
                return

    def _take(self, event: Data) -> None:
        """Take one event; it may come a second time after a break.

        Raises:
            APIError: it is none, or says that the watch has to begin anew.
        """
        kind, thing = event.get("type"), _part(event, "object")
        if kind == "ERROR":
            raise APIError(f"the watch ended: {thing.get('message')!s:.200}")
        if kind not in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK") or thing.get("kind") != self.kind.name:
            raise APIError(f"unexpected event: {kind!s:.40} {thing.get('kind')!s:.40}")
        version = _text(_part(thing, "metadata"), "resourceVersion")
        if kind != "BOOKMARK":
            key = _key(thing)
            parts = () if kind == "DELETED" else self._parts(thing)
            with self._lock:
                if parts != self._objects.get(key, ()):
                    self.changes += 1
                    self._objects.pop(key, None)
                    if parts:
                        self._objects[key] = parts
        self._version = version

    def _parts(self, thing: Data) -> Sequence[object]:
        """Read an object; of one that cannot be read, only this is known."""
        try:
            return self._read(thing)
        except (FieldError, InputError) as error:
            text = error.message
        except Exception as error:  # one object must not end the watch of all
            text = f"bug: {error!r:.200}"
        return (Notice("objects-passed-over", f"skipped a {self.kind.name}: {text}", "/".join(_key(thing))),)


def _part(thing: Data, name: str) -> Data:
    part = thing.get(name)
    if not isinstance(part, Mapping):
        raise APIError(f"{name}: expected an object")
    return part


def _text(thing: Data, name: str) -> str:
    text = thing.get(name)
    if not isinstance(text, str) or not text:
        raise APIError(f"{name}: expected a text")
    return text


def _key(thing: object) -> Key:
    about = _part(thing, "metadata") if isinstance(thing, Mapping) else {}
    return str(about.get("namespace") or ""), _text(about, "name")


class Cluster:
    """All kinds of a cluster."""

    def __init__(self, server: Server, say: Say) -> None:
        """Know nothing yet; `start` begins to watch."""
        self._mirrors = [Mirror(kind, server, say) for kind in KINDS]
        self._stop = Event()

    def start(self, seconds: float) -> None:
        """Begin to watch, each kind in a thread of its own, and wait until all are listed.

        Raises:
            InputError: some are not, so many seconds later.
        """
        for one in self._mirrors:
            Thread(target=one.run, args=(self._stop,), name=one.kind.name, daemon=True).start()
        end = monotonic() + seconds
        for one in self._mirrors:
            if not one.listed.wait(max(end - monotonic(), 0.0)):
                self.stop()
                raise InputError(f"the API server did not list {one.kind.path}: {one.error or 'no answer'}", "--watch")

    def stop(self) -> None:
        """Let the threads end, at the next word of the server."""
        self._stop.set()

    @property
    def changes(self) -> int:
        """How often something became known, or is no more."""
        return sum(one.changes for one in self._mirrors)

    @property
    def alive(self) -> float:
        """Until when all that is known was true, by `monotonic`."""
        return min(one.alive for one in self._mirrors)

    def dump(self) -> Dump:
        """Return what is known now."""
        parts = [part for one in self._mirrors for part in one.objects()]
        nrts = {one.nrt.name: one for one in parts if isinstance(one, ReadNRT)}
        notices = [one for one in parts if isinstance(one, Notice)]
        return gathered(
            {one.name: one for one in parts if isinstance(one, NodeRead)},
            nrts,
            {one.name: one for one in parts if isinstance(one, CPUTopologyRead)},
            [one for one in parts if isinstance(one, PodRead | Ended)],
            [*notices, *(notice for found in nrts.values() for notice in found.notices)],
        )
