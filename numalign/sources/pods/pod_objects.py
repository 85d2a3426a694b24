"""From documents to the objects in them that carry a pod: Pods, and whatever has a pod template somewhere."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from numalign.errors import InputError
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.apiserver.types import Problem, misfits
from numalign.model.apiserver.validation import validate
from numalign.model.path import child
from numalign.model.pod import Pod
from numalign.sources.pods.files import SourceError
from numalign.sources.pods.shapes import Template, joined
from numalign.sources.text import inside, listed
from numalign.sources.text.yaml import Document
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.sources.pods.roles import Fields

MAX_CONTAINERS: Final = 5_000
"""Most containers of a pod: an object of an API server has 3 MiB at most."""
NO_KIND: Final = ""
"""The kind of a document that has none."""
HELM_VALUES: Final = "Helm values"


class Carrier(NamedTuple):
    """A pod, or a template of pods, in an object; checked."""

    document: Document
    object: Fields
    kind: str
    template: Template
    """Of a Pod: the Pod itself."""
    pod: Pod
    """As read; a template's pod has no name yet."""

    @property
    def is_pod(self) -> bool:
        """Whether it is a Pod itself, not a template."""
        return self.kind == "Pod"


class Thing(NamedTuple):
    """An object of a document, items of lists one by one."""

    document: Document
    data: Any
    path: str
    """Where it is in the document: \"\", or in a List `items[2]`."""
    kind: str
    """Its kind; where only the list around it says so, from there; empty where nobody says."""


class Found(NamedTuple):
    """What a document holds; the lists grow while it is read."""

    carriers: list[Carrier]
    without_pod: list[str]
    """The kind of each object without a pod."""
    lists: list[str]
    """The kind of each List."""


def things_of(document: Document, lists: list[str] | None = None) -> Iterator[Thing]:
    """Yield the objects of a document, in its order; kinds of lists go to `lists`."""
    pending = [Thing(document, document.data, "", _kind(document.data, NO_KIND))]
    while pending:
        thing = pending.pop()
        items = _items(thing.data)
        if items is None:
            yield thing
            continue
        if lists is not None:
            lists.append(thing.kind)
        place, kind = child(thing.path, "items"), thing.kind.removesuffix("List")
        inside = [Thing(document, item, child(place, index), _kind(item, kind)) for index, item in enumerate(items)]
        pending.extend(reversed(inside))


def search(document: Document, *, check: bool, refused: Callable[[InputError], None] | None = None) -> Found:
    """Find the objects with a pod in a document, and name the others.

    Args:
        document: the document.
        check: refuse what the API server would refuse.
        refused: takes what is wrong with an object, and the search goes on; None: the first such thing is raised.

    Raises:
        InputError: a pod is one the API server would refuse.
    """
    found = Found([], [], [])
    for thing in things_of(document, found.lists):
        try:
            carriers = carriers_of(thing, check=check)
        except InputError as error:
            if refused is None:
                raise
            refused(error)
            continue
        found.carriers.extend(carriers)
        if not carriers:
            found.without_pod.append(_described(thing))
    return found


def _described(thing: Thing) -> str:
    """Say what an object without a pod is."""
    if not thing.kind:
        return _kind_of_file(thing.document.name)
    from numalign.sources.pods.operated import makes_pods

    made = not _carries_none(thing.data) and makes_pods(thing.data)
    return f"{thing.kind} (its operator makes the pods)" if made else thing.kind


def _carries_none(data: object) -> bool:
    return not isinstance(data, Mapping) or str(data.get("apiVersion")).startswith(_NO_PODS)


def _kind_of_file(name: str) -> str:
    """Tell what a file without kinds is by its name."""
    words = os.path.basename(name).replace("-", ".").replace("_", ".").split(".")
    return HELM_VALUES if "values" in words else NO_KIND


def _items(thing: object) -> list[object] | None:
    """Return the items of a List (PodList, DeploymentList, …); None for anything else."""
    if not isinstance(thing, Mapping) or not str(thing.get("kind")).endswith("List") or "spec" in thing:
        return None
    items = thing.get("items", [])
    return items if isinstance(items, list) else [] if items is None else None


def _kind(thing: object, list_kind: str) -> str:
    kind = inside(thing, "kind")
    return kind if isinstance(kind, str) and kind.isprintable() else list_kind


_WORKLOADS: Final = frozenset(
    {"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job", "CronJob", "PodTemplate"}
)
_NO_PODS: Final = (
    "apiextensions.k8s.io/",
    "kyverno.io/",
    "policies.kyverno.io/",
    "constraints.gatekeeper.sh/",
    "numalign/",
)
"""Groups whose objects speak of pods and carry none to create: schemas and patterns, and states of our own."""


