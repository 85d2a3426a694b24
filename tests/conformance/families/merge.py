"""Family `merge`: hints to one hint."""

from __future__ import annotations

from functools import cache
from typing import Any

from numalign.kubelet.errors import KubeletPanicError
from numalign.kubelet.topology.hints import NO_PREFERENCE, HintList, Hints, ProviderAnswer, TopologyHint
from numalign.kubelet.topology.merge.lists import NUMAInfo, numa_info
from numalign.kubelet.topology.policy import merge
from numalign.model.cpuset import from_ids, ids


def decide(case: dict[str, Any]) -> dict[str, Any]:
    """Merge the case's hints under its policy."""
    numa = _numa(case)
    answers = [_answer(provider) for provider in case["providers"]]
    try:
        hint, admit = merge(case["policy"], answers, numa)
    except KubeletPanicError as panic:
        return {"panic": str(panic)}
    return {"admit": admit, "hint": hint_as_recorded(hint)}


def hint_as_recorded(hint: TopologyHint) -> dict[str, Any]:
    """Write a hint as the vectors do."""
    return {"numaNodes": _nodes(hint.numa_affinity), "preferred": hint.preferred}


@cache
def _nodes(mask: int | None) -> list[int] | None:
    return None if mask is None else list(ids(mask))


def _numa(case: dict[str, Any]) -> NUMAInfo:
    closest = case["options"].get("prefer-closest-numa-nodes") in ("1", "true")
    rows = {node["id"]: tuple(node.get("distances") or ()) for node in case["numaNodes"]}
    return numa_info((node["id"] for node in case["numaNodes"]), rows if closest else None)


def _answer(provider: dict[str, Any] | None) -> ProviderAnswer:
    return {resource: _hints(hints) for resource, hints in (provider or {}).items()}


def _hints(hints: list[dict[str, Any]] | None) -> Hints:
    if hints is None:
        return NO_PREFERENCE
    return HintList(
        TopologyHint(None if hint["numaNodes"] is None else from_ids(hint["numaNodes"]), hint["preferred"])
        for hint in hints
    )
