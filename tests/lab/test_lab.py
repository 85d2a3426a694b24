"""The pure parts of the lab: what it reads of other tools, how it judges, and its table of guests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from numalign.model.cpuset import parse, union
from tests.cli.running import in_process
from tests.lab import boot, judge
from tests.lab.by_hand import DEEDS
from tests.lab.shapes import SHAPES, ByHand, LabPod, Shape
from tests.lab.tools import READERS, Fields, of_allowed, of_discover, of_numactl_show
from tests.sources.host import snapshots

NODES = Path(__file__).parent / "nodes"
"""Snapshots that the guests took behind what was done by hand; `python -m tests.lab --keep DIR` writes new ones."""
CAPTURED = "vm-linux61-40c-6n-sriov"


def ours() -> Fields:
    return of_discover(json.dumps(judge.discovered(snapshots.FOLDER / f"{CAPTURED}.tar.xz")))


@pytest.mark.parametrize("file", ["lstopo.xml", "lscpu.json", "lscpu-p.csv", "numactl-H.txt"])
def test_tools_and_discover_say_the_same_of_a_captured_guest(file: str) -> None:
    text = snapshots.tool_output(CAPTURED, file)
    assert text is not None
    theirs = READERS[file][1](text.decode())

    check = judge.compare_fields(file, theirs, ours())

    assert check.fields > 10
    assert check.differences == ()


def test_a_field_that_differs_and_one_that_is_missing_are_told() -> None:
    check = judge.compare_fields("x", {"NUMA 0 CPUs": "0-3", "memory": 5, "core of CPU 0": "0"}, {"memory": 5})

    assert check.fields == 3
    assert [text.partition(":")[0] for text in check.differences] == ["NUMA 0 CPUs", "core of CPU 0"]


def test_answers_are_compared_leaf_by_leaf_but_for_their_source() -> None:
    live = {"source": "here", "containers": [{"cpus": "0", "findings": []}]}
    outside = {"source": "there", "containers": [{"cpus": "1", "findings": [{"code": "intruder"}]}]}

    assert judge.compare("x", live, {**live, "source": "there"}).differences == ()
    assert len(judge.compare("x", live, outside).differences) == 2


def test_limits_of_a_process_have_the_same_names() -> None:
    said = of_numactl_show("policy: default\nphyscpubind: 4 5 7 \ncpubind: 1 \nmembind: 1 \n")

    assert said == {"CPUs": "4-5,7", "NUMA nodes": "1"}
    assert said.items() <= of_allowed({"cpus": "4-5,7", "numaNodes": "1", "cpuQuota": 1.5}).items()


def test_metrics_say_what_the_answer_says() -> None:
    labels = 'namespace="lab",pod="db",container="app"'
    text = f"""# TYPE numalign_container_drifted gauge
numalign_container_drifted{{{labels}}} 1
numalign_container_intruders{{{labels}}} 2
numalign_container_remote_devices{{{labels}}} 0
numalign_container_remote_memory_bytes{{{labels}}} 4096
numalign_container_memory_bytes{{numa_node="0",{labels}}} 4096
"""

    told = judge.metrics("x", verified("drifted", "intruder"), text)

    assert told.fields == 5
    assert told.differences == ("numalign_container_intruders of lab/db: 1, written 2",)


def verified(verdict: str, *codes: str) -> dict[str, Any]:
    findings = [{"code": code, "drift": code != "intruder", "message": ""} for code in codes]
    container = {"pod": "lab/db", "exclusive": True, "memory": {"0": 4096}, "plannedNumaNodes": [1]}
    container |= {"verdict": verdict, "findings": findings}
    return {"containers": [container], "leftOut": [], "hostProcessesAllowed": 1}


FOUND = {
    "what was done": (verified("drifted", "mems-differ"), []),
    "something else": (verified("drifted", "cpuset-differs"), ["db: mems-differ is not", "db: cpuset-differs is"]),
    "too much": (verified("drifted", "mems-differ", "intruder"), ["db: intruder is"]),
    "another verdict": (verified("aligned", "mems-differ"), ["lab/db: aligned, expected drifted"]),
}


@pytest.mark.parametrize("case", FOUND)
def test_each_finding_is_expected_and_no_other(case: str) -> None:
    answer, wrong = FOUND[case]
    shape = SHAPES[0]._replace(pods=(LabPod("db", 2),))

    told = judge.findings("x", shape, answer, [("db", "mems-differ")]).differences

    assert [text.removesuffix(" found") for text in told] == wrong


def test_host_processes_are_counted() -> None:
    answer = verified("aligned") | {"hostProcessesAllowed": 3}
    shape = SHAPES[0]._replace(pods=(LabPod("db", 2),))

    assert judge.findings("x", shape, answer, [], idle=1).differences == ("3 processes of the host are allowed, not 2",)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_of_the_snapshot_of_a_guest_is_told_what_was_done_to_it_and_nothing_else(shape: Shape) -> None:
    """One reading: who ran is not told, but only may run there."""
    done = in_process("verify", "--node", NODES / f"{shape.name}.tar.xz", "-o", "json")
    deeds = [deed for deed in shape.by_hand if not deed.deep and deed.what != "ran"]
    wanted = [(deed.victim or deed.pod, deed.code) for deed in deeds if deed.code]
    idle = sum(deed.what in ("idle", "ran") for deed in shape.by_hand)

    assert judge.findings("x", shape, done.json, wanted, idle).differences == ()


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_a_guest_is_whole(shape: Shape) -> None:
    """Its CPUs are on its NUMA nodes, its distances are a square, and what is done by hand is done to pods of it."""
    cpus = union(parse(node.cpus) for node in shape.numa)
    deeds: tuple[ByHand, ...] = shape.by_hand

    assert cpus == (1 << int(shape.smp.partition(",")[0])) - 1
    assert {len(row) for row in shape.distances} == {len(shape.numa)} == {len(shape.distances)}
    assert {deed.pod for deed in deeds} <= {pod.name for pod in shape.pods}
    assert {deed.what for deed in deeds} <= set(DEEDS)


def test_what_a_run_lacks_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    assert set(boot.missing()) >= {*boot.PROGRAMS.values(), boot.KERNEL}
