"""A cluster's state that somebody edited: what cannot be is told by the file and the node, and is never a bug."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from numalign.errors import InputError
from numalign.kubelet import admission
from numalign.model.apiserver.defaulting import read_pod
from numalign.scheduler.node import with_pod
from numalign.scheduler.request import node_load, read_request
from numalign.sources.cluster import file, state, state_dump
from numalign.sources.text.yaml import load_documents

TEXT = """
nodes:
- name: "n{i}"
  count: 2
  machine: dgx-1
  kubelet:
    topologyManagerPolicy: restricted
    cpuManagerPolicy: static
    memoryManagerPolicy: Static
    reservedSystemCPUs: "0"
    reservedMemory: [{numaNode: 0, limits: {memory: 1124Mi}}]
    kubeReserved: {cpu: "1", memory: 1Gi}
    evictionHard: {memory.available: 100Mi}
"""
A = "default/a"


@cache
def kept() -> str:
    """Two nodes, on the first of which pod a has 2 CPUs, 1 GiB and a GPU."""
    fleet = file.read_cluster(load_documents(TEXT, "cluster.yaml")[0]).fleet
    limits = {"cpu": "2", "memory": "1Gi", "nvidia.com/gpu": "1"}
    spec = {"containers": [{"name": "c", "image": "i", "resources": {"limits": limits}}]}
    pod = read_pod({"metadata": {"name": "a"}, "spec": spec})
    first, second = fleet.nodes
    assert first.session is not None
    outcome = admission.admit(first.session, pod)
    assert outcome.admit
    nodes = (with_pod(first, node_load(read_request(pod)), outcome.then), second)
    whole = {"apiVersion": "numalign/v1", "kind": "ClusterState", "version": 1}
    return json.dumps({**whole, **state_dump.document(fleet._replace(nodes=nodes))})


def held(node: Any) -> Any:
    return node["held"][A]["c"]


def released(node: Any) -> None:
    """Forget what the pod holds, everywhere: its CPUs, memory and GPU would be given out again."""
    del node["held"][A]
    node["memory"]["counts"][0] = 0
    node["memory"]["free"][-1][0] += 1 << 30
    node["memory"]["reserved"][-1][0] = 0


def twice(node: Any) -> None:
    node["pods"].append([*node["pods"][0][:2], "another", *node["pods"][0][3:]])
    node["held"]["another"] = {}


EDITS: dict[str, tuple[Callable[[Any], object], str]] = {
    "a pod that holds nothing any more": (released, "nodes[0].held[\"default/a\"]: missing"),
    "a pod twice": (twice, "nodes[0].pods: duplicate pod"),
    "a device twice": (
        lambda node: held(node)["devices"].update({"nvidia.com/gpu": ["gpu0", "gpu0"]}),
        "nodes[0]: ValueError duplicate device",
    ),
    "a device that nobody asked for": (
        lambda node: held(node)["devices"].update({"mellanox.com/ib": ["mlx5_0"]}),
        "nodes[0].held[\"default/a\"].c",
    ),
    "a device that there is not": (
        lambda node: held(node)["devices"].update({"nvidia.com/gpu": ["gpu99"]}),
        "nodes[0]: KeyError 'gpu99'",
    ),
    "a key of what is held": (lambda node: held(node).update(x=1), 'nodes[0].held["default/a"].c.x: unknown key'),
    "a key of a node": (lambda node: node.update(x=1), "nodes[0].x: unknown key"),
    "a shape from behind": (lambda node: node["pods"][0].__setitem__(3, -1), "nodes[0].pods[0]: expected a whole"),
    "memory of a node beyond all": (
        lambda node: held(node)["memory"][0].__setitem__(0, [1 << 40]),
        "nodes[0]: ValueError memory that the machine does not have",
    ),
    "half a byte": (lambda node: held(node)["memory"][0].__setitem__(2, 1073741824.5), "nodes[0]: ValueError"),
    "a text for a count": (lambda node: node["memory"]["counts"].__setitem__(0, "1"), "nodes[0]: ValueError"),
    "less than nothing free": (
        lambda node: node["memory"]["free"][-1].__setitem__(0, -1),
        "nodes[0]: ValueError the memory tables do not match the machine",
    ),
    "no kind": (lambda node: node.update(kind=None), "nodes[0].kind: missing"),
    "less than nothing allocatable": (
        lambda node: node["allocatable"].update(cpu="-1"),
        "nodes[0].allocatable: expected quantities that are not negative",
    ),
    "an odd taint": (lambda node: node.update(taints=[[1]]), "nodes[0].taints[0][0]: expected text"),
    "what is not judged": (lambda node: node.update(unjudged=[{}]), "nodes[0].unjudged[0]: expected text"),
}  # fmt: skip


def test_the_state_that_is_edited_is_whole() -> None:
    (first, _) = state.read_cluster_state(json.loads(kept()), "s.json").fleet.nodes

    assert first.session is not None
    assert [pod.name for pod in first.session.pods] == ["a"]


@pytest.mark.parametrize("case", EDITS)
def test_an_edit_is_told_with_its_place(case: str) -> None:
    change, message = EDITS[case]
    data = json.loads(kept())
    change(data["nodes"][0])

    with pytest.raises(InputError) as raised:
        state.read_cluster_state(data, "s.json")

    assert str(raised.value).startswith(f"s.json: {message}")


def test_a_kubelet_that_does_not_start_is_told_by_the_file() -> None:
    data = json.loads(kept())
    data["kinds"][0]["kubelet"]["cpuManagerPolicy"] = "banana"

    with pytest.raises(InputError, match=r"^s\.json: .*banana"):
        state.read_cluster_state(data, "s.json")
