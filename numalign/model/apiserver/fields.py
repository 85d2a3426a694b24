"""The fields of a pod that numalign looks at, with their types, as one table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from numalign.values import NamedTuple

Leaf = Literal["text", "flag", "number", "quantity"]
"""`number`: a whole one."""


class ListOf(NamedTuple):
    """A list of equal things."""

    item: Schema


class MapOf(NamedTuple):
    """A mapping with free keys."""

    value: Schema


class Fields(NamedTuple):
    """A mapping with named fields; null is the same as absent."""

    fields: Mapping[str, Schema]
    required: tuple[str, ...] = ()
    ignored: frozenset[str] = frozenset()
    """Other fields Kubernetes knows, to tell a slip of the pen from a newer field. Empty: no such check."""
    closed: bool = False
    """Refuse every field that is not named."""


Schema = Leaf | ListOf | MapOf | Fields

_TEXTS: Final = MapOf("text")
_QUANTITIES: Final = MapOf("quantity")

_RESOURCES: Final = Fields(
    {
        "limits": _QUANTITIES,
        "requests": _QUANTITIES,
        "claims": ListOf(Fields({"name": "text", "request": "text"}, ("name",))),
    },
    closed=True,
)

_PORT: Final = Fields(
    {"containerPort": "number", "hostPort": "number", "hostIP": "text", "protocol": "text", "name": "text"},
    ("containerPort",),
)

_CONTAINER: Final = Fields(
    {"name": "text", "image": "text", "restartPolicy": "text", "resources": _RESOURCES, "ports": ListOf(_PORT)},
    ("name",),
    frozenset(
        [
            "args",
            "command",
            "env",
            "envFrom",
            "imagePullPolicy",
            "lifecycle",
            "livenessProbe",
            "readinessProbe",
            "resizePolicy",
            "restartPolicyRules",
            "securityContext",
            "startupProbe",
            "stdin",
            "stdinOnce",
            "terminationMessagePath",
            "terminationMessagePolicy",
            "tty",
            "volumeDevices",
            "volumeMounts",
            "workingDir",
        ]
    ),
)

_REQUIREMENT: Final = Fields({"key": "text", "operator": "text", "values": ListOf("text")}, ("key", "operator"))
_TERM: Final = Fields({"matchExpressions": ListOf(_REQUIREMENT), "matchFields": ListOf(_REQUIREMENT)})
_NODE_AFFINITY: Final = Fields(
    {"requiredDuringSchedulingIgnoredDuringExecution": Fields({"nodeSelectorTerms": ListOf(_TERM)})},
    ignored=frozenset({"preferredDuringSchedulingIgnoredDuringExecution"}),
)
_TOLERATION: Final = Fields(
    {"key": "text", "operator": "text", "value": "text", "effect": "text", "tolerationSeconds": "number"}
)
_CLAIM: Final = Fields({"name": "text", "resourceClaimName": "text", "resourceClaimTemplateName": "text"}, ("name",))

_SPEC: Final = Fields(
    {
        "containers": ListOf(_CONTAINER),
        "initContainers": ListOf(_CONTAINER),
        "overhead": _QUANTITIES,
        "nodeName": "text",
        "nodeSelector": _TEXTS,
        "affinity": Fields({"nodeAffinity": _NODE_AFFINITY}, ignored=frozenset({"podAffinity", "podAntiAffinity"})),
        "tolerations": ListOf(_TOLERATION),
        "hostNetwork": "flag",
        "priority": "number",
        "priorityClassName": "text",
        "preemptionPolicy": "text",
        "schedulerName": "text",
        "restartPolicy": "text",
        "runtimeClassName": "text",
        "os": Fields({"name": "text"}, ("name",)),
        "resources": _RESOURCES,
        "resourceClaims": ListOf(_CLAIM),
    },
    ("containers",),
    frozenset(
        [
            "activeDeadlineSeconds",
            "automountServiceAccountToken",
            "dnsConfig",
            "dnsPolicy",
            "enableServiceLinks",
            "ephemeralContainers",
            "hostAliases",
            "hostIPC",
            "hostPID",
            "hostUsers",
            "hostname",
            "hostnameOverride",
            "imagePullSecrets",
            "readinessGates",
            "schedulingGates",
            "securityContext",
            "serviceAccount",
            "serviceAccountName",
            "setHostnameAsFQDN",
            "shareProcessNamespace",
            "subdomain",
            "terminationGracePeriodSeconds",
            "topologySpreadConstraints",
            "volumes",
            "workloadRef",
        ]
    ),
)

_STATUSES: Final = ListOf(Fields({"name": "text", "allocatedResources": _QUANTITIES}, ("name",)))
_MAPPING: Final = Fields({"containerName": "text", "resourceName": "text"}, ("containerName", "resourceName"))
_STATUS: Final = Fields(
    {
        "qosClass": "text",
        "phase": "text",
        "containerStatuses": _STATUSES,
        "initContainerStatuses": _STATUSES,
        "extendedResourceClaimStatus": Fields({"requestMappings": ListOf(_MAPPING)}),
    }
)

POD: Final = Fields(
    {
        "metadata": Fields(
            {
                "name": "text",
                "generateName": "text",
                "namespace": "text",
                "uid": "text",
                "creationTimestamp": "text",
                "labels": _TEXTS,
                "annotations": _TEXTS,
            },
        ),
        "spec": _SPEC,
        "status": _STATUS,
    },
    ("spec",),
)
"""A Pod, or the part of a template that describes one."""
