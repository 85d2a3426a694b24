"""Why a scheduler and the kubelet disagree: the causes of docs/rules/scheduling.md 1.5 and 10, each on a node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from numalign.kubelet import admission
from numalign.kubelet.admission import Session
from numalign.kubelet.setup import Setup
from numalign.model.machine import Device, Machine, Taint
from numalign.model.pod import Pod
from numalign.scheduler import filter_kep, filter_nrt
from numalign.scheduler.causes import cause, text_of
from numalign.scheduler.config import Kind
from numalign.scheduler.disagreement import Case, KnownCause, admits_with
from numalign.scheduler.kai import evaluate, records, topology
from numalign.scheduler.kai.records import PlacedPod
from numalign.scheduler.node import ClusterNode
from numalign.scheduler.node_fit import NodeTotals
from numalign.scheduler.nrt.export import ExportOptions, export
from numalign.scheduler.nrt.value import NodeResourceTopology
from numalign.scheduler.request import read_request
from numalign.scheduler.schedulers import SCHEDULERS
from tests.conformance.sched import amounts, pod
from tests.kubelet.regular import regular
from tests.scheduler.nrt.nodes import guaranteed, static, with_pods

TOTAL = amounts({"cpu": "100", "memory": "1Ti", "example.com/gpu": "8"})


def case_of(
    kind: Kind,
    session: Session,
    asked: Pod,
    nrt: NodeResourceTopology | None = None,
    view: Any = None,
    placed: Sequence[PlacedPod] = (),
) -> Case:
    """Ask the scheduler and the kubelet, and see that they disagree."""
    found = nrt or export(session, "n", ExportOptions(fingerprint=False))
    node = ClusterNode("n", NodeTotals(TOTAL, {}, 0), session, "exact", nrt)
    request, machine = read_request(asked), topology.topology(found)
    machine = records.reconstruct(machine, placed) if machine and placed else machine
    passes = {
        "kep": filter_kep.check_kep(found, request).passed,
        "nrt": filter_nrt.check_nrt(found, TOTAL, request).passed,
        "kai": evaluate.check_kai(request, machine).passed,
    }.get(kind, True)
    admits = admission.admit(session._replace(view=view), asked).admit
    assert passes != admits, "they agree"
    return Case(node, session, asked, request, found, machine, passes, admits)


def why(kind: Kind, case: Case) -> KnownCause:
    return cause(SCHEDULERS[kind], case)


def node(machine: Machine | None = None, *pods: Pod, **settings: object) -> Session:
    policy = {"topology_manager_policy": "single-numa-node"} | settings
    return with_pods(static(machine or regular(), **policy), pods)


def sized(*cpus: str, **more: Any) -> Pod:
    return pod({"containers": [limits(count) for count in cpus], **more}, "asked")


def limits(cpus: str, memory: str = "1Gi", **more: str) -> dict[str, Any]:
    wanted = {"cpu": cpus, "memory": memory} | {name.replace("_", "/"): count for name, count in more.items()}
    return {"requests": wanted, "limits": wanted}


def test_a_cause_is_said_in_words() -> None:
    for scheduler in SCHEDULERS.values():
        assert [text_of(one.code) for one in scheduler.causes] == [one.text for one in scheduler.causes]
    assert text_of("taints") == "kube-scheduler applies the node's taints and name, which the kubelet does not check"
    assert text_of("X-0") == "cause unknown"


def test_an_old_object() -> None:
    full = export(
        node(None, guaranteed("p", {"cpu": "7", "memory": "1Gi"}), guaranteed("q", {"cpu": "7", "memory": "1Gi"})), "n"
    )
    assert why("nrt", case_of("nrt", node(), sized("4"), full)).code == "X-1"
    assert why("kep", case_of("kep", node(), sized("4"), full)).code in ("KEP", "X-1")


def test_an_old_object_is_no_cause_where_a_new_one_would_be_of_no_help() -> None:
    """It is a pod behind, but what the plugin does not see is that only whole CPUs are pinned."""
    old = export(node(None, guaranteed("p", {"cpu": "1", "memory": "1Gi"})), "n", ExportOptions(fingerprint=False))
    assert why("nrt", case_of("nrt", node(), sized("8500m"), old)).code == "X-2"


@pytest.mark.parametrize("kind", ["nrt", "kep"])
def test_fractional_cpus(kind: Kind) -> None:
    assert why(kind, case_of(kind, node(), sized("8500m"))).code == "X-2"


def test_a_node_that_is_short_as_a_whole() -> None:
    session = admission.open_session(static(regular(), topology_manager_policy="single-numa-node"))
    assert session.view is not None
    others = guaranteed("shared", {"cpu": "14500m", "memory": "1Gi"})
    session = admission.admit(session, others).then
    assert why("nrt", case_of("nrt", session, sized("4"), view=session.view)).code == "X-3"
    assert why("unaware", case_of("unaware", session, sized("4"), view=session.view)).code == "X-3"


def test_sidecars_that_are_not_counted() -> None:
    sidecar = {**limits("3"), "restartPolicy": "Always"}
    asked = sized("6", "6", initContainers=[sidecar])
    assert why("nrt", case_of("nrt", node(), asked)).code == "X-5"
    assert why("kep", case_of("kep", node(), asked)).code == "KEP"


def test_a_policy_that_is_never_filtered() -> None:
    one = guaranteed("p", {"cpu": "6", "memory": "1Gi"})
    session = node(None, one, one._replace(name="q", uid="q"), topology_manager_policy="restricted")
    assert why("nrt", case_of("nrt", session, sized("3"))).code == "X-6"


def test_options_of_the_cpu_manager() -> None:
    session = node(cpu_manager_policy_options={"full-pcpus-only": "true"})
    assert why("nrt", case_of("nrt", session, sized("3"))).code == "X-7"


def test_overhead_in_scope_pod() -> None:
    session = node(topology_manager_scope="pod")
    asked = sized("8", overhead={"cpu": "1"})
    assert why("nrt", case_of("nrt", session, asked)).code == "X-8"


def test_memory_that_no_zone_lists() -> None:
    session = node(memory_manager_policy="None", reserved_memory=())
    assert why("nrt", case_of("nrt", session, sized("2"))).code == "T-14"
    assert why("kep", case_of("kep", session, sized("2"))).code == "T-14"


@pytest.mark.parametrize("kind", ["unaware", "kep", "nrt", "kai"])
def test_a_device_that_the_node_lacks(kind: Kind) -> None:
    asked = pod({"containers": [limits("2", **{"example.com/gpu": "1"})]}, "asked")
    there = ClusterNode("n", NodeTotals(TOTAL, {}, 0), node(), "exact")
    gone = there._replace(totals=NodeTotals({"cpu": TOTAL["cpu"], "memory": TOTAL["memory"]}, {}, 0))

    def found(on: ClusterNode) -> str:
        return why(kind, Case(on, node(), asked, read_request(asked), None, None, passes=False, admits=True)).code

    assert found(gone) == "device-missing"
    assert found(there) != "device-missing"


def test_a_taint_that_no_kubelet_looks_at() -> None:
    taints = (Taint("dedicated", "ml", "NoSchedule"),)
    tainted = ClusterNode("n", NodeTotals(TOTAL, {}, 0), node(), "exact", taints=taints)
    asked = sized("2")
    case = Case(tainted, node(), asked, read_request(asked), None, None, passes=False, admits=True)

    assert why("nrt", case).code == "taints"
    assert why("nrt", case._replace(passes=True, admits=False)).code != "taints"


def test_the_proposal_compares_no_memory() -> None:
    asked = pod({"containers": [limits("1", "40Gi")]}, "asked")
    assert why("kep", case_of("kep", node(), asked)).code == "KEP"


def test_a_scheduler_that_sees_a_bag() -> None:
    assert why("unaware", case_of("unaware", node(), sized("9"))).code == "blind"


def test_kai_takes_the_width_from_what_is_allocatable() -> None:
    settings = {"topology_manager_policy": "restricted", "memory_manager_policy": "None", "reserved_memory": ()}
    both = static(regular(), **settings)
    both = both._replace(config=both.config._replace(reserved_system_cpus="0,4"))
    case = case_of("kai", with_pods(both, []), sized("8"))
    assert why("kai", case).code == "XK-1"
    assert case.nrt is not None
    silent = [one._replace(resources={"cpu": one.resources["cpu"]._replace(capacity=None)}) for one in case.nrt.zones]
    assert why("kai", case._replace(nrt=case.nrt._replace(zones=tuple(silent)))).code != "XK-1"


def test_numa_nodes_that_memory_uses_as_a_group() -> None:
    wide = guaranteed("wide", {"cpu": "500m", "memory": "40Gi"})
    session = node(None, wide, topology_manager_policy="restricted")
    asked = pod({"containers": [limits("1", "2Gi")]}, "asked")
    assert why("kai", case_of("kai", session, asked)).code == "XK-2"


def test_memory_that_is_listed_although_its_manager_is_off() -> None:
    session = node(memory_manager_policy="None", reserved_memory=())
    listed = export(node(), "n", ExportOptions(fingerprint=False))
    off = dict(listed.attributes) | {"memoryManagerPolicy": "None"}
    nrt = listed._replace(attributes=tuple(off.items()))
    asked = pod({"containers": [limits("1", "40Gi")]}, "asked")
    assert why("kai", case_of("kai", session, asked, nrt)).code == "XK-3"


def test_options_that_kai_does_not_know() -> None:
    session = node(cpu_manager_policy_options={"full-pcpus-only": "true"})
    assert why("kai", case_of("kai", session, sized("3"))).code == "XK-4"


def test_numa_nodes_that_are_close_together() -> None:
    """The kubelet puts 5 CPUs on nodes 2 and 3, KAI on 0 and 1; then only KAI has two nodes for 8."""
    settings = {"memory_manager_policy": "None", "reserved_memory": ()}
    machine = regular(nodes=4, threads=1)
    rows = ((10, 20, 20, 20), (20, 10, 20, 20), (20, 20, 10, 12), (20, 20, 12, 10))
    nodes = [one._replace(distances=row) for one, row in zip(machine.numa_nodes, rows, strict=True)]
    session = node(
        machine._replace(numa_nodes=tuple(nodes)),
        topology_manager_policy="restricted",
        topology_manager_policy_options={"prefer-closest-numa-nodes": "true"},
        **settings,
    )
    assert why("kai", case_of("kai", session, sized("5", "8"))).code == "XK-4"


def test_devices_of_several_numa_nodes() -> None:
    devices = tuple(Device(f"g{number}", (0, 1)) for number in range(2))
    session = node(regular(devices={"example.com/gpu": devices}))
    asked = pod({"containers": [limits("1", **{"example.com_gpu": "1"})] * 4}, "asked")
    assert why("kai", case_of("kai", session, asked)).code == "XK-5"


def test_overhead_that_kai_adds_in_scope_pod() -> None:
    asked = sized("4", overhead={"memory": "40Gi"})
    assert why("kai", case_of("kai", node(topology_manager_scope="pod"), asked)).code == "XK-8"


def test_a_cache_that_waits_for_an_object_with_the_pods_of_somebody_else() -> None:
    """The object is true, but the plugin does not read it until a resync has seen the foreign pod (O-6)."""
    case = case_of("nrt", node(), sized("8500m"))._replace(
        request=read_request(sized("4")), pod=sized("4"), distrust="foreign"
    )
    assert why("nrt", case).code == "X-9"


def test_a_policy_that_is_never_filtered_is_no_cause_where_the_filter_fails() -> None:
    session = node(topology_manager_policy="restricted")
    case = Case(
        ClusterNode("n", NodeTotals(TOTAL, {}, 0), session, "exact"),
        session,
        sized("4"),
        read_request(sized("4")),
        export(session, "n"),
        None,
        passes=False,
        admits=True,
        distrust="foreign",
    )
    assert why("nrt", case).code == "X-9"


def test_a_cache_that_waits_for_a_pod_on_its_way() -> None:
    full = export(
        node(None, guaranteed("p", {"cpu": "7", "memory": "1Gi"}), guaranteed("q", {"cpu": "7", "memory": "1Gi"})), "n"
    )
    case = case_of("nrt", node(), sized("4"), full)
    now = export(node(), "n", ExportOptions(fingerprint=False))
    waiting = case._replace(nrt=now, node=case.node._replace(nrt=now), distrust="reserved")
    assert why("nrt", waiting).code == "X-1"


def with_gpus_on_node_1(*cpus: str) -> tuple[Session, Pod]:
    """The init container's CPUs are used again, and it runs beside the GPUs: the first container follows it there."""
    session = node(regular(devices={"example.com/gpu": (Device("g0", (1,)), Device("g1", (1,)))}))
    first = limits("2", **{"example.com_gpu": "1"})
    return session, sized(*cpus, initContainers=[first])


