"""What `kubectl get nodes,noderesourcetopologies,pods -A -o json` printed, read item by item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from numalign.errors import InputError, Notice
from numalign.model.path import FieldError, Path, blaming, dotted
from numalign.scheduler.nrt.value import KIND as NRT_KIND
from numalign.sources.cluster import nrt, topology
from numalign.sources.cluster.nrt import ReadNRT
from numalign.sources.cluster.objects import Ended, NodeRead, PodRead, PodReader, is_of, read_node
from numalign.sources.cluster.stream import HEAD_BYTES, Readable, Rejoined, is_json, items
from numalign.sources.cluster.topology import CPUTopologyRead
from numalign.sources.text import mapping
from numalign.sources.text.yaml import MAX_INPUT, FilePath, load_documents, shown_name
from numalign.store.reading import reading as opened
from numalign.values import NamedTuple


class Dump(NamedTuple):
    """The objects of a cluster, by node."""

    nodes: Mapping[str, NodeRead]
    nrts: Mapping[str, ReadNRT] = {}
    topologies: Mapping[str, CPUTopologyRead] = {}
    """From Volcano and Koordinator: they know CPU ids."""
    pods: Mapping[str, Sequence[PodRead]] = {}
    """Pods by node, in the order of the dump."""
    ended: Mapping[str, Sequence[tuple[str, str]]] = {}
    """(namespace, name) of the pods that have ended, by node."""
    notices: tuple[Notice, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Every node that some object names, Nodes first, in the order of the dump."""
        return tuple(dict.fromkeys([*self.nodes, *self.nrts, *self.topologies, *self.pods]))


def gathered(
    nodes: Mapping[str, NodeRead],
    nrts: Mapping[str, ReadNRT],
    topologies: Mapping[str, CPUTopologyRead],
    pods: Iterable[PodRead | Ended],
    notices: Iterable[Notice],
) -> Dump:
    """Put the objects of a cluster together, its pods by node."""
    bound: dict[str, list[PodRead]] = {}
    gone: dict[str, list[tuple[str, str]]] = {}
    for one in pods:
        if isinstance(one, Ended):
            gone.setdefault(one.node, []).append(one.pod)
        else:
            bound.setdefault(one.node, []).append(one)
    left_out = (Notice("topology-left-out", text, one.name) for one in topologies.values() for text in one.left_out)
    return Dump(nodes, nrts, topologies, bound, gone, notices=(*notices, *left_out))


def read_dump(path: FilePath) -> Dump:
    """Read a dump; `-` is standard input. YAML is read too, within the bounds of files that people write.

    Raises:
        InputError: it cannot be read, an object is wrong, or there is no object of a cluster in it.
    """
    name = shown_name(path)
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
        self._pods: list[PodRead | Ended] = []
        self._reader = PodReader()
        self._others: Counter[str] = Counter()
        self._unbound = 0
        self._notices: list[Notice] = []
        self._broken: list[str] = []
        """The nodes whose topology object cannot be read."""

    def take(self, thing: object, path: Path) -> None:
        """Take one object.

        Raises:
            InputError: a field of it is wrong, or it is there twice.
        """
        with blaming(lambda path: f"{self._name}: {dotted(path)}"):
            if isinstance(thing, Mapping):
                self._take(thing, path)
            else:
                raise FieldError(path, "expected an object")

    def _take(self, thing: Mapping[str, object], path: Path) -> None:
        kind = thing.get("kind")
        if kind == "Pod":
            pod = self._reader.read(thing, path)
            self._unbound += not isinstance(pod, PodRead)
            self._pods += [pod] if pod else []
        elif kind == "Node":
            node = read_node(thing, path)
            self._once(self._nodes, node.name, path)
            self._nodes[node.name] = node
        elif is_of(thing, NRT_KIND, nrt.GROUP):
            read = self._object(thing, path)
            if read is None:
                return
            self._nrts[read.nrt.name] = read
            self._notices += [one._replace(path=f"{read.nrt.name}: {one.path}") for one in read.notices]
            detail = topology.read_koordinator(thing, path)
            if detail is not None:
                self._topologies[read.nrt.name] = detail
        elif is_of(thing, topology.KIND, topology.GROUP):
            detail = topology.read_numatopology(thing, path)
            self._once(self._topologies, detail.name, path)
            self._topologies[detail.name] = detail
        else:
            self._others[str(kind)[:40]] += 1

    def _object(self, thing: Mapping[str, object], path: Path) -> ReadNRT | None:
        """Read a topology object; one that says nothing to rely on costs its node, not all others."""
        name = mapping(thing, "metadata").get("name")
        try:
            found = nrt.read_nrt(thing, path)
            self._once(self._nrts, found.nrt.name, path)
        except FieldError as error:
            if not isinstance(name, str) or not name:
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
        return gathered(self._nodes, self._nrts, self._topologies, self._pods, self._notices)
