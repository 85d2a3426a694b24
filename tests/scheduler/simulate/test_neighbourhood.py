"""Runs of pods that ask where others are: ports, affinity, spreading (docs/rules/scheduling.md 2.5)."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.model.apiserver.defaulting import read_pod
from numalign.model.pod import Pod
from numalign.model.quantity import parse
from numalign.scheduler.config import ExporterConfig, SchedulerConfig, Timing
from numalign.scheduler.simulate.engine import simulate
from numalign.scheduler.simulate.report import Report, Verdicts
from numalign.scheduler.simulate.settings import SECOND, Simulation, Workload
from tests.scheduler.simulate.test_worked_examples import fleet

HOST = "kubernetes.io/hostname"


def pod(app: str = "", ports: list[dict[str, Any]] | None = None, **spec: Any) -> Pod:
    container = {"name": "c", "resources": {"requests": {"cpu": "1"}}, "ports": ports or []}
    return read_pod({"metadata": {"name": "p", "labels": {"app": app}}, "spec": {"containers": [container], **spec}})


def term(app: str) -> dict[str, Any]:
    return {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": app}}}


def affinity(kind: str, app: str) -> dict[str, Any]:
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term(app)]}}}


PORT = [{"containerPort": 80, "hostPort": 80}]
SPREAD = [{**term("web"), "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}]


def run(*workloads: Workload, sampling: Any = "all") -> Report:
    """Run workloads on three nodes that are told apart by a label."""
    scheduler = SchedulerConfig(kind="unaware", node_sampling=sampling)
    settings = Simulation(fleet("abc", scheduler, ExporterConfig(), Timing(max_failed_pods=50)))
    nodes = tuple(one._replace(labels={HOST: one.name}) for one in settings.fleet.nodes)
    return simulate(settings._replace(fleet=settings.fleet._replace(nodes=nodes)), workloads)


def replicas(wanted: Pod, count: int, name: str = "w", at: int = 0, duration: int | None = None) -> Workload:
    return Workload(at * SECOND, name, wanted, "replicaset", count, duration and duration * SECOND)


def machines(report: Report, name: str = "w") -> list[str]:
    return [row.machine for row in report.pods if row.name.startswith(f"{name}-") and row.machine]


@pytest.mark.parametrize("sampling", ["all", "kube"])
@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (pod(ports=PORT), "node(s) didn't have free ports for the requested pod ports"),
        (pod("web", **affinity("podAntiAffinity", "web")), "node(s) didn't match pod anti-affinity rules"),
    ],
)
def test_each_node_takes_one_and_the_rest_wait(wanted: Pod, message: str, sampling: str) -> None:
    report = run(replicas(wanted, 5), sampling=sampling)

    assert sorted(machines(report)) == ["a", "b", "c"]
    assert (report.admitted, report.rejected) == (3, {})
    assert set(report.messages) == {message}


def test_who_keeps_others_away_is_left_alone() -> None:
    hermit = replicas(pod("db", **affinity("podAntiAffinity", "web")), 1, "db")
    report = run(hermit, replicas(pod("web"), 8, "web", at=1))

    assert set(machines(report, "web")).isdisjoint(machines(report, "db"))
    assert len(machines(report, "web")) == 8


def test_a_pod_waits_for_the_one_it_wants_and_goes_beside_it() -> None:
    report = run(replicas(pod("web", **affinity("podAffinity", "db")), 2, "web"), replicas(pod("db"), 1, "db", at=20))

    assert set(machines(report, "web")) == set(machines(report, "db"))
    assert report.admitted == 3


def test_pods_are_spread_over_the_nodes() -> None:
    report = run(replicas(pod("web", topologySpreadConstraints=SPREAD), 6))

    assert sorted(machines(report)) == ["a", "a", "b", "b", "c", "c"]


def test_a_port_is_free_again_when_its_pod_ends() -> None:
    report = run(replicas(pod(ports=PORT), 3, duration=30), replicas(pod(ports=PORT), 3, "late", at=1))

    assert sorted(machines(report, "late")) == ["a", "b", "c"]
    assert report.rejected == {}


def test_a_pod_with_scheduling_gates_waits_for_good() -> None:
    report = run(replicas(pod(schedulingGates=[{"name": "a.b/wait"}]), 2), replicas(pod(), 1, "free"))

    assert machines(report) == []
    assert machines(report, "free") == ["a"]


def test_an_audit_looks_at_no_machine_that_others_keep_a_pod_from_or_that_is_too_small() -> None:
    """The second pod finds its port taken on one of three machines; the third pod is too large for all."""
    scheduler = SchedulerConfig(kind="unaware")
    settings = Simulation(fleet("abc", scheduler, ExporterConfig(), Timing(horizon_s=60)), audit=3)
    large = pod()._replace(containers=(pod().containers[0]._replace(requests={"cpu": parse("99")}),))

    report = simulate(settings, [replicas(pod(ports=PORT), 2), Workload(SECOND, "large", large)])

    assert report.audited == Verdicts(pass_admit=5)
