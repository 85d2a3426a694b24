"""What of a pod an answer about a node depends on."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.model.apiserver.defaulting import read_pod
from numalign.model.pod import Pod
from numalign.scheduler.node import ClusterNode, lacking, needs_name
from numalign.scheduler.node_fit import NodeTotals
from tests.conformance.sched import amounts

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def pod(requests: dict[str, str] | None = None, ports: Any = (), **spec: Any) -> Pod:
    resources = {"requests": requests or {}, "limits": requests or {}}
    containers = [{"name": "a", "ports": list(ports), "resources": resources}, {"name": "b"}]
    return read_pod({"metadata": {"name": "p"}, "spec": {"containers": containers, **spec}})


def selecting(kind: str) -> dict[str, Any]:
    term = {kind: [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [term]}}}


NAMED = [
    ("a plain pod", pod(), False),
    ("a pod with a port of its own", pod(ports=[{"containerPort": 80}]), False),
    ("with a port of the host", pod(ports=[{"containerPort": 80}, {"containerPort": 81, "hostPort": 81}]), True),
    ("for a node by name", pod(nodeName="n"), True),
    ("by a field", pod(affinity=selecting("matchFields")), True),
    ("by a label", pod(affinity=selecting("matchExpressions")), False),
    ("one that evicts others", pod(priority=2_000_000_000), True),
]


@pytest.mark.parametrize(("asked", "needs"), [row[1:] for row in NAMED], ids=[row[0] for row in NAMED])
def test_an_answer_needs_more_than_the_node_s_look(asked: Pod, needs: bool) -> None:
    assert needs_name(asked) is needs


def test_devices_that_a_node_does_not_have() -> None:
    node = ClusterNode("n", NodeTotals(amounts({"cpu": "4", "v.com/gpu": "0"}), {}, 0))
    pods = [
        pod({"v.com/nic": "1", "v.com/gpu": "1", "cpu": "1"}),
        pod({"v.com/fpga": "1", "v.com/nic": "2", "w.com/x": "0"}),
    ]

    assert lacking(node, pods) == ("v.com/nic", "v.com/fpga")
    assert lacking(node, []) == ()
