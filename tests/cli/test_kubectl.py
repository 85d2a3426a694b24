"""`kubectl numalign`: every call goes through kubectl on PATH; a recording stand-in answers as clusters do."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests import copies
from tests.cli.running import ENVIRONMENT, ROOT, Done

pytestmark = copies.TOGETHER

ATTRIBUTES = [
    {"name": "topologyManagerPolicy", "value": "single-numa-node"},
    {"name": "topologyManagerScope", "value": "container"},
    {"name": "cpuManagerPolicy", "value": "static"},
    {"name": "memoryManagerPolicy", "value": "None"},
]
CONFIGZ = {
    "kubeletconfig": {
        "topologyManagerPolicy": "single-numa-node",
        "cpuManagerPolicy": "static",
        "reservedSystemCPUs": "0",
        "evictionHard": {"memory.available": "100Mi"},
    }
}


def zone(number: int, gpus: int) -> dict[str, object]:
    cpu = {"name": "cpu", "capacity": "8", "allocatable": "8", "available": "8"}
    gpu = {"name": "nvidia.com/gpu", "capacity": "2", "allocatable": "2", "available": str(gpus)}
    return {"name": f"node-{number}", "type": "Node", "resources": [cpu, gpu]}


def pod(name: str, gpus: str, **status: object) -> dict[str, object]:
    limits = {"cpu": "2", "memory": "1Gi", "nvidia.com/gpu": gpus}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "shop",
            "uid": f"uid-{name}",
            "creationTimestamp": "2026-11-01T10:00:00Z",
        },
        "spec": {
            "nodeName": "worker-1",
            "containers": [{"name": "main", "image": "i", "resources": {"limits": limits, "requests": limits}}],
        },
        "status": status,
    }


NRT = {
    "apiVersion": "topology.node.k8s.io/v1alpha2",
    "kind": "NodeResourceTopology",
    "metadata": {"name": "worker-1"},
    "attributes": ATTRIBUTES,
    "zones": [zone(0, 2), zone(1, 2)],
}
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "worker-1", "labels": {}},
    "status": {
        "allocatable": {"cpu": "15", "memory": "32Gi", "pods": "110", "nvidia.com/gpu": "4"},
        "nodeInfo": {"kubeletVersion": "v1.33.4-eks-0123"},
    },
}
REFUSED = pod("vllm-0", "3", phase="Failed", reason="TopologyAffinityError")
THERE = pod("web-0", "1", phase="Running")


def listed(*items: object) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "List", "items": list(items)}


ANSWERS: dict[str, object] = {
    "get pod vllm-0 -n shop -o json": REFUSED,
    "get pod waits -o json": {**REFUSED, "spec": {"containers": []}},
    "get node worker-1 -o json": NODE,
    "get --raw /api/v1/nodes/worker-1/proxy/configz": CONFIGZ,
    "get pods -A --field-selector=spec.nodeName=worker-1 -o json": listed(REFUSED, THERE),
    "get noderesourcetopologies worker-1 -o json": NRT,
    "get nodes,noderesourcetopologies,pods -A -o json": listed(NODE, NRT, THERE),
    "get nodes,pods -A -o json": listed(NODE, THERE),
}

STAND_IN = """#!/bin/sh
folder=${0%/*} words=
echo "$*" >> "$folder/calls"
for word; do case $word in --context*) ;; *) words="$words $word" ;; esac; done
. "$folder/answers.sh"
"""
"""A shell's own commands answer: another Python would take longer than what is tested."""


class Cluster:
    """A stand-in for kubectl that writes down how it was called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "kubectl").write_text(STAND_IN)
        (folder / "kubectl").chmod(0o755)
        self.says(**ANSWERS)

    def says(self, **answers: object) -> None:
        cases = [
            f"{shlex.quote(f' {call}')}) printf '%s\\n' {shlex.quote(json.dumps(answer))} ;;"
            for call, answer in answers.items()
        ]
        unknown = r"""*) echo "Error from server (NotFound): \"${words# }\" not found" >&2; exit 1 ;;"""
        (self.folder / "answers.sh").write_text("\n".join(("case $words in", *cases, unknown, "esac", "")))

    def without(self, *calls: str, **answers: object) -> None:
        self.says(**{call: answer for call, answer in {**ANSWERS, **answers}.items() if call not in calls})

    @property
    def calls(self) -> list[str]:
        return (self.folder / "calls").read_text().splitlines()

    def run(self, *words: str) -> Done:
        environment = {**ENVIRONMENT, "PATH": f"{self.folder}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}
        return copies.run(*words, environment=environment, program="numalign.cli.kubectl:main")


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    return Cluster(tmp_path)


def test_why_explains_a_refused_pod_with_what_its_node_says(cluster: Cluster) -> None:
    done = cluster.run("why", "vllm-0", "-n", "shop")

    assert done.status == 1, done.err
    assert "vllm-0: rejected, even on an empty node with these settings" in done.out
    assert "nvidia.com/gpu        3  1 of 2 ~  2 of 2 ~  no single NUMA node" in done.out
    assert "worker-1" in done.out.splitlines()[0]
    assert "1.33" in done.out
    assert "the machine comes from the node's topology object: " in done.err


def test_only_kubectl_is_asked_and_v_shows_each_call(cluster: Cluster) -> None:
    done = cluster.run("why", "vllm-0", "-n", "shop", "--context", "test", "-v")

    assert all(call.endswith("--context=test") for call in cluster.calls)
    shown = [line for line in done.err.splitlines() if line.startswith("$ kubectl")]
    assert len(shown) == len(cluster.calls) == 5


def test_a_named_machine_beats_the_object(cluster: Cluster) -> None:
    done = cluster.run("why", "vllm-0", "-n", "shop", "--machine", "hgx-h100")

    assert "\nhgx-h100 (bundled): " in done.out
    assert not any("noderesourcetopologies" in call for call in cluster.calls)


def test_a_snapshot_of_the_node_beats_what_the_cluster_says(cluster: Cluster) -> None:
    done = cluster.run("why", "vllm-0", "-n", "shop", "--node", "docs/examples/node.json")

    assert "\nhgx-h100 (" in done.out, done.err
    assert "  Unknown: whether hgx-h100 is the machine of worker-1." in done.out.splitlines()
    assert cluster.calls == ["get pod vllm-0 -n shop -o json"]


def test_a_call_that_fails_is_shown_with_what_kubectl_said(cluster: Cluster) -> None:
    cluster.without("get --raw /api/v1/nodes/worker-1/proxy/configz")

    done = cluster.run("why", "vllm-0", "-n", "shop", "-v")

    call = "kubectl get --raw /api/v1/nodes/worker-1/proxy/configz"
    shown = [line for line in done.err.splitlines() if call in line]
    assert shown[0] == f"$ {call}"
    assert shown[1].startswith("note: ")
    assert "(NotFound)" in shown[1]


def test_flags_of_explain_go_on(cluster: Cluster) -> None:
    done = cluster.run("why", "vllm-0", "-n", "shop", "-o", "json")

    assert json.loads(done.out)["kind"] == "ExplainResult"


def test_settings_that_cannot_be_read_are_told_and_done_without(cluster: Cluster) -> None:
    cluster.without("get --raw /api/v1/nodes/worker-1/proxy/configz", "get noderesourcetopologies worker-1 -o json")

    done = cluster.run("why", "vllm-0", "-n", "shop", "--machine", "hgx-h100", "--policy", "single-numa-node")

    assert "the kubelet's settings are unknown: used ideal defaults" in done.err
    assert "  Unknown: kubelet settings (used ideal defaults)." in done.out.splitlines()
    assert done.status == 1, done.err


def test_policy_and_scope_come_from_the_topology_object_where_the_settings_cannot_be_read(cluster: Cluster) -> None:
    cluster.without("get --raw /api/v1/nodes/worker-1/proxy/configz")

    done = cluster.run("why", "vllm-0", "-n", "shop")

    assert done.status == 1, done.err
    assert "single-numa-node, scope container, CPU Manager static" in done.out
    assert "policy and scope come from the node's topology object; other settings are ideal defaults" in done.err


def test_an_older_topology_object_names_its_policy_in_a_list(cluster: Cluster) -> None:
    old = {key: value for key, value in NRT.items() if key != "attributes"}
    nrt = {"get noderesourcetopologies worker-1 -o json": {**old, "topologyPolicies": ["RestrictedPodLevel"]}}
    cluster.without("get --raw /api/v1/nodes/worker-1/proxy/configz", **nrt)

    assert "restricted, scope pod" in cluster.run("why", "vllm-0", "-n", "shop").out


FITS = {**pod("vllm-0", "2", phase="Failed", reason="TopologyAffinityError"), "metadata": REFUSED["metadata"]}
FITS["status"] = {
    "phase": "Failed",
    "reason": "TopologyAffinityError",
    "message": "Pod was rejected: Resources cannot be allocated with Topology locality",
    "startTime": "2026-11-01T10:05:00Z",
}
WHY = "get pod vllm-0 -n shop -o json"
BESIDE = "get pods -A --field-selector=spec.nodeName=worker-1 -o json"


def test_an_answer_that_is_not_what_happened_says_so_first(cluster: Cluster) -> None:
    cluster.says(**{**ANSWERS, WHY: FITS, BESIDE: listed(FITS, THERE)})

    done = cluster.run("why", "vllm-0", "-n", "shop")

    assert done.status == 1, done.err
    assert done.out.splitlines()[:7] == [
        "vllm-0: the kubelet rejected the pod (TopologyAffinityError). The answer of numalign differs: admitted.",
        '  Kubelet: "Pod was rejected: Resources cannot be allocated with Topology locality"',
        "  Unknown: CPUs and devices of the running pods (numalign admits these pods again, in order).",
        "  Unknown: pods that were deleted after the kubelet's decision.",
        "  Unknown: CPU ids and distances of the machine (its topology object has amounts).",
        "  fix: run numalign snapshot on worker-1, and add --node with its file",
        "",
    ]
    assert "vllm-0: admitted, aligned on NUMA " in done.out


def test_programs_are_told_that_an_answer_is_not_what_happened(cluster: Cluster) -> None:
    cluster.says(**{**ANSWERS, WHY: FITS, BESIDE: listed(FITS, THERE)})

    done = cluster.run("why", "vllm-0", "-n", "shop", "-o", "json")

    first = json.loads(done.out)["warnings"][0]
    assert first["code"] == "observed-differs"
    assert "the kubelet rejected the pod (TopologyAffinityError)" in first["message"]
    assert "the kubelet rejected the pod (TopologyAffinityError)" in done.err
    assert done.status == 1


@pytest.mark.parametrize(
    ("status", "words"),
    [
        pytest.param({"phase": "Running"}, "the kubelet admitted the pod", id="it runs"),
        pytest.param(
            {"phase": "Failed", "reason": "Evicted", "containerStatuses": [{"state": {"terminated": {}}}]},
            "the kubelet admitted the pod",
            id="evicted after it ran",
        ),
        pytest.param({"phase": "Failed", "reason": "OutOfcpu"}, "rejected the pod (OutOfcpu)", id="another reason"),
        pytest.param({"phase": "Pending"}, "", id="not decided"),
        pytest.param({"phase": "Failed", "reason": "TopologyAffinityError"}, "", id="as it was"),
        pytest.param({}, "", id="no status"),
    ],
)
def test_a_rejection_is_held_against_the_status(cluster: Cluster, status: object, words: str) -> None:
    cluster.says(**{**ANSWERS, WHY: {**REFUSED, "status": status}})

    first = cluster.run("why", "vllm-0", "-n", "shop").out.splitlines()[0]

    assert (words in first) if words else first.startswith("worker-1 (")


def test_only_pods_that_were_there_then_count(cluster: Cluster) -> None:
    """Both others have a GPU of each NUMA node: with all of them there is none left for two on one node."""
    late = pod("late", "2", phase="Running", startTime="2026-11-01T10:06:00Z")
    cluster.says(**{**ANSWERS, WHY: FITS, BESIDE: listed(FITS, THERE, late)})
    done = cluster.run("why", "vllm-0", "-n", "shop")

    assert "skipped 1 pods that started later, counted 0 that have ended since" in done.err
    assert "vllm-0: admitted" in done.out

    end = {"containerStatuses": [{"state": {"terminated": {"finishedAt": "2026-11-01T11:00:00Z"}}}]}
    ended = pod("ended", "2", phase="Succeeded", startTime="2026-11-01T10:04:00Z", **end)
    cluster.says(**{**ANSWERS, WHY: FITS, BESIDE: listed(FITS, THERE, ended)})
    done = cluster.run("why", "vllm-0", "-n", "shop")

    assert "skipped 0 pods that started later, counted 1 that have ended since" in done.err
    assert "vllm-0: rejected now" in done.out


def test_commands_are_calls_of_why_where_no_file_stays(cluster: Cluster) -> None:
    done = cluster.run("why", "vllm-0", "-n", "shop", "-o", "json")

    (told,) = json.loads(done.out)["pods"]
    assert told["changes"][0]["command"].startswith("kubectl numalign why vllm-0 -n shop -o json --")
    assert "/tmp" not in json.dumps([change["command"] for change in told["changes"]])


def test_kept_files_are_there_and_the_commands_run(cluster: Cluster, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    done = cluster.run("why", "vllm-0", "-n", "shop", "--keep", str(folder), "-o", "json")

    command = shlex.split(json.loads(done.out)["pods"][0]["changes"][0]["command"])
    assert sorted(one.name for one in folder.iterdir()) == [
        "beside.json", "configz.json", "machine.yaml", "nrt.json", "pod.json"
    ]  # fmt: skip
    assert command[:3] == ["numalign", "explain", str(folder / "pod.json")]
    again = copies.run(*command[1:], environment=ENVIRONMENT)
    assert (again.status, "admitted" in again.out) == (0, True), again.err


def test_a_command_over_files_that_go_away_keeps_them_first(cluster: Cluster) -> None:
    config = {"kubeletconfig": {**CONFIGZ["kubeletconfig"], "reservedSystemCPUs": ""}}
    cluster.says(**{**ANSWERS, "get --raw /api/v1/nodes/worker-1/proxy/configz": config})

    done = cluster.run("why", "vllm-0", "-n", "shop")

    assert done.status == 4, done.err
    kept = (
        "kubectl numalign why vllm-0 -n shop --keep why-vllm-0; numalign config check --machine why-vllm-0/machine.yaml"
    )
    assert kept in done.out


def test_a_folder_that_cannot_be_made_is_told(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    done = cluster.run("why", "vllm-0", "-n", "shop", "--keep", str(tmp_path / "file" / "x"))

    assert (done.status, done.out) == (2, "")
    assert "cannot be made" in done.err


RIGS = sorted((ROOT / "tests" / "live").glob("*/*.pods.json"))


@pytest.mark.parametrize("rig", RIGS, ids=lambda path: f"{path.parent.name} {path.name.partition('.')[0]}")
def test_recorded_pods_are_answered_as_they_fared_or_the_difference_is_told(cluster: Cluster, rig: Path) -> None:
    """Statuses of real kubelets: where running pods are is a guess here, so an answer may differ, but never unseen."""
    pods = [{"apiVersion": "v1", "kind": "Pod", **one} for one in json.loads(rig.read_text(encoding="utf-8"))]
    config = yaml.safe_load((rig.parent / "config.yaml").read_text(encoding="utf-8"))
    asked = [one for one in pods if one["status"].get("reason")] or pods
    name, node = asked[0]["metadata"]["name"], asked[0]["spec"]["nodeName"]
    cluster.says(
        **{
            f"get pod {name} -o json": asked[0],
            f"get node {node} -o json": {"status": {"nodeInfo": {"kubeletVersion": "v1.36.3"}}},
            f"get --raw /api/v1/nodes/{node}/proxy/configz": {"kubeletconfig": config},
            f"get pods -A --field-selector=spec.nodeName={node} -o json": listed(*pods),
        }
    )

    done = cluster.run("why", name, "--machine", str(rig.parent / "machine.yaml"))

    assert done.status in (0, 1), done.err
    rejected = asked[0]["status"].get("phase") == "Failed"
    first = done.out.splitlines()[0]
    if f"{name}: the kubelet {'rejected' if rejected else 'admitted'} the pod" not in first:
        assert f"\n{name}: {'rejected' if rejected else 'admitted'}" in done.out
        assert asked[0]["status"].get("reason", "") in done.out


@pytest.mark.parametrize(
    ("words", "missing", "message"),
    [
        pytest.param(("why", "nobody"), (), '"get pod nobody -o json" not found', id="no such pod"),
        pytest.param(("why", "waits"), (), "the pod has no node yet", id="a pod that waits"),
        pytest.param(
            ("why", "vllm-0", "-n", "shop"),
            ("get noderesourcetopologies worker-1 -o json",),
            "fix: add --machine",
            id="a node without an object",
        ),
    ],
)
def test_what_the_cluster_cannot_say_is_told(
    cluster: Cluster, words: tuple[str, ...], missing: tuple[str, ...], message: str
) -> None:
    cluster.without(*missing)

    done = cluster.run(*words)

    assert (done.status, done.out) == (2, "")
    assert message in done.err


def test_without_kubectl_a_line_says_so(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from numalign.cli.kubectl import main; main()", "nodes"],
        cwd=ROOT,
        env={**ENVIRONMENT, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )

    assert done.returncode == 2
    assert "kubectl cannot be run" in done.stderr


def test_nodes_shows_what_is_free(cluster: Cluster) -> None:
    done = cluster.run("nodes")

    assert done.status == 0, done.err
    assert "worker-1  single-numa-node  container" in done.out
    assert "node-1: 8 cpu, 2 gpu" in done.out


def test_a_cluster_without_topology_objects_is_still_shown(cluster: Cluster) -> None:
    cluster.without("get nodes,noderesourcetopologies,pods -A -o json")

    done = cluster.run("nodes")

    assert done.status == 0, done.err
    assert "1 of 1 nodes publish no topology object" in done.out


@pytest.mark.parametrize("command", ["schedule", "capacity"])
def test_cluster_commands_read_this_cluster(cluster: Cluster, command: str) -> None:
    done = cluster.run(command, "pods/limits-only.yaml")

    assert done.status in (0, 1), done.err
    assert "worker-1" in done.out


def test_all_other_commands_are_there_too(cluster: Cluster) -> None:
    done = cluster.run("machines", "-o", "name")

    assert "hgx-h100" in done.out
    assert not (cluster.folder / "calls").exists()


def test_kubectl_completes() -> None:
    code = "from numalign.cli.kubectl import complete; complete()"
    done = subprocess.run([sys.executable, "-c", code, "wh"], cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True)

    assert done.stdout.splitlines()[0].startswith("why\t")
    assert done.stdout.splitlines()[-1] == ":4"


SHAPES: dict[str, tuple[str, object]] = {
    "a pod that is null": (WHY, None),
    "a pod that is a list": (WHY, []),
    "a pod that is a text": (WHY, "x"),
    "a pod that is a number": (WHY, 3),
    "a spec that is a list": (WHY, {**REFUSED, "spec": []}),
    "metadata that is a text": (WHY, {**REFUSED, "metadata": "x"}),
    "a node's name that is a number": (WHY, {**REFUSED, "spec": {"nodeName": 3}}),
    "a node that is null": ("get node worker-1 -o json", None),
    "a node that is a list": ("get node worker-1 -o json", [NODE]),
    "a status that is a list": ("get node worker-1 -o json", {**NODE, "status": [1]}),
    "nodeInfo that is a text": ("get node worker-1 -o json", {**NODE, "status": {"nodeInfo": "x"}}),
    "pods that are null": (BESIDE, None),
    "pods that are a list": (BESIDE, [THERE]),
    "items that are null": (BESIDE, {"items": None}),
    "items that are a number": (BESIDE, {"items": 3}),
    "items that are a mapping": (BESIDE, {"items": {"a": 1}}),
    "an item that is null": (BESIDE, {"items": [None]}),
    "an item that is a text": (BESIDE, {"items": ["x"]}),
    "an item without metadata": (BESIDE, {"items": [{"metadata": None}]}),
    "an item with a list for metadata": (BESIDE, {"items": [{"metadata": []}]}),
    "a topology object that is null": ("get noderesourcetopologies worker-1 -o json", None),
    "a list of no topology objects": ("get noderesourcetopologies worker-1 -o json", listed()),
    "settings that are null": ("get --raw /api/v1/nodes/worker-1/proxy/configz", None),
}


@pytest.mark.parametrize("case", SHAPES)
def test_an_answer_of_another_shape_is_no_bug(cluster: Cluster, case: str) -> None:
    call, answer = SHAPES[case]
    cluster.says(**{**ANSWERS, call: answer})

    done = cluster.run("why", "vllm-0", "-n", "shop")

    assert done.status in (0, 1, 2), done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("name", ["../../x", "/etc/x", "-x", "..", "a b", "a\nb", "a" * 254, ""])
def test_a_node_with_a_name_that_none_can_have_is_asked_nothing(cluster: Cluster, tmp_path: Path, name: str) -> None:
    cluster.says(**{**ANSWERS, WHY: {**REFUSED, "spec": {**pod("x", "1")["spec"], "nodeName": name}}})

    done = cluster.run("why", "vllm-0", "-n", "shop")

    assert (done.status, done.out) == (2, "")
    assert "spec.nodeName is not a valid node name" in done.err
    assert cluster.calls == [WHY]
    assert not list(tmp_path.parent.glob("x.yaml"))
