"""Changes of a machine on the command line."""

from __future__ import annotations

import pytest

from numalign.errors import InputError
from numalign.model.machine import Machine
from numalign.sources.machine.changes import Changes, changed
from numalign.sources.machine.loading import load_machine

GI = 1 << 30
GPU = "nvidia.com/gpu"


def with_changes(name: str = "hgx-h100", **changes: object) -> Machine:
    return changed(load_machine(name).machine, Changes(**changes))[0]  # type: ignore[arg-type]  # each field by its name


def places(machine: Machine, resource: str = GPU) -> list[tuple[str, tuple[int, ...] | None]]:
    return [(device.id, device.numa_nodes) for device in machine.devices.get(resource, ())]


def test_devices_of_every_node_with_cpus() -> None:
    assert places(with_changes(devices=("x.io/nic=1",)), "x.io/nic") == [("nic0", (0,)), ("nic1", (1,))]
    assert len(places(with_changes("gb200", devices=(f"{GPU}=1",)))) == 2


def test_devices_of_one_node_leave_the_others_alone() -> None:
    before = places(load_machine("hgx-h100").machine)
    after = places(with_changes(devices=(f"{GPU}@1=2",)))

    assert [one for one in after if one[1] == (0,)] == [one for one in before if one[1] == (0,)]
    assert [one[1] for one in after if one[1] == (1,)] == [(1,), (1,)]
    assert len({label for label, _ in after}) == len(after)


def test_no_device_takes_the_resource_away() -> None:
    assert GPU not in with_changes(devices=(f"{GPU}=0",)).devices


def test_several_changes_in_one_text() -> None:
    machine = with_changes(devices=("x.io/nic@0=2,x.io/nic@1=1",))

    assert [node for _, node in places(machine, "x.io/nic")] == [(0,), (0,), (1,)]


def test_what_was_said_of_other_devices_goes_with_them() -> None:
    machine = load_machine("dgx-1").machine
    assert GPU in machine.links

    assert GPU not in changed(machine, Changes(devices=(f"{GPU}=1",)))[0].links


def test_huge_pages_of_every_node_or_of_one() -> None:
    machine = with_changes("figure-1", hugepages=("2Mi=64Mi,1Gi@1=2Gi",))

    assert [dict(node.hugepages) for node in machine.numa_nodes] == [
        {"2Mi": 64 << 20},
        {"2Mi": 64 << 20, "1Gi": 2 * GI},
    ]


def test_memory_of_each_node_with_cpus_or_memory() -> None:
    machine = with_changes("xeon-2s-cxl", memory="8Gi")

    assert {node.memory for node in machine.numa_nodes} == {8 * GI}
    assert machine.memory == 8 * GI * len(machine.numa_nodes)


WRONG = {
    "no equals sign": ({"devices": ("nvidia.com/gpu",)}, "--device: expected WHAT[@NODE]=AMOUNT such as"),
    "no resource's name": ({"devices": ("gpu=1",)}, "--device: expected the name of an extended resource"),
    "no number": ({"devices": ("a/b=x",)}, "--device: expected a whole number, got "),
    "no such node": ({"devices": ("a/b@9=1",)}, "--device: the machine has no NUMA node 9; allowed: 0, 1"),
    "no node": ({"hugepages": ("1Gi@x=1Gi",)}, "--hugepages: expected WHAT[@NODE]=AMOUNT such as"),
    "no page size": ({"hugepages": ("3Mi=3Mi",)}, "--hugepages: expected a page size like"),
    "no multiple": ({"hugepages": ("2Mi=3Mi",)}, "--hugepages: "),
    "no amount": ({"memory": "much"}, "--memory-per-numa-node: expected bytes or a quantity"),
}


@pytest.mark.parametrize(("changes", "message"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as refused:
        with_changes("figure-1", **changes)
    assert str(refused.value).startswith(message)


def test_more_pages_than_memory_is_odd() -> None:
    _, notices = changed(load_machine("figure-1").machine, Changes(hugepages=("1Gi=64Gi",)))

    assert {notice.code for notice in notices} == {"hugepages-exceed"}
