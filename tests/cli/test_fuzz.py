"""Whatever the input: an answer or one clear line, never a bug, never a traceback.

Inputs are generated from nothing (any YAML, any bytes) or are good ones with one thing changed; mutated good inputs
get far. Seeds are fixed.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cli.running import MACHINES, PODS, Done, in_process

GOOD_PODS = [document for path in sorted(PODS.glob("*.yaml")) for document in yaml.safe_load_all(path.read_text())]
GOOD_MACHINES = [yaml.safe_load(path.read_text()) for path in sorted(MACHINES.glob("*.yaml"))]
GOOD_KUBELET: dict[str, Any] = {
    "apiVersion": "kubelet.config.k8s.io/v1beta1",
    "kind": "KubeletConfiguration",
    "topologyManagerPolicy": "restricted",
    "topologyManagerScope": "pod",
    "topologyManagerPolicyOptions": {"prefer-closest-numa-nodes": "true"},
    "cpuManagerPolicy": "static",
    "cpuManagerPolicyOptions": {"full-pcpus-only": "true"},
    "reservedSystemCPUs": "0",
    "memoryManagerPolicy": "Static",
    "reservedMemory": [{"numaNode": 0, "limits": {"memory": "1124Mi"}}],
    "kubeReserved": {"cpu": "1", "memory": "1Gi"},
    "evictionHard": {"memory.available": "100Mi"},
    "featureGates": {"CPUManagerPolicyAlphaOptions": True},
    "cpuManagerReconcilePeriod": "10s",
}
GOOD_SCENARIO: dict[str, Any] = {
    "id": "one",
    "family": "lifecycle",
    "kubelet": {key: GOOD_KUBELET[key] for key in ("topologyManagerPolicy", "cpuManagerPolicy", "reservedSystemCPUs")},
    "machine": {
        "numaNodes": [
            {"id": 0, "cpus": "0-3", "memory": 8 << 30, "hugepages": {"2Mi": 1 << 30}, "distances": [10, 20]},
            {"id": 1, "cpus": "4-7", "memory": 8 << 30, "hugepages": {}, "distances": [20, 10]},
        ],
        "sockets": ["0-3", "4-7"],
        "cores": ["0-1", "2-3", "4-5", "6-7"],
        "uncoreCaches": ["0-1", "2-3", "4-5", "6-7"],
    },
    "devices": {"example.com/dev": [{"id": "a", "numaNodes": [0]}, {"id": "b", "numaNodes": None, "unhealthy": True}]},
    "preferredAllocation": {"example.com/dev": [["a"]]},
    "steps": [
        {"op": "admit", "pod": copy.deepcopy(GOOD_PODS[0])},
        {"op": "start", "pod": "numa-aligned-1"},
        {"op": "remove", "pod": "numa-aligned-1"},
    ],
}

ODD = st.sampled_from(
    [
        *(
            None,
            True,
            False,
            0,
            1,
            -1,
            2**31,
            2**63,
            2**64,
            10**40,
            0.5,
            -0.0,
            1e300,
            [],
            {},
            [[]],
            [None],
            [{}],
            {"": None},
        ),
        *(
            "",
            " ",
            "0",
            "-1",
            "1e9",
            "1E",
            "0.5",
            "1.5Gi",
            "100m",
            "9" * 400,
            "1Zi",
            "NaN",
            "0-",
            "0-3",
            "3-0",
            "0-9999999",
        ),
        *(
            "0,0",
            "none",
            "None",
            "static",
            "Always",
            "\x00",
            "\ud800",
            "é",
            "\u2028",
            "a" * 300,
            "a/b",
            "a/b/c",
            "hugepages-2Mi",
        ),
        *(
            "hugepages-",
            "hugepages-3Ki",
            "cpu",
            "memory",
            "nvidia.com/gpu",
            "true",
            "2024-01-01",
            "container",
            "default",
        ),
    ]
).map(copy.deepcopy)
ANYTHING = st.recursive(
    ODD | st.integers() | st.text(max_size=8) | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
ODD_OR_ANYTHING = ODD | ANYTHING
KINDS = st.sampled_from([*["tweak"] * 6, "change", "remove", "double", "rename", "move"])
ANY = st.integers(0, 1 << 16)
"""Which of a list, counted round it: a strategy made anew for each list would cost more than what it draws."""


def places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every (container, key) of a document."""
    for key, value in list(data.items()) if isinstance(data, dict) else list(enumerate(data)):
        yield data, key
        if isinstance(value, dict | list):
            yield from places(value)


