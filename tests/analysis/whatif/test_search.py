"""A change is made small by one order of costs: each part is needed and says why; what another does is no news."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from numalign.analysis.reasons.refusal import in_short
from numalign.analysis.situation import Event, Situation, arrivals
from numalign.analysis.whatif.change import Key, Part, WayOut, covers
from numalign.analysis.whatif.reasons import reasons
from numalign.analysis.whatif.search import cut_now, setting_and_cut, single_requests, two_settings
from numalign.analysis.whatif.shrink import dropped, shrunk
from numalign.analysis.whatif.tries import Tries
from numalign.kubelet.admission import admit
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.setup import Setup
from numalign.model.pod import Pod
from numalign.model.quantity import MEBI, NANO
from numalign.render.text.words import words
from tests.analysis.support import GPU, config, limits, machine, pod, pod_of
from tests.kubelet.regular import regular

BOTH = {("app", "cpu"): 4 * 10**9, ("app", GPU): 10**9}


def met(asked: Pod, *before: Pod, policy: str = "single-numa-node", machine_of: str = "figure-1", **more: Any) -> Tries:
    setup = Setup(machine(machine_of), config(policy, **more), "ideal")
    situation = Situation(setup, past=arrivals(before))
    return Tries(situation, admit(situation.session(), asked))


def combination(**parts: Any) -> WayOut:
    asked = {("app", "cpu"): 5 * 10**9, ("app", GPU): 2 * 10**9}
    return WayOut(True, asked=asked, **parts)


def test_each_part_of_a_combination_says_how_it_is_refused_without_it() -> None:
    found = next(reasons(met(pod("p", 5, gpu=2)), [combination(amounts=BOTH)]))
    told = {
        next(iter(part.change.amounts)): list(map(words, in_short(part.otherwise)))
        for part in found.parts
        if part.otherwise
    }
    assert told == {
        ("app", "cpu"): ["5 CPUs need 2 NUMA nodes: each has at most 4. single-numa-node allows 1."],
        ("app", GPU): [f"2 {GPU} need 2 NUMA nodes: each has at most 1. single-numa-node allows 1."],
    }


def test_of_a_setting_without_which_the_kubelet_does_not_start_nothing_more_is_told() -> None:
    """A static CPU Manager needs a reservation; that alone is nothing to a pod of more CPUs than there are."""
    situation = Situation(Setup(machine("figure-1"), KubeletConfig(), "kubelet"))
    tries = Tries(situation, admit(situation.session(), pod("p", 9)))
    change = WayOut(flags={"cpu-manager-policy": "static", "reserved-system-cpus": "0"})
    static, reserved = next(reasons(tries, [change._replace(tried=tries.attempt(change))])).parts
    assert static.otherwise is not None
    assert reserved == Part(WayOut(flags={"reserved-system-cpus": "0"}), None)


def test_a_part_that_is_not_needed_is_left_out() -> None:
    other = pod("other", 1)
    found = dropped(met(pod("p", 5, gpu=2), other), combination(amounts=BOTH, pods=(other,)))
    assert (found.pods, found.amounts) == ((), BOTH)


def test_what_is_left_of_a_combination_is_of_its_own_kind() -> None:
    found = dropped(met(pod("p", 5, gpu=1)), combination(amounts=BOTH))
    assert (found.kind, found.amounts) == ("request", {("app", "cpu"): 4 * 10**9})


@pytest.mark.parametrize(
    ("change", "other", "expected"),
    [
        pytest.param({"amounts": BOTH}, {"amounts": {("app", "cpu"): 4 * 10**9}}, True, id="one cut of two"),
        pytest.param({"amounts": BOTH}, {"amounts": {("app", "cpu"): 3 * 10**9}}, False, id="a larger cut"),
        pytest.param({"amounts": BOTH}, {"flags": {"a": "b"}}, False, id="something else"),
        pytest.param({"flags": {"a": "b"}, "amounts": BOTH}, {"flags": {"a": "b"}}, True, id="the setting alone"),
    ],
)
def test_a_change_covers_another(change: dict[str, Any], other: dict[str, Any], expected: bool) -> None:
    assert covers(combination(**change), combination(**other)) is expected


def test_a_change_that_aligns_covers_none_that_does_not() -> None:
    assert not covers(combination(amounts=BOTH), combination(amounts=BOTH)._replace(aligned=False))


def test_a_cut_ends_at_the_largest_amount_although_smaller_ones_are_refused() -> None:
    """Under `restricted` eight CPUs take both nodes: so do two GPUs, one lies on one node and does not fit."""
    tries = met(pod("p", 8, gpu=3), policy="restricted")
    found = [way.amounts for way in single_requests(tries)]
    assert found == [{("app", GPU): 2 * 10**9}]


def test_a_request_is_cut_as_little_as_it_takes() -> None:
    [cut] = single_requests(met(pod("p", 7)))
    assert (cut.kind, cut.amounts, cut.asked) == ("request", {("app", "cpu"): 4 * 10**9}, {("app", "cpu"): 7 * 10**9})


def test_whole_cores_above_and_below_stand_beside_each_other() -> None:
    tries = met(pod("p", 3), machine_of="hgx-h100", cpu_manager_policy_options={"full-pcpus-only": "true"})
    assert [way.amounts[("app", "cpu")] // 10**9 for way in single_requests(tries)] == [4, 2]


def test_several_cuts_cost_less_than_with_any_of_them_a_step_larger() -> None:
    """Each cut of the cheapest set is at its limit: one step more, all else the same, is refused."""
    tries = met(pod_of("p", one=limits(5, gpu=1), two=limits(6, gpu=2)))
    found = min(cut_now(tries.requests), key=lambda way: way.cost)
    assert len(found.amounts) > 1
    assert tries.admitted(found) is not None
    for key, nano in found.amounts.items():
        assert tries.admitted(found._replace(amounts={**found.amounts, key: nano + 10**9})) is None


def test_what_is_shrunk_has_no_edit_that_can_be_dropped_or_weakened() -> None:
    other = pod("other", 1)
    least = combination(amounts={("app", "cpu"): 10**9, ("app", GPU): 10**9}, pods=(other,))
    found = shrunk(met(pod("p", 5, gpu=2), other), least)
    assert (found.kind, found.pods, found.amounts) == ("combination", (), BOTH)


@pytest.mark.parametrize(
    ("cheaper", "dearer"),
    [
        pytest.param({"pods": 1}, {"pods": 2}, id="one pod to move, and two"),
        pytest.param({"cpu": 3}, {"cpu": 1}, id="a small cut, and a large one"),
        pytest.param({"cpu": 3}, {"cpu": 3, "gpu": 1}, id="one cut, and another with it"),
        pytest.param({"cpu": 2}, {"gpu": 2}, id="half of the CPUs, and half of the GPUs"),
        pytest.param({"gpu": 0}, {"machine": 1}, id="all GPUs, and more hardware"),
        pytest.param({"flags": "restricted"}, {"flags": "none"}, id="the stricter policy, and the laxer"),
        pytest.param({"pods": 1}, {"pods": 1, "remote": True}, id="aligned, and not"),
    ],
)
def test_one_order_of_costs(cheaper: dict[str, Any], dearer: dict[str, Any]) -> None:
    assert costing(**cheaper) < costing(**dearer)


def costing(*, pods: int = 0, flags: str = "", machine: int = 0, remote: bool = False, **amounts: int) -> float:
    """Give what a change costs to a pod of four CPUs and four GPUs."""
    names = {"cpu": "cpu", "gpu": GPU}
    return WayOut(
        not remote,
        pods=tuple([pod(f"p{number}", 1) for number in range(pods)]),
        flags={"topology-manager-policy": flags} if flags else {},
        hardware=(("device", f"{GPU}@0=8"),) if machine else (),
        amounts={("app", names[name]): count * 10**9 for name, count in amounts.items()},
        asked={("app", names[name]): 4 * 10**9 for name in amounts},
    ).cost


POD, OPTION = pod("other", 1), {"cpu-manager-policy-options": "full-pcpus-only=true", "feature-gates": "X=true"}


@pytest.mark.parametrize(
    ("change", "edits", "kind"),
    [
        pytest.param(WayOut(machine="larger"), 1, "machine", id="another machine"),
        pytest.param(WayOut(machine="larger", flags=OPTION), 2, "machine", id="with other settings"),
        pytest.param(WayOut(hardware=(("device", "x@0=8"),), amounts=BOTH), 3, "machine", id="more hardware, two cuts"),
        pytest.param(WayOut(flags=OPTION), 1, "setting", id="an option with its gate is one"),
        pytest.param(WayOut(pods=(POD, POD)), 1, "pods", id="pods go together"),
        pytest.param(WayOut(pods=(POD,), flags=OPTION), 2, "combination", id="a pod and a setting"),
    ],
)
def test_edits_are_counted(change: WayOut, edits: int, kind: str) -> None:
    assert (change.edits, change.kind) == (edits, kind)


MEMORY = ("app", "memory")


@pytest.mark.parametrize(
    ("amounts", "keeps_devices", "keeps_memory", "leaves_out"),
    [
        pytest.param({}, True, True, False, id="nothing is cut"),
        pytest.param({("app", "cpu"): 1}, True, True, False, id="CPUs"),
        pytest.param({("app", GPU): 1}, False, True, False, id="devices"),
        pytest.param({MEMORY: 1}, True, False, False, id="memory"),
        pytest.param({MEMORY: 3, ("app", GPU): 3}, True, True, False, id="more of both"),
        pytest.param({("app", GPU): 0, MEMORY: 3}, False, True, True, id="a device is left out"),
    ],
)
def test_what_a_change_takes_away(
    amounts: dict[tuple[str, str], int], keeps_devices: bool, keeps_memory: bool, leaves_out: bool
) -> None:
    change = WayOut(amounts=amounts, asked=dict.fromkeys(amounts, 2))
    assert (change.keeps_devices, change.keeps_memory, change.leaves_out) == (keeps_devices, keeps_memory, leaves_out)


def test_memory_that_nobody_pins_is_cut_in_whole_mib() -> None:
    tries = met(pod("p", 1, "9000Gi"), policy="none", cpu_manager_policy="none")
    [cut] = single_requests(tries)
    [(key, nano)] = cut.amounts.items()
    assert key == ("app", "memory")
    assert nano > 16 * MEBI * NANO
    assert nano % (MEBI * NANO) == 0
    assert tries.admitted(cut._replace(amounts={key: nano + MEBI * NANO})) is None


@pytest.mark.parametrize(("held", "cuts"), [(1008, [{MEMORY: 16 * MEBI * NANO}]), (1009, [])])
def test_no_container_is_told_to_live_with_less_than_16_mib(held: int, cuts: list[dict[Key, int]]) -> None:
    setup = Setup(regular(1, 4, 1, memory=1024 * MEBI), config("single-numa-node"), "ideal")
    situation = Situation(setup, past=arrivals([pod("other", 1, f"{held}Mi")]))
    tries = Tries(situation, admit(situation.session(), pod("p", 1, "100Mi")))
    assert [way.amounts for way in single_requests(tries)] == cuts


@pytest.mark.parametrize(
    ("search", "events"), [(two_settings, 999), (setting_and_cut, 850)], ids=["two settings", "a setting, and cuts"]
)
def test_other_settings_are_tried_as_long_as_that_takes_a_thousand_admissions(
    search: Callable[[Tries], Iterator[WayOut]], events: int
) -> None:
    """Each replays the past, and admits the pod once, or about 150 times to see what to cut."""
    setup, other = Setup(machine("figure-1"), config("single-numa-node"), "ideal"), pod("other", 1)
    past = (Event("admit", other), *[Event("start", other)] * events)
    situations = [Situation(setup, past=past[:many]) for many in (events, events + 1)]
    tries = [Tries(one, admit(one.session(), pod("p", 7))) for one in situations]
    assert [any(search(each)) for each in tries] == [True, False]
