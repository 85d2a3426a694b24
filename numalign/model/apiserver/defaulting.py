"""What the API server makes of a manifest before a node sees the pod: requests from limits, canonical quantities, QoS.

Reading judges nothing: recorded pods are not always valid, and a replay reads thousands of them a second. What the API
server would refuse is `model.apiserver.validation`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Never

from numalign.errors import InputError
from numalign.model.apiserver import Known, Quantities, amount, amounts
from numalign.model.pod import (
    NO_STATUS,
    Container,
    ContainerKind,
    Manifest,
    Pod,
    PodLevel,
    PodStatus,
    QoS,
    ResizeStatus,
)

_NOTHING: Final[Mapping[str, Never]] = {}
"""Every empty mapping of every pod: there may be very many pods."""


def read_pod(manifest: Manifest, known: Known | None = None) -> Pod:
    """Read a pod manifest as the API server delivers it (docs/rules/kubelet-files.md 55).

    Args:
        manifest: the pod.
        known: quantities of containers that were read before, kept by whoever reads many pods.

    Raises:
        InputError: a field has the wrong type or no quantity in it; `where` is the field's path.
    """
    try:
        pod = _pod(manifest, known)
        if _is_plain(manifest):
            return pod
    except (AttributeError, TypeError, ValueError, KeyError) as error:
        _refuse(manifest)
        raise InputError(f"not a valid pod: {error}") from error
    _refuse(manifest)
    return pod


def _refuse(manifest: Manifest) -> None:
    """Raise the first misfit of a manifest. Looking for them costs more than reading, so good pods are spared it."""
    from numalign.model.apiserver.types import misfits

    for problem in misfits(manifest):
        raise InputError(problem.message, problem.path)


_PLAIN = frozenset({"metadata", "spec"})
_PLAIN_METADATA = frozenset({"name", "uid"})
_PLAIN_SPEC = frozenset({"containers", "initContainers"})
_PLAIN_CONTAINER = frozenset({"name", "resources", "image"})
_PLAIN_INIT_CONTAINER = _PLAIN_CONTAINER | {"restartPolicy"}


def _is_plain(manifest: Manifest) -> bool:
    """Tell whether reading has looked at all there is. Other fields are kept as read, so their types need a look."""
    metadata, spec = manifest.get("metadata"), manifest["spec"]
    if not manifest.keys() <= _PLAIN or not spec.keys() <= _PLAIN_SPEC:
        return False
    if metadata and not metadata.keys() <= _PLAIN_METADATA:
        return False
    for container in spec["containers"]:
        if not container.keys() <= _PLAIN_CONTAINER:
            return False
    inits = spec.get("initContainers")
    return not inits or all(container.keys() <= _PLAIN_INIT_CONTAINER for container in inits)


def _pod(manifest: Manifest, known: Known | None) -> Pod:
    metadata = manifest.get("metadata") or {}
    spec = manifest["spec"]
    containers = containers_of(spec, known)
    name: str = metadata.get("name") or ""
    namespace: str = metadata.get("namespace") or "default"
    uid: str = metadata.get("uid") or f"{namespace}/{name}"
    if type(name) is not str or type(uid) is not str:
        raise TypeError(name, uid)
    written = manifest.get("status")
    status = read_status(written) if written else NO_STATUS
    overhead, level = spec.get("overhead"), spec.get("resources")
    return Pod(
        name=name,
        uid=uid,
        qos=status.qos or qos_class(containers),
        containers=containers,
        namespace=namespace,
        overhead=amounts(overhead) if overhead else _NOTHING,
        created=metadata.get("creationTimestamp") or "",
        labels=metadata.get("labels") or _NOTHING,
        annotations=metadata.get("annotations") or _NOTHING,
        spec=spec,
        level=None
        if level is None
        else PodLevel(*[amounts(level.get(which) or {}) for which in ("requests", "limits")]),
        status=status,
    )


def read_status(status: Manifest) -> PodStatus:
    """Read what a kubelet reads of a pod's status (docs/rules/kubelet-versions.md 5, 7.2, kubelet-1.37.md 8)."""
    claim = status.get("extendedResourceClaimStatus") or {}
    return PodStatus(
        qos=status.get("qosClass"),
        containers=_resize_statuses(status.get("containerStatuses")),
        init_containers=_resize_statuses(status.get("initContainerStatuses")),
        claimed=frozenset([(one["containerName"], one["resourceName"]) for one in claim.get("requestMappings") or ()]),
        level=_resize_status(status),
        infeasible=any(
            one.get("type") == "PodResizePending" and one.get("reason") == "Infeasible"
            for one in status.get("conditions") or ()
        ),
    )


