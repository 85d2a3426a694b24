"""The command `explain`: what it suggests works as typed, it is quick, and it speaks an operator's language."""

from __future__ import annotations

import itertools
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from numalign.kubelet import node
from tests.cli.running import ROOT, in_process

GOLDEN = ROOT / "tests" / "golden"
REFUSALS = [
    path
    for path in sorted(GOLDEN.glob("explain/*.cmd"))
    if path.read_text(encoding="utf-8").startswith("# status")
    and " -o " not in path.read_text(encoding="utf-8")
    and "at an earlier pod" not in path.with_suffix(".out").read_text(encoding="utf-8")
]
FIGURE = ("pods/announcement.yaml", "--machine", "figure-1", "--policy", "single-numa-node")


@pytest.mark.parametrize("golden", REFUSALS, ids=lambda path: path.stem)
def test_a_refusal_is_told_without_the_words_of_the_machinery(golden: Path) -> None:
    """It names a resource with amounts, and one command to type next; the rest is for --details."""
    text = golden.with_suffix(".out").read_text(encoding="utf-8")
    assert not re.search(r"\bmasks?\b", text, re.I)
    assert re.search(r"^     (numalign |--)", text, re.M)
    if "does not start" not in text:
        assert re.search(r"^  .*\b(requested|fit|needs?|free|whole cores|from 1 NUMA node)\b", text, re.M)


WIDE_POD = """
apiVersion: v1
kind: Pod
metadata: {name: inference}
spec:
  containers:
  - name: server
    resources: {limits: {cpu: 8, memory: 4Gi, RESOURCE: 1}}
"""


def _ways_out(resource: str, folder: Path) -> tuple[list[str], list[dict[str, Any]]]:
    """Give the titles of the changes that admit a wide pod with a device that figure-1 does not have; and the JSON."""
    file = folder / "pod.yaml"
    file.write_text(WIDE_POD.replace("RESOURCE", resource), encoding="utf-8")
    asked = ("explain", str(file), "--machine", "figure-1", "--policy", "single-numa-node")
    titles = re.findall(r"^  \d\. (.*)$", in_process(*asked).out, re.M)
    return titles, in_process(*asked, "-o", "json").json["pods"][0]["changes"]


def test_a_machine_that_has_the_device_comes_before_changes_that_leave_the_pod_without(tmp_path: Path) -> None:
    titles, changes = _ways_out("nvidia.com/gpu", tmp_path)

    assert titles[0] == "Run the pod on another machine, such as dgx-1: aligned"
    assert len(titles) > 1
    assert all(title.endswith(": admitted without nvidia.com/gpu") for title in titles[1:])
    assert changes[0]["kind"] == "machine"


def test_the_title_of_a_change_says_what_the_pod_goes_without(tmp_path: Path) -> None:
    titles, changes = _ways_out("example.com/nobody-has-it", tmp_path)

    assert titles
    assert all(title.endswith(": admitted without example.com/nobody-has-it") for title in titles)
    assert all(one["text"].endswith(": admitted without example.com/nobody-has-it") for one in changes)


@pytest.mark.parametrize("golden", REFUSALS, ids=lambda path: path.stem)
def test_each_command_that_is_suggested_is_admitted(golden: Path) -> None:
    asked = shlex.split(golden.read_text(encoding="utf-8"), comments=True)[1:]
    text = in_process(*asked, "-o", "wide").out
    for command in re.findall(r"^     numalign ((?:explain|compare) .*)$", text, re.M):
        done = in_process(*shlex.split(command))
        assert done.status == 0, (command, done.err)


def test_there_are_refusals_of_ten_kinds() -> None:
    assert len(REFUSALS) >= 10


MAX_ADMISSIONS = 6000
"""How many admissions an explanation may try: two seconds' worth on a machine of 2020."""


