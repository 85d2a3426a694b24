"""What a session adds to the managers: warnings, the fit check, evictions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from numalign.analysis.situation import with_amounts
from numalign.errors import Notice, StartError
from numalign.kubelet.admission import (
    admit,
    admit_in_order,
    admits,
    end,
    forecast,
    forecaster,
    odd_from_the_start,
    open_session,
)
from numalign.kubelet.config import IDEAL, KubeletConfig, MemoryReservation
from numalign.kubelet.releases.table import kubelet
from numalign.kubelet.setup import Setup
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.machine import Machine, NUMANode
from numalign.model.pod import Pod, PodLevel
from numalign.model.quantity import parse
from numalign.sources.recorded import scenario
from tests.refusals.survey import scenarios

GIB = 1 << 30


def test_a_node_that_gives_more_than_it_has_is_told() -> None:
    """Huge pages and reservation exceed node 0: the kubelet starts, and the node looks almost infinite."""
    machine = Machine("m", (NUMANode(0, 0b11, GIB, {"1Gi": GIB}), NUMANode(1, 0b1100, 4 * GIB)))
    config = KubeletConfig(
        memory_manager_policy="Static",
        kube_reserved={"memory": "1Gi"},
        eviction_hard={},
        reserved_memory=(MemoryReservation(0, {"memory": "1Gi"}),),
    )

    notices = odd_from_the_start(open_session(Setup(machine, config, "kubelet")))

    assert [notice.code for notice in notices] == ["memory-overdrawn"]
    assert "NUMA 0" in notices[0].message


def test_nothing_is_odd_on_a_plain_node() -> None:
    machine = Machine("m", (NUMANode(0, 0b11, GIB),))

    assert odd_from_the_start(open_session(Setup(machine, IDEAL, "ideal"))) == ()


def _halves(pod: Pod) -> Iterator[Pod]:
    """Give a pod with half of what each container asks for, and without it."""
    asked = {(one.name, name): amount.nano for one in pod.containers for name, amount in one.requests.items()}
    yield with_amounts(pod, {key: nano // 2 for key, nano in asked.items()})
    yield with_amounts(pod, dict.fromkeys(asked, 0))


@pytest.mark.parametrize("fit_check", [True, False], ids=["with the fit check", "managers alone"])
def test_whether_a_pod_is_admitted_is_what_its_admission_says(fit_check: bool) -> None:
    """Every 60th recorded story, each pod on the node as it is and on an empty one."""
    seen = set()
    for data in scenarios(every=60):
        one = scenario.from_data(data)
        try:
            session = open_session(Setup(one.machine, one.config, "kubelet"), fit_check=fit_check)
        except StartError:
            continue
        for step in one.steps:
            if step.pod is None:
                continue
            for there in (session.empty(), session):
                outcome = admit(there, step.pod)
                fits = forecast(there, step.pod)
                assert admits(there, step.pod) == outcome.admit
                ahead = forecaster(there, step.pod)
                for other in (step.pod, *_halves(step.pod)):
                    assert ahead(other) == forecast(there, other)
                    assert admits(there, other, ahead) == admits(there, other)
                assert fits in (None, True) or not outcome.admit
                seen.add((fits, outcome.admit))
            session = outcome.then
    assert seen >= {(True, True), (True, False)}
    assert ((False, False) in seen) == fit_check


def asking(name: str, cpus: str, **more: Any) -> Pod:
    """A burstable pod, or a Guaranteed one where limits are told."""
    metadata = {"name": name, "uid": name, "annotations": more.pop("annotations", {})}
    resources = {"requests": {"cpu": cpus}, **more.pop("resources", {})}
    return read_pod({"metadata": metadata, "spec": {"containers": [{"name": "c", "resources": resources}], **more}})


def test_who_takes_the_last_shared_cpu_is_told() -> None:
    """docs/rules/cpu-manager.md 4.6."""
    setup = Setup(Machine("m", (NUMANode(0, 0b11, 4 * GIB),)), IDEAL, "ideal")
    all_of_it = asking("p", "2", resources={"limits": {"cpu": "2", "memory": "1Gi"}})
    text = "container c takes the last shared CPU: kubelet would not restart"
    assert admit(open_session(setup), all_of_it).notices == (Notice("cpu-shared-pool-empty", text, "p"),)


TWO_CPUS = Setup(Machine("m", (NUMANode(0, 0b11, 4 * GIB),)), KubeletConfig(eviction_hard={}), "ideal")
STATIC_POD = {"kubernetes.io/config.source": "file"}


def test_a_pod_that_is_evicted_is_told_and_gone() -> None:
    there = admit(open_session(TWO_CPUS), asking("there", "2")).then
    outcome = admit(there, asking("critical", "1", annotations=STATIC_POD))

    assert (outcome.admit, outcome.stage) == (True, "")
    assert [(one.code, one.message, one.path) for one in outcome.notices] == [
        ("preempted", "there is evicted to admit critical", "critical")
    ]
    assert [one.name for one in outcome.then.pods] == ["critical"]
    assert list(outcome.then.state.pods) == ["critical"]


def test_a_pod_that_does_not_fit_is_collected_and_others_stay() -> None:
    there = admit(open_session(TWO_CPUS), asking("there", "1")).then
    outcome = admit(there, asking("large", "2"))

    assert (outcome.admit, outcome.stage, outcome.reason, outcome.result.admit) == (False, "fit", "OutOfcpu", True)
    assert outcome.message == outcome.fit.message if outcome.fit else False
    assert (outcome.then.state, list(outcome.then.pods)) == (there.state, list(there.pods))
    assert list(outcome.after.pods) == ["there", "large"]


def test_what_was_not_judged_is_told_of_pods_that_fit_and_of_others() -> None:
    for cpus in ("1", "3"):
        outcome = admit(open_session(TWO_CPUS), asking("p", cpus, nodeName="n"))
        assert outcome.admit is (cpus == "1")
        assert [(one.code, one.path) for one in outcome.notices] == [("fit", "p")]


def test_of_a_pod_with_resources_of_its_own_nothing_is_known_ahead() -> None:
    own = asking("own", "1")._replace(level=PodLevel({"cpu": parse("1")}, {}))
    session = open_session(TWO_CPUS._replace(kubelet=kubelet((1, 36))))
    assert forecast(session, own) is None
    assert forecaster(session, own)(own) is None
    assert admits(session, own)
    assert forecast(session, asking("p", "1")) is True
    assert forecast(session, asking("p", "3")) is False
    assert forecast(session._replace(view=None), asking("p", "3")) is True
    assert admits(session, asking("p", "1"))
    assert not admits(session, asking("p", "3"))


def test_an_empty_node_has_no_pods_and_all_that_it_had() -> None:
    fresh = open_session(TWO_CPUS)
    used = admit(fresh, asking("p", "1")).then
    assert used != fresh
    assert used.empty() == fresh


def test_pods_come_in_order_until_the_kubelet_does_not_survive_one() -> None:
    pods = [asking("a", "1"), asking("b", "3"), asking("c", "1")]
    found = list(admit_in_order(open_session(TWO_CPUS), pods))
    assert [one.admit for one in found] == [True, False, True]
    assert [one.name for one in found[-1].then.pods] == ["a", "c"]
    assert [one.name for one in end(found[-1].then, "a").pods] == ["c"]
    assert list(end(found[-1].then, "a").state.pods) == ["c"]
