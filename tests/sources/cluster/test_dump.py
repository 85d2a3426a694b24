"""Dumps of kubectl: read item by item, and built into nodes."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.errors import InputError
from numalign.kubelet.config import IDEAL
from numalign.kubelet.setup import Setup
from numalign.scheduler.node import Fleet
from numalign.scheduler.nrt.export import ExportOptions, export
from numalign.scheduler.nrt.value import manifest
from numalign.sources.cluster import dump, stream
from numalign.sources.cluster.fleet import fleet_of
from numalign.sources.cluster.state import read_cluster_state
from numalign.sources.cluster.state_dump import document
from numalign.sources.machine.loading import load_machine
from tests.kubelet.regular import regular
from tests.scheduler.nrt.nodes import guaranteed, static, with_pods

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


class Slow(io.BytesIO):
    """Gives few bytes at a time, so that every place is once the end of a piece."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(size or 7, 7))


@given(st.lists(plain, max_size=6), st.sampled_from([None, 1, 4]), st.booleans())
def test_items_are_those_of_the_document(items: list[Any], indent: int | None, last: bool) -> None:
    data = {"kind": "List", "items": items} if last else {"items": items, "kind": "List", "metadata": {"a": [1]}}
    text = json.dumps(data, indent=indent, ensure_ascii=bool(indent)).encode(errors="surrogatepass")
    try:
        text.decode()
    except UnicodeDecodeError:
        return
    assert [one.data for one in stream.items(Slow(text), "x")] == items


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"items": [1,', "not JSON: Expecting value"),
        ('{"items": [1 2]}', "not JSON: expected ','"),
        ('{"items": [NaN]}', "not JSON: NaN is not a number"),
        ('{"items": [1e400]}', "1e400 is too large for a number: the largest is 1.8e308"),
        ('{"items": [' + "9" * 5000 + "]}", "a number has too many digits"),
        ("[]", "expected an object or a List of objects"),
        ('{"items": [' + "[" * 100_000, "nested deeper than 200 levels"),
        ('{"a" 1}', "not JSON: expected ':'"),
    ],
)
def test_a_broken_document_is_refused(text: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        list(stream.items(io.BytesIO(text.encode()), "x"))
    assert refused.value.message == said
    assert refused.value.where.startswith("x:")


def test_the_line_of_a_fault_is_counted_over_pieces() -> None:
    with pytest.raises(InputError) as refused:
        list(stream.items(Slow(b'{"items": [\n1,\n2,\n"' + b"x" * 50 + b'",\n?]}'), "x"))
    assert refused.value.where == "x:5"


def node(name: str, **more: Any) -> dict[str, Any]:
    status = {
        "allocatable": {"cpu": "15", "memory": "63Gi", "pods": "110"},
        "capacity": {"cpu": "16", "memory": "64Gi"},
    }
    return {"kind": "Node", "metadata": {"name": name, "labels": {"pool": "a"}}, "spec": more, "status": status}


def bound(name: str, on: str, phase: str = "Running", cpu: str = "2", **more: Any) -> dict[str, Any]:
    resources = {"limits": {"cpu": cpu, "memory": "1Gi"}}
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "d", "creationTimestamp": "2026-01-01T00:00:00Z", **more},
        "spec": {"nodeName": on, "containers": [{"name": "c", "image": "x", "resources": resources}]},
        "status": {"phase": phase},
    }


def published(name: str, *pods: Any) -> dict[str, object]:
    return manifest(export(with_pods(static(regular()), pods), name))


def read(tmp_path: Path, *items: dict[str, Any]) -> dump.Dump:
    file = tmp_path / "dump.json"
    file.write_text(json.dumps({"kind": "List", "items": items}))
    return dump.read_dump(file)


