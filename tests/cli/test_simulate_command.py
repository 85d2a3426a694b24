"""`numalign simulate`: same bytes everywhere, what is wrong told with its place, an interrupt that keeps the report."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from numalign.cli import stderr
from tests import copies
from tests.cli.running import ENVIRONMENT, ROOT, Terminal, in_process, numalign

pytestmark = [pytest.mark.usefixtures("imported_once"), copies.TOGETHER]

INPUTS = ("--cluster", "docs/examples/cluster.yaml", "--trace", "docs/examples/trace.jsonl")
SWEEP = ("--sweep", "policy=restricted|none,seed=1..2")
ARRIVALS = """\
workloads: WORKLOADS
per_second: 0.5
duration_s: 50
shapes:
- pod: {containers: [{name: c, limits: {cpu: "1", memory: 1Gi}}]}
"""


@pytest.mark.parametrize(
    "where",
    [
        pytest.param(("--jobs", "2"), id="two processes"),
        pytest.param(("--jobs", "8"), id="eight processes"),
        pytest.param(("--engine", "dask", "--jobs", "2"), id="a Dask cluster of two workers"),
    ],
)
def test_a_sweep_gives_the_same_bytes_everywhere(where: tuple[str, ...]) -> None:
    alone = in_process("simulate", *INPUTS, *SWEEP, "--jobs", "1", "-o", "json")

    assert in_process("simulate", *INPUTS, *SWEEP, *where, "-o", "json") == alone
    assert [run["name"] for run in json.loads(alone.out)["runs"]] == [
        "policy=restricted, seed=1",
        "policy=restricted, seed=2",
        "policy=none, seed=1",
        "policy=none, seed=2",
    ]


def test_three_runs_stand_side_by_side_in_eighty_columns() -> None:
    done = in_process("simulate", *INPUTS, terminal=True, env={"COLUMNS": "80"})
    lines = re.sub(r"\x1b\[[0-9;]*m", "", done.out).splitlines()

    assert max(map(len, lines)) <= 80
    assert "rejected: TopologyAffinityError        117        3        1" in lines  # not folded
    place = lines.index("aware: why attempts found no node, counted by node")
    assert lines[place + 1] == "  4 × cannot align container"


def test_many_runs_stand_below_each_other() -> None:
    """A column a run would leave none of them readable at 80 columns."""
    words = ("simulate", *INPUTS, "--sweep", "policy=restricted|none,seed=1..3", "--jobs", "1")
    written = in_process(*words, terminal=True, env={"COLUMNS": "80"}).out
    screen = re.sub(r"\x1b\[[0-9;]*m", "", written)
    title = next(line for line in screen.splitlines() if line.startswith("RUN "))
    assert {"ADMITTED", "REJECTED"} <= set(title.split())
    assert max(map(len, screen.splitlines())) <= 80
    everything = in_process(*words).out
    assert "AGE OF NRT DATA, 95 %" in everything
    assert all(
        f"policy={policy}, seed={seed} " in everything for policy in ("restricted", "none") for seed in (1, 2, 3)
    )


def test_work_in_several_processes_ends_without_a_word() -> None:
    done = numalign("simulate", *INPUTS, *SWEEP, "--jobs", "2", "-q")
    assert done == (0, "", "")


def test_the_same_seed_gives_the_same_bytes() -> None:
    assert in_process("simulate", *INPUTS, "-o", "html") == in_process("simulate", *INPUTS, "-o", "html")


def test_a_run_that_fails_is_told_and_the_others_stand() -> None:
    done = in_process("simulate", *INPUTS, "--sweep", "scheduler=unaware|nobody", "--jobs", "1", "-o", "json")

    good, bad = json.loads(done.out)["runs"]
    assert good["submitted"] == 5
    assert "scheduler.kind: expected unaware, kep, nrt, kai" in bad["error"]


def test_a_run_that_fails_is_told_beside_a_table_of_pods() -> None:
    done = in_process("simulate", *INPUTS, "--sweep", "scheduler=unaware|nobody", "--jobs", "1", "-o", "csv")

    assert {row["run"] for row in csv.DictReader(io.StringIO(done.out))} == {"scheduler=unaware"}
    assert "scheduler=nobody: failed: " in done.err


def test_a_seed_of_a_sweep_is_the_seed_of_a_run(tmp_path: Path) -> None:
    """It decides the synthetic trace, too."""
    arrivals = tmp_path / "arrivals.yaml"
    arrivals.write_text(ARRIVALS.replace("WORKLOADS", "20"))
    inputs = ("simulate", INPUTS[0], INPUTS[1], "--trace", str(arrivals), "-o", "csv")

    def pods(*words: str) -> list[dict[str, str]]:
        rows = csv.DictReader(io.StringIO(in_process(*inputs, *words).out))
        return [{name: value for name, value in row.items() if name != "run"} for row in rows]

    assert pods("--sweep", "seed=7", "--jobs", "1") == pods("--runs", "aware", "--seed", "7")
    assert pods("--sweep", "seed=7", "--jobs", "1") != pods("--sweep", "seed=8", "--jobs", "1")


def test_a_person_at_a_terminal_sees_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line, cleared again; nobody else sees anything of it."""
    monkeypatch.setattr(stderr, "SECONDS_OF_PATIENCE", 0)
    for seen in (True, False):
        written = io.BytesIO()
        sink = (Terminal if seen else io.TextIOWrapper)(written, encoding="utf-8", write_through=True)
        monkeypatch.setattr(sys, "stderr", sink)

        with stderr.Progress() as progress:
            progress.show("aware", 0.25)
            progress.show("aware", 1)

        cleared = "\r" + " " * len("aware: 100 % …") + "\r"
        assert written.getvalue().decode() == ("\raware: 25 % …\raware: 100 % …" + cleared if seen else "")


