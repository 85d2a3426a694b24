"""Reading a cluster out of the document of a state; writing it is `state_dump`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, get_args

from numalign.analysis.node.whole import contradictions
from numalign.errors import InputError, StartError
from numalign.kubelet.cpu.state import CPUState
from numalign.kubelet.demand import PodDemand, read_demand
from numalign.kubelet.device.state import DeviceState
from numalign.kubelet.fit import ActivePods
from numalign.kubelet.memory.state import Block, MemoryState
from numalign.kubelet.node import Node, NodeState, empty_state
from numalign.kubelet.setup import Setup
from numalign.model import cpuset
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.document import Data, anything, as_dict, choice, field, fixed, maybe, raw, record
from numalign.model.document import read as read_as
from numalign.model.document.values import integer, list_of, text
from numalign.model.machine import Taint
from numalign.model.path import FieldError, Path, dotted, shown
from numalign.model.pod import Pod
from numalign.scheduler.config import ExporterConfig, SchedulerConfig, Timing
from numalign.scheduler.kai.records import PlacedPod, record_from
from numalign.scheduler.node import ClusterNode, Fleet, Known
from numalign.scheduler.nrt import occupied
from numalign.sources.cluster import nrt
from numalign.sources.cluster.fleet import Built
from numalign.sources.cluster.kubelets import Identity, Kubelets, Requests, counted, judging, setup_of
from numalign.sources.cluster.settings import AMOUNTS, EXPORTER, SCHEDULER, TEXTS, TIMING
from numalign.sources.kubelet.fields import read_fields
from numalign.sources.machine.file import from_data as machine_from_data
from numalign.sources.node.state import CHANGED
from numalign.store.state_file import Document


def read_cluster_state(document: Document, where: str) -> Built:
    """Read the document of a state.

    Raises:
        InputError: it is not what a state holds, or the kubelet of a node would not start; `where` is the file and the
            field.
    """
    try:
        data = _STATE.read(document)
        nodes = tuple(_Reading(data).nodes(data["nodes"]))
        return Built(Fleet(nodes, data["scheduler"]._replace(seed=data["seed"]), data["timing"]), ())
    except FieldError as error:
        raise InputError(error.message, f"{where}: {dotted(error.path)}") from None
    except (InputError, StartError) as error:
        raise InputError(error.message, f"{where}: {error.where}" if error.where else where) from None
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"is broken and was not changed: {type(error).__name__} {error}", where) from None


class _Reading:
    """Reads nodes; machines and shapes are read once."""

    def __init__(self, document: Data) -> None:
        self._kubelets = Kubelets()
        self._requests = Requests()
        self._setups = [_setup(one, ("kinds", place)) for place, one in enumerate(document["kinds"])]
        self._shapes = [_shape(one) for one in document["shapes"]]
        self._demands = [read_demand(pod) for pod in self._shapes]
        self._of_shapes = integer(0, len(self._shapes) - 1)

    def nodes(self, written: Sequence[Data]) -> Iterator[ClusterNode]:
        """Read all nodes."""
        seen = set()
        for place, one in enumerate(written):
            try:
                node = self._node(one, ("nodes", place))
            except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
                raise FieldError(("nodes", place), f"{type(error).__name__} {error}; {CHANGED}") from None
            if node.name in seen:
                raise FieldError(("nodes", place, "name"), f'duplicate node "{node.name}"')
            seen.add(node.name)
            yield node

    def _node(self, data: Data, path: Path) -> ClusterNode:
        name, total, labels = data["name"], data["allocatable"], data["labels"]
        taints = tuple([Taint(*one) for one in data["taints"]])
        demands: dict[str, PodDemand] = {}
        pods = []
        for index, (namespace, pod_name, uid, shape, created, *more) in enumerate(data["pods"]):
            read_as(self._of_shapes, shape, (*path, "pods", index))
            pod = _named(self._shapes[shape], namespace, pod_name, uid, created)
            pods.append(pod._replace(labels=read_as(TEXTS, more[0], (*path, "pods", index, 5))) if more else pod)
            demands[uid] = self._demands[shape]._replace(uid=uid)
        if len(pods) != len({pod.full_name for pod in pods}) or len(pods) != len(demands):
            raise FieldError((*path, "pods"), f"duplicate pod; {CHANGED}")
        unjudged = frozenset(data["unjudged"])
        session = None
        if data["kind"] is not None:
            kind = read_as(integer(0, len(self._setups) - 1), data["kind"], (*path, "kind"))
            session = self._kubelets.open(kind, self._setups[kind], Identity(name, labels, taints))
            state = _state(session.node, data, demands, path)
            session = judging(session, total, unjudged)
            pods = [counted(session, pod) for pod in pods]
            session = session._replace(state=state, pods=ActivePods(pods))
        elif pods or data["held"] or data["memory"]:
            raise FieldError((*path, "kind"), f"missing; its pods are known one by one; {CHANGED}")
        totals = self._requests.totals(total, pods, unjudged)
        if session is None:
            totals = totals._replace(used=data["used"], pods=data["bound"])
        # An object is kept; that of a node known exactly is made anew when it is asked for.
        published = data["nrt"] and nrt.read_nrt(data["nrt"], (*path, "nrt")).nrt
        return ClusterNode(
            name=name,
            totals=totals,
            session=session,
            known=data["known"],
            nrt=published,
            labels=labels,
            taints=taints,
            unschedulable=bool(data["unschedulable"]),
            placed=tuple(map(_placed, data["placed"])),
            exporter=data["exporter"],
        )


def _placed(data: Data) -> PlacedPod:
    observed, bind_request, predicted = (
        record_from(data.get(key) or ()) for key in ("observed", "bindRequest", "predicted")
    )
    return PlacedPod(str(data["status"]), observed, bind_request, predicted)


def _setup(data: Data, path: Path) -> Setup:
    machine, _ = machine_from_data(data["machine"], "machine", lambda inner: dotted((*path, "machine", *inner)))
    config = read_fields(data["kubelet"], dotted((*path, "kubelet"))).config
    return setup_of(machine, config, "ideal")  # a node that runs did start, whatever it reserves


def _shape(data: Data) -> Pod:
    status = {**data["status"], **({"qosClass": data["qos"]} if data["qos"] else {})}
    return read_pod({"metadata": {"name": "shape"}, "spec": data["spec"], "status": status})


def _named(shape: Pod, namespace: object, name: object, uid: object, created: object) -> Pod:
    for one in (namespace, name, uid, created):
        if not isinstance(one, str):
            raise TypeError(f"expected text, got {shown(one)}")
    return shape._replace(namespace=str(namespace), name=str(name), uid=str(uid), created=str(created))


Held = dict[str, dict[str, int]]
"""Pod UID -> container -> CPUs."""


_PARTS = ("assignments", "entries", "holdings")
"""Parts of a node's state that stand together here, under `held`."""


