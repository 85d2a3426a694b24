"""Pod templates in an object of any kind: where they stand, which role they have, and how many pods they stand for.

A template is a mapping with a `spec` that has `containers`, or such a spec by itself (`podSpec`, `worker`, …), anywhere
in the object: custom kinds put them below fields of their own. The role is what the fields on the way call it, the
count is the one that stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, TypeGuard

from numalign.model.path import child
from numalign.sources.pods.counts import wanted_pods
from numalign.sources.pods.roles import Fields, Step, role_of, told_apart
from numalign.sources.pods.shapes import Place, Template
from numalign.sources.text import elements

_PASSED_OVER: Final = frozenset({"status", "metadata"})
"""Fields of an object in which no template is looked for."""
_MAX_DEPTH: Final = 60
"""How deep templates are looked for."""


def templates_of(thing: Fields, kind: str, path: str) -> Iterator[Template]:
    """Yield the pod templates of an object (not of a Pod), in its order.

    Args:
        thing: the object.
        kind: what it is.
        path: where it stands in its document.

    Raises:
        CountError: a count of replicas is no number.
    """
    found: list[tuple[tuple[Step, ...], Fields, bool]] = []
    _look(thing, (), found)
    roles = told_apart([role_of(steps) for steps, _, _ in found])
    counts = [wanted_pods(thing, kind, path, steps) for steps, _, _ in found]
    for (steps, value, bare), role, wanted in zip(found, roles, counts, strict=True):
        if not wanted and any(counts):
            continue  # A group of one has a leader alone: the template of its workers stands for nothing.
        place = path
        for step in steps:
            place = child(place, step.key)
        yield Template(
            path=place,
            manifest={"spec": value} if bare else value,
            role=role,
            wanted=wanted,
            places=(Place("spec", place),) if bare else (),
        )


def embedded_in(thing: Fields) -> Iterator[tuple[Fields, str]]:
    """Yield the whole objects inside an object (those with `apiVersion` and `kind`), with their places in it."""
    pending: list[tuple[object, str, int]] = [(thing, "", 0)]
    while pending:
        value, path, depth = pending.pop()
        if depth and is_object(value):
            yield value, path
        elif depth < _MAX_DEPTH:
            inside = [
                (item, child(path, key), depth + 1) for key, item in _items(value) if depth or key not in _PASSED_OVER
            ]
            pending.extend(reversed(inside))


def is_object(value: object) -> TypeGuard[Fields]:
    """Tell whether something is a whole object of its own."""
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("kind"), str)
        and isinstance(value.get("apiVersion"), str)
        and ("spec" in value or "items" in value or "template" in value)
    )


def _items(value: object) -> Iterator[tuple[str | int, object]]:
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, list):
        yield from enumerate(value)


def _look(value: object, steps: tuple[Step, ...], found: list[tuple[tuple[Step, ...], Fields, bool]]) -> None:
    if len(steps) > _MAX_DEPTH or (steps and is_object(value)):
        return
    if isinstance(value, Mapping) and steps:
        if _is_pod_spec(value.get("spec"), named=False) and steps[-1].key != "spec":
            found.append((steps, value, False))
            return
        if _is_pod_spec(value, named=True):
            found.append((steps, value, True))  # It may hold further ones: `predictor` and its `workerSpec`.
    for key, item in _items(value):
        if steps or key not in _PASSED_OVER:
            _look(item, (*steps, Step(key, item)), found)


def _is_pod_spec(value: object, *, named: bool) -> bool:
    """Tell whether something is a pod's spec: a list of containers, which have names (or, in a template, images)."""
    return any(
        isinstance(one.get("name"), str) or (not named and isinstance(one.get("image"), str))
        for one in elements(value, "containers")
    )
