"""Which changes are told, and in which order: what keeps devices first, settings not alone."""

from __future__ import annotations

from typing import Any

from numalign.analysis.alignment import aligned
from numalign.analysis.settings import POLICY
from numalign.analysis.situation import Situation, arrivals
from numalign.analysis.whatif.change import WayOut
from numalign.analysis.whatif.changes import changes
from numalign.analysis.whatif.goal import ALIGNED
from numalign.analysis.whatif.tries import Tries
from numalign.kubelet.admission import admit
from numalign.kubelet.setup import Setup
from numalign.model.machine import Device, Machine
from numalign.model.pod import Pod
from tests.analysis.support import GPU, STATIC, config, limits, machine, pod, pod_of
from tests.kubelet.regular import regular
from tests.refusals.survey import named, refusals

CPU_OF_APP = ("app", "cpu")


def found(policy: str, asked: Pod, *before: Pod, **more: Any) -> tuple[WayOut, ...]:
    situation = Situation(Setup(machine("figure-1"), config(policy, **more), "ideal"), past=arrivals(before))
    outcome = admit(situation.session(), asked)
    assert not outcome.admit
    return changes(Tries(situation, outcome))


def recorded(name: str, step: int) -> tuple[WayOut, ...]:
    data = named(name)
    situation, outcome = next((situation, outcome) for index, situation, outcome in refusals(data) if index == step)
    return changes(Tries(situation, outcome))


def test_what_keeps_the_number_of_devices_comes_before_what_cuts_it() -> None:
    """A pod that runs across two GPUs is not helped by one, however small the cut."""
    ways = found("single-numa-node", pod("tensor-parallel", 5, gpu=2))
    keeping = [way.keeps_devices for way in ways]
    assert keeping[0]
    assert keeping == sorted(keeping, reverse=True)
    many = found("single-numa-node", pod("tensor-parallel", 1, gpu=2))
    cut = [("app", GPU) in way.amounts for way in many]
    assert cut == sorted(cut)
    assert any(cut)
    assert not cut[0]


def test_more_cpus_so_that_they_take_as_many_nodes_as_the_devices_are_a_suggestion() -> None:
    """Two GPUs take both nodes, one CPU only one: `restricted` never admits that, but five CPUs take both, too."""
    ways = found("restricted", pod("tensor-parallel", 1, gpu=2))
    [raised] = [way for way in ways if way.amounts.get(CPU_OF_APP, 0) > 10**9]
    assert (raised.amounts, raised.aligned) == ({CPU_OF_APP: 5 * 10**9}, True)
    losing = [place for place, way in enumerate(ways) if not way.keeps_devices]
    assert all(ways.index(raised) < place for place in losing)


def test_a_setting_that_helps_only_as_others_come_first_is_left_out_where_something_else_does() -> None:
    """Without memory to count, p0 is admitted first and takes CPUs that i0 had: only then c0 has enough beside it."""
    situation, outcome = next((past, found) for index, past, found in refusals(named("e2e-d-01279")) if index == 3)
    uncounted = WayOut(flags={"memory-manager-policy": "None"})
    tries = Tries(situation, outcome)
    tried = tries.admitted(uncounted)
    assert tried is not None
    assert tries.needs_newcomers(uncounted._replace(tried=tried))
    ways = changes(tries)
    assert ways
    assert not any(way.needs_newcomers or way.flags == uncounted.flags for way in ways)


def test_a_setting_is_not_offered_with_another_that_only_refuses_a_rival() -> None:
    """Under `best-effort` p0 is admitted first and takes the only device; `full-pcpus-only` would refuse p0."""
    setting, cut = recorded("e2e-d-01827", 1)
    assert setting.flags == {"topology-manager-policy": "best-effort"}
    assert [pod.name for pod in setting.kept_out] == ["p0"]
    assert setting.anew is not None
    assert [one.name for one in setting.anew.rivals] == ["p0"]
    assert not cut.flags


def test_cuts_that_keep_the_policy_stand_beside_settings_that_give_up_alignment() -> None:
    """Eight CPUs of one container and the memory of another fit no node: only policy `none` admits it as it is."""
    cut, loose = recorded("e2e-d-01875", 0)
    assert (set(cut.amounts), cut.flags, cut.aligned) == ({("c0", "cpu"), ("c1", "memory")}, {}, True)
    assert (loose.flags, loose.aligned) == ({"topology-manager-policy": "none"}, False)


def test_cuts_stand_beside_settings_even_if_these_keep_the_alignment() -> None:
    """Who runs a pod may have no say in the kubelet's policy."""
    *_, cut, setting = recorded("lifecycle-d-00029", 9)
    assert (setting.flags, setting.aligned) == ({"topology-manager-policy": "restricted"}, True)
    assert (set(cut.amounts), cut.flags, cut.aligned) == ({("c0", "cpu"), ("c0", "memory")}, {}, True)