def _state(node: Node, data: Data, demands: Mapping[str, PodDemand], path: Path) -> NodeState:
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
    for uid, containers in data["held"].items():
        for container, written in containers.items():
            entry = read_as(_HELD, written, (*path, "held", uid, container))
            if "cpus" in written:
                cpus.setdefault(uid, {})[container] = cpuset.parse(entry["cpus"])
            if "devices" in written:
                devices.setdefault(uid, {})[container] = {
                    name: _bits(positions[name], listed) for name, listed in entry["devices"].items()
                }
            if "memory" in written:
                blocks.setdefault(uid, {})[container] = tuple([_block(*one) for one in entry["memory"]])
        pods[uid] = demands.get(uid) or _anonymous(uid, cpus.get(uid), blocks.get(uid), devices.get(uid))
    lost = demands.keys() - pods.keys()
    if lost and data["known"] == "exact":  # of others only amounts may be known, held by nobody in particular
        raise FieldError((*path, "held", min(lost)), f"missing; it is a pod of the node; {CHANGED}")
    memory = _memory(node, empty.memory, data["memory"], blocks)
    state = NodeState(states=(_devices(empty.device, devices), _cpus(empty.cpu, cpus), memory), pods=pods)
    for wrong in contradictions(node, state):
        inner = ("held", *wrong.path[2:]) if wrong.path[1] in _PARTS else wrong.path[:1]
        raise FieldError((*path, *inner), f"{wrong.message}; {CHANGED}")
    return state


