"""A configuration for a machine: what it keeps back, what it switches on, and the reason for each line."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.analysis.config import systems
from numalign.analysis.config.suggest import reserved_cores, reserved_memory, suggest
from numalign.analysis.config.system import Base, Facts, System
from numalign.analysis.config.systems import FORMATS
from numalign.kubelet.config import FIELD_NAMES, KubeletConfig
from numalign.model.cpuset import format_set, parse
from numalign.model.machine import Machine, NUMANode, Unit
from tests.kubelet.regular import regular

GI = 1 << 30


def machine(*nodes: tuple[int, str], threads: int = 1, memory: int = 8 * GI) -> Machine:
    """Nodes by id and CPUs; cores of so many threads in a row."""
    made = tuple(NUMANode(number, parse(cpus), memory) for number, cpus in nodes)
    every = [cpu for _, cpus in nodes for cpu in range(256) if parse(cpus) >> cpu & 1] if nodes else []
    cores = [every[start : start + threads] for start in range(0, len(every), threads)]
    return Machine(
        "m",
        made,
        sockets=tuple(Unit(number, parse(cpus)) for number, cpus in nodes),
        cores=tuple(sum(1 << cpu for cpu in core) for core in cores),
    )


@pytest.mark.parametrize("output", FORMATS)
def test_a_system_gets_settings_that_start_and_that_it_takes(output: str) -> None:
    system = FORMATS[output]
    found = suggest(regular(), {}, system=system)
    assert not found.error
    assert not {FIELD_NAMES[field] for field in found.reasons} & system.lacks
    assert found.reasons.get("system_reserved", f"what {system.name} reserves").startswith(f"what {system.name} ")


@pytest.mark.parametrize("system", [one for one in vars(systems).values() if isinstance(one, System)])
def test_a_system_has_a_name_and_a_base(system: System) -> None:
    assert isinstance(system.name, str)
    assert isinstance(system.base(Facts(), {}), Base)


CORES = [
    ("one core of a small machine", machine((0, "0-3")), "0"),
    ("with both of its threads", machine((0, "0-3"), threads=2), "0-1"),
    ("one for each 32 begun", machine((0, "0-31")), "0"),
    ("the next one begins another", machine((0, "0-32")), "0-1"),
    ("nodes take turns", machine((0, "0-31"), (1, "32-63")), "0,32"),
    ("by their ids", machine((1, "0-31"), (0, "32-64")), "0,32-33"),
    ("a node without CPUs gives none", machine((0, ""), (1, "0-40")), "0-1"),
    ("of a machine without cores the first CPU", machine((0, "2-3"))._replace(cores=()), "2"),
    ("a core is as low as its lowest thread", machine((0, "0-3"))._replace(cores=(0b0110, 0b1001)), "0,3"),
    ("a node that has given all gives no more", machine((0, "0"), (1, "1-80")), "0-2"),
]


@pytest.mark.parametrize(("of", "cpus"), [row[1:] for row in CORES], ids=[row[0] for row in CORES])
def test_cores_that_are_kept_for_the_system(of: Machine, cpus: str) -> None:
    assert format_set(reserved_cores(of)) == cpus


MEMORY = [
    ("a quarter of the first four", 4, 1024),
    ("a fifth of the next four", 8, 1024 + 819),
    ("a tenth of eight", 16, 1024 + 819 + 819),
    ("six per cent up to 128", 128, 1024 + 819 + 819 + 6881),
    ("two per cent of all the rest", 228, 1024 + 819 + 819 + 6881 + 2048),
    ("half of the first", 2, 512),
    ("nothing of nothing", 0, 0),
]


@pytest.mark.parametrize(("gib", "mib"), [row[1:] for row in MEMORY], ids=[row[0] for row in MEMORY])
def test_memory_that_is_kept_for_the_kubelet(gib: int, mib: int) -> None:
    assert reserved_memory(gib * GI) >> 20 in (mib, mib + 1, mib + 2)


def suggested(of: Machine, **wishes: Any) -> KubeletConfig:
    found = suggest(of, wishes)
    assert found.error == ""
    assert set(wishes) <= found.reasons.keys()
    return found.config


def test_a_machine_like_others() -> None:
    found = suggested(regular())

    assert (found.topology_manager_policy, found.topology_manager_scope) == ("restricted", "container")
    assert (found.cpu_manager_policy, found.memory_manager_policy) == ("static", "Static")
    assert found.reserved_system_cpus == "0,8"
    assert found.eviction_hard == {"memory.available": "100Mi"}
    assert set(found.kube_reserved) == {"memory"}
    assert [one.numa_node for one in found.reserved_memory] == [0, 1]


def test_what_is_wished_is_kept_and_said_to_be() -> None:
    found = suggest(regular(), {"topology_manager_policy": "best-effort", "memory_manager_policy": "None"})

    assert (found.config.topology_manager_policy, found.config.memory_manager_policy) == ("best-effort", "None")
    assert found.config.reserved_memory == ()
    assert found.reasons["topology_manager_policy"] == "as requested"


def test_ids_that_crash_other_policies() -> None:
    found = suggest(machine((0, "0-3"), (64, "4-7")), {})

    assert found.error == ""
    assert (found.config.topology_manager_policy, found.config.memory_manager_policy) == ("none", "None")
    assert found.config.topology_manager_policy_options is None
    assert "memory_manager_policy" not in found.reasons
    assert found.reasons["topology_manager_policy"] == "the other policies crash on NUMA node ids outside 0-63"
    assert suggested(machine((0, "0-3"), (63, "4-7"))).topology_manager_policy == "restricted"


def test_options_of_the_topology_manager_are_for_policies_that_align() -> None:
    nine = [(number, str(number)) for number in (*range(8), 64)]
    found = suggest(machine(*nine), {})

    assert (found.error, found.config.topology_manager_policy) == ("", "none")
    assert found.config.topology_manager_policy_options is None
    nine[8] = (8, "64")
    assert suggested(machine(*nine)).topology_manager_policy_options == {"max-allowable-numa-nodes": "9"}


def test_little_memory_is_not_kept_back() -> None:
    assert "memory" in suggested(machine((0, "0-3"), memory=4 * GI)).kube_reserved
    assert suggested(machine((0, "0-3"), memory=4 * GI - 1)).kube_reserved == {}


def test_a_machine_without_memory_pins_none() -> None:
    found = suggest(machine((0, "0-3"), memory=0), {})
    assert (found.error, found.config.memory_manager_policy) == ("", "None")
    assert "memory_manager_policy" not in found.reasons


def test_a_section_that_would_not_add_up_is_left_out() -> None:
    found = suggest(regular(), {"kube_reserved": {"memory": "1500m"}})

    assert found.error == ""
    assert (found.config.memory_manager_policy, found.config.reserved_memory) == ("None", ())
    assert found.reasons["memory_manager_policy"].startswith("no reservedMemory can equal the sum on this machine")


def test_where_no_change_helps_the_last_error_is_told() -> None:
    wishes = {"cpu_manager_policy_options": {"strict-cpu-reservation": "true", "distribute-cpus-across-cores": "true"}}
    found = suggest(regular(), wishes, system=FORMATS["kubeletconfig"])
    assert found.error.startswith("new none policy error: None policy: received unsupported options=")