def test_csv_has_a_line_a_pod() -> None:
    rows = list(csv.DictReader(io.StringIO(in_process("simulate", *INPUTS, "--runs", "aware", "-o", "csv").out)))

    assert len(rows) == 8
    assert {row["outcome"] for row in rows} == {"running", "TopologyAffinityError", "pending"}


def test_html_loads_nothing_from_elsewhere() -> None:
    page = in_process("simulate", *INPUTS, "-o", "html").out

    assert page.startswith("<!DOCTYPE html>")
    assert page.count('role="img"') == 5
    dashes = re.findall(r'<path d="M0,4 h40"[^>]*stroke-dasharray="([^"]+)"', page)
    assert len(dashes) == len(set(dashes)) == 3
    assert "src=" not in page
    assert "href=" not in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(("--runs", "both"), "--runs: expected some of unaware, aware, instant, got", id="no such run"),
        pytest.param(("--sweep", "colour=red"), "--sweep: expected one of policy, scope,", id="no such setting"),
        pytest.param(("--sweep", "seed="), "--sweep: seed has no value", id="no value"),
        pytest.param(("--sweep", "seed=1.5"), "--sweep: seed: expected whole numbers, got '1.5'", id="half a seed"),
        pytest.param(("--sweep", "seed=1..99999999"), "--sweep: 1..99999999 is too long a range", id="a huge range"),
        pytest.param(("--trace-form", "csv"), "a CSV trace requires --columns", id="no columns"),
        pytest.param(("--columns", "t=a"), "--columns: no column for name, cpu, memory", id="too few columns"),
        pytest.param(("--cluster", "pods/wide.yaml"), "pods/wide.yaml", id="no cluster"),
        pytest.param(("--trace", "nowhere.jsonl"), "nowhere.jsonl: cannot be read", id="no trace"),
    ],
)  # fmt: skip
def test_wrong_input_is_told(arguments: tuple[str, ...], message: str) -> None:
    done = in_process("simulate", *INPUTS, *arguments)

    assert (done.status, done.out) == (2, "")
    assert message in done.err


INTERRUPTED_AT_ITS_100TH_STEP = """
import os, signal
from numalign.__main__ import script
from numalign.scheduler.simulate.engine import Run

whole, steps = Run.step, iter(range(10**9))


def step(run):
    if next(steps) == 100:
        os.killpg(0, signal.SIGINT)
    return whole(run)


Run.step = step
script()
"""


def started(tmp_path: Path, workloads: int, program: Sequence[str], *words: str) -> subprocess.Popen[str]:
    """Start a run as a terminal does: in a group of processes of its own."""
    (tmp_path / "arrivals.yaml").write_text(ARRIVALS.replace("WORKLOADS", str(workloads)))
    cluster = (ROOT / "docs/examples/cluster.yaml").read_text(encoding="utf-8")
    (tmp_path / "cluster.yaml").write_text(cluster.replace("horizon_s: 60", "horizon_s: 100000"))
    inputs = ("--cluster", str(tmp_path / "cluster.yaml"), "--trace", str(tmp_path / "arrivals.yaml"))
    return subprocess.Popen(
        [sys.executable, *program, "simulate", *inputs, *words],
        cwd=ROOT,
        start_new_session=True,
        env={**os.environ, **ENVIRONMENT},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(
    ("words", "line"),
    [
        pytest.param((), "unaware: interrupted: the report ends here (at 35.41 s)", id="side by side"),
        pytest.param(
            ("--sweep", "seed=1..6", "--jobs", "1"), "seed=2: failed: interrupted before it was done", id="a sweep"
        ),
    ],
)
def test_an_interrupt_prints_the_report_so_far(words: tuple[str, ...], line: str, tmp_path: Path) -> None:
    process = started(tmp_path, 200, ("-c", INTERRUPTED_AT_ITS_100TH_STEP), *words)
    out, err = process.communicate(timeout=60)

    assert process.returncode == 130
    assert line in out
    assert err == ""


def workers(process: subprocess.Popen[str]) -> Iterator[int]:
    """Find the processes of a group that an interrupt ends at once: those that work, not those that look after them."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            pid = int(folder.name)
            if os.getpgid(pid) == process.pid != pid:
                found = re.findall(r"Sig(?:Blk|Ign|Cgt):\t(\w+)", (folder / "status").read_text())
                if not any(int(mask, 16) >> (signal.SIGINT - 1) & 1 for mask in found):
                    yield pid


def test_an_interrupt_ends_several_processes_and_prints_the_report_so_far(tmp_path: Path) -> None:
    process = started(tmp_path, 20000, ("-m", "numalign"), "--sweep", "seed=1..6", "--jobs", "2")
    while process.poll() is None and len(list(workers(process))) < 2:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does it
    out, err = process.communicate(timeout=60)

    assert process.returncode == 130
    assert "seed=6: failed: interrupted before it was done" in out
    assert err == ""


def test_volumes_are_named_as_not_checked(tmp_path: Path) -> None:
    containers = [{"name": "c", "image": "x"}]
    spec = {"containers": containers, "volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "db"}}]}
    (tmp_path / "pod.json").write_text(
        json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec})
    )
    trace = tmp_path / "trace.jsonl"
    trace.write_text(json.dumps({"t": 0, "name": "db", "pod_file": "pod.json"}) + "\n")
    done = in_process("simulate", *INPUTS[:2], "--trace", str(trace), "--runs", "aware")
    assert done.status == 0
    assert "not checked: volumes of db" in done.err
