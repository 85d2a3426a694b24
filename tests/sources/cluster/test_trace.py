"""Traces: their lines, what is wrong with them, synthetic ones, and public ones."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from numalign.errors import InputError
from numalign.model.path import FieldError
from numalign.scheduler.simulate.generator import generate
from numalign.scheduler.simulate.settings import SECOND
from numalign.sources.cluster.public_traces import Columns, read_public
from numalign.sources.cluster.trace import read_arrivals, read_trace

ONE = {"containers": [{"name": "c", "limits": {"cpu": "5", "memory": "1Gi"}}]}
DPDK = {"t": 0, "name": "dpdk", "replicas": 5, "pod": ONE}


def trace(tmp_path: Path, *rows: object) -> str:
    path = tmp_path / "trace.jsonl"
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return str(path)


def test_a_line_is_a_workload(tmp_path: Path) -> None:
    (one,) = read_trace(trace(tmp_path, DPDK))

    assert (one.at, one.name, one.kind, one.replicas, one.duration) == (0, "dpdk", "replicaset", 5, None)
    assert (one.pod.qos, one.pod.namespace) == ("Guaranteed", "default")
    assert one.pod.containers[0].requests == one.pod.containers[0].limits


def test_times_are_exact(tmp_path: Path) -> None:
    (one,) = read_trace(trace(tmp_path, {**DPDK, "t": 0.1, "duration": 0.3, "delete_at": 0.7}))

    assert (one.at, one.duration, one.delete_at) == (100_000, 300_000, 700_000)


def test_a_trace_may_be_packed(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(DPDK).encode()))

    assert [one.name for one in read_trace(str(path))] == ["dpdk"]


def test_a_pod_may_stand_in_a_manifest_beside_the_trace(tmp_path: Path) -> None:
    (tmp_path / "batch.yaml").write_text(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {name: batch}\nspec: {template: {spec: {containers: "
        "[{name: c, image: i, resources: {limits: {cpu: 2, memory: 1Gi}}}]}}}\n"
    )
    row = {"t": 30, "name": "batch", "kind": "job", "duration": 120, "pod_file": "batch.yaml"}

    (one,) = read_trace(trace(tmp_path, row))

    assert (one.kind, one.duration, one.pod.containers[0].name) == ("job", 120 * SECOND, "c")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        pytest.param("{", "trace.jsonl:2: not a JSON object: Expecting property name", id="half a line"),
        pytest.param("[]", "trace.jsonl:2: expected a workload: a JSON object", id="a list"),
        pytest.param({**DPDK, "replica": 2}, 'replica: unknown key; hint: similar: replicas', id="an unknown key"),
        pytest.param({**DPDK, "t": -1}, "t: expected seconds, 0 or more", id="a time before the start"),
        pytest.param({**DPDK, "t": None}, "t: expected seconds, 0 or more", id="no time"),
        pytest.param({**DPDK, "kind": "Job"}, "kind: expected one of pod, replicaset, job", id="a wrong kind"),
        pytest.param({**DPDK, "pod_file": "x"}, "expected either pod or pod_file", id="two pods"),
        pytest.param({**DPDK, "name": "b", "pod": {"containers": [{"name": "c", "requests": {"cpu": "x"}}]}},
                     "trace.jsonl:2: pod: spec.containers[0].resources.requests", id="an amount that is none"),
        pytest.param({"t": 0, "name": "b", "pod_file": "no.yaml"}, "no.yaml", id="a manifest that is not there"),
        pytest.param(DPDK, "duplicate workload default/dpdk; fix: ", id="a name twice"),
        pytest.param("\x00", "trace.jsonl:2: not a JSON object", id="no text"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(row: object, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        read_trace(trace(tmp_path, DPDK, row))

    assert message in str(raised.value)


def test_a_trace_that_is_not_sorted_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="early arrives before the workload on the line above; fix: sort by t"):
        read_trace(trace(tmp_path, {**DPDK, "t": 5}, {**DPDK, "name": "early"}))


ARRIVALS = {
    "workloads": 2000,
    "per_second": 4,
    "duration_s": 100,
    "shapes": [{"name": "small", "pod": ONE, "weight": 3}, {"name": "gang", "pod": ONE, "replicas": 4}],
}


def test_a_synthetic_trace_has_the_rates_it_is_asked_for() -> None:
    made = list(generate(read_arrivals(ARRIVALS, "")))

    assert len(made) == 2000
    assert made[-1].at / SECOND == pytest.approx(500, rel=0.1)
    assert sum(one.name.startswith("small") for one in made) == pytest.approx(1500, rel=0.1)
    assert sum(one.duration or 0 for one in made) / len(made) / SECOND == pytest.approx(100, rel=0.1)
    assert {one.kind for one in made if one.name.startswith("gang")} == {"replicaset"}


def test_the_seed_decides_a_synthetic_trace() -> None:
    same, again, other = (list(generate(read_arrivals(ARRIVALS, "", seed))) for seed in (1, 1, 2))

    assert same == again
    assert same != other


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param({"shapes": []}, "at least one shape", id="no shape"),
        pytest.param({"per_second": 0}, "above 0", id="nothing ever arrives"),
        pytest.param({"rate": 1}, "unknown key", id="an unknown key"),
    ],
)
def test_a_wrong_synthetic_trace_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(FieldError) as raised:
        read_arrivals({**ARRIVALS, **change}, "")

    assert message in raised.value.message


OPENB = """\
name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
pod-b,6000,12288,1,460,,LS,Running,427061,427161,427061
pod-a,11500,16384,1,1000,,LS,Running,427001,,427001
idle,0,0,0,0,,BE,Pending,1,2,
"""
DLRM = """\
instance_sn,role,app_name,cpu_request,cpu_limit,gpu_request,gpu_limit,rdma_request,rdma_limit,memory_request,\
memory_limit,disk_request,disk_limit,max_instance_per_node,creation_time,scheduled_time,deletion_time
instance_7,HN,app_0,12,12,1,1,25,25,120.0,120.0,640.0,640.0,-1,100.0,101.0,700.0
"""


def test_the_trace_of_2023_becomes_guaranteed_pods_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "pods.csv"
    path.write_text(OPENB)

    found = read_public(str(path), "openb")

    assert [(one.name, one.at, one.duration) for one in found.workloads] == [
        ("pod-a", 0, None),
        ("pod-b", 60 * SECOND, 100 * SECOND),
    ]
    asked = found.workloads[0].pod.containers[0].requests
    assert {name: quantity.nano // 10**9 for name, quantity in asked.items()} == {
        "cpu": 12,
        "memory": 16 << 30,
        "nvidia.com/gpu": 1,
    }
    assert [one.code for one in found.notices] == ["trace-made", "trace-made", "trace-passed-over"]


def test_the_trace_of_2025_has_gpus_and_rdma(tmp_path: Path) -> None:
    path = tmp_path / "dlrm.csv"
    path.write_text(DLRM)

    (one,) = read_public(str(path), "dlrm").workloads

    asked = one.pod.containers[0].requests
    assert {name: quantity.nano // 10**9 for name, quantity in asked.items()} == {
        "cpu": 12,
        "memory": 120 << 30,
        "nvidia.com/gpu": 1,
        "rdma/hca": 1,
    }
    assert (one.at, one.duration) == (0, 600 * SECOND)


def test_any_table_is_a_trace_with_a_map_of_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text("id,start,cores,mem,stop,gpus\nj1,5,1500m,2Gi,65,2\n")
    columns = Columns(
        t="start", name="id", cpu="cores", memory="mem", end="stop", devices=(("example.com/gpu", "gpus"),)
    )

    (one,), (note,) = read_public(str(path), "csv", columns)

    assert "each row is a Guaranteed pod with limits equal to requests; the table has no NUMA nodes" in note.message
    assert (one.name, one.at, one.duration) == ("j1", 0, 60 * SECOND)
    assert set(one.pod.containers[0].limits) == {"cpu", "memory", "example.com/gpu"}


def test_a_row_without_a_duration_runs_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text("id,start,cores,mem,secs\nj1,0,1,2Gi,\nj2,0,1,2Gi,5\n")
    columns = Columns(t="start", name="id", cpu="cores", memory="mem", duration="secs")

    assert [one.duration for one in read_public(str(path), "csv", columns).workloads] == [None, 5 * SECOND]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            "name,cpu_milli\na,1000\n", "pods.csv:2: unknown column 'creation_time'", id="a column is missing"
        ),
        pytest.param(
            OPENB.replace("6000", "many"), "pods.csv:2: cpu_milli: expected a number, got 'many'", id="no number"
        ),
        pytest.param(
            OPENB.replace("6000", "nan"), "pods.csv:2: cpu_milli: expected a number from 0 on", id="not a number"
        ),
    ],
)
def test_a_wrong_table_is_told_with_its_line(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "pods.csv"
    path.write_text(text)

    with pytest.raises(InputError) as raised:
        read_public(str(path), "openb")

    assert message in str(raised.value)