def _resize_statuses(statuses: Iterable[Manifest] | None) -> Mapping[str, ResizeStatus]:
    return {one["name"]: _resize_status(one) for one in statuses or ()}


def _resize_status(status: Manifest) -> ResizeStatus:
    allocated, resources = status.get("allocatedResources"), status.get("resources")
    return ResizeStatus(
        None if allocated is None else amounts(allocated),
        None if resources is None else amounts(resources.get("requests") or {}),
    )


def containers_of(spec: Manifest, known: Known | None = None) -> tuple[Container, ...]:
    """Read the containers of a pod's spec in the kubelet's order, with requests filled in from limits."""
    host = bool(spec.get("hostNetwork"))
    result = []
    for manifest in spec.get("initContainers") or ():
        kind: ContainerKind = "sidecar" if manifest.get("restartPolicy") == "Always" else "init"
        result.append(_container(manifest, kind, host, known))
    apps = spec["containers"]
    if type(apps) is not list:
        raise TypeError(apps)
    result.extend([_container(manifest, "app", host, known) for manifest in apps])
    return tuple(result)


def _container(manifest: Manifest, kind: ContainerKind, host: bool, known: Known | None) -> Container:
    resources = manifest.get("resources") or {}
    written = resources.get("limits")
    limits = amounts(written, known) if written else {}
    wanted = resources.get("requests")
    requests = _requests(wanted, written or {}, limits) if wanted else limits
    ports = manifest.get("ports")
    name = manifest["name"]
    if type(name) is not str:
        raise TypeError(name)
    return Container(name, kind, requests, limits, _ports(ports, host) if ports else ())


def _requests(wanted: Manifest, written: Manifest, limits: Quantities) -> Quantities:
    """Read requests and fill in what only the limits name. Most requests repeat the limit's text."""
    requests = {}
    for name, text in wanted.items():
        same = type(text) is str and written.get(name) == text
        requests[name] = limits[name] if same else amount(text)
    for name, quantity in limits.items():
        if name not in requests:
            requests[name] = quantity
    return requests


def _ports(ports: Iterable[Manifest], host: bool) -> tuple[Manifest, ...]:
    """Fill in `hostPort` on the host's network (docs/rules/admission-fit.md 4.4)."""
    if not host:
        return tuple(ports)
    return tuple([{**port, "hostPort": port.get("hostPort") or port.get("containerPort")} for port in ports])


def qos_class(containers: Iterable[Container]) -> QoS:
    """Compute the QoS class (docs/rules/topology-manager.md 11.1): cpu and memory above zero, summed over the pod."""
    requests: dict[str, int] = {}
    limits: dict[str, int] = {}
    every_container_is_limited = True
    for container in containers:
        limited = 0
        for name in ("cpu", "memory"):
            quantity = container.requests.get(name)
            if quantity is not None and quantity.nano > 0:
                requests[name] = requests.get(name, 0) + quantity.nano
            quantity = container.limits.get(name)
            if quantity is not None and quantity.nano > 0:
                limits[name] = limits.get(name, 0) + quantity.nano
                limited += 1
        if limited < 2:
            every_container_is_limited = False
    if not requests and not limits:
        return "BestEffort"
    return "Guaranteed" if every_container_is_limited and requests == limits else "Burstable"
