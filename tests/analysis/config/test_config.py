"""Checking, repairing and suggesting kubelet configurations."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.analysis.config.check import doubt, report
from numalign.analysis.config.offers import OFFERS
from numalign.analysis.config.repair import repair, start_error
from numalign.analysis.config.suggest import reserved_memory, suggest
from numalign.analysis.config.system import Ground
from numalign.kubelet.config import FIELD_NAMES, KubeletConfig, MemoryReservation
from numalign.kubelet.releases.table import kubelet
from numalign.kubelet.releases.v1_32 import V1_32
from numalign.kubelet.setup import Setup
from numalign.kubelet.start.check import check_start
from numalign.model import cpuset
from numalign.model.hardware import Hardware
from numalign.model.machine import Machine, NUMANode
from numalign.sources.machine import bundled
from numalign.sources.machine.loading import load_machine
from numalign.sources.recorded.scenario import read_scenario
from tests.conformance import cases
from tests.conftest import VECTORS
from tests.kubelet.regular import GI, regular

TWO = regular()
"""16 CPUs, cores (0,8) to (7,15), two nodes of 32Gi."""


@pytest.mark.parametrize("family", ["e2e", "lifecycle"])
def test_every_recorded_refusal_can_be_repaired(family: str) -> None:
    """The first step tells the recorded text; after the last one the kubelet starts."""
    for case in cases(VECTORS / f"{family}.jsonl.gz"):
        if "startError" in case["expect"]:
            scenario = read_scenario(json.dumps(case).encode())
            repaired = repair(Setup(scenario.machine, scenario.config, "kubelet", V1_32))
            assert repaired.steps[0].error == case["expect"]["startError"]
            assert repaired.starts, case["id"]
            check_start(Setup(scenario.machine, repaired.config, "kubelet", V1_32))


def test_a_host_with_cgroup_v1_is_repaired() -> None:
    found = repair(Setup(TWO._replace(cgroup_v1=True), KubeletConfig(), "kubelet", kubelet((1, 36))))

    assert [(step.change.field, step.change.value) for step in found.steps if step.change] == [
        ("fail_cgroup_v1", False)
    ]
    assert found.starts


STATIC = {"memory_manager_policy": "Static"}
CHANGES: dict[str, tuple[dict[str, Any], str, Any]] = {
    "a policy in the wrong case": (
        {"topology_manager_policy": "Restricted"},
        "topology_manager_policy",
        "restricted",
    ),
    "a misspelt option": (
        {
            "topology_manager_policy": "restricted",
            "topology_manager_policy_options": {"prefer-closest-numa-node": "true"},
        },
        "topology_manager_policy_options",
        {"prefer-closest-numa-nodes": "true"},
    ),
    "a misspelt signal": (
        {"eviction_hard": {"memory.avail": "1Gi"}},
        "eviction_hard",
        {"memory.available": "1Gi"},
    ),
    "an alpha option without its gate": (
        {
            "cpu_manager_policy": "static",
            "reserved_system_cpus": "0",
            "cpu_manager_policy_options": {"align-by-socket": "true"},
        },
        "feature_gates",
        {"CPUManagerPolicyAlphaOptions": True},
    ),
    "no CPU reserved": ({"cpu_manager_policy": "static"}, "reserved_system_cpus", "0,8"),
    "CPUs that are missing": ({"reserved_system_cpus": "0,8,99"}, "reserved_system_cpus", "0,8"),
    "a bad key among good ones": (
        {"kube_reserved": {"cpu": "1", "gpu": "1"}},
        "kube_reserved",
        {"cpu": "1"},
    ),
    "nothing reserved per node": (
        STATIC,
        "reserved_memory",
        (MemoryReservation(0, {"memory": "50Mi"}), MemoryReservation(1, {"memory": "50Mi"})),
    ),
    "the last node makes up the difference": (
        STATIC
        | {
            "kube_reserved": {"memory": "2Gi"},
            "reserved_memory": (MemoryReservation(0, {"memory": "1Gi"}), MemoryReservation(1, {"memory": "1Gi"})),
        },
        "reserved_memory",
        (MemoryReservation(0, {"memory": "1Gi"}), MemoryReservation(1, {"memory": "1124Mi"})),
    ),
    "huge pages cannot be reserved": (
        STATIC | {"reserved_memory": (MemoryReservation(0, {"memory": "100Mi", "hugepages-2Mi": "2Mi"}),)},
        "reserved_memory",
        (MemoryReservation(0, {"memory": "100Mi"}),),
    ),
    "an amount in bytes by name": (
        {"kube_reserved": {"memory": "2GB", "cpu": "1"}},
        "kube_reserved",
        {"memory": "2G", "cpu": "1"},
    ),
    "a threshold in bytes by name": (
        {"eviction_hard": {"memory.available": "100MiB"}},
        "eviction_hard",
        {"memory.available": "100Mi"},
    ),
    "no threshold where memory has to be kept back": (
        STATIC
        | {
            "eviction_hard": {"nodefs.available": "10%"},
            "reserved_memory": (MemoryReservation(0, {"memory": "100Mi"}),),
        },
        "eviction_hard",
        {"memory.available": "100Mi", "nodefs.available": "10%"},
    ),
    "a sum that is no whole number of bytes": (
        STATIC
        | {
            "kube_reserved": {"memory": "1500m"},
            "eviction_hard": {"memory.available": "200Mi"},
            "reserved_memory": (MemoryReservation(0, {"memory": "200Mi"}),),
        },
        "memory_manager_policy",
        "None",
    ),
    "more memory than there is": (
        {"kube_reserved": {"memory": "1Ti", "cpu": "1"}},
        "kube_reserved",
        {"cpu": "1"},
    ),
}


@pytest.mark.parametrize(("fields", "field", "value"), CHANGES.values(), ids=CHANGES)
def test_nearest_change(fields: dict[str, Any], field: str, value: Any) -> None:
    (step,) = repair(Setup(TWO, KubeletConfig(**fields), "kubelet")).steps
    assert step.change is not None
    assert (step.change.field, step.change.value) == (field, value)


WHY: dict[str, tuple[dict[str, Any], str]] = {
    "an amount in bytes by name": ({"kube_reserved": {"memory": "2GB"}}, "2G: the same amount; 2Gi is 7% more"),
    "a threshold in bytes by name": ({"eviction_hard": {"memory.available": "100MiB"}}, "100Mi: a quantity has no B"),
    "bad keys": ({"kube_reserved": {"x": "1", "gpu": "1"}}, "gpu, x cannot be reserved this way"),
}


@pytest.mark.parametrize(("fields", "why"), WHY.values(), ids=WHY)
def test_a_change_says_why(fields: dict[str, Any], why: str) -> None:
    (step,) = repair(Setup(TWO, KubeletConfig(**fields), "kubelet")).steps
    assert step.change is not None
    assert step.change.why == why


@pytest.mark.parametrize("cgroup", ["kube_reserved_cgroup", "system_reserved_cgroup"])
def test_beside_a_cgroup_cpus_are_reserved_by_their_number(cgroup: str) -> None:
    config = KubeletConfig(cpu_manager_policy="static", **{cgroup: "/x"})
    (step,) = repair(Setup(TWO, config, "kubelet")).steps
    assert step.change is not None
    assert (step.change.field, step.change.value) == ("kube_reserved", {"cpu": "2"})


@pytest.mark.parametrize("minor", range(21, 37))
def test_a_wrong_section_is_mended_first_and_alone(minor: int) -> None:
    """Releases without `max-allowable-numa-nodes` are offered the section, too, and nothing that they do not know."""
    config = KubeletConfig(**STATIC, reserved_memory=(MemoryReservation(0, {"memory": "1Gi"}),))
    (step,) = repair(Setup(TWO, config, "kubelet", kubelet((1, minor)))).steps
    assert step.change is not None
    assert step.change.field == "reserved_memory"


def test_bad_gates_are_told_together() -> None:
    gates = {"Nonsense": True, "CPUManagerPolicyAlphaOption": True, "SidecarContainers": False, "MemoryQoS": True}
    (step,) = repair(Setup(TWO, KubeletConfig(feature_gates=gates), "kubelet")).steps
    assert step.change is not None
    assert step.change.value == {"CPUManagerPolicyAlphaOptions": True, "MemoryQoS": True}
    assert step.change.why == (
        "this release has no feature gate CPUManagerPolicyAlphaOption (similar: CPUManagerPolicyAlphaOptions), "
        "Nonsense; SidecarContainers is locked in this release"
    )


def test_a_gate_that_stands_for_many_stays_beside_one_that_goes() -> None:
    config = KubeletConfig(feature_gates={"AllAlpha": False, "Nonsense": True})
    (step,) = repair(Setup(TWO, config, "kubelet")).steps
    assert step.change is not None
    assert step.change.value == {"AllAlpha": False}


def test_a_misspelt_option_goes_where_the_right_one_is_there() -> None:
    config = KubeletConfig(
        cpu_manager_policy="static",
        cpu_manager_policy_options={"full-pcpus-only": "true", "full-pcpu-only": "false"},
        reserved_system_cpus="0,8",
    )
    (step,) = repair(Setup(TWO, config, "kubelet")).steps
    assert step.change is not None
    assert step.change.value == {"full-pcpus-only": "true"}
    assert step.change.why.startswith("allowed: ")


@pytest.mark.parametrize("ground", [None, Ground(), Ground(unknown={"evictionHard": "add --eviction-hard"})])
def test_nobody_doubts_a_start_that_nothing_unknown_decides(ground: Ground | None) -> None:
    assert doubt(Setup(TWO, KubeletConfig(), "kubelet"), ground) == ""


def test_an_option_of_another_manager_is_not_called_new() -> None:
    """In the very release in which the Topology Manager got it."""
    config = KubeletConfig(
        cpu_manager_policy="static",
        cpu_manager_policy_options={"max-allowable-numa-nodes": "9"},
        reserved_system_cpus="0",
    )
    (step,) = repair(Setup(TWO, config, "kubelet", kubelet((1, 31)))).steps
    assert step.change is not None
    assert step.change.why.startswith("allowed: align-by-socket, ")


@pytest.mark.parametrize(("options", "starts"), [(40, True), (41, False)])
def test_after_forty_complaints_nobody_looks_for_the_next(options: int, starts: bool) -> None:
    """Each option that does not exist is one."""
    config = KubeletConfig(
        topology_manager_policy="restricted",
        topology_manager_policy_options={f"no-such-{number}": "true" for number in range(options)},
    )
    repaired = repair(Setup(TWO, config, "kubelet"))
    assert (len(repaired.steps), repaired.starts) == (40, starts)


def test_more_nodes_than_allowed() -> None:
    config = KubeletConfig(topology_manager_policy="restricted")
    (step,) = repair(Setup(regular(nodes=9, cores=1), config, "kubelet")).steps
    assert step.change is not None
    assert step.change.value == {"max-allowable-numa-nodes": "9"}


@pytest.mark.parametrize(
    ("fields", "change"),
    [
        pytest.param(
            {"cpu_manager_policy": "static", "feature_gates": {"TopologyManagerPolicyBetaOptions": False}},
            {"reserved_system_cpus": "0"},
            id="no number of nodes is allowed, which would need the gate",
        ),
        pytest.param(
            {"topology_manager_policy_options": {"prefer-closest-numa-nodes": "perhaps"}},
            {"topology_manager_policy_options": {"prefer-closest-numa-nodes": "true"}},
            id="the policy stays",
        ),
    ],
)
def test_eight_nodes_are_not_too_many(fields: dict[str, Any], change: dict[str, Any]) -> None:
    settings = KubeletConfig(topology_manager_policy="single-numa-node", **fields)
    [step] = repair(Setup(regular(nodes=8, threads=1), settings, "kubelet", kubelet((1, 33)))).steps
    assert step.change is not None
    assert step.change.values == change


def test_ids_beyond_the_mask_leave_policy_none() -> None:
    far = Machine("far", (NUMANode(0, 1, GI), NUMANode(64, 2, GI)))
    (step,) = repair(Setup(far, KubeletConfig(topology_manager_policy="restricted"), "kubelet")).steps
    assert step.change is not None
    assert step.change.value == "none"


@pytest.mark.parametrize(("number", "beyond"), [(63, False), (64, True)])
def test_only_ids_beyond_the_mask_are_said_to_crash(number: int, *, beyond: bool) -> None:
    far = Machine("far", (NUMANode(0, 1, GI), NUMANode(number, 2, GI)))
    setup = Setup(far, KubeletConfig(topology_manager_policy="restricted"), "kubelet")
    whys = {change.why for offer in OFFERS for change in offer(setup)}
    assert ("other policies crash on NUMA node ids above 63" in whys) is beyond


def test_the_sum_names_its_parts() -> None:
    config = KubeletConfig(
        memory_manager_policy="Static",
        kube_reserved={"memory": "1Gi"},
        system_reserved={"memory": "500M"},
        reserved_memory=(MemoryReservation(1, {"memory": "1Gi"}),),
    )
    memory = report(Setup(TWO, config, "kubelet")).memory
    assert memory is not None
    assert [(part.source, part.text, part.bytes) for part in memory.wanted] == [
        ("systemReserved.memory", "500M", 500_000_000),
        ("kubeReserved.memory", "1Gi", GI),
        ("evictionHard[memory.available], default", "100Mi", 100 << 20),
    ]
    assert (memory.total_wanted, memory.total_given) == (1678599424, GI)
    assert memory.accepted == (MemoryReservation(1, {"memory": "1678599424"}),)


FINDINGS: dict[str, tuple[dict[str, Any], Machine, list[str]]] = {
    "half a core": ({"cpu_manager_policy": "static", "reserved_system_cpus": "0"}, TWO, ["split-cores"]),
    "a whole core": ({"cpu_manager_policy": "static", "reserved_system_cpus": "0,8"}, TWO, []),
    "two reservations of CPUs": (
        {"cpu_manager_policy": "static", "reserved_system_cpus": "0,8", "kube_reserved": {"cpu": "1"}},
        TWO,
        ["cpu-reservation-replaced"],
    ),
    "two reservations of CPUs, one for the system": (
        {"cpu_manager_policy": "static", "reserved_system_cpus": "0,8", "system_reserved": {"cpu": "1"}},
        TWO,
        ["cpu-reservation-replaced"],
    ),
    "a threshold that follows the memory": (
        STATIC
        | {
            "kube_reserved": {"memory": "1Gi"},
            "eviction_hard": {"memory.available": "50%"},
            "reserved_memory": (MemoryReservation(0, {"memory": "17Gi"}), MemoryReservation(1, {"memory": "16Gi"})),
        },
        TWO,
        ["percent-threshold"],
    ),
    "isolated CPUs reserved": (
        {"cpu_manager_policy": "static", "reserved_system_cpus": "0,8"},
        TWO._replace(hardware=Hardware(isolated_cpus=cpuset.parse("0,8"))),
        ["isolated-reserved", "pool-and-isolation-differ"],
    ),
    "isolated CPUs are the others": (
        {"cpu_manager_policy": "static", "reserved_system_cpus": "0,8"},
        TWO._replace(hardware=Hardware(isolated_cpus=cpuset.parse("1-7,9-15"))),
        [],
    ),
    "everything reserved": (
        {"cpu_manager_policy": "static", "reserved_system_cpus": "0-15"},
        TWO,
        ["nothing-left"],
    ),
    "options nobody reads": ({"topology_manager_policy_options": {"x": "y"}}, TWO, ["ignored"]),
    "memory nobody reads": ({"reserved_memory": (MemoryReservation(0, {"memory": "1Gi"}),)}, TWO, ["ignored"]),
    "a policy without CPUs": ({"topology_manager_policy": "restricted"}, TWO, ["cpus-not-aligned"]),
}


@pytest.mark.parametrize(("fields", "machine", "codes"), FINDINGS.values(), ids=FINDINGS)
def test_finding(fields: dict[str, Any], machine: Machine, codes: list[str]) -> None:
    found = report(Setup(machine, KubeletConfig(**fields), "kubelet"))
    assert found.starts
    assert [finding.code for finding in found.findings] == codes
    assert {finding.field for finding in found.findings} <= {*FIELD_NAMES.values()}


KEPT = {**STATIC, "reserved_memory": (MemoryReservation(0, {"memory": "100Mi"}),)}
"""Memory that is pinned; the eviction threshold is kept back."""
MACHINES = {
    **{name: name for name in bundled.names()},
    "one CPU": "sockets=1,coresPerNumaNode=1",
    "12 nodes": "sockets=4,numaNodesPerSocket=3,coresPerNumaNode=2,memoryPerNumaNode=1Gi",
    "little memory": "sockets=2,coresPerNumaNode=1,memoryPerNumaNode=40Mi",
    "no memory": "sockets=2,coresPerNumaNode=1",
}


@pytest.mark.parametrize("name", MACHINES)
def test_suggestion_starts(name: str) -> None:
    """On every machine, with a reason for every setting and nothing to find fault with."""
    machine = load_machine(MACHINES[name]).machine
    suggestion = suggest(machine, {})
    assert suggestion.error == ""
    assert start_error(Setup(machine, suggestion.config, "kubelet")) is None
    defaults = KubeletConfig()
    changed = {field for field, value in suggestion.config._asdict().items() if value != getattr(defaults, field)}
    assert changed <= suggestion.reasons.keys()
    codes = {finding.code for finding in report(Setup(machine, suggestion.config, "kubelet")).findings}
    assert codes <= {"nothing-left"}


@pytest.mark.parametrize("name", ["figure-1", "hgx-h100"])
def test_wishes_are_kept(name: str) -> None:
    wishes = {
        "topology_manager_policy": "single-numa-node",
        "topology_manager_scope": "pod",
        "kube_reserved": {"cpu": "1", "memory": "2Gi"},
    }
    config = suggest(load_machine(name).machine, wishes).config
    assert {field: getattr(config, field) for field in wishes} == wishes


@given(
    nodes=st.integers(1, 10),
    memory=st.integers(0, 4 * GI),
    kube=st.integers(0, 5 * GI),
    system=st.integers(0, 10**9),
)
def test_calculated_section_is_accepted(nodes: int, memory: int, kube: int, system: int) -> None:
    """Whatever has to add up, the calculator's section does, or there is not that much memory."""
    machine = regular(nodes=nodes, cores=1, memory=memory)
    config = KubeletConfig(
        memory_manager_policy="Static",
        kube_reserved={"memory": str(kube)},
        system_reserved={"memory": f"{system}"},
    )
    found = report(Setup(machine, config, "kubelet")).memory
    assert found is not None
    if found.accepted is None:
        assert found.total_wanted > nodes * memory
    else:
        check_start(Setup(machine, config._replace(reserved_memory=found.accepted), "kubelet"))


