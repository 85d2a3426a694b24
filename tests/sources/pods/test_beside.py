"""Pods already there: of a cluster's list only those of the node in question count."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from numalign.errors import InputError
from numalign.sources.pods.beside import read_beside


def pod(name: str, node: str = "", phase: str = "Running") -> dict[str, Any]:
    spec: dict[str, Any] = {"containers": [{"name": "c", "resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}]}
    if node:
        spec["nodeName"] = node
    metadata = {"name": name, "creationTimestamp": f"2026-01-01T00:00:{len(name):02}Z"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": phase}}


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    """A cluster of 20 nodes with 3 pods each, one of them ended, and a pod that waits."""
    items = [pod(f"p{number}-{node}", f"node-{node}") for node in range(20) for number in range(2)]
    items += [pod(f"done-{node}", f"node-{node}", "Succeeded") for node in range(20)]
    items.append(pod("waiting", phase="Pending"))
    path = tmp_path / "all.json"
    path.write_text(json.dumps({"kind": "List", "items": items}))
    return path


def test_the_whole_clusters_list_gives_what_the_nodes_own_list_gives(cluster: Path, tmp_path: Path) -> None:
    whole = read_beside(cluster, "node-7")
    alone = tmp_path / "node-7.json"
    everything = json.loads(cluster.read_text())["items"]
    own = [one for one in everything if one["spec"].get("nodeName") == "node-7"]
    alone.write_text(json.dumps({"kind": "List", "items": own}))

    assert whole.pods == read_beside(alone).pods
    assert (len(whole.pods), whole.finished, whole.elsewhere) == (2, 20, 39)
    assert [notice.message for notice in whole.notices] == ["skipped pods of --beside: 39 on other nodes, 20 ended"]


def test_the_machines_name_tells_the_node(cluster: Path) -> None:
    assert read_beside(cluster, machine=("", "node-3")).pods == read_beside(cluster, "node-3").pods


def test_several_nodes_and_no_name_is_an_error_that_lists_them(cluster: Path) -> None:
    with pytest.raises(InputError) as refused:
        read_beside(cluster, machine=("elsewhere",))
    assert refused.value.message == (
        "the pods are on 20 nodes; fix: add --node-name; allowed: "
        "node-0, node-1, node-10, node-11, node-12, node-13, node-14, node-15, …"
    )


def test_a_name_that_no_pod_is_bound_to_leaves_none(cluster: Path) -> None:
    assert read_beside(cluster, "node-99").pods == ()


def test_where_no_pod_names_a_node_all_count(tmp_path: Path) -> None:
    path = tmp_path / "unbound.json"
    path.write_text(json.dumps({"kind": "List", "items": [pod("a"), pod("bb")]}))

    assert [one.name for one in read_beside(path, "any").pods] == ["a", "bb"]


def plain(name: str, **metadata: object) -> dict[str, Any]:
    """A pod as a kubelet lists it: without kind."""
    made = pod(name)
    return {"metadata": {**made["metadata"], **metadata}, "spec": made["spec"], "status": made["status"]}


PODS = [plain("a"), plain("bb")]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": PODS}),
        json.dumps({"metadata": {}, "items": PODS}),
        json.dumps(PODS),
        "\n".join(map(json.dumps, PODS)),
        "\n".join(json.dumps(one, indent=2) for one in PODS),
    ],
    ids=["PodList", "without kind", "a bare list", "one a line", "one after another"],
)
def test_the_kubelets_own_list_is_taken_in_every_form(text: str, tmp_path: Path) -> None:
    """`/pods`, and what `jq .items` and `jq .items[]` make of it."""
    path = tmp_path / "pods.json"
    path.write_text(text)
    assert [one.name for one in read_beside(path).pods] == ["a", "bb"]


@pytest.mark.parametrize("text", ['{"kind":"PodList","items":null}', "[]"])
def test_a_kubelet_without_pods_lists_none(text: str, tmp_path: Path) -> None:
    path = tmp_path / "pods.json"
    path.write_text(text)
    assert read_beside(path).pods == ()


def test_a_static_pod_has_the_uid_that_its_kubelet_gives(tmp_path: Path) -> None:
    source, own = "kubernetes.io/config.source", "0" * 32
    mirror = plain("a", uid="of-the-server", annotations={source: "file", "kubernetes.io/config.mirror": own})
    path = tmp_path / "pods.json"
    path.write_text(json.dumps([mirror]))
    assert [one.uid for one in read_beside(path).pods] == [own]


def test_a_static_pod_that_was_rejected_comes_again(tmp_path: Path) -> None:
    static = {"annotations": {"kubernetes.io/config.source": "file"}}
    rejected = {"phase": "Failed", "message": "Pod was rejected: Resources cannot be allocated with Topology locality"}
    pods = [plain("a", **static), plain("bb", **static) | {"status": rejected}, plain("ccc") | {"status": rejected}]
    path = tmp_path / "pods.json"
    path.write_text(json.dumps(pods))

    found = read_beside(path)

    assert [one.name for one in found.pods] == ["a"]
    assert [one.name for one in found.coming] == ["a", "bb"]
