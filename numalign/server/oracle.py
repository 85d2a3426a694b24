"""The twin as an oracle for other projects' tests: one JSON object a line in, one out (docs/serve.md).

A scheduler's test suite asks what a real kubelet would say: `{"admit": POD, "node": "a"}`. Several nodes live in one
process; an answer says what the pod got, and on request what the node's exporter and its PodResources API would say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from numalign.analysis.holding import holding
from numalign.errors import InputError
from numalign.kubelet import admission, node
from numalign.kubelet.admission import Outcome, Session
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.cpuset import format_set, ids
from numalign.scheduler.node import ClusterNode
from numalign.scheduler.nrt.export import export
from numalign.scheduler.nrt.value import NodeResourceTopology
from numalign.sources.text.json import NumberError, loads

Data = dict[str, object]

MAX_LINE_BYTES: Final = 16 << 20
_ACTIONS: Final = ("admit", "remove", "start", "reset", "nodes")
_OTHERS: Final = ("id", "node", "nrt", "podResources")


class Oracle:
    """Nodes under test."""

    def __init__(self, nodes: Iterable[ClusterNode], write_nrt: Callable[[NodeResourceTopology], Data]) -> None:
        """Take over nodes whose kubelets are known; `write_nrt` writes an object as data."""
        self._start = {one.name: one.session for one in nodes if one.session is not None}
        self._now = dict(self._start)
        self._write_nrt = write_nrt

    def answer(self, line: bytes) -> Data:
        """Answer one line; what is wrong with it is part of the answer."""
        try:
            request = loads(line)
        except NumberError as error:
            return {"error": str(error)}
        except (ValueError, RecursionError):
            return {"error": "the line is not JSON"}
        if not isinstance(request, dict):
            return {"error": "expected a JSON object"}
        known = {"id": request["id"]} if "id" in request else {}
        try:
            return {**known, **self._act(request)}
        except InputError as error:
            return {**known, "error": str(error)}

    def _act(self, request: Data) -> Data:
        actions = [name for name in _ACTIONS if name in request]
        unknown = [name for name in request if name not in (*_ACTIONS, *_OTHERS)]
        if len(actions) != 1 or unknown:
            raise InputError(f"expected one of {', '.join(_ACTIONS)}, beside {', '.join(_OTHERS)}")
        if actions == ["nodes"]:
            return {"nodes": list(self._now)}
        if actions == ["reset"] and "node" not in request:
            self._now = dict(self._start)
            return {"reset": True}
        name = self._node(request.get("node"))
        return {"node": name, **self._acted(actions[0], name, request), **self._views(name, request)}

    def _acted(self, action: str, name: str, request: Data) -> Data:
        if action == "admit":
            return self._admit(name, request["admit"])
        if action == "reset":
            self._now[name] = self._start[name]
            return {"reset": True}
        session, pod = self._now[name], request[action]
        # A pod is meant by `NAME`, `NAMESPACE/NAME` or its UID.
        uids = [one.uid for one in session.pods if pod in (one.name, one.full_name, one.uid)]
        for uid in uids:
            if action == "remove":
                session = admission.end(session, uid)
            else:
                session = session._replace(state=node.start_containers(session.node, session.state, uid).state)
        self._now[name] = session
        return {action: bool(uids)}

    def _node(self, name: object) -> str:
        if name is None and len(self._now) == 1:
            return next(iter(self._now))
        if not isinstance(name, str) or name not in self._now:
            raise InputError(f"unknown node {name}; allowed: {', '.join(self._now)}", "node")
        return name

    def _admit(self, name: str, manifest: object) -> Data:
        if not isinstance(manifest, Mapping):
            raise InputError("expected a Pod", "admit")
        pod = read_pod(manifest)
        session = self._now[name]
        if any(one.uid == pod.uid for one in session.pods):
            raise InputError(f"duplicate pod uid {pod.uid}", "admit.metadata.uid")
        outcome = admission.admit(session, pod)
        self._now[name] = outcome.then
        if not outcome.admit:
            where = {"container": outcome.result.container} if outcome.result.container else {}
            return {
                "admit": False,
                "stage": outcome.stage,
                "reason": outcome.reason,
                "message": outcome.message,
                **where,
            }
        return {"admit": True, "qos": pod.qos, "containers": list(_containers(outcome))}

    def _views(self, name: str, request: Data) -> Data:
        result: Data = {}
        if request.get("nrt"):
            result["nrt"] = self._write_nrt(export(self._now[name], name))
        if request.get("podResources"):
            result["podResources"] = list(_pod_resources(self._now[name]))
        return result


def _containers(outcome: Outcome) -> Iterator[Data]:
    """Say what the containers of an admitted pod got."""
    for container in outcome.demand.containers:
        held = holding(outcome.before.node, outcome.after, outcome.demand.uid, container)
        hint = outcome.result.hints[container.name]
        yield {
            "name": container.name,
            "kind": container.kind,
            "hint": {
                "numaNodes": None if hint.numa_affinity is None else list(ids(hint.numa_affinity)),
                "preferred": hint.preferred,
            },
            "cpus": None if held.cpus is None else format_set(held.cpus),
            "memory": [
                {"type": block.type, "size": block.size, "numaNodes": list(ids(block.mask))}
                for block in held.memory or ()
            ],
            "devices": {one.resource: list(one.ids) for one in held.devices},
        }


def _pod_resources(session: Session) -> Iterator[Data]:
    """Say what the PodResources API's List would, in the names of its protocol (docs/rules/podresources.md 1 to 9)."""
    for pod in session.pods:
        demand = session.state.pods.get(pod.uid)
        containers: list[Data] = []
        for container in demand.containers if demand is not None else ():
            if container.kind == "init":
                continue
            held = holding(session.node, session.state, pod.uid, container)
            containers.append(
                {
                    "name": container.name,
                    "devices": [{"resource_name": one.resource, "device_ids": list(one.ids)} for one in held.devices],
                    "cpu_ids": [] if held.cpus is None else list(ids(held.cpus)),
                    "memory": [
                        {
                            "memory_type": block.type,
                            "size": block.size,
                            "topology": {"nodes": [{"ID": number} for number in ids(block.mask)]},
                        }
                        for block in held.memory or ()
                    ],
                }
            )
        yield {"name": pod.name, "namespace": pod.namespace, "containers": containers}