@pytest.mark.parametrize(
    ("memory", "aligned"), [({}, "only devices"), (KEPT, "only devices and memory")], ids=["nothing", "memory"]
)
def test_what_a_policy_aligns_without_cpus_is_named(memory: dict[str, Any], aligned: str) -> None:
    config = KubeletConfig(topology_manager_policy="restricted", **memory)
    (finding,) = report(Setup(TWO, config, "kubelet")).findings
    assert finding.message.endswith(f"restricted aligns {aligned}")


@pytest.mark.parametrize("field", ["kube_reserved", "system_reserved"])
def test_half_a_core_is_put_down_to_the_setting_it_comes_from(field: str) -> None:
    settings: dict[str, Any] = {"cpu_manager_policy": "static", field: {"cpu": "500m"}}
    (finding,) = report(Setup(TWO, KubeletConfig(**settings), "kubelet")).findings

    assert (finding.code, finding.field) == ("split-cores", field.replace("_r", "R"))


@pytest.mark.parametrize(
    ("reserved", "fix"),
    [
        ("0", "the other threads, CPU 8; fix: reserve whole cores, 0,8"),
        ("0,9", "the other threads, CPUs 1,8; fix: reserve whole cores, 0-1,8-9"),
    ],
)
def test_the_other_threads_of_split_cores_are_named(reserved: str, fix: str) -> None:
    config = KubeletConfig(cpu_manager_policy="static", reserved_system_cpus=reserved)
    (finding,) = report(Setup(TWO, config, "kubelet")).findings
    assert finding.message.endswith(fix)


