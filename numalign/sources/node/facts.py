"""What was found of a node, before anybody judges it: texts of its kubelet's files, its machine, its pods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from numalign.errors import Notice
from numalign.kubelet.start.restore import ROOT, StateFiles
from numalign.sources.node.further import Resources
from numalign.sources.node.podresources import NOTHING, ClaimedDevice, PodResources
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
    claims: Mapping[str, tuple[ClaimedDevice, ...]] = {}
    """Pod UID -> devices that it holds by claim, as far as the kubelet's file tells."""
    active: frozenset[str] | None = None
    """UIDs of the pods that are there; None: not known."""
    names: Mapping[str, PodName] = {}
    """Pod UID -> its name, as far as known."""
    pods: tuple[Pod, ...] | None = None
    """The pods as the API server has them; None: not known."""
    containers: Mapping[str, tuple[str, str]] = {}
    """Container id -> (pod UID, container name), as far as known."""
    podresources: PodResources = NOTHING
    tree: Tree | None = None
    """Where processes and control groups are to be looked for; None: nowhere."""
    notices: tuple[Notice, ...] = ()
    unknown: tuple[str, ...] = ()
    """What could not be known, a phrase each."""
