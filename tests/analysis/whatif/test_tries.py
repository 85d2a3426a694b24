"""Other requests and whole changes are tried on the node as it is: in which steps, how far, and what cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.analysis.situation import Situation, arrivals
from numalign.analysis.whatif.change import WayOut
from numalign.analysis.whatif.tries import Requests, Tries, beside, newcomers, steps
from numalign.kubelet.admission import admit
from numalign.kubelet.setup import Setup
from numalign.model.pod import Pod
from numalign.model.quantity import MEBI, NANO
from tests.analysis.support import GPU, PAGES, config, machine, pod, pod_of

CPUS = ("app", "cpu")
CORES: dict[str, Any] = {"cpu_manager_policy_options": {"full-pcpus-only": "true"}}


def situation(policy: str, *before: Pod, on: str = "figure-1", **more: Any) -> Situation:
    return Situation(Setup(machine(on), config(policy, **more), "ideal"), past=arrivals(before))


def met(policy: str, asked: Pod, *before: Pod, **more: Any) -> Tries:
    found = situation(policy, *before, **more)
    return Tries(found, admit(found.session(), asked))


@pytest.mark.parametrize(
    ("settings", "resource", "asked", "step"),
    [
        pytest.param({}, "cpu", 3 * NANO, NANO, id="whole CPUs"),
        pytest.param({}, "cpu", 3 * NANO + 1, NANO // 1000, id="thousandths of a CPU where a part of one is asked"),
        pytest.param(CORES, "cpu", 3 * NANO, 2 * NANO, id="whole cores"),
        pytest.param({}, "memory", 2**30 * NANO, MEBI * NANO, id="MiB of memory"),
        pytest.param({}, PAGES, 2**30 * NANO, 2 * MEBI * NANO, id="whole huge pages"),
        pytest.param({}, GPU, 2 * NANO, NANO, id="devices"),
    ],
)
def test_an_amount_is_cut_in_steps(settings: dict[str, Any], resource: str, asked: int, step: int) -> None:
    session = situation("restricted", on="hgx-h100", **settings).session()
    assert steps(session, {("app", resource): asked}) == {("app", resource): step}


def test_the_most_is_found_between_what_does_and_what_does_not() -> None:
    requests = Requests(situation("single-numa-node").session(), pod("p", 7))
    least = {**requests.asked, CPUS: NANO}
    assert requests.most(least, CPUS, NANO) == 4 * NANO
    assert requests.most(least, CPUS, NANO, high=3) == 2 * NANO


def test_all_is_given_back_where_that_is_admitted() -> None:
    requests = Requests(situation("single-numa-node").session(), pod("p", 4))
    assert requests.most({**requests.asked, CPUS: NANO}, CPUS, NANO) == 4 * NANO
    assert requests.most({**requests.asked, CPUS: NANO}, CPUS, NANO, high=4) == 3 * NANO


def test_whole_cores_are_wanted_where_only_they_are_given_out() -> None:
    session = situation("single-numa-node", on="hgx-h100", **CORES).session()
    assert Requests(session, pod("p", 3)).wanted[CPUS] == 4 * NANO


def test_nothing_is_cut_of_which_nothing_is_asked_nor_of_the_containers_beyond_twelve() -> None:
    asked = pod_of("p", **{f"c{place:02}": {"cpu": "1", "memory": "1n", GPU: "0"} for place in range(14)})
    requests = Requests(situation("none").session(), asked)
    assert list(requests.asked) == [(f"c{place:02}", name) for place in range(12) for name in ("cpu", "memory")]


def test_settings_with_which_the_kubelet_does_not_start_cannot_be_tried() -> None:
    tries = met("single-numa-node", pod("p", 5))
    impossible = WayOut(flags={"topology-manager-policy": "no-such-policy"})
    assert tries.under(impossible.flags) is None
    assert tries.standing(impossible.flags) is None
    assert tries.attempt(impossible) is None
    assert tries.admitted(impossible) is None
    assert tries.beside(dict(impossible.flags)) is None


def test_what_is_tried_is_admitted_or_not() -> None:
    tries = met("single-numa-node", pod("p", 5))
    less, more = (WayOut(amounts={CPUS: count * NANO}, asked={CPUS: 5 * NANO}) for count in (4, 6))
    admitted = tries.admitted(less)
    assert admitted is not None
    assert admitted.admit
    assert tries.admitted(more) is None
    refused = tries.attempt(more)
    assert refused is not None
    assert not refused.admit


def test_as_few_pods_as_it_takes_must_not_come_first() -> None:
    """Refused so far, and admitted under `none`: `wide` takes what the pod needs, `small` does not."""
    wide, small = pod("wide", 5), pod("small", 1, gpu=2)
    tries = met("single-numa-node", pod("p", 5), wide, small)
    session = tries.under({"topology-manager-policy": "none"})
    assert session is not None
    assert newcomers(session, tries.outcome.before) == [wide, small]
    found = beside(session, tries.outcome)
    assert found is not None
    assert (found[0].admit, found[1]) == (True, (wide,))


def test_where_a_pod_that_is_there_would_be_refused_nothing_is_tried() -> None:
    before = situation("none", pod("wide", 5))
    after = situation("single-numa-node", pod("wide", 5)).session()
    assert newcomers(after, before.session()) is None
    assert beside(after, admit(before.session(), pod("p", 9))) is None
