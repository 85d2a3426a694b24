"""`compare` about history: what it prints is described, wrong input is one clear line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from numalign.cli.commands.compare_history import compare_hints, compare_sets, compare_versions
from numalign.errors import InputError
from numalign.kubelet.releases.table import LATEST, NEWER_CHANGES, kubelet, without
from numalign.render.json.admit import pod_json
from numalign.tasks.admit import admit
from numalign.tasks.hints import EVERY
from numalign.tasks.requests import KubeletRequest, PodsRequest
from numalign.tasks.setup import load_machine, load_pods, load_setup
from tests.schemas import strictly


def printed(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def upgrade(versions: str, *pods: str, settings: dict[str, str] | None = None, output: str = "json") -> int:
    on = load_setup("figure-1", KubeletRequest(settings={"topology-manager-policy": "restricted", **(settings or {})}))
    up = load_pods(PodsRequest(tuple(f"pods/history/{name}.yaml" for name in pods)))
    return compare_versions(versions, [on], up, output, started=False, quiet=False)


RESTRICTED = {"topology-manager-policy": "restricted"}


def report_on(machines: list[str], versions: str, *pods: str) -> int:
    nodes = [load_setup(machine, KubeletRequest(settings=RESTRICTED)) for machine in machines]
    up = load_pods(PodsRequest(tuple(f"pods/{name}.yaml" for name in pods or ("pod-level",))))
    return compare_versions(versions, nodes, up, "json", started=False, quiet=False)


def decided(pod: dict[str, Any]) -> Any:
    """Drop from a pod's JSON what no upgrade changes for it: its QoS class and the words about refused containers."""
    if not pod["admit"]:
        return pod["reason"], pod["message"]
    return [{key: one[key] for key in ("hint", "cpus", "devices", "memory", "alignment")} for one in pod["containers"]]


