"""kube-scheduler's filters that ask nothing of NUMA nodes, in its own order and words."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.model.apiserver.defaulting import read_pod
from numalign.model.machine import Taint
from numalign.model.pod import Pod
from numalign.scheduler.node import ClusterNode
from numalign.scheduler.node_filters import UNSCHEDULABLE, WRONG_LABELS, WRONG_NAME, allows, check_node
from numalign.scheduler.node_fit import NodeTotals
from numalign.scheduler.request import node_load
from tests.conformance.sched import amounts
from tests.scheduler.make import cpus


def pod(**spec: Any) -> Pod:
    return read_pod({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}], **spec}})


NODE = ClusterNode("n", NodeTotals(amounts({"cpu": "4", "memory": "8Gi", "pods": "9"}), {}, 0), labels={"zone": "a"})
TAINTED = NODE._replace(taints=(Taint("old", "x", "NoSchedule"), Taint("soft", "", "PreferNoSchedule")))
CLOSED = NODE._replace(unschedulable=True)
FAR = {"nodeSelector": {"zone": "b"}}
ANY = {"tolerations": [{"operator": "Exists"}]}
OLD = "node(s) had untolerated taint {old: x}"

ALLOWED = [
    ("a plain pod", NODE, pod(), ""),
    ("its own name", NODE, pod(nodeName="n"), ""),
    ("another name", NODE, pod(nodeName="m"), WRONG_NAME),
    ("its labels", NODE, pod(nodeSelector={"zone": "a"}), ""),
    ("other labels", NODE, pod(**FAR), WRONG_LABELS),
    ("a taint", TAINTED, pod(), OLD),
    ("a taint that is tolerated", TAINTED, pod(tolerations=[{"key": "old", "operator": "Exists"}]), ""),
    (
        "one that evicts",
        NODE._replace(taints=(Taint("k", "v", "NoExecute"),)),
        pod(),
        "node(s) had untolerated taint {k: v}",
    ),
    ("a node that takes no pods", CLOSED, pod(), UNSCHEDULABLE),
    ("unless it is tolerated", CLOSED, pod(**ANY), ""),
    (
        "its toleration has a key",
        CLOSED,
        pod(tolerations=[{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]),
        "",
    ),
    ("the name is looked at first", CLOSED, pod(nodeName="m", **FAR), WRONG_NAME),
    ("then whether it takes pods", CLOSED, pod(**FAR), UNSCHEDULABLE),
    ("then labels", TAINTED, pod(**FAR), WRONG_LABELS),
    (
        "of two taints the first is told",
        TAINTED._replace(taints=(*TAINTED.taints, Taint("k", "v", "NoSchedule"))),
        pod(),
        OLD,
    ),
]


@pytest.mark.parametrize(("node", "asked", "message"), [row[1:] for row in ALLOWED], ids=[row[0] for row in ALLOWED])
def test_a_node_allows_a_pod(node: ClusterNode, asked: Pod, message: str) -> None:
    found = allows(node, asked)

    assert (found.passed, found.message) == (not message, message)


def test_room_is_looked_at_last() -> None:
    assert check_node(NODE, pod(), node_load(cpus(4))).passed
    assert check_node(NODE, pod(), node_load(cpus(5))).message == "Insufficient cpu"
    assert check_node(NODE, pod(**FAR), node_load(cpus(5))).message == WRONG_LABELS