@pytest.mark.parametrize("cpus", [("3", "8"), ("3", "7", "5")], ids=["the kubelet refuses", "the kubelet admits"])
def test_a_container_that_the_kubelet_puts_into_another_zone(cpus: tuple[str, ...]) -> None:
    session, asked = with_gpus_on_node_1(*cpus)
    assert why("nrt", case_of("nrt", session, asked)).code == "X-4"


def test_init_containers_whose_cpus_are_used_again() -> None:
    session, asked = with_gpus_on_node_1("3", "8")
    assert why("kai", case_of("kai", session, asked)).code == "XK-7"


def test_records_that_have_a_pod_in_another_zone_than_the_kubelet() -> None:
    """The pod of 4 CPUs is on node 0; KAI predicted node 1, which is free for 8 CPUs in truth."""
    session = node(None, guaranteed("earlier", {"cpu": "4", "memory": "1Gi"}))
    placed = PlacedPod("Bound", predicted=(("node-1", amounts({"cpu": "4", "memory": "1Gi"})),))
    assert why("kai", case_of("kai", session, sized("8"), placed=[placed])).code == "XK-6"


def test_a_kubelet_asked_again_keeps_its_memory_unless_its_manager_is_taken_back() -> None:
    """60 of 64 GiB are held. Without the CPU Manager's options there is no more; without the Memory Manager all is."""
    session = node(None, *[guaranteed(name, {"cpu": "1", "memory": "30Gi"}) for name in "ab"])
    asked = pod({"containers": [limits("1", "20Gi")]}, "asked")
    assert not admission.admits(session, asked)
    there = ClusterNode("n", NodeTotals(TOTAL, {}, 0), session)
    case = Case(there, session, asked, read_request(asked), None, None, passes=True, admits=False)
    assert not admits_with(case, cpu_manager_policy_options={"full-pcpus-only": "false"})
    assert admits_with(case, memory_manager_policy="None", reserved_memory=())


