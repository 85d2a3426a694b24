"""`schedule` as kube-scheduler decides: failing claims, gates, neighbours, broken objects, several clusters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import in_process
from tests.dra.objects import claim, device, device_class, request, resource_slice

API = {"apiVersion": "resource.k8s.io/v1"}
ROOMY = {"cpu": "8", "memory": "32Gi", "pods": "110"}


def node(name: str, **fields: Any) -> dict[str, Any]:
    labels = {"kubernetes.io/hostname": name, "kind": "big"}
    status = {"allocatable": fields.pop("allocatable", ROOMY), "capacity": ROOMY}
    return {"kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": fields, "status": status}


def pod(name: str = "p", on: str = "", labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    containers = spec.pop("containers", [{"name": "c", "image": "x"}])
    body = {"containers": containers, **spec, **({"nodeName": on} if on else {})}
    metadata = {"name": name, "namespace": "default", "labels": labels or {}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": body}


def file(folder: Path, name: str, *items: Any) -> str:
    path = folder / name
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(items)}))
    return str(path)


def scheduled(*arguments: str) -> dict[str, Any]:
    done = in_process("schedule", *arguments, "--scheduler", "unaware", "-o", "json")
    assert done.out, done.err
    [found] = json.loads(done.out)["pods"]
    return dict(found)


EXPRESSION = "device.attributes['gpu.example.com'].model == 'a'"


def slices_of(folder: Path, *, broken: str = "") -> str:
    """Three nodes with a GPU each; that of the broken one has no model."""
    slices = []
    for name in ("n1", "n2", "n3"):
        gpu = device("gpu-0") if name == broken else device("gpu-0", model="a")
        slices.append({**API, "kind": "ResourceSlice", **resource_slice("gpu.example.com", [gpu], name)})
    class_ = {**API, "kind": "DeviceClass", **device_class("gpu")}
    class_["spec"]["extendedResourceName"] = "example.com/gpu"
    return file(folder, "slices.json", class_, *slices)


def with_claim(folder: Path) -> str:
    selectors = [{"cel": {"expression": EXPRESSION}}]
    wanted = {**API, "kind": "ResourceClaim", **claim("c", request("g", "gpu", selectors=selectors))}
    containers = [{"name": "c", "image": "x", "resources": {"claims": [{"name": "g"}]}}]
    asking = pod(containers=containers, resourceClaims=[{"name": "g", "resourceClaimName": "c"}])
    return file(folder, "pod.json", wanted, asking)


def test_a_selector_that_fails_on_one_of_three_nodes_leaves_the_pod_pending_everywhere(tmp_path: Path) -> None:
    cluster = file(tmp_path, "dump.json", node("n1"), node("n2"), node("n3"))
    wanted = with_claim(tmp_path)
    arguments = (wanted, "--cluster", cluster, "--slices")
    assert scheduled(*arguments, slices_of(tmp_path))["node"] == "n1"
    broken = slices_of(tmp_path, broken="n2")
    found = scheduled(*arguments, broken)
    assert (found["node"], found["endedBy"]) == (None, "n2")
    shown = in_process("schedule", *arguments, broken)
    assert shown.status == 1
    assert "default/p: unschedulable: the error on n2 ends the scheduling on all nodes" in shown.out
    assert EXPRESSION in " ".join(shown.out.split())
    checked = in_process("dra", "check", wanted, "--slices", broken)
    assert checked.status == 1
    assert "default/p: unschedulable: the error on n2 ends the scheduling on all nodes" in checked.out
    assert f"selector: {EXPRESSION}" in checked.out
    data = json.loads(in_process("dra", "check", wanted, "--slices", broken, "-o", "json").out)["checks"][0]
    assert (data["fits"], data["endedBy"]) == (False, "n2")


def test_a_node_that_the_pod_does_not_select_ends_nothing(tmp_path: Path) -> None:
    nodes = [{**node(name), "apiVersion": "v1"} for name in ("n1", "n2", "n3")]
    nodes[1]["metadata"]["labels"]["kind"] = "small"
    slices = json.loads(Path(slices_of(tmp_path, broken="n2")).read_text())["items"]
    both = file(tmp_path, "both.json", *slices, *nodes)
    wanted = json.loads(Path(with_claim(tmp_path)).read_text())["items"]
    wanted[1]["spec"]["nodeSelector"] = {"kind": "big"}
    checked = in_process("dra", "check", file(tmp_path, "some.json", *wanted), "--slices", both, "-o", "json")
    [found] = json.loads(checked.out)["checks"]
    assert (found["fits"], found["endedBy"]) == (True, None)
    assert found["nodes"][1]["error"] == "node(s) didn't match Pod's node affinity/selector"


def test_a_node_that_earlier_filters_refuse_is_not_asked(tmp_path: Path) -> None:
    cluster = file(tmp_path, "dump.json", node("n1"), node("n2", unschedulable=True), node("n3"))
    found = scheduled(with_claim(tmp_path), "--cluster", cluster, "--slices", slices_of(tmp_path, broken="n2"))
    assert (found["node"], found["endedBy"]) == ("n1", None)


def test_claims_serve_extended_resources_where_no_plugin_has_them(tmp_path: Path) -> None:
    plugin = node("n2", allocatable={**ROOMY, "example.com/gpu": "0"})
    cluster = file(tmp_path, "dump.json", node("n1"), plugin, node("n4"))
    containers = [{"name": "c", "image": "x", "resources": {"limits": {"example.com/gpu": "1"}}}]
    wanted = file(tmp_path, "pod.json", pod(containers=containers))
    slices = slices_of(tmp_path)
    found = scheduled(wanted, "--cluster", cluster, "--slices", slices)
    assert [one["feasible"] for one in found["nodes"]] == [True, True, False]
    without = scheduled(wanted, "--cluster", cluster)
    assert not any(one["feasible"] for one in without["nodes"])
    [checked] = in_process("dra", "check", wanted, "--slices", slices, "-o", "json").json["checks"]
    assert (checked["claims"], checked["fits"]) == (["p-extended-resources"], True)
    off = in_process("dra", "check", wanted, "--slices", slices, "--feature-gates", "DRAExtendedResource=false")
    assert (off.status, "no claim found" in off.err) == (2, True)
    old = scheduled(wanted, "--cluster", cluster, "--slices", slices, "--scheduler-version", "1.35")
    assert not any(one["feasible"] for one in old["nodes"])


def test_with_a_scheduling_gate_nobody_looks_at_a_pod(tmp_path: Path) -> None:
    cluster = file(tmp_path, "dump.json", node("n1"))
    wanted = file(tmp_path, "pod.json", pod(schedulingGates=[{"name": "a.b/wait"}]))
    found = scheduled(wanted, "--cluster", cluster)
    assert (found["node"], found["schedulingGates"], found["nodes"]) == (None, ["a.b/wait"], [])
    shown = in_process("schedule", wanted, "--cluster", cluster)
    assert "default/p: not scheduled: it has scheduling gates (a.b/wait)" in shown.out


def test_volumes_are_named_as_not_judged(tmp_path: Path) -> None:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "db"}}]
    wanted = file(tmp_path, "pod.json", pod(volumes=volumes))
    cluster = file(tmp_path, "dump.json", node("n1"))
    assert scheduled(wanted, "--cluster", cluster)["notJudged"] == ["volume data (PersistentVolumeClaim db)"]
    assert "not checked: volume data" in in_process("schedule", wanted, "--cluster", cluster).out


def test_pods_there_keep_a_pod_away_and_those_that_were_just_bound(tmp_path: Path) -> None:
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "x"}}}
    shy = {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}
    there = pod("q", "n1", {"app": "x"}, **shy)
    cluster = file(tmp_path, "dump.json", node("n1"), node("n2"), there)
    wanted = file(tmp_path, "pod.json", pod("a", labels={"app": "x"}, **shy), pod("b", labels={"app": "x"}))
    done = in_process("schedule", wanted, "--cluster", cluster, "--scheduler", "unaware", "-o", "json")
    first, second = json.loads(done.out)["pods"]
    assert (first["node"], second["node"]) == ("n2", None)
    assert {one["fit"]["message"] for one in second["nodes"]} == {
        "node(s) didn't satisfy existing pods anti-affinity rules"
    }


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    ports = [{"name": "c", "image": "x", "ports": [{"containerPort": 80, "hostPort": 80}]}]
    cluster = file(tmp_path, "dump.json", node("n1"), node("n2"), pod("q", "n1", containers=ports))
    found = scheduled(file(tmp_path, "pod.json", pod(containers=ports)), "--cluster", cluster)
    assert found["node"] == "n2"
    assert found["nodes"][0]["fit"]["message"] == "node(s) didn't have free ports for the requested pod ports"


def test_the_score_counts_containers_without_requests(tmp_path: Path) -> None:
    """Two pods without requests count 200m and 400Mi of 8 CPUs and 32Gi; the new one 100m and 200Mi (2.5)."""
    cluster = file(tmp_path, "dump.json", node("n1"), node("n2"), pod("q", "n1"), pod("r", "n1"))
    found = scheduled(file(tmp_path, "pod.json", pod()), "--cluster", cluster)
    assert [one["scores"]["node"] for one in found["nodes"]] == [97, 98]
    zero = [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "0", "memory": "0"}}}]
    found = scheduled(file(tmp_path, "pod.json", pod(containers=zero)), "--cluster", cluster)
    assert [one["scores"]["node"] for one in found["nodes"]] == [97, 100]


def nrt(name: str, zones: list[str]) -> dict[str, Any]:
    resources = [{"name": "cpu", "capacity": "4", "allocatable": "4", "available": "4"}]
    listed = [{"name": one, "type": "Node", "resources": resources} for one in zones]
    body = {"zones": listed, "topologyPolicies": ["SingleNUMANodeContainerLevel"]}
    return {
        "apiVersion": "topology.node.k8s.io/v1alpha2",
        "kind": "NodeResourceTopology",
        "metadata": {"name": name},
        **body,
    }


BROKEN: dict[str, list[dict[str, Any]]] = {
    "no zones": [{**nrt("n1", []), "zones": None}],
    "an empty list of zones": [nrt("n1", [])],
    "one zone twice": [nrt("n1", ["node-0", "node-0"])],
    "two objects of one name": [nrt("n1", ["node-0"]), nrt("n1", ["node-0"])],
}


@pytest.mark.parametrize("case", BROKEN)
def test_an_object_that_cannot_be_read_costs_its_node_alone(case: str, tmp_path: Path) -> None:
    cluster = file(tmp_path, "dump.json", node("n1"), node("n2"), *BROKEN[case], nrt("n2", ["node-0", "node-1"]))
    done = in_process("schedule", file(tmp_path, "pod.json", pod()), "--cluster", cluster, "-o", "json")
    found = json.loads(done.out)
    first, second = found["pods"][0]["nodes"]
    assert first["kubelet"] is None
    assert second["kubelet"] is not None
    assert "nrt-unreadable" in {one["code"] for one in found["warnings"]}


def test_zones_that_end_the_plugin_are_told(tmp_path: Path) -> None:
    cluster = file(tmp_path, "dump.json", node("n1"), nrt("n1", ["node-0", "node-8"]))
    done = in_process("schedule", file(tmp_path, "pod.json", pod()), "--cluster", cluster)
    assert "NodeResourceTopologyMatch panics" in " ".join(done.err.split())


def test_several_clusters_are_joined_and_a_node_in_two_is_an_error(tmp_path: Path) -> None:
    one, two = file(tmp_path, "one.json", node("n1")), file(tmp_path, "two.json", node("n2"))
    wanted = file(tmp_path, "pod.json", pod())
    found = scheduled(wanted, "--cluster", one, "--cluster", two)
    assert [each["name"] for each in found["nodes"]] == ["n1", "n2"]
    again = in_process("schedule", wanted, "--cluster", one, "--cluster", one)
    assert again.status == 2
    assert 'duplicate node "n1" in another file' in again.err


def test_settings_of_the_scheduler_stand_beside_a_dump(tmp_path: Path) -> None:
    settings = tmp_path / "settings.yaml"
    settings.write_text("version: 1\nnodes: []\nscheduler: {kind: unaware, node_scoring: MostAllocated}\n")
    dump = file(tmp_path, "dump.json", node("n1"), node("n2"), pod("q", "n2"))
    wanted = file(tmp_path, "pod.json", pod())
    done = in_process("schedule", wanted, "--cluster", dump, "--cluster", str(settings), "-o", "json")
    [found] = json.loads(done.out)["pods"]
    assert found["node"] == "n2"


@pytest.mark.parametrize("command", [("schedule", "pod.json"), ("capacity", "pod.json"), ("simulate", "--trace", "t")])
def test_a_cluster_without_nodes_is_wrong_input(tmp_path: Path, command: tuple[str, ...]) -> None:
    empty = tmp_path / "empty.yaml"
    empty.write_text("version: 1\nnodes: []\n")
    file(tmp_path, "pod.json", pod())
    (tmp_path / "t").write_text("")
    named = [str(tmp_path / one) if one in ("pod.json", "t") else one for one in command]
    done = in_process(*named, "--cluster", str(empty))
    assert (done.status, done.out) == (2, "")
    assert "the cluster has no nodes" in done.err


def test_a_fleet_without_objects_gets_the_kubelets_flags(tmp_path: Path) -> None:
    cluster = file(tmp_path, "dump.json", node("n1"))
    limits = {"limits": {"cpu": "5", "memory": "1Gi"}}
    wanted = file(tmp_path, "pod.json", pod(containers=[{"name": "c", "image": "x", "resources": limits}]))
    of = ("--machine-of", "kind=big:sockets=2,coresPerNumaNode=4,memoryPerNumaNode=16Gi")
    loose = scheduled(wanted, "--cluster", cluster, *of)
    strict = scheduled(wanted, "--cluster", cluster, *of, "--policy", "single-numa-node")
    assert loose["nodes"][0]["kubelet"]["admit"]
    assert strict["nodes"][0]["kubelet"]["reason"] == "TopologyAffinityError"
    alone = in_process("schedule", wanted, "--cluster", cluster, "--policy", "single-numa-node")
    assert alone.status == 2
    assert "for the machines of --machine-of" in " ".join(alone.err.split())
