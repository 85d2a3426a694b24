"""Traces: what is asked of a cluster over time, one workload a line (docs/rules/scheduling.md 6.2)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final, get_args

from numalign.errors import InputError
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.apiserver.validation import validate
from numalign.model.pod import Pod
from numalign.scheduler.simulate.generator import Arrivals, PodShape
from numalign.scheduler.simulate.settings import Workload, WorkloadKind, microseconds
from numalign.sources.pods.manifest import read as read_manifests
from numalign.sources.recorded.scenario import lines
from numalign.sources.text import fields
from numalign.sources.text.fields import FieldError, Path

KEYS: Final = (
    "t",
    "name",
    "namespace",
    "kind",
    "replicas",
    "duration",
    "delete_at",
    "pod",
    "pod_file",
    "node",
)
_POD: Final = ("initContainers", "containers", "overhead", "nodeSelector", "priority")
_CONTAINER: Final = ("name", "requests", "limits", "restartPolicy")
KINDS: Final[tuple[WorkloadKind, ...]] = get_args(WorkloadKind)
MAX_SECONDS: Final = 10**9
"""Latest time of a trace: thirty years."""
MAX_REPLICAS: Final = 100_000
"""Of one workload."""
MAX_WORKLOADS: Final = 10_000_000


def read_trace(path: str) -> tuple[Workload, ...]:
    """Read a trace, plain or gzip; its workloads in the order of their arrival.

    Raises:
        InputError: a line is wrong; it is named.
    """
    known: dict[str, Pod] = {}
    result: list[Workload] = []
    try:
        with open(path, "rb") as stream:
            for number, line in lines(stream):
                if isinstance(line, InputError):
                    raise InputError(line.message, f"{path}:{number}")
                result.append(_checked(line, path, number, known))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path) from None
    for earlier, later in pairwise(result):
        if later.at < earlier.at:
            raise InputError(f"workload {later.name} arrives before the one on the line above; sort by t", path)
    _check_names(result, path)
    return tuple(result)


def _check_names(workloads: list[Workload], path: str) -> None:
    seen: set[tuple[str, str]] = set()
    for one in workloads:
        key = (one.pod.namespace, one.name)
        if key in seen:
            raise InputError(f"two workloads are called {one.pod.namespace}/{one.name}", path)
        seen.add(key)


def _checked(line: bytes, path: str, number: int, known: dict[str, Pod]) -> Workload:
    where = f"{path}:{number}"
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "it is nested too deep or no text"
        raise InputError(f"no JSON object: {reason}", where) from None
    try:
        return _workload(fields.mapping(data, (), "a workload: a JSON object"), os.path.dirname(path), known)
    except FieldError as error:
        place = fields.dotted(error.path)
        raise InputError(f"{place}: {error.message}" if place else error.message, where) from None


def _workload(data: Mapping[str, object], folder: str, known: dict[str, Pod]) -> Workload:
    fields.only(data, KEYS, ())
    namespace = fields.text(data.get("namespace", "default"), ("namespace",))
    replicas = fields.integer(data.get("replicas", 1), ("replicas",), 0, MAX_REPLICAS)
    kind = data.get("kind", "replicaset" if replicas > 1 else "pod")
    if kind not in KINDS:
        raise FieldError(("kind",), f"expected one of {', '.join(KINDS)}, got {fields.shown(kind)}")
    if ("pod" in data) == ("pod_file" in data):
        raise FieldError((), "expected either pod or pod_file")
    return Workload(
        at=_time(data.get("t"), "t"),
        name=fields.text(data.get("name"), ("name",), "the workload's name"),
        pod=(_pod(data["pod"], known) if "pod" in data else _from_file(data["pod_file"], folder, known))._replace(
            namespace=namespace
        ),
        kind=kind,
        replicas=replicas,
        duration=None if data.get("duration") is None else _time(data["duration"], "duration"),
        delete_at=None if data.get("delete_at") is None else _time(data["delete_at"], "delete_at"),
        machine=None if data.get("node") is None else fields.text(data["node"], ("node",)),
    )


def _time(value: object, key: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_SECONDS:
        raise FieldError((key,), f"expected seconds, 0 or more, got {fields.shown(value)}")
    return microseconds(value)


def _pod(value: object, known: dict[str, Pod]) -> Pod:
    """Read a pod in the short form of a trace: amounts stand in the containers themselves."""
    key = json.dumps(value, sort_keys=True)
    found = known.get(key)
    if found is None:
        found = known[key] = _short_pod(fields.mapping(value, ("pod",)))
    return found


def _short_pod(data: Mapping[str, object]) -> Pod:
    fields.only(data, _POD, ("pod",))
    spec: dict[str, object] = {name: data[name] for name in ("overhead", "nodeSelector", "priority") if name in data}
    for name in ("initContainers", "containers"):
        if name in data or name == "containers":
            spec[name] = list(_containers(data.get(name), name))
    manifest = {"metadata": {"name": "pod"}, "spec": spec}
    problems = validate(manifest)
    if problems:
        raise FieldError(("pod",), f"{problems[0].path}: {problems[0].message}")
    try:
        return read_pod(manifest)
    except InputError as error:
        raise FieldError(("pod",), str(error)) from None


def _containers(value: object, name: str) -> Iterator[dict[str, object]]:
    for place, one in enumerate(fields.sequence(value, ("pod", name), "a list of containers")):
        path = ("pod", name, place)
        container = fields.mapping(one, path)
        fields.only(container, _CONTAINER, path)
        resources = {key: container[key] for key in ("requests", "limits") if key in container}
        rest = {key: container[key] for key in ("name", "restartPolicy") if key in container}
        yield {**rest, "image": "none", "resources": resources}


def _from_file(value: object, folder: str, known: dict[str, Pod]) -> Pod:
    """Read the pod, or the template of the workload, in a manifest; its path is relative to the trace."""
    path = os.path.join(folder, fields.text(value, ("pod_file",), "the path of a manifest"))
    found = known.get(path)
    if found is None:
        pods = read_manifests([path]).pods
        if len(pods) != 1:
            raise FieldError(("pod_file",), f"expected a file with one pod, {path} has {len(pods)}")
        found = known[path] = pods[0]
    return found


_ARRIVALS: Final = ("workloads", "per_second", "duration_s", "fixed_duration", "seed", "shapes")
_SHAPE: Final = ("name", "pod", "pod_file", "weight", "replicas")


def read_arrivals(data: object, folder: str, seed: int | None = None) -> Arrivals:
    """Read what a synthetic trace is made of: `workloads`, `per_second`, `duration_s`, `shapes`.

    Args:
        data: the document.
        folder: where paths in it start.
        seed: in place of the document's own.

    Raises:
        FieldError: a key is unknown or a value wrong.
    """
    given = fields.mapping(data, (), "a mapping with shapes")
    fields.only(given, _ARRIVALS, ())
    known: dict[str, Pod] = {}
    shapes = []
    for place, one in enumerate(fields.sequence(given.get("shapes"), ("shapes",), "a list of shapes")):
        path = ("shapes", place)
        shape = fields.mapping(one, path)
        fields.only(shape, _SHAPE, path)
        pod = _pod(shape["pod"], known) if "pod" in shape else _from_file(shape.get("pod_file"), folder, known)
        name = fields.text(shape.get("name", f"shape{place}"), (*path, "name"))
        replicas = fields.integer(shape.get("replicas", 1), (*path, "replicas"), 1, MAX_REPLICAS)
        shapes.append(PodShape(name, pod, _positive(shape.get("weight", 1), (*path, "weight")), replicas))
    if not shapes:
        raise FieldError(("shapes",), "expected at least one shape")
    duration = given.get("duration_s")
    return Arrivals(
        shapes=tuple(shapes),
        workloads=fields.integer(given.get("workloads"), ("workloads",), 0, MAX_WORKLOADS),
        per_second=_positive(given.get("per_second"), ("per_second",)),
        duration_s=None if duration is None else _positive(duration, ("duration_s",)),
        fixed_duration=fields.boolean(given.get("fixed_duration", False), ("fixed_duration",)),
        seed=fields.integer(given.get("seed", 0), ("seed",), 0, 2**63 - 1) if seed is None else seed,
    )


def _positive(value: object, path: Path) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= MAX_SECONDS:
        raise FieldError(path, f"expected a number above 0, got {fields.shown(value)}")
    return value
