"""Fields of a pod that have the wrong type or a wrong name, judged by a table of the fields numalign looks at."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, Literal, TypeAlias

from numalign.model.apiserver import amount
from numalign.model.path import child, shown
from numalign.model.quantity import QuantityError, fix_of
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


Schema: TypeAlias = "Leaf | ListOf | MapOf | Fields"

_OF_CONTAINER: Final = """
args command env envFrom imagePullPolicy lifecycle livenessProbe readinessProbe resizePolicy restartPolicyRules
securityContext startupProbe stdin stdinOnce terminationMessagePath terminationMessagePolicy tty volumeDevices
volumeMounts workingDir
"""
_OF_SPEC: Final = """
activeDeadlineSeconds automountServiceAccountToken dnsConfig dnsPolicy enableServiceLinks ephemeralContainers
hostAliases hostIPC hostPID hostUsers hostname hostnameOverride imagePullSecrets readinessGates securityContext
serviceAccount serviceAccountName setHostnameAsFQDN shareProcessNamespace subdomain terminationGracePeriodSeconds
workloadRef
"""
"""Fields of a container and of a pod's spec that numalign does not look at."""

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
    frozenset(_OF_CONTAINER.split()),
)

_REQUIREMENT: Final = Fields({"key": "text", "operator": "text", "values": ListOf("text")}, ("key", "operator"))
_TERM: Final = Fields({"matchExpressions": ListOf(_REQUIREMENT), "matchFields": ListOf(_REQUIREMENT)})
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_NODE_AFFINITY: Final = Fields(
    {
        _REQUIRED: Fields({"nodeSelectorTerms": ListOf(_TERM)}),
        _PREFERRED: ListOf(Fields({"weight": "number", "preference": _TERM})),
    }
)
_SELECTOR: Final = Fields({"matchLabels": _TEXTS, "matchExpressions": ListOf(_REQUIREMENT)})
_POD_TERM: Final = Fields(
    {
        "labelSelector": _SELECTOR,
        "namespaceSelector": _SELECTOR,
        "namespaces": ListOf("text"),
        "topologyKey": "text",
        "matchLabelKeys": ListOf("text"),
        "mismatchLabelKeys": ListOf("text"),
    }
)
_POD_AFFINITY: Final = Fields(
    {
        _REQUIRED: ListOf(_POD_TERM),
        _PREFERRED: ListOf(Fields({"weight": "number", "podAffinityTerm": _POD_TERM})),
    }
)
_SPREAD: Final = Fields(
    {
        "maxSkew": "number",
        "topologyKey": "text",
        "whenUnsatisfiable": "text",
        "labelSelector": _SELECTOR,
        "minDomains": "number",
        "nodeAffinityPolicy": "text",
        "nodeTaintsPolicy": "text",
        "matchLabelKeys": ListOf("text"),
    }
)
_VOLUME: Final = Fields(
    {"name": "text", "persistentVolumeClaim": Fields({"claimName": "text"}), "ephemeral": Fields({})}, ("name",)
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
        "affinity": Fields(
            {"nodeAffinity": _NODE_AFFINITY, "podAffinity": _POD_AFFINITY, "podAntiAffinity": _POD_AFFINITY}
        ),
        "topologySpreadConstraints": ListOf(_SPREAD),
        "schedulingGates": ListOf(Fields({"name": "text"}, ("name",))),
        "volumes": ListOf(_VOLUME),
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
    frozenset(_OF_SPEC.split()),
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


class Problem(NamedTuple):
    """One thing the API server would refuse."""

    path: str
    message: str


def misfits(value: object, schema: Schema = POD, path: str = "") -> Iterator[Problem]:
    """Yield the fields of the wrong type, in the manifest's order."""
    if isinstance(schema, str):
        wrong = _misfit(value, schema)
        if wrong:
            yield Problem(path, wrong)
    elif isinstance(schema, ListOf):
        if not isinstance(value, list):
            yield Problem(path, f"expected a list, got {shown(value)}")
            return
        for index, item in enumerate(value):
            yield from misfits(item, schema.item, child(path, index))
    elif not isinstance(value, Mapping):
        yield Problem(path, f"expected a mapping, got {shown(value)}")
    elif isinstance(schema, MapOf):
        for key, item in value.items():
            yield from misfits(item, schema.value, child(path, key))
    else:
        yield from _fields(value, schema, path)


def _fields(value: Mapping[str, object], schema: Fields, path: str) -> Iterator[Problem]:
    for key, item in value.items():
        known = schema.fields.get(key)
        if known is None:
            yield from _unknown(key, schema, path)
        elif item is not None:
            yield from misfits(item, known, child(path, key))
    for key in schema.required:
        if value.get(key) is None:
            yield Problem(child(path, key), "missing; it is required")


def _unknown(key: str, schema: Fields, path: str) -> Iterator[Problem]:
    """Refuse an unknown field that is all but a known one; others belong to a part numalign does not look at."""
    if key in schema.ignored or not (schema.ignored or schema.closed):
        return
    from numalign.model.words import nearest

    near = nearest(str(key), [*schema.fields, *schema.ignored], 0.0 if schema.closed else 0.85)
    if near or schema.closed:
        hint = f'; hint: similar: "{near}"' if near else ""
        yield Problem(child(path, key), f'unknown field "{key}"{hint}')


_VARIABLE: Final = r"\$\{?([A-Za-z_]\w*)[^}]*\}?|([A-Z][A-Z0-9]*_[A-Z0-9_]+)"
"""A variable of a shell or of a template; a name in capitals, such as NUM_NODES, is one, too."""


_LEAVES: Final = {"text": (str, "a text"), "flag": (bool, "true or false"), "number": (int, "a whole number")}


def _misfit(value: object, leaf: Leaf) -> str:
    """Say what is wrong with a value; empty: nothing."""
    if leaf != "quantity":
        kind, wanted = _LEAVES[leaf]
        if isinstance(value, kind) and isinstance(value, bool) == (leaf == "flag"):
            return ""
        return f"expected {wanted}, got {shown(value)}{unexpanded(value) if leaf == 'number' else ''}"
    try:
        amount(value)
    except QuantityError:
        return f"expected a quantity such as 2, 500m or 4Gi, got {shown(value)}{unexpanded(value) or fix_of(value)}"
    except (TypeError, ValueError):
        return f"expected a quantity, got {shown(value)}"
    return ""


def unexpanded(value: object) -> str:
    """Say that a text is a variable which some tool has yet to replace; empty: it is none."""
    match = re.fullmatch(_VARIABLE, value) if isinstance(value, str) else None
    return f"; fix: expand {match[1] or match[2]} first, for example with envsubst" if match else ""
