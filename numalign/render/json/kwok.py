"""Nodes for KWOK, which plays nodes without kubelets: Node objects, and the Stages by which a kubelet's word counts.

KWOK has no kubelet that could reject a pod. So a pod waits until somebody annotates it with what the kubelet says:
`ADMITTED`, or `REASON` and `MESSAGE`. The Stages have the names of KWOK's own, and take their place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from numalign.dra.writing import written_class, written_slice
from numalign.kubelet.releases.release import version_text
from numalign.model.quantity import canonical
from numalign.scheduler.nrt.value import amount_text, manifest

if TYPE_CHECKING:
    from numalign.kubelet.admission import Session
    from numalign.render.json import Data
    from numalign.results.cluster import KwokExport
    from numalign.scheduler.node import ClusterNode

ADMITTED: Final = "pod-ready.stage.kwok.x-k8s.io/admitted"
"""`true`: the kubelet admits the pod."""
REASON: Final = "pod-rejected.stage.kwok.x-k8s.io/reason"
MESSAGE: Final = "pod-rejected.stage.kwok.x-k8s.io/message"

_GONE: Final = (".metadata.deletionTimestamp", "Exists")
_STAYS: Final = (".metadata.deletionTimestamp", "DoesNotExist")
_WAITS: Final = (".status.phase", "In", "Pending")
_STATUS: Final = """\
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  restartCount: 0
"""
_RUNNING: Final = """\
  ready: true
  state: {running: {startedAt: {{ $now | Quote }}}}
"""
_ENDED: Final = """\
  ready: false
  state: {terminated: {exitCode: 0, reason: Completed, startedAt: {{ $now | Quote }}, finishedAt: {{ $now | Quote }}}}
"""
_RUNS: Final = f"""\
{{{{ $now := Now }}}}
phase: Running
startTime: {{{{ $now | Quote }}}}
hostIP: {{{{ NodeIPWith .spec.nodeName | Quote }}}}
podIP: {{{{ PodIPWith .spec.nodeName ( or .spec.hostNetwork false ) ( or .metadata.uid "" ) \
( or .metadata.name "" ) ( or .metadata.namespace "" ) | Quote }}}}
conditions:
- {{type: Initialized, status: "True", lastTransitionTime: {{{{ $now | Quote }}}}}}
- {{type: ContainersReady, status: "True", lastTransitionTime: {{{{ $now | Quote }}}}}}
- {{type: Ready, status: "True", lastTransitionTime: {{{{ $now | Quote }}}}}}
containerStatuses:
{{{{ range .spec.containers }}}}
{_STATUS}{_RUNNING}{{{{ end }}}}
initContainerStatuses:
{{{{ range .spec.initContainers }}}}
{_STATUS}{{{{ if eq ( or .restartPolicy "" ) "Always" }}}}
{_RUNNING}{{{{ else }}}}
{_ENDED}{{{{ end }}}}
{{{{ end }}}}
"""
_READY: Final = """\
{{ $now := Now }}
phase: Running
conditions:
{{ range NodeConditions }}
- type: {{ .type | Quote }}
  status: {{ .status | Quote }}
  reason: {{ .reason | Quote }}
  message: {{ .message | Quote }}
  lastHeartbeatTime: {{ $now | Quote }}
  lastTransitionTime: {{ $now | Quote }}
{{ end }}
"""
_REJECTED: Final = f"""\
phase: Failed
startTime: {{{{ Now | Quote }}}}
reason: {{{{ index .metadata.annotations "{REASON}" | Quote }}}}
message: {{{{ or ( index .metadata.annotations "{MESSAGE}" ) "" | Quote }}}}
"""
_COMPLETED: Final = f"""\
{{{{ $now := Now }}}}
phase: Succeeded
containerStatuses:
{{{{ range .spec.containers }}}}
{_STATUS}{_ENDED}{{{{ end }}}}
"""


def objects(export: KwokExport) -> Data:
    """Write everything as a List, as `kubectl apply` takes it."""
    items = [
        *_stages(),
        *map(written_class, export.classes),
        *map(_node, export.nodes),
        *map(manifest, export.nrts),
        *map(written_slice, export.slices),
    ]
    return {"apiVersion": "v1", "kind": "List", "items": items}


def _stages() -> list[Data]:
    """Write all that a cluster needs: KWOK's default Stages, but for the word of a kubelet that pods wait for."""
    ready = '.status.conditions.[] | select( .type == "Ready" ) | .status'
    of_job = (".metadata.ownerReferences.[].kind", "In", "Job")
    delete = {"finalizers": {"empty": True}, "delete": True}
    return [
        _stage("node-initialize", {"statusTemplate": _READY}, (ready, "NotIn", "True"), kind="Node"),
        _stage("pod-ready", {"statusTemplate": _RUNS}, _STAYS, _WAITS, (_annotation(ADMITTED), "In", "true")),
        _stage("pod-rejected", {"statusTemplate": _REJECTED}, _STAYS, _WAITS, (_annotation(REASON), "Exists")),
        _stage("pod-complete", {"statusTemplate": _COMPLETED}, _STAYS, (".status.phase", "In", "Running"), of_job),
        _stage("pod-delete", delete, _GONE),
    ]


def _annotation(name: str) -> str:
    return f'.metadata.annotations["{name}"]'


def _stage(name: str, then: Data, *conditions: tuple[str, ...], kind: str = "Pod") -> Data:
    """Write one Stage; a condition is an expression of jq, an operator and its values."""
    expressions = [
        {"key": key, "operator": operator, **({"values": list(values)} if values else {})}
        for key, operator, *values in conditions
    ]
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": name},
        "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": kind},
            "selector": {"matchExpressions": expressions},
            "next": then,
        },
    }


def _node(node: ClusterNode) -> Data:
    """Write a Node that KWOK manages."""
    system = {"kubernetes.io/hostname": node.name, "kubernetes.io/os": "linux"}
    metadata = {
        "name": node.name,
        "annotations": {"kwok.x-k8s.io/node": "fake"},
        "labels": {**system, **node.labels},
    }
    spec: Data = {"taints": [one._asdict() for one in node.taints]} if node.taints else {}
    if node.unschedulable:
        spec["unschedulable"] = True
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": _status(node)}


def _status(node: ClusterNode) -> Data:
    allocatable = {name: amount_text(amount) for name, amount in node.totals.allocatable.items()}
    if node.session is None:
        return {"allocatable": allocatable, "capacity": allocatable}
    release = f"v{version_text(node.session.node.kubelet.version)}.0"
    return {
        "allocatable": allocatable,
        "capacity": {**allocatable, **_capacity(node.session)},
        "nodeInfo": {"kubeletVersion": release, "operatingSystem": "linux"},
    }


def _capacity(session: Session) -> Data:
    """Write what the hardware has; of devices and pods all is allocatable."""
    return {name: canonical(amount.quantity) for name, amount in session.node.reservation.capacity.items()}