def carriers_of(thing: Thing, *, check: bool) -> list[Carrier]:
    """Read the pods of an object, and of the whole objects inside it.

    Raises:
        InputError: a pod is one the API server would refuse.
    """
    document, data, path, kind = thing
    if not isinstance(data, Mapping) or _carries_none(data):
        return []
    if kind == "Pod":
        template = Template(path, data)
        return [Carrier(document, data, "Pod", template, _checked(document, template, check, named=True))]
    from numalign.sources.pods.counts import CountError

    try:
        templates = list(_templates(data, kind, path))
    except CountError as error:
        raise document.error(error.message, error.path) from None
    if not templates:
        return _inside(thing, check)
    if not kind:
        raise document.error("missing; it is required", child(path, "kind"))
    metadata = data.get("metadata") or {}
    for problem in _judge_owner(metadata):
        raise document.error(problem.message, joined(path, problem.path))
    namespace = metadata.get("namespace") or "default"
    return [
        Carrier(document, data, kind, template, pod._replace(namespace=namespace))
        for template in templates
        for pod in (_checked(document, template, check, named=False),)
    ]


def _templates(thing: Fields, kind: str, path: str) -> Iterator[Template]:
    """Yield an object's templates: the one a workload of Kubernetes itself must have, or those that are found."""
    if _is_workload(thing, kind):
        yield _own_template(thing, kind, path)
        return
    from numalign.sources.pods import argo, kubevirt, operated, spark, templates

    yield from operated.templates_of(thing, kind, path, lambda: templates.templates_of(thing, kind, path))
    yield from argo.templates_of(thing, path, _templates)
    yield from kubevirt.templates_of(thing, kind, path)
    yield from spark.templates_of(thing, kind, path)


def _own_template(thing: Fields, kind: str, path: str) -> Template:
    from numalign.sources.pods.counts import wanted_pods
    from numalign.sources.pods.roles import Step

    keys = {"CronJob": ("spec", "jobTemplate", "spec", "template"), "PodTemplate": ("template",)}
    steps = []
    value: object = thing
    place = path
    for key in keys.get(kind, ("spec", "template")):
        value = inside(value, key)
        place = child(place, key)
        steps.append(Step(key, value))
    wanted = wanted_pods(thing, kind, path, steps)
    return Template(place, cast("Fields", value if value is not None else {}), wanted=wanted)


def _is_workload(thing: Fields, kind: str) -> bool:
    """Tell whether an object of Kubernetes itself must have a pod template."""
    group = thing.get("apiVersion")
    own = group in (None, "v1") or str(group).startswith(("apps/", "batch/", "extensions/"))
    return own and kind in _WORKLOADS


def _inside(thing: Thing, check: bool) -> list[Carrier]:
    """Look into an object without a template: is it a pod without a kind, or does it hold whole objects?"""
    spec = thing.data.get("spec")
    if not thing.kind and isinstance(spec, Mapping) and "containers" in spec:
        raise thing.document.error("missing; fix: add kind: Pod", child(thing.path, "kind"))
    from numalign.sources.pods.templates import embedded_in

    return [
        carrier
        for data, place in embedded_in(thing.data)
        for carrier in carriers_of(
            Thing(thing.document, data, joined(thing.path, place), _kind(data, NO_KIND)), check=check
        )
    ]


def _judge_owner(metadata: Fields) -> Iterator[Problem]:
    """Judge what is needed of the metadata of an object with a template."""
    yield from misfits({"metadata": metadata, "spec": {"containers": []}})
    if not metadata.get("name") and not metadata.get("generateName"):
        yield Problem("metadata.name", "missing; it is required")


def _checked(document: Document, template: Template, check: bool, named: bool) -> Pod:
    """Read what looks like a Pod, after the API server's validation if `check`."""
    manifest = template.manifest
    _check_size(document, template)
    problems = validate(manifest, named=named) if check else ()
    if problems:
        first = problems[0]
        if first.path.endswith('["$patch"]'):
            error = document.error("a kustomize patch, not a manifest", template.place(first.path))
            raise SourceError(error.message, error.where)
        others = len(problems) - 1
        more = f" (and {others} more problem{'s' * (others > 1)})" if others else ""
        raise document.error(first.message + more, template.place(first.path))
    try:
        pod = read_pod(manifest)
    except InputError as error:
        raise document.error(error.message, template.place(error.where)) from None
    if named and not owner_name(manifest):
        raise document.error("missing; it is required", template.place("metadata.name"))
    return pod


def _check_size(document: Document, template: Template) -> None:
    """Refuse more containers than any API server takes; each is made into much more than its text."""
    for name in ("initContainers", "containers"):
        given = len(listed(template.manifest, "spec", name))
        if given > MAX_CONTAINERS:
            message = f"has {given:,} entries; numalign reads at most {MAX_CONTAINERS:,}"
            raise document.error(message, template.place(f"spec.{name}"))


def owner_name(thing: Fields) -> str:
    """Return the name of an object, or the beginning of the name that it is to be given."""
    metadata = thing.get("metadata") or {}
    return metadata.get("name") or str(metadata.get("generateName") or "").rstrip("-")
