"""`numalign compare`: the table, what it says to programs, exit statuses, and wrong input."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from tests.cli.running import PODS, Done, in_process, numalign, one_line
from tests.schemas import strictly

GPU_POD = PODS / "guaranteed-4cpu-1gpu.yaml"
ANNOUNCEMENT = PODS / "announcement.yaml"
WIDE = PODS / "wide.yaml"
PINNED = ("--memory-manager-policy=Static", "--reserved-memory=0:memory=100Mi", "--system-reserved=memory=100Mi")


def compare(*arguments: str | Path, stdin: bytes = b"") -> Done:
    return in_process("compare", *arguments, stdin=stdin)


def table(done: Done) -> list[list[str]]:
    """Cut the table into cells."""
    lines = done.out.splitlines()
    start = next(number for number, line in enumerate(lines) if "POLICY" in line)
    rows = lines[start : next(number for number, line in enumerate(lines) if line.startswith("* current settings"))]
    starts = [place for place, sign in enumerate(rows[0]) if sign != " " and (place == 0 or rows[0][place - 1] == " ")]
    edges = [0, *starts, None]
    return [[row[one:two].strip() for one, two in pairwise(edges)] for row in rows]


class TestTable:
    def test_every_policy_and_scope_of_a_pod_on_hgx_h100(self) -> None:
        done = numalign("compare", GPU_POD, "-m", "hgx-h100")

        assert done.status == 0
        header, *rows = table(done)
        assert header == ["", "POLICY", "SCOPES", "RESULT", "HINT", "ALIGNED", "COPIES", "THEN", "STRANDED"]
        assert [row[1:3] for row in rows] == [
            ["none", "-"],
            *([policy, "container, pod"] for policy in ("best-effort", "restricted", "single-numa-node")),
        ]
        assert {row[6] for row in rows} == {"8 (4)", "8"}

    def test_the_present_settings_have_a_mark(self) -> None:
        _, *rows = table(compare(GPU_POD, "-m", "hgx-h100", "--policy", "restricted", "--scope", "pod"))

        assert [row[1:3] for row in rows if row[0] == "*"] == [["restricted", "container, pod"]]

    def test_machines_and_options_have_columns_only_where_there_are_several(self) -> None:
        header, *rows = table(compare(GPU_POD, "-m", "dgx-1", "-m", "hgx-h100", "--try-option", "full-pcpus-only"))

        assert header[1:5] == ["MACHINE", "POLICY", "SCOPES", "OPTION"]
        assert [(row[1], row[4]) for row in rows[::4]] == [
            ("dgx-1", "-"),
            ("dgx-1", "full-pcpus-only"),
            ("hgx-h100", "-"),
            ("hgx-h100", "full-pcpus-only"),
        ]

    def test_refusals_and_start_errors_are_told_once_below(self) -> None:
        done = compare(WIDE, "-m", "xeon-2s-snc2", "-m", "sockets=9,coresPerNumaNode=16,memoryPerNumaNode=64Gi")

        assert done.out.count("wide: rejected under") == 1
        started = "The kubelet does not start under best-effort, restricted and single-numa-node on 9-nodes-144-cpus:"
        assert started in done.out
        assert done.out.count("unsupported on machines with more than 8 NUMA Nodes") == 1

    def test_what_a_machine_suggests_has_rows_of_its_own(self) -> None:
        header, *rows = table(compare(GPU_POD, "-m", "gb200"))

        column = header.index("OPTION")
        assert [row[column] for row in rows] == ["-"] * 4 + ["max-allowable-numa-nodes=34"] * 3
        assert "does not start" not in {row[column + 1] for row in rows[4:]}

    def test_two_machines_of_one_name_are_told_apart(self) -> None:
        header, *rows = table(compare(GPU_POD, "-m", "dgx-1", "-m", "dgx-1"))

        assert "MACHINE" not in header
        assert len(rows) == 4

    def test_a_refusal_in_one_scope_alone_names_the_scope(self) -> None:
        resources = {"limits": {"cpu": 3, "memory": "1Mi"}}
        containers = [{"name": name, "image": "i", "resources": resources} for name in ("a", "b")]
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "two"}, "spec": {"containers": containers}}

        done = compare("-", "-m", "figure-1", stdin=json.dumps(pod).encode())

        assert "two: rejected under single-numa-node in scope pod:" in done.out

    def test_a_device_that_a_machine_does_not_have_is_said_loudly(self) -> None:
        done = compare(GPU_POD, "-m", "figure-1")

        assert (
            "*  none              -               admitted without nvidia.com/gpu  -       "
            "no: incomplete  2 (0)   UnexpectedAdmissionError  nothing"
        ) in done.out
        assert (
            "warning: guaranteed-4cpu-1gpu: admitted without nvidia.com/gpu\n"
            "  hint: similar: gpu-vendor.com/gpu\n"
            "  hint: use a machine with nvidia.com/gpu, or add its devices (--device nvidia.com/gpu@NUMA=N)\n"
        ) in done.err

    def test_a_machine_without_the_device_is_not_the_best_one(self) -> None:
        done = compare(PODS / "two-containers-pod-scope.yaml", "-m", "figure-1", "-m", "gb200")

        assert {row[8] for row in table(done)[1:5]} == {"2"}
        assert table(done)[5][8] == "36 (0)"
        assert "\nMost aligned copies: 2, under every policy on figure-1.\n" in done.out

    def test_wide_names_all_resources_and_hints(self) -> None:
        done = compare(GPU_POD, "-m", "hgx-h100", "-o", "wide")

        assert (
            "single-numa-node  container, pod  admitted  NUMA 0  yes      8       "
            "TopologyAffinityError     NUMA 0-1: 96 cpu, 4 mellanox.com/ib, 6 "
            "mellanox.com/sriov_eth each"
        ) in done.out

    def test_pinned_memory_is_stranded_too(self) -> None:
        done = compare(GPU_POD, "-m", "dgx-1", *PINNED)

        assert (
            "Stranded per NUMA node: under none 8 + 40 cpu, 191.9Gi + 256Gi memory, under the "
            "others 24 + 24 cpu, 223.9Gi + 224Gi memory."
        ) in done.out

    def test_markdown_is_a_table_to_paste(self) -> None:
        done = compare(GPU_POD, "-m", "hgx-h100", "-o", "markdown")

        assert ("| \\* | none | - | admitted | - | yes | 8 (4) | UnexpectedAdmissionError | 192 cpu |") in done.out

    def test_an_earlier_kubelet_is_labelled(self) -> None:
        done = compare(GPU_POD, "-m", "hgx-h100", "--kubelet-version", "1.17")

        assert "historical: decisions of kubelet 1.17" in done.out
        assert [row[2] for row in table(done)[1:]] == ["-", "container", "container", "container"]


class TestPrograms:
    @pytest.mark.parametrize(
        "arguments",
        [
            (GPU_POD, "-m", "hgx-h100"),
            (WIDE, "-m", "gb200", "-m", "xeon-2s-snc2", "--try-option", "prefer-closest-numa-nodes"),
            (PODS, "-m", "dgx-1"),
            (GPU_POD, "-m", "dgx-1", "--cpu-manager-policy=none"),
            (GPU_POD, "-m", "dgx-1", *PINNED),
        ],
        ids=["a pod", "start errors", "many pods", "no exclusive CPUs", "pinned memory"],
    )
    def test_json_is_as_described(self, arguments: tuple[str, ...]) -> None:
        done = compare(*arguments, "-o", "json")

        strictly("compare-result").validate(done.json)
        assert done.status == 0

    def test_json_says_what_the_table_says(self) -> None:
        none, *others = compare(GPU_POD, "-m", "hgx-h100", "-o", "json").json["variants"]

        assert (none["present"], none["replicas"], none["alignedReplicas"]) == (True, 8, 4)
        assert none["refusal"]["pod"] == "guaranteed-4cpu-1gpu-copy-9"
        assert [one["cpus"] for one in none["stranded"]] == [80, 112]
        assert {one["alignedReplicas"] for one in others} == {8}

    def test_yaml_is_the_same_data(self) -> None:
        arguments = (GPU_POD, "-m", "dgx-1")

        assert yaml.safe_load(compare(*arguments, "-o", "yaml").out) == compare(*arguments, "-o", "json").json

    def test_quiet_prints_nothing(self) -> None:
        assert compare(GPU_POD, "-m", "dgx-1", "-q", "--need", "all") == (0, "", "")

    def test_pods_that_are_beside_only_under_some_policies_are_a_warning(self) -> None:
        done = compare(GPU_POD, "-m", "xeon-2s-snc2", "--beside", WIDE, "-o", "json")

        assert [one["message"] for one in done.json["warnings"] if one["code"] == "beside-refused"] == [
            "rejected under single-numa-node, so the pod is not on the node"
        ]
        assert "warning: wide: rejected under single-numa-node, so the pod is not on the node" in done.err


class TestStatus:
    @pytest.mark.parametrize(
        ("pod", "machines", "need", "status"),
        [
            (GPU_POD, ["dgx-1"], None, 0),
            (WIDE, ["figure-1"], None, 0),
            (GPU_POD, ["dgx-1"], "all", 0),
            (WIDE, ["xeon-2s-snc2"], "any", 0),
            (WIDE, ["xeon-2s-snc2"], "all", 1),
            (WIDE, ["figure-1"], "any", 1),
            (WIDE, ["figure-1", "hgx-h100"], "any", 0),
            (GPU_POD, ["gb200"], "all", 1),
        ],
        ids=[
            "all admit, nothing needed",
            "none admits, nothing needed",
            "all admit, all needed",
            "some admit, any needed",
            "some admit, all needed",
            "none admits, any needed",
            "one machine admits, any needed",
            "a kubelet that does not start admits nothing",
        ],
    )
    def test_need_makes_the_status_an_answer(
        self, pod: Path, machines: list[str], need: str | None, status: int
    ) -> None:
        flags = [word for machine in machines for word in ("-m", machine)] + (["--need", need] if need else [])

        assert compare(pod, *flags).status == status

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            ((), "no POD given"),
            ((GPU_POD, "-m", "nowhere.yaml"), "nowhere.yaml"),
            ((GPU_POD, "-m", "dgx-1", "-m", "nowhere.yaml"), "nowhere.yaml"),
            ((GPU_POD, "-m", "dgx-1", "--try-option", "full-cpus"), "full-pcpus-only"),
            ((GPU_POD, "-m", "dgx-1", "--need", "some"), "'any', 'all'"),
        ],
        ids=["no pod", "no such machine", "one bad machine", "no such option", "no such need"],
    )
    def test_wrong_input_is_one_line(self, arguments: tuple[str, ...], said: str) -> None:
        done = compare(*arguments)

        assert (done.status, done.out) == (2, "")
        assert said in one_line(done.err)


class TestReleases:
    """What `tests/cli/test_compare_releases.py` states is reached by flags."""

    def test_two_versions_are_an_upgrade(self) -> None:
        done = compare(ANNOUNCEMENT, "-m", "figure-1", "--kubelet-version", "1.23,1.32", "-o", "json")

        assert [one["version"] for one in done.json["versions"]] == ["1.23", "1.32"]


def test_a_machine_with_a_node_of_negative_id_is_compared(tmp_path: Path) -> None:
    nodes = [{"id": -1, "cpus": "0-3", "memory": "8Gi"}, {"id": 0, "cpus": "4-7", "memory": "8Gi"}]
    file = tmp_path / "odd.yaml"
    file.write_text(
        json.dumps({"kind": "Machine", "numaNodes": nodes, "devices": {"v/x": [{"id": "a", "numaNode": 0}]}})
    )

    done = compare(PODS / "limits-only.yaml", "-m", file)

    assert done.status == 0
    assert "the kubelet would crash at the first admission" in done.out