def tweaks(value: Any) -> list[Any]:
    """List values of the same kind, near the old one; many of them are valid."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [0, 1, 2, value + 1, max(value - 1, 0), value * 2, value * 1000]
    if isinstance(value, str):
        return ["0", "1", "3", "2Gi", "0-1", "0-3", "4-7", "1500m", "none", "static", "Always", "new-name", value + "0"]
    if isinstance(value, list):
        return [value[:1], value[1:], value * 2, value[::-1]]
    return [{}]


@st.composite
def mutated(draw: st.DrawFn, good: list[Any], changes: int = 3) -> Any:
    """Tweak, change, remove, double or move one to three things of a good input."""
    data = copy.deepcopy(draw(st.sampled_from(good)))
    for _ in range(draw(st.integers(1, changes))):
        found = list(places(data))
        if not found:
            break
        holder, key = found[draw(ANY) % len(found)]
        match draw(KINDS):
            case "tweak":
                near = tweaks(holder[key])
                holder[key] = copy.deepcopy(near[draw(ANY) % len(near)])
            case "change":
                holder[key] = draw(ODD_OR_ANYTHING)
            case "remove":
                del holder[key]
            case "double" if isinstance(holder, list):
                holder.append(copy.deepcopy(holder[key]))
            case "rename" if isinstance(holder, dict):
                holder[str(draw(ODD))] = holder.pop(key)
            case "move":
                other, place = found[draw(ANY) % len(found)]
                other[place] = copy.deepcopy(holder[key])
    return data


def written(data: Any) -> bytes:
    return json.dumps(data).encode()


CPU_OPTIONS = (
    *("full-pcpus-only", "distribute-cpus-across-numa", "align-by-socket", "distribute-cpus-across-cores"),
    *("strict-cpu-reservation", "prefer-align-cpus-by-uncorecache"),
)
POLICIES = ("none", "best-effort", "restricted", "single-numa-node")


def holds(done: Done, statuses: tuple[int, ...] = (0, 1, 2, 4)) -> None:
    assert done.status in statuses, done.err
    assert "Traceback" not in done.err
    assert all(line.startswith("numalign: ") for line in done.err.splitlines()), done.err
    if done.status == 2:
        assert not done.out or re.search(r'^ *"?error"?: .', done.out, re.M), done.out
        assert done.err.count("\n") == 1, done.err


@settings(max_examples=300)
@given(mutated(GOOD_PODS), st.sampled_from(POLICIES), st.sampled_from(["table", "wide", "json", "yaml", "name"]))
def test_any_manifest_has_an_answer(pod: Any, policy: str, output: str) -> None:
    holds(in_process("admit", "-", "-m", "figure-1", "--policy", policy, "-o", output, stdin=written(pod)))


@settings(max_examples=100)
@given(mutated(GOOD_PODS))
def test_any_pod_can_be_said_to_be_there(tmp_path: Path, pod: Any) -> None:
    there = tmp_path / "there.json"
    there.write_bytes(written({"kind": "List", "items": [pod]}))
    holds(in_process("admit", PODS / "burstable.yaml", "--beside", there, "-m", "figure-1", "-o", "json"))


@settings(max_examples=300)
@given(mutated(GOOD_MACHINES), st.sampled_from(POLICIES), st.sampled_from(["wide", "json"]))
def test_any_machine_has_an_answer(machine: Any, policy: str, output: str) -> None:
    pod = PODS / "guaranteed-4cpu-1gpu.yaml"
    holds(in_process("admit", pod, "-m", "-", "--policy", policy, "-o", output, stdin=written(machine)))


@settings(max_examples=200)
@given(mutated([GOOD_KUBELET]), st.sampled_from(["figure-1", "hgx-h100", "power9-2s-sparse-ids"]))
def test_any_kubelet_configuration_has_an_answer(kubelet: Any, machine: str) -> None:
    arguments = ("-m", machine, "-o", "json", "--kubelet-config", "-")
    holds(in_process("admit", PODS / "hugepages.yaml", *arguments, stdin=written(kubelet)))


@settings(max_examples=300)
@given(st.lists(mutated([GOOD_SCENARIO], changes=4), min_size=1, max_size=3))
def test_any_scenario_has_an_answer(scenarios: list[Any]) -> None:
    done = in_process("replay", "-", stdin=b"\n".join(map(written, scenarios)))
    assert done.status in (0, 2), done.err
    assert len(done.out.splitlines()) == len(scenarios)
    for line in done.out.splitlines():
        json.loads(line)


FLAGS = (
    *(
        "--policy",
        "--scope",
        "--topology-manager-policy-options",
        "--cpu-manager-policy",
        "--cpu-manager-policy-options",
    ),
    *("--memory-manager-policy", "--reserved-memory", "--reserved-cpus", "--kube-reserved", "--system-reserved"),
    *("--eviction-hard", "--feature-gates", "--replicas", "--kubelet-version"),
)
FLAG_TEXTS = st.sampled_from(
    [
        *(
            "",
            "x",
            "none",
            "static",
            "Static",
            "pod",
            "a=b",
            "=",
            "a=",
            "=b",
            "cpu=1",
            "cpu=-1",
            "cpu=1e40",
            "memory=1Gi",
        ),
        *(
            "0:memory=1Gi",
            "0:memory=1Gi;1:memory=-1",
            "9:memory=1",
            "0:",
            ":",
            ";",
            "0",
            "0-3",
            "-",
            "0-99999999999",
            "1,1",
        ),
        *("memory.available<1Gi", "memory.available<10%", "memory.available<-5%", "memory.available<101%", "<", "5"),
        *("full-pcpus-only=true", "full-pcpus-only=maybe", "distribute-cpus-across-numa=true,align-by-socket=true"),
        *(
            "max-allowable-numa-nodes=0",
            "max-allowable-numa-nodes=" + "9" * 30,
            "prefer-closest-numa-nodes=1",
            "1.16",
            "1.99",
        ),
        *("CPUManagerPolicyAlphaOptions=true", "CPUManager=false", "restricted", "9" * 5000, "\ud800", "\x1b[31m\n"),
    ]
)


GOOD_FLAGS = st.sampled_from(
    [
        *(("--cpu-manager-policy-options", name + "=true") for name in CPU_OPTIONS),
        *(
            ("--topology-manager-policy-options", name)
            for name in ("prefer-closest-numa-nodes=1", "max-allowable-numa-nodes=9")
        ),
        *(("--policy", policy) for policy in POLICIES),
        *(
            ("--memory-manager-policy", "Static"),
            ("--reserved-memory", "0:memory=1Gi"),
            ("--reserved-memory", "1:memory=3Gi"),
        ),
        *(
            ("--system-reserved", "memory=1Gi"),
            ("--kube-reserved", "cpu=1500m"),
            ("--reserved-cpus", "0,4"),
            ("--scope", "pod"),
        ),
        *(("--eviction-hard", "memory.available<5%"), ("--feature-gates", "CPUManagerPolicyAlphaOptions=true")),
        *(("--kubelet-version", f"1.{minor}") for minor in range(16, 33)),
    ]
)


@settings(max_examples=300)
@given(
    st.lists(
        GOOD_FLAGS | GOOD_FLAGS | GOOD_FLAGS | st.tuples(st.sampled_from(FLAGS), FLAG_TEXTS), min_size=1, max_size=4
    ).map(dict)
)
def test_any_flag_has_an_answer(flags: dict[str, str]) -> None:
    arguments = [f"{flag}={text}" for flag, text in {"--policy": "restricted", **flags}.items()]
    holds(in_process("admit", PODS / "announcement.yaml", "-m", "figure-1", "-o", "json", *arguments))


SHORT = st.sampled_from(
    [
        *("sockets=2", "numaNodesPerSocket=2", "socketsPerNumaNode=2", "coresPerNumaNode=4", "threadsPerCore=2"),
        *(
            "memoryPerNumaNode=64Gi",
            "sockets=0",
            "sockets=-1",
            "sockets=99999999",
            "coresPerNumaNode=99999999",
            "sockets=x",
        ),
        *(
            "sockets",
            "=",
            "threadsPerCore=0",
            "memoryPerNumaNode=-1",
            "cpuNumbering=odd",
            "devices=1",
            "coresPerUncoreCache=3",
        ),
    ]
)


@settings(max_examples=60)
@given(st.lists(SHORT | SHORT | SHORT | st.text(max_size=10), min_size=1, max_size=2))
def test_any_short_form_has_an_answer(parts: list[str]) -> None:
    short = "coresPerNumaNode=2,memoryPerNumaNode=8Gi"
    for machine in (",".join(parts), ",".join([short, *parts])):
        holds(in_process("admit", PODS / "burstable.yaml", "-m", machine, "-o", "json"))


GOOD_TEXTS = [path.read_bytes() for path in (*sorted(PODS.glob("*.yaml")), MACHINES / "figure-1.yaml")]


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Take a good file as bytes and cut it, or put bytes into it."""
    text = bytearray(draw(st.sampled_from(GOOD_TEXTS)))
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(text)))
        text[place : place + draw(st.integers(0, 30))] = draw(
            st.binary(max_size=6) | st.text(alphabet="{}[]:,-?&*!|>'\"%@`# \n\t<=~01", max_size=6).map(str.encode)
        )
    return bytes(text)


