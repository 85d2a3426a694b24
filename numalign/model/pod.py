"""Pods as the API server hands them to a node: requests filled in, quantities canonical.

Values only. Reading manifests is `sources.pods`, defaulting and validation `model.apiserver`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from numalign.model.path import child
from numalign.model.quantity import Quantity
from numalign.model.resources import is_extended
from numalign.values import NamedTuple

Manifest = Mapping[str, Any]
"""An object of a manifest, or a part of one, as it was decoded."""

ContainerKind = Literal["init", "sidecar", "app"]
"""`init` ends before the next container starts; `sidecar` is an init container with `restartPolicy: Always`."""

QoS = Literal["Guaranteed", "Burstable", "BestEffort"]


class Container(NamedTuple):
    """One container and what it asks for."""

    name: str
    kind: ContainerKind
    requests: Mapping[str, Quantity]
    limits: Mapping[str, Quantity]
    ports: tuple[Manifest, ...] = ()
    """`ports` of the manifest, as read; only the fit check looks at them."""


class PodLevel(NamedTuple):
    """Pod-level resources: `spec.resources`, as written."""

    requests: Mapping[str, Quantity] = {}
    limits: Mapping[str, Quantity] = {}


class ResizeStatus(NamedTuple):
    """What a status says of the amounts of a container, or of a pod as a whole, that may be resized in place."""

    allocated: Mapping[str, Quantity] | None = None
    """`allocatedResources`: what the kubelet has set aside; None: the status does not say."""
    actuated: Mapping[str, Quantity] | None = None
    """`resources.requests`: what is in force; None: the status does not say."""


class PodStatus(NamedTuple):
    """What a pod's status says that a kubelet or a scheduler reads; a new pod has none of it."""

    qos: QoS | None = None
    """`status.qosClass`; it beats every computed class."""
    containers: Mapping[str, ResizeStatus] = {}
    """Container -> what `status.containerStatuses` says."""
    init_containers: Mapping[str, ResizeStatus] = {}
    """The same of `status.initContainerStatuses`."""
    claimed: frozenset[tuple[str, str]] = frozenset()
    """(container, resource) pairs of extended resources that come from a ResourceClaim (`requestMappings`)."""
    level: ResizeStatus = ResizeStatus()
    """The same of the pod as a whole."""
    infeasible: bool = False
    """The node can never carry out the resize that the spec asks for (condition `PodResizePending`)."""

    @property
    def resizes(self) -> bool:
        """Tell whether it says anything of amounts."""
        return bool(self.containers or self.init_containers) or self.level != ResizeStatus()


NO_STATUS = PodStatus()
FINISHED: Final = ("Succeeded", "Failed")
"""Phases of pods that have ended."""


class Pod(NamedTuple):
    """One pod. `containers` are in the kubelet's order: init containers (sidecars in place), then app containers."""

    name: str
    uid: str
    qos: QoS
    containers: tuple[Container, ...]
    namespace: str = "default"
    overhead: Mapping[str, Quantity] = {}
    created: str = ""
    """`metadata.creationTimestamp`, RFC 3339; empty when not given."""
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    spec: Mapping[str, Any] = {}
    """The manifest's `spec`, for what only the fit check looks at (nodeName, nodeSelector, affinity,
    tolerations, hostNetwork, priority, os, resourceClaims, …)."""
    level: PodLevel | None = None
    """Pod-level resources; None: the manifest has none. `qos` above is what the containers alone make of the pod."""
    status: PodStatus = NO_STATUS
    counted: Mapping[str, int] | None = None
    """What it counts for beside other pods where its status, too, decides: billionths, without overhead."""

    @property
    def full_name(self) -> str:
        """NAMESPACE/NAME."""
        return f"{self.namespace}/{self.name}"

    @property
    def is_static(self) -> bool:
        """Tell whether the kubelet itself read it, from a file or a URL (docs/rules/admission-fit.md 1.6)."""
        return self.annotations.get("kubernetes.io/config.source", "api") != "api"


NETWORKS: Final = "k8s.v1.cni.cncf.io/networks"
"""The annotation with which Multus is asked for further networks."""


def container_paths(pod: Pod) -> list[str]:
    """Name the places of a pod's containers, in the kubelet's order."""
    return [
        child(f"spec.{which}", index)
        for which in ("initContainers", "containers")
        for index in range(len(pod.spec.get(which) or ()))
    ]


def pending_networks(pod: Pod) -> str:
    """Return the networks for which a pod requests no device; empty: there is none."""
    text = pod.annotations.get(NETWORKS, "").strip()
    names = {name for one in pod.containers for name in one.requests if is_extended(name) and "gpu" not in name}
    return "" if names or not text else f"networks of {NETWORKS}" if text.startswith("[") else text
