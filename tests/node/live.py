"""Nodes with a running kubelet, as they were recorded (tests/live): folders made anew of what was read there."""

from __future__ import annotations

import json
import lzma
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

LIVE = Path(__file__).parent.parent / "live"
STATE_FILES = ("cpu_manager_state", "memory_manager_state", "allocated_pods_state")
DEVICES = "device-plugins/kubelet_internal_checkpoint"


def steps(recording: Path) -> Iterator[dict[str, Any]]:
    """Yield what was done on a node, step by step."""
    with lzma.open(recording / "decisions.jsonl.xz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def lay_node(folder: Path, seen: Mapping[str, Any], recording: Path) -> Path:
    """Lay a node's files out as a snapshot has them; returns the kubelet's root folder."""
    root = folder / "var/lib/kubelet"
    (root / "device-plugins").mkdir(parents=True)
    for name in STATE_FILES:
        if seen.get(name) is not None:
            (root / name).write_text(json.dumps(seen[name], separators=(",", ":")), encoding="utf-8")
    if seen.get("kubelet_internal_checkpoint") is not None:
        (root / DEVICES).write_text(json.dumps(seen["kubelet_internal_checkpoint"]), encoding="utf-8")
    for uid in seen.get("pods_folder") or ():
        (root / "pods" / uid).mkdir(parents=True)
    for name in seen.get("pod_logs") or ():
        (folder / "var/log/pods" / name).mkdir(parents=True)
    shutil.copy(recording / "config.yaml", root / "config.yaml")
    asked = seen.get("podresources") or {}
    answer = {**asked["list"], "allocatable": asked["allocatable"]} if "list" in asked else None
    told = {"kind": "NodeSnapshot", "kubeletVersion": "v1.36.3", "podResources": answer}
    (folder / "numalign").mkdir()
    (folder / "numalign/snapshot.json").write_text(json.dumps(told), encoding="utf-8")
    return root
