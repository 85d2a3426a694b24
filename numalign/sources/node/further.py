"""What a kubelet's further files say: what pods were granted, and which devices they hold by claim.

docs/rules/kubelet-files.md 4a, 46a. None of them is needed to know who owns what; a damaged one tells nothing here, and
`status` says that it is damaged.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from numalign.sources.node.podresources import ClaimedDevice

Resources: TypeAlias = Mapping[str, Mapping[str, str]]
"""`requests` and `limits` -> resource -> amount."""


def granted(further: Mapping[str, str]) -> Mapping[str, Mapping[str, Resources]]:
    """Read what the kubelet agreed to for each container: of every pod from 1.33 on, of resized ones before (23a, 23b).

    Args:
        further: name -> text of the further files.

    Returns:
        pod UID -> container -> what it was granted.
    """
    found: dict[str, dict[str, Resources]] = {}
    for name, entries in (("pod_status_manager_state", "allocationEntries"), ("allocated_pods_state", "entries")):
        for uid, pod in _mapping(_content(further.get(name)), entries).items():
            containers = pod if name == "pod_status_manager_state" else _mapping(pod, "ContainerResources")
            if isinstance(containers, Mapping):
                found[uid] = {container: _resources(one) for container, one in containers.items()}
    return found


def _resources(value: object) -> Resources:
    return {
        which: {str(name): str(amount) for name, amount in _mapping(value, which).items()}
        for which in ("requests", "limits")
    }


def claimed(further: Mapping[str, str]) -> dict[str, tuple[ClaimedDevice, ...]]:
    """Read which devices the pods hold by claim, by pod UID (23e)."""
    found: dict[str, list[ClaimedDevice]] = {}
    claims = _content(further.get("dra_manager_state")).get("ClaimInfoStateList")
    for claim in claims if isinstance(claims, list) else ():
        devices = tuple(_devices(claim))
        for uid in _mapping(claim, "PodUIDs"):
            found.setdefault(uid, []).extend(devices)
    return {uid: tuple(devices) for uid, devices in found.items()}


def _devices(claim: object) -> Iterator[ClaimedDevice]:
    told = claim if isinstance(claim, Mapping) else {}
    name, namespace = str(told.get("ClaimName", "")), str(told.get("Namespace", ""))
    for driver, state in _mapping(claim, "DriverState").items():
        rows = state.get("Devices") if isinstance(state, Mapping) else None
        for row in rows if isinstance(rows, list) else ():
            one = row if isinstance(row, Mapping) else {}
            share = str(one.get("ShareID") or "")
            yield ClaimedDevice(
                claim=name,
                namespace=namespace,
                driver=driver,
                pool=str(one.get("PoolName", "")),
                device=str(one.get("DeviceName", "")),
                share=share,
            )


def _content(text: str | None) -> Mapping[str, object]:
    """Read the JSON text that is inside such a file."""
    try:
        outer = json.loads(text or "{}")
        inner = next((value for key, value in outer.items() if key.lower() == "data"), "{}")
        content = json.loads(inner)
    except (ValueError, AttributeError, TypeError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _mapping(value: object, key: str) -> Mapping[str, object]:
    inner = value.get(key) if isinstance(value, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}
