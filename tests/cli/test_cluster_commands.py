"""`schedule`, `capacity`, `nrt export` and `nrt check`: what they answer, and with which status they end."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests import documents
from tests.cli.running import ENVIRONMENT, ROOT, command, in_process
from tests.schemas import strictly

EXAMPLES = "docs/examples/cluster"
CLUSTER = ("--cluster", f"{EXAMPLES}/cluster.yaml")
FORWARDER = f"{EXAMPLES}/forwarder.yaml"


def schedule(pod: str, *more: str) -> Any:
    return in_process("schedule", f"{EXAMPLES}/{pod}.yaml", *CLUSTER, *more)


@pytest.mark.parametrize(
    ("pod", "scheduler", "status", "node"),
    [
        ("forwarder", "unaware", 1, "narrow-0"),
        ("forwarder", "kep", 0, "broad-0"),
        ("forwarder", "nrt", 0, "broad-0"),
        ("forwarder", "kai", 0, "broad-0"),
        ("three-workers", "kep", 1, "broad-0"),
        ("three-workers", "nrt", 1, None),
        ("with-sidecar", "nrt", 1, "broad-0"),
        ("with-sidecar", "kai", 1, None),
        ("fractional", "nrt", 1, None),
        ("fractional", "unaware", 0, "narrow-0"),
    ],
)
def test_who_takes_a_pod_and_whether_it_runs(pod: str, scheduler: str, status: int, node: str | None) -> None:
    done = schedule(pod, "--scheduler", scheduler, "-o", "json")
    strictly("schedule-result").validate(done.json)
    assert (done.status, done.json["pods"][0]["node"]) == (status, node)


@pytest.mark.parametrize(
    ("pod", "scheduler", "on", "code"),
    [
        ("forwarder", "unaware", "narrow-0", "blind"),
        ("three-workers", "kep", "broad-0", "KEP"),
        ("with-sidecar", "nrt", "broad-1", "X-5"),
        ("fractional", "nrt", "narrow-1", "X-2"),
    ],
)
def test_why_scheduler_and_kubelet_disagree(pod: str, scheduler: str, on: str, code: str) -> None:
    nodes = {one["name"]: one for one in schedule(pod, "--scheduler", scheduler, "-o", "json").json["pods"][0]["nodes"]}
    assert nodes[on]["cause"]["code"] == code


def test_kai_passes_what_a_reserved_cpu_makes_impossible() -> None:
    arguments = (f"{EXAMPLES}/whole-node.yaml", "--cluster", f"{EXAMPLES}/reserved.yaml", "-o", "json")
    done = in_process("schedule", *arguments)
    answer = done.json["pods"][0]["nodes"][0]
    assert (done.status, done.json["scheduler"], answer["kai"]["pass"]) == (1, "kai", True)
    assert (answer["kubelet"]["reason"], answer["cause"]["code"]) == ("TopologyAffinityError", "XK-1")


def test_pods_one_after_another_fill_the_cluster_and_its_state(tmp_path: Path) -> None:
    state = str(tmp_path / "state.json")
    first = schedule("forwarder", "--pods", "2", "--state", state, "-o", "name")
    assert first.out == "default/forwarder-0 broad-0\ndefault/forwarder-1 broad-1\n"
    second = in_process("schedule", FORWARDER, "--state", state, "--pods", "3", "-o", "json")
    assert [pod["node"] for pod in second.json["pods"]] == ["broad-0", "broad-1", None]
    assert second.status == 1
    third = in_process("schedule", FORWARDER, "--state", state, "-o", "name")
    assert third.out == "default/forwarder -\n"


def test_a_name_that_is_taken_is_an_error_and_changes_nothing(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    assert schedule("forwarder", "--state", str(state)).status == 0
    before = state.read_bytes()
    done = schedule("forwarder", "--state", str(state))
    assert (done.status, state.read_bytes()) == (2, before)
    assert '"forwarder" is also the name of a pod on the node' in done.err


def test_csv_has_a_line_a_node() -> None:
    lines = schedule("forwarder", "-o", "csv").out.splitlines()
    assert len(lines) == 5
    assert lines[3].startswith("default/forwarder,broad-0,true,true,true,true,true,true,,true,")


def test_a_dump_on_standard_input_is_scheduled_on() -> None:
    exported = in_process("nrt", "export", *CLUSTER, "-o", "json")
    done = subprocess.run(
        command("schedule", FORWARDER, "--cluster", "-", "-o", "name"),
        input=exported.out.encode(),
        capture_output=True,
        cwd=ROOT,
        env=ENVIRONMENT,
        check=False,
    )
    assert done.stdout == b"default/forwarder broad-0\n", done.stderr


def test_a_dump_with_nodes_and_pods_is_scheduled_on(tmp_path: Path) -> None:
    """The Node says how much room there is, the object where, the bound pod takes part of it."""
    objects = in_process("nrt", "export", *CLUSTER, "-o", "json").json["items"]
    total = {"cpu": "11", "memory": "60Gi", "pods": "110"}
    for name in ("broad-0", "broad-1"):
        objects.append(
            {"kind": "Node", "metadata": {"name": name}, "status": {"allocatable": total, "capacity": total}}
        )
    resources = {"limits": {"cpu": "10", "memory": "1Gi"}}
    containers = [{"name": "c", "image": "x", "resources": resources}]
    spec = {"nodeName": "broad-0", "containers": containers}
    objects.append({"kind": "Pod", "metadata": {"name": "p"}, "spec": spec, "status": {"phase": "Running"}})
    file = tmp_path / "dump.json"
    file.write_text(json.dumps({"kind": "List", "items": objects}))
    done = in_process("schedule", FORWARDER, "--cluster", str(file), "-o", "json")
    nodes = {one["name"]: one for one in done.json["pods"][0]["nodes"]}
    assert done.json["pods"][0]["node"] == "broad-1", done.err
    assert nodes["broad-0"]["fit"]["message"] == "Insufficient cpu"
    assert nodes["broad-0"]["kubelet"]["reason"] == "OutOfcpu"
    assert in_process("capacity", FORWARDER, "--cluster", str(file), "-o", "json").json["shapes"][0]["now"] == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("schedule", FORWARDER), "no cluster given; fix: add --cluster FILE or --state FILE"),
        (("schedule", *CLUSTER), "no POD given"),
        (("schedule", FORWARDER, "--cluster", "nowhere"), "nowhere: cannot be read: No such file or directory"),
        (
            ("schedule", FORWARDER, "--cluster", FORWARDER),
            "no Node and no NodeResourceTopology found; fix: kubectl get nodes,noderesourcetopologies,pods -A -o json",
        ),
        (("schedule", FORWARDER, *CLUSTER, "--machine-of", "x"), 'expected LABEL=VALUE:MACHINE, got "x"'),
        (("capacity", FORWARDER, *CLUSTER, "--mix", "x=1"), '--mix: no POD has the name "x"; allowed: forwarder'),
        (("capacity", FORWARDER, *CLUSTER, "--mix", "forwarder"), "expected forwarder=N with N from 1 to 1000"),
        (
            ("capacity", FORWARDER, *CLUSTER, "--mix", "forwarder=1", "--right-size", "2"),
            "--right-size cannot be used with --mix",
        ),
        (("nrt", "export", "--machine", "figure-1", *CLUSTER), "cannot be used with flags of one node"),
        (
            ("nrt", "check", FORWARDER, "--machine", "figure-1"),
            "no Node and no NodeResourceTopology found; fix: kubectl get nodes,noderesourcetopologies,pods -A -o json",
        ),
        (("nrt", "export", "--machine", "figure-1", "--exec", "x"), "--exec requires --watch; fix: add --watch"),
    ],
    ids=str,
)
def test_what_is_wrong_is_one_line_and_status_2(arguments: tuple[str, ...], said: str) -> None:
    done = in_process(*arguments)
    assert (done.status, done.out, done.err.count("error: ")) == (2, "", 1)
    assert said in done.err.replace("\n", "; ")


def test_a_folder_of_machines_is_a_cluster() -> None:
    done = in_process("capacity", "pods/guaranteed-4cpu-1gpu.yaml", "--cluster", "machines", "-o", "csv")
    assert len(done.out.splitlines()) == 1 + len(list((ROOT / "machines").glob("*.yaml")))


GPU_POD = "pods/guaranteed-4cpu-1gpu.yaml"


def test_a_node_without_a_device_that_is_asked_for_holds_no_copy() -> None:
    done = in_process("capacity", GPU_POD, "--cluster", "machines", "-o", "json")
    strictly("capacity-result").validate(done.json)
    nodes = {one["name"]: one for one in done.json["shapes"][0]["nodes"]}

    assert (done.status, done.json["warnings"]) == (0, [])
    assert nodes["dgx-1"]["now"] == 8
    assert nodes["dgx-1"]["missing"] == []
    here = nodes["figure-1"]
    assert (here["now"], here["empty"], here["missing"]) == (0, 0, ["nvidia.com/gpu"])
    assert here["limit"] == {"resource": "nvidia.com/gpu", "numaNodes": [], "reason": "Insufficient nvidia.com/gpu"}
    assert [zone["copies"] for zone in here["numaNodes"]] == [0, 0]


@pytest.mark.parametrize(
    "mix", [pytest.param((), id="a single shape"), pytest.param(("--mix", "guaranteed-4cpu-1gpu=2"), id="a mix")]
)
def test_a_device_that_no_node_has_is_told_and_nothing_fits(mix: tuple[str, ...]) -> None:
    asked = ("capacity", GPU_POD, "--machine", "figure-1", *mix)
    done = in_process(*asked, "-o", "json")

    assert (done.status, done.json["shapes"][0]["now"]) == (1, 0)
    assert [one["code"] for one in done.json["warnings"]] == ["device-missing"]
    assert "requests nvidia.com/gpu, which the node does not have\n  hint: similar: gpu-vendor.com/gpu\n" in done.err
    assert mix or "no nvidia.com/gpu" in in_process(*asked).out


def test_a_device_that_nobody_has_is_no_success_because_another_pod_fits() -> None:
    done = in_process("capacity", GPU_POD, FORWARDER, "--machine", "figure-1", "-o", "json")

    assert [one["now"] for one in done.json["shapes"]] == [0, 1]
    assert done.status == 1


def test_a_kubelet_that_passes_over_a_device_admits_without_it() -> None:
    asked = ("schedule", GPU_POD, *CLUSTER)
    done = in_process(*asked, "-o", "json")
    strictly("schedule-result").validate(done.json)

    first = done.json["pods"][0]["nodes"][0]
    assert (first["kubelet"]["admit"], first["kubelet"]["missing"]) == (True, ["nvidia.com/gpu"])
    assert first["cause"]["code"] == "device-missing"
    text = in_process(*asked).out
    assert "admits without nvidia.com/gpu" in text
    assert "the node has no such device until its device plugin runs; the kubelet does not check)" in text


NOTHING_RESERVED = """
apiVersion: topology.node.k8s.io/v1alpha2
kind: NodeResourceTopology
metadata: {name: kwok-0}
attributes: [{name: topologyManagerPolicy, value: single-numa-node}]
zones:
- name: node-0
  type: Node
  resources:
  - {name: cpu, capacity: "16", allocatable: "16", available: "16"}
  - {name: memory, capacity: 128Gi, allocatable: 128Gi, available: 128Gi}