def test_a_critical_pod_takes_the_place_of_one_whose_memory_the_manager_would_have_kept() -> None:
    of = node().node
    empty = admission.open_session(Setup(of.machine, of.config, "ideal", of.kubelet))
    session = admission.admit(empty, guaranteed("a", {"cpu": "6", "memory": "20Gi"})).then
    asked = pod({"containers": [limits("12", "1Gi")]}, "asked")
    asked = asked._replace(spec={**asked.spec, "priorityClassName": "system-node-critical"})
    there = ClusterNode("n", NodeTotals(TOTAL, {}, 0), session)
    case = Case(there, session, asked, read_request(asked), None, None, passes=True, admits=False)
    assert admits_with(case, memory_manager_policy="None", reserved_memory=(), cpu_manager_policy="none")


@pytest.mark.parametrize("admits", [True, False])
def test_a_kubelet_that_would_not_start_otherwise_answers_as_it_did(admits: bool) -> None:
    """A policy on nine NUMA nodes needs an option."""
    session = node(regular(nodes=9, cores=2, threads=1))
    asked = sized("1") if admits else sized("3")
    there = ClusterNode("n", NodeTotals(TOTAL, {}, 0), session)
    case = Case(there, session, asked, read_request(asked), None, None, passes=not admits, admits=admits)
    assert admits_with(case, topology_manager_policy_options=None) is admits
    assert admits_with(case, topology_manager_policy="none")
