"""Machine to object to machine keeps every count per NUMA node (docs/rules/podresources.md 28, 29)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.errors import InputError
from numalign.kubelet import admission
from numalign.kubelet.admission import Session
from numalign.kubelet.setup import Setup
from numalign.model.machine import Machine
from numalign.model.pod import Pod
from numalign.model.quantity import NANO
from numalign.scheduler.nrt.export import ExportOptions, export
from numalign.scheduler.nrt.machine import AMPLE_MEMORY, machine_of, with_memory, without_added
from numalign.scheduler.nrt.occupied import occupied
from numalign.scheduler.nrt.value import NodeResourceTopology, Zone, ZoneResource
from numalign.sources.machine import bundled
from numalign.sources.machine.loading import load_machine
from tests.kubelet.regular import GI, regular
from tests.scheduler.nrt.nodes import guaranteed, static, with_pods


def tells_all(machine: Machine) -> bool:
    """Tell whether a machine has room for the pods, and distances: without them an object has the usual ones."""
    return machine.memory > 4 * GI and all(node.distances for node in machine.numa_nodes)


MACHINES = [name for name in bundled.names() if tells_all(load_machine(name).machine)]


def plain(machine: Machine) -> Machine:
    """Leave out devices of several NUMA nodes or of none: they are not in an object as what they are."""
    devices = {
        name: tuple(device for device in members if device.numa_nodes is not None and len(device.numa_nodes) == 1)
        for name, members in machine.devices.items()
    }
    return machine._replace(devices={name: members for name, members in devices.items() if members})


def back(nrt: NodeResourceTopology) -> Session:
    assumed = machine_of(nrt)
    session = admission.open_session(Setup(assumed.machine, assumed.config, "ideal"), fit_check=False)
    return session._replace(state=occupied(session.node, assumed.used))


@pytest.mark.parametrize(("zones", "most"), [(8, None), (9, {"max-allowable-numa-nodes": "9"})])
def test_a_kubelet_of_many_numa_nodes_was_told_of_them(zones: int, most: dict[str, str] | None) -> None:
    """Nobody says so, but without it the kubelet would not start."""
    cpu = {"cpu": ZoneResource(4 * NANO, 4 * NANO, 4 * NANO)}
    found = machine_of(NodeResourceTopology("n", tuple(Zone(f"node-{number}", "Node", cpu) for number in range(zones))))
    assert found.config.topology_manager_policy_options == most
    assert any("max-allowable-numa-nodes=9" in note for note in found.notes) is (zones == 9)


WITHOUT = ExportOptions(fingerprint=False)


def pods_of(machine: Machine, sizes: list[tuple[int, int]]) -> list[Pod]:
    device = next(iter(machine.devices), None)
    return [
        guaranteed(f"p{number}", {"cpu": str(cpus), "memory": f"{memory}Mi"} | ({device: "1"} if device else {}))
        for number, (cpus, memory) in enumerate(sizes)
    ]


@pytest.mark.parametrize("name", MACHINES)
def test_bundled_machines_come_back(name: str) -> None:
    machine = plain(load_machine(name).machine)
    used = with_pods(static(machine), pods_of(machine, [(1, 100), (3, 2000), (2, 7)]))
    nrt = export(used, name, WITHOUT)
    assert export(back(nrt), name, WITHOUT) == nrt


@given(
    st.integers(1, 4),
    st.integers(1, 6),
    st.booleans(),
    st.lists(st.tuples(st.integers(0, 9), st.integers(1, 40_000)), max_size=5),
)
def test_any_regular_machine_comes_back(nodes: int, cores: int, distances: bool, sizes: list[tuple[int, int]]) -> None:
    machine = regular(nodes, cores, hugepages={"2Mi": GI, "1Gi": 2 * GI}, distances=distances)
    nrt = export(with_pods(static(machine), pods_of(machine, sizes)), "n", WITHOUT)
    again = export(back(nrt), "n", WITHOUT)
    if distances:
        assert again == nrt
    else:
        assert [zone._replace(costs={}) for zone in again.zones] == list(nrt.zones)


def test_a_manager_that_is_off_leaves_its_resource_out_and_the_reader_says_so() -> None:
    machine = regular()
    setup = static(machine, cpu_manager_policy="none", memory_manager_policy="None", reserved_memory=())
    nrt = export(with_pods(setup, []), "n")
    assert {name: one.allocatable for name, one in nrt.zones[0].resources.items()} == {"cpu": 0}
    notes = " ".join(machine_of(nrt).notes)
    assert "no zone lists memory: no Memory Manager;" in notes
    assert machine_of(nrt).config.cpu_manager_policy == "none"


def zone(name: str = "node-0", **counts: int) -> Zone:
    resources = {key: ZoneResource(*[count * NANO] * 3) for key, count in counts.items()}
    return Zone(name, resources=resources)


@pytest.mark.parametrize(
    ("zones", "said"),
    [
        pytest.param((), "n: no zone is a NUMA node; fix: write zones of type Node with names like node-0", id="none"),
        pytest.param(
            (zone("left", cpu=4),), "n: no zone is a NUMA node; fix: write zones", id="a name of another form"
        ),
        pytest.param((zone(cpu=65537),), "zone node-0: expected at most 65536 of cpu, got 65537", id="CPUs"),
        pytest.param((zone(cpu=1, gpu=65537),), "zone node-0: expected at most 65536 of gpu", id="devices"),
    ],
)
def test_an_object_without_a_machine_behind_it(zones: tuple[Zone, ...], said: str) -> None:
    with pytest.raises(InputError) as raised:
        machine_of(NodeResourceTopology("n", zones))
    assert str(raised.value).startswith(said)


@pytest.mark.parametrize(
    ("cpus", "counts"),
    [
        pytest.param(None, [1, 1, 1], id="one each where nobody knows"),
        pytest.param(7, [3, 2, 2], id="the first one gets more"),
        pytest.param(2, [1, 1, 1], id="at least one each"),
        pytest.param(65540, [21846, 21845, 21845], id="no more than any machine has"),
    ],
)
def test_cpus_that_no_zone_lists_are_spread_evenly(cpus: int | None, counts: list[int]) -> None:
    """Rule 29; memory in bytes is as much as there is, of any number."""
    zones = [zone(f"node-{number}", memory=1 << 40) for number in range(3)]
    found = machine_of(NodeResourceTopology("n", tuple(zones)), cpus=cpus)
    assert [one.cpus.bit_count() for one in found.machine.numa_nodes] == counts
    assert {one.memory for one in found.machine.numa_nodes[1:]} == {1 << 40}


@pytest.mark.parametrize("memory", [None, 9 * GI])
def test_memory_of_a_node_is_that_of_the_machine(memory: int | None) -> None:
    machine = with_memory(regular(nodes=3), memory)
    assert machine.total_memory == memory
    assert {one.memory for one in machine.numa_nodes} == {AMPLE_MEMORY if memory is None else 3 * GI}


def test_what_the_object_does_not_say_is_named() -> None:
    nrt = export(with_pods(static(regular()), []), "n")
    bare = nrt._replace(attributes=())
    assert machine_of(nrt).notes == machine_of(bare).notes[:1]
    assert "numalign assumes a static CPU Manager: zones list cpu" in machine_of(bare).notes[1]


UNITS = [
    ("all is said", ZoneResource(9 * NANO, 8 * NANO, 5 * NANO), (9, 8, 3)),
    ("of the capacity all may be had", ZoneResource(9 * NANO), (9, 9, 0)),
    ("what may be had is there", ZoneResource(None, 8 * NANO, 5 * NANO), (8, 8, 3)),
    ("whatever is said of the capacity", ZoneResource(7 * NANO, 8 * NANO, 5 * NANO), (8, 8, 3)),
    ("all of it is free", ZoneResource(9 * NANO, 8 * NANO), (9, 8, 0)),
    ("and no more", ZoneResource(9 * NANO, 8 * NANO, 10 * NANO), (9, 8, 0)),
    ("less than nothing is nothing", ZoneResource(9 * NANO, 8 * NANO, -NANO), (9, 8, 8)),
    ("parts are left out", ZoneResource(10 * NANO - 1, 9 * NANO - 1, 6 * NANO - 1), (9, 8, 3)),
    ("nothing but what is free is said", ZoneResource(None, None, 5 * NANO), (0, 0, 0)),
]


@pytest.mark.parametrize(("said", "counts"), [row[1:] for row in UNITS], ids=[row[0] for row in UNITS])
def test_what_an_object_says_of_devices_and_memory(said: ZoneResource, counts: tuple[int, int, int]) -> None:
    """Rule 24: what is missing is taken from its neighbour. Devices that may not be had are not there."""
    resources = {"cpu": ZoneResource(4 * NANO, 4 * NANO, 4 * NANO), "gpu": said, "memory": said}
    found = machine_of(NodeResourceTopology("n", (Zone("node-0", resources=resources),)))
    capacity, allocatable, used = counts
    assert found.machine.memory == capacity + (capacity == allocatable), "of which one byte is added to be reserved"
    assert len(found.machine.devices["gpu"]) == allocatable
    assert found.used == {0: {name: used for name in ("gpu", "memory") if used}}


def test_huge_pages_are_no_reserved_memory_and_may_be_reserved_themselves() -> None:
    """Rule 29: capacity less what may be had, less all huge pages."""
    amounts = {"cpu": (4, 4), "memory": (100, 50), "hugepages-2Mi": (8, 6)}
    resources = {name: ZoneResource(there * NANO, had * NANO, had * NANO) for name, (there, had) in amounts.items()}
    found = machine_of(NodeResourceTopology("n", (Zone("node-0", resources=resources),)))
    assert found.machine.numa_nodes[0].hugepages == {"2Mi": 8}
    assert [dict(one.limits) for one in found.config.reserved_memory] == [{"memory": "42", "hugepages-2Mi": "2"}]


def test_nothing_is_taken_back_of_memory_that_is_not_published() -> None:
    found = NodeResourceTopology("n", (zone(cpu=4, memory=9),))
    bare = NodeResourceTopology("n", (zone(cpu=4),))
    assert without_added(bare, found) == bare
