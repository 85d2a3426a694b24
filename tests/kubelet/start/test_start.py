"""Whether the kubelet starts: the texts and their order (docs/rules/kubelet-files.md 56, 57; topology-manager.md 2)."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import Any

import pytest

from numalign.errors import StartError
from numalign.kubelet.config import IDEAL, KubeletConfig, Level, MemoryReservation
from numalign.kubelet.releases.table import kubelet
from numalign.kubelet.releases.v1_32 import V1_32
from numalign.kubelet.setup import Setup
from numalign.kubelet.start.check import check_start
from numalign.kubelet.topology.options import TopologyOptions, not_enabled, read_options, start
from numalign.model.machine import Machine, NUMANode
from tests.conformance import cases
from tests.conftest import VECTORS
from tests.kubelet.regular import regular

TWO = regular()
NINE = regular(nodes=9, cores=1)
BLIND = regular(distances=False)
HALF_BLIND = TWO._replace(numa_nodes=(TWO.numa_nodes[0], TWO.numa_nodes[1]._replace(distances=None)))


def _options(**options: str) -> dict[str, Any]:
    names = {"closest": "prefer-closest-numa-nodes", "limit": "max-allowable-numa-nodes"}
    return {
        "topology_manager_policy": "restricted",
        "topology_manager_policy_options": {names.get(name, name): text for name, text in options.items()},
    }


REFUSED: dict[str, tuple[Machine, dict[str, Any], str]] = {
    "unknown policy": (
        TWO,
        {"topology_manager_policy": "numa"},
        (
            'invalid configuration: topologyManagerPolicy (--topology-manager-policy) "numa" must be one of: '
            '["none" "best-effort" "restricted" "single-numa-node"]'
        ),
    ),
    "unknown scope": (
        TWO,
        {"topology_manager_scope": "node"},
        (
            'invalid configuration: topologyManagerScope (--topology-manager-scope) "node" must be one of: '
            '"container", or "pod"'
        ),
    ),
    "several validation errors, equal ones once": (
        TWO,
        {
            "topology_manager_scope": "node",
            "reserved_system_cpus": "x",
            "reserved_memory": (MemoryReservation(0, {"cpu": "1"}), MemoryReservation(0, {"cpu": "1"})),
        },
        (
            '[invalid configuration: topologyManagerScope (--topology-manager-scope) "node" must be '
            'one of: "container", '
            'or "pod", invalid configuration: unable to parse reservedSystemCPUs (--reserved-cpus) x, error: '
            'strconv.Atoi: parsing "x": invalid syntax, invalid configuration: the limit type "cpu" '
            "for NUMA node 0 is not "
            "supported, only [memory hugepages-<HugePageSize>] is accepted, invalid configuration: the "
            "reserved memory has "
            'a duplicate value for NUMA node 0 and resource "cpu"]'
        ),
    ),
    "reserved CPUs the machine does not have": (
        TWO,
        {"reserved_system_cpus": "33"},
        "reserved-cpus: 33 is not a subset of online-cpus: 0-15",
    ),
    "eviction before the CPU manager's name": (
        TWO,
        {"cpu_manager_policy": "Static", "eviction_hard": {"foo": "1"}},
        "unsupported eviction signal foo",
    ),
    "the CPU options' gate": (
        TWO,
        {"cpu_manager_policy_options": {"a": "b"}, "feature_gates": {"CPUManagerPolicyOptions": False}},
        'CPU Manager policy options map[a:b] require feature gates "CPUManager", "CPUManagerPolicyOptions" enabled',
    ),
    "the topology options' gate, even under policy none": (
        TWO,
        {"topology_manager_policy_options": {}, "feature_gates": {"TopologyManagerPolicyOptions": False}},
        'topology manager policy options map[] require feature gates "TopologyManagerPolicyOptions" enabled',
    ),
    "unknown topology option": (TWO, _options(nope="1"), 'unknown Topology Manager Policy option: "nope"'),
    "no boolean": (
        TWO,
        _options(closest="yes"),
        'bad value for option "prefer-closest-numa-nodes": strconv.ParseBool: parsing "yes": invalid syntax',
    ),
    "no integer": (
        TWO,
        _options(limit="8.0"),
        (
            'unable to convert policy option to integer "max-allowable-numa-nodes": strconv.Atoi: parsing "8.0": '
            "invalid syntax"
        ),
    ),
    "a limit below 8": (
        TWO,
        _options(limit="7"),
        'the minimum value of "max-allowable-numa-nodes" should not be less than 8',
    ),
    "a beta option with its gate off": (
        TWO,
        _options(limit="9") | {"feature_gates": {"TopologyManagerPolicyBetaOptions": False}},
        'Topology Manager Policy Beta-level Options not enabled, but option "max-allowable-numa-nodes" provided',
    ),
    "no distances": (
        BLIND,
        _options(closest="true"),
        "cannot discover NUMA topology: error getting NUMA distances from cadvisor",
    ),
    "no distances of one node": (
        HALF_BLIND,
        _options(closest="true"),
        "cannot discover NUMA topology: error getting NUMA distances from cadvisor",
    ),
    "nine nodes come before the CPU manager": (
        NINE,
        {"topology_manager_policy": "restricted", "cpu_manager_policy": "static"},
        "unsupported on machines with more than 8 NUMA Nodes",
    ),
    "nine nodes do not matter to policy none": (
        NINE,
        {"cpu_manager_policy": "static"},
        "[cpumanager] unable to determine reserved CPU resources for static policy",
    ),
    "the CPU manager comes before the memory manager": (
        TWO,
        {"cpu_manager_policy": "static", "memory_manager_policy": "Static", "kube_reserved": {"cpu": "67"}},
        (
            "new static policy error: [cpumanager] unable to reserve the required amount of CPUs "
            "(size of  did not equal 67)"
        ),
    ),
    "the memory manager comes before the capacity": (
        TWO,
        {"memory_manager_policy": "Static", "kube_reserved": {"cpu": "67"}},
        (
            'the total amount "0" of type "memory" is not equal to the value "100Mi" determined by '
            "Node Allocatable feature"
        ),
    ),
    "capacity counts with all managers off": (
        TWO,
        {"kube_reserved": {"cpu": "67"}},
        (
            'invalid Node Allocatable configuration. Resource "cpu" has a reservation of {{67 0} '
            "{<nil>}  DecimalSI} but "
            "capacity of {{16000 -3} {<nil>}  DecimalSI}. Expected capacity >= reservation."
        ),
    ),
    "an unreadable amount": (
        TWO,
        {"reserved_memory": (MemoryReservation(0, {"memory": "x"}),)},
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ),
    "reserved CPUs and a cgroup": (
        TWO,
        {"reserved_system_cpus": "0", "system_reserved_cgroup": "/system"},
        (
            "invalid configuration: can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup "
            "(--system-reserved-cgroup) or kubeReservedCgroup (--kube-reserved-cgroup)"
        ),
    ),
    "reserved CPUs and the other cgroup": (
        TWO,
        {"reserved_system_cpus": "0", "kube_reserved_cgroup": "/kube"},
        (
            "invalid configuration: can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup "
            "(--system-reserved-cgroup) or kubeReservedCgroup (--kube-reserved-cgroup)"
        ),
    ),
    "node ids no mask can hold": (
        Machine("far", (NUMANode(0, 1), NUMANode(64, 2), NUMANode(70, 4))),
        {"topology_manager_policy": "best-effort", "eviction_hard": {}},
        (
            "the kubelet would crash at the first admission: NUMA node 64 is outside 0-63; "
            "only topologyManagerPolicy none works here"
        ),
    ),
}


@pytest.mark.parametrize(("machine", "fields", "text"), REFUSED.values(), ids=REFUSED)
def test_refusal(machine: Machine, fields: dict[str, Any], text: str) -> None:
    with pytest.raises(StartError) as caught:
        check_start(Setup(machine, KubeletConfig(**fields), "kubelet", V1_32))
    assert caught.value.message == text


@pytest.mark.parametrize(
    ("setting", "fields", "since"),
    [
        ("topologyManagerScope", {"topology_manager_scope": "pod"}, 20),
        ("memoryManagerPolicy", {"memory_manager_policy": "Static"}, 21),
        ("cpuManagerPolicyOptions", {"cpu_manager_policy_options": {"full-pcpus-only": "true"}}, 22),
        ("topologyManagerPolicyOptions", {"topology_manager_policy_options": {"x": "y"}}, 26),
    ],
)
def test_a_setting_that_came_later(setting: str, fields: dict[str, Any], since: int) -> None:
    text = f"kubelet 1.{since - 1} has no {setting}: it came with 1.{since}"
    with pytest.raises(StartError) as caught:
        check_start(Setup(TWO, KubeletConfig(**fields), "ideal", kubelet((1, since - 1))))
    assert caught.value.message == text


@pytest.mark.parametrize(
    ("minor", "policy", "starts"),
    [(16, "restricted", False), (26, "restricted", False), (16, "none", True), (29, "restricted", True)],
)
def test_the_gate_of_the_whole_topology_manager_turned_off(minor: int, policy: str, starts: bool) -> None:
    """It went with 1.29."""
    off = KubeletConfig(policy, feature_gates={"TopologyManager": False}, eviction_hard={})
    text = "TopologyManager restricted requires feature gate TopologyManager"
    with nullcontext() if starts else pytest.raises(StartError, match=text):
        check_start(Setup(TWO, off, "ideal", kubelet((1, minor))))


def test_the_alpha_of_the_topology_manager_is_taken_as_on() -> None:
    """What 1.16 did with a policy and without its gate is not known."""
    check_start(Setup(TWO, KubeletConfig("restricted", eviction_hard={}), "ideal", kubelet((1, 16))))


@pytest.mark.parametrize(("last", "starts"), [(-1, False), (63, True), (64, False)])
def test_a_mask_holds_64_nodes(last: int, starts: bool) -> None:
    machine = Machine("far", (NUMANode(0, 1), NUMANode(last, 2)))
    config = KubeletConfig(topology_manager_policy="best-effort", eviction_hard={})
    with nullcontext() if starts else pytest.raises(StartError, match="only topologyManagerPolicy none works here"):
        check_start(Setup(machine, config, "kubelet", V1_32))
    check_start(Setup(machine, KubeletConfig(eviction_hard={}), "kubelet", V1_32))


@pytest.mark.parametrize(
    ("cgroup_v1", "fails", "starts"), [(True, True, False), (True, False, True), (False, True, True)]
)
def test_a_host_with_cgroup_v1_is_refused_where_the_settings_say_so(cgroup_v1: bool, fails: bool, starts: bool) -> None:
    machine, config = TWO._replace(cgroup_v1=cgroup_v1), KubeletConfig(fail_cgroup_v1=fails)
    with nullcontext() if starts else pytest.raises(StartError, match="not run on a host using cgroup v1"):
        check_start(Setup(machine, config, "kubelet"))


def test_policy_none_looks_at_nothing() -> None:
    """Options, scope and node count are not examined under policy none (step 1)."""
    config = KubeletConfig(topology_manager_policy_options={"nope": "x"})
    assert check_start(Setup(NINE, config, "kubelet")).options == TopologyOptions()


def test_a_raised_limit_admits_nine_nodes() -> None:
    config = KubeletConfig(**_options(limit="+9", closest="T"))
    assert check_start(Setup(NINE, config, "kubelet")).options == TopologyOptions(
        max_allowable_numa_nodes=9, prefer_closest_numa_nodes=True
    )


@pytest.mark.parametrize(
    ("fields", "machine", "text"),
    [
        ({"topology_manager_policy": "numa"}, TWO, 'unknown policy: "numa"'),
        ({"topology_manager_policy": "restricted", "topology_manager_scope": "node"}, TWO, 'unknown scope: "node"'),
        (_options(), NINE, "unsupported on machines with more than 8 NUMA Nodes"),
        (_options(limit="8"), NINE, "unsupported on machines with more than 8 NUMA Nodes"),
        (_options(limit="7"), TWO, 'the minimum value of "max-allowable-numa-nodes" should not be less than 8'),
        (_options(closest="T"), BLIND, "cannot discover NUMA topology: error getting NUMA distances from cadvisor"),
        (_options(closest="F"), BLIND, ""),
        (_options(limit="8"), TWO, ""),
    ],
)
def test_the_topology_manager_checks_its_settings(fields: dict[str, Any], machine: Machine, text: str) -> None:
    """docs/rules/topology-manager.md 2, whatever was validated before."""
    config, levels = KubeletConfig(**fields), V1_32.levels("topology")
    with pytest.raises(StartError) if text else nullcontext() as refused:
        start(config, machine, gates=lambda _gate: True, levels=levels, refusal=not_enabled)
    assert not refused or refused.value.message == text


@pytest.mark.parametrize(("level", "on"), [("Alpha", False), ("Beta", True), ("Stable", True)])
def test_an_option_needs_the_gate_of_its_level(level: Level, on: bool) -> None:
    config = KubeletConfig(topology_manager_policy_options={"prefer-closest-numa-nodes": "true"})
    gates = {"TopologyManagerPolicyAlphaOptions": False, "TopologyManagerPolicyBetaOptions": True}
    levels: dict[str, Level] = {"prefer-closest-numa-nodes": level}
    if on:
        assert read_options(config, gates.__getitem__, levels, not_enabled).prefer_closest_numa_nodes
        return
    with pytest.raises(StartError, match="topology manager policy alpha-level options not enabled"):
        read_options(config, gates.__getitem__, levels, not_enabled)


def test_first_bad_option_by_name_is_told() -> None:
    config = KubeletConfig(topology_manager_policy_options={"zz": "1", "aa": "1"})
    with pytest.raises(StartError, match="aa"):
        read_options(config, lambda _gate: True, {}, not_enabled)


def test_ideal_node_needs_no_reservation() -> None:
    """The one check that is waived; the kubelet itself would refuse."""
    assert check_start(Setup(TWO, IDEAL, "ideal")).cpu.reserved == 0
    with pytest.raises(StartError, match="unable to determine reserved CPU"):
        check_start(Setup(TWO, IDEAL, "kubelet"))


@pytest.mark.parametrize("family", ["e2e", "lifecycle"])
def test_every_recorded_refusal_comes_out_word_for_word(family: str) -> None:
    from numalign.sources.recorded.scenario import read_scenario

    count = 0
    for case in cases(VECTORS / f"{family}.jsonl.gz"):
        if "startError" in case["expect"]:
            scenario = read_scenario(json.dumps(case).encode())
            with pytest.raises(StartError) as caught:
                check_start(Setup(scenario.machine, scenario.config, "kubelet", V1_32))
            assert caught.value.message == case["expect"]["startError"], case["id"]
            count += 1
    assert count
