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
from numalign.kubelet.fit import ActivePods
from numalign.kubelet.node import NodeState
from numalign.kubelet.releases.release import version_text
from numalign.kubelet.releases.table import kubelet, parse_version
from numalign.kubelet.setup import Base, Setup
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.document import (
    Data,
    anything,
    as_dict,
    choice,
    field,
    fixed,
    raw,
    read,
    record,
    write,
)
from numalign.model.document.values import list_of, text
from numalign.model.path import FieldError, dotted
from numalign.model.pod import NO_STATUS, Pod, PodStatus, ResizeStatus
from numalign.model.quantity import canonical
from numalign.sources.kubelet.fields import dump as dump_config
from numalign.sources.kubelet.fields import read_fields
from numalign.sources.machine.dump import dump as dump_machine
from numalign.sources.machine.file import from_data
from numalign.sources.node.manager_states import CPU_STATE, HINTS, TEXTS, devices_state, memory_state
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
        "hints": write(HINTS, state.hints),
        "cpu": write(CPU_STATE, state.cpu),
        "memory": write(memory_state(session.node.memory), state.memory),
        "devices": write(devices_state(session.node.device), state.device),
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
            read(devices_state(manager.device), data["devices"], ("devices",)),
            read(CPU_STATE, data["cpu"], ("cpu",)),
            read(memory_state(manager.memory), data["memory"], ("memory",)),
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


_NODE: Final = record(
    as_dict,
    fixed("apiVersion"),
    fixed("kind"),
    fixed("version"),
    field("machine", anything),
    field("base", choice(*get_args(Base), start="one of ")),
    field("kubeletVersion", text('a release like "1.32"')),
    field("proposals", TEXTS),
    field("kubelet", raw),
    field("pods", list_of(anything, "a list of pods")),
    field("leftovers", TEXTS),
    field("hints", HINTS, {}),
    field("cpu", anything),
    field("memory", anything),
    field("devices", anything),
)