@pytest.mark.parametrize(
    "limits",
    [
        {"cpu": "32", "memory": "150Gi", "nvidia.com/gpu": "1", "intel.com/intel_sriov_netdevice": "1"},
        {"cpu": "300", "memory": "1500Gi", "nvidia.com/gpu": "17", "hugepages-1Gi": "64Gi"},
    ],
    ids=["pods are in the way", "never, in every resource"],
)
def test_eight_nodes_and_forty_pods_are_searched_with_a_bound(
    limits: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A refused pod on 256 CPUs, with all searches; no clock, but what takes the time is counted."""
    tried = 0
    decide = node.admit

    def counted(*arguments: Any) -> Any:
        nonlocal tried
        tried += 1
        return decide(*arguments)

    monkeypatch.setattr(node, "admit", counted)
    items: list[dict[str, Any]] = []
    for number in range(40):
        asked = {"cpu": "5", "memory": "4Gi", **({"nvidia.com/gpu": "1"} if number % 5 == 0 else {})}
        items.append(a_pod(f"p{number}", asked))
    beside = tmp_path / "beside.json"
    beside.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), encoding="utf-8")
    pod = tmp_path / "pod.json"
    pod.write_text(json.dumps(a_pod("asked", limits)), encoding="utf-8")
    memory = ("--memory-manager-policy", "Static", "--kube-reserved", "memory=1Gi", "--reserved-memory", "0:memory=1Gi")
    done = in_process("explain", pod, "--beside", beside, "--machine", "xeon-8s", "--policy", "restricted", *memory)
    assert done.status == 1, done.err
    assert "tested" in done.out
    assert 40 < tried < MAX_ADMISSIONS


def a_pod(name: str, limits: dict[str, str]) -> dict[str, Any]:
    container = {"name": "app", "image": "pause", "resources": {"limits": limits}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container]}}


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--pod", "nobody"), "--pod nobody: unknown pod"),
        (("--without", "numa-aligned-3"), "--without numa-aligned-3: unknown pod"),
        (
            ("--set", "numa-aligned-container:gpus=1"),
            (
                "--set numa-aligned-container:gpus=1: expected CONTAINER:RESOURCE=AMOUNT with one of "
                "numa-aligned-container:cpu, numa-aligned-container:memory, numa-aligned-container:gpu-vendor.com/gpu, "
                "numa-aligned-container:nic-vendor.com/nic"
            ),
        ),
        (("--set", "numa-aligned-container:cpu=few"), "--set numa-aligned-container:cpu=few: quantities must match"),
    ],
)
def test_a_wrong_what_if_is_an_error_that_names_the_flag(flags: tuple[str, ...], message: str) -> None:
    done = in_process("explain", *FIGURE, *flags)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"error: {message}")


@pytest.mark.parametrize(
    ("fail_on", "policy", "status"),
    [
        ("rejected", "single-numa-node", 1),
        ("impossible", "single-numa-node", 0),
        ("nothing", "single-numa-node", 0),
    ],
)
def test_fail_on_moves_the_bar(fail_on: str, policy: str, status: int) -> None:
    done = in_process("explain", FIGURE[0], "--machine", "figure-1", "--policy", policy, "--fail-on", fail_on)
    assert done.status == status


def test_not_aligned_fails_only_when_asked() -> None:
    apart = ("explain", "tests/golden/apart.yaml", "--machine", "figure-1", "--policy", "best-effort")
    assert in_process(*apart).status == 0
    assert in_process(*apart, "--fail-on", "unaligned").status == 1


def test_json_of_a_kubelet_that_does_not_start() -> None:
    done = in_process(
        "explain", "pods/limits-only.yaml", "--machine", "figure-1", "--memory-manager-policy", "Static", "-o", "json"
    )
    assert done.status == 4
    assert done.json["startError"] == "[memorymanager] you should specify the system reserved memory"
    assert done.json["next"].startswith("numalign config check --machine figure-1")


def test_a_pod_that_runs_without_a_device_it_asks_for_is_not_just_admitted(tmp_path: Path) -> None:
    pod = tmp_path / "pod.yaml"
    pod.write_text((ROOT / "pods/announcement.yaml").read_text(encoding="utf-8").split("---")[0], encoding="utf-8")
    told = in_process("explain", pod, "--machine", "xeon-4s")
    assert "numa-aligned-1: admitted without gpu-vendor.com/gpu and nic-vendor.com/nic" in told.out


STATIC_MEMORY = (
    "--memory-manager-policy",
    "Static",
    "--kube-reserved",
    "memory=1Gi",
    "--reserved-memory",
    "0:memory=1Gi",
)
CRASHING = "tests/golden/explain/no-such-pages.yaml"


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain", "pods/limits-only.yaml", "--beside", CRASHING),
        ("explain", CRASHING, "pods/limits-only.yaml", "--pod", "limits-only"),
        ("explain", CRASHING, "pods/limits-only.yaml", "--without", "no-such-pages"),
        ("explain", "pods/limits-only.yaml", "--beside", CRASHING, "-o", "json"),
        ("admit", "pods/limits-only.yaml", "--beside", CRASHING),
    ],
    ids=["beside", "an earlier pod of --pod", "an earlier pod that is gone", "JSON", "admit"],
)
def test_a_pod_that_comes_before_and_crashes_the_kubelet_ends_in_status_4(arguments: tuple[str, ...]) -> None:
    done = in_process(*arguments, "--machine", "figure-1", *STATIC_MEMORY)

    assert done.status == 4
    assert "the kubelet would crash" in done.err
    assert "no-such-pages" in done.err


@pytest.mark.parametrize(
    "command", [("compare",), ("compare", "--kubelet-version", "1.30,1.32")], ids=["compare", "upgrade"]
)
def test_a_comparison_tells_that_the_kubelet_crashes(command: tuple[str, ...]) -> None:
    done = in_process(*command, "pods/limits-only.yaml", "--beside", CRASHING, "--machine", "figure-1", *STATIC_MEMORY)

    assert done.status in (0, 1)
    assert any(text in done.out for text in ("The kubelet crashes over this", "would crash"))


FAR = ("--machine", "sockets=2,coresPerNumaNode=1,memoryPerNumaNode=16Gi", "--device", "example.com/fpga@0=1")


def test_where_no_setting_aligns_a_pod_it_says_so_and_what_is_least_bad(tmp_path: Path) -> None:
    """The only CPU beside the device is reserved. Every setting, and each two together, are tried here."""
    limits = {"cpu": "1", "memory": "1Gi", "example.com/fpga": "1"}
    spec = {"containers": [{"name": "c", "image": "i", "resources": {"limits": limits}}]}
    pod = tmp_path / "pod.json"
    pod.write_text(json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "far"}, "spec": spec}))
    place = (*FAR, "--reserved-cpus", "0")

    done = in_process("explain", pod, *place, "--policy", "best-effort")
    assert "No setting aligns the pod on this machine." in done.out
    assert "Least bad (tested): the settings of now." in done.out
    assert "Remove example.com/fpga: aligned on NUMA 1" in done.out
    least = in_process("explain", pod, *place, "--policy", "best-effort", "-o", "json").json["pods"][0]["leastBad"]
    assert least["settings"] == {}

    singles = [
        *(("--policy", policy) for policy in ("none", "restricted", "single-numa-node")),
        ("--scope", "pod"),
        ("--cpu-manager-policy", "none"),
        ("--topology-manager-policy-options", "prefer-closest-numa-nodes=true"),
        *(("--cpu-manager-policy-options", f"{name}=true") for name in ("full-pcpus-only", "strict-cpu-reservation")),
        ("--memory-manager-policy", "Static", "--kube-reserved", "memory=1Gi", "--reserved-memory", "0:memory=1Gi"),
    ]
    for one, other in itertools.combinations([(), *singles], 2):
        policy = () if "--policy" in (*one, *other) else ("--policy", "best-effort")
        answer = in_process("admit", pod, *place, *policy, *one, *other, "-o", "json")
        pods = answer.json["pods"] if answer.status in (0, 1) else []
        assert not [each for each in pods if each["admit"] and each["verdict"] == "aligned"], (one, other)
