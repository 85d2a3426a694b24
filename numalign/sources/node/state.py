"""A node that lives in a file: machine, kubelet, pods and what they hold, as plain data and back.

The document holds the managers' states themselves, so nothing is replayed when it is read, and a reader gets exactly
the node that was written: CPUs and memory that ended init containers leave to their pod, and what refused pods left,
included.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, get_args

from numalign.analysis.node.whole import contradictions
from numalign.errors import InputError, StartError
from numalign.kubelet.admission import Session, open_session
from numalign.kubelet.cpu.state import CPUState
from numalign.kubelet.device.state import DeviceManager, DeviceState, device_ids
from numalign.kubelet.fit import ActivePods
from numalign.kubelet.memory.state import Block, MemoryManager, MemoryState, machine_state
from numalign.kubelet.node import NodeState
from numalign.kubelet.releases.release import version_text
from numalign.kubelet.releases.table import kubelet, parse_version
from numalign.kubelet.setup import Base, Setup
from numalign.kubelet.topology.hints import TopologyHint
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.cpuset import MAX_ID, CPUSetError, format_set, from_ids, ids, parse
from numalign.model.document import (
    NEEDED,
    Data,
    Form,
    anything,
    as_dict,
    choice,
    field,
    fixed,
    inside,
    nullable,
    raw,
    read,
    record,
    write,
)
from numalign.model.document.values import boolean, integer, list_of, map_of, text, turned
from numalign.model.path import FieldError, dotted, unfit
from numalign.model.pod import NO_STATUS, Pod, PodStatus, ResizeStatus
from numalign.model.quantity import canonical
from numalign.sources.kubelet.fields import dump as dump_config
from numalign.sources.kubelet.fields import read_fields
from numalign.sources.machine.dump import dump as dump_machine
from numalign.sources.machine.file import from_data
from numalign.store.state_file import Document, Kind
from numalign.values import NamedTuple

NODE_STATE = Kind("NodeState", 1)
CHANGED: Final = "the file was changed outside numalign; fix: restore the file, or start with a new one"
"""What is said of a state that cannot be."""


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
        "proposals": [],
        "kubelet": dump_config(setup.config),
        "pods": [_manifest(pod) for pod in session.pods],
        "leftovers": list(state.leftovers),
        "hints": write(_HINTS, state.hints),
        "cpu": write(_CPU, state.cpu),
        "memory": write(_memory(session.node.memory), state.memory),
        "devices": write(_devices(session.node.device), state.device),
    }


def load(document: Document, path: str) -> NodeDocument:
    """Read a node from plain data.

    Raises:
        InputError: the document is no node's, contradicts itself, or its kubelet would not start; `where` is the file
            and the field.
    """
    try:
        return _load(document, path)
    except FieldError as error:
        wrong = f"expected {error.wanted}" if error.wanted else error.message
        place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.path)
        raise InputError(f"{wrong}; {CHANGED}", f"{path}: {place[1:]}") from None
    except StartError as error:
        raise InputError(f"its kubelet would not start: {error}; {CHANGED}", f"{path}: kubelet") from None


def _load(document: Document, path: str) -> NodeDocument:
    data = _NODE.read(document)
    setup = _setup(data, path)
    session = open_session(setup)
    manager = session.node
    seen = [manager.read_pod(pod) for pod in _pods(data["pods"], path)]
    state = NodeState(
        (
            read(_devices(manager.device), data["devices"], ("devices",)),
            read(_CPU, data["cpu"], ("cpu",)),
            read(_memory(manager.memory), data["memory"], ("memory",)),
        ),
        {pod.uid: demand for pod, demand in seen},
        leftovers=data["leftovers"],
        hints=data["hints"],
    )
    for wrong in contradictions(manager, state):
        raise FieldError(wrong.path, wrong.message)
    return NodeDocument(setup, session._replace(state=state, pods=ActivePods([pod for pod, _ in seen])))


def _setup(data: Data, path: str) -> Setup:
    machine, _ = from_data(data["machine"], "state", lambda inner: f"{path}: {dotted(('machine', *inner))}")
    loaded = read_fields(data["kubelet"], f"{path}: kubelet")
    if data["proposals"]:
        raise FieldError(("proposals",), "unknown key")
    try:
        release = kubelet(parse_version(data["kubelet_version"]))
    except InputError as error:
        raise FieldError(("kubeletVersion",), error.message) from None
    return Setup(machine, loaded.config, data["base"], release)


def _pods(manifests: Sequence[Document], path: str) -> Iterator[Pod]:
    """Read the pods, each of which is there once."""
    seen: set[object] = set()
    for index, manifest in enumerate(manifests):
        try:
            pod = read_pod(manifest)
        except InputError as error:
            raise InputError(error.message, f"{path}: pods[{index}]: {error.where}") from None
        if pod.uid in seen or (pod.namespace, pod.name) in seen:
            raise FieldError(("pods", index, "metadata"), f"duplicate pod {pod.name}")
        seen |= {pod.uid, (pod.namespace, pod.name)}
        yield pod


def _manifest(pod: Pod) -> dict[str, object]:
    """Write a pod so that it reads back as it is."""
    metadata: dict[str, object] = {"name": pod.name, "namespace": pod.namespace, "uid": pod.uid}
    optional = {"creationTimestamp": pod.created, "labels": pod.labels, "annotations": pod.annotations}
    metadata.update((key, value) for key, value in optional.items() if value)
    manifest: dict[str, object] = {"metadata": metadata, "spec": pod.spec}
    if pod.status != NO_STATUS:
        manifest["status"] = status_of(pod.status)
    return manifest


def status_of(status: PodStatus) -> dict[str, object]:
    """Write what a kubelet reads of a pod's status."""
    mappings = [{"containerName": owner, "resourceName": name} for owner, name in sorted(status.claimed)]
    written: dict[str, object] = {
        "qosClass": status.qos,
        "containerStatuses": _resize_statuses(status.containers),
        "initContainerStatuses": _resize_statuses(status.init_containers),
        "extendedResourceClaimStatus": {"requestMappings": mappings} if mappings else None,
        "conditions": [{"type": "PodResizePending", "reason": "Infeasible"}] if status.infeasible else None,
    }
    return {key: value for key, value in written.items() if value} | _resize_status(status.level)


