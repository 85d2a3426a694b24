"""Explaining very many pods: each is tried under other settings, but nobody's past is replayed from the beginning."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.analysis import situation
from numalign.analysis.situation import Replays, Situation, arrivals
from numalign.errors import CrashError
from numalign.kubelet.config import IDEAL
from numalign.kubelet.setup import Setup
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.pod import Pod
from numalign.tasks.explain import explain
from tests.kubelet.regular import regular


def pods(count: int) -> list[Pod]:
    amounts = {"cpu": "3", "memory": "1Gi"}
    return [
        read_pod(
            {
                "metadata": {"name": f"web-{number}"},
                "spec": {"containers": [{"name": "app", "resources": {"limits": amounts}}]},
            }
        )
        for number in range(count)
    ]


SETUP = Setup(regular(), IDEAL._replace(topology_manager_policy="single-numa-node"), "ideal")


def test_the_work_is_linear_in_the_pods(monkeypatch: pytest.MonkeyPatch) -> None:
    events = 0
    really = situation.played

    def counted(session: Any, past: Any) -> Any:
        nonlocal events
        past = tuple(past)
        events += len(past)
        return really(session, past)

    monkeypatch.setattr(situation, "played", counted)
    counts = []
    for many in (20, 40, 80):
        events = 0
        told = explain(SETUP, pods(many))
        counts.append(events)
        assert sum(not one.pod.admitted for one in told.pods) > many / 2
    assert counts[2] < 3 * counts[1] < 9 * counts[0]


def test_a_longer_past_goes_on_where_the_shorter_ended() -> None:
    replays = Replays()
    events = arrivals(pods(6))
    for past in (events[:2], events[:4], events, events[:1], events[3:]):
        fresh = Situation(SETUP, past=past)
        assert fresh._replace(replays=replays).session() == fresh.session()
    other = Situation(SETUP._replace(config=IDEAL), past=events)
    assert other._replace(replays=replays).session() == other.session()


def test_a_crash_on_the_way_stays_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object) -> Any:
        raise CrashError("web-0", "it would crash")

    events = arrivals(pods(3))
    asked = Situation(SETUP, past=events[:1], replays=Replays())
    with monkeypatch.context() as patched:
        patched.setattr(situation, "played", crash)
        with pytest.raises(CrashError):
            asked.session()
    with pytest.raises(CrashError):
        asked._replace(past=events).session()
