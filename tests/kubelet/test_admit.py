"""Admission end to end: who is asked when, what a refusal says and leaves (docs/rules/topology-manager.md 4, 10)."""

from __future__ import annotations

import gc
from typing import Any, NoReturn

import pytest

from numalign.kubelet import admission, device, node
from numalign.kubelet.admission import admit_in_order, open_session
from numalign.kubelet.config import KubeletConfig, MemoryReservation
from numalign.kubelet.demand import PodDemand, read_demand
from numalign.kubelet.errors import KubeletHangError
from numalign.kubelet.node import AdmitResult, Node, NodeState
from numalign.kubelet.setup import Setup
from numalign.kubelet.topology.scopes import admit_pod
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.cpuset import format_set
from numalign.model.machine import Device, Machine, NUMANode, Unit
from numalign.model.pod import Pod
from tests.kubelet.hint_text import show
from tests.kubelet.regular import regular

GIB = 1 << 30
REFUSED = ("TopologyAffinityError", "Resources cannot be allocated with Topology locality")


def machine(gpus_per_node: int = 2, aware: bool = True) -> Machine:
    """Two nodes of four cores, no threads, 4 GiB each; CPU 0 is the one that gets reserved."""
    gpus = tuple(Device(f"gpu-{i}", (i // gpus_per_node,) if aware else None) for i in range(2 * gpus_per_node))
    return Machine(
        "2s2n8c8t",
        (NUMANode(0, 0b00001111, 4 * GIB), NUMANode(1, 0b11110000, 4 * GIB)),
        (Unit(0, 0b00001111), Unit(1, 0b11110000)),
        tuple(1 << cpu for cpu in range(8)),
        devices={"v/gpu": gpus},
    )


def start(policy: str, scope: str = "container", **of_machine: Any) -> tuple[Node, NodeState]:
    config = KubeletConfig(
        topology_manager_policy=policy,
        topology_manager_scope=scope,
        cpu_manager_policy="static",
        memory_manager_policy="Static",
        reserved_system_cpus="0",
        reserved_memory=(MemoryReservation(0, {"memory": "1Gi"}),),
        kube_reserved={"memory": "1Gi"},
        eviction_hard={},
    )
    return node.start(Setup(machine(**of_machine), config, "kubelet"))


def pod(name: str, *containers: dict[str, Any]) -> PodDemand:
    """A pod of containers as `asks` makes them; those with `init` first."""
    spec: dict[str, Any] = {"initContainers": [], "containers": []}
    for index, one in enumerate(containers):
        init = one.pop("init", False)
        spec["initContainers" if init else "containers"].append({"name": f"c{index}", **one})
    return read_demand(read_pod({"metadata": {"name": name, "uid": name}, "spec": spec}))


def asks(cpu: str = "1", memory: str = "512Mi", gpu: int | None = None, **more: Any) -> dict[str, Any]:
    limits: dict[str, Any] = {"cpu": cpu, "memory": memory}
    if gpu is not None:
        limits["v/gpu"] = str(gpu)
    return {"resources": {"limits": limits}, **more}


def holds(of: Node, state: NodeState, uid: str, name: str = "c0") -> tuple[str, str, list[str]]:
    """What a container has: CPUs, nodes of its memory blocks as a mask, devices."""
    cpus = format_set(state.cpu.assigned(uid, name) or 0)
    memory = ",".join(format(block.mask, "02b") for block in state.memory.blocks(uid, name) or ())
    gpus = state.device.holdings.get(uid, {}).get(name, {}).get("v/gpu", 0)
    return cpus, memory, device.device_ids(of.device.resources["v/gpu"], gpus)


def unexpected(error: str) -> tuple[str, str]:
    return "UnexpectedAdmissionError", f"Allocate failed due to {error}, which is unexpected"


def refusal(result: AdmitResult) -> tuple[str, str]:
    assert not result.admit
    return result.reason, result.message


NOTHING: tuple[str, str, list[str]] = ("", "", [])


class TestContainerScope:
    """Rule 4.2."""

    def test_everything_on_one_node(self) -> None:
        of, empty = start("single-numa-node")

        state, result = node.admit(of, empty, pod("p", asks("4", "1Gi", 1)))

        assert result.admit
        assert {name: show(hint, 2) for name, hint in result.hints.items()} == {"c0": "10:T"}
        assert holds(of, state, "p") == ("4-7", "10", ["gpu-2"])

    def test_each_container_has_its_own_decision(self) -> None:
        """The second sees what the first took: node 0 has too few CPUs left, so it goes to node 1."""
        of, empty = start("single-numa-node")

        state, result = node.admit(of, empty, pod("p", asks("2", gpu=1), asks("2", gpu=1)))

        assert [decision.container for decision in result.decisions] == ["c0", "c1"]
        assert {name: show(hint, 2) for name, hint in result.hints.items()} == {"c0": "01:T", "c1": "10:T"}
        assert holds(of, state, "p", "c0") == ("1-2", "01", ["gpu-0"])
        assert holds(of, state, "p", "c1") == ("4-5", "10", ["gpu-2"])

    def test_providers_are_asked_in_their_order(self) -> None:
        of, empty = start("restricted")

        _, result = node.admit(of, empty, pod("p", asks("1", gpu=1)))

        assert node.PROVIDERS == ("device", "cpu", "memory")
        assert [list(answer) for answer in result.decisions[0].answers] == [["v/gpu"], ["cpu"], ["memory"]]

    def test_who_is_not_asked_for_anything_has_no_opinion(self) -> None:
        of, empty = start("restricted")

        _, result = node.admit(of, empty, pod("p", asks("500m")))

        assert [list(answer) for answer in result.decisions[0].answers] == [[], [], ["memory"]]

    def test_init_containers_come_first(self) -> None:
        of, empty = start("single-numa-node")

        _, result = node.admit(of, empty, pod("p", asks("2"), asks("1", init=True)))

        assert list(result.hints) == ["c1", "c0"]

    def test_a_refusal_keeps_what_earlier_containers_got_until_it_is_collected(self) -> None:
        """No rollback; the next admission collects first, so for it everything is free again."""
        of, empty = start("single-numa-node")

        state, result = node.admit(of, empty, pod("p", asks("3", gpu=1), asks("5", gpu=1)))

        assert refusal(result) == REFUSED
        assert (result.stage, result.container) == ("merge", "c1")
        assert list(result.hints) == ["c0"]
        assert holds(of, state, "p", "c0") == ("1-3", "01", ["gpu-0"])
        assert holds(of, state, "p", "c1") == NOTHING
        assert "p" not in state.pods
        assert holds(of, node.collect(of, state), "p", "c0") == NOTHING
        assert node.collect(of, state).memory == empty.memory
        after, second = node.admit(of, state, pod("q", asks("3", gpu=2)))
        assert second.admit
        assert holds(of, after, "q") == ("1-3", "01", ["gpu-0", "gpu-1"])
        assert holds(of, after, "p", "c0") == NOTHING

    def test_collecting_twice_changes_nothing(self) -> None:
        of, empty = start("single-numa-node")
        state, _ = node.admit(of, empty, pod("p", asks("5")))

        once = node.collect(of, state)

        assert node.collect(of, once) is once


class TestPodScope:
    """Rule 4.3."""

    def test_one_decision_for_all_containers(self) -> None:
        of, empty = start("single-numa-node", "pod")

        state, result = node.admit(of, empty, pod("p", asks("2", gpu=1), asks("2", gpu=1)))

        assert [decision.container for decision in result.decisions] == [None]
        assert {name: show(hint, 2) for name, hint in result.hints.items()} == {"c0": "10:T", "c1": "10:T"}
        assert holds(of, state, "p", "c0") == ("4-5", "10", ["gpu-2"])
        assert holds(of, state, "p", "c1") == ("6-7", "10", ["gpu-3"])

    def test_a_refusal_stores_nothing(self) -> None:
        of, empty = start("single-numa-node", "pod")

        state, result = node.admit(of, empty, pod("p", asks("3"), asks("3")))

        assert refusal(result) == REFUSED
        assert (result.stage, result.container, result.hints) == ("merge", None, {})
        assert node.collect(of, state) == empty

    def test_scope_decides(self) -> None:
        """Six CPUs fit on no node, three each do: refused in scope pod, admitted in scope container."""
        demand = pod("p", asks("3"), asks("3"))

        assert node.admit(*start("single-numa-node", "container"), demand)[1].admit
        assert refusal(node.admit(*start("single-numa-node", "pod"), demand)[1]) == REFUSED

    def test_a_good_merge_can_fail_in_allocation(self) -> None:
        """Zero healthy devices: a request of 0 fits everywhere, the allocation fails."""
        of, empty = start("best-effort", "pod")
        sick = Device("gpu-0", (0,), healthy=False)
        of, empty = node.start(Setup(of.machine._replace(devices={"v/gpu": (sick,)}), of.config, "kubelet"))

        _, result = node.admit(of, empty, pod("p", asks("1", gpu=0)))

        assert refusal(result) == unexpected("no healthy devices present; cannot allocate unhealthy devices v/gpu")
        assert (result.stage, result.provider, result.container) == ("allocate", "device", "c0")
        assert show(result.hints["c0"], 2) == "01:T"


class TestPolicyNone:
    """Rule 4.1."""

    @pytest.mark.parametrize("scope", ["container", "pod"])
    def test_no_hints_are_asked_for_and_none_is_stored(self, scope: str) -> None:
        of, empty = start("none", scope)

        state, result = node.admit(of, empty, pod("p", asks("5", gpu=3)))

        assert result.admit
        assert result.decisions == ()
        assert {name: show(hint, 2) for name, hint in result.hints.items()} == {"c0": "nil:F"}
        assert holds(of, state, "p") == ("1,4-7", "01", ["gpu-0", "gpu-1", "gpu-2"])

    def test_the_first_error_refuses(self) -> None:
        """Of devices and CPUs that both lack, the devices are told: they are the first provider."""
        of, empty = start("none")

        state, result = node.admit(of, empty, pod("p", asks("9", gpu=9)))

        assert result.provider == "device"
        assert refusal(result) == unexpected(
            "requested number of devices unavailable for v/gpu. Requested: 9, Available: 4"
        )
        assert node.collect(of, state).cpu == empty.cpu

    def test_later_providers_are_not_called(self) -> None:
        """The CPUs fail: the devices stay with the pod until it is collected, and no memory is pinned."""
        of, empty = start("none")

        state, result = node.admit(of, empty, pod("p", asks("9", gpu=1)))

        assert result.provider == "cpu"
        assert result.message == (
            "Allocate failed due to not enough cpus available to satisfy request: requested=9, available=7, "
            "which is unexpected"
        )
        assert holds(of, state, "p") == ("", "", ["gpu-0"])
        assert holds(of, node.collect(of, state), "p") == NOTHING

    def test_the_last_provider_leaves_what_the_others_gave(self) -> None:
        of, empty = start("none")

        state, result = node.admit(of, empty, pod("p", asks("2", "9Gi", 1)))

        assert result.provider == "memory"
        assert refusal(result) == unexpected(
            "[memorymanager] failed to get the default NUMA affinity, no NUMA nodes with enough memory is available"
        )
        assert holds(of, state, "p") == ("1-2", "", ["gpu-0"])


class TestReasons:
    """Rule 4.4."""

    def test_memory_that_nobody_can_give_is_no_topology_error(self) -> None:
        """Rule 5.3: no opinion in the merge, so the failure comes from Allocate."""
        of, empty = start("restricted")

        _, result = node.admit(of, empty, pod("p", asks("1", "9Gi")))

        assert (result.stage, result.provider, result.reason) == ("allocate", "memory", "UnexpectedAdmissionError")
        assert result.decisions[0].answers[2] == {}

    def test_cpus_that_nobody_can_give_are_a_topology_error(self) -> None:
        of, empty = start("restricted")

        assert refusal(node.admit(of, empty, pod("p", asks("9")))[1]) == REFUSED

    def test_under_best_effort_allocate_says_it(self) -> None:
        of, empty = start("best-effort")

        _, result = node.admit(of, empty, pod("p", asks("9")))

        assert (result.stage, result.provider, result.reason) == ("allocate", "cpu", "UnexpectedAdmissionError")
        assert show(result.hints["c0"], 2) == "01:F"

    def test_an_error_of_its_own_kind_is_told_as_it_is(self) -> None:
        """`full-pcpus-only` with two threads a core and an odd request."""
        threads = machine()._replace(cores=(0b11, 0b1100, 0b110000, 0b11000000))
        config = KubeletConfig(
            topology_manager_policy="best-effort",
            cpu_manager_policy="static",
            cpu_manager_policy_options={"full-pcpus-only": "true"},
            reserved_system_cpus="0-1",
            eviction_hard={},
        )

        _, result = node.admit(*node.start(Setup(threads, config, "kubelet")), pod("p", asks("3")))

        assert refusal(result) == (
            "SMTAlignmentError",
            "SMT Alignment Error: requested 3 cpus not multiple cpus per core = 2",
        )
        assert result.stage == "allocate"

    def test_a_refusal_leaves_nothing_to_the_collector(self) -> None:
        """What a pod was refused for is freed with the answer: an error that is kept with its frames would stay."""
        on = start("best-effort")
        for _ in range(2):
            gc.collect()
            _, result = node.admit(*on, pod("p", asks("1", gpu=5)))
            assert result.stage == "allocate"
            del result

        assert gc.collect() == 0

    def test_admitted_says_nothing(self) -> None:
        _, result = node.admit(*start("restricted"), pod("p", asks("1")))

        assert (result.admit, result.stage, result.reason, result.message) == (True, "", "", "")
        assert (result.container, result.provider) == (None, "")

    @pytest.mark.parametrize("scope", ["container", "pod"])
    def test_a_crash_over_a_pod_with_resources_of_its_own_is_a_result(self, scope: str) -> None:
        """docs/rules/kubelet-versions.md 6.5 and 6.6."""
        rows = {1: (10, 20), 2: (20, 10)}
        gaps = machine()._replace(
            numa_nodes=tuple(NUMANode(n, 0b1111 << 4 * n - 4, GIB, distances=row) for n, row in rows.items())
        )
        config = KubeletConfig(
            topology_manager_policy="best-effort",
            topology_manager_policy_options={"prefer-closest-numa-nodes": "true"},
            topology_manager_scope=scope,
            cpu_manager_policy="static",
            feature_gates={"PodLevelResourceManagers": True},
        )
        started, state = node.start(Setup(gaps, config, "ideal"))
        asked = pod("p", asks("1"))._replace(as_a_whole=True)

        after, result = node.admit(started, state, asked)

        assert (result.admit, result.stage, result.provider) == (False, "panic", "")
        assert result.container == ("c0" if scope == "container" else None)
        assert (result.hints, result.decisions) == ({}, ())
        assert after.leftovers == ("p",)

    def test_a_hang_while_a_pod_is_given_its_cpus_as_a_whole_is_a_result(self) -> None:
        def hang(*_asked: object) -> NoReturn:
            raise KubeletHangError("never ends")

        of, empty = start("restricted", "pod")
        devices, (cpus, manager), memory = of.topology.providers
        topology = of.topology._replace(
            scopes={"pod": admit_pod}, providers=(devices, (cpus._replace(allocate_pod=hang), manager), memory)
        )

        after, result = node.admit(of._replace(topology=topology), empty, pod("p", asks())._replace(as_a_whole=True))

        assert (result.admit, result.stage, result.provider, result.container) == (False, "hang", "cpu", None)
        assert (result.message, list(result.hints), len(result.decisions)) == ("never ends", ["c0"], 1)
        assert (after.states, after.hints, after.leftovers) == (empty.states, {}, ("p",))

    def test_hints_are_merged_over_nodes_up_to_63(self) -> None:
        far = machine()._replace(numa_nodes=tuple(NUMANode(n, 0b11 << n % 8, GIB) for n in (-1, 63, 64)))
        started, _ = node.start(Setup(far, KubeletConfig(), "ideal"))

        assert started.topology.numa.nodes == (63,)

    def test_a_crash_is_a_result(self) -> None:
        """Distance rows without entries for the ids: rule 8.4."""
        gaps = machine()._replace(
            numa_nodes=(
                NUMANode(1, 0b00001111, GIB, distances=(10, 20)),
                NUMANode(2, 0b11110000, GIB, distances=(20, 10)),
            )
        )
        config = KubeletConfig(
            topology_manager_policy="best-effort",
            topology_manager_policy_options={"prefer-closest-numa-nodes": "true"},
            cpu_manager_policy="static",
            reserved_system_cpus="0",
            eviction_hard={},
        )

        _, result = node.admit(*node.start(Setup(gaps, config, "kubelet")), pod("p", asks("500m"), asks("1")))

        assert (result.admit, result.stage, result.container) == (False, "panic", "c1")
        assert result.provider == "", "no Allocate was running"
        assert result.message == "runtime error: index out of range [2] with length 2"


class TestRemoval:
    """Rule 10.3."""

    def test_everything_is_free_again(self) -> None:
        of, empty = start("single-numa-node")
        state, _ = node.admit(of, empty, pod("p", asks("3", gpu=2), asks("500m")))
        full, refused = node.admit(of, state, pod("q", asks("4", gpu=2)))
        assert refused.admit

        freed = node.remove(of, node.remove(of, full, "q"), "p")

        assert freed.pods == {}
        assert (freed.cpu.default, freed.cpu.assignments) == (empty.cpu.default, empty.cpu.assignments)
        assert freed.memory == empty.memory
        assert freed.device.holdings == {}
        assert not any(freed.device.allocated.values())

    def test_other_pods_keep_theirs(self) -> None:
        of, empty = start("single-numa-node")
        state, _ = node.admit(of, empty, pod("p", asks("3", gpu=2)))
        state, _ = node.admit(of, state, pod("q", asks("4", gpu=2)))

        after = node.remove(of, state, "p")

        assert holds(of, after, "p") == NOTHING
        assert holds(of, after, "q") == ("4-7", "10", ["gpu-2", "gpu-3"])

    def test_what_init_containers_leave_goes_with_their_pod_alone(self) -> None:
        started, state = start("best-effort")
        state, first = node.admit(started, state, pod("q", asks("1", gpu=1)))
        state, last = node.admit(started, state, pod("p", asks("2", "1Gi", 2, init=True), asks("1", gpu=1)))
        assert first.admit
        assert last.admit

        def left(of: NodeState) -> tuple[object, ...]:
            device, cpu, memory = of.states
            return (
                *(device.reusable_of, any(device.reusable.values()), cpu.reuse_uid, cpu.reuse.bit_count()),
                *(memory.reusable_pod, any(memory.reusable.values())),
            )

        assert left(state) == ("p", True, "p", 1, "p", True)
        assert left(node.remove(started, state, "q")) == left(state)
        assert left(node.remove(started, state, "p")) == ("", False, "", 0, "", False)
        assert left(node.remove(started, state, "none")) == left(state)

    def test_unknown_and_refused_pods_change_nothing(self) -> None:
        of, empty = start("single-numa-node")
        state, _ = node.admit(of, empty, pod("p", asks("5")))

        assert node.remove(of, state, "p") is state
        assert node.remove(of, state, "nobody") is state

    def test_states_do_not_change(self) -> None:
        of, empty = start("single-numa-node")
        before = (empty.cpu.default, dict(empty.device.holdings), dict(empty.pods), repr(empty.memory))

        node.admit(of, empty, pod("p", asks("3", gpu=2)))

        assert (empty.cpu.default, dict(empty.device.holdings), dict(empty.pods), repr(empty.memory)) == before


def test_a_device_without_topology_imposes_nothing() -> None:
    of, empty = start("single-numa-node", aware=False)

    state, result = node.admit(of, empty, pod("p", asks("4", gpu=4)))

    assert result.admit
    assert holds(of, state, "p") == ("4-7", "10", ["gpu-0", "gpu-1", "gpu-2", "gpu-3"])


def test_zero_devices_can_refuse_a_pod() -> None:
    """device-manager.md example 6."""
    of, empty = start("restricted")

    assert node.admit(of, empty, pod("p", asks("5", "5Gi")))[1].admit
    assert refusal(node.admit(of, empty, pod("p", asks("5", "5Gi", 0)))[1]) == REFUSED


def test_a_pod_that_comes_again_takes_over_nothing_of_its_former_life() -> None:
    """Its init container's devices went to another pod meanwhile."""
    gpus = {"example.com/gpu": (Device("a", (0,)), Device("b", (1,)))}
    session = open_session(Setup(regular(devices=gpus), KubeletConfig("best-effort"), "ideal"), fit_check=False)

    def asking(name: str, init: int, app: int) -> Pod:
        def limits(count: int) -> dict[str, object]:
            return {"resources": {"limits": {"example.com/gpu": str(count)}}} if count else {}

        spec = {"containers": [{"name": "c", **limits(app)}]}
        first = [{"name": "i", **limits(init)}] if init else []
        return read_pod({"metadata": {"name": name, "uid": name}, "spec": {**spec, "initContainers": first}})

    there = admission.admit(session, asking("p", 2, 1)).then
    then = admission.admit(admission.end(there, "p"), asking("q", 0, 2)).then
    assert not admission.admit(then, asking("p", 0, 1)).admit


@pytest.mark.parametrize("started", [False, True])
def test_pods_come_one_after_another_and_their_containers_may_start_between(started: bool) -> None:
    """An init container holds its memory until the next container starts (docs/rules/memory-manager.md 43)."""
    reserved = (MemoryReservation(0, {"memory": "1Gi"}),)
    config = KubeletConfig("best-effort", memory_manager_policy="Static", reserved_memory=reserved)
    config = config._replace(kube_reserved={"memory": "1Gi"}, eviction_hard={})
    session = open_session(Setup(machine(), config, "kubelet"), fit_check=False)
    init, app = ({"name": name, **asks("1", memory)} for name, memory in (("i", "4Gi"), ("c", "1Gi")))
    wide = {"containers": [{"name": "c", **asks("1", "3Gi")}]}
    specs = [{"initContainers": [init], "containers": [app]}, wide]
    pods = [read_pod({"metadata": {"name": str(n), "uid": str(n)}, "spec": spec}) for n, spec in enumerate(specs)]

    more = {"started": True} if started else {}
    assert [one.admit for one in admit_in_order(session, pods, **more)] == [True, started]