def test_free_amounts_come_from_the_object_and_room_from_the_pods(tmp_path: Path) -> None:
    there = guaranteed("p", {"cpu": "3", "memory": "1Gi"}, namespace="d")
    found = read(tmp_path, node("n"), published("n", there), bound("p", "n", cpu="3"), bound("q", "n", "Succeeded"))
    built = fleet_of(found)
    one = built.fleet.nodes[0]
    assert one.known == "counts"
    assert (one.totals.pods, one.totals.used["cpu"]) == (1, 3 * 10**9)
    assert one.session is not None
    again = export(one.session, "n", ExportOptions(fingerprint=False))
    assert [zone.resources["cpu"].available for zone in again.zones] == [4 * 10**9, 8 * 10**9]
    assert {notice.code for notice in built.notices} == {"nrt-assumed", "pods-passed-over", "node-release-unknown"}


@pytest.mark.parametrize(
    ("pods", "stale"),
    [
        ([bound("p", "n", cpu="3")], False),
        ([bound("p", "n", cpu="3"), bound("new", "n", "Pending")], False),
        ([bound("p", "n", cpu="3"), bound("job", "n", "Succeeded")], False),
        ([bound("p", "n", cpu="3"), bound("somebody-else", "n")], True),
        ([bound("other", "n", cpu="3")], True),
        ([bound("q", "m")], True),
        ([], False),
    ],
    ids=[
        "the pods of the object",
        "a pod that does not run yet",
        "a pod that has ended",
        "a pod that came since",
        "another pod",
        "the pod is gone",
        "the dump has no pods",
    ],
)
def test_an_object_of_other_pods_is_stale(tmp_path: Path, pods: list[dict[str, Any]], stale: bool) -> None:
    there = guaranteed("p", {"cpu": "3", "memory": "1Gi"}, namespace="d")
    built = fleet_of(read(tmp_path, node("n"), node("m"), published("n", there), *pods))
    assert [one.path for one in built.notices if one.code == "nrt-stale"] == ["n"] * stale


def test_pods_that_end_may_be_listed_a_while_longer(tmp_path: Path) -> None:
    pods = [guaranteed(name, {"cpu": "3", "memory": "1Gi"}, namespace="d") for name in ("p", "job")]
    built = fleet_of(read(tmp_path, node("n"), published("n", *pods), bound("p", "n"), bound("job", "n", "Failed")))
    assert "nrt-stale" not in {one.code for one in built.notices}


