"""What of a pod an answer about a node depends on."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.kubelet.admission import admit
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.machine import Device, Taint
from numalign.model.pod import Pod
from numalign.scheduler.node import ClusterNode, lacking, look, needs_name, published
from numalign.scheduler.node_fit import NodeTotals
from tests.conformance.sched import amounts
from tests.kubelet.regular import regular
from tests.scheduler.nrt.nodes import guaranteed, static, with_pods

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


SESSION = with_pods(static(regular(devices={"v.com/gpu": (Device("g", (0,)), Device("h", (0,)))})), [])
HELD = {"cpu": "1", "memory": "1Gi", "v.com/gpu": "1"}
LOOKED = ClusterNode("n", NodeTotals(amounts({"cpu": "4"}), amounts({"cpu": "1"}), 1), SESSION, "exact")
LOOKS = [
    ("its name", LOOKED._replace(name="m"), True),
    ("a label", LOOKED._replace(labels={"zone": "a"}), True),
    ("the kubelet's own copy", LOOKED._replace(session=SESSION._replace(pods=())), True),
    ("what there is", LOOKED._replace(totals=LOOKED.totals._replace(allocatable=amounts({"cpu": "5"}))), False),
    ("what is used", LOOKED._replace(totals=LOOKED.totals._replace(used=amounts({"cpu": "2"}))), False),
    ("what counts beyond", LOOKED._replace(totals=LOOKED.totals._replace(beyond={"cpu": 1})), False),
    ("how many pods", LOOKED._replace(totals=LOOKED.totals._replace(pods=2)), False),
    ("what is not judged", LOOKED._replace(totals=LOOKED.totals._replace(unjudged=frozenset({"x"}))), False),
    ("a taint", LOOKED._replace(taints=(Taint("gpu"),)), False),
    ("that it takes no pods", LOOKED._replace(unschedulable=True), False),
    ("no kubelet", LOOKED._replace(session=None), False),
    ("CPUs that are held", LOOKED._replace(session=admit(SESSION, guaranteed("p", HELD)).then), False),
]


@pytest.mark.parametrize(("other", "alike"), [row[1:] for row in LOOKS], ids=[row[0] for row in LOOKS])
def test_nodes_that_look_alike(other: ClusterNode, alike: bool) -> None:
    assert look(LOOKED) == look(LOOKED._replace())
    assert (look(LOOKED) == look(other)) is alike
    assert look(other) == look(other._replace())


def test_what_one_pod_holds_or_another_is_the_same_for_the_next() -> None:
    one, other = (LOOKED._replace(session=admit(SESSION, guaranteed(name, HELD)).then) for name in "pq")
    assert look(one) == look(other)


def test_devices_that_a_node_does_not_have() -> None:
    node = ClusterNode("n", NodeTotals(amounts({"cpu": "4", "v.com/gpu": "0"}), {}, 0))
    pods = [
        pod({"v.com/nic": "1", "v.com/gpu": "1", "cpu": "1"}),
        pod({"v.com/fpga": "1", "v.com/nic": "2", "w.com/x": "0"}),
    ]

    assert lacking(node, pods) == ("v.com/nic", "v.com/fpga")
    assert lacking(node, []) == ()


def test_of_a_node_that_nobody_knows_nothing_is_published() -> None:
    assert published(ClusterNode("n", NodeTotals({}, {}, 0), None, "exact")) is None


def test_an_exporter_without_delay_publishes_no_fingerprint() -> None:
    """Which pods count in one, only the scheduler's own settings say."""
    session = with_pods(static(regular()), ())
    found = published(ClusterNode("n", NodeTotals({}, {}, 0), session, "exact"))
    assert found is not None
    assert not [name for name, _ in found.attributes if "Fingerprint" in name]
