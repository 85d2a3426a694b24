"""`compare` of two releases: what it prints is described, wrong input is one clear line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from numalign.cli.commands.compare_releases import compare_releases
from numalign.cli.view import Output
from numalign.errors import InputError
from numalign.kubelet.releases.since_1_33 import NEWER_CHANGES
from numalign.kubelet.releases.table import without
from numalign.render.json.admit import pod_json
from numalign.tasks.admit import admit
from numalign.tasks.loaded_pods import load_pods
from numalign.tasks.requests import KubeletRequest, PodsRequest
from numalign.tasks.setup import load_setup
from tests.schemas import strictly


def printed(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


RESTRICTED = {"topology-manager-policy": "restricted"}


def upgrade(versions: str, *pods: str, settings: dict[str, str] | None = None, output: Output = "json") -> int:
    asked = PodsRequest(tuple(f"pods/history/{name}.yaml" for name in pods))
    kubelet = KubeletRequest(settings={**RESTRICTED, **(settings or {})}, version=versions)
    return compare_releases(asked, ["figure-1"], kubelet, output, quiet=False)


def report_on(machines: list[str], versions: str, *pods: str) -> int:
    asked = PodsRequest(tuple(f"pods/{name}.yaml" for name in pods or ("pod-level",)))
    return compare_releases(asked, machines, KubeletRequest(settings=RESTRICTED, version=versions), "json", quiet=False)


def decided(pod: dict[str, Any]) -> Any:
    """Drop from a pod's JSON what no upgrade changes for it: its QoS class and the words about refused containers."""
    if not pod["admit"]:
        return pod["reason"], pod["message"]
    return [{key: one[key] for key in ("hint", "cpus", "devices", "memory", "alignment")} for one in pod["containers"]]


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

    def test_the_change_of_137_that_decides_is_named(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        whole = tmp_path / "whole.yaml"
        whole.write_text(
            "{apiVersion: v1, kind: Pod, metadata: {name: whole}, spec: {resources: {requests: {cpu: 2, memory: 1Gi}}, "
            "containers: [{name: c, image: x, resources: {limits: {cpu: 2, memory: 1Gi}}}]}}"
        )
        gates = {"feature-gates": "PodLevelResourceManagers=true", "topology-manager-scope": "pod"}
        kubelet = KubeletRequest(settings={**RESTRICTED, **gates}, version="1.36,1.37")
        compare_releases(PodsRequest((str(whole),)), ["figure-1"], kubelet, "json", quiet=False)

        found = printed(capsys)
        strictly("upgrade-comparison").validate(found)
        assert [one["topic"] for one in found["differences"] if one["decides"]] == ["pod-level defaults"]
        assert "published-release" in [one["code"] for one in found["warnings"]]

    def test_a_kubelet_that_does_not_start_is_an_answer(self, capsys: pytest.CaptureFixture[str]) -> None:
        upgrade("1.19,1.20", "wide-cpus", settings={"topology-manager-scope": "pod"})

        found = printed(capsys)
        strictly("upgrade-comparison").validate(found)
        assert found["versions"][0]["startError"] == "kubelet 1.19 has no topologyManagerScope: it came with 1.20"
        assert [one["topic"] for one in found["differences"] if one["decides"]] == ["scope"]

    def test_nothing_changed(self, capsys: pytest.CaptureFixture[str]) -> None:
        upgrade("1.29,1.30", "wide-cpus", output="table")

        text = capsys.readouterr().out
        assert "wide-cpus: same decision" in text
        assert text.endswith("No change that numalign replays from 1.29 to 1.30.\n")

    @pytest.mark.parametrize("versions", ["1.23", "1.23,1.23", "1.16,1.17,1.18"])
    def test_two_versions_are_wanted(self, versions: str) -> None:
        with pytest.raises(InputError, match="expected two different versions"):
            upgrade(versions, "wide-cpus")

    def test_markdown_has_a_table_a_machine(self, capsys: pytest.CaptureFixture[str]) -> None:
        asked = PodsRequest(("pods/pod-level.yaml",))
        kubelet = KubeletRequest(settings=RESTRICTED, version="1.32,1.33")
        compare_releases(asked, ["hgx-h100", "xeon-8s"], kubelet, "markdown", quiet=False)

        text = capsys.readouterr().out
        assert text.count("| KUBELET |") == 2
        assert "\n\nxeon-8s" in text

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


@pytest.mark.parametrize(("versions", "rejected"), [("1.35,1.36", ["big"]), ("1.36,1.37", [])])
def test_running_pods_that_the_restart_of_an_upgrade_rejects_make_it_worse(
    versions: str, rejected: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """kubelet-files.md 72: free cores are compared with the whole request, up to 1.36."""
    resources = {"limits": {"cpu": "120", "memory": "1Gi"}}
    spec = {"containers": [{"name": "c", "resources": resources}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "big"}, "spec": spec}
    (tmp_path / "pod.json").write_text(json.dumps(pod))
    settings = {"cpu-manager-policy-options": "full-pcpus-only=true"}
    kubelet = KubeletRequest(settings=settings, version=versions)

    worse = compare_releases(PodsRequest((str(tmp_path / "pod.json"),)), ["xeon-4s"], kubelet, "json", quiet=False)

    found = printed(capsys)
    strictly("upgrade-comparison").validate(found)
    assert [one["name"] for one in found["restart"]["rejected"]] == [f"default/{name}" for name in rejected]
    assert (worse, found["worse"]) == (int(bool(rejected)), bool(rejected))
