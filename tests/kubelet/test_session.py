"""What a session adds to the managers: warnings, the fit check, evictions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from numalign.analysis.situation import with_amounts
from numalign.errors import StartError
from numalign.kubelet.admission import admit, admits, forecast, forecaster, odd_from_the_start, open_session
from numalign.kubelet.config import IDEAL, KubeletConfig, MemoryReservation
from numalign.kubelet.setup import Setup
from numalign.model.machine import Machine, NUMANode
from numalign.model.pod import Pod
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
