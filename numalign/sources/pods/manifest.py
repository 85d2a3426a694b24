"""Pod manifests -> pods: files, folders and standard input; Pods, Lists, and whatever carries a pod template."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from numalign.errors import InputError
from numalign.model.path import child
from numalign.model.pod import Pod
from numalign.sources.pods.pod_objects import Carrier, carriers_of, owner_name, wanted_replicas
from numalign.sources.text.yaml import STDIN, Document, FilePath

_FINISHED: Final = ("Succeeded", "Failed")


class PodSource(NamedTuple):
    """A pod and where it comes from."""

    pod: Pod
    document: Document
    path: str
    """The place of the pod, or of its template, in the document."""
    kind: str
    """The kind of the object that carries it: `Pod`, `Deployment`, …"""
    owner: str
    """The name of that object."""
    wanted: int
    """How many replicas the object asks for."""

    @property
    def origin(self) -> str:
        """`file:line` of the pod or its template."""
        return f"{self.document.name}:{self.document.line(self.path)}"


class PodInput(NamedTuple):
    """What the POD arguments of a command line hold."""

    sources: tuple[PodSource, ...]
    passed_over: int
    """How many documents (and items of lists) have no pod in them."""
    notes: tuple[str, ...]
    """For each object of which not all replicas are tried, a sentence that says so."""

    @property
    def pods(self) -> tuple[Pod, ...]:
        """The pods, in the order of the input."""
        return tuple(source.pod for source in self.sources)


def read(names: Iterable[FilePath], replicas: int | None = None, beside: Iterable[Pod] = ()) -> PodInput:
    """Read the pods of files, folders and `-` (standard input), in this order.

    Args:
        names: the inputs; in a folder the files that end in .yaml, .yml or .json, by name.
        replicas: how many pods to make of each Pod or template. None: one, whatever a template asks for.
        beside: pods already there, whose names are taken.

    Raises:
        InputError: an input cannot be read or has no pod, or a pod is one the API server would refuse.
    """
    carriers: list[Carrier] = []
    passed_over = 0
    for name in names:
        found, others, _ = carriers_of(name, check=True)
        if not found:
            raise InputError("no pod in it: no document is a Pod or carries a pod template", _shown_name(name))
        carriers += found
        passed_over += others
    taken = _taken(carriers, replicas, beside)
    sources: list[PodSource] = []
    notes = []
    for carrier in carriers:
        wanted = 1 if carrier.is_pod else wanted_replicas(carrier)
        tried = replicas or 1
        owner = owner_name(carrier.object)
        sources += [
            PodSource(pod, carrier.document, carrier.path, carrier.kind, owner, wanted)
            for pod in _replicas(carrier, tried, taken)
        ]
        if replicas is None and wanted != 1:
            notes.append(f"{carrier.kind} {owner}: 1 of {wanted} replicas is tried; --replicas N tries N")
    return PodInput(tuple(sources), passed_over, tuple(notes))


def read_beside(name: FilePath) -> tuple[Pod, ...]:
    """Read the pods that are on the node already, oldest first; finished ones are left out.

    They are not validated: they come from an API server. A list without any pod is fine.

    Raises:
        InputError: the input cannot be read, has neither pod nor list, or two pods have the same name or uid.
    """
    carriers, _, has_list = carriers_of(name, check=False)
    if not carriers and not has_list:
        raise InputError("no pod in it: expected Pods, or the List of `kubectl get pods -o json`", _shown_name(name))
    active = [carrier for carrier in carriers if (carrier.object.get("status") or {}).get("phase") not in _FINISHED]
    taken = _taken(active, None, ())
    pods = [pod for carrier in active for pod in _replicas(carrier, 1, taken)]
    return tuple(sorted(pods, key=lambda pod: pod.created))


def _shown_name(name: FilePath) -> str:
    return STDIN if str(name) == "-" else str(name)


# Names

_Taken = dict[Any, Carrier | None]
"""(namespace, name), or a uid -> who has it; None: a pod that is already there."""


def _keeps_its_name(carrier: Carrier, replicas: int | None) -> bool:
    return carrier.is_pod and bool(carrier.pod.name) and (replicas or 1) == 1


def _taken(carriers: Iterable[Carrier], replicas: int | None, beside: Iterable[Pod]) -> _Taken:
    """Collect the names that pods bring along; two pods of one name, or of one uid, are an error."""
    beside = tuple(beside)
    names: _Taken = {(pod.namespace, pod.name): None for pod in beside}
    uids: _Taken = {pod.uid: None for pod in beside}
    for carrier in carriers:
        if _keeps_its_name(carrier, replicas):
            pod = carrier.pod
            _take(names, (pod.namespace, pod.name), carrier, "name", pod.name)
            _take(uids, pod.uid, carrier, "uid", pod.uid)
    return names


def _take(known: _Taken, key: object, carrier: Carrier, field: str, text: str) -> None:
    if key in known:
        holder = known[key]
        who = f"the pod at {holder.document.where(holder.path)}" if holder else "a pod that is already there"
        place = child(child(carrier.path, "metadata"), field)
        raise carrier.document.error(f'"{text}" is also the {field} of {who}', place)
    known[key] = carrier


def _replicas(carrier: Carrier, count: int, taken: _Taken) -> Iterator[Pod]:
    """Make the pods of an object; those that bring no name get the next free one (`web-0`, `web-1`, …)."""
    pod = carrier.pod
    if _keeps_its_name(carrier, count):
        yield pod
        return
    prefix = (carrier.object.get("metadata") or {}).get("generateName")
    if not carrier.is_pod or pod.name or not prefix:
        prefix = f"{owner_name(carrier.object)}-"
    number = 0
    for _ in range(count):
        while (pod.namespace, f"{prefix}{number}") in taken:
            number += 1
        name = f"{prefix}{number}"
        taken[pod.namespace, name] = carrier
        yield pod._replace(name=name, uid=f"{pod.namespace}/{name}")
