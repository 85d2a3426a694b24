"""Reasons, the steps of a merge and the aligned allocations, for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING

from numalign.analysis.limits import MAX_ALLOCATIONS_SHOWN
from numalign.model.cpuset import ids
from numalign.render.json import Data, camel
from numalign.render.json.admit import hint_json

if TYPE_CHECKING:
    from numalign.analysis.alternatives import Alternatives
    from numalign.analysis.merging import Merging
    from numalign.analysis.reasons.change_facts import Reason
    from numalign.analysis.reasons.order import Told


NODES = ("nodes", "others", "chosen", "bound", "mask")
"""Fields that are masks of NUMA nodes, where they are numbers."""

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "parts": ("container", "amount"),
    "others": ("container", "amount"),
    "own": ("container", "amount"),
    "less": ("container", "amount"),
    "counted": ("numaNode", "amount"),
    "bound": ("mask", "containers"),
    "sets": ("mask", "free"),
    "held": ("container", "amount", "mask"),
    "short": ("asked", "free", "left"),
    "places": ("mask", "amount"),
    "nowhere": ("free", "total"),
}
"""Field -> what each of its plain rows has."""


def told_json(one: Told) -> Data:
    """Write a fact about a refusal, with the case in which it holds and the other container that it is about."""
    return {**_fact(one.fact), "case": one.case or "any", "of": one.of}


def reason_json(one: Reason) -> Data:
    """Write a fact that says why a part of a change is needed."""
    larger = one.larger and {"container": one.larger[0], "nano": one.larger[1]}
    return {**_fact(one.fact), "of": one.container, "larger": larger}


def _fact(fact: object) -> Data:
    """Write a fact: its kind, and what it tells."""
    return {"kind": type(fact).__name__, **_fields(fact)}


def _fields(value: object) -> Data:
    names = getattr(value, "_fields", ())
    return {_named(name): _data(name, getattr(value, name)) for name in names}


def _data(name: str, value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool) and name in NODES:
        return list(ids(value))
    if not isinstance(value, tuple):
        return value
    if hasattr(value, "_fields"):
        return _fields(value)
    columns = COLUMNS.get(name, ())
    if name == "nowhere":
        return dict(zip(columns, value, strict=True))
    masks = "nodes" if name in ("nodes", "sets") else ""
    return [_row(columns, one) if type(one) is tuple else _data(masks, one) for one in value]


def _row(columns: tuple[str, ...], row: tuple[object, ...]) -> Data:
    """Write a plain row; devices that lie somewhere have what is free and all there are."""
    if len(columns) < len(row):
        columns = ("mask", "free", "total")
    return {("numaNodes" if key == "mask" else key): _data(key, one) for key, one in zip(columns, row, strict=True)}


def _named(name: str) -> str:
    return {"node": "numaNode", "nodes": "numaNodes"}.get(name) or camel(name)


def merging_json(steps: Merging) -> Data:
    """Write the steps for programs."""
    return {
        "container": steps.container,
        "hints": [
            {
                "provider": said.provider,
                "resource": said.resource or None,
                "opinion": said.opinion,
                "hints": None if said.hints is None else [hint_json(hint) for hint in said.hints],
                "count": said.number,
            }
            for said in steps.said
        ],
        "combinations": steps.combinations,
        "kubeletSeconds": steps.seconds,
        "crossProduct": [
            {"hints": [hint_json(hint) for hint in entry.hints], "merged": hint_json(entry.merged)}
            for entry in steps.table
        ],
        "winner": hint_json(steps.winner),
        "admit": steps.admit,
        "runnerUp": None if steps.runner_up is None else hint_json(steps.runner_up),
        "rule": steps.rule,
    }


def alternatives_json(container: str | None, found: Sequence[Alternatives]) -> Data:
    """Write the aligned allocations for programs, the first `MAX_ALLOCATIONS_SHOWN` of them."""
    listed = islice(chain.from_iterable(one.listed() for one in found), MAX_ALLOCATIONS_SHOWN)
    return {
        "container": container,
        "count": sum(one.ways for one in found),
        "allocations": [{name: list(members) for name, members in chosen} for chosen in listed],
    }
