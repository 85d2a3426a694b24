"""Pod-level resources at a node as a whole: what the fit check asks for, and the warning of lost pinning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from numalign.analysis.node.state import state_findings
from numalign.errors import Notice
from numalign.kubelet.admission import Outcome, Session, admit, admit_in_order, open_session
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.cpu.checkpoint import CPUCheckpoint, sealed, write
from numalign.kubelet.demand import read_demand
from numalign.kubelet.pod_level import as_a_whole, complete_in_1_33, names_cpu_or_memory
from numalign.kubelet.releases.table import kubelet
from numalign.kubelet.setup import Setup
from numalign.kubelet.start.restore import StateFiles, as_written, restore_cpu
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.cpuset import format_set
from numalign.model.pod import Pod, PodLevel
from numalign.model.quantity import parse
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

    @pytest.mark.parametrize("minor", [36, 37])
    def test_a_limit_alone_takes_the_request_of_the_containers(self, minor: int) -> None:
        manifest = {"resources": {"limits": {"cpu": "8"}}, "containers": [requesting("1"), requesting("2")]}
        (outcome,) = admitted(minor, read_pod({"metadata": {"name": "p"}, "spec": manifest}))

        assert outcome.pod.qos == "Burstable"
        assert outcome.pod.level is not None
        assert outcome.pod.level.requests["cpu"].int64 == 3
        assert outcome.pod.level.limits["cpu"].int64 == 8

    @pytest.mark.parametrize(
        ("minor", "qos"), [(33, "Guaranteed"), (34, "BestEffort"), (36, "BestEffort"), (37, "Guaranteed")]
    )
    def test_no_resources_at_all_still_decide_the_class(self, minor: int, qos: str) -> None:
        (outcome,) = admitted(minor, pod({}))
        assert (outcome.pod.qos, outcome.pod.level or PodLevel()) == (qos, PodLevel())

    @pytest.mark.parametrize(("minor", "qos"), [(36, "Burstable"), (37, "Guaranteed")])
    def test_requests_alone_become_limits_since_137(self, minor: int, qos: str) -> None:
        """docs/rules/kubelet-1.37.md 4.2."""
        manifest = {"resources": {"requests": SMALL}, "containers": [{"name": "c", "resources": {"limits": SMALL}}]}
        (outcome,) = admitted(minor, read_pod({"metadata": {"name": "p"}, "spec": manifest}))

        assert outcome.pod.qos == qos

    def test_requests_are_filled_in_without_limits_since_137(self) -> None:
        manifest = {
            "resources": {"requests": {"cpu": "4"}},
            "containers": [{"name": "c", "resources": {"limits": SMALL}}],
        }
        (outcome,) = admitted(37, read_pod({"metadata": {"name": "p"}, "spec": manifest}))

        assert outcome.pod.level is not None
        assert outcome.pod.level.requests.keys() == {"cpu", "memory"}

    @pytest.mark.parametrize(("own", "limit"), [("2", 3), ("3", 3), ("4", 4)])
    def test_a_limit_is_at_least_the_request(self, own: str, limit: int) -> None:
        """docs/rules/kubelet-1.37.md 4.2: what the containers may have together, or more."""
        limited = {"name": "c", "resources": {"limits": {"cpu": "3"}, "requests": {"cpu": "1"}}}
        manifest = {"resources": {"requests": {"cpu": own}}, "containers": [limited]}
        (outcome,) = admitted(37, read_pod({"metadata": {"name": "p"}, "spec": manifest}))

        assert outcome.pod.level is not None
        assert outcome.pod.level.limits["cpu"].int64 == limit

    def test_a_limit_needs_one_in_every_container(self) -> None:
        limited = {"name": "c", "resources": {"limits": {"cpu": "2"}}}
        manifest = {"resources": {"requests": {"cpu": "4"}}, "containers": [limited, requesting("1")]}
        (outcome,) = admitted(37, read_pod({"metadata": {"name": "p"}, "spec": manifest}))

        assert outcome.pod.level is not None
        assert not outcome.pod.level.limits

    @pytest.mark.parametrize("minor", [36, 37])
    def test_a_pod_of_the_api_has_its_defaults(self, minor: int) -> None:
        metadata = {"name": "p", "creationTimestamp": "2026-09-01T00:00:00Z"}
        manifest = {
            "resources": {"limits": {"cpu": "4"}},
            "containers": [{"name": "c", "resources": {"limits": SMALL}}],
        }
        (outcome,) = admitted(minor, read_pod({"metadata": metadata, "spec": manifest}))

        assert outcome.pod.level is not None
        assert not outcome.pod.level.requests


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

        text = f"kubelet 1.{minor} pins no CPUs and no memory of a pod with spec.resources"
        told = [notice for notice in outcome.notices if notice.code == "pod-level-unpinned"]
        assert outcome.admit
        assert told == ([Notice("pod-level-unpinned", text, "p")] if lost else [])
        assert bool(outcome.after.cpu.assignments) is not lost


class TestLostCPUs:
    """docs/rules/cpu-manager.md 15.6 items 7 and 8."""

    def opened(self) -> Session:
        config = KubeletConfig(
            "restricted",
            topology_manager_scope="pod",
            cpu_manager_policy="static",
            feature_gates={"PodLevelResourceManagers": True},
        )
        return open_session(Setup(NODE, config, "ideal", kubelet((1, 36))), fit_check=False)

    def undivided(self) -> Pod:
        """An init container asks for more than the pod has."""
        limits = [{"limits": {"cpu": cpus, "memory": "1Gi"}} for cpus in ("6", "2")]
        containers = [{"name": f"c{place}", "resources": one} for place, one in enumerate(limits)]
        own = {"cpu": "4", "memory": "2Gi"}
        spec = {
            "resources": {"requests": own, "limits": own},
            "initContainers": containers[:1],
            "containers": containers[1:],
        }
        return read_pod({"metadata": {"name": "p", "uid": "p"}, "spec": spec})

    def test_cpus_that_cannot_be_divided_are_never_given_back(self) -> None:
        outcome = admit(self.opened(), self.undivided())
        then = outcome.then.state.cpu

        assert (outcome.stage, outcome.reason) == ("allocate", "UnexpectedAdmissionError")
        assert "not enough cpus available" in outcome.message
        assert then.pods["p"].bit_count() == 4
        assert not then.assignments
        assert then.default.bit_count() == 16 - 4

    def test_a_file_with_such_cpus_is_taken_and_they_are_told(self) -> None:
        session = admit(self.opened(), self.undivided()).then
        cpus = session.state.cpu
        (lost,) = cpus.pods.values()
        file = CPUCheckpoint("with podEntries", "static", format_set(cpus.default), pod_entries={"p": lost})
        files = StateFiles(cpu=write(sealed(file)))

        assert restore_cpu(session.node, files.cpu).pods == {"p": lost}
        written = as_written(session.node, files)
        told = [one.code for one in state_findings(session.node, written, files, None, str, "/k")]
        assert told == ["cpu-lost"]


@pytest.mark.parametrize(("name", "named"), [("cpu", True), ("memory", True), ("hugepages-2Mi", False)])
def test_what_makes_a_pod_one_with_resources_of_its_own_in_132(name: str, named: bool) -> None:
    level = pod({name: "2Mi"}).level
    assert level is not None
    assert names_cpu_or_memory(level) is named


def test_of_resources_of_its_own_none_is_nothing() -> None:
    """docs/rules/kubelet-versions.md 6.4."""
    asked = pod({"cpu": "2", "memory": "1Gi", "hugepages-2Mi": "0"})
    assert as_a_whole(asked, read_demand(asked)).memory == (("memory", GI),)


@pytest.mark.parametrize(
    ("requests", "limits", "own"),
    [
        ({"cpu": "1", "memory": "1Gi"}, {"cpu": "1", "memory": "1Gi"}, True),
        ({"cpu": "1n", "memory": "1n"}, {"cpu": "1n", "memory": "1n"}, True),
        ({"cpu": "0", "memory": "1Gi"}, {"cpu": "0", "memory": "1Gi"}, False),
        ({"cpu": "1", "memory": "0"}, {"cpu": "1", "memory": "0"}, False),
        ({"cpu": "1", "memory": "1Gi"}, {"cpu": "1", "memory": "2Gi"}, False),
        ({"cpu": "1", "memory": "1Gi"}, {"cpu": "1"}, False),
        ({"memory": "1Gi"}, {"memory": "1Gi"}, False),
    ],
)
def test_amounts_are_a_container_s_own_where_they_are_limited_to_what_it_requests(
    requests: dict[str, str], limits: dict[str, str], own: bool
) -> None:
    """docs/rules/kubelet-versions.md 6.4."""
    spec = {"resources": {"limits": SMALL}, "containers": [{"name": "c", "resources": {"requests": {}}}]}
    asked = read_pod({"metadata": {"name": "p"}, "spec": spec})
    parsed = [{name: parse(text) for name, text in given.items()} for given in (requests, limits)]
    asked = asked._replace(containers=(asked.containers[0]._replace(requests=parsed[0], limits=parsed[1]),))
    demand = read_demand(asked)
    demand = demand._replace(containers=(demand.containers[0]._replace(cpus=1, memory=(("memory", 1),)),))
    [found] = as_a_whole(asked, demand).containers
    assert (found.cpus, found.memory) == ((1, (("memory", 1),)) if own else (0, ()))


@pytest.mark.parametrize(("named", "filled"), [(("limits",), True), (("requests",), True), ((), False)])
def test_huge_pages_are_filled_in_where_a_pod_has_anything_of_its_own(named: tuple[str, ...], filled: bool) -> None:
    """docs/rules/kubelet-versions.md 6.1."""
    limits = {**SMALL, "hugepages-2Mi": "4Mi"}
    spec = {"resources": dict.fromkeys(named, SMALL), "containers": [{"name": "c", "resources": {"limits": limits}}]}
    asked = read_pod({"metadata": {"name": "p"}, "spec": spec})
    assert asked.level is not None
    assert ("hugepages-2Mi" in complete_in_1_33(asked, asked.level).limits) is filled
