"""Reading a cluster out of the document of a state; writing it is `state_dump`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, get_args

from numalign.errors import InputError
from numalign.kubelet.cpu.state import CPUState
from numalign.kubelet.demand import PodDemand
from numalign.kubelet.demand import read as read_demand
from numalign.kubelet.device.state import DeviceState
from numalign.kubelet.fit import ActivePods
from numalign.kubelet.memory.state import Block, MemoryState
from numalign.kubelet.node import Node, NodeState, empty_state
from numalign.kubelet.setup import Setup
from numalign.model import cpuset
from numalign.model.apiserver import amount
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.machine import Taint
from numalign.model.pod import Pod
from numalign.scheduler.kai.records import PlacedPod, record_from
from numalign.scheduler.node import ClusterNode, Fleet, Known
from numalign.scheduler.nrt import occupied
from numalign.scheduler.nrt.value import NodeResourceTopology
from numalign.sources.cluster import nrt, settings
from numalign.sources.cluster.fleet import Built
from numalign.sources.cluster.kubelets import Identity, Kubelets, Requests, with_allocatable, without_judging
from numalign.sources.kubelet import configuration
from numalign.sources.machine.file import from_data as machine_from_data
from numalign.sources.text import fields
from numalign.sources.text.fields import FieldError, Path, dotted
from numalign.store.state_file import Document

KEYS = ("apiVersion", "kind", "version", "scheduler", "seed", "timing", "kinds", "shapes", "nodes")


def read(document: Document, where: str) -> Built:
    """Read the document of a state.

    Raises:
        InputError: it is not what a state holds; `where` is the file.
        StartError: the kubelet of a node would not start.
    """
    try:
        return _read(document)
    except FieldError as error:
        raise InputError(error.message, f"{where}: {dotted(error.path)}") from None
    except InputError as error:
        raise InputError(error.message, f"{where}: {error.where}") from None
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"is broken, and left as it is: {type(error).__name__} {error}", where) from None


def _read(document: Document) -> Built:
    fields.only(document, KEYS, ())
    reading = _Reading(document)
    nodes = tuple(reading.nodes(fields.sequence(document["nodes"], ("nodes",))))
    seed = fields.integer(document.get("seed", 0), ("seed",), 0, 2**63 - 1)
    scheduler = settings.scheduler(document.get("scheduler"), ("scheduler",), seed)
    return Built(Fleet(nodes, scheduler, settings.timing(document.get("timing"), ("timing",))), ())


class _Reading:
    """Reads nodes; machines and shapes are read once."""

    def __init__(self, document: Document) -> None:
        self._kubelets = Kubelets()
        self._requests = Requests()
        self._setups = [
            _setup(fields.mapping(one, ("kinds", place)), ("kinds", place))
            for place, one in enumerate(fields.sequence(document.get("kinds") or (), ("kinds",)))
        ]
        self._shapes = [
            _shape(fields.mapping(one, ("shapes", place)))
            for place, one in enumerate(fields.sequence(document.get("shapes") or (), ("shapes",)))
        ]
        self._demands = [read_demand(pod) for pod in self._shapes]

    def nodes(self, written: Sequence[object]) -> Iterator[ClusterNode]:
        """Read all nodes."""
        seen = set()
        for place, one in enumerate(written):
            node = self._node(fields.mapping(one, ("nodes", place)), ("nodes", place))
            if node.name in seen:
                raise FieldError(("nodes", place, "name"), f'two nodes are called "{node.name}"')
            seen.add(node.name)
            yield node

    def _node(self, data: Mapping[str, object], path: Path) -> ClusterNode:
        name = fields.text(data.get("name"), (*path, "name"), "the node's name")
        allocatable = fields.mapping(data.get("allocatable") or {}, (*path, "allocatable"))
        total = {resource: amount(text).nano for resource, text in allocatable.items()}
        labels = settings.text_map(data.get("labels"), (*path, "labels"))
        taints = tuple([Taint(*map(str, one)) for one in fields.sequence(data.get("taints") or (), (*path, "taints"))])
        demands: dict[str, PodDemand] = {}
        pods = []
        for namespace, pod_name, uid, shape, created in fields.sequence(data.get("pods") or (), (*path, "pods")):
            pods.append(_named(self._shapes[shape], namespace, pod_name, uid, created))
            demands[uid] = self._demands[shape]._replace(uid=uid)
        unjudged = frozenset(map(str, fields.sequence(data.get("unjudged") or (), (*path, "unjudged"))))
        session = None
        if data.get("kind") is not None:
            kind = fields.integer(data["kind"], (*path, "kind"), 0, len(self._setups) - 1)
            session = self._kubelets.open(kind, partial(self._setups.__getitem__, kind), Identity(name, labels, taints))
            state = _state(session.node, data, demands)
            session = without_judging(with_allocatable(session, total), unjudged)
            session = session._replace(state=state, pods=ActivePods(pods))
        known = settings.choice(data.get("known"), get_args(Known), (*path, "known"))
        totals = self._requests.totals(total, pods, unjudged)
        if session is None:
            used = fields.mapping(data.get("used") or {}, (*path, "used"))
            bound = fields.integer(data.get("bound") or 0, (*path, "bound"), 0, 2**31)
            totals = totals._replace(used={key: amount(text).nano for key, text in used.items()}, pods=bound)
        return ClusterNode(
            name=name,
            totals=totals,
            session=session,
            known=known,  # type: ignore[arg-type]  # it was checked against its choices
            nrt=_published(data.get("nrt"), (*path, "nrt")),
            labels=labels,
            taints=taints,
            unschedulable=bool(data.get("unschedulable")),
            placed=tuple([_placed(one) for one in fields.sequence(data.get("kaiPlacements") or (), path)]),
            exporter=settings.exporter(data.get("exporter"), (*path, "exporter")),
        )


def _published(data: object, path: Path) -> NodeResourceTopology | None:
    """Read an object that is kept; that of a node known exactly is made anew when it is asked for."""
    return None if data is None else nrt.read(fields.mapping(data, path), path).nrt


def _placed(data: Mapping[str, Any]) -> PlacedPod:
    observed, bind_request, predicted = (
        record_from(data.get(key) or ()) for key in ("observed", "bindRequest", "predicted")
    )
    return PlacedPod(str(data["status"]), observed, bind_request, predicted)


def _setup(data: Mapping[str, object], path: Path) -> Setup:
    machine, _ = machine_from_data(data["machine"], "machine", partial(_under, (*path, "machine")))
    written = fields.mapping(data.get("kubelet") or {}, (*path, "kubelet"))
    config = configuration.from_data(written, dotted((*path, "kubelet"))).config
    return Setup(machine, config, "ideal")  # a node that runs did start, whatever it reserves


def _under(path: Path, inner: Path) -> str:
    return dotted((*path, *inner))


def _shape(data: Mapping[str, object]) -> Pod:
    status = {"qosClass": data["qos"]} if data["qos"] else {}
    return read_pod({"metadata": {"name": "shape"}, "spec": data["spec"], "status": status})


def _named(shape: Pod, namespace: object, name: object, uid: object, created: object) -> Pod:
    for text in (namespace, name, uid, created):
        if not isinstance(text, str):
            raise TypeError(f"expected text, got {fields.shown(text)}")
    return shape._replace(namespace=str(namespace), name=str(name), uid=str(uid), created=str(created))


Held = dict[str, dict[str, int]]
"""Pod UID -> container -> CPUs."""


def _state(node: Node, data: Mapping[str, object], demands: Mapping[str, PodDemand]) -> NodeState:
    """Read what the pods of a node hold."""
    empty = empty_state(node)
    cpus: Held = {}
    devices: dict[str, Held] = {}
    blocks: dict[str, dict[str, tuple[Block, ...]]] = {}
    pods: dict[str, PodDemand] = {}
    positions = {
        name: {device.id: place for place, device in enumerate(one.devices)}
        for name, one in node.device.resources.items()
    }
    for uid, containers in fields.mapping(data.get("held") or {}, ("held",)).items():
        for container, entry in containers.items():
            if "cpus" in entry:
                cpus.setdefault(uid, {})[container] = cpuset.parse(entry["cpus"])
            if "devices" in entry:
                devices.setdefault(uid, {})[container] = {
                    name: sum(1 << positions[name][one] for one in listed) for name, listed in entry["devices"].items()
                }
            if "memory" in entry:
                blocks.setdefault(uid, {})[container] = tuple([_block(*one) for one in entry["memory"]])
        pods[uid] = demands.get(uid) or _anonymous(uid, cpus.get(uid), blocks.get(uid), devices.get(uid))
    _check_places(node, cpus, blocks)
    memory = _memory(node, empty.memory, data.get("memory"), blocks)
    return NodeState(states=(_devices(empty.device, devices), _cpus(empty.cpu, cpus), memory), pods=pods)


def _check_places(node: Node, cpus: Held, blocks: Mapping[str, Mapping[str, tuple[Block, ...]]]) -> None:
    """Check that pods hold only what the machine has.

    Raises:
        ValueError: a CPU, a NUMA node or a kind of memory is not there.
    """
    for containers in cpus.values():
        for held in containers.values():
            if held & ~node.machine.cpus:
                raise ValueError("a CPU that the machine has not")
    for by_container in blocks.values():
        for block in (one for several in by_container.values() for one in several):
            if block.mask & ~node.memory.nodes or block.type not in node.memory.places or block.size < 0:
                raise ValueError("a block of memory that the machine has not")


def _block(nodes: Sequence[int], kind: str, size: int) -> Block:
    return Block(sum(1 << node for node in set(nodes)), kind, int(size))


def _cpus(empty: CPUState, held: Held) -> CPUState:
    taken = 0
    for containers in held.values():
        for cpus in containers.values():
            taken |= cpus
    return CPUState(empty.default & ~taken, held) if taken else empty


def _devices(empty: DeviceState, held: Mapping[str, Held]) -> DeviceState:
    allocated: dict[str, int] = {}
    for containers in held.values():
        for resources in containers.values():
            for name, bits in resources.items():
                allocated[name] = allocated.get(name, 0) | bits
    return DeviceState(held, allocated) if allocated else empty


def _memory(
    node: Node, empty: MemoryState, written: object, blocks: Mapping[str, Mapping[str, tuple[Block, ...]]]
) -> MemoryState:
    """Read the tables of the Memory Manager; they must be as large as the machine's."""
    if written is None or not node.memory.resources:
        return empty
    tables = fields.mapping(written, ("memory",))
    free, reserved = (tuple([tuple(map(int, row)) for row in tables[name]]) for name in ("free", "reserved"))
    counts, groups = (tuple(map(int, tables[name])) for name in ("counts", "groups"))
    shapes = [len(row) for row in (counts, groups, *free, *reserved)]
    if set(shapes) != {len(empty.counts)} or len(free) != len(empty.free) or len(reserved) != len(empty.free):
        raise ValueError("the memory tables are not those of the machine")
    if any(group & ~node.memory.nodes for group in groups):
        raise ValueError("a group of NUMA nodes that the machine has not")
    return empty._replace(counts=counts, groups=groups, free=free, reserved=reserved, entries=blocks)


def _anonymous(
    uid: str,
    cpus: Mapping[str, int] | None,
    blocks: Mapping[str, tuple[Block, ...]] | None,
    devices: Mapping[str, Mapping[str, int]] | None,
) -> PodDemand:
    """Make the pod that stands for what is taken by nobody in particular."""
    name = occupied.CONTAINER
    memory = tuple([(block.type, block.size) for block in (blocks or {}).get(name, ())])
    held = tuple([(resource, bits.bit_count()) for resource, bits in (devices or {}).get(name, {}).items()])
    return occupied.demand_of(uid, (cpus or {}).get(name, 0).bit_count(), memory, held)
