"""`numalign dra`: what it reads, what it refuses, and that its two halves fit together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from numalign.sources.machine import bundled
from tests.cli.running import ROOT, in_process
from tests.dra.objects import NUMA, claim, device, device_class, request, resource_slice
from tests.schemas import strictly

EXAMPLES = ROOT / "docs" / "examples" / "dra"
CLUSTER = str(EXAMPLES / "cluster.yaml")
PODS = sorted(path for path in EXAMPLES.glob("*.yaml") if path.name not in ("cluster.yaml", "fleet.yaml"))
API = {"apiVersion": "resource.k8s.io/v1"}


def written(folder: Path, name: str, *objects: dict[str, object]) -> str:
    path = folder / name
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}), encoding="utf-8")
    return str(path)


def cluster(folder: Path, nodes: int = 1) -> str:
    classes = [{**API, "kind": "DeviceClass", **device_class("gpu")}]
    slices = [
        {
            **API,
            "kind": "ResourceSlice",
            **resource_slice(
                "gpu.example.com", [device(f"gpu-{index}", numa=index // 2) for index in range(4)], f"node-{node}"
            ),
        }
        for node in range(nodes)
    ]
    return written(folder, "cluster.json", *classes, *slices)


@pytest.mark.parametrize("path", PODS, ids=lambda path: path.stem)
@pytest.mark.parametrize(
    "more", [(), ("--node-name", "hgx-2"), ("--feature-gates", "DRAListTypeAttributes=true")], ids=str
)
def test_what_check_answers_is_described(path: Path, more: tuple[str, ...]) -> None:
    done = in_process("dra", "check", str(path), "--slices", CLUSTER, "-o", "json", *more)

    strictly("dra-check-result").validate(done.json)
    assert done.status == (0 if all(one["fits"] for one in done.json["checks"]) else 1)


@pytest.mark.parametrize("machine", bundled.names())
def test_the_slices_of_every_machine_are_read_back(machine: str, tmp_path: Path) -> None:
    """What `dra slices` prints is a dump that `dra check` takes, and a request for each class is met."""
    slices = tmp_path / "slices.yaml"
    slices.write_text(in_process("dra", "slices", "-m", machine).out, encoding="utf-8")
    wanted = claim(
        "c", request("cpu", "dra.cpu", capacity={"requests": {"dra.cpu/cpu": "1"}}), request("memory", "dra.memory")
    )

    done = in_process(
        "dra", "check", written(tmp_path, "c.json", {**API, "kind": "ResourceClaim", **wanted}), "--slices", str(slices)
    )

    assert done.status == 0, done.out + done.err


def test_a_dump_with_claims_says_what_is_in_use() -> None:
    """Four GPUs of hgx-1 are held by the claim `other` of the dump."""
    found = in_process("dra", "check", str(EXAMPLES / "gpu.yaml"), "--slices", CLUSTER, "-o", "json").json

    devices = {node["node"]: node["devices"][0]["device"] for node in found["checks"][0]["nodes"]}
    assert devices == {"hgx-1": "gpu-4", "hgx-2": "gpu-0"}


def test_every_change_that_is_named_was_tried(tmp_path: Path) -> None:
    """Too many GPUs of one NUMA node: two would do, or all four without the constraint."""
    wanted = {**API, "kind": "ResourceClaim", **claim("c", request("g", "gpu", 3), match=NUMA)}

    done = in_process("dra", "check", written(tmp_path, "c.json", wanted), "--slices", cluster(tmp_path), "-o", "json")

    [node] = done.json["checks"][0]["nodes"]
    assert {change["kind"]: len(change["devices"]) for change in node["changes"]} == {"count": 2, "constraint": 3}
    assert node["why"]["failedAt"] == {"constraint": 2}
    assert node["why"]["found"] == 2


def test_an_allocated_claim_is_taken_as_it_is(tmp_path: Path) -> None:
    held = {**API, "kind": "ResourceClaim", **claim("held", request("g", "gpu"))}
    held["status"] = {
        "allocation": {
            "devices": {"results": [{"request": "g", "driver": "gpu.example.com", "pool": "node-0", "device": "gpu-0"}]}
        }
    }
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c"}], "resourceClaims": [{"name": "d", "resourceClaimName": "held"}]},
    }

    done = in_process(
        "dra", "check", written(tmp_path, "p.json", pod, held), "--slices", cluster(tmp_path), "-o", "json"
    )

    assert done.json["checks"][0]["allocated"] == ["held"]
    assert done.status == 0


def test_an_allocated_claim_fits_only_where_its_devices_are(tmp_path: Path) -> None:
    held = {**API, "kind": "ResourceClaim", **claim("held", request("g", "gpu"))}
    held["status"] = {
        "allocation": {
            "devices": {"results": [{"request": "g", "driver": "gpu.example.com", "pool": "node-1", "device": "gpu-0"}]}
        }
    }

    done = in_process("dra", "check", written(tmp_path, "c.json", held), "--slices", cluster(tmp_path, 2), "-o", "json")

    nodes = {node["node"]: (node["fits"], node["error"]) for node in done.json["checks"][0]["nodes"]}
    away = "claim default/held holds gpu.example.com/node-1/gpu-0, which this node does not have"
    assert nodes == {"node-0": (False, away), "node-1": (True, "")}


def test_a_claim_that_is_nowhere_is_named(tmp_path: Path) -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c"}], "resourceClaims": [{"name": "d", "resourceClaimTemplateName": "nope"}]},
    }

    done = in_process("dra", "check", written(tmp_path, "p.json", pod), "--slices", cluster(tmp_path))

    assert done.status == 1
    assert "ResourceClaimTemplate nope is not in the input or the cluster" in done.out


def test_a_deployment_is_checked_by_its_template(tmp_path: Path) -> None:
    template = {
        **API,
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "t"},
        "spec": {"spec": claim("c", request("g", "gpu"))["spec"]},
    }
    spec = {"containers": [{"name": "c"}], "resourceClaims": [{"name": "d", "resourceClaimTemplateName": "t"}]}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"replicas": 3, "template": {"spec": spec}},
    }

    found = in_process(
        "dra", "check", written(tmp_path, "d.json", deployment, template), "--slices", cluster(tmp_path), "-o", "json"
    ).json

    assert [(one["kind"], one["name"], one["claims"]) for one in found["checks"]] == [("Deployment", "web", ["web-d"])]


@pytest.mark.parametrize("like", [("--like", "cpu,nic"), ("--like", "cpu", "--like", "nic")], ids=" ".join)
def test_several_drivers_are_named_at_once_or_one_by_one(like: tuple[str, ...]) -> None:
    items = in_process("dra", "slices", "-m", "hgx-h100", *like, "-o", "json").json["items"]
    drivers = {one["spec"]["driver"] for one in items if one["kind"] == "ResourceSlice"}
    assert drivers == {"dra.cpu", "dra.net"}


WRONG = [
    ("no slices", ["dra", "check", str(PODS[0])], "no devices given"),
    ("no claims", ["dra", "check", "--slices", CLUSTER], "no POD or CLAIM given"),
    ("a dump without slices", ["dra", "check", str(PODS[0]), "--slices", str(PODS[0])], "no ResourceSlice found"),
    ("pods without claims", ["dra", "check", "pods/announcement.yaml", "--slices", CLUSTER], "no claim found: "),
    ("no gate", ["dra", "check", str(PODS[0]), "--slices", CLUSTER, "--feature-gates", "x"], "expected NAME=true"),
    ("a resource that is not there", ["dra", "slices", "-m", "figure-1", "--like", "gpu=nope"], 'has no "nope"'),
    ("CPUs that are no list", ["dra", "slices", "-m", "figure-1", "--reserved-cpus", "x"], "expected a CPU list"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "message"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG])
def test_what_is_wrong_is_said_in_a_line(arguments: list[str], message: str) -> None:
    done = in_process(*arguments)
    assert done.status == 2
    assert message in done.err
    assert done.out == ""


def claim_of(**exactly: object) -> dict[str, object]:
    requests = [{"name": "r", "exactly": exactly}]
    return {**API, "kind": "ResourceClaim", "metadata": {"name": "c"}, "spec": {"devices": {"requests": requests}}}


OBJECTS = [
    (
        "an old API",
        {"apiVersion": "resource.k8s.io/v1alpha3", "kind": "ResourceClaim"},
        "expected one of v1, v1beta2, v1beta1",
    ),
    ("a class that is no text", claim_of(deviceClassName=3), "requests[0].exactly.deviceClassName: expected text"),
    ("an amount that is none", claim_of(capacity={"requests": {"m": "x"}}), "not a quantity"),
]


@pytest.mark.parametrize(("data", "message"), [case[1:] for case in OBJECTS], ids=[case[0] for case in OBJECTS])
def test_an_object_that_is_none_is_refused_with_its_line(data: dict[str, object], message: str, tmp_path: Path) -> None:
    done = in_process("dra", "check", written(tmp_path, "x.json", data), "--slices", CLUSTER)
    assert done.status == 2
    assert "x.json:1: items[0]." in done.err
    assert message in done.err


def test_a_selector_that_numalign_does_not_follow_ends_with_status_2(tmp_path: Path) -> None:
    selectors = [{"cel": {"expression": "strings.quote('a') == 'a'"}}]
    wanted = {**API, "kind": "ResourceClaim", **claim("c", request("g", "gpu", selectors=selectors))}

    done = in_process("dra", "check", written(tmp_path, "c.json", wanted), "--slices", cluster(tmp_path))

    assert done.status == 2
    assert "selector uses strings.quote, which numalign does not know (line 1, column " in done.err


def test_nodes_that_fail_alike_are_told_once(tmp_path: Path) -> None:
    wanted = {**API, "kind": "ResourceClaim", **claim("c", request("g", "gpu", 5))}

    done = in_process("dra", "check", written(tmp_path, "c.json", wanted), "--slices", cluster(tmp_path, 7))

    assert done.out.count("fixes (each tested)") == 1
    assert "default/c on node-0, node-1, node-2 and 4 more nodes:" in done.out


def taken_by_others(*devices: str) -> dict[str, object]:
    results = [
        {"request": "r", "driver": "gpu.example.com", "pool": "node-0", "device": name, "adminAccess": False}
        for name in devices
    ]
    held = {**API, "kind": "ResourceClaim", **claim("others", request("r", "gpu", len(devices)))}
    return {**held, "status": {"allocation": {"devices": {"results": results}}}}


T4 = [{"cel": {"expression": "device.attributes['gpu.example.com'].?model.orValue('') == 'T4'"}}]
ALL = {"name": "g", "exactly": {"deviceClassName": "gpu", "allocationMode": "All"}}
FAILED: list[tuple[str, list[dict[str, object]], dict[str, int]]] = [
    ("held by others", [request("g", "gpu", 4)], {"in use": 2}),
    ("too few, counted over all positions", [request("g", "gpu", 3)], {"in use": 2}),
    ("its own selector", [request("g", "gpu", selectors=T4)], {"selector": 2, "in use": 2}),
    ("taken by an earlier request", [request("a", "gpu", 2), request("b", "gpu")], {"in use": 2, "taken": 2}),
    ("all of them", [ALL], {"in use": 2}),
]


@pytest.mark.parametrize(("requests", "gates"), [case[1:] for case in FAILED], ids=[case[0] for case in FAILED])
def test_every_device_counts_at_the_gate_where_it_fell(
    requests: list[dict[str, object]], gates: dict[str, int], tmp_path: Path
) -> None:
    """Two of four GPUs are held; a NIC of another driver is of another class."""
    wanted = {**API, "kind": "ResourceClaim", **claim("c", *requests)}
    nic = {**API, "kind": "ResourceSlice", **resource_slice("nic.example.com", [device("nic-0")], "node-0")}
    objects = json.loads(Path(cluster(tmp_path)).read_text(encoding="utf-8"))["items"]
    dump = written(tmp_path, "dump.json", *objects, nic, taken_by_others("gpu-0", "gpu-1"))

    done = in_process("dra", "check", written(tmp_path, "c.json", wanted), "--slices", dump, "-o", "json")

    strictly("dra-check-result").validate(done.json)
    [node] = done.json["checks"][0]["nodes"]
    expected = gates if requests == [ALL] else {"class": 1, **gates}
    assert node["why"]["failedAt"] == expected


def test_a_class_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    wanted = {**API, "kind": "ResourceClaim", **claim("c", request("g", "gpus"))}

    done = in_process("dra", "check", written(tmp_path, "c.json", wanted), "--slices", cluster(tmp_path))

    assert "allowed classes: gpu" in done.out
    assert "- request deviceClassName gpu in g (now gpus)" in done.out


TAINT = {"key": "broken", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("releases", "more", "release", "allocated", "codes"),
    [
        ((), (), "1.36", True, set()),
        (("v1.36.2",), (), "1.36", True, set()),
        (("v1.36.2", "v1.37.0"), (), "1.37", False, {"published-release"}),
        (("v1.37.0",), ("--feature-gates", "DRADeviceTaintRules=false"), "1.37", True, {"published-release"}),
        (("v1.37.0",), ("--kubelet-version", "1.36"), "1.36", True, set()),
        (("v1.99.0",), (), "1.36", True, {"node-release-unknown"}),
    ],
)
def test_the_newest_node_says_the_release_and_rules_taint_from_137_on(
    tmp_path: Path, releases: tuple[str, ...], more: tuple[str, ...], release: str, allocated: bool, codes: set[str]
) -> None:
    """docs/rules/kubelet-1.37.md 11 item 2."""
    nodes = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{place}"}, "status": {"nodeInfo": {KEY: said}}}
        for place, said in enumerate(releases)
    ]
    rule = {"apiVersion": "resource.k8s.io/v1beta2", "kind": "DeviceTaintRule", "metadata": {"name": "r"}}
    objects = [
        {**API, "kind": "DeviceClass", **device_class("gpu")},
        {**API, "kind": "ResourceSlice", **resource_slice("gpu.example.com", [device("gpu-0")])},
        {**rule, "spec": {"deviceSelector": {"driver": "gpu.example.com", "device": "gpu-0"}, "taint": TAINT}},
        *nodes,
    ]
    asked = written(tmp_path, "claim.json", {**API, "kind": "ResourceClaim", **claim("c", request("r", "gpu"))})
    done = in_process("dra", "check", asked, "--slices", written(tmp_path, "all.json", *objects), "-o", "json", *more)

    assert done.json["release"] == release
    assert (done.status == 0) is allocated, done.out
    assert {one["code"] for one in done.json["warnings"]} & {"published-release", "node-release-unknown"} == codes


KEY = "kubeletVersion"
