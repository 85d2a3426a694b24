"""Pod-level resources at a node as a whole: what the fit check asks for, and the warning of lost pinning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from numalign.kubelet.admission import Outcome, admit_in_order, open_session
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.releases.table import kubelet
from numalign.kubelet.setup import Setup
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.pod import Pod
from tests.kubelet.regular import GI, regular

NODE = regular(nodes=1, cores=8, memory=16 * GI, hugepages={"2Mi": GI})
SMALL = {"cpu": "1", "memory": "1Gi"}


def pod(own: Mapping[str, str] | None, *, name: str = "p", asks: Mapping[str, str] = SMALL) -> Pod:
    spec: dict[str, Any] = {"containers": [{"name": "c", "resources": {"limits": dict(asks)}}]}
    if own is not None:
        spec["resources"] = {"requests": dict(own), "limits": dict(own)}
    return read_pod({"metadata": {"name": name, "uid": name}, "spec": spec})


def requesting(cpus: str) -> dict[str, Any]:
    return {"name": f"c{cpus}", "resources": {"requests": {"cpu": cpus}}}


def admitted(minor: int, *pods: Pod, gates: Mapping[str, bool] | None = None) -> list[Outcome]:
    config = KubeletConfig("restricted", cpu_manager_policy="static", feature_gates=dict(gates or {}))
    return list(admit_in_order(open_session(Setup(NODE, config, "ideal", kubelet((1, minor)))), pods))


class TestReading:
    """docs/rules/kubelet-versions.md 6.1 and 6.2."""

    def test_a_limit_alone_takes_the_request_of_the_containers(self) -> None:
        manifest = {"resources": {"limits": {"cpu": "8"}}, "containers": [requesting("1"), requesting("2")]}
        (outcome,) = admitted(36, read_pod({"metadata": {"name": "p"}, "spec": manifest}))

        assert outcome.pod.qos == "Burstable"
        assert outcome.pod.level is not None
        assert outcome.pod.level.requests["cpu"].int64 == 3
        assert outcome.pod.level.limits["cpu"].int64 == 8

    @pytest.mark.parametrize(("minor", "qos"), [(33, "Guaranteed"), (34, "BestEffort"), (36, "BestEffort")])
    def test_no_resources_at_all_still_decide_the_class(self, minor: int, qos: str) -> None:
        assert [one.pod.qos for one in admitted(minor, pod({}))] == [qos]


class TestFit:
    def test_the_pod_s_own_request_counts_not_the_sum_of_its_containers(self) -> None:
        own = pod({"cpu": "64", "memory": "1Gi"})

        assert [one.reason for one in admitted(36, own)] == ["OutOfcpu"]
        assert [one.admit for one in admitted(33, own)] == [True], "the gate is off: nobody looks at it"

    def test_it_counts_as_used(self) -> None:
        first, second = admitted(36, pod({"cpu": "12", "memory": "2Gi"}), pod(None, name="q", asks={"cpu": "5"}))

        assert first.admit
        assert (second.reason, second.message) == (
            "OutOfcpu",
            "Node didn't have enough resource: cpu, requested: 5000, used: 12000, capacity: 16000",
        )

    @pytest.mark.parametrize(("minor", "fits"), [(32, True), (33, False)])
    def test_huge_pages_of_the_pod_are_its_own_since_133(self, minor: int, fits: bool) -> None:
        own = pod({**SMALL, "hugepages-2Mi": "2Gi"})

        (outcome,) = admitted(minor, own, gates={"PodLevelResources": True})
        assert outcome.admit is fits


class TestWarning:
    LOST = (
        (33, {}, False),
        (33, {"PodLevelResources": True}, False),
        (34, {}, True),
        (35, {"PodLevelResources": False}, False),
        (36, {}, True),
        (36, {"PodLevelResources": False, "InPlacePodLevelResourcesVerticalScaling": False}, True),
        (36, {"PodLevelResourceManagers": True}, False),
    )

    @pytest.mark.parametrize(("minor", "gates", "lost"), LOST)
    def test_a_pod_that_loses_its_pinning_is_told(self, minor: int, gates: dict[str, bool], lost: bool) -> None:
        (outcome,) = admitted(minor, pod({"cpu": "2", "memory": "2Gi"}), gates=gates)

        assert outcome.admit
        assert ("pod-level-unpinned" in {notice.code for notice in outcome.notices}) is lost
        assert bool(outcome.after.cpu.assignments) is not lost
