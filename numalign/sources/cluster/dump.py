"""What `kubectl get nodes,noderesourcetopologies,pods -A -o json` printed, read item by item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from numalign.errors import InputError, Notice
from numalign.model.path import FieldError, Path, dotted
from numalign.sources.cluster import nrt, topology
from numalign.sources.cluster.nrt import ReadNRT
from numalign.sources.cluster.objects import NodeRead, PodRead, PodReader, ended, read_node
from numalign.sources.cluster.stream import HEAD_BYTES, Readable, Rejoined, is_json, items
from numalign.sources.cluster.topology import CPUTopologyRead
from numalign.sources.text.yaml import MAX_INPUT, STDIN, FilePath, load_documents
from numalign.store.reading import reading as opened
from numalign.values import NamedTuple


class Dump(NamedTuple):
    """The objects of a cluster, by node."""

    nodes: Mapping[str, NodeRead]
    nrts: Mapping[str, ReadNRT]
    topologies: Mapping[str, CPUTopologyRead]
    """From Volcano and Koordinator: they know CPU ids."""
    pods: Mapping[str, tuple[PodRead, ...]]
    """Pods by node, in the order of the dump."""
    ended: Mapping[str, Sequence[tuple[str, str]]]
    """(namespace, name) of the pods that have ended, by node."""
    notices: tuple[Notice, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Every node that some object names, Nodes first, in the order of the dump."""
        return tuple(dict.fromkeys([*self.nodes, *self.nrts, *self.topologies, *self.pods]))


def read_dump(path: FilePath) -> Dump:
    """Read a dump; `-` is standard input. YAML is read too, within the bounds of files that people write.

    Raises:
        InputError: it cannot be read, an object is wrong, or there is no object of a cluster in it.
    """
    name = STDIN if str(path) == "-" else str(path)
    with opened(path, name) as file:
        return read_open(file, name)


def read_open(file: Readable, name: str) -> Dump:
    """Read a dump of an open file, which errors call `name`."""
    reading = _Reading(name)
    head = file.read(HEAD_BYTES)
    if is_json(head):
        for place, one in enumerate(items(Rejoined(head, file), name)):
            reading.take(one.data, ("items", place))
    else:
        for document in load_documents(head + file.read(MAX_INPUT + 1), name):
            data = document.data
            listed = data.get("items") if isinstance(data, Mapping) and "items" in data else None
            for place, thing in enumerate(listed if isinstance(listed, list) else [data]):
                reading.take(thing, ("items", place) if listed else ())
    return reading.done()


class _Reading:
    """Collects the objects of a dump."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._nodes: dict[str, NodeRead] = {}
        self._nrts: dict[str, ReadNRT] = {}
        self._topologies: dict[str, CPUTopologyRead] = {}
        self._pods: dict[str, list[PodRead]] = {}
        self._reader = PodReader()
        self._others: dict[str, int] = {}
        self._unbound = 0
        self._ended: dict[str, list[tuple[str, str]]] = {}
        self._notices: list[Notice] = []
        self._broken: list[str] = []
        """The nodes whose topology object cannot be read."""

    def take(self, thing: object, path: Path) -> None:
        """Take one object.

        Raises:
            InputError: a field of it is wrong, or it is there twice.
        """
        try:
            if isinstance(thing, Mapping):
                self._take(thing, path)
            else:
                raise FieldError(path, "expected an object")
        except FieldError as error:
            raise InputError(error.message, f"{self._name}: {dotted(error.path)}") from None

    def _take(self, thing: Mapping[str, object], path: Path) -> None:
        kind = thing.get("kind")
        if kind == "Pod":
            pod = self._reader.read(thing, path)
            if pod is None:
                self._unbound += 1
                gone = ended(thing)
                if gone is not None:
                    self._ended.setdefault(gone.node, []).append(gone.pod)
            else:
                self._pods.setdefault(pod.node, []).append(pod)
        elif kind == "Node":
            node = read_node(thing, path)
            self._once(self._nodes, node.name, path)
            self._nodes[node.name] = node
        elif nrt.is_nrt(thing):
            found = self._object(thing, path)
            if found is None:
                return
            self._nrts[found.nrt.name] = found
            self._notices += [one._replace(path=f"{found.nrt.name}: {one.path}") for one in found.notices]
            detail = topology.read_koordinator(thing, path)
            if detail is not None:
                self._topologies[found.nrt.name] = detail
        elif topology.is_numatopology(thing):
            detail = topology.read_numatopology(thing, path)
            self._once(self._topologies, detail.name, path)
            self._topologies[detail.name] = detail
        else:
            self._others[str(kind)[:40]] = self._others.get(str(kind)[:40], 0) + 1

    def _object(self, thing: Mapping[str, object], path: Path) -> ReadNRT | None:
        """Read a topology object; one that says nothing to rely on costs its node, not all others."""
        name = nrt.name_of(thing)
        try:
            found = nrt.read_nrt(thing, path)
            self._once(self._nrts, found.nrt.name, path)
        except FieldError as error:
            if not name:
                raise
            self._nrts.pop(name, None)
            self._broken.append(name)
            where = dotted(error.path[len(path) :])
            text = f"NUMA nodes unknown: {where}: {error.message}"
            self._notices.append(Notice("nrt-unreadable", text, name))
            return None
        return None if name in self._broken else found

    def _once(self, known: Iterable[str], name: str, path: Path) -> None:
        if name in known:
            raise FieldError((*path, "metadata", "name"), f'duplicate "{name}"')

    def done(self) -> Dump:
        """Return what was found.

        Raises:
            InputError: there was no Node and no topology object.
        """
        if not (self._nodes or self._nrts or self._topologies or self._broken):
            raise InputError(
                "no Node and no NodeResourceTopology found; "
                "fix: kubectl get nodes,noderesourcetopologies,pods -A -o json",
                self._name,
            )
        if self._unbound:
            text = f"skipped {self._unbound} pods that have no node or have ended"
            self._notices.append(Notice("pods-passed-over", text))
        for kind, count in self._others.items():
            self._notices.append(Notice("objects-passed-over", f"skipped {count} objects of kind {kind}"))
        for found in self._topologies.values():
            self._notices += [Notice("topology-left-out", text, found.name) for text in found.left_out]
        return Dump(
            nodes=self._nodes,
            nrts=self._nrts,
            topologies=self._topologies,
            pods={node: tuple(pods) for node, pods in self._pods.items()},
            ended=self._ended,
            notices=tuple(self._notices),
        )
