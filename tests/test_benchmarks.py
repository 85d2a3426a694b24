"""The benchmarks run, in a size that takes no time. What they measure is nobody's test."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks import (
    admissions,
    claims,
    cluster,
    cpu,
    merge,
    node,
    releases,
    serve,
    simulate,
    startup,
    timing,
    workloads,
)
from numalign.kubelet.topology import policy as policies
from numalign.kubelet.topology.hints import expand
from numalign.kubelet.topology.merge.lists import numa_info
from tests.conformance.families.merge import decide


@pytest.fixture(autouse=True)
def _a_short_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody reads here how fast this machine is."""
    monkeypatch.setattr(timing, "STEPS", 20_000)


def test_merge() -> None:
    rows = merge.run(seconds=0.001, sizes=(2, 16))

    assert [(row["nodes"], row["resources"]) for row in rows[::3]] == [(n, r) for n in (2, 16) for r in (2, 3, 4)]
    assert {row["cross_product"] for row in rows} == {"measured", "extrapolated"}
    assert all(row["times_faster"] > 0 for row in rows)


def test_claims() -> None:
    rows = claims.run(seconds=0.001, nodes=3, devices=16)

    assert [row["outcome"] for row in rows] == ["allocated", "allocated", "no solution", "-"]


@pytest.mark.parametrize("preferred", [True, False])
def test_the_hint_sets_are_full_and_merge_as_meant(preferred: bool) -> None:
    families = merge.full_hint_sets(3, 3, preferred=preferred)

    best, _ = policies.merge("best-effort", [{"r": family} for family in families], numa_info(range(3)))

    assert best.preferred is preferred
    assert [len(expand(family)) for family in families] == [merge.family_size(family) for family in families]


def test_the_plain_walk_ends_after_the_last_combination() -> None:
    lists = [expand(family) for family in merge.full_hint_sets(2, 2, preferred=True)]

    assert merge.walk(lists, numa_info(range(2)), 1.0)[0] == 9


def test_releases_are_timed_side_by_side() -> None:
    rows = releases.run(1)

    assert [row["kubelet"] for row in rows] == ["1.32", "1.33", "1.34", "1.35", "1.36", "1.37"]
    assert rows[0]["times_1.32"] == 1


@pytest.mark.parametrize("workload", workloads.load("e2e"), ids=lambda workload: str(workload["id"]))
def test_who_is_admitted_in_a_workload(workload: workloads.Workload) -> None:
    _, admits, admitted = admissions.prepare(workload)
    expected = [step["admit"] for step in workload["expectAdmit"] if "admit" in step]

    assert admitted() == expected
    assert admits == len(expected)


@pytest.mark.parametrize(
    "workload",
    [line for line in workloads.load("merge") if "expect" in line],
    ids=lambda workload: str(workload["id"]),
)
def test_the_merge_workloads(workload: workloads.Workload) -> None:
    assert decide(workload) == workload["expect"]


def test_a_variation_is_the_same_every_time_and_another_for_each_seed() -> None:
    line = workloads.load("e2e")[0]

    assert workloads.varied(line, 1) == workloads.varied(line, 1)
    assert workloads.varied(line, 1)["steps"] != workloads.varied(line, 2)["steps"]


def test_a_replayed_file() -> None:
    assert admissions.replayed_per_second(workloads.load("e2e")[0], 1.0, 0.001, jobs=2) > 0


def test_process_times() -> None:
    python = [sys.executable, "-S", "-c", "pass"]

    assert len(timing.process_seconds([python, python], 1)) == 2
    with pytest.raises(RuntimeError, match="status 3"):
        timing.process_seconds([[sys.executable, "-S", "-c", "raise SystemExit(3)"]], 1)


def test_cpu() -> None:
    rows = cpu.run(seconds=0.001)

    assert {row["cpus"] for row in rows} == set(cpu.SHAPES)


def test_startup_times_one_process_of_each() -> None:
    rows = startup.run(runs=1)

    assert [row["command"].split()[1] for row in rows] == ["--version", "admit", "discover"]


def test_the_command_prints_a_table_and_writes_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rows = [{"what": "a", "ratio": 1234.5}, {"what": "bb", "ratio": 0.1234, "more": 2}]
    monkeypatch.setattr(merge, "run", lambda: rows)
    monkeypatch.setattr(sys, "argv", ["benchmarks", "merge", "--json", str(tmp_path / "rows.json")])

    command.main()

    assert capsys.readouterr().out == "merge\nwhat  ratio  more\na     1,234     -\nbb    0.123     2\n\n"
    assert json.loads((tmp_path / "rows.json").read_text()) == {"merge": rows}


def test_an_unknown_name_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks", "speed"])

    with pytest.raises(SystemExit):
        command.main()

    assert "no such benchmark: speed" in capsys.readouterr().err


def test_cluster() -> None:
    rows = cluster.run(nodes=20, pods=100)

    assert [row["what"] for row in rows[:2]] == ["schedule", "capacity"]
    assert rows[0]["nodes"] == 20
    assert 60 <= rows[0]["pods"] <= 100
    assert all(row["seconds"] > 0 for row in rows)


def test_node_times_status_and_verify_on_a_built_node() -> None:
    rows = node.run(runs=1, pods=3, threads=2)

    assert [row["command"] for row in rows] == ["status", "verify"]
    assert {row["threads"] for row in rows} == {6}


def test_simulate_runs_a_trace_a_size_and_sweeps() -> None:
    *sizes, swept = simulate.run(sizes=(2, 4), swept=2, rounds=1, steps=100)

    assert [(row["machines"], row["pods"]) for row in sizes] == [(2, 40), (4, 80)]
    assert swept["sweep"] == "2 runs"
    assert swept["gain_of_2_beside_a_loop"] > 0


def test_serve_times_both_verbs_and_admissions_over_a_pipe() -> None:
    rows = serve.run(nodes=20, calls=2, rounds=1)

    assert [row["what"].split()[0] for row in rows] == ["filter", "prioritize", "--stdio"]
    assert rows[2]["calls"] == 40


@pytest.mark.parametrize(("count", "place"), [(1, 0), (2, 1), (100, 98), (300, 296)])
def test_a_percentile_is_one_of_the_times(count: int, place: int) -> None:
    assert serve.p99([float(number) for number in reversed(range(count))]) == place
