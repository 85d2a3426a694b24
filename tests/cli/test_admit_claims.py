"""`admit --slices`: what pods hold by claim, judged together with what the kubelet gives them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import in_process
from tests.dra.objects import NUMA, claim, device, device_class, request, resource_slice
from tests.schemas import strictly

API = {"apiVersion": "resource.k8s.io/v1"}
MACHINE = "sockets=2,coresPerNumaNode=8,threadsPerCore=1,memoryPerNumaNode=64Gi"


def files(folder: Path, objects: list[dict[str, Any]], pods: list[dict[str, Any]]) -> tuple[str, str]:
    for name, items in (("pods.json", pods), ("cluster.json", objects)):
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
        (folder / name).write_text(text, encoding="utf-8")
    return str(folder / "pods.json"), str(folder / "cluster.json")


def gpus(*nodes: int | None) -> list[dict[str, Any]]:
    devices = [device(f"gpu-{index}", **({} if node is None else {"numa": node})) for index, node in enumerate(nodes)]
    return [
        {**API, "kind": "DeviceClass", **device_class("gpu")},
        {**API, "kind": "ResourceSlice", **resource_slice("gpu.example.com", devices)},
    ]


def pod(name: str, claim_name: str, *, cpu: str = "4", limits: bool = True, wanted: str = "") -> dict[str, Any]:
    amounts = {"cpu": cpu, "memory": "1Gi"}
    use = {"name": "d", "request": wanted} if wanted else {"name": "d"}
    resources = {"requests": amounts, **({"limits": amounts} if limits else {}), "claims": [use]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {
            "containers": [{"name": "c", "resources": resources}],
            "resourceClaims": [{"name": "d", "resourceClaimName": claim_name}],
        },
    }


def one(name: str, *requests: dict[str, Any], **constraint: str) -> dict[str, Any]:
    return {**API, "kind": "ResourceClaim", **claim(name, *requests, **constraint)}


def judged(folder: Path, objects: list[dict[str, Any]], pods: list[dict[str, Any]], *more: str) -> dict[str, Any]:
    names = files(folder, objects, pods)
    done = in_process("admit", names[0], "-m", MACHINE, "--slices", names[1], "-o", "json", *more)
    strictly("admit-result").validate(done.json)
    return {**done.json["claims"], "status": done.status}


VERDICTS = [
    ("the GPU is where the CPUs are", gpus(0), {}, "aligned", "together this time, but no constraint aligns them"),
    ("the GPU is on the other node", gpus(1), {}, "spread", "no constraint aligns them"),
    ("nobody says where the GPU is", gpus(None), {}, "unknown", "NUMA node unknown for gpu-0"),
    ("the pod is not Guaranteed", gpus(0), {"limits": False}, "floating", "CPUs anywhere: the pod is Burstable"),
    ("the CPUs are a fraction", gpus(0), {"cpu": "500m"}, "floating", "no exclusive CPUs"),
]


@pytest.mark.parametrize(
    ("objects", "fields", "verdict", "reason"), [case[1:] for case in VERDICTS], ids=[case[0] for case in VERDICTS]
)
def test_both_worlds_have_one_verdict(
    objects: list[dict[str, Any]], fields: dict[str, Any], verdict: str, reason: str, tmp_path: Path
) -> None:
    pods = [one("gpu", request("g", "gpu")), pod("p", "gpu", **fields)]

    found = judged(tmp_path, objects, pods)

    [container] = found["pods"][0]["containers"]
    assert container["verdict"] == verdict
    assert reason in container["reason"]
    assert container["keptBy"] == ""
    assert found["status"] == 0


def test_pods_take_claimed_devices_one_after_the_other(tmp_path: Path) -> None:
    """The second pod gets the second GPU, and the third would not be sent here."""
    pods = [
        item for index in range(3) for item in (one(f"g{index}", request("g", "gpu")), pod(f"p{index}", f"g{index}"))
    ]

    found = judged(tmp_path, gpus(0, 1), pods)

    assert [[each["device"] for box in item["containers"] for each in box["devices"]] for item in found["pods"]] == [
        ["gpu-0"],
        ["gpu-1"],
        [],
    ]
    assert [item["allocated"] for item in found["pods"]] == [True, True, False]
    assert found["status"] == 1


def test_two_pods_share_a_claim(tmp_path: Path) -> None:
    found = judged(tmp_path, gpus(0), [one("g", request("g", "gpu")), pod("p", "g"), pod("q", "g")])

    assert [item["containers"][0]["devices"][0]["device"] for item in found["pods"]] == ["gpu-0", "gpu-0"]


def test_a_container_has_the_requests_it_names(tmp_path: Path) -> None:
    wanted = one("g", request("first", "gpu"), request("second", "gpu"))

    found = judged(tmp_path, gpus(0, 1), [wanted, pod("p", "g", wanted="second")])

    assert [each["device"] for each in found["pods"][0]["containers"][0]["devices"]] == ["gpu-1"]


def test_a_selector_for_the_cpus_node_is_a_way_out_that_was_tried(tmp_path: Path) -> None:
    """CPUs on node 0, the first free GPU on node 1, another one on node 0."""
    found = judged(tmp_path, gpus(1, 0), [one("g", request("g", "gpu")), pod("p", "g")])

    way = found["pods"][0]["containers"][0]["waysOut"][-1]
    assert way["gives"] == ["gpu-1"]
    assert "device.attributes['resource.kubernetes.io'].numaNode == 0" in " ".join(way["write"].split())
    assert way["holds"] == "valid only while the CPU Manager takes the container's CPUs from NUMA node 0"


@pytest.mark.parametrize(("group", "cpus"), [("numanode", "0-3"), ("socket", "0-3")])
def test_cpus_by_claim_are_named_and_kept(group: str, cpus: str, tmp_path: Path) -> None:
    slices = json.loads(
        in_process(
            "dra", "slices", "-m", MACHINE, "--like", "cpu", "--node-name", "node-1", "--cpus-by", group, "-o", "json"
        ).out
    )
    wanted = one("c", request("c", "dra.cpu", capacity={"requests": {"dra.cpu/cpu": "4"}}))

    found = judged(tmp_path, slices["items"], [wanted, pod("p", "c")], "--cpu-manager-policy", "none")

    [container] = found["pods"][0]["containers"]
    assert container["devices"][0]["cpus"] == cpus
    assert container["verdict"] == "aligned"


def test_cpus_of_both_worlds_float(tmp_path: Path) -> None:
    slices = json.loads(
        in_process("dra", "slices", "-m", MACHINE, "--like", "cpu", "--node-name", "node-1", "-o", "json").out
    )
    wanted = one("c", request("c", "dra.cpu", capacity={"requests": {"dra.cpu/cpu": "4"}}))

    found = judged(tmp_path, slices["items"], [wanted, pod("p", "c")])

    assert "dra.cpu needs cpuManagerPolicy none" in found["pods"][0]["containers"][0]["reason"]


def test_unaligned_claims_fail_where_that_is_asked(tmp_path: Path) -> None:
    pods = [one("g", request("g", "gpu")), pod("p", "g")]

    assert judged(tmp_path, gpus(1), pods, "--fail-on", "unaligned")["status"] == 1
    assert judged(tmp_path, gpus(0), pods, "--fail-on", "unaligned")["status"] == 0


def test_cpus_by_claim_are_aligned_where_that_is_asked(tmp_path: Path) -> None:
    """To the kubelet the CPUs float; they come by claim, with all else."""
    slices = json.loads(
        in_process("dra", "slices", "-m", MACHINE, "--like", "cpu", "--node-name", "node-1", "-o", "json").out
    )
    wanted = one("c", request("c", "dra.cpu", capacity={"requests": {"dra.cpu/cpu": "4"}}))
    names = files(tmp_path, slices["items"], [wanted, pod("p", "c")])
    asked = ("-m", MACHINE, "--slices", names[1], "--cpu-manager-policy", "none", "--fail-on", "unaligned")

    for command in ("admit", "explain"):
        assert in_process(command, names[0], *asked).status == 0
    done = in_process("admit", names[0], *asked, "-o", "junit")
    assert (done.status, 'failures="0"' in done.out) == (0, True)


CHECKS = [
    ("no devices", gpus(), "ClaimsNotAllocated", "request g of claim g gets 0 of 1 devices", "rejected"),
    ("on the other node", gpus(1), "NotAligned", "gpu-0 on NUMA node 1 by claim", "unaligned"),
]


@pytest.mark.parametrize(
    ("objects", "title", "message", "fail_on"), [case[1:] for case in CHECKS], ids=[case[0] for case in CHECKS]
)
def test_build_servers_are_told_what_claims_make_of_a_pod(
    objects: list[dict[str, Any]], title: str, message: str, fail_on: str, tmp_path: Path
) -> None:
    names = files(tmp_path, objects, [one("g", request("g", "gpu")), pod("p", "g")])

    for output in ("junit", "github"):
        done = in_process("admit", names[0], "-m", MACHINE, "--slices", names[1], "--fail-on", fail_on, "-o", output)
        assert done.status == 1
        assert title in done.out
        assert message in done.out


def test_a_constraint_over_devices_alone_keeps_no_cpus(tmp_path: Path) -> None:
    wanted = one("g", request("first", "gpu"), request("second", "gpu"), match=NUMA)

    found = judged(tmp_path, gpus(1, 1), [wanted, pod("p", "g")])

    assert found["pods"][0]["containers"][0]["keptBy"] == ""
    assert found["pods"][0]["containers"][0]["verdict"] == "spread"


def test_a_node_that_no_slice_is_of_is_refused(tmp_path: Path) -> None:
    names = files(tmp_path, gpus(0), [one("g", request("g", "gpu")), pod("p", "g")])
    done = in_process("admit", names[0], "-m", MACHINE, "--slices", names[1], "--node-name", "x")
    assert done.status == 2
    assert "--node-name x: no such node in the slices\nallowed: node-1" in done.err


def test_explain_and_compare_say_it_too(tmp_path: Path) -> None:
    names = files(tmp_path, gpus(1), [one("g", request("g", "gpu")), pod("p", "g")])
    more = ("-m", MACHINE, "--slices", names[1], "-o", "json")

    explained = in_process("explain", names[0], *more)
    compared = in_process("compare", names[0], *more)

    strictly("explain-result").validate(explained.json)
    strictly("compare-result").validate(compared.json)
    assert explained.json["claims"]["pods"][0]["containers"][0]["verdict"] == "spread"
    assert {row["claims"]["pods"][0]["containers"][0]["verdict"] for row in compared.json["variants"]} == {"spread"}


def test_a_comparison_counts_how_many_copies_the_claims_allow(tmp_path: Path) -> None:
    """Three GPUs, and CPUs for four pods."""
    template = {
        **API,
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "t"},
        "spec": {"spec": claim("t", request("g", "gpu"))["spec"]},
    }
    wanted = pod("p", "g")
    wanted["spec"]["resourceClaims"] = [{"name": "d", "resourceClaimTemplateName": "t"}]
    names = files(tmp_path, gpus(0, 0, 1), [template, wanted])

    rows = in_process("compare", names[0], "-m", MACHINE, "--slices", names[1], "-o", "json").json["variants"]

    assert [(row["replicas"], row["claims"]["copies"]) for row in rows[:1]] == [(4, 3)]


@pytest.mark.parametrize("release", ["1.34", "1.35", "1.36"])
def test_the_scheduler_is_of_the_kubelet_s_release(release: str, tmp_path: Path) -> None:
    """Taints keep devices away from 1.36 on, where their gate is on; one pool of one slice is certain everywhere."""
    objects = gpus(0, 1)
    objects[1]["spec"]["devices"][0]["taints"] = [{"key": "broken", "effect": "NoSchedule"}]
    found = judged(tmp_path, [*objects, one("a", request("r", "gpu"))], [pod("p", "a")], "--kubelet-version", release)
    [got] = found["pods"][0]["containers"][0]["devices"]
    assert got["device"] == ("gpu-1" if release == "1.36" else "gpu-0")
    assert (found["scheduler"], found["deterministic"]) == (release, True)


def test_of_several_pools_older_schedulers_take_any(tmp_path: Path) -> None:
    objects = [*gpus(0), {**API, "kind": "ResourceSlice", **resource_slice("z.example.com", [device("z")])}]
    names = files(tmp_path, [*objects, one("a", request("r", "gpu"))], [pod("p", "a")])
    arguments = ("admit", names[0], "-m", MACHINE, "--slices", names[1], "--kubelet-version")
    said = "scheduler 1.35: pools are tried in random order, this is one possible answer"
    assert said in in_process(*arguments, "1.35").out
    assert "random order" not in in_process(*arguments, "1.36").out


def test_a_release_whose_claims_are_not_known_is_refused(tmp_path: Path) -> None:
    names = files(tmp_path, [*gpus(0), one("a", request("r", "gpu"))], [pod("p", "a")])
    done = in_process("admit", names[0], "-m", MACHINE, "--slices", names[1], "--kubelet-version", "1.32")
    assert done.status == 2
    assert "--kubelet-version: expected a scheduler of 1.34, 1.35, 1.36, 1.37, got 1.32" in done.err


def test_claims_of_one_name_are_those_of_the_pods_own_file_here_too(tmp_path: Path) -> None:
    folders = []
    for name, count in (("one", 1), ("two", 2)):
        (tmp_path / name).mkdir()
        for kind, written in (("pod", pod(name, "mine")), ("claim", one("mine", request("r", "gpu", count)))):
            (tmp_path / name / f"{kind}.json").write_text(json.dumps(written), encoding="utf-8")
        folders.append(str(tmp_path / name))
    (tmp_path / "cluster.json").write_text(
        json.dumps({"apiVersion": "v1", "kind": "List", "items": gpus(0, 0, 1)}), encoding="utf-8"
    )
    slices = ("--slices", str(tmp_path / "cluster.json"))

    for names in (folders, folders[::-1]):
        done = in_process("dra", "check", *names, names[0], *slices, "-o", "json")
        assert done.status == 0, done.err
        counts = {check["name"]: len(check["nodes"][0]["devices"]) for check in done.json["checks"]}
        assert counts == {"one": 1, "two": 2}
    for name, count in (("one", 1), ("two", 2)):
        other = str(tmp_path / {"one": "two", "two": "one"}[name] / "claim.json")
        done = in_process("admit", other, str(tmp_path / name), "-m", MACHINE, *slices, "-o", "json")
        [held] = done.json["claims"]["pods"]
        assert len(held["containers"][0]["devices"]) == count


def test_a_claim_twice_in_one_file_is_an_error_everywhere(tmp_path: Path) -> None:
    mine = one("mine", request("r", "gpu"))
    names = files(tmp_path, gpus(0), [pod("p", "mine"), mine, mine])
    for command in (["dra", "check"], ["admit", "-m", MACHINE]):
        done = in_process(*command, names[0], "--slices", names[1])
        assert done.status == 2
        assert "the ResourceClaim default/mine is also at" in done.err


def test_a_claim_of_another_node_keeps_its_pod_away(tmp_path: Path) -> None:
    objects = [*gpus(0), {**API, "kind": "ResourceSlice", **resource_slice("gpu.example.com", [device("x")], "node-2")}]
    mine = one("mine", request("r", "gpu"))
    taken = {"request": "r", "driver": "gpu.example.com", "pool": "node-2", "device": "x"}
    mine["status"] = {"allocation": {"devices": {"results": [taken]}}}

    found = judged(tmp_path, objects, [mine, pod("p", "mine")], "--node-name", "node-1")

    assert found["status"] == 1
    assert "holds gpu.example.com/node-2/x, which this node does not have" in found["pods"][0]["error"]


def test_cpus_that_the_driver_keeps_back_are_not_given(tmp_path: Path) -> None:
    slices = json.loads(
        in_process(
            "dra",
            "slices",
            "-m",
            MACHINE,
            "--like",
            "cpu",
            "--node-name",
            "node-1",
            "--reserved-cpus",
            "0-1",
            "-o",
            "json",
        ).out
    )
    wanted = one("c", request("c", "dra.cpu", capacity={"requests": {"dra.cpu/cpu": "4"}}))
    names = files(tmp_path, slices["items"], [wanted, pod("p", "c")])
    arguments = ("admit", names[0], "-m", MACHINE, "--slices", names[1], "--cpu-manager-policy", "none", "-o", "json")

    for more, warned in (((), True), (("--reserved-cpus", "0-1"), False)):
        done = in_process(*arguments, *more)
        [container] = done.json["claims"]["pods"][0]["containers"]
        assert container["devices"][0]["cpus"] == "2-5"
        assert ("claim-cpus-doubtful" in [one["code"] for one in done.json["warnings"]]) == warned
        assert ("dra.cpu reserves 2 CPUs of cpudevnuma000" in done.err) == warned


def test_single_cpus_by_claim_are_the_pod_s_own(tmp_path: Path) -> None:
    slices = json.loads(
        in_process(
            "dra", "slices", "-m", MACHINE, "--like", "cpu", "--node-name", "node-1", "--cpus-by", "cpu", "-o", "json"
        ).out
    )
    found = judged(
        tmp_path, slices["items"], [one("c", request("c", "dra.cpu", 2)), pod("p", "c")], "--cpu-manager-policy", "none"
    )

    [container] = found["pods"][0]["containers"]
    assert [each["cpus"] for each in container["devices"]] == ["0", "1"]
    assert (container["verdict"], "CPUs 0-1 on NUMA node 0 by claim" in container["reason"]) == ("aligned", True)


FLEET = """
nodes:
- {name: node-1, machine: "sockets=2,coresPerNumaNode=8,threadsPerCore=1,memoryPerNumaNode=64Gi"}
"""


def scheduled(folder: Path, objects: list[dict[str, Any]], pods: list[dict[str, Any]], *more: str) -> Any:
    names = files(folder, objects, pods)
    (folder / "fleet.yaml").write_text(FLEET, encoding="utf-8")
    return in_process("schedule", names[0], "--cluster", str(folder / "fleet.yaml"), "--slices", names[1], *more)


def test_what_a_scheduler_chooses_is_judged_with_the_claims(tmp_path: Path) -> None:
    pods = [one("g", request("g", "gpu")), pod("p", "g")]

    done = scheduled(tmp_path, gpus(1), pods, "--scheduler", "unaware", "-o", "json")
    strictly("schedule-result").validate(done.json)

    [container] = done.json["pods"][0]["claims"]["containers"]
    assert (container["verdict"], container["waysOut"]) == ("spread", [])
    assert done.json["claims"] == {"release": "1.36", "allocator": "incubating", "deterministic": True}
    assert (
        "with claims c is spread: no constraint aligns them\n    gpu-0 on NUMA node 1 by claim"
        in scheduled(tmp_path, gpus(1), pods).out
    )


@pytest.mark.parametrize(
    ("release", "chosen"), [("1.34", "gpu-0"), ("1.35", "gpu-0"), ("1.36", "gpu-1")], ids=["1.34", "1.35", "1.36"]
)
def test_schedule_takes_the_allocator_of_the_release_it_is_told(release: str, chosen: str, tmp_path: Path) -> None:
    """Taints keep devices away from 1.36 on."""
    objects = gpus(0, 1)
    objects[1]["spec"]["devices"][0]["taints"] = [{"key": "broken", "effect": "NoSchedule"}]
    pods = [one("a", request("r", "gpu")), pod("p", "a")]

    found = scheduled(tmp_path, objects, pods, "--scheduler-version", release, "-o", "json").json

    assert found["claims"]["release"] == release
    assert found["pods"][0]["claims"]["containers"][0]["devices"][0]["device"] == chosen


def test_schedule_says_where_an_older_scheduler_might_choose_otherwise(tmp_path: Path) -> None:
    objects = [*gpus(0), {**API, "kind": "ResourceSlice", **resource_slice("z.example.com", [device("z")])}]
    pods = [one("a", request("r", "gpu")), pod("p", "a")]

    for release, said in (("1.35", True), ("1.36", False)):
        done = scheduled(tmp_path, objects, pods, "--scheduler-version", release)
        assert ("the scheduler tries pools in random order: these devices are one possible answer" in done.out) == said
    done = scheduled(tmp_path, objects, pods, "--scheduler-version", "1.33")
    assert done.status == 2
    assert "--scheduler-version: expected a scheduler of 1.34, 1.35, 1.36, 1.37, got 1.33" in done.err


def test_what_a_class_serves_of_extended_resources_is_claimed_where_the_machine_has_none(tmp_path: Path) -> None:
    """docs/rules/dra.md D-53, in all three commands; a machine with the device keeps it."""
    class_ = {**API, "kind": "DeviceClass", **device_class("gpu")}
    class_["spec"]["extendedResourceName"] = "nvidia.com/gpu"
    slice_ = {**API, "kind": "ResourceSlice", **resource_slice("gpu.example.com", [device("gpu-0", numa=0)])}
    limits = {"limits": {"cpu": "2", "memory": "1Gi", "nvidia.com/gpu": "1"}}
    asking = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "resources": limits}]},
    }
    names = files(tmp_path, [class_, slice_], [asking])
    for command in ("admit", "explain"):
        done = in_process(command, names[0], "-m", MACHINE, "--slices", names[1], "-o", "json")
        assert done.status == 0
        [held] = done.json["claims"]["pods"]
        [one] = held["containers"]
        assert [each["request"] for each in one["devices"]] == ["container-0-request-0"]
        assert (one["verdict"], one["waysOut"]) == ("aligned", [])
        assert "device-missing" not in {each["code"] for each in done.json["warnings"]}
    compared = in_process("compare", names[0], "-m", MACHINE, "--slices", names[1])
    assert "aligned, 1 by claims" in compared.out
    own = in_process("admit", names[0], "-m", "hgx-h100", "--slices", names[1], "-o", "json")
    assert own.json["claims"]["pods"] == []
    old = in_process("admit", names[0], "-m", MACHINE, "--slices", names[1], "-o", "json", "--kubelet-version", "1.35")
    assert old.json["claims"]["pods"] == []


def test_claims_of_standard_input_are_those_of_its_pods(tmp_path: Path) -> None:
    names = files(tmp_path, gpus(1), [])
    text = json.dumps({"kind": "List", "items": [one("g", request("r", "gpu")), pod("p", "g")]})

    for command in ("admit", "explain"):
        done = in_process(command, "-", "-m", MACHINE, "--slices", names[1], "-o", "json", stdin=text.encode())
        assert done.status == 0, done.err
        assert done.json["claims"]["pods"][0]["containers"][0]["verdict"] == "spread"
    (tmp_path / "fleet.yaml").write_text(FLEET, encoding="utf-8")
    cluster = ("--cluster", str(tmp_path / "fleet.yaml"), "--slices", names[1], "-o", "json")
    done = in_process("schedule", "-", *cluster, stdin=text.encode())
    assert done.json["pods"][0]["claims"]["containers"][0]["verdict"] == "spread"
