"""Nodes that nobody knows: judged by labels and amounts of their objects, or passed and counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from numalign.cli.commands.serve import _builder
from numalign.scheduler.extender import Extender, Judge
from numalign.scheduler.node import Fleet
from numalign.server import templates
from numalign.server.metrics import Metrics
from numalign.server.templates import Templates
from numalign.server.wire import read_args
from numalign.tasks.cluster import ClusterRequest
from numalign.tasks.pools import INSTANCE_TYPE, Pools
from numalign.tasks.requests import KubeletRequest
from tests.server.nodes import NODES

STRICT = KubeletRequest(settings={"topology-manager-policy": "single-numa-node"})
GPUS = {"cpu": "190", "memory": "1900Gi", "pods": "110", "nvidia.com/gpu": "8"}


def node(name: str, kind: str | None = "p5.48xlarge", **more: str) -> dict[str, Any]:
    """Write a template node, as an autoscaler makes it."""
    labels = {"kubernetes.io/hostname": name, **({INSTANCE_TYPE: kind} if kind else {}), **more}
    status = {"allocatable": GPUS, "capacity": {**GPUS, "cpu": "192"}, "nodeInfo": {"kubeletVersion": "v1.35.0"}}
    return {"metadata": {"name": name, "labels": labels}, "status": status}


def pod(gpus: int, selector: dict[str, str] | None = None) -> dict[str, Any]:
    limits = {"cpu": "8", "memory": "8Gi", "nvidia.com/gpu": str(gpus)}
    spec: dict[str, Any] = {"containers": [{"name": "c", "resources": {"limits": limits}}]}
    return {"metadata": {"name": "p"}, "spec": spec | ({"nodeSelector": selector} if selector else {})}


def extender(judge: Judge = "nrt", kubelet: KubeletRequest = STRICT, *machine_of: str) -> Extender:
    return _builder(ClusterRequest((), machine_of=machine_of, kubelet=kubelet), judge)(Fleet(NODES))


@pytest.mark.parametrize("judge", ["nrt", "kubelet"])
def test_five_gpus_do_not_fit_the_template_of_an_instance_with_eight(judge: Judge) -> None:
    """Nothing is published of a template, so its kubelet judges in either case."""
    said = (
        "TopologyAffinityError: Resources cannot be allocated with Topology locality"
        ": c: nvidia.com/gpu 5, the largest zone has 4"
    )
    items = [node("template-1"), node("template-2"), node("unknown", "m5.large")]
    call = read_args(json.dumps({"Pod": pod(5), "Nodes": {"items": items}}).encode())

    answer = extender(judge).filter(call.pod, call.names, frozenset(), call.objects)

    assert answer.passed == ("unknown",)
    assert answer.unresolvable == {"template-1": said, "template-2": said}
    assert (answer.judged, answer.unaligned, answer.unknown) == (2, 2, 1)
    four = read_args(json.dumps({"Pod": pod(4), "Nodes": {"items": items}}).encode())
    assert extender(judge).filter(four.pod, four.names, frozenset(), four.objects).passed == call.names


def test_a_node_that_is_known_is_judged_by_what_is_known() -> None:
    """Node `a` has no GPU, whatever the object of its name says."""
    call = read_args(json.dumps({"Pod": pod(1), "Nodes": {"items": [node("a"), node("else")]}}).encode())

    answer = extender().filter(call.pod, call.names, frozenset(), call.objects)

    assert answer.passed == ("else",)
    assert answer.unresolvable == {"a": "cannot align container: c: nvidia.com/gpu 1, 0 in every zone"}


def test_names_alone_say_nothing_and_pass() -> None:
    call = read_args(json.dumps({"Pod": pod(5), "NodeNames": ["template-1"]}).encode())

    answer = extender().filter(call.pod, call.names, frozenset(), call.objects)

    assert (answer.passed, answer.unknown, answer.judged) == (("template-1",), 1, 0)
    metrics = Metrics()
    metrics.judged(answer)
    assert "numalign_extender_nodes_unknown_total 1\n" in metrics.text(0, 0.0, 0)


def test_templates_are_scored_too() -> None:
    call = read_args(json.dumps({"Pod": pod(1), "Nodes": {"items": [node("t"), node("u", None)]}}).encode())

    scores = dict(extender().prioritize(call.pod, call.names, frozenset(), call.objects))

    assert scores["t"] > 0
    assert scores["u"] == 0


def test_labels_that_differ_change_no_kubelet_s_verdict() -> None:
    """kube-scheduler asked about selectors already; nodes alike share an answer, whatever their zones."""
    items = [node("t-1", zone="a"), node("t-2", zone="b")]
    call = read_args(json.dumps({"Pod": pod(1, {"zone": "b"}), "Nodes": {"items": items[::-1]}}).encode())
    one = extender("kubelet")
    one.filter(read_args(json.dumps({"Pod": pod(1), "Nodes": {"items": items}}).encode()).pod, ["t-1"])

    assert one.filter(call.pod, ["t-2"], frozenset(), call.objects).passed == ("t-2",)


def made(*machine_of: str) -> tuple[Templates, list[dict[str, object]]]:
    said: list[dict[str, object]] = []
    return Templates(Pools(machine_of=machine_of), said.append), said


def test_nodes_alike_are_made_once_and_a_label_is_logged_once() -> None:
    found, said = made()

    assert found.node(node("t-1")) is found.node(node("t-2", zone="elsewhere"))
    for name in ("u-1", "u-2"):
        assert found.node(node(name, "m5.large")) is None
        assert found.node(node(name, None)) is None
    assert [one["label"] for one in said] == [f"{INSTANCE_TYPE}=m5.large", f"{INSTANCE_TYPE}="]
    assert all(one["event"] == "nodes pass unjudged" for one in said)


@pytest.mark.parametrize(
    "thing",
    [
        {},
        {"metadata": {"name": "n", "labels": []}},
        {"metadata": {"name": "n", "labels": {INSTANCE_TYPE: ["p5.48xlarge"]}}, "status": 1},
        {"metadata": {"name": "n", "labels": {INSTANCE_TYPE: "p5.48xlarge"}}, "status": {"allocatable": {"cpu": "x"}}},
        {"metadata": {"name": 7}, "status": {"allocatable": [], "capacity": None, "nodeInfo": "?"}},
    ],
    ids=str,
)
def test_an_object_that_cannot_be_read_passes(thing: dict[str, object]) -> None:
    found, said = made()

    assert found.node(thing) is None
    assert said


def test_a_kubelet_that_would_not_start_is_logged_and_passes(tmp_path: Path) -> None:
    config = tmp_path / "kubelet.yaml"
    config.write_text(
        "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmemoryManagerPolicy: Static\n"
    )
    said: list[dict[str, object]] = []
    pools = Pools(kubelet_config_of=(f"{INSTANCE_TYPE}=p5.48xlarge:{config}",))

    assert Templates(pools, said.append).node(node("t")) is None
    assert "Node Allocatable" in str(said[0]["reason"])


def test_kinds_are_remembered_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(templates, "MAX_KINDS", 3)
    found, said = made()

    for place in range(10):
        other = node(f"t{place}")
        other["status"]["allocatable"] = {**GPUS, "memory": str(2**40 + place)}
        assert found.node(other) is not None
        assert found.node(node(f"u{place}", f"m{place}")) is None
        assert len(found._known) <= 3
    assert len(said) == 3
