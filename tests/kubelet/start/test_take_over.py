"""A kubelet that starts where pods run already: what they hold stays theirs where that is possible."""

from __future__ import annotations

import pytest

from numalign.errors import StartError
from numalign.kubelet.admission import Session, admit, open_session
from numalign.kubelet.setup import Setup
from numalign.kubelet.start.take_over import take_over
from numalign.model.machine import Device
from tests.analysis.support import GPU, STATIC, config, limits, machine, pod_of

MACHINE = machine("figure-1")
FIRST = Setup(MACHINE, config("best-effort", **STATIC), "ideal")


def living() -> Session:
    """A pod has ended, so that the one after it lies where it would not lie alone."""
    from numalign.kubelet.admission import end

    session = open_session(FIRST)
    gone = admit(session, pod_of("gone", a=limits(2, "1Gi", gpu=1)))
    stays = admit(gone.then, pod_of("stays", a=limits(2, "1Gi", gpu=1)))
    return end(stays.then, gone.demand.uid)


THERE = living()
[STAYS] = THERE.pods


def cpus(session: Session) -> int | None:
    return session.state.cpu.assigned(STAYS.uid, "a")


def reserving(cpus: str) -> Setup:
    return FIRST._replace(config=config("best-effort", reserved_system_cpus=cpus, **STATIC))


KEPT = [
    ("the same kubelet", FIRST, True),
    ("another policy", FIRST._replace(config=config("restricted", **STATIC)), True),
    ("another scope", FIRST._replace(config=config("best-effort", topology_manager_scope="pod", **STATIC)), True),
    ("other memory", FIRST._replace(config=config("best-effort")), False),
    ("a CPU of nobody's is reserved now", reserving("2"), True),
    ("a CPU that it holds is", reserving("4"), False),
    ("other devices", FIRST._replace(machine=MACHINE._replace(devices={GPU: (Device("x", (0,)),)})), False),
]


@pytest.mark.parametrize(("setup", "kept"), [row[1:] for row in KEPT], ids=[row[0] for row in KEPT])
def test_what_pods_hold_stays_theirs_or_they_come_again(setup: Setup, kept: bool) -> None:
    found = take_over(setup, THERE)

    assert found.pods == THERE.pods
    assert (cpus(found) == cpus(THERE)) is kept
    alone = admit(open_session(setup), STAYS).then
    assert kept or cpus(found) == cpus(alone)


def test_a_kubelet_that_runs_on_is_stopped_by_nothing() -> None:
    """Its CPUs do not add up, which a start would not survive; under other settings the pods come again."""
    device, held, memory = THERE.state.states
    lost = THERE._replace(state=THERE.state._replace(states=(device, held._replace(default=0b1), memory)))
    assert take_over(FIRST, lost).state == lost.state
    anew = take_over(FIRST._replace(config=config("restricted", **STATIC)), lost)
    assert anew.state.cpu.default != 0b1
    assert cpus(anew) is not None


@pytest.mark.parametrize("fit_check", [True, False])
def test_the_fit_check_is_asked_or_not(fit_check: bool) -> None:
    assert (take_over(FIRST, THERE, fit_check=fit_check).view is not None) is fit_check


def test_a_manager_that_is_off_holds_nothing() -> None:
    off = FIRST._replace(config=config("best-effort", cpu_manager_policy="none", **STATIC))
    assert cpus(take_over(off, THERE)) is None


def test_a_kubelet_that_would_not_start_at_all() -> None:
    wrong = FIRST._replace(config=config("odd"))
    with pytest.raises(StartError):
        take_over(wrong, THERE)
