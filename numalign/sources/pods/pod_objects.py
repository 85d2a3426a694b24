"""From manifest files to the objects in them that carry a pod: Pods, and whatever has a pod template."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from numalign.errors import InputError
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.apiserver.types import Problem, misfits, shown
from numalign.model.apiserver.validation import validate
from numalign.model.path import child
from numalign.model.pod import Pod
from numalign.sources.text.yaml import Document, FilePath, load_file

SUFFIXES: Final = (".yaml", ".yml", ".json")
"""Files of a folder that are read; the others are passed over."""


class Carrier(NamedTuple):
    """An object with a pod in it, checked."""

    document: Document
    object: Mapping[str, Any]
    object_path: str
    """Where the object is in the document: \"\", or in a List `items[2]`."""
    path: str
    """Of the part that reads like a Pod."""
    pod: Pod
    """As read; a template's pod has no name yet."""
    kind: str

    @property
    def is_pod(self) -> bool:
        """Whether it is a Pod itself, not a template."""
        return self.path == self.object_path


def _documents(name: FilePath) -> Iterator[Document]:
    if str(name) == "-" or "\0" in str(name) or not os.path.isdir(name):
        yield from load_file(name)
        return
    try:
        with os.scandir(name) as entries:
            files = sorted(entry.path for entry in entries if entry.name.endswith(SUFFIXES) and entry.is_file())
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", str(name)) from None
    if not files:
        raise InputError(f"no file that ends in {', '.join(SUFFIXES)} in this folder", str(name))
    for file in files:
        yield from load_file(file)


class Thing(NamedTuple):
    """An object of a file, items of lists one by one."""

    document: Document
    data: Any
    path: str
    """Where it is in the document: \"\", or in a List `items[2]`."""
    kind: str
    """Its kind where only the list around it says so; else empty."""


def things_of(name: FilePath) -> Iterator[Thing | None]:
    """Yield the objects of a file, folder or `-`; None stands for a list, before its items."""
    for document in _documents(name):
        pending = [Thing(document, document.data, "", "")]
        while pending:
            thing = pending.pop()
            items = _items(thing.data)
            if items is None:
                yield thing
                continue
            yield None
            kind = str(thing.data["kind"]).removesuffix("List")
            place = child(thing.path, "items")
            inside = [Thing(document, item, child(place, index), kind) for index, item in enumerate(items)]
            pending.extend(reversed(inside))


def carriers_of(name: FilePath, check: bool) -> tuple[list[Carrier], int, bool]:
    """Find the objects with a pod, count the others, and tell whether there was a list."""
    found: list[Carrier] = []
    others = 0
    has_list = False
    for thing in things_of(name):
        if thing is None:
            has_list = True
            continue
        carrier = carrier_of(thing, check)
        if carrier is None:
            others += 1
        else:
            found.append(carrier)
    return found, others, has_list


def carrier_of(thing: Thing, check: bool) -> Carrier | None:
    """Read the pod of an object; None if it has none."""
    return (
        _carrier(thing.document, thing.data, thing.path, thing.kind, check) if isinstance(thing.data, Mapping) else None
    )


def _items(thing: Any) -> list[Any] | None:
    """Give the items of a List (PodList, DeploymentList, …); None for anything else."""
    if not isinstance(thing, Mapping) or not str(thing.get("kind")).endswith("List") or "spec" in thing:
        return None
    items = thing.get("items", [])
    return items if isinstance(items, list) else [] if items is None else None


_WORKLOADS: Final = frozenset(
    {"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job", "CronJob"}
)


