"""The firmware's question of how many NUMA nodes a socket has."""

from __future__ import annotations

import pytest

from numalign.errors import InputError
from numalign.sources.machine.changes import Changes, changed
from numalign.sources.machine.loading import load_machine


def asked(name: str, **given: int) -> object:
    return changed(load_machine(name).machine, Changes(**given))  # type: ignore[arg-type]  # each field by its name


def test_one_node_a_socket_cut_in_four_is_the_bundled_machine_with_four() -> None:
    one, four = load_machine("epyc-2s-nps1").machine, load_machine("epyc-2s-nps4").machine
    machine, _ = changed(one, Changes(nps=4))
    assert [(node.id, node.cpus, node.memory, node.distances) for node in machine.numa_nodes] == [
        (node.id, node.cpus, node.memory, node.distances) for node in four.numa_nodes
    ]
    assert machine.uncore_caches == four.uncore_caches
    back, _ = changed(machine, Changes(nps=1))
    assert back.numa_nodes == one.numa_nodes


def test_the_cache_of_a_socket_is_an_uncore_cache_once_its_node_is_cut() -> None:
    machine, notices = changed(load_machine("hgx-h100").machine, Changes(snc=2))
    assert machine.uncore_caches == machine.sockets
    assert machine.numa_nodes[0].distances == (10, 12, 21, 21)
    assert {device.numa_nodes for device in machine.devices["nvidia.com/gpu"]} == {None}
    assert [notice.code for notice in notices] == ["devices-without-node"]


def test_devices_keep_the_node_that_theirs_became_part_of() -> None:
    machine, notices = changed(load_machine("dgx-a100").machine, Changes(nps=1))
    assert [device.numa_nodes for device in machine.devices["nvidia.com/gpu"]] == [(0,)] * 4 + [(1,)] * 4
    assert notices == ()


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("hgx-h100", {"nps": 3}, "expected one of 1, 2, 4, got 3"),
        ("hgx-h100", {"snc": 3}, "expected a regular machine"),
        ("xeon-max-flat", {"snc": 4}, "expected a regular machine"),
        ("gb200", {"nps": 1}, "expected a regular machine"),
    ],
)
def test_machines_that_cannot_be_cut_so(name: str, given: dict[str, int], says: str) -> None:
    with pytest.raises(InputError, match=says):
        asked(name, **given)


def test_short_forms_have_the_usual_distances() -> None:
    short = load_machine("sockets=2,numaNodesPerSocket=2,coresPerNumaNode=2").machine
    assert short.numa_nodes[0].distances == (10, 12, 20, 20)