"""


def test_the_byte_that_is_added_to_read_an_object_is_no_difference(tmp_path: Path) -> None:
    file = tmp_path / "kwok.yaml"
    file.write_text(NOTHING_RESERVED)

    done = in_process("nrt", "check", str(file), "--cluster", str(file))
    assert (done.status, "correct: the node would publish the same" in done.out) == (0, True)
    assert "numalign reserves 1 byte" in done.err
    assert "'137438953473'" not in in_process("nrt", "export", "--cluster", str(file)).out


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        pytest.param("capacity: 128Gi", ("capacity: '137438953475'", "137438953475  137438953472"), id="bytes"),
        pytest.param('capacity: "16"', ("capacity: 16500m", "16.5       16"), id="parts of a CPU"),
    ],
)
def test_values_that_differ_look_different(written: str, shown: tuple[str, str], tmp_path: Path) -> None:
    node, published = tmp_path / "node.yaml", tmp_path / "published.yaml"
    node.write_text(NOTHING_RESERVED)
    published.write_text(NOTHING_RESERVED.replace(written, shown[0]))

    done = in_process("nrt", "check", str(published), "--cluster", str(node))
    assert (done.status, shown[1] in done.out) == (1, True), done.out


def test_capacity_is_what_the_kubelets_admit_one_by_one() -> None:
    done = in_process("capacity", FORWARDER, *CLUSTER, "-o", "json")
    strictly("capacity-result").validate(done.json)
    shape = done.json["shapes"][0]
    nodes = {one["name"]: one for one in shape["nodes"]}
    assert (shape["now"], shape["aligned"], shape["blind"]) == (4, 4, 10)
    assert (nodes["broad-0"]["now"], nodes["narrow-0"]["now"], nodes["narrow-0"]["blind"]) == (2, 0, 3)
    assert nodes["narrow-0"]["limit"] == {
        "resource": "cpu",
        "numaNodes": [0, 1, 2, 3],
        "reason": "TopologyAffinityError",
    }
    assert nodes["narrow-0"]["fragmentation"] == {"single": 0, "total": 3, "share": 1.0}
    assert nodes["broad-0"]["stranded"]["cpu"] == 1
    bound = in_process("schedule", FORWARDER, *CLUSTER, "--pods", "5", "-o", "name").out
    assert bound.count("broad-") == shape["now"]


def test_the_roles_of_an_object_are_named_apart(tmp_path: Path) -> None:
    def template(cpus: int) -> object:
        return {"spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": cpus, "memory": "1Gi"}}}]}}

    path = tmp_path / "lws.json"
    templates = {"size": 3, "leaderTemplate": template(4), "workerTemplate": template(8)}
    kind = {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": {"name": "vllm"}}
    path.write_text(json.dumps({**kind, "spec": {"leaderWorkerTemplate": templates}}))

    apart = in_process("capacity", path, *CLUSTER, "-o", "json").json["shapes"]
    mixed = in_process("capacity", path, *CLUSTER, "-o", "json", "--mix", "vllm-leader=1,vllm-worker=2")
    assert [one["name"] for one in apart] == ["default/vllm-leader", "default/vllm-worker"]
    assert [one["name"] for one in mixed.json["shapes"]] == ["rounds of vllm-leader=1,vllm-worker=2"]


def test_pods_that_are_never_placed_count_as_nothing_to_align() -> None:
    """6.5 CPUs are not pinned: no copy is aligned, none is apart, and no CPU of a NUMA node can be stranded."""
    done = in_process("capacity", f"{EXAMPLES}/fractional.yaml", *CLUSTER, "-o", "json")
    strictly("capacity-result").validate(done.json)
    shape = done.json["shapes"][0]
    assert (shape["now"], shape["aligned"], shape["nothingToAlign"]) == (6, 0, 6)
    assert (shape["empty"], shape["emptyAligned"], shape["emptyNothingToAlign"]) == (6, 0, 6)
    assert [*shape["stranded"]] == ["memory"]
    text = in_process("capacity", f"{EXAMPLES}/fractional.yaml", *CLUSTER).out
    assert "fits now: 6, with nothing to align\n" in text


def test_copies_whose_devices_lie_nobody_knows_where_are_not_called_aligned(tmp_path: Path) -> None:
    machine = tmp_path / "machine.json"
    devices = {"example.com/gpu": [{"id": name, "numaNodes": None} for name in ("g0", "g1")]}
    regular = {"sockets": 2, "coresPerNumaNode": 4, "memoryPerNumaNode": "8Gi"}
    machine.write_text(json.dumps({"name": "m", "regular": regular, "devices": devices}))
    pod = documents.one((ROOT / FORWARDER).read_text())
    pod["spec"]["containers"][0]["resources"]["limits"] = {"cpu": "1", "memory": "1Gi", "example.com/gpu": "1"}
    file = tmp_path / "pod.json"
    file.write_text(json.dumps(pod))
    done = in_process("capacity", str(file), "--machine", str(machine), "-o", "json")
    shape = done.json["shapes"][0]
    assert (shape["now"], shape["aligned"], shape["nothingToAlign"]) == (2, 0, 0)


def test_nodes_that_differ_in_their_labels_share_work_and_keep_their_answers(tmp_path: Path) -> None:
    """Every real node has a label of its own; one without the selected label holds none, also when it is empty."""
    exported = in_process("nrt", "export", *CLUSTER, "-o", "json").json["items"][2:]
    total = {"cpu": "11", "memory": "60Gi", "pods": "110"}
    items = [*exported]
    for one in exported:
        name = one["metadata"]["name"]
        labels = {"kubernetes.io/hostname": name, **({"pool": "a"} if name == "broad-1" else {})}
        metadata = {"name": name, "labels": labels}
        items.append({"kind": "Node", "metadata": metadata, "status": {"allocatable": total, "capacity": total}})
    pod = documents.one((ROOT / FORWARDER).read_text())
    pod["spec"]["nodeSelector"] = {"pool": "a"}
    dump, file = tmp_path / "dump.json", tmp_path / "pod.json"
    dump.write_text(json.dumps({"kind": "List", "items": items}))
    file.write_text(json.dumps(pod))
    nodes = in_process("capacity", str(file), "--cluster", str(dump), "-o", "json").json["shapes"][0]["nodes"]
    assert [(one["name"], one["now"], one["empty"]) for one in nodes] == [("broad-0", 0, 0), ("broad-1", 2, 2)]
    answer = in_process("schedule", str(file), "--cluster", str(dump), "-o", "json").json["pods"][0]
    assert (answer["node"], [one["feasible"] for one in answer["nodes"]]) == ("broad-1", [False, True])


def test_what_is_there_leaves_less_room(tmp_path: Path) -> None:
    state = str(tmp_path / "state.json")
    schedule("forwarder", "--pods", "3", "--state", state)
    shape = in_process("capacity", FORWARDER, "--state", state, "-o", "json").json["shapes"][0]
    assert (shape["now"], shape["empty"]) == (1, 4)


def test_a_mix_is_counted_in_rounds_over_all_nodes(tmp_path: Path) -> None:
    """A forwarder of 5 CPUs fits a broad node only, the small pod of 4 a narrow one as well; both in one round."""
    small = documents.one((ROOT / FORWARDER).read_text())
    small["metadata"]["name"] = "small"
    small["spec"]["containers"][0]["resources"]["limits"]["cpu"] = "4"
    file = tmp_path / "small.json"
    file.write_text(json.dumps(small))
    done = in_process("capacity", FORWARDER, str(file), *CLUSTER, "--mix", "forwarder=2,small=3", "-o", "json")
    strictly("capacity-result").validate(done.json)
    shape = done.json["shapes"][0]
    assert shape["rounds"]["now"] == 2
    assert (shape["now"], shape["aligned"]) == (10, 10)
    assert {one["name"]: one["now"] for one in shape["nodes"]} == {
        "narrow-0": 3,
        "narrow-1": 3,
        "broad-0": 2,
        "broad-1": 2,
    }


def test_the_right_size_is_the_largest_of_which_so_many_are_aligned(tmp_path: Path) -> None:
    found = in_process("capacity", FORWARDER, *CLUSTER, "--right-size", "4", "-o", "json").json["rightSize"]
    assert found.pop("shape") == "default/forwarder"
    assert found == {"replicas": 4, "container": "fwd", "cpus": 6, "memory": found["memory"]} or found["cpus"] == 5

    def fits(cpus: int, memory: int) -> int:
        pod = documents.one((ROOT / FORWARDER).read_text())
        pod["spec"]["containers"][0]["resources"]["limits"] = {"cpu": str(cpus), "memory": str(memory)}
        file = tmp_path / "pod.json"
        file.write_text(json.dumps(pod))
        return int(in_process("capacity", str(file), *CLUSTER, "-o", "json").json["shapes"][0]["aligned"])

    assert fits(found["cpus"], found["memory"]) >= 4
    assert fits(found["cpus"] + 1, 1 << 20) < 4
    assert fits(found["cpus"], found["memory"] + (1 << 20)) < 4


def test_several_processes_give_the_same_bytes(tmp_path: Path) -> None:
    groups = [
        {"name": f"g{n}-{{i}}", "machine": f"sockets=2,coresPerNumaNode={n + 2},memoryPerNumaNode=8Gi"}
        for n in range(70)
    ]
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps({"version": 1, "nodes": groups}))
    outputs = [
        subprocess.run(
            command("capacity", FORWARDER, "--cluster", file, "-o", "csv", "--jobs", jobs),
            capture_output=True,
            cwd=ROOT,
            env=ENVIRONMENT,
            check=False,
        ).stdout
        for jobs in ("1", "2")
    ]
    assert outputs[0] == outputs[1]
    assert outputs[0].count(b"\n") == 71


@pytest.mark.parametrize("cluster", [f"{EXAMPLES}/cluster.yaml", "machines"])
def test_the_heat_map_has_a_square_a_numa_node(cluster: str) -> None:
    done = in_process("capacity", FORWARDER, "--cluster", cluster, "-o", "svg")
    root = ElementTree.fromstring(done.out)
    titles = [one.text or "" for one in root.iter("{http://www.w3.org/2000/svg}title")]
    shapes = in_process("capacity", FORWARDER, "--cluster", cluster, "-o", "json").json["shapes"]
    squares = sum(len(node["numaNodes"]) for node in shapes[0]["nodes"])
    assert sum(", NUMA node " in title for title in titles) == squares


def test_an_exported_object_is_true_until_a_pod_comes(tmp_path: Path) -> None:
    node = str(tmp_path / "node.json")
    machine = ("--machine", "figure-1", "--policy", "single-numa-node")
    assert in_process("admit", "pods/announcement.yaml", *machine, "--state", node).status == 1
    published = tmp_path / "nrt.yaml"
    published.write_text(in_process("nrt", "export", "--node", node, "--placement").out)
    same = in_process("nrt", "check", str(published), "--node", node, "-o", "json")
    strictly("nrt-check-result").validate(same.json)
    assert (same.status, same.json["objects"][0]["true"]) == (0, True)
    empty = in_process("nrt", "check", str(published), *machine, "-o", "json")
    strictly("nrt-check-result").validate(empty.json)
    assert (empty.status, empty.json["objects"][0]["stale"]) == (1, True)
    assert {one["what"] for one in empty.json["objects"][0]["differences"]} == {"stale", "amount"}


def test_export_of_a_cluster_is_a_list_that_reads_back() -> None:
    exported = documents.one(in_process("nrt", "export", *CLUSTER).out)
    assert [one["metadata"]["name"] for one in exported["items"]] == ["narrow-0", "narrow-1", "broad-0", "broad-1"]


def test_watch_hands_each_new_object_to_a_command(tmp_path: Path) -> None:
    """The command gets the object once at the start, and again only when the node changed."""
    state, taken = tmp_path / "state.json", tmp_path / "taken"
    schedule("forwarder", "--state", str(state))
    script = f"import sys; open({str(taken)!r}, 'a').write(sys.stdin.read() + chr(10))"
    arguments = (
        "nrt",
        "export",
        "--state",
        state,
        "--watch",
        "--interval",
        "0.1",
        "--exec",
        f'{sys.executable} -c "{script}"',
    )
    process = subprocess.Popen(command(*arguments), cwd=ROOT, env=ENVIRONMENT)
    try:
        assert waited(taken, 1)
        in_process("schedule", f"{EXAMPLES}/fractional.yaml", "--scheduler", "unaware", "--state", str(state))
        assert waited(taken, 2)
    finally:
        process.kill()
        process.wait()
    first, second = map(json.loads, taken.read_text().splitlines())
    assert len(first["items"]) == 4
    assert second["metadata"]["name"] == "narrow-0"


def waited(file: Path, lines: int) -> bool:
    for _ in range(200):
        if file.exists() and len(file.read_text().splitlines()) >= lines:
            return True
        time.sleep(0.1)
    return False


def test_what_a_node_holds_that_nobody_describes_is_unknown(tmp_path: Path) -> None:
    total = {"cpu": "8", "memory": "16Gi", "pods": "110"}
    file = tmp_path / "nodes.json"
    node = {"kind": "Node", "metadata": {"name": "n1"}, "status": {"allocatable": total, "capacity": total}}
    file.write_text(json.dumps({"kind": "List", "items": [node]}))
    done = in_process("capacity", "pods/limits-only.yaml", "--cluster", file)
    assert "fits now: unknown" in done.out
    assert "too many" not in done.out
    answer = in_process("capacity", "pods/limits-only.yaml", "--cluster", file, "-o", "json").json
    strictly("capacity-result").validate(answer)
    assert answer["shapes"][0]["now"] is None


def test_nothing_fits_a_machine_without_memory(tmp_path: Path) -> None:
    file = tmp_path / "lscpu.txt"
    file.write_text(
        "CPU(s): 8\nOn-line CPU(s) list: 0-7\nThread(s) per core: 2\nCore(s) per socket: 2\nSocket(s): 2\n"
        "NUMA node(s): 2\nNUMA node0 CPU(s): 0-3\nNUMA node1 CPU(s): 4-7\n"
    )
    assert "copies fit" not in in_process("capacity", "pods/limits-only.yaml", "--machine", file).out