def _carrier(document: Document, thing: Mapping[str, Any], path: str, list_kind: str, check: bool) -> Carrier | None:
    """Read the pod of an object; None if it has none."""
    kind = thing.get("kind") or list_kind
    if kind == "Pod":
        return Carrier(document, thing, path, path, _checked(document, thing, path, check, named=True), "Pod")
    place, template = _template(thing, path)
    spec = template.get("spec") if isinstance(template, Mapping) else None
    has_containers = isinstance(spec, Mapping) and "containers" in spec
    if not has_containers and not _is_workload(thing, kind):
        own = thing.get("spec")
        if not kind and isinstance(own, Mapping) and "containers" in own:
            raise document.error('missing; this looks like a pod, which needs "kind: Pod"', child(path, "kind"))
        return None
    if not isinstance(kind, str) or not kind:
        raise document.error("missing; it is required", child(path, "kind"))
    metadata = thing.get("metadata")
    for problem in _judge_owner(metadata):
        raise document.error(problem.message, _join(path, problem.path))
    pod = _checked(document, template if template is not None else {}, place, check, named=False)
    namespace = (metadata or {}).get("namespace") or "default"
    return Carrier(document, thing, path, place, pod._replace(namespace=namespace), kind)


def _template(thing: Mapping[str, Any], path: str) -> tuple[str, Any]:
    """Find the pod template of an object: its place, and the template or None."""
    inner: Any = thing.get("spec")
    place = child(path, "spec")
    if isinstance(inner, Mapping) and "jobTemplate" in inner:
        job = inner["jobTemplate"]
        inner = job.get("spec") if isinstance(job, Mapping) else None
        place = f"{place}.jobTemplate.spec"
    return f"{place}.template", inner.get("template") if isinstance(inner, Mapping) else None


def _is_workload(thing: Mapping[str, Any], kind: object) -> bool:
    """Tell whether an object of Kubernetes itself must have a pod template."""
    group = thing.get("apiVersion")
    return (
        isinstance(kind, str)
        and kind in _WORKLOADS
        and (group in (None, "v1") or str(group).startswith(("apps/", "batch/")))
    )


def _judge_owner(metadata: Any) -> Iterator[Problem]:
    """Judge what is needed of the metadata of an object with a template."""
    yield from misfits({"metadata": metadata or {}, "spec": {"containers": []}})
    if not (metadata or {}).get("name") and not (metadata or {}).get("generateName"):
        yield Problem("metadata.name", "missing; it is required")


def _join(prefix: str, path: str) -> str:
    return f"{prefix}.{path}" if prefix and path else prefix or path


def _checked(document: Document, manifest: Any, path: str, check: bool, named: bool) -> Pod:
    """Read what looks like a Pod, after the API server's validation if `check`."""
    problems = validate(manifest, named=named) if check else ()
    if problems:
        first = problems[0]
        more = f" (and {len(problems) - 1} more problems)" if len(problems) > 1 else ""
        raise document.error(first.message + more.replace("1 more problems", "1 more problem"), _join(path, first.path))
    try:
        pod = read_pod(manifest)
    except InputError as error:
        raise document.error(error.message, _join(path, error.where)) from None
    if named and not owner_name(manifest):
        raise document.error("missing; it is required", _join(path, "metadata.name"))
    return pod


def wanted_replicas(carrier: Carrier) -> int:
    """Tell how many pods an object wants at a time."""
    if carrier.kind == "DaemonSet":
        return 1
    place = carrier.path.removesuffix(".template")
    spec = carrier.object["spec"]
    if "jobTemplate" in spec:
        spec = spec["jobTemplate"]["spec"]
    if carrier.kind in ("Job", "CronJob"):
        parallelism = _count(carrier, spec, place, "parallelism")
        return min(parallelism, _count(carrier, spec, place, "completions", parallelism))
    return _count(carrier, spec, place, "replicas")


def _count(carrier: Carrier, spec: Mapping[str, Any], place: str, field: str, default: int = 1) -> int:
    value = spec.get(field)
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise carrier.document.error(f"expected a whole number, zero or more, got {shown(value)}", child(place, field))
    return value


def owner_name(thing: Mapping[str, Any]) -> str:
    """Give the name of an object, or the beginning of the name that it is to be given."""
    metadata = thing.get("metadata") or {}
    return metadata.get("name") or str(metadata.get("generateName") or "").rstrip("-")
