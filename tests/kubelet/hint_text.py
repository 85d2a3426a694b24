"""Hints as the rules print them: `011:T` is mask 011, preferred; `nil:F` has no mask; lists are separated by blanks."""

from __future__ import annotations

from numalign.kubelet.topology.hints import HintList, TopologyHint


def hint(text: str) -> TopologyHint:
    mask, flag = text.split(":")
    return TopologyHint(None if mask == "nil" else int(mask, 2), {"T": True, "F": False}[flag])


def hints(text: str) -> HintList:
    return HintList(hint(word) for word in text.split())


def show(value: TopologyHint, nodes: int) -> str:
    mask = "nil" if value.numa_affinity is None else format(value.numa_affinity, f"0{nodes}b")
    return f"{mask}:{'T' if value.preferred else 'F'}"
