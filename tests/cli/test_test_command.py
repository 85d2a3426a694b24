"""`numalign test`: what is as expected passes, what is not is told in a clause, a wrong file is wrong input."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.cli.running import ROOT, in_process

BASE = {
    "name": "t",
    "machine": "hgx-h100",
    "pods": [str(ROOT / "docs/examples/gpu-nic.yaml")],
    "kubelet": {"policy": "restricted"},
}


def suite(folder: Path, **test: object) -> str:
    path = folder / "alignment.yaml"
    path.write_text(yaml.safe_dump({"kind": "AlignmentTest", "tests": [{**BASE, **test}]}))
    return str(path)


def test_the_example_holds() -> None:
    assert in_process("test", "docs/examples/alignment.yaml").status == 0


@pytest.mark.parametrize(
    ("test", "problem"),
    [
        pytest.param({"expect": {"admitted": False}}, "1 of 1 pods admitted, expected 0", id="admitted"),
        pytest.param(
            {"replicas": 9, "expect": {"admitted": True}},
            "8 of 9 pods admitted, expected 9 (rank-8: TopologyAffinityError)",
            id="refused",
        ),
        pytest.param({"expect": {"reason": "OutOfcpu"}}, "no pod is rejected", id="no reason"),
        pytest.param(
            {"replicas": 9, "expect": {"reason": "OutOfcpu"}},
            "with TopologyAffinityError, expected OutOfcpu",
            id="reason",
        ),
        pytest.param(
            {"replicas": 9, "expect": {"message": "memory"}},
            "rank-8 is rejected with 'Resources cannot be allocated with Topology locality'",
            id="message",
        ),
        pytest.param({"expect": {"verdict": ["spread", "floating"]}}, "rank is aligned, expected spread", id="verdict"),
        pytest.param({"expect": {"cpus": {"train": "0-11"}}}, "train has CPUs 0-5,112-117, expected 0-11", id="cpus"),
        pytest.param(
            {"expect": {"cpus": {"x": "0"}}}, "no container x in the first pod, or the pod is rejected", id="container"
        ),
        pytest.param({"expect": {"cpus": {"train": "a"}}}, "cpus of train: ", id="no CPU list"),
        pytest.param({"expect": {"startError": "x"}}, "the kubelet would start", id="starts"),
        pytest.param(
            {"kubelet": {"memory-manager-policy": "Static"}, "expect": {"admitted": True}},
            "the kubelet would not start",
            id="does not start",
        ),
        pytest.param(
            {"kubelet": {"memory-manager-policy": "Static"}, "expect": {"startError": "banana"}},
            "the kubelet would not start, but says",
            id="other words",
        ),
    ],
)
def test_what_is_not_as_expected_is_told(test: dict[str, object], problem: str, tmp_path: Path) -> None:
    done = in_process("test", suite(tmp_path, **test), "-o", "json")

    assert done.status == 1, done.err
    assert problem in done.json["tests"][0]["problems"][0]


def test_every_machine_and_every_setting_is_tried(tmp_path: Path) -> None:
    kubelets = [{"policy": policy} for policy in ("restricted", "none")]
    path = suite(tmp_path, machines=["hgx-h100", "figure-1"], kubelets=kubelets, expect={"admitted": True})

    tried = [(one["machine"], one["kubelet"]) for one in in_process("test", path, "-o", "json").json["tests"]]

    assert tried == [
        ("hgx-h100", "policy restricted"),
        ("hgx-h100", "policy none"),
        ("figure-1", "policy restricted"),
        ("figure-1", "policy none"),
    ]


@pytest.mark.parametrize(
    ("test", "message"),
    [
        pytest.param({"expect": {}}, "no expectation\nallowed: admitted", id="no expectation"),
        pytest.param({"expect": {"verdict": "good"}}, "expected aligned, spread", id="no verdict"),
        pytest.param({"expect": {"admitted": "some"}}, "true, false or a number of pods", id="no number"),
        pytest.param({"expects": {}}, "similar: expect", id="an unknown key"),
        pytest.param(
            {"expect": {"admitted": 1}, "kubelet": {"version": 1.36}}, 'a version as text, "1.36"', id="version"
        ),
        pytest.param({"expect": {"admitted": 1}, "pods": ["no.yaml"]}, "no.yaml", id="no such pod"),
        pytest.param({"expect": {"admitted": 1}, "machine": "no"}, "no", id="no such machine"),
    ],
)
def test_a_wrong_file_is_wrong_input(test: dict[str, object], message: str, tmp_path: Path) -> None:
    done = in_process("test", suite(tmp_path, **test))

    assert done.status == 2, done.out
    assert message in done.err


def test_an_empty_file_is_no_passed_suite(tmp_path: Path) -> None:
    path = tmp_path / "empty.yaml"
    path.write_text("# nothing\n")
    for name in (path, tmp_path):
        done = in_process("test", name)
        assert (done.status, done.out) == (2, "")


def test_build_servers_learn_file_and_line(tmp_path: Path) -> None:
    path = suite(tmp_path, expect={"admitted": False})

    assert in_process("test", path, "-o", "github").out.startswith(f"::error file={path},line=3,title=NotAsExpected::t")
