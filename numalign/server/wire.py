"""The extender's JSON: what kube-scheduler sends, and what it reads (docs/rules/scheduling.md 5.2).

The Go types carry no JSON tags, so names have capitals; they are read whatever their case and written exactly so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from numalign.errors import InputError
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.pod import Pod
from numalign.scheduler.extender import FilterAnswer
from numalign.sources.text import inside
from numalign.sources.text.json import NumberError, loads
from numalign.values import NamedTuple

MAX_SIGNS: Final = 6_000_000
"""Most signs that begin or separate values in a body; 5,000 whole Node objects have some four million."""


class BadRequestError(Exception):
    """What was sent is no extender call; the text says why."""


class ExtenderArgs(NamedTuple):
    """A call."""

    pod: Pod
    names: tuple[str, ...]
    items: tuple[Mapping[str, object], ...] | None
    """The Node objects, where they were sent whole; None: only names were."""

    @property
    def objects(self) -> Mapping[str, Mapping[str, object]]:
        """Node -> its object, where they were sent whole."""
        return dict(zip(self.names, self.items or (), strict=False))


def read_args(body: bytes) -> ExtenderArgs:
    """Read ExtenderArgs.

    Raises:
        BadRequestError: it is no JSON, or not of this form.
    """
    if sum(map(body.count, (b",", b":", b"[", b"{"))) > MAX_SIGNS:
        raise BadRequestError("the body holds too many values")
    try:
        data = loads(body)
    except NumberError as error:
        raise BadRequestError(str(error)) from None
    except (ValueError, RecursionError) as error:
        raise BadRequestError(f"the body is not JSON: {type(error).__name__}") from None
    if not isinstance(data, dict):
        raise BadRequestError("expected a JSON object")
    pod = _field(data, "pod")
    if not isinstance(pod, dict):
        raise BadRequestError("Pod: expected an object")
    names, items = _field(data, "nodenames"), _items(_field(data, "nodes"))
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        return ExtenderArgs(_pod(pod), tuple(names), None)
    if names is not None:
        raise BadRequestError("NodeNames: expected a list of names")
    if items is None:
        raise BadRequestError("expected NodeNames or Nodes")
    return ExtenderArgs(_pod(pod), tuple([_name(item) for item in items]), items)


def _field(data: Mapping[str, object], name: str) -> object:
    """Look a field up whatever its case."""
    return next((value for key, value in data.items() if key.lower() == name), None)


def _items(nodes: object) -> tuple[Mapping[str, object], ...] | None:
    if nodes is None:
        return None
    items = _field(nodes, "items") if isinstance(nodes, dict) else None
    if items is None:
        items = []
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise BadRequestError("Nodes.items: expected a list of nodes")
    return tuple(items)


def _name(node: Mapping[str, object]) -> str:
    name = inside(node, "metadata", "name")
    if not isinstance(name, str):
        raise BadRequestError("Nodes.items: a node has no metadata.name")
    return name


def _pod(manifest: Mapping[str, object]) -> Pod:
    try:
        return read_pod(manifest)
    except InputError as error:
        raise BadRequestError(f"Pod: {error}") from None


def filter_result(args: ExtenderArgs, answer: FilterAnswer) -> bytes:
    """Write ExtenderFilterResult: names where names were asked for, objects where objects were (E-1, E-2)."""
    passed = set(answer.passed)
    nodes = None
    if args.items is not None:
        kept = [item for name, item in zip(args.names, args.items, strict=True) if name in passed]
        nodes = {"metadata": {}, "items": kept}
    return _json(
        {
            "Nodes": nodes,
            "NodeNames": list(answer.passed) if args.items is None else None,
            "FailedNodes": dict(answer.failed),
            "FailedAndUnresolvableNodes": dict(answer.unresolvable),
            "Error": "",
        }
    )


def priorities(scores: Sequence[tuple[str, int]]) -> bytes:
    """Write HostPriorityList, a bare list."""
    return _json([{"Host": name, "Score": points} for name, points in scores])


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
