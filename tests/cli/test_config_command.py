"""`numalign config check` and `config suggest` on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from numalign.analysis.config.suggest import suggest
from numalign.analysis.config.system import Facts
from numalign.analysis.config.systems import FORMATS
from numalign.cli import main
from numalign.kubelet.releases import NEWEST
from numalign.sources.kubelet.configuration import load
from numalign.sources.machine import bundled
from numalign.sources.machine.loading import load_machine
from tests.cli.running import in_process
from tests.schemas import strictly

HEADER = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["config", *words])
    printed = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return ended.value.code, printed.out, printed.err


def check_json(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    status, out, _ = run(capsys, "check", "-o", "json", *words)
    return status, json.loads(out)


@pytest.mark.parametrize("name", bundled.names())
def test_a_suggestion_passes_the_check(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "suggest", "-m", name)
    assert status == 0
    path = tmp_path / "kubelet.yaml"
    path.write_text(out)
    status, answer = check_json(capsys, str(path), "-m", name)
    assert (status, answer["starts"], answer["base"], answer["warnings"]) == (0, True, "kubelet", [])


def test_both_ways_to_name_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "kubelet.yaml"
    path.write_text(HEADER + "cpuManagerPolicy: static\n")
    one = check_json(capsys, str(path), "-m", "figure-1")
    assert one == check_json(capsys, "--kubelet-config", str(path), "-m", "figure-1")
    assert one[0] == 4
    status, _, err = run(capsys, "check", str(path), "--kubelet-config", str(path), "-m", "figure-1")
    assert status == 2
    assert "FILE cannot be used with --kubelet-config" in err


def test_what_would_start_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "kubelet.yaml"
    path.write_text(HEADER + "memoryManagerPolicy: Static\nkubeReserved: {memory: 1Gi}\n")
    status, answer = check_json(capsys, str(path), "-m", "figure-1")
    assert status == 4
    assert answer["startError"] == (
        'the total amount "0" of type "memory" is not equal to the value "1124Mi" determined by '
        "Node Allocatable feature"
    )
    assert answer["memory"]["wantedBytes"] == 1124 << 20
    repaired = tmp_path / "repaired.json"
    header = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}
    repaired.write_text(json.dumps({**header, **answer["suggestion"]}))
    assert check_json(capsys, str(repaired), "-m", "figure-1")[0] == 0


def test_table_shows_the_sum(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "kubelet.yaml"
    path.write_text(HEADER + "memoryManagerPolicy: Static\n")
    status, out, _ = run(capsys, "check", str(path), "-m", "figure-1")
    assert status == 4
    assert "evictionHard[memory.available], default  100Mi  104857600" in out
    assert "missing                                  100Mi  104857600" in out


def test_wrong_type_is_status_4_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "kubelet.yaml"
    path.write_text(HEADER + "kubeReserved:\n  cpu: 4\n")
    status, out, err = run(capsys, "check", str(path), "-m", "figure-1")
    assert (status, out) == (4, "")
    assert err == (
        f"error: the kubelet would not start: {path}:4: kubeReserved.cpu: json: cannot unmarshal number into Go "
        "struct field KubeletConfiguration.kubeReserved of type string\n"
    )


def test_ideal_base_waives_the_reservation(capsys: pytest.CaptureFixture[str]) -> None:
    status, answer = check_json(capsys, "-m", "figure-1")
    assert (status, answer["base"]) == (0, "ideal")


def test_suggest_does_not_read_a_configuration(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "suggest", "-m", "figure-1", "--kubelet-config", "x")[0] == 2


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", ["figure-1", "hgx-h100", "xeon-2s-snc4", "gb200"])
def test_a_suggestion_in_any_form_starts_and_is_read_back_equal(
    form: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = run(capsys, "suggest", "-m", name, "-o", form)
    path = tmp_path / "suggested.yaml"
    path.write_text(out)

    assert status == 0
    assert run(capsys, "check", str(path), "-m", name)[0] == 0
    machine = load_machine(name).machine
    facts = Facts(machine.cpus.bit_count(), machine.total_memory or machine.memory, NEWEST)
    config = suggest(machine, {}, system=FORMATS[form], facts=facts).config
    if form != "performanceprofile":  # whose operator adds thresholds
        assert load(str(path), facts=facts).config == config


def test_what_a_form_has_no_setting_for_is_left_out_and_named(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "suggest", "-m", "hgx-h100", "-o", "aks")
    assert json.loads(out) == {"cpuManagerPolicy": "static", "topologyManagerPolicy": "restricted"}
    assert (status, "memoryManagerPolicy" in err, "AKS has no such setting" in err) == (0, True, True)


NODE_CONFIG = """apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  kubelet:
    config:
      cpuManagerPolicy: static
      memoryManagerPolicy: Static
      reservedMemory: [{numaNode: 0, limits: {memory: 1455Mi}}]
