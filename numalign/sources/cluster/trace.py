"""Traces: what is asked of a cluster over time, one workload a line (docs/rules/scheduling.md 6.2)."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from itertools import pairwise
from typing import Final, get_args

from numalign.errors import InputError
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.apiserver.validation import validate
from numalign.model.document import Data, anything, as_dict, choice, field, maybe, record
from numalign.model.document.values import boolean, integer, list_of, number, text, turned
from numalign.model.path import FieldError, Path, dotted
from numalign.model.pod import Pod
from numalign.scheduler.simulate.generator import Arrivals, PodShape
from numalign.scheduler.simulate.settings import SECOND, Workload, WorkloadKind, microseconds
from numalign.sources.pods.manifest import read_pods as read_manifests
from numalign.sources.recorded.scenario import lines
from numalign.store.reading import reading

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
    with reading(path) as stream:
        for number, line in lines(stream):
            if isinstance(line, InputError):
                raise InputError(line.message, f"{path}:{number}")
            result.append(_checked(line, path, number, known))
    for earlier, later in pairwise(result):
        if later.at < earlier.at:
            message = f"workload {later.name} arrives before the workload on the line above; fix: sort by t"
            raise InputError(message, path)
    _check_names(result, path)
    return tuple(result)


def _check_names(workloads: list[Workload], path: str) -> None:
    seen: set[tuple[str, str]] = set()
    for one in workloads:
        key = (one.pod.namespace, one.name)
        if key in seen:
            raise InputError(f"duplicate workload {one.pod.namespace}/{one.name}; fix: rename one", path)
        seen.add(key)


def _checked(line: bytes, path: str, number: int, known: dict[str, Pod]) -> Workload:
    where = f"{path}:{number}"
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "the line is nested too deep, or is not text"
        raise InputError(f"not a JSON object: {reason}", where) from None
    try:
        return _workload(data, os.path.dirname(path), known)
    except FieldError as error:
        place = dotted(error.path)
        raise InputError(f"{place}: {error.message}" if place else error.message, where) from None


def _workload(data: object, folder: str, known: dict[str, Pod]) -> Workload:
    given = WORKLOAD.read(data)
    pod = _pod(given, (), folder, known)._replace(namespace=given.pop("namespace"))
    given["kind"] = given["kind"] or ("replicaset" if given["replicas"] > 1 else "pod")
    return Workload(pod=pod, **given)


def _pod(given: Data, path: Path, folder: str, known: dict[str, Pod]) -> Pod:
    """Take the pod out of what is given, and read it: in the short form, or in a manifest of the folder."""
    short, file = given.pop("pod"), given.pop("pod_file")
    if (short is None) == (file is None):
        raise FieldError(path, "expected either pod or pod_file")
    key = os.path.join(folder, file) if file else json.dumps(short, sort_keys=True)
    if key not in known:
        known[key] = _from_file(key, (*path, "pod_file")) if file else _short_pod(short, (*path, "pod"))
    return known[key]


def _short_pod(spec: Mapping[str, object], path: Path) -> Pod:
    given = {key: list(one) if isinstance(one, tuple) else one for key, one in spec.items() if one is not None}
    manifest = {"metadata": {"name": "pod"}, "spec": given}
    problems = validate(manifest)
    if problems:
        raise FieldError(path, f"{problems[0].path}: {problems[0].message}")
    try:
        return read_pod(manifest)
    except InputError as error:
        raise FieldError(path, str(error)) from None


def _from_file(file: str, path: Path) -> Pod:
    """Read the pod, or the template of the workload, in a manifest."""
    pods = read_manifests([file]).pods
    if len(pods) != 1:
        raise FieldError(path, f"expected a file with one pod, {file} has {len(pods)}")
    return pods[0]


def read_arrivals(data: object, folder: str, seed: int | None = None) -> Arrivals:
    """Read what a synthetic trace is made of: `workloads`, `per_second`, `duration_s`, `shapes`.

    Args:
        data: the document.
        folder: where paths in it start.
        seed: in place of the document's own.

    Raises:
        FieldError: a key is unknown or a value wrong.
    """
    given = ARRIVALS.read(data)
    known: dict[str, Pod] = {}
    shapes = []
    for place, shape in enumerate(given.pop("shapes")):
        pod = _pod(shape, ("shapes", place), folder, known)
        shapes.append(PodShape(pod=pod, **{**shape, "name": shape["name"] or f"shape{place}"}))
    if not shapes:
        raise FieldError(("shapes",), "expected at least one shape")
    return Arrivals(shapes=tuple(shapes), **{**given, "seed": given["seed"] if seed is None else seed})


# Parts of a pod are judged as such.
_QUANTITIES: Final = anything._replace(
    schema={"type": "object", "additionalProperties": {"type": ["string", "number"]}}
)
_WORD: Final = anything._replace(schema={"type": "string"})
_LABELS: Final = anything._replace(schema={"type": "object", "additionalProperties": _WORD.schema})


def _container(*, name: object, requests: object, limits: object, restart: object) -> dict[str, object]:
    amounts = {key: one for key, one in (("requests", requests), ("limits", limits)) if one is not None}
    given = {"name": name, "restartPolicy": restart, "image": "none", "resources": amounts}
    return {key: one for key, one in given.items() if one is not None}


_CONTAINER: Final = record(
    _container,
    field("name", _WORD, None),
    field("requests", _QUANTITIES, None),
    field("limits", _QUANTITIES, None),
    field("restartPolicy", _WORD, None, to="restart"),
)
_CONTAINERS: Final = list_of(_CONTAINER, "a list of containers")
_POD: Final = record(
    as_dict,
    field("initContainers", _CONTAINERS, None, to="initContainers"),
    field("containers", _CONTAINERS),
    field("overhead", _QUANTITIES, None),
    field("nodeSelector", _LABELS, None, to="nodeSelector"),
    field("priority", anything._replace(schema={"type": "integer"}), None),
)
"""A pod in the short form of a trace: amounts stand in the containers themselves."""
_WHICH: Final = (
    field("pod", _POD, None),
    field(
        "pod_file", text("the path of a manifest"), None, says="In place of pod; it starts at the folder of this file."
    ),
)
_TIME: Final = turned(
    number("seconds, 0 or more", 0, MAX_SECONDS), microseconds, lambda microseconds: microseconds / SECOND
)
_REPLICAS: Final = integer(1, MAX_REPLICAS)
WORKLOAD: Final = record(
    as_dict,
    field("t", _TIME, to="at", says="Seconds from the start of the trace."),
    field("name", text("the workload's name")),
    field("namespace", text(), "default"),
    field("kind", choice(*KINDS, start="one of "), None, says="Not given: replicaset, or pod for one replica."),
    field("replicas", integer(0, MAX_REPLICAS), 1),
    maybe("duration", _TIME, says="Seconds from admission to the end; not given: for ever."),
    maybe("delete_at", _TIME),
    *_WHICH,
    maybe("node", text(), to="machine", says="Bound there by somebody else."),
    wanted="a workload: a JSON object",
)
"""A line of a trace."""
_POSITIVE: Final = number("a number above 0", high=MAX_SECONDS, above=0)
ARRIVALS: Final = record(
    as_dict,
    field("workloads", integer(0, MAX_WORKLOADS)),
    field("per_second", _POSITIVE, says="Arrivals a second, in the mean."),
    maybe("duration_s", _POSITIVE, says="How long a pod runs, in the mean; not given: for ever."),
    field("fixed_duration", boolean, False),
    field("seed", integer(0, 2**63 - 1), 0),
    field(
        "shapes",
        list_of(
            record(
                as_dict,
                field("name", text(), None),
                *_WHICH,
                field("weight", _POSITIVE, 1),
                field("replicas", _REPLICAS, 1),
            ),
            "a list of shapes",
        ),
    ),
    wanted="a mapping with shapes",
)
"""What a synthetic trace is made of."""
