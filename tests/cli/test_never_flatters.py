"""Four answers that are no alignment, in every output: none of them may say yes."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from tests.cli.running import in_process

FOLDER = "tests/golden/admit"
HGX = ("--machine", "hgx-h100")
CASES = {
    "CPUs on one node, GPUs on both": ((f"{FOLDER}/verdict-apart.yaml", *HGX, "--policy", "best-effort"), "spread"),
    "a Burstable pod with GPUs": (
        (f"{FOLDER}/verdict-burstable.yaml", *HGX, "--policy", "single-numa-node"),
        "floating",
    ),
    "kubeadm's configuration: no CPU manager": (
        (f"{FOLDER}/verdict-apart.yaml", *HGX, "--kubelet-config", f"{FOLDER}/verdict-kubeadm.yaml"),
        "floating",
    ),
    "more memory than its nodes have": (
        (f"{FOLDER}/verdict-memory.yaml", *HGX, "--policy", "single-numa-node"),
        "floating",
    ),
}


@pytest.fixture(params=CASES.values(), ids=list(CASES))
def case(request: pytest.FixtureRequest) -> tuple[tuple[str, ...], str]:
    found: tuple[tuple[str, ...], str] = request.param
    return found


@pytest.mark.parametrize("output", ["table", "wide", "html"])
def test_tables(case: tuple[tuple[str, ...], str], output: str) -> None:
    words, verdict = case
    shown = in_process("admit", *words, "-o", output).out
    assert f"no: {verdict}" in shown
    assert "yes, node" not in shown


def test_json_and_the_bar(case: tuple[tuple[str, ...], str]) -> None:
    words, verdict = case
    done = in_process("admit", *words, "-o", "json", "--fail-on", "unaligned")
    (pod,) = done.json["pods"]
    judged = [container for container in pod["containers"] if container["alignment"]["verdict"] != "none"]
    assert [(one["aligned"], one["alignment"]["verdict"]) for one in judged] == [(False, verdict)]
    assert (pod["admit"], done.status) == (True, 1)


def test_explain_and_the_picture(case: tuple[tuple[str, ...], str]) -> None:
    words, verdict = case
    assert f"NOT aligned ({verdict})" in in_process("explain", *words).out
    picture = in_process("admit", *words, "-o", "svg").out
    assert f"NOT aligned ({verdict})" in picture
    assert ": aligned" not in picture


def test_compare(case: tuple[tuple[str, ...], str]) -> None:
    words, verdict = case
    (present,) = [row for row in in_process("compare", *words, "-o", "json").json["variants"] if row["present"]]
    assert (present["aligned"], present["verdict"], present["alignedReplicas"]) == (False, verdict, 0)


def test_checks_of_build_servers(case: tuple[tuple[str, ...], str]) -> None:
    words, _ = case
    junit = ElementTree.fromstring(in_process("admit", *words, "-o", "junit", "--fail-on", "unaligned").out)
    assert len(list(junit.iter("failure"))) == 1
    assert in_process("admit", *words, "-o", "github", "--fail-on", "unaligned").out.startswith("::error ")
    assert in_process("admit", *words, "-o", "github").out.startswith("::warning ")


def test_no_distance_where_cpus_are_shared() -> None:
    for name in ("a Burstable pod with GPUs", "kubeadm's configuration: no CPU manager"):
        words, _ = CASES[name]
        done = in_process("explain", *words, "-o", "json")
        (pod,) = json.loads(done.out)["pods"]
        for placement in pod["placements"]:
            assert placement["distance"] is None
            assert all(resource["distance"] is None for resource in placement["resources"])