"""


@pytest.mark.parametrize(
    ("words", "status", "starts"),
    [
        pytest.param((), 2, None, id="nobody says how many pods"),
        pytest.param(("--instance-type", "p5.48xlarge"), 0, True, id="the instance does"),
        pytest.param(("--max-pods", "100"), 0, True, id="the number is there"),
        pytest.param(("--max-pods", "101"), 4, False, id="another number"),
        pytest.param(("--kube-reserved", "memory=1355Mi,cpu=1"), 0, True, id="the reservation is"),
    ],
)
def test_the_verdict_rests_on_what_is_known(
    words: tuple[str, ...], status: int, starts: bool | None, tmp_path: Path
) -> None:
    path = tmp_path / "node.yaml"
    path.write_text(NODE_CONFIG)
    done = in_process("config", "check", path, "-m", "hgx-h100", "-o", "json", *words)
    strictly("config-check-result").validate(done.json)
    assert (done.status, done.json["starts"]) == (status, starts)
    if starts is None:
        assert [one["setting"] for one in done.json["unknown"]] == ["kubeReserved.memory"]
        assert (done.json["steps"], done.json["suggestion"]) == ([], None)
        table = in_process("config", "check", path, "-m", "hgx-h100")
        assert "Unknown whether the kubelet starts: it depends on kubeReserved.memory." in table.out
        admitted = in_process("admit", "pods/limits-only.yaml", "-m", "hgx-h100", "--kubelet-config", path)
        assert (admitted.status, "fix: add --instance-type TYPE or --max-pods N" in admitted.err) == (2, True)


def test_an_unknown_instance_is_wrong_input(tmp_path: Path) -> None:
    path = tmp_path / "node.yaml"
    path.write_text(NODE_CONFIG)
    done = in_process("config", "check", path, "-m", "hgx-h100", "--instance-type", "zz9.large")
    assert (done.status, "--max-pods N" in done.err) == (2, True)


def test_what_is_wrong_for_certain_is_said_beside_the_unknown(tmp_path: Path) -> None:
    path = tmp_path / "node.yaml"
    path.write_text(NODE_CONFIG + "      topologyManagerScope: pods\n")
    done = in_process("config", "check", path, "-m", "hgx-h100", "-o", "json")
    assert (done.status, done.json["starts"], len(done.json["steps"])) == (4, False, 1)


def test_two_cgroups_go_together_with_reserved_cpus(tmp_path: Path) -> None:
    path = tmp_path / "node.yaml"
    path.write_text(NODE_CONFIG.partition("      memoryManager")[0] + "      reservedSystemCPUs: 0-1\n")
    done = in_process("config", "check", path, "-m", "hgx-h100", "-o", "json")
    [step] = done.json["steps"]
    assert (step["change"]["field"], step["change"]["also"]) == ("kubeReservedCgroup", {"systemReservedCgroup": ""})


def test_cpus_are_reserved_by_number_where_names_are_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "group.yaml"
    path.write_text(
        "apiVersion: kops.k8s.io/v1alpha2\nkind: InstanceGroup\nspec: {kubelet: {cpuManagerPolicy: static}}\n"
    )
    done = in_process("config", "check", path, "-m", "hgx-h100", "-o", "json")
    assert [step["change"]["field"] for step in done.json["steps"]] == ["kubeReserved"]


def test_one_of_several_pools_is_named() -> None:
    pools = Path("tests/corpus/kubelet/eksctl-pools.yaml").resolve()
    assert in_process("config", "check", pools, "-m", "hgx-h100", "--pool", "b").status == 0
    wrong = in_process("config", "check", pools, "-m", "hgx-h100", "--pool", "c")
    assert (wrong.status, "allowed: a, b" in wrong.err) == (2, True)


PROFILE = """apiVersion: performance.openshift.io/v2
kind: PerformanceProfile
metadata: {name: p}
spec:
  cpu: {reserved: "0,8", isolated: "1-7,9-15"}
  hugepages: {defaultHugepagesSize: 1G, pages: [{size: 1G, count: 4, node: 1}, {size: 2M, count: 513}]}
  numa: {topologyPolicy: single-numa-node}
"""


def test_huge_pages_of_a_profile_replace_those_of_the_machine(tmp_path: Path) -> None:
    profile, pod = tmp_path / "profile.yaml", tmp_path / "pod.yaml"
    profile.write_text(PROFILE)
    limits = {"cpu": 2, "memory": "1Gi", "hugepages-1Gi": "2Gi"}
    pod.write_text(
        json.dumps(
            {
                "kind": "Pod",
                "metadata": {"name": "p"},
                "spec": {"containers": [{"name": "a", "resources": {"limits": limits}}]},
            }
        )
    )
    machine = "sockets=2,coresPerNumaNode=4,threadsPerCore=2,memoryPerNumaNode=16Gi,hugepagesPerNumaNode.1Gi=8Gi"
    words = ("admit", pod, "--replicas", 4, "-m", machine, "--kubelet-config", profile)

    done = in_process(*words, "-o", "json")
    assert [one["admit"] for one in done.json["pods"]] == [True, True, False, False]
    assert [one["code"] for one in done.json["warnings"] if "pages" in one["message"]] == ["settings-of-the-machine"]
    given = in_process(*words, "--hugepages", "1Gi@0=8Gi", "-o", "json")
    assert [one["admit"] for one in given.json["pods"]] == [True] * 4
    assert [one["code"] for one in given.json["warnings"]] == []


def test_too_many_huge_pages_of_a_profile_are_wrong_input(tmp_path: Path) -> None:
    profile = tmp_path / "profile.yaml"
    profile.write_text(PROFILE.replace("count: 4", "count: 400"))
    done = in_process("config", "check", profile, "-m", "figure-1")
    assert (done.status, "more huge pages than NUMA 1" in done.err) == (2, True)
