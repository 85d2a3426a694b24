"""What a pod met, replayed: from the start, or from the furthest point that is known."""

from __future__ import annotations

import pytest

from numalign.analysis import situation
from numalign.analysis.situation import Event, Replays, Situation, arrivals
from numalign.errors import CrashError, StartError
from numalign.kubelet import node as twin
from numalign.kubelet.admission import Session
from numalign.kubelet.setup import Setup
from tests.analysis.support import STATIC, config, limits, machine, pod, pod_of

SETUP = Setup(machine("figure-1"), config("best-effort"), "ideal")
OTHER = Setup(machine("figure-1"), config("single-numa-node"), "ideal")
WRONG = Setup(machine("figure-1"), config("nothing"), "ideal")
FIRST, SECOND, THIRD = pod("first"), pod("second", 2), pod("third", 6)
THERE = Situation(SETUP, past=arrivals([pod("before", 3)])).session()
SITUATIONS = [
    Situation(SETUP),
    Situation(SETUP, past=arrivals([FIRST])),
    Situation(SETUP, past=arrivals([FIRST, SECOND])),
    Situation(SETUP, past=arrivals([SECOND, FIRST])),
    Situation(SETUP, past=(*arrivals([FIRST, SECOND]), Event("end", FIRST))),
    Situation(SETUP, past=arrivals([FIRST, SECOND, THIRD])),
    Situation(SETUP, fit_check=False, past=arrivals([FIRST, SECOND])),
    Situation(OTHER, past=arrivals([FIRST, SECOND, THIRD])),
    Situation(SETUP, past=arrivals([FIRST, SECOND]), there=THERE),
]


def told(session: Session) -> tuple[object, ...]:
    return session.state, [one.name for one in session.pods], session.view is None, session.node.policy


def test_what_is_replayed_is_what_came_of_it_from_the_start() -> None:
    replays = Replays()
    for one in (*SITUATIONS, *SITUATIONS[::-1]):
        assert told(one._replace(replays=replays).session()) == told(one.session())


def test_only_what_is_new_happens_again(monkeypatch: pytest.MonkeyPatch) -> None:
    came: list[str] = []
    admit = situation.admit

    def noted(session: Session, one: situation.Pod) -> situation.Outcome:
        came.append(one.name)
        return admit(session, one)

    monkeypatch.setattr(situation, "admit", noted)
    replays = Replays()

    def newly(*pods: situation.Pod) -> list[str]:
        came.clear()
        Situation(SETUP, past=arrivals(pods), replays=replays).session()
        return [*came]

    assert newly(FIRST) == ["first"]
    assert newly(FIRST, SECOND, THIRD) == ["second", "third"]
    assert newly(FIRST, SECOND, THIRD) == []
    assert newly(FIRST, THIRD) == ["first", "third"], "nothing is known of less than what happened"
    assert newly(FIRST, SECOND, THIRD) == [], "both are remembered"


def test_a_kubelet_that_does_not_start_does_not_start_again() -> None:
    replays = Replays()
    for past in ((), (), arrivals([FIRST])):
        with pytest.raises(StartError, match="must be one of"):
            Situation(WRONG, past=past, replays=replays).session()
    assert told(Situation(SETUP, replays=replays).session()) == told(Situation(SETUP).session())


def test_containers_start_and_pods_end() -> None:
    one = pod_of("p", init=limits(2, "2Gi"), app=limits(1, "1Gi"))
    setup = Setup(machine("figure-1"), config("best-effort", **STATIC), "ideal")
    came = Situation(setup, past=arrivals([one])).session()
    started = Situation(setup, past=arrivals([one], started=True)).session()

    assert came.state != started.state == twin.start_containers(came.node, came.state, one.uid).state
    ended = Situation(setup, past=(*arrivals([one]), Event("end", one))).session()
    assert (list(ended.pods), ended.state.pods) == ([], {})


def test_a_kubelet_that_does_not_survive_a_pod_has_no_situation_after_it() -> None:
    one, other = machine("figure-1").numa_nodes
    uneven = machine("figure-1")._replace(numa_nodes=(one, other._replace(hugepages={})))
    setup = Setup(uneven, config("best-effort", **STATIC), "ideal")
    with pytest.raises(CrashError):
        Situation(setup, past=arrivals([pod("p", pages="2Mi")])).session()
