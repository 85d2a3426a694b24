"""Cluster files, and clusters that live in a state (docs/rules/scheduling.md 6.1)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from numalign.errors import InputError
from numalign.kubelet import admission
from numalign.model.pod import Pod
from numalign.scheduler.node import ClusterNode, Fleet, published, with_pod
from numalign.scheduler.request import node_load, read_request
from numalign.sources.cluster import file, state, state_dump
from numalign.sources.text.yaml import load_documents, load_file
from numalign.tasks.cluster import ClusterRequest, load_cluster
from tests.scheduler.nrt.nodes import guaranteed

TEXT = """
version: 1
nodes:
- name: "fast-{i}"
  count: 3
  machine: figure-1
  kubelet: {topologyManagerPolicy: single-numa-node, reservedSystemCPUs: "0"}
  labels: {pool: fast, one: 1}
  exporter: {mode: none}
- {name: slow, machine: hgx-h100, allocatable: {cpu: 10}}
scheduler:
  kind: kep
  scoring: {type: MostAllocated, resources: [{name: cpu, weight: 3}]}
  cache: {mode: over_reserve, resync_s: 7}
  tie_break: random
timing: {sched_time_s: 0.5}
seed: 4
"""


def read(text: str) -> Fleet:
    return file.read_cluster(load_documents(text, "cluster.yaml")[0]).fleet


def test_groups_become_nodes() -> None:
    fleet = read(TEXT)
    assert [node.name for node in fleet.nodes] == ["fast-0", "fast-1", "fast-2", "slow"]
    fast, slow = fleet.nodes[0], fleet.nodes[3]
    assert fast.session is not None
    assert (fast.session.node.policy, fast.session.node.cpu.reserved, fast.labels["one"]) == (
        "single-numa-node",
        1,
        "1",
    )
    assert published(fast) is None
    assert published(slow) is not None
    assert slow.totals.allocatable["cpu"] == 10 * 10**9
    assert fleet.scheduler.kind == "kep"
    assert (fleet.scheduler.strategy, fleet.scheduler.weights, fleet.scheduler.seed) == ("MostAllocated", {"cpu": 3}, 4)
    assert (fleet.scheduler.cache.mode, fleet.scheduler.cache.resync_s) == ("over_reserve", 7)
    assert fleet.timing.sched_time_s == 0.5


def test_a_cluster_file_may_name_itself(tmp_path: Path) -> None:
    path = tmp_path / "cluster.yaml"
    path.write_text(f"apiVersion: numalign/v1\nkind: Cluster\n{TEXT}")
    assert [node.name for node in load_cluster(ClusterRequest((str(path),))).fleet.nodes] == [
        node.name for node in read(TEXT).nodes
    ]


def test_labels_and_taints_of_a_machine_hold_for_its_nodes(tmp_path: Path) -> None:
    """The group's own labels win; the kubelet looks at both, as every scheduler does."""
    (tmp_path / "cluster.yaml").write_text(
        "nodes: [{name: a, machine: m.yaml, labels: {pool: slow}}]\n",
    )
    (tmp_path / "m.yaml").write_text(
        "name: m\nnumaNodes: [{id: 0, cpus: 0-3, memory: 8Gi}]\n"
        "node: {labels: {disk: ssd, pool: fast}, taints: [{key: gone, effect: NoExecute}]}\n"
    )
    (node,) = file.read_cluster(load_file(str(tmp_path / "cluster.yaml"))[0]).fleet.nodes
    assert node.labels == {"disk": "ssd", "pool": "slow"}
    assert [taint.key for taint in node.taints] == ["gone"]
    assert node.session is not None
    assert node.session.view is not None
    assert (node.session.view.labels, node.session.view.taints) == (node.labels, node.taints)


