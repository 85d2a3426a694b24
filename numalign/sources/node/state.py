"""A node that lives in a file: machine, kubelet, pods and what they hold, as plain data and back.

The document holds the managers' states themselves, so nothing is replayed when it is read, and a reader gets exactly
the node that was written: CPUs and memory that ended init containers leave to their pod, and what refused pods left,
included.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from numalign.errors import InputError
from numalign.kubelet.admission import Session, open_session
from numalign.kubelet.cpu.state import CPUState
from numalign.kubelet.device.state import DeviceManager, DeviceState, device_ids
from numalign.kubelet.fit import ActivePods
from numalign.kubelet.memory.state import Block, MemoryManager, MemoryState, machine_state
from numalign.kubelet.node import NodeState
from numalign.kubelet.proposals.table import FEEDBACK, PER_POD_POLICY, PREFERRED_SETS, with_proposals
from numalign.kubelet.releases.release import Kubelet, version_text
from numalign.kubelet.releases.table import kubelet, parse_version
from numalign.kubelet.setup import Base, Setup
from numalign.kubelet.topology.hints import TopologyHint
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.cpuset import CPUSetError, format_set, from_ids, ids, parse
from numalign.model.pod import NO_STATUS, Pod, PodStatus
from numalign.model.quantity import Quantity, canonical
from numalign.sources.kubelet import configuration
from numalign.sources.kubelet.dump import dump as dump_config
from numalign.sources.machine.dump import dump as dump_machine
from numalign.sources.machine.file import from_data
from numalign.store.state_file import Document, Kind
from numalign.values import NamedTuple

NODE_STATE = Kind("NodeState", 1)

_PROPOSALS = {proposal.label: proposal for proposal in (FEEDBACK, PREFERRED_SETS, PER_POD_POLICY)}


class NodeDocument(NamedTuple):
    """A node read from its document."""

    setup: Setup
    session: Session


def dump(setup: Setup, session: Session) -> Mapping[str, object]:
    """Write a node as plain data.

    Args:
        setup: how its kubelet was started.
        session: the node and everything on it.
    """
    state = session.state
    return {
        "machine": dump_machine(setup.machine),
        "base": setup.base,
        "kubeletVersion": version_text(setup.kubelet.version),
        "proposals": [proposal.label for proposal in setup.kubelet.proposals],
        "kubelet": dump_config(setup.config),
        "pods": [_manifest(pod) for pod in session.pods],
        "leftovers": list(state.leftovers),
        "hints": {uid: _dump_hint(hint) for uid, hint in state.hints.items()},
        "cpu": _dump_cpu(state.cpu),
        "memory": _dump_memory(session.node.memory, state.memory),
        "devices": _dump_devices(session.node.device, state.device),
    }


def load(document: Document, path: str) -> NodeDocument:
    """Read a node from plain data.

    Raises:
        InputError: the document is no node's, or contradicts itself; `where` is the file and the field.
        StartError: its kubelet would not start.
    """
    reader = _Reader(document, path)
    setup = reader.setup()
    session = open_session(setup)
    manager = session.node
    seen = [manager.read_pod(pod) for pod in reader.pods()]
    state = NodeState(
        (
            _load_devices(manager.device, reader.part("devices")),
            _load_cpu(reader.part("cpu")),
            _load_memory(manager.memory, reader.part("memory")),
        ),
        {pod.uid: demand for pod, demand in seen},
        leftovers=tuple(reader.texts("leftovers")),
        hints={uid: _load_hint(one) for uid, one in reader.hints().parts()},
    )
    return NodeDocument(setup, session._replace(state=state, pods=ActivePods([pod for pod, _ in seen])))


def _manifest(pod: Pod) -> dict[str, object]:
    """Write a pod so that it reads back as it is."""
    metadata: dict[str, object] = {"name": pod.name, "namespace": pod.namespace, "uid": pod.uid}
    optional = {"creationTimestamp": pod.created, "labels": pod.labels, "annotations": pod.annotations}
    metadata.update((key, value) for key, value in optional.items() if value)
    manifest: dict[str, object] = {"metadata": metadata, "spec": pod.spec}
    if pod.status != NO_STATUS:
        manifest["status"] = _status(pod.status)
    return manifest


def _status(status: PodStatus) -> dict[str, object]:
    """Write what a kubelet reads of a pod's status."""
    mappings = [{"containerName": owner, "resourceName": name} for owner, name in sorted(status.claimed)]
    written: dict[str, object] = {
        "qosClass": status.qos,
        "containerStatuses": _allocated(status.containers),
        "initContainerStatuses": _allocated(status.init_containers),
        "extendedResourceClaimStatus": {"requestMappings": mappings} if mappings else None,
    }
    return {key: value for key, value in written.items() if value}


