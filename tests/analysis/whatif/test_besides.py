"""What is told beside ways out: which other policies refuse a pod, and what mending a device plugin would do."""

from __future__ import annotations

import pytest

from numalign.analysis.refusal import refusal
from numalign.analysis.settings import POLICY
from numalign.analysis.situation import Situation, arrivals
from numalign.analysis.whatif.besides import NoPolicy, Repair, besides, no_policy, repair
from numalign.analysis.whatif.change import Part, WayOut, parts_of
from numalign.analysis.whatif.changes import changes
from numalign.analysis.whatif.tries import Tries
from numalign.kubelet.admission import admit
from numalign.kubelet.releases.table import LATEST
from numalign.kubelet.setup import Setup
from numalign.model.machine import Device
from numalign.model.pod import Pod
from numalign.model.quantity import NANO
from tests.analysis.support import GPU, config, limits, machine, pod, pod_of
from tests.kubelet.regular import regular


def met(policy: str, asked: Pod, *before: Pod) -> Tries:
    situation = Situation(Setup(machine("figure-1"), config(policy), "ideal", LATEST), past=arrivals(before))
    return Tries(situation, admit(situation.session(), asked))


@pytest.mark.parametrize(
    ("policy", "refusing"),
    [
        pytest.param("single-numa-node", ("restricted",), id="single-numa-node: restricted is between"),
        pytest.param("restricted", (), id="restricted: best-effort is the next"),
    ],
)
def test_policies_that_refuse_the_pod_still_are_named(policy: str, refusing: tuple[str, ...]) -> None:
    """Three CPUs fit one node, and two are left on each: only a policy that may spread them admits the pod."""
    tries = met(policy, pod("p", 3), pod("a", 2, gpu=1), pod("b", 2, gpu=1))
    assert not tries.outcome.admit
    [change] = [one for one in changes(tries) if POLICY in one.flags]
    assert (change.flags[POLICY], tuple(change.too_strict)) == ("best-effort", refusing)
    assert no_policy(tries) is None


def test_what_the_node_as_a_whole_lacks_no_policy_gives() -> None:
    tries = met("single-numa-node", pod("p", 3), pod("a", 3), pod("b", 3))
    found = no_policy(tries)
    assert found is not None
    assert found._replace(lax=None) == NoPolicy(others=True)
    assert found.lax is not None


DEVICES = ("gpu", "nic", "ssd")


def test_where_the_kubelet_hangs_with_best_effort_nothing_is_told_of_that() -> None:
    """It merges eight masks of each of four resources now, and 255 of each then: that takes minutes."""
    names = {f"v.com/{name}": tuple([Device(f"{name}{numa}", (numa,)) for numa in range(8)]) for name in DEVICES}
    wide = Setup(regular(8, 2, 1, devices=names), config("single-numa-node"), "ideal")
    past = arrivals([pod_of("there", app={**limits(1), **dict.fromkeys(names, "1")})])
    for asked in (3, 20):
        tries = Tries(Situation(wide, past=past), admit(Situation(wide, past=past).session(), pod("p", asked)))
        assert tries.outcome.before.pods
        assert tries.under({POLICY: "best-effort"}) is None
        assert no_policy(tries) == (None if asked == 3 else NoPolicy(others=True))


WHOLE = machine("figure-1")
ODD = WHOLE._replace(devices={GPU: tuple([one._replace(numa_nodes=(7,)) for one in WHOLE.devices[GPU]])})
SETUP = Setup(ODD, config("single-numa-node"), "ideal")
TOLD = ((GPU, (7,)),)


def mended(situation: Situation, cpus: int = 1) -> Repair | None:
    outcome = admit(situation.session(), pod("p", cpus, gpu=1))
    assert not outcome.admit
    return repair(situation, outcome, refusal(outcome))


def test_a_pod_that_is_admitted_with_plugins_that_name_no_node() -> None:
    assert mended(Situation(SETUP)) == Repair(TOLD, admits=True)


def test_a_pod_that_something_else_refuses_as_well() -> None:
    assert mended(Situation(SETUP, past=arrivals((pod("a", 3), pod("b", 3)))), 2) == Repair(TOLD, admits=False)


def test_on_a_node_in_use_nothing_is_tried_and_nothing_is_claimed() -> None:
    there = Situation(SETUP, past=arrivals((pod("a", 1),))).session()
    assert mended(Situation(SETUP, there=there)) == Repair(TOLD, admits=None)


def test_what_else_refuses_a_pod_is_found_by_the_nearest_change_on_this_machine() -> None:
    """One container asks for nine CPUs of eight, the next one for three GPUs of two: the kubelet meets the first."""
    tries = met("single-numa-node", pod_of("p", one=limits(9), two=limits(1, gpu=3)))
    [cut] = [one for one in changes(tries) if len(one.parts) == 2]
    found = [one.resources for one in besides(tries, [cut])]
    assert found == [(GPU,)]
    alone = cut._replace(flags={POLICY: "none"}, amounts={}, asked={}, parts=cut.parts[:1])
    elsewhere = [
        cut._replace(machine="other"),
        cut._replace(hardware=(("device", f"{GPU}@0=3"),)),
        cut._replace(kept_out=(pod("first", 1),)),
    ]
    for other in elsewhere:
        assert not list(besides(tries, [other]))
        assert [one.resources for one in besides(tries, [other, cut])] == found
    assert [one.resources for one in besides(tries, [alone, *elsewhere, cut])] == found
    assert not list(besides(tries, [alone]))
    assert not list(besides(tries, [alone, cut._replace(flags={POLICY: "none"})]))
    assert not list(besides(tries, [cut._replace(parts=cut.parts[:1])]))
    assert not list(besides(tries, []))


def test_what_a_setting_mends_is_told_where_it_is_not_yet() -> None:
    """Only whole cores of two CPUs are given out: three are refused for ever, and so are nine GPUs."""
    cores = config("restricted", cpu_manager_policy_options={"full-pcpus-only": "true"})
    setup = Setup(regular(2, 4, 2, devices=WHOLE.devices), cores, "ideal", LATEST)
    single = {"cpu-manager-policy-options": "full-pcpus-only=false"}
    for odd, wide, found in (("one", "two", [("two", (GPU,))]), ("two", "one", [("two", ("cpu",))])):
        containers = {odd: limits(3), wide: limits(2, gpu=9)}
        asked = pod_of("p", **{name: containers[name] for name in ("one", "two")})
        tries = Tries(Situation(setup), admit(Situation(setup).session(), asked))
        change = WayOut(flags=single, amounts={(wide, GPU): NANO}, asked={(wide, GPU): 9 * NANO})
        change = change._replace(parts=tuple(Part(one, None) for one in parts_of(change)))
        assert [(one.at, one.resources) for one in besides(tries, [change])] == found


def test_of_a_setting_without_which_the_past_cannot_be_tried_nothing_is_told() -> None:
    tries = met("single-numa-node", pod_of("p", one=limits(9), two=limits(1, gpu=3)))
    impossible = WayOut(flags={POLICY: "no-such-policy"}, amounts={("two", GPU): NANO}, asked={("two", GPU): 3 * NANO})
    change = impossible._replace(parts=tuple(Part(one, None) for one in parts_of(impossible)))
    assert not list(besides(tries, [change]))
