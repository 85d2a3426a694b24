"""The part that a pod template plays in its object: `worker`, `head`, `prefill-leader`.

Custom kinds name it by the element of a list (`tasks[1].name`), by the key of a map (`mpiReplicaSpecs.Worker`), or by
the field itself (`leaderTemplate`, `headGroupSpec`, `driver`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from numalign.model.pod import Manifest
from numalign.sources.text import inside
from numalign.values import NamedTuple

Fields = Manifest
"""A mapping of a decoded document."""


class Step(NamedTuple):
    """One key or index on the way from an object to something inside it."""

    key: str | int
    value: Any
    """What stands there."""


_FIELDS: Final = frozenset(
    {
        *("coordinator", "decode", "driver", "executor", "explainer", "head", "launcher", "leader", "master"),
        *("predictor", "prefill", "ps", "router", "scheduler", "server", "transformer", "worker", "workers"),
    }
)
"""Fields that are named after the part their pods play."""
_STEM: Final = re.compile(r"([a-z]+)(?:Pod)?(?:Template|GroupSpec|PodSpec|Spec)")
_NO_PART: Final = frozenset({"pod", "job", "service", "workload", "runner", "default", "cluster", "replica", "task"})
"""Beginnings of such fields that name no part: `podTemplate`, `jobTemplate`."""
_NAMES: Final = ("name", "groupName", "roleName", "role")
"""Fields by which the elements of a list are told apart."""
_MAX_ROLE: Final = 40
"""Longest role, so that names of pods stay names."""


def is_role(steps: Sequence[Step], index: int) -> bool:
    """Tell whether a step on the way names a part."""
    return _part(steps, index) is not None


def role_of(steps: Sequence[Step]) -> str:
    """Put together what the steps on the way call the part: `prefill-worker`; empty where none does."""
    parts = [part for index in range(len(steps)) if (part := _part(steps, index)) is not None]
    text = re.sub(r"[^a-z0-9-]+", "-", "-".join(parts).lower())
    return text[:_MAX_ROLE].strip("-")


def _part(steps: Sequence[Step], index: int) -> str | None:
    step = steps[index]
    if isinstance(step.key, int):
        told = (inside(step.value, key) for key in _NAMES)
        return next((name for name in told if isinstance(name, str)), str(step.key))
    above = steps[index - 1].key if index else ""
    if step.key in _FIELDS or (isinstance(above, str) and above.endswith("ReplicaSpecs")):
        return step.key
    match = _STEM.fullmatch(step.key)
    return match[1] if match and match[1] not in _NO_PART else None


def told_apart(roles: Sequence[str]) -> list[str]:
    """Number roles that are equal; a template that is alone needs no number for a name."""
    if len(roles) == 1 and roles[0].isdecimal():
        return [""]
    seen: dict[str, int] = {}
    result = []
    for role in roles:
        number = seen[role] = seen.get(role, 0) + 1
        result.append(role if number == 1 else f"{role}-{number}".removeprefix("-"))
    return result
