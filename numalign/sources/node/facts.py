"""What was found of a node, before anybody judges it: texts of its kubelet's files, its machine, its pods."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

from numalign.errors import Notice
from numalign.kubelet.start.restore import ROOT, StateFiles
from numalign.results.node import ClaimStatus
from numalign.sources.node.podresources import NOTHING, PodResources
from numalign.sources.text import elements, mapping
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.model.machine import Machine
    from numalign.model.pod import Pod
    from numalign.sources.tree.folder import Tree

FURTHER_FILES = ("allocated_pods_state", "actuated_pods_state", "pod_status_manager_state", "dra_manager_state")
"""Further files of a kubelet (docs/rules/kubelet-files.md 4a); a damaged one stops it."""


class KubeletSettings(NamedTuple):
    """A kubelet's settings as they were found."""

    fields: Mapping[str, object]
    """Fields of its KubeletConfiguration, drop-ins included."""
    flags: Mapping[str, str]
    """Flags of its command line that set one of them, without dashes."""
    origin: str
    """Where they were found."""
    given: frozenset[str] = frozenset()
    """Names of all flags of its command line."""


class PodName(NamedTuple):
    """Who a UID is."""

    namespace: str
    name: str


class NodeFacts(NamedTuple):
    """One node, as far as its source tells."""

    origin: str
    """How people call the source: `snapshot worker.tar.xz`, `/var/lib/kubelet`."""
    machine: Machine | None = None
    """Its hardware; devices as far as PCI tells, which the kubelet's plugins may know otherwise."""
    settings: KubeletSettings | None = None
    version: str = ""
    """The kubelet's version, `v1.32.10`; empty: not known."""
    root: str = ROOT
    """The kubelet's root directory on the node."""
    files: StateFiles = StateFiles()
    further: Mapping[str, str] = {}
    """Name -> text of those of `FURTHER_FILES` that are there."""
    granted: Mapping[str, Mapping[str, Resources]] = {}
    """Pod UID -> container -> the requests and limits that the kubelet agreed to, as far as its files tell."""
    claims: Mapping[str, tuple[ClaimStatus, ...]] = {}
    """Pod UID -> devices that it holds by claim, as far as the kubelet's file tells."""
    active: frozenset[str] | None = None
    """UIDs of the pods that are there; None: not known."""
    names: Mapping[str, PodName] = {}
    """Pod UID -> its name, as far as known."""
    pods: tuple[Pod, ...] | None = None
    """The pods as the API server has them; None: not known."""
    coming: tuple[Pod, ...] = ()
    """All that come again when the kubelet restarts, in the order of their creation; empty: not known."""
    in_order: bool = False
    """The pods are in the order in which they came."""
    containers: Mapping[str, tuple[str, str]] = {}
    """Container id -> (pod UID, container name), as far as known."""
    podresources: PodResources = NOTHING
    tree: Tree | None = None
    """Where processes and control groups are to be looked for; None: nowhere."""
    notices: tuple[Notice, ...] = ()
    unknown: tuple[str, ...] = ()
    """What could not be known, a phrase each."""


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
        for uid, pod in mapping(_content(further.get(name)), entries).items():
            containers = pod if name == "pod_status_manager_state" else mapping(pod, "ContainerResources")
            if isinstance(containers, Mapping):
                found[uid] = {container: _resources(one) for container, one in containers.items()}
    return found


def _resources(value: object) -> Resources:
    return {
        which: {str(name): str(amount) for name, amount in mapping(value, which).items()}
        for which in ("requests", "limits")
    }


def claimed(further: Mapping[str, str]) -> dict[str, tuple[ClaimStatus, ...]]:
    """Read which devices the pods hold by claim, by pod UID (23e)."""
    found: dict[str, list[ClaimStatus]] = {}
    for claim in elements(_content(further.get("dra_manager_state")), "ClaimInfoStateList"):
        devices = tuple(_devices(claim))
        for uid in mapping(claim, "PodUIDs"):
            found.setdefault(uid, []).extend(devices)
    return {uid: tuple(devices) for uid, devices in found.items()}


def _devices(claim: Mapping[str, object]) -> Iterator[ClaimStatus]:
    for driver, state in mapping(claim, "DriverState").items():
        for one in elements(state, "Devices"):
            yield ClaimStatus(
                claim=str(claim.get("ClaimName", "")),
                namespace=str(claim.get("Namespace", "")),
                driver=driver,
                pool=str(one.get("PoolName", "")),
                device=str(one.get("DeviceName", "")),
                share=str(one.get("ShareID") or ""),
            )


def _content(text: str | None) -> Mapping[str, object]:
    """Read the JSON text that is inside such a file."""
    try:
        outer = json.loads(text or "{}")
        inner = next((value for key, value in outer.items() if key.lower() == "data"), "{}")
        content = json.loads(inner)
    except (ValueError, AttributeError, TypeError, RecursionError):
        return {}
    return mapping(content)