@settings(max_examples=300)
@given(
    damaged() | st.binary(max_size=60) | ANYTHING.map(written), st.sampled_from(["pod", "machine", "kubelet", "beside"])
)
def test_any_bytes_have_an_answer(text: bytes, role: str) -> None:
    good: dict[str, str | Path] = {"pod": PODS / "burstable.yaml", "machine": "figure-1"}
    given_as = {**good, role: "-"}
    more = [
        f"--{flag}={given_as[name]}"
        for flag, name in (("kubelet-config", "kubelet"), ("beside", "beside"))
        if name in given_as
    ]
    holds(in_process("admit", given_as["pod"], "-m", given_as["machine"], "-o", "json", *more, stdin=text))


@settings(max_examples=60)
@given(mutated(GOOD_PODS, changes=1), st.sampled_from(["json", "yaml", "wide"]))
def test_the_same_input_gives_the_same_bytes(pod: Any, output: str) -> None:
    arguments = ("admit", "-", "-m", "figure-1", "--policy", "best-effort", "--replicas", "2", "-o", output)
    assert in_process(*arguments, stdin=written(pod)) == in_process(*arguments, stdin=written(pod))


@pytest.mark.parametrize("command", ["explain", "compare", "lint"])
@settings(max_examples=40)
@given(pod=mutated(GOOD_PODS), output=st.sampled_from(["table", "json"]))
def test_other_commands_stand_any_manifest(command: str, pod: Any, output: str) -> None:
    flags = () if command == "lint" else ("-m", "figure-1")
    holds(in_process(command, "-", *flags, "-o", output, stdin=written(pod)))


@settings(max_examples=60)
@given(mutated([GOOD_KUBELET]), st.sampled_from(["table", "json"]))
def test_config_check_stands_any_configuration(kubelet: Any, output: str) -> None:
    holds(in_process("config", "check", "-", "-m", "figure-1", "-o", output, stdin=written(kubelet)))


@settings(max_examples=60)
@given(mutated(GOOD_MACHINES), st.sampled_from(["table", "tree", "svg", "json", "yaml"]))
def test_any_machine_can_be_shown_or_is_refused(machine: Any, output: str) -> None:
    holds(in_process("discover", "-m", "-", "-o", output, stdin=written(machine)))