def _allocated(statuses: Mapping[str, Mapping[str, Quantity]]) -> list[dict[str, object]]:
    return [
        {"name": name, "allocatedResources": {resource: canonical(amount) for resource, amount in amounts.items()}}
        for name, amounts in statuses.items()
    ]


def _dump_hint(hint: TopologyHint) -> dict[str, object]:
    nodes = None if hint.numa_affinity is None else list(ids(hint.numa_affinity))
    return {"numaNodes": nodes, "preferred": hint.preferred}


def _load_hint(part: _Part) -> TopologyHint:
    mask = None if part.data.get("numaNodes") is None else part.nodes("numaNodes")
    return TopologyHint(mask, preferred=part.data.get("preferred") is True)


def _dump_cpu(state: CPUState) -> dict[str, object]:
    return {
        "default": format_set(state.default),
        "assignments": {
            uid: {name: format_set(cpus) for name, cpus in held.items()} for uid, held in state.assignments.items()
        },
        "reuse": {"pod": state.reuse_uid, "cpus": format_set(state.reuse)},
        "pods": {uid: format_set(cpus) for uid, cpus in state.pods.items()},
    }


def _dump_memory(manager: MemoryManager, state: MemoryState) -> dict[str, object]:
    return {
        "nodes": machine_state(manager, state),
        "entries": {
            uid: {name: [_block(one) for one in blocks] for name, blocks in held.items()}
            for uid, held in state.entries.items()
        },
        "reuse": {
            "pod": state.reusable_pod,
            "blocks": [_block(Block(mask, kind, size)) for (mask, kind), size in state.reusable.items()],
        },
        "pods": {uid: [_block(one) for one in blocks] for uid, blocks in state.pods.items()},
    }


def _block(block: Block) -> dict[str, object]:
    return {"numaNodes": list(ids(block.mask)), "type": block.type, "bytes": block.size}


def _dump_devices(manager: DeviceManager, state: DeviceState) -> dict[str, object]:
    def named(held: Mapping[str, int]) -> dict[str, list[str]]:
        return {name: device_ids(manager.resources[name], members) for name, members in held.items()}

    return {
        "holdings": {
            uid: {name: named(held) for name, held in containers.items()} for uid, containers in state.holdings.items()
        },
        "reuse": {"pod": state.reusable_of, "devices": named(state.reusable)},
    }


class _Reader:
    """Takes the parts of a document; what is wrong is told with its place."""

    def __init__(self, document: Document, path: str) -> None:
        self._document = document
        self._path = path

    def error(self, field: str, wanted: str) -> InputError:
        return InputError(f"{field}: expected {wanted}; the file was changed by somebody else", self._path)

    def part(self, field: str) -> _Part:
        value = self._document.get(field)
        if not isinstance(value, dict):
            raise self.error(field, "a mapping")
        return _Part(value, field, self)

    def texts(self, field: str) -> list[str]:
        value = self._document.get(field)
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise self.error(field, "a list of texts")
        return value

    def hints(self) -> _Part:
        """Return the hints of pods that were allocated as a whole; a file of before there were any has none."""
        return self.part("hints") if "hints" in self._document else _Part({}, "hints", self)

    def setup(self) -> Setup:
        machine, _ = from_data(self._document.get("machine"), "state", lambda path: f"{self._path}: machine: {path}")
        loaded = configuration.from_data(self.part("kubelet").data, f"{self._path}: kubelet")
        base: Base = "kubelet" if self._document.get("base") == "kubelet" else "ideal"
        return Setup(machine, loaded.config, base, self._kubelet())

    def _kubelet(self) -> Kubelet:
        found = self._document.get("kubeletVersion")
        if not isinstance(found, str):
            raise self.error("kubeletVersion", 'a release like "1.32"')
        labels = self.texts("proposals")
        if not set(labels) <= set(_PROPOSALS):
            raise self.error("proposals", f"some of {', '.join(_PROPOSALS)}")
        return with_proposals(kubelet(parse_version(found)), [_PROPOSALS[label] for label in labels])

    def pods(self) -> tuple[Pod, ...]:
        value = self._document.get("pods")
        if not isinstance(value, list):
            raise self.error("pods", "a list of pods")
        pods = []
        for index, manifest in enumerate(value):
            try:
                pods.append(read_pod(manifest))
            except InputError as error:
                raise InputError(error.message, f"{self._path}: pods[{index}]: {error.where}") from None
        return tuple(pods)