class TestHints:
    def test_every_combination_is_described(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert compare_hints(EVERY, LATEST, "json", quiet=False) == 0

        found = printed(capsys)
        strictly("hint-comparison").validate(found)
        assert len(found["combinations"]) == 36

    def test_the_version_s_own_policies_stand_beside(self, capsys: pytest.CaptureFixture[str]) -> None:
        compare_hints("11:T / 01:T", kubelet((1, 23)), "json", quiet=False)

        found = printed(capsys)
        verdicts = {one["policy"]: one["admit"] for one in found["combinations"][0]["policies"]}
        assert found["kubeletVersion"] == "1.23"
        assert verdicts["restricted"] is True

    def test_hints_come_from_a_file(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        file = tmp_path / "hints.yaml"
        file.write_text("gpu: [011:T, '110:f']\ncpu: [{numaNodes: [0, 1], preferred: true}]\nnic: null\nfpga: []\n")

        compare_hints(str(file), LATEST, "json", quiet=False)

        found = printed(capsys)
        strictly("hint-comparison").validate(found)
        assert found["numaNodes"] == 3
        assert found["combinations"][0]["providers"] == {
            "gpu": [{"numaNodes": [0, 1], "preferred": True}, {"numaNodes": [1, 2], "preferred": False}],
            "cpu": [{"numaNodes": [0, 1], "preferred": True}],
            "nic": [{"numaNodes": None, "preferred": True}],
            "fpga": [],
        }

    def test_providers_can_have_names(self, capsys: pytest.CaptureFixture[str]) -> None:
        compare_hints("cpu=01:T 11:F / v/gpu=10:T / nic=", LATEST, "json", quiet=False)

        found = printed(capsys)["combinations"][0]
        assert list(found["providers"]) == ["cpu", "v/gpu", "nic"]
        assert found["providers"]["nic"] == []

    def test_the_announcement_s_twelve_rows(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The result of the row where all are {10: True} is a misprint in the announcement."""
        compare_hints("cpu=01:T 10:T 11:F / gpu=01:T 10:T / nic=01:T 10:T", LATEST, "json", quiet=False)

        rows = printed(capsys)["combinations"][0]["crossProduct"]
        assert len(rows) == 12
        merged = [("".join(map(str, row["merged"]["numaNodes"])), row["merged"]["preferred"]) for row in rows]
        assert merged == [
            ("0", True), ("", False), ("", False), ("", False),
            ("", False), ("", False), ("", False), ("1", True),
            ("0", False), ("", False), ("", False), ("1", False),
        ]  # fmt: skip

    def test_quiet_prints_nothing(self, capsys: pytest.CaptureFixture[str]) -> None:
        compare_hints(EVERY, LATEST, "table", quiet=True)

        assert capsys.readouterr().out == ""

    WRONG = (
        ("01:T / 2:F", "--hints: Provider 1: expected a hint like 01:T"),
        ("01:X", "--hints: Provider 0: expected a hint like 01:T"),
        ("0" * 17 + ":T", "--hints: Provider 0: expected a hint like 01:T"),
        ("01:T/10:T", "--hints: Provider 0: expected a hint like 01:T"),
        ("cpu=01:T / cpu=10:T", "--hints: cpu: is given twice"),
        ("nothing.yaml", "nothing.yaml: cannot be read: No such file"),
    )

    @pytest.mark.parametrize(("given", "text"), WRONG, ids=[case[0][:20] for case in WRONG])
    def test_wrong_hints(self, given: str, text: str) -> None:
        with pytest.raises(InputError) as error:
            compare_hints(given, LATEST, "json", quiet=False)
        assert str(error.value).startswith(text)

    FILES = (
        ("a: [01:T, [1]]", "h.yaml:1: a[1]: expected a hint like 01:T"),
        ("a:\n- {numaNodes: [0]}", "h.yaml:2: a[0].preferred: expected true or false"),
        ("a:\n- {numaNodes: [16], preferred: true}", "h.yaml:2: a[0].numaNodes[0]: expected a NUMA node's id"),
        ("a:\n- {numaNode: 1, preferred: true}", "h.yaml:2: a[0].numaNode: "),
        ("- 01:T", "h.yaml:1: expected a mapping: provider to hints"),
        ("{}", "h.yaml:1: expected at least one provider"),
        ("a: []\n---\nb: []", "h.yaml: expected one document, got 2"),
    )

    @pytest.mark.parametrize(("text", "message"), FILES, ids=[case[0] for case in FILES])
    def test_wrong_files(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str) -> None:
        monkeypatch.chdir(tmp_path)
        Path("h.yaml").write_text(text)

        with pytest.raises(InputError) as error:
            compare_hints("h.yaml", LATEST, "json", quiet=False)
        assert str(error.value).startswith(message)


class TestPreferredSets:
    def test_the_ten_pairs_are_described(self, capsys: pytest.CaptureFixture[str]) -> None:
        compare_sets("nvidia.com/gpu=2", load_machine("dgx-1").machine, "json", quiet=False)

        found = printed(capsys)
        strictly("preferred-sets").validate(found)
        assert [one["ids"] for one in found["sets"]][:2] == [["gpu0", "gpu3"], ["gpu0", "gpu4"]]
        assert len(found["sets"]) == 10
        assert found["hints"]["proposal"][-1] == {"numaNodes": [0, 1], "preferred": True}
        assert found["hints"]["kubelet"][-1] == {"numaNodes": [0, 1], "preferred": False}

    def test_no_preference(self, capsys: pytest.CaptureFixture[str]) -> None:
        compare_sets("mellanox.com/ib=2", load_machine("dgx-1").machine, "json", quiet=False)

        found = printed(capsys)
        strictly("preferred-sets").validate(found)
        assert found["sets"] is None
        assert found["hints"]["proposal"] == found["hints"]["kubelet"]

    WRONG = (
        ("nvidia.com/gpu", "--preferred-sets: expected RESOURCE=N"),
        ("nvidia.com/gpu=0", "--preferred-sets: expected RESOURCE=N"),
        ("nvidia.com/gpu=²", "--preferred-sets: expected RESOURCE=N"),
        ("amd.com/gpu=2", "machine dgx-1 has no devices amd.com/gpu; it has mellanox.com/ib, nvidia.com/gpu"),
    )

    @pytest.mark.parametrize(("asked", "text"), WRONG, ids=[case[0] for case in WRONG])
    def test_wrong(self, asked: str, text: str) -> None:
        with pytest.raises(InputError) as error:
            compare_sets(asked, load_machine("dgx-1").machine, "json", quiet=False)
        assert str(error.value).startswith(text)

    def test_a_large_machine_is_refused(self) -> None:
        with pytest.raises(InputError, match="work on machines of up to 16 NUMA nodes"):
            compare_sets("nvidia.com/gpu=2", load_machine("gb200").machine, "json", quiet=False)


class TestVersions:
    def test_an_upgrade_is_described(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert upgrade("1.24,1.23", "wide-cpus", "two-containers") == 1

        found = printed(capsys)
        strictly("upgrade-comparison").validate(found)
        assert [one["version"] for one in found["versions"]] == ["1.23", "1.24"]
        assert [[pod["admit"] for pod in one["pods"]] for one in found["versions"]] == [[True, False], [False, True]]
        assert found["worse"]
        assert [one["worse"] for one in found["pods"]] == [True, False]
        assert [one["topic"] for one in found["differences"] if one["decides"]] == ["preferred hints"]

    def test_a_kubelet_that_does_not_start_is_an_answer(self, capsys: pytest.CaptureFixture[str]) -> None:
        upgrade("1.19,1.20", "wide-cpus", settings={"topology-manager-scope": "pod"})

        found = printed(capsys)
        strictly("upgrade-comparison").validate(found)
        assert found["versions"][0]["startError"] == "kubelet 1.19 has no topologyManagerScope: it came with 1.20"
        assert [one["topic"] for one in found["differences"] if one["decides"]] == ["scope"]

    def test_nothing_changed(self, capsys: pytest.CaptureFixture[str]) -> None:
        upgrade("1.29,1.30", "wide-cpus", output="table")

        text = capsys.readouterr().out
        assert "wide-cpus: the same in both" in text
        assert text.endswith("nothing that numalign replays changed from 1.29 to 1.30\n")

    @pytest.mark.parametrize("versions", ["1.23", "1.23,1.23", "1.16,1.17,1.18"])
    def test_two_versions_are_wanted(self, versions: str) -> None:
        with pytest.raises(InputError, match="expected two different versions"):
            upgrade(versions, "wide-cpus")

    def test_nothing_worse_is_status_zero(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert upgrade("1.31,1.36", "two-containers") == 0

        found = printed(capsys)
        assert not found["worse"]
        assert found["pods"][0]["changes"] == []

    def test_a_lost_pinning_is_worse_and_has_its_cause(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert report_on(["hgx-h100"], "1.32,1.36") == 1

        (pod,) = printed(capsys)["pods"]
        assert pod["changes"][0] == "train: CPUs 0-5,112-117 before, none now"
        assert [(one["since"], one["topic"]) for one in pod["causes"]] == [
            ("1.34", "pinning of pods with pod-level resources")
        ]
        assert "spec.resources" in pod["causes"][0]["remedy"]

    def test_nodes_are_judged_one_by_one(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert report_on(["hgx-h100", "xeon-8s"], "1.32,1.33") == 0
        found = printed(capsys)
        strictly("upgrade-report").validate(found)
        assert [one["machine"] for one in found["nodes"]] == ["hgx-h100", "xeon-8s"]
        assert not found["worse"]

        assert report_on(["hgx-h100", "xeon-8s"], "1.33,1.34") == 1
        assert printed(capsys)["worse"]


class TestEveryLineIsTrue:
    """What the report says of a pod is what both kubelets say when they are asked one by one."""

    @pytest.mark.parametrize("machine", ["hgx-h100", "xeon-4s"])
    @pytest.mark.parametrize("versions", [("1.32", "1.33"), ("1.33", "1.34"), ("1.32", "1.36"), ("1.23", "1.36")])
    def test_against_each_version_alone(
        self, machine: str, versions: tuple[str, str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        names = ("pod-level", "wide", "guaranteed-4cpu-1gpu", "burstable", "sidecar")
        report_on([machine], ",".join(versions), *names)
        found = printed(capsys)

        for said, version in zip(found["versions"], versions, strict=True):
            on = load_setup(machine, KubeletRequest(settings=RESTRICTED, version=version))
            alone = admit(on.setup, load_pods(PodsRequest(tuple(f"pods/{name}.yaml" for name in names))).tried)
            assert said["pods"] == [pod_json(pod) for pod in alone.pods]
        before, after = (one["pods"] for one in found["versions"])
        for old, new, told in zip(before, after, found["pods"], strict=True):
            assert bool(told["changes"]) == (decided(old) != decided(new))

    def test_a_cause_taken_back_alone_takes_the_change_back(self, capsys: pytest.CaptureFixture[str]) -> None:
        report_on(["hgx-h100"], "1.32,1.36")
        found = printed(capsys)
        (cause,) = [one for one in NEWER_CHANGES if one.topic == found["pods"][0]["causes"][0]["topic"]]

        on = load_setup("hgx-h100", KubeletRequest(settings=RESTRICTED)).setup
        back = on._replace(kubelet=without((1, 36), [cause]))
        pods = load_pods(PodsRequest(("pods/pod-level.yaml",))).tried
        assert admit(back, pods).pods[0].containers[0].cpus == "0-5,112-117"
        assert admit(on, pods).pods[0].containers[0].cpus is None