def test_a_list_of_cpus_that_cannot_be_read_becomes_the_first_core() -> None:
    late = Machine("late", (NUMANode(0, 0b1111 << 4, GI),), cores=(0b0110 << 4, 0b1001 << 4))
    (step,) = repair(Setup(late, KubeletConfig(reserved_system_cpus="x"), "kubelet")).steps
    assert step.change is not None
    assert step.change.value == "4,7"


def test_what_stops_the_kubelet_does_not_hide_the_rest() -> None:
    config = KubeletConfig(
        cpu_manager_policy="static", cpu_manager_policy_options={"full-pcpu-only": "true"}, reserved_system_cpus="0"
    )
    stopped = report(Setup(TWO, config, "kubelet"))

    assert not stopped.starts
    assert stopped.reserved_cpus is None
    assert [finding.code for finding in stopped.findings] == ["split-cores"]


def with_node_ids(*ids: int) -> Machine:
    """TWO with other node ids."""
    renamed = zip(TWO.numa_nodes, ids, strict=True)
    return TWO._replace(numa_nodes=tuple(node._replace(id=number) for node, number in renamed))


@pytest.mark.parametrize("ids", [(-1, 0), (0, 64), (0, 1_000_000)], ids=str)
def test_a_machine_with_ids_that_no_mask_holds_gets_a_configuration_that_starts(ids: tuple[int, int]) -> None:
    suggestion = suggest(with_node_ids(*ids), {})
    assert suggestion.error == ""
    assert suggestion.config.topology_manager_policy == "none"
    assert suggestion.config.memory_manager_policy == "None"


@pytest.mark.parametrize("ids", [(-1, 0), (0, 64), (0, 1_000_000)], ids=str)
def test_the_static_memory_manager_crashes_on_such_ids(ids: tuple[int, int]) -> None:
    config = KubeletConfig(memory_manager_policy="Static", kube_reserved={"memory": "1Gi"}, eviction_hard={})
    reserved = (MemoryReservation(0, {"memory": "1Gi"}),)
    error = start_error(Setup(with_node_ids(*ids), config._replace(reserved_memory=reserved), "kubelet"))
    assert "is outside 0-63; only memoryManagerPolicy None works here" in (error or "")


def test_a_suggestion_reserves_by_the_size_of_the_machine() -> None:
    """One core for each 32 begun, taken from the NUMA nodes in turn; memory by tiers."""
    large = suggest(load_machine("hgx-h100").machine, {}).config

    assert large.reserved_system_cpus == "0-1,56-57,112-113,168-169"
    assert suggest(load_machine("figure-1").machine, {}).config.reserved_system_cpus == "0"
    assert [reserved_memory(size * GI) // (GI // 100) for size in (4, 8, 16, 128, 256)] == [100, 180, 260, 932, 1188]