class _Part(NamedTuple):
    """One mapping of a document."""

    data: Mapping[str, object]
    field: str
    reader: _Reader

    def part(self, key: str) -> _Part:
        value = self.data.get(key, {})
        if not isinstance(value, dict):
            raise self.error(key, "a mapping")
        return _Part(value, f"{self.field}.{key}", self.reader)

    def parts(self) -> Iterable[tuple[str, _Part]]:
        return ((key, self.part(key)) for key in self.data)

    def error(self, key: str, wanted: str) -> InputError:
        return self.reader.error(f"{self.field}.{key}", wanted)

    def text(self, key: str) -> str:
        value = self.data.get(key)
        if not isinstance(value, str):
            raise self.error(key, "a text")
        return value

    def cpus(self, key: str) -> int:
        try:
            return parse(self.text(key))
        except CPUSetError as error:
            raise self.error(key, f"a CPU list ({error})") from None

    def number(self, key: str) -> int:
        value = self.data.get(key)
        if type(value) is not int or value < 0:
            raise self.error(key, "a whole number")
        return value

    def texts(self, key: str) -> list[str]:
        value = self.data.get(key)
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise self.error(key, "a list of texts")
        return value

    def nodes(self, key: str) -> int:
        value = self.data.get(key)
        if not isinstance(value, list) or not all(type(one) is int and 0 <= one < 1 << 20 for one in value):
            raise self.error(key, "a list of NUMA node ids")
        return from_ids(value)

    def blocks(self, key: str) -> tuple[Block, ...]:
        value = self.data.get(key)
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            raise self.error(key, "a list of blocks")
        parts = [_Part(one, f"{self.field}.{key}[{index}]", self.reader) for index, one in enumerate(value)]
        return tuple([Block(one.nodes("numaNodes"), one.text("type"), one.number("bytes")) for one in parts])


def _load_cpu(part: _Part) -> CPUState:
    reuse, pods = part.part("reuse"), part.part("pods")
    return CPUState(
        part.cpus("default"),
        {uid: {name: held.cpus(name) for name in held.data} for uid, held in part.part("assignments").parts()},
        reuse.text("pod"),
        reuse.cpus("cpus"),
        {uid: pods.cpus(uid) for uid in pods.data},
    )


def _load_memory(manager: MemoryManager, part: _Part) -> MemoryState:
    length = manager.nodes.bit_length()
    counts, groups = [0] * length, [0] * length
    free = {name: [0] * length for name in manager.resources}
    reserved = {name: [0] * length for name in manager.resources}
    nodes = part.part("nodes")
    if sorted(nodes.data) != sorted(map(str, manager.node_ids)):
        raise part.error("nodes", "the NUMA nodes of the machine")
    for node in manager.node_ids:
        record = nodes.part(str(node))
        counts[node], groups[node] = record.number("numberOfAssignments"), record.nodes("cells")
        for name, table in record.part("memory").parts():
            if name not in free:
                raise record.error("memory", f"resources of the machine, not {name}")
            free[name][node], reserved[name][node] = table.number("free"), table.number("reserved")
    reuse, pods = part.part("reuse"), part.part("pods")
    return MemoryState(
        counts=tuple(counts),
        groups=tuple(groups),
        free=tuple([tuple(free[name]) for name in manager.resources]),
        reserved=tuple([tuple(reserved[name]) for name in manager.resources]),
        entries={uid: {name: held.blocks(name) for name in held.data} for uid, held in part.part("entries").parts()},
        reusable_pod=reuse.text("pod"),
        reusable={(block.mask, block.type): block.size for block in reuse.blocks("blocks")},
        pods={uid: pods.blocks(uid) for uid in pods.data},
    )


def _load_devices(manager: DeviceManager, part: _Part) -> DeviceState:
    allocated = dict.fromkeys(manager.resources, 0)

    def members(held: _Part) -> dict[str, int]:
        found = {}
        for name in held.data:
            if name not in manager.resources:
                raise held.error(name, "a resource of the machine")
            places = {device.id: place for place, device in enumerate(manager.resources[name].devices)}
            wanted = held.texts(name)
            if not set(wanted) <= set(places):
                raise held.error(name, "devices of the machine")
            found[name] = from_ids(places[one] for one in wanted)
        return found

    holdings = {
        uid: {name: members(held) for name, held in containers.parts()}
        for uid, containers in part.part("holdings").parts()
    }
    for containers in holdings.values():
        for held in containers.values():
            for name, devices in held.items():
                allocated[name] |= devices
    reuse = part.part("reuse")
    return DeviceState(
        holdings,
        {name: devices for name, devices in allocated.items() if devices},
        reuse.text("pod"),
        members(reuse.part("devices")),
    )
