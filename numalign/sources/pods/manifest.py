"""Pod manifests -> pods: files, folders and standard input; Pods, Lists, and whatever carries a pod template."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from numalign.errors import InputError, Notice
from numalign.model.pod import Pod
from numalign.sources.pods import files
from numalign.sources.pods.files import explained
from numalign.sources.pods.notes import no_pod_in, notes_of, podless
from numalign.sources.pods.pod_objects import Carrier, owner_name, search
from numalign.sources.pods.shapes import Template
from numalign.sources.pods.template_pods import ONE, Copies, Numbers, Reading, Taken, replicas_of, taken_by
from numalign.sources.text import EMPTY, elements
from numalign.sources.text.yaml import Document, FilePath, Place, load_file, shown_name
from numalign.values import NamedTuple

if TYPE_CHECKING:
    pass

_OF_CLAIMS: Final = frozenset({"DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"})


class PodSource(NamedTuple):
    """A pod and where it comes from."""

    pod: Pod
    document: Place
    template: Template
    """Where it stands and what part it plays; what it holds is in `pod`."""
    kind: str
    """The kind of the object that carries it: `Pod`, `Deployment`, …"""
    owner: str
    """The name of that object."""
    controller: tuple[str, str] | None
    """Of a Pod (kind, name) of its controller; None: it has none."""

    @property
    def belongs_to(self) -> tuple[str, ...] | None:
        """Kind and name, and what else tells it from others, of the object or the controller of a pod; None: none."""
        if self.kind != "Pod":
            return self.kind, self.owner, self.document.name, str(self.document.first_line)
        return self.controller and (*self.controller, self.pod.namespace)

    @property
    def origin(self) -> str:
        """`file:line` of the pod or its template."""
        return f"{self.document.name}:{self.document.line(self.template.path)}"


class PodInput(NamedTuple):
    """What the POD arguments of a command line hold."""

    sources: tuple[PodSource, ...]
    without_pod: Mapping[str, int]
    """Kind -> how many documents (and items of lists) of it have no pod in them."""
    finished: int
    """How many pods have ended, so were passed over."""
    notices: tuple[Notice, ...]
    """What was passed over, tried in part or approximated, a line of each kind."""
    broken: tuple[InputError, ...]
    """What is wrong with inputs (or objects in them) that were left out; only where several were given."""
    claims: tuple[Document, ...]
    """Documents of standard input with claims, templates, classes or slices: nobody can read them there again."""

    @property
    def pods(self) -> tuple[Pod, ...]:
        """The pods, in the order of the input."""
        return tuple(source.pod for source in self.sources)

    @property
    def passed_over(self) -> int:
        """How many documents have no pod in them."""
        return sum(self.without_pod.values())


def read_pods(
    names: Iterable[FilePath],
    copies: Copies = ONE,
    beside: Iterable[Pod] = (),
    *,
    unique: bool = True,
    mixed: bool = False,
    needed: bool = True,
) -> PodInput:
    """Read the pods of files, folders and `-` (standard input), in this order.

    Where several files are given, or a folder, what is broken is collected and the rest is read.

    Args:
        names: the inputs; in a folder the files that end in .yaml, .yml or .json, by name.
        copies: how many pods to make of each Pod or template.
        beside: pods already there, whose names are taken.
        unique: two pods may not have one name. (Where each is judged by itself, they may.)
        mixed: among several files those that are no manifests are passed over, and named: other text, and sources of
            Helm and kustomize.
        needed: it is an error if there is no pod at all.

    Raises:
        InputError: the only input cannot be read, or holds a pod that the API server would refuse; or no pod is there.
    """
    names = tuple(names)
    reading = _read_all(names, mixed)
    if needed and not reading.carriers and not reading.finished:
        if reading.broken:
            raise reading.broken[0]
        raise InputError(no_pod_in(reading.without_pod), ", ".join(map(shown_name, names)))
    taken = taken_by(reading, copies, beside) if unique else {}
    _check_roles(copies.by_role, reading.carriers)
    partly = [one for one in reading.carriers if _asked(one, copies) is None and one.template.wanted != 1]
    notices = (
        *reading.notices,
        *notes_of(reading.carriers, partly, reading.finished),
        *podless(reading.without_pod),
    )
    partly.clear()
    return PodInput(
        sources=tuple(_sources(reading.carriers, copies, taken)),
        without_pod=reading.without_pod,
        finished=reading.finished,
        notices=notices,
        broken=tuple(reading.broken),
        claims=tuple(reading.claims),
    )


def _sources(carriers: list[Carrier], copies: Copies, taken: Taken) -> Iterator[PodSource]:
    """Make the pods; of very many documents only the places stay, so the carriers are used up."""
    carriers.reverse()
    document: Document | None = None
    place: Place | None = None
    numbers: Numbers = {}
    while carriers:
        carrier = carriers.pop()
        if place is None or carrier.document is not document:
            document, place = carrier.document, carrier.document.place
        template = carrier.template._replace(manifest=EMPTY)
        asked = _asked(carrier, copies)
        for pod in replicas_of(carrier, 1 if asked is None else asked, copies, taken, numbers):
            yield PodSource(
                pod=pod,
                document=place,
                template=template,
                kind=carrier.kind,
                owner=owner_name(carrier.object),
                controller=_controller(carrier) if carrier.is_pod else None,
            )
        name = carrier.pod.namespace, carrier.pod.name
        if taken.get(name) is carrier:
            taken[name] = None


def _controller(carrier: Carrier) -> tuple[str, str] | None:
    """Name the controller of a Pod; the kubelet reads none, so what is no owner is passed over."""
    for one in elements(carrier.object, "metadata", "ownerReferences"):
        if one.get("controller") is True:
            return str(one.get("kind")), str(one.get("name"))
    return None


def _read_all(names: Sequence[FilePath], mixed: bool) -> Reading:
    reading = Reading()
    listed: list[str] = []
    for name in names:
        try:
            listed += files.files_in(name)
        except InputError as error:
            if len(names) == 1:
                raise
            reading.refuse(error, str(name), mixed)
    reading.notices += files.kustomized(names)
    several = len(names) > 1 or len(listed) > 1
    seen: set[str] = set()
    for file in listed:
        if files.identity(file) in seen:
            reading.notices.append(Notice("file-twice", "named several times, read once", file))
            continue
        seen.add(files.identity(file))
        if several and mixed and files.is_foreign(file):
            reading.notices.append(files.NO_MANIFEST._replace(path=file))
            continue
        refuse = partial(reading.refuse, file=file, mixed=mixed) if several else None
        try:
            for document in load_file(file, last=True):
                reading.notices += document.duplicates()
                found = search(document, check=True, refused=refuse)
                reading.take(found)
                if file == "-" and not _OF_CLAIMS.isdisjoint(found.without_pod):
                    reading.claims.append(document)
        except InputError as error:
            said = explained(error, file)
            if refuse is None:
                raise said from None
            refuse(said)
    reading.notices += files.not_searched(names, seen)
    return reading


def _asked(carrier: Carrier, copies: Copies) -> int | None:
    """Return the number of pods that was asked for; None: nobody named one."""
    role = carrier.template.role
    for name in (role, role.rpartition("-")[2]):
        if name in copies.by_role and not carrier.is_pod:
            return copies.by_role[name]
    if copies.every is None and copies.gang:
        return carrier.template.wanted
    return copies.every


def _check_roles(by_role: Mapping[str, int], carriers: Iterable[Carrier]) -> None:
    roles = {carrier.template.role for carrier in carriers} - {""}
    for role in by_role:
        if role not in roles and role not in {known.rpartition("-")[2] for known in roles}:
            known = f"allowed: {', '.join(sorted(roles))}" if roles else "the templates have no roles"
            raise InputError(f"no template has the role {role}; {known}", "--replicas")


# Names
