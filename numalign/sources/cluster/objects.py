"""Node and Pod objects of an API server -> what a scheduler needs of them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Final

from numalign.errors import InputError
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.document import Form, field, inside, maybe, record
from numalign.model.document import read as read_as
from numalign.model.document.values import list_of, map_of, text
from numalign.model.machine import Taint
from numalign.model.path import FieldError, Path, shown
from numalign.model.pod import FINISHED, Pod
from numalign.scheduler.kai.records import OBSERVED, PREDICTED, PlacedPod, of_annotations
from numalign.scheduler.resources import Amounts
from numalign.sources.cluster.settings import AMOUNTS
from numalign.values import NamedTuple


class NodeRead(NamedTuple):
    """A Node object."""

    name: str
    allocatable: Amounts
    capacity: Amounts
    labels: Mapping[str, str] = {}
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False
    release: str = ""
    """The version of its kubelet, as the node says it; empty: it does not."""


class PodRead(NamedTuple):
    """A Pod object that is bound to a node."""

    node: str
    pod: Pod
    phase: str
    placed: PlacedPod | None
    """KAI's records of it; None: it has none."""


class Ended(NamedTuple):
    """A pod that has ended on a node."""

    node: str
    pod: tuple[str, str]
    """Namespace and name."""


def is_of(thing: Mapping[str, object], kind: str, group: str) -> bool:
    """Tell whether something is an object of a kind, in any version of its group."""
    return thing.get("kind") == kind and str(thing.get("apiVersion")).partition("/")[0] == group


def read_node(thing: Mapping[str, object], path: Path = ()) -> NodeRead:
    """Read a Node.

    Raises:
        FieldError: a field has the wrong type.
    """
    return read_as(_NODE, thing, path)


_ANY_TEXT: Final = Form(lambda value: str(value or ""), str, {})
_LABELS: Final = map_of(Form(str, str, {}))
_TAINT: Final = record(
    Taint, field("key", _ANY_TEXT, ""), field("value", _ANY_TEXT), field("effect", _ANY_TEXT), others=True
)
_NODE: Final = record(
    NodeRead,
    inside("metadata", field("name", text("the node's name")), maybe("labels", _LABELS)),
    inside("spec", maybe("taints", list_of(_TAINT)), maybe("unschedulable", Form(bool, bool, {}))),
    inside(
        "status",
        maybe("allocatable", AMOUNTS, {}),
        maybe("capacity", AMOUNTS, {}),
        inside("nodeInfo", maybe("kubeletVersion", _ANY_TEXT, "", to="release")),
    ),
    others=True,
)


class PodReader:
    """Reads bound pods. Pods that ask the same share all but their names: a cluster has few shapes of pods."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Pod] = {}

    def read(self, thing: Mapping[str, object], path: Path = ()) -> PodRead | Ended | None:
        """Read a Pod; None: it is bound to no node.

        Raises:
            FieldError: it is no pod.
        """
        try:
            return self._read(thing)
        except (TypeError, KeyError, AttributeError, ValueError) as error:
            raise FieldError(path, f"not a valid pod: {error}") from None
        except InputError as error:
            raise FieldError((*path, error.where), error.message) from None

    def _read(self, thing: Mapping[str, object]) -> PodRead | Ended | None:
        metadata, spec, status = _part(thing, "metadata"), _part(thing, "spec"), _part(thing, "status")
        node, phase = spec.get("nodeName"), str(status.get("phase") or "")
        if not node or not isinstance(node, str):
            return None
        if phase in FINISHED:
            return Ended(node, (str(metadata.get("namespace") or "default"), str(metadata.get("name"))))
        kept = trimmed(spec)
        said: dict[str, object] = {"qosClass": status["qosClass"]} if status.get("qosClass") else {}
        if _resized(spec, status):
            said |= {name: status[name] for name in _RESIZE if name in status}
        key = (_frozen(kept), _frozen(said))
        shape = self._known.get(key)
        if shape is None:
            manifest: dict[str, object] = {"metadata": {"name": "shape"}, "spec": kept}
            shape = self._known[key] = read_pod({**manifest, "status": said} if said else manifest)
        name, namespace = _name(metadata.get("name")), _name(metadata.get("namespace") or "default")
        uid = metadata.get("uid")
        pod = shape._replace(
            name=name,
            namespace=namespace,
            uid=uid if isinstance(uid, str) and uid else f"{namespace}/{name}",
            created=str(metadata.get("creationTimestamp") or ""),
            labels=_labels(metadata.get("labels")),
        )
        annotations = metadata.get("annotations")
        placed = None
        if isinstance(annotations, Mapping) and (OBSERVED in annotations or PREDICTED in annotations):
            placed = of_annotations(annotations, "Running" if phase == "Running" else "Bound")
        return PodRead(node, pod, phase, placed)


_RESIZE: Final = ("conditions", "containerStatuses", "initContainerStatuses", "allocatedResources", "resources")
"""What of a status says that a pod is being resized."""


def _resized(spec: Mapping[str, object], status: Mapping[str, object]) -> bool:
    """Tell whether a status names other amounts than the spec; nearly all pods' name the same."""
    for group, statuses in (("containers", "containerStatuses"), ("initContainers", "initContainerStatuses")):
        listed, said = spec.get(group), status.get(statuses)
        if not isinstance(listed, list | tuple) or not isinstance(said, list | tuple):
            continue
        asked = {one.get("name"): _part(one, "resources") for one in listed}
        if any(_differs(_part(asked, one.get("name")), one) for one in said):
            return True
    return _differs(_part(spec, "resources"), status)


def _differs(asked: Mapping[str, object], said: Mapping[str, object]) -> bool:
    requests = asked.get("requests") or {}
    told = said.get("allocatedResources"), _part(said, "resources").get("requests")
    return any(one is not None and one != requests for one in told)


def _part(thing: Mapping[str, object], key: str) -> Mapping[str, object]:
    value = thing.get(key) or {}
    if not isinstance(value, Mapping):
        raise TypeError(f"{key}: expected a mapping")
    return value


def _labels(value: object) -> Mapping[str, str]:
    return value if isinstance(value, dict) and all(type(one) is str for one in value.values()) else {}


def _name(value: object) -> str:
    if not isinstance(value, str) or not value.isprintable() or not value:
        raise TypeError(f"expected a name, got {shown(value)}")
    return value


_KEPT: Final = ("resources", "hostNetwork", "priority", "overhead", "priorityClassName")
_KEPT_OF_CONTAINER: Final = ("name", "resources", "restartPolicy", "ports")


def trimmed(spec: Mapping[str, object]) -> dict[str, object]:
    """Keep what says how much a bound pod takes, which ports, and whom it keeps away."""
    result: dict[str, object] = {key: spec[key] for key in _KEPT if key in spec}
    keeps_away = "affinity" in spec and _part(spec, "affinity").get("podAntiAffinity")
    if keeps_away:
        result["affinity"] = {"podAntiAffinity": keeps_away}
    for group in ("initContainers", "containers"):
        listed = spec.get(group) or ()
        if not isinstance(listed, list | tuple):
            raise TypeError(f"{group}: expected a list")
        result[group] = [{key: one[key] for key in _KEPT_OF_CONTAINER if key in one} for one in listed]
    return result


def _frozen(value: object) -> Hashable:
    """Make a key of plain data. Equal data in another order is another key, which costs a second reading."""
    if isinstance(value, dict):
        return tuple([(key, _frozen(inner)) for key, inner in value.items()])
    if isinstance(value, list | tuple):
        return tuple([_frozen(inner) for inner in value])
    return value if isinstance(value, Hashable) else str(value)