def test_a_fingerprint_of_exclusive_pods_does_not_see_the_others(tmp_path: Path) -> None:
    there = guaranteed("p", {"cpu": "3", "memory": "1Gi"}, namespace="d")
    options = ExportOptions(only_exclusive=True)
    only = manifest(export(with_pods(static(regular()), [there]), "n", options))
    shared = bound("shared", "n")
    shared["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    built = fleet_of(read(tmp_path, node("n"), only, bound("p", "n", cpu="3"), shared))
    assert "nrt-stale" not in {one.code for one in built.notices}
    built = fleet_of(read(tmp_path, node("n"), only, bound("p", "n", cpu="3"), bound("more", "n")))
    assert "nrt-stale" in {one.code for one in built.notices}


def test_pods_of_one_shape_share_it(tmp_path: Path) -> None:
    found = read(tmp_path, node("n"), *(bound(f"p{number}", "n") for number in range(5)))
    assert len({id(one.pod.containers) for one in found.pods["n"]}) == 1
    assert [one.pod.name for one in found.pods["n"]] == [f"p{number}" for number in range(5)]


def test_a_node_without_an_object_is_unknown_or_what_its_label_says(tmp_path: Path) -> None:
    found = read(tmp_path, node("n"), bound("p", "n"))
    assert fleet_of(found).fleet.nodes[0].known == "nothing"
    setup = Setup(load_machine("figure-1").machine, IDEAL, "ideal")
    built = fleet_of(found, lambda read: setup if read.labels.get("pool") == "a" else None)
    session = built.fleet.nodes[0].session
    assert session is not None
    assert session.state.cpu.assigned("d/p", "c") == 0b11
    assert {notice.code for notice in built.notices} == {"pods-replayed", "node-release-unknown"}


def of_release(name: str, release: str) -> dict[str, Any]:
    made = node(name)
    return {**made, "status": {**made["status"], "nodeInfo": {"kubeletVersion": release}}}


def test_each_node_is_decided_by_its_own_release(tmp_path: Path) -> None:
    releases = {"a": "v1.33.2", "b": "v1.36.3-eks-1", "c": "v1.37.0", "d": "v1.99.0"}
    objects = [of_release(name, release) for name, release in releases.items()]
    built = fleet_of(read(tmp_path, *objects, *[published(name) for name in releases]))

    versions = {one.name: one.session.node.kubelet.version for one in built.fleet.nodes if one.session}
    assert versions == {"a": (1, 33), "b": (1, 36), "c": (1, 37), "d": (1, 36)}
    told = {notice.code: notice for notice in built.notices}
    assert told["node-release-unknown"].path == "d"
    assert "v1.99.0 is not known" in told["node-release-unknown"].message
    assert told["published-release"].path == "c"


def test_a_pod_that_is_resized_counts_by_its_status_and_as_its_node_does(tmp_path: Path) -> None:
    """docs/rules/kubelet-1.37.md 8: one container grows by as much as the other shrinks."""
    there = bound("p", "n")
    amounts = {"a": ("1", "3"), "b": ("3", "1")}
    there["spec"]["containers"] = [
        {"name": name, "image": "x", "resources": {"requests": {"cpu": cpu}}} for name, (cpu, _) in amounts.items()
    ]
    there["status"]["containerStatuses"] = [
        {"name": name, "allocatedResources": {"cpu": cpu}, "resources": {"requests": {"cpu": cpu}}}
        for name, (_, cpu) in amounts.items()
    ]
    for release, cpus in (("v1.32.1", 4), ("v1.36.0", 6), ("v1.37.0", 4)):
        (one,) = fleet_of(read(tmp_path, of_release("n", release), published("n"), there)).fleet.nodes
        assert one.totals.used["cpu"] == cpus * 10**9, release
        assert one.session is not None
        assert one.session.pods.used["cpu"] == cpus * 1000, release
        again = read_cluster_state(document(Fleet((one,))), "state").fleet.nodes[0]
        assert again.totals.used["cpu"] == cpus * 10**9, release


def test_a_drained_and_tainted_node_is_read_as_such(tmp_path: Path) -> None:
    taint = {"key": "gpu", "effect": "NoSchedule"}
    one = fleet_of(read(tmp_path, node("n", unschedulable=True, taints=[taint]))).fleet.nodes[0]
    assert one.unschedulable
    assert one.taints[0].key == "gpu"


def test_what_an_object_says_is_taken_is_no_request_of_a_pod(tmp_path: Path) -> None:
    there = guaranteed("p", {"cpu": "3", "memory": "1Gi"})
    one = fleet_of(read(tmp_path, published("n", there))).fleet.nodes[0]
    assert one.totals.used == {}
    assert one.session is not None
    assert one.session.pods == ()
    assert one.session.state.cpu.default.bit_count() == 16 - 3


NO_POD = {**bound("p", "n"), "spec": {"nodeName": "n", "containers": 5}}


@pytest.mark.parametrize(
    ("items", "said"),
    [
        (
            [{"kind": "Service"}],
            "no Node and no NodeResourceTopology found; fix: kubectl get nodes,noderesourcetopologies,pods -A -o json",
        ),
        ([node("n"), node("n")], 'duplicate "n"'),
        (
            [node("n"), NO_POD],
            "not a valid pod: containers: expected a list",
        ),
        ([5], "expected an object"),
    ],
)
def test_what_is_no_cluster_is_refused(tmp_path: Path, items: list[Any], said: str) -> None:
    with pytest.raises(InputError) as refused:
        read(tmp_path, *items)
    assert refused.value.message == said


def held(**amounts: str) -> list[dict[str, Any]]:
    """Volcano's list of pods with what their containers hold."""
    return [{"name": "p", "containerAllocations": [{"name": "c", "allocations": amounts}]}]


def test_volcano_tells_every_cpu(tmp_path: Path) -> None:
    detail = {str(cpu): {"core": cpu // 2 % 2, "socket": cpu // 4, "numa": cpu // 4} for cpu in range(8)}
    detail["0"] = {}
    spec = {
        "cpuDetail": detail,
        "numares": {"cpu": {"allocatable": "1-3,6-7", "capacity": 8}},
        "policies": {"CPUManagerPolicy": "static", "TopologyManagerPolicy": 5},
    }
    thing = {
        "apiVersion": "nodeinfo.volcano.sh/v1alpha1",
        "kind": "Numatopology",
        "metadata": {"name": "n"},
        "spec": spec,
    }
    built = fleet_of(read(tmp_path, node("n"), thing))
    session = built.fleet.nodes[0].session
    assert session is not None
    assert session.node.machine.cores == (0b11, 0b1100, 0b110000, 0b11000000)
    assert session.state.cpu.default == 0b11001110
    said = [notice.message for notice in built.notices if notice.code == "topology-left-out"]
    assert "policies.TopologyManagerPolicy is not a text: topologyManagerPolicy has its default" in said


@pytest.mark.parametrize(
    ("more", "free", "said"),
    [
        ({"podAllocations": held(cpu="1-2")}, 0b11111001, "CPUs that no pod holds count as free"),
        ({"podAllocations": held(cpu="7,9")}, 0b01111111, "podAllocations: CPUs 9 are not in cpuDetail"),
        (
            {"podAllocations": held(cpu="1", memory="1Gi")},
            0b11111101,
            "skipped memory: podAllocations has no NUMA node",
        ),
        ({"podAllocations": held(cpu="one")}, 0b11111111, 'podAllocations: "one" is not a CPU list'),
        ({"podAllocations": {"n": 5}}, 0b11111111, "all CPUs count as free"),
        (
            {"podAllocations": held(cpu="1"), "numares": {"cpu": {"allocatable": "1-3"}}},
            0b00001100,
            "Volcano publishes no memory",
        ),
        (
            {"gpuDetail": {"0": {"numa": 1, "busID": "0000:01:00.0"}}},
            0b11111111,
            "skipped the GPUs of gpuDetail: it names no resource",
        ),
    ],
)
def test_what_volcano_says_of_pods_and_gpus(tmp_path: Path, more: dict[str, Any], free: int, said: str) -> None:
    detail = {str(cpu): {"numa": cpu // 4, "core": cpu // 2} for cpu in range(8)}
    spec = {"cpuDetail": detail, "policies": {"CPUManagerPolicy": "static"}, **more}
    thing = {"apiVersion": "nodeinfo.volcano.sh/v1alpha1", "kind": "Numatopology", "metadata": {"name": "n"}}
    built = fleet_of(read(tmp_path, node("n"), {**thing, "spec": spec}))
    session = built.fleet.nodes[0].session
    assert session is not None
    assert session.state.cpu.default == free
    assert any(said in one.message for one in built.notices if one.code == "topology-left-out")


def test_koordinators_annotations_make_the_zones_exact(tmp_path: Path) -> None:
    zones = [
        {
            "name": f"node-{n}",
            "type": "Node",
            "resources": [{"name": "cpu", "capacity": 4, "allocatable": 4, "available": 4}],
        }
        for n in range(2)
    ]
    detail = [{"id": cpu, "core": cpu // 2, "socket": 0, "node": cpu % 2} for cpu in range(8)]
    annotations = {
        "node.koordinator.sh/cpu-topology": json.dumps({"detail": detail}),
        "node.koordinator.sh/pod-cpu-allocs": json.dumps([{"namespace": "d", "name": "p", "cpu": "1,3"}]),
        "kubelet.koordinator.sh/cpu-manager-policy": json.dumps({"policy": "static", "reservedCPUs": "0"}),
    }
    thing = {
        "apiVersion": "topology.node.k8s.io/v1alpha1",
        "kind": "NodeResourceTopology",
        "metadata": {"name": "n", "annotations": annotations},
        "topologyPolicies": ["SingleNUMANodePodLevel"],
        "zones": zones,
    }
    session = fleet_of(read(tmp_path, node("n"), thing)).fleet.nodes[0].session
    assert session is not None
    assert [one.cpus for one in session.node.machine.numa_nodes] == [0b01010101, 0b10101010]
    assert (session.node.cpu.reserved, session.state.cpu.default) == (1, 0b11110101)
    assert session.node.policy == "single-numa-node"