def test_nodes_of_a_group_share_their_kubelet() -> None:
    nodes = read(TEXT).nodes
    assert nodes[0].session is not None
    assert nodes[1].session is not None
    assert nodes[0].session.node.cpu is nodes[1].session.node.cpu
    assert nodes[1].session.node.machine.name == "fast-1"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nodes: [{name: a, machine: figure-1, colour: red}]", "cluster.yaml:1: nodes[0].colour: unknown key"),
        ("nodes: [{name: a}]", "cluster.yaml:1: nodes[0].machine: expected a machine file, got null"),
        ("nodes: [{name: a, machine: nowhere}]", "nodes a: no file and no bundled machine nowhere"),
        (
            "nodes: [{name: a, machine: figure-1, count: 2}]",
            'duplicate node "a"; fix: write {i} where the number goes',
        ),
        ("nodes: [{name: a, machine: figure-1, count: 0}]", "expected a whole number from 1 to 100000"),
        ("nodes: []\nscheduler: {kind: best}", "scheduler.kind: expected unaware, kep, nrt, kai"),
        ("nodes: []\nscheduler: {cache: {mode: all}}", "scheduler.cache.mode: expected passthrough"),
        (
            "nodes: []\nscheduler: {cache: {mode: over_reserve, resync_s: 0}}",
            "scheduler.cache.resync_s: over_reserve needs a number above 0; fix: mode: passthrough",
        ),
        ("nodes: []\nscheduler: {cache: {mode: over_reserve, resync_s: 0.0000001}}", "over_reserve needs a number"),
        ("nodes: []\nversion: 2", "version: expected 1, got 2"),
        ("nodes: [{name: a, machine: figure-1, exporter: {loss: 2}}]", "loss: expected a probability from 0 to 1"),
        ("nodes: [{name: a, machine: figure-1, allocatable: {cpu: lots}}]", "allocatable: expected quantities"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        read(text)
    assert said in str(refused.value).replace('"nowhere"', "nowhere")


def with_some_pods(node: ClusterNode) -> ClusterNode:
    pods = [
        guaranteed("a", {"cpu": "2", "memory": "1Gi"}),
        guaranteed("b", {"cpu": "500m", "memory": "1Gi"}, {"cpu": "1", "memory": "2Gi"}),
        guaranteed("c", {"cpu": "1", "memory": "1Gi"}, init=True),
    ]
    for pod in pods:
        assert node.session is not None
        outcome = admission.admit(node.session, pod)
        if outcome.admit:
            node = with_pod(node, node_load(read_request(pod)), outcome.then)
    return node


MEMORY = """
nodes:
- name: "n-{i}"
  count: 2
  machine: sockets=2,coresPerNumaNode=8,memoryPerNumaNode=32Gi
  kubelet:
    topologyManagerPolicy: restricted
    reservedSystemCPUs: "0"
    memoryManagerPolicy: Static
    reservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}]
    systemReserved: {memory: 1Gi}
"""


@pytest.mark.parametrize("text", [TEXT, MEMORY], ids=["figure-1 and hgx-h100", "static memory"])
def test_a_state_keeps_what_every_pod_holds(text: str) -> None:
    fleet = read(text)
    fleet = fleet._replace(nodes=tuple(map(with_some_pods, fleet.nodes)))
    document = json.loads(json.dumps(state_dump.document(fleet)))
    again = state.read_cluster_state(document, "state.json").fleet
    assert again.scheduler == fleet.scheduler
    assert again.timing == fleet.timing
    for mine, theirs in zip(again.nodes, fleet.nodes, strict=True):
        assert mine.session is not None
        assert theirs.session is not None
        assert mine._replace(session=None) == theirs._replace(session=None)
        assert mine.session.node.config == theirs.session.node.config
        assert [without_spec(pod) for pod in mine.session.pods] == [without_spec(pod) for pod in theirs.session.pods]
        held = theirs.session.state
        # What finished init containers left is for the pod that came last, whose admission is over.
        assert mine.session.state.memory == held.memory._replace(reusable_pod="", reusable={})
        assert mine.session.state.device == held.device
        assert mine.session.state.pods == held.pods
        assert mine.session.state.cpu.assignments == theirs.session.state.cpu.assignments
        assert mine.session.state.cpu.default == theirs.session.state.cpu.default
    assert json.loads(json.dumps(state_dump.document(again))) == document


def without_spec(pod: Pod) -> Pod:
    """A state keeps of a pod's spec only what a bound pod is asked about."""
    return pod._replace(spec={})


@pytest.mark.parametrize(
    "change",
    [
        {"nodes": 5},
        {"nodes": [{"name": "a", "kind": 9, "known": "exact"}]},
        {"nodes": [{"name": "a", "known": "nothing"}, {"name": "a", "known": "nothing"}]},
        {"nodes": [{"name": "a", "known": "nothing", "pods": [["d", "p"]]}]},
        {"nodes": [{"name": "a", "known": "surely"}]},
        {"colour": 1},
        {"shapes": [{}]},
    ],
    ids=str,
)
def test_a_state_that_is_broken_is_an_error_of_its_file(change: dict[str, object]) -> None:
    document = {**state_dump.document(read(TEXT)), **change}
    with pytest.raises(InputError) as refused:
        state.read_cluster_state(document, "state.json")
    assert str(refused.value).startswith("state.json")


def test_a_name_of_a_machine_file_is_looked_up_beside_the_cluster_file(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("regular: {sockets: 1, coresPerNumaNode: 2, memoryPerNumaNode: 4Gi}")
    text = "nodes: [{name: a, machine: mine.yaml}]"
    fleet = file.read_cluster(load_documents(text, str(tmp_path / "cluster.yaml"))[0]).fleet
    assert fleet.nodes[0].totals.allocatable["cpu"] == 2 * 10**9


def test_settings_whose_base_is_unknown_are_no_verdict(tmp_path: Path) -> None:
    (tmp_path / "node.yaml").write_text(
        "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n"
        "spec: {kubelet: {config: {memoryManagerPolicy: Static}}}\n"
    )
    group = "{name: a, count: 1, machine: hgx-h100, kubeletConfig: node.yaml%s}"
    path = str(tmp_path / "cluster.yaml")
    with pytest.raises(InputError, match="unknown whether the kubelet starts") as error:
        file.read_cluster(load_documents(f"nodes: [{group % ''}]", path)[0])
    assert error.value.where == f"{path}:1: nodes[0].kubeletConfig"
    given = ", kubelet: {kubeReserved: {memory: 1Gi}, reservedMemory: [{numaNode: 0, limits: {memory: 1124Mi}}]}"
    assert file.read_cluster(load_documents(f"nodes: [{group % given}]", path)[0]).fleet.nodes