def _bits(positions: Mapping[str, int], listed: Sequence[str]) -> int:
    if len(set(listed)) != len(listed):
        raise ValueError("duplicate device")
    return sum(1 << positions[one] for one in listed)


def _block(nodes: Sequence[int], kind: str, size: int) -> Block:
    if not all(0 <= node <= cpuset.MAX_ID for node in _whole(nodes)):
        raise ValueError("memory that the machine does not have")
    return Block(cpuset.from_ids(nodes), kind, *_whole([size]))


def _whole(numbers: Sequence[int]) -> tuple[int, ...]:
    if not all(type(one) is int for one in numbers):
        raise ValueError("expected whole numbers")
    return tuple(numbers)


def _cpus(empty: CPUState, held: Held) -> CPUState:
    taken = cpuset.union(cpus for containers in held.values() for cpus in containers.values())
    return CPUState(empty.default & ~taken, held) if taken else empty


def _devices(empty: DeviceState, held: Mapping[str, Held]) -> DeviceState:
    allocated: dict[str, int] = {}
    for containers in held.values():
        for resources in containers.values():
            for name, bits in resources.items():
                allocated[name] = allocated.get(name, 0) | bits
    return DeviceState(held, allocated) if allocated else empty


def _memory(
    node: Node, empty: MemoryState, written: Data | None, blocks: Mapping[str, Mapping[str, tuple[Block, ...]]]
) -> MemoryState:
    """Read the tables of the Memory Manager; they must be as large as the machine's."""
    if written is None or not node.memory.resources:
        return empty
    free, reserved = (tuple([_whole(row) for row in written[name]]) for name in ("free", "reserved"))
    counts, groups = (_whole(written[name]) for name in ("counts", "groups"))
    shapes = [len(row) for row in (counts, groups, *free, *reserved)]
    known = set(shapes) == {len(empty.counts)} and len(free) == len(reserved) == len(empty.free)
    if not known or any(group & ~node.memory.nodes for group in groups) or min(map(min, free)) < 0:
        raise ValueError("the memory tables do not match the machine")
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


_ANY: Final = list_of(anything)
_HELD: Final = record(
    as_dict, maybe("cpus", anything, ""), maybe("devices", raw, {}), maybe("memory", list_of(list_of(anything)), ())
)
_NODE: Final = record(
    as_dict,
    field("name", text("the node's name")),
    field("known", choice(*get_args(Known))),
    maybe("allocatable", AMOUNTS, {}),
    maybe("used", AMOUNTS, {}),
    maybe("bound", integer(0, 2**31), 0),
    maybe("labels", TEXTS, {}),
    maybe("taints", list_of(list_of(text(empty=True))), ()),
    maybe("unschedulable", anything, False),
    maybe("exporter", EXPORTER, ExporterConfig()),
    maybe("nrt", raw),
    maybe("kaiPlacements", _ANY, (), to="placed"),
    maybe("kind", anything),
    maybe("pods", _ANY, ()),
    maybe("unjudged", list_of(text()), ()),
    maybe("held", raw, {}),
    maybe("memory", raw),
)
_STATE: Final = record(
    as_dict,
    fixed("apiVersion"),
    fixed("kind"),
    fixed("version"),
    maybe("scheduler", SCHEDULER, SchedulerConfig()),
    field("seed", integer(0, 2**63 - 1), 0),
    maybe("timing", TIMING, Timing()),
    maybe("kinds", list_of(record(as_dict, field("machine", raw), maybe("kubelet", raw, {}))), ()),
    maybe(
        "shapes",
        list_of(record(as_dict, field("spec", anything), field("qos", anything), maybe("status", raw, {}))),
        (),
    ),
    field("nodes", list_of(_NODE)),
)