def test_a_device_is_left_out_only_after_what_keeps_some_of_it() -> None:
    """Two devices are asked of which the machine has two, on two nodes, both taken: one, with one pod moved away."""
    first, second = recorded("e2e-d-02001", 4)
    key = ("c0", "intel.com/sriov")
    assert (first.amounts, len(first.pods)) == ({key: 10**9}, 1)
    assert second.amounts == {key: 0}


def test_a_long_change_is_told_where_all_others_need_a_setting() -> None:
    """Five containers ask for more CPUs than a node has, each for another number."""
    setup = Setup(regular(nodes=8, cores=8, threads=1), config("single-numa-node"), "ideal")
    situation = Situation(setup)
    asked = pod_of("p", **{f"c{more}": limits(8 + more) for more in range(1, 6)})
    ways = changes(Tries(situation, admit(situation.session(), asked)))
    assert [(way.long, bool(way.flags)) for way in ways] == [(False, True), (True, False)]


def test_a_long_change_is_told_beside_other_machines() -> None:
    """Two devices are asked for of each of five kinds, of which there is one: without them, or with more hardware."""
    kinds = [f"v.com/{place}" for place in range(5)]

    def on(count: int) -> Situation:
        devices = {name: tuple(Device(f"{name}-{one}", (0,)) for one in range(count)) for name in kinds}
        return Situation(Setup(regular(devices=devices), config("single-numa-node"), "ideal"))

    tries = Tries(on(1), admit(on(1).session(), pod_of("p", app={"cpu": "1", **dict.fromkeys(kinds, "2")})))
    hardware = (("device", "v.com/0@0=2"),)
    ways = changes(tries, altered=[(hardware, on(2))], known=[("large", on(3))])
    assert [(way.long, way.hardware, way.machine) for way in ways] == [
        (True, (), ""),
        (False, hardware, ""),
        (False, (), "large"),
    ]


def test_nobody_is_told_to_ask_for_more_than_twice_the_memory() -> None:
    ways = found("restricted", pod_of("p", app={"cpu": "5", "memory": "2Gi"}), **STATIC)
    assert ways
    assert not any(nano > 2 * way.asked[key] for way in ways for key, nano in way.amounts.items())


def test_what_no_policy_aligns_is_aligned_by_chance() -> None:
    """Without one the three pods take nine CPUs in a row, and leave one node three; a policy leaves one on each."""
    settings = Setup(regular(3, 4, 1), config("best-effort"), "ideal")
    situation = Situation(settings, past=arrivals([pod(name, 3) for name in "abc"]))
    tries = Tries(situation, admit(situation.session(), pod("p", 2)), ALIGNED)
    by_chance = tries.beside({POLICY: "none"})
    assert by_chance is not None
    assert aligned(by_chance[0])
    ways = changes(tries)
    assert ways
    assert not any(POLICY in way.flags for way in ways)


def with_gpus(count: int) -> Machine:
    """`figure-1` with as many GPUs on node 0."""
    small = machine("figure-1")
    gpu = small.devices[GPU][0]
    more = tuple([gpu._replace(id=f"gpu-{number}", numa_nodes=(0,)) for number in range(count)])
    return small._replace(devices={**small.devices, GPU: more})


def without_gpus() -> Machine:
    small = machine("figure-1")
    return small._replace(devices={name: each for name, each in small.devices.items() if name != GPU})


def test_another_machine_comes_first_where_somebody_asked_about_it_and_last_where_nobody_did() -> None:
    """Three GPUs are more than there are: every change here gives one up, so more hardware is looked at, too."""
    here = Situation(Setup(machine("figure-1"), config("single-numa-node"), "ideal"))
    tries = Tries(here, admit(here.session(), pod("p", 1, gpu=3)))

    def on(other: Machine) -> Situation:
        return here._replace(setup=here.setup._replace(machine=other))

    few, many = on(with_gpus(1)), on(with_gpus(3))
    hardware = (("device", f"{GPU}@0=3"),)
    known = [("none", on(without_gpus())), ("few", few), ("many", many), ("larger", on(with_gpus(4)))]
    altered = [((("device", f"{GPU}@0=1"),), few), (hardware, many), ((("device", f"{GPU}@0=4"),), on(with_gpus(4)))]
    asked = changes(tries, [("few", few), ("asked", many)])
    assert [(way.machine, way.example) for way in asked if way.kind == "machine"] == [("asked", False)]
    assert asked[0].machine == "asked"
    unasked = changes(tries, known=known, altered=altered)
    there = [(way.machine, way.hardware, way.example) for way in unasked if way.kind == "machine"]
    assert there == [("", hardware, False), ("many", (), True)]
    assert [way.kind for way in unasked[-2:]] == ["machine", "machine"]