def _resize_statuses(statuses: Mapping[str, ResizeStatus]) -> list[dict[str, object]]:
    return [{"name": name, **_resize_status(one)} for name, one in statuses.items()]


def _resize_status(one: ResizeStatus) -> dict[str, object]:
    written: dict[str, object] = {}
    if one.allocated is not None:
        written["allocatedResources"] = {name: canonical(amount) for name, amount in one.allocated.items()}
    if one.actuated is not None:
        written["resources"] = {"requests": {name: canonical(amount) for name, amount in one.actuated.items()}}
    return written


# What the managers hold


def _cpus(value: object) -> int:
    if not isinstance(value, str):
        raise unfit("a text", value)
    try:
        return parse(value)
    except CPUSetError as error:
        raise unfit(f"a CPU list ({error})", value) from None


_CPUS: Final = Form(_cpus, format_set, {})
_NODES: Final = list_of(integer(0, MAX_ID, "a NUMA node id"), "a list of NUMA node ids")
_MASK: Final[Form[int]] = turned(_NODES, from_ids, lambda mask: tuple(ids(mask)))
_TEXT: Final = text("a text", empty=True)
_TEXTS: Final = list_of(_TEXT, "a list of texts")
_BYTES: Final = integer(0, 2**64)
_HINT: Final = record(
    TopologyHint, field("numaNodes", nullable(_MASK), None, to="numa_affinity"), field("preferred", boolean), whole=True
)
_HINTS: Final = map_of(_HINT, kept=True)
_CPU: Final = record(
    CPUState,
    field("default", _CPUS),
    field("assignments", map_of(map_of(_CPUS, kept=True), kept=True)),
    inside("reuse", field("pod", _TEXT, NEEDED, to="reuse_uid"), field("cpus", _CPUS, NEEDED, to="reuse")),
    field("pods", map_of(_CPUS, kept=True)),
    whole=True,
)
_BLOCK: Final = record(
    Block, field("numaNodes", _MASK, to="mask"), field("type", _TEXT), field("bytes", _BYTES, to="size")
)
_BLOCKS: Final = list_of(_BLOCK, "a list of blocks")
_TABLE: Final = record(
    as_dict,
    field("numberOfAssignments", _BYTES, to="count"),
    field("cells", _MASK),
    field("memory", map_of(record(as_dict, field("free", _BYTES), field("reserved", _BYTES), others=True))),
    others=True,
)
_TABLES: Final = map_of(_TABLE)


