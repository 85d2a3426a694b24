"""The same pods under other settings: which rows there are, how copies are counted, what is stranded."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.analysis.compare import table as compare
from numalign.analysis.compare.table import Comparison, Left, Variant, left, run, variants
from numalign.kubelet.admission import admit_in_order, open_session
from numalign.kubelet.config import IDEAL, KubeletConfig, MemoryReservation
from numalign.kubelet.releases.release import Kubelet
from numalign.kubelet.releases.table import LATEST
from numalign.kubelet.releases.table import kubelet as of_version
from numalign.kubelet.setup import Setup
from numalign.model.machine import Device, Machine
from numalign.model.pod import Container, Pod
from numalign.model.quantity import parse
from numalign.results.compare import ComparedRow
from numalign.sources.machine.loading import load_machine
from numalign.tasks.compare import compared_row
from tests.analysis.support import STATIC, pod_of
from tests.kubelet.regular import regular

FIGURE = load_machine("figure-1").machine
GPU, NIC = "gpu-vendor.com/gpu", "nic-vendor.com/nic"
POLICIES = ("none", "best-effort", "restricted", "single-numa-node")
SINGLE = IDEAL._replace(topology_manager_policy="single-numa-node")


def pod(amounts: Mapping[str, str], name: str = "web", **more: object) -> Pod:
    asked = {resource: parse(text) for resource, text in amounts.items()}
    return Pod(name, f"default/{name}", "Guaranteed", (Container("app", "app", asked, asked),), **more)


ALIGNED = pod({"cpu": "2", "memory": "200Mi", GPU: "1", NIC: "1"})


def tried(
    *pods: Pod, config: KubeletConfig = SINGLE, machine: Machine = FIGURE, beside: tuple[Pod, ...] = ()
) -> Comparison:
    return run(Variant(Setup(machine, config, "ideal")), pods, beside, started=False)


def row(found: Comparison) -> ComparedRow:
    return compared_row(found)


def rows(
    config: KubeletConfig = IDEAL, kubelet: Kubelet = LATEST, options: tuple[str, ...] = ()
) -> list[tuple[str, str, str, bool]]:
    return [
        (one.setup.config.topology_manager_policy, one.setup.config.topology_manager_scope, one.option, one.present)
        for one in variants(Setup(FIGURE, config, "ideal", kubelet), options=options)
    ]


class TestVariants:
    def test_every_policy_in_every_scope_and_none_once(self) -> None:
        assert [row[:2] for row in rows()] == [
            ("none", "container"),
            *((policy, scope) for policy in POLICIES[1:] for scope in ("container", "pod")),
        ]

    @pytest.mark.parametrize("policy", POLICIES)
    @pytest.mark.parametrize("scope", ["container", "pod"])
    def test_one_row_is_the_settings_as_given(self, policy: str, scope: str) -> None:
        given = IDEAL._replace(topology_manager_policy=policy, topology_manager_scope=scope)

        assert [row for row in rows(given) if row[3]] == [(policy, scope, "", True)]

    def test_an_option_adds_rows_with_its_feature_gate(self) -> None:
        found = list(variants(Setup(FIGURE, IDEAL, "ideal"), options=["align-by-socket"]))

        assert [one.option for one in found] == [""] * 7 + ["align-by-socket"] * 7
        assert found[-1].setup.config.cpu_manager_policy_options == {"align-by-socket": "true"}
        assert found[-1].setup.config.feature_gates == {"CPUManagerPolicyAlphaOptions": True}
        not_started = [one for one in found if run(one, [ALIGNED], started=False).error]
        assert not_started == [
            one for one in found[7:] if one.setup.config.topology_manager_policy == "single-numa-node"
        ]

    def test_none_does_not_read_the_topology_manager_s_options(self) -> None:
        added = [row for row in rows(options=("prefer-closest-numa-nodes",)) if row[2]]

        assert len(added) == 6
        assert "none" not in {policy for policy, *_ in added}

    def test_an_option_stands_beside_those_that_are_on(self) -> None:
        given = IDEAL._replace(cpu_manager_policy_options={"full-pcpus-only": "true"})
        last = list(variants(Setup(FIGURE, given, "kubelet"), options=["align-by-socket"]))[-1]

        assert last.setup.config.cpu_manager_policy_options == {"full-pcpus-only": "true", "align-by-socket": "true"}

    def test_an_option_that_is_on_already_makes_that_row_the_present_one_too(self) -> None:
        given = IDEAL._replace(cpu_manager_policy_options={"full-pcpus-only": "true"})

        assert [row[2] for row in rows(given, options=("full-pcpus-only",)) if row[3]] == ["", "full-pcpus-only"]

    def test_an_option_that_a_kubelet_does_not_have_adds_nothing(self) -> None:
        old = of_version((1, 23))
        assert rows(kubelet=old, options=("align-by-socket",)) == rows(kubelet=old)

    def test_a_kubelet_without_pod_scope_has_one_scope(self) -> None:
        assert {scope for _, scope, *_ in rows(kubelet=of_version((1, 17)))} == {"container"}


class TestReplicas:
    def test_the_announcement_s_machine_takes_two_and_strands_cpus(self) -> None:
        found = tried(ALIGNED)

        assert (row(found).admit, row(found).aligned, found.replicas, found.aligned_replicas) == (True, True, 2, 2)
        assert found.refusal is not None
        assert (found.refusal.pod.name, found.refusal.reason) == ("web-copy-3", "TopologyAffinityError")
        assert found.stranded == (Left(0, {"cpu": 2, GPU: 0, NIC: 0}), Left(1, {"cpu": 2, GPU: 0, NIC: 0}))

    def test_none_admits_as_many_and_aligns_fewer(self) -> None:
        found = tried(ALIGNED, config=IDEAL)

        assert (found.replicas, found.aligned_replicas) == (2, 1)
        assert [(one.numa, one.free["cpu"]) for one in found.stranded] == [(0, 0), (1, 4)]

    def test_several_pods_are_one_set(self) -> None:
        one, two = pod({"cpu": "1", "memory": "1Mi"}, "a"), pod({"cpu": "2", "memory": "1Mi"}, "b")

        found = tried(one, two)

        assert [outcome.pod.name for outcome in found.outcomes] == ["a", "b"]
        assert found.replicas == 2
        assert found.refusal is not None
        assert found.refusal.pod.name == "b-copy-3"

    def test_a_set_of_which_one_pod_lies_apart_is_not_aligned(self) -> None:
        three, two = {"cpu": "3", "memory": "1Mi"}, {"cpu": "2", "memory": "1Mi"}
        config = IDEAL._replace(topology_manager_policy="best-effort")

        found = tried(pod(three, "a"), pod(three, "b"), pod(two, "c"), config=config)

        assert (found.replicas, found.aligned_replicas) == (1, 0)

    def test_what_a_set_that_does_not_fit_as_a_whole_holds_is_not_stranded(self) -> None:
        found = tried(ALIGNED, ALIGNED._replace(name="b", uid="b"), ALIGNED._replace(name="c", uid="c"))

        assert not row(found).admit
        assert [outcome.admit for outcome in found.outcomes] == [True, True, False]
        assert found.refused is found.outcomes[2]
        assert found.replicas == 0
        assert [one.free["cpu"] for one in found.stranded] == [2, 2]

    def test_a_refused_pod_has_no_replicas(self) -> None:
        found = tried(pod({"cpu": "6", "memory": "1Mi"}))

        assert (row(found).admit, row(found).aligned, found.replicas) == (False, None, 0)
        assert found.refusal is found.refused is found.outcomes[0]

    @pytest.mark.parametrize(("started", "left"), [(False, 1 << 30), (True, 4 << 30)])
    def test_init_containers_that_have_ended_hold_no_memory(self, started: bool, left: int) -> None:
        """Where containers start before the next pod comes (docs/rules/memory-manager.md 43); a GiB is kept back."""
        config = IDEAL._replace(**STATIC)
        init, app = ({"cpu": "1", "memory": memory} for memory in ("2Gi", "1Gi"))
        setup = Setup(regular(1, 4, 1, memory=8 << 30), config, "ideal")

        found = run(Variant(setup), [pod_of("p", init=init, app=app)], started=started)

        assert (found.replicas, found.stranded) == (3, (Left(0, {"cpu": 1, "memory": left}),))

    def test_pods_that_ask_for_nothing_stop_at_the_node_s_pods(self) -> None:
        found = tried(Pod("idle", "idle", "BestEffort", (Container("app", "app", {}, {}),)))

        assert (found.replicas, row(found).aligned, found.aligned_replicas) == (110, None, 110)
        assert found.refusal is not None
        assert found.refusal.reason == "OutOfpods"

    def test_the_count_ends_somewhere(self) -> None:
        idle = Pod("idle", "idle", "BestEffort", (Container("app", "app", {}, {}),))

        found = tried(idle, config=SINGLE._replace(max_pods=1200))

        assert (found.replicas, found.refusal, found.stranded) == (1000, None, ())

    def test_a_critical_pod_that_evicts_another_is_no_further_replica(self) -> None:
        critical = pod({"cpu": "3", "memory": "1Mi"}, spec={"priority": 2_000_000_000})
        other = Pod("idle", "idle", "Burstable", (Container("app", "app", {"cpu": parse("3")}, {}),))

        found = tried(critical, config=IDEAL, beside=(other,))

        assert found.replicas == 1
        assert found.refusal is not None
        assert found.refusal.admit
        assert found.refusal.fit is not None
        assert [victim.name for victim in found.refusal.fit.preempted] == ["idle"]

    def test_a_kubelet_that_does_not_start_is_an_answer(self) -> None:
        found = run(Variant(Setup(FIGURE, SINGLE, "kubelet")), [ALIGNED], started=False)

        assert found.error == "[cpumanager] unable to determine reserved CPU resources for static policy"
        assert (row(found).admit, found.outcomes, found.refused) == (False, (), None)
        assert (found.replicas, found.aligned_replicas) == (0, 0)


class TestBeside:
    def test_pods_that_are_there_take_their_share(self) -> None:
        found = tried(ALIGNED, beside=(ALIGNED._replace(name="old", uid="old"),))

        assert (found.replicas, found.absent) == (1, ())

    def test_a_node_in_use_is_taken_over(self) -> None:
        (old,) = admit_in_order(open_session(Setup(FIGURE, SINGLE, "ideal")), [ALIGNED._replace(name="o", uid="o")])

        found = run(Variant(Setup(FIGURE, SINGLE, "ideal")), [ALIGNED], started=False, on=old.then)

        assert (found.replicas, len(found.refusal.before.pods) if found.refusal else 0) == (1, 2)

    def test_pods_that_a_policy_refuses_are_not_there(self) -> None:
        wide = pod({"cpu": "6", "memory": "1Mi"}, "wide")

        assert [outcome.pod.name for outcome in tried(ALIGNED, beside=(wide,)).absent] == ["wide"]
        assert tried(ALIGNED, config=IDEAL, beside=(wide,)).absent == ()

    def test_a_kubelet_that_crashes_before_the_pods_come_admits_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        session = open_session(Setup(FIGURE, SINGLE, "ideal"))
        (refused,) = admit_in_order(session, [pod({"cpu": "6", "memory": "1Mi"}, "old")])
        crash = refused._replace(result=refused.result._replace(stage="panic", reason="", message="index out of range"))
        monkeypatch.setattr(compare, "admit_in_order", lambda *_, **__: iter([refused, refused, crash]))

        found = tried(ALIGNED, beside=(refused.pod, refused.pod, crash.pod))

        assert (row(found).admit, found.replicas, found.outcomes) == (False, 0, ())
        assert found.refused is found.refusal is crash


class TestLeft:
    def test_a_cpu_manager_that_gives_out_none_has_none_left(self) -> None:
        session = open_session(Setup(FIGURE, IDEAL._replace(cpu_manager_policy="none"), "ideal"))

        assert list(left(session)) == [Left(0, {GPU: 1, NIC: 1}), Left(1, {GPU: 1, NIC: 1})]

    def test_cpus_come_first_then_memory_and_devices_by_their_names(self) -> None:
        numa = tuple(one._replace(hugepages={"2Mi": 1 << 30}) for one in FIGURE.numa_nodes[::-1])
        machine = FIGURE._replace(numa_nodes=numa, devices={"v/z": (Device("z", (0,)),), "v/a": (Device("a", (1,)),)})
        kept = {"memory_manager_policy": "Static", "kube_reserved": {"memory": "1Gi"}}
        config = IDEAL._replace(**kept, reserved_memory=(MemoryReservation(0, {"memory": "1Gi"}),))

        found = [*left(open_session(Setup(machine, config, "ideal")))]
        assert [one.numa for one in found] == [0, 1]
        assert list(found[0].free) == ["cpu", "hugepages-2Mi", "memory", "v/a", "v/z"]

    def test_devices_without_a_node_are_left_until_somebody_has_them(self) -> None:
        machine = FIGURE._replace(devices={"v/x": tuple(Device(name, None) for name in "abc")})
        session = open_session(Setup(machine, IDEAL, "ideal"))
        (outcome,) = admit_in_order(session, [pod({"cpu": "1", "memory": "1Mi", "v/x": "1"})])

        assert [*left(outcome.then)][-1] == Left(None, {"v/x": 2})

    def test_devices_without_a_node_are_told_by_their_names(self) -> None:
        machine = FIGURE._replace(devices={name: (Device("d", None),) for name in ("v/z", "v/a")})
        assert list([*left(open_session(Setup(machine, IDEAL, "ideal")))][-1].free) == ["v/a", "v/z"]

    def test_devices_without_a_node_come_last(self) -> None:
        machine = FIGURE._replace(
            devices={"v/x": (Device("a", None), Device("b", (0,)), Device("c", None, healthy=False))}
        )

        assert list(left(open_session(Setup(machine, IDEAL, "ideal")))) == [
            Left(0, {"cpu": 4, "v/x": 1}),
            Left(1, {"cpu": 4, "v/x": 0}),
            Left(None, {"v/x": 1}),
        ]


@given(
    cpus=st.integers(1, 9),
    gpus=st.integers(0, 3),
    policy=st.sampled_from(POLICIES),
    scope=st.sampled_from(["container", "pod"]),
)
def test_so_many_replicas_fit_and_no_more(cpus: int, gpus: int, policy: str, scope: str) -> None:
    """The count is what admitting exactly so many copies by hand says."""
    config = IDEAL._replace(topology_manager_policy=policy, topology_manager_scope=scope)
    one = pod({"cpu": str(cpus), "memory": "1Mi", **({GPU: str(gpus)} if gpus else {})})

    found = tried(one, config=config)

    many = [one._replace(name=f"r{number}", uid=f"r{number}") for number in range(found.replicas + 1)]
    outcomes = list(admit_in_order(open_session(Setup(FIGURE, config, "ideal")), many))
    assert [outcome.admit for outcome in outcomes] == [True] * found.replicas + [False]
    assert found.aligned_replicas <= found.replicas
    free = {one.numa: one.free["cpu"] for one in found.stranded}
    assert sum(free.values()) == 8 - cpus * found.replicas
