"""The pods of a template: how many, and how each is named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from numalign.errors import InputError, Notice
from numalign.model.path import child
from numalign.model.pod import FINISHED, Pod
from numalign.sources.pods import files
from numalign.sources.pods.files import explained
from numalign.sources.pods.pod_objects import Carrier, Found, owner_name
from numalign.sources.text.yaml import Document
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.sources.pods.roles import Fields


MAX_SPECS_REMEMBERED: Final = 10_000
"""How many different specs are looked out for."""


def has_ended(manifest: Fields) -> bool:
    """Tell whether a pod of a cluster has run to its end."""
    return (manifest.get("status") or {}).get("phase") in FINISHED


class Copies(NamedTuple):
    """How many pods to make of each Pod or template; nothing said: one, whatever a template asks for."""

    every: int | None = None
    by_role: Mapping[str, int] = {}
    """Role -> number; beats `every`."""
    gang: bool = False
    """As many of each template as its object asks for."""


ONE: Final = Copies()


class Reading:
    """What has been read so far."""

    def __init__(self) -> None:
        self.carriers: list[Carrier] = []
        self.without_pod: Counter[str] = Counter()
        self.finished = 0
        self.notices: list[Notice] = []
        self.broken: list[InputError] = []
        self.claims: list[Document] = []
        self._read: dict[int, Pod] = {}
        """Id of a spec -> the first pod that has it."""

    def take(self, found: Found) -> None:
        """Add what a document holds, without the pods that have ended."""
        for carrier in found.carriers:
            if carrier.is_pod and has_ended(carrier.object):
                self.finished += 1
            else:
                self.carriers.append(self._alike(carrier))
        self.without_pod.update(found.without_pod)

    def _alike(self, carrier: Carrier) -> Carrier:
        """Let pods share what was read of one spec: equal specs of a long text are one value."""
        pod = carrier.pod
        first = self._read.get(id(pod.spec))
        if first is None:
            if len(self._read) < MAX_SPECS_REMEMBERED:
                self._read[id(pod.spec)] = pod
            return carrier
        return carrier._replace(pod=pod._replace(containers=first.containers))

    def refuse(self, error: InputError, file: str, mixed: bool) -> None:
        """Add what is wrong with one of several inputs, or with an object in it."""
        error = explained(error, file) if "{{" in error.message else error
        notice = files.passed_over(error, file) if mixed else None
        if notice is None:
            self.broken.append(error)
        elif notice not in self.notices:
            self.notices.append(notice)


Numbers = dict[tuple[str, str], int]
"""(namespace, prefix) -> the first number that may be free: no name that was taken becomes free again."""
Taken = dict[object, Carrier | None]
"""(namespace, name), or a uid -> who has it; None: a pod on the node."""


def _keeps_its_name(carrier: Carrier, copies: Copies) -> bool:
    return carrier.is_pod and bool(carrier.pod.name) and (copies.every or 1) == 1


def pods_of(carriers: Iterable[Carrier]) -> list[Pod]:
    """Make the pods of objects, one of each template.

    Raises:
        InputError: two pods have the same name or uid.
    """
    reading = Reading()
    reading.carriers += carriers
    taken = taken_by(reading, ONE, ())
    numbers: Numbers = {}
    return [pod for carrier in reading.carriers for pod in replicas_of(carrier, 1, ONE, taken, numbers)]


def taken_by(reading: Reading, copies: Copies, beside: Iterable[Pod]) -> Taken:
    """Collect the names that pods bring along; two pods of one name, or of one uid, are an error.

    Among several files the second pod of a name is left out, and said to be broken.
    """
    beside = tuple(beside)
    names: Taken = {(pod.namespace, pod.name): None for pod in beside}
    uids: Taken = {pod.uid: None for pod in beside}
    kept = []
    files_read = {carrier.document.name for carrier in reading.carriers}
    for carrier in reading.carriers:
        try:
            if _keeps_its_name(carrier, copies):
                pod = carrier.pod
                _take(names, (pod.namespace, pod.name), carrier, "name", pod.name)
                _take(uids, pod.uid, carrier, "uid", pod.uid)
        except InputError as error:
            if len(files_read) == 1:
                raise
            reading.broken.append(error)
        else:
            kept.append(carrier)
    reading.carriers[:] = kept
    return names


def _take(known: Taken, key: object, carrier: Carrier, field: str, text: str) -> None:
    if key in known:
        holder = known[key]
        who = f"the pod at {holder.document.where(holder.template.path)}" if holder else "a pod on the node"
        place = child(child(carrier.template.path, "metadata"), field)
        raise carrier.document.error(f'"{text}" is also the {field} of {who}', place)
    known[key] = carrier


def replicas_of(carrier: Carrier, count: int, copies: Copies, taken: Taken, numbers: Numbers) -> Iterator[Pod]:
    """Make the pods of an object; those that bring no name get the next free one (`web-0`, `train-worker-1`, …)."""
    pod = carrier.pod
    if _keeps_its_name(carrier, copies):
        yield pod
        return
    prefix = (carrier.object.get("metadata") or {}).get("generateName")
    if not carrier.is_pod or pod.name or not prefix:
        role = carrier.template.role
        prefix = f"{owner_name(carrier.object)}-{role}-" if role else f"{owner_name(carrier.object)}-"
    number = numbers.get((pod.namespace, prefix), 0)
    for _ in range(count):
        while (pod.namespace, f"{prefix}{number}") in taken:
            number += 1
        name = f"{prefix}{number}"
        taken[pod.namespace, name] = carrier
        numbers[pod.namespace, prefix] = number
        yield pod._replace(name=name, uid=f"{pod.namespace}/{name}")