def _memory(manager: MemoryManager) -> Form[MemoryState]:
    """Describe the Memory Manager's state; its tables must be those of the machine and the kubelet."""

    def made(
        *, nodes: Mapping[str, object], blocks: tuple[Block, ...], entries: Data, reusable_pod: str, pods: Data
    ) -> MemoryState:
        reusable = {(block.mask, block.type): block.size for block in blocks}
        state = _counted(manager, nodes)._replace(
            entries=entries, reusable_pod=reusable_pod, reusable=reusable, pods=pods
        )
        for number, table in machine_state(manager, state).items():
            if nodes[number] != table:
                raise FieldError(("nodes", number), "expected the tables of this machine and kubelet")
        return state

    def parts(state: MemoryState) -> Mapping[str, object]:
        blocks = [Block(mask, kind, size) for (mask, kind), size in state.reusable.items()]
        return {**state._asdict(), "nodes": machine_state(manager, state), "blocks": blocks}

    return record(
        made,
        field("nodes", raw),
        field("entries", map_of(map_of(_BLOCKS, kept=True), kept=True), {}),
        inside("reuse", field("pod", _TEXT, to="reusable_pod"), field("blocks", _BLOCKS)),
        field("pods", map_of(_BLOCKS, kept=True), {}),
        parts=parts,
        whole=True,
    )


def _counted(manager: MemoryManager, written: Mapping[str, object]) -> MemoryState:
    """Read the tables of the NUMA nodes: by resource, then by node."""
    if sorted(written) != sorted(map(str, manager.node_ids)):
        raise FieldError(("nodes",), "expected the NUMA nodes of the machine")
    known = read(_TABLES, written, ("nodes",))
    counts, groups, *amounts = ([0] * manager.nodes.bit_length() for _ in range(2 + 2 * len(manager.resources)))
    free, reserved = (dict(zip(manager.resources, rows, strict=True)) for rows in (amounts[::2], amounts[1::2]))
    for node in manager.node_ids:
        table = known[str(node)]
        counts[node], groups[node] = table["count"], table["cells"]
        for name, one in table["memory"].items():
            if name not in free:
                raise FieldError(("nodes", str(node), "memory"), f"expected resources of the machine, not {name}")
            free[name][node], reserved[name][node] = one["free"], one["reserved"]
    of_free, of_reserved = (tuple([tuple(row) for row in rows.values()]) for rows in (free, reserved))
    return MemoryState(tuple(counts), tuple(groups), of_free, of_reserved)


def _devices(manager: DeviceManager) -> Form[DeviceState]:
    """Describe the Device Manager's state, which has devices of the machine only."""
    places = {
        name: {device.id: place for place, device in enumerate(one.devices)} for name, one in manager.resources.items()
    }

    def held(value: object) -> dict[str, int]:
        found = {}
        for name, listed in raw.read(value).items():
            if name not in places:
                raise FieldError((name,), "expected a resource of the machine")
            wanted = read(_TEXTS, listed, (name,))
            if not set(wanted) <= set(places[name]) or len(set(wanted)) != len(wanted):
                raise FieldError((name,), "expected devices of the machine, each once")
            found[name] = from_ids(places[name][one] for one in wanted)
        return found

    def made(*, holdings: Mapping[str, Mapping[str, dict[str, int]]], pod: str, devices: dict[str, int]) -> DeviceState:
        allocated = dict.fromkeys(manager.resources, 0)
        for name, bits in (one for pods in holdings.values() for kept in pods.values() for one in kept.items()):
            allocated[name] |= bits
        return DeviceState(holdings, {name: bits for name, bits in allocated.items() if bits}, pod, devices)

    def named(known: Mapping[str, int]) -> dict[str, list[str]]:
        return {name: device_ids(manager.resources[name], members) for name, members in known.items()}

    form = Form(held, named, {})
    return record(
        made,
        field("holdings", map_of(map_of(form, kept=True), kept=True), {}),
        inside("reuse", field("pod", _TEXT), field("devices", form, {})),
        parts=lambda state: {"holdings": state.holdings, "pod": state.reusable_of, "devices": state.reusable},
        whole=True,
    )


_NODE: Final = record(
    as_dict,
    fixed("apiVersion"),
    fixed("kind"),
    fixed("version"),
    field("machine", anything),
    field("base", choice(*get_args(Base), start="one of ")),
    field("kubeletVersion", text('a release like "1.32"')),
    field("proposals", _TEXTS),
    field("kubelet", raw),
    field("pods", list_of(anything, "a list of pods")),
    field("leftovers", _TEXTS),
    field("hints", _HINTS, {}),
    field("cpu", anything),
    field("memory", anything),
    field("devices", anything),
)
