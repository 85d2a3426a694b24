"""Every captured machine is read as the kubelet reads it, and as independent tools see its hardware.

With `--sysfs DIR` the same holds for any folder of that format.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from numalign.model.cpuset import format_set, ids
from numalign.model.hardware import PCIFunction
from tests.sources.host import snapshots


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    option = metafunc.config.getoption("--sysfs")
    folder = Path(option) if option else snapshots.FOLDER
    if "snapshot" in metafunc.fixturenames:
        chosen = snapshots.names(folder)
        if "kubelet" in metafunc.fixturenames:
            chosen = [name for name in chosen if "kubelet" in snapshots.facts(name, folder)]
        metafunc.parametrize(
            "snapshot",
            [pytest.param((name, folder), id=name, marks=pytest.mark.together(name)) for name in chosen],
        )


@pytest.fixture
def facts(snapshot: tuple[str, Path]) -> dict[str, Any]:
    return snapshots.facts(*snapshot)


@pytest.fixture
def kubelet(facts: dict[str, Any]) -> dict[str, Any]:
    """What a kubelet's own code read there; of guests of `make lab` there are other tools' facts only."""
    recorded: dict[str, Any] = facts["kubelet"]
    return recorded


def test_the_machine_is_what_the_kubelet_lists(snapshot: tuple[str, Path], kubelet: dict[str, Any]) -> None:
    machine = snapshots.discovered(*snapshot).machine

    assert machine is not None
    got = [
        {
            "id": node.id,
            "memory": node.memory,
            "hugepages": dict(node.hugepages),
            "distances": None if node.distances is None else list(node.distances),
            "cores": {core & node.cpus for core in machine.cores if core & node.cpus},
        }
        for node in machine.numa_nodes
    ]
    expected = [
        {
            "id": node["id"],
            "memory": node["memory"],
            "hugepages": _bytes(node["hugepages"]),
            "distances": node["distances"],
            "cores": {sum(1 << cpu for cpu in threads) for _, _, threads, _ in node["cores"]},
        }
        for node in kubelet["nodes"]
    ]
    assert expected == got


def test_each_cpu_has_the_labels_of_the_cpu_manager(snapshot: tuple[str, Path], kubelet: dict[str, Any]) -> None:
    """[NUMA node, socket, core, uncore cache] of docs/rules/cpu-manager.md 1.3, falling back core by core."""
    machine = snapshots.discovered(*snapshot).machine

    assert machine is not None
    got: dict[str, list[int]] = {}
    for node in machine.numa_nodes:
        for core in machine.cores:
            for cpu in ids(core & node.cpus):
                socket = next(unit.id for unit in machine.sockets if unit.cpus >> cpu & 1)
                cache = next((unit.id for unit in machine.uncore_caches if unit.cpus >> cpu & 1), socket)
                got[str(cpu)] = [node.id, socket, next(ids(core)), cache]
    assert kubelet["cpu_manager"]["cpus"] == got


def test_counts_that_the_machine_cannot_hold_are_told(snapshot: tuple[str, Path], kubelet: dict[str, Any]) -> None:
    found = snapshots.discovered(*snapshot)
    codes = {warning.code for warning in found.warnings}
    manager = kubelet["cpu_manager"]

    assert found.machine is not None
    assert (manager["num_cpus"] != found.machine.cpus.bit_count()) == ("cpu-count" in codes)
    assert (manager["num_sockets"] != len(found.machine.sockets)) == ("socket-count" in codes)
    assert (len(kubelet["nodes"]) > 8) == ("many-numa-nodes" in codes)


def test_the_hardware_is_what_the_tools_agree_on(snapshot: tuple[str, Path], facts: dict[str, Any]) -> None:
    hardware = snapshots.discovered(*snapshot).hardware
    got = {
        "online_cpus": format_set(hardware.online),
        "offline_cpus": format_set(hardware.offline),
        "numa_nodes": [
            {"id": n.id, "cpus": format_set(n.cpus), "memory_bytes": n.memory, "hugepages": n.hugepages}
            for n in hardware.nodes
        ],
        "distances": [list(n.distances) for n in hardware.nodes if n.distances is not None] or None,
        "packages": [format_set(cpus) for _, cpus in hardware.packages],
        "cores": [format_set(cpus) for cpus in hardware.cores],
        "l3": [format_set(cache.cpus) for cache in hardware.l3] or None,
        "memory_total_bytes": hardware.memory,
        "hugepages_total": hardware.hugepages or None,
    }
    if "dies" in facts:
        got["dies"] = [format_set(cpus) for cpus in hardware.dies]
    if "clusters" in facts:
        got["clusters"] = [format_set(cpus) for cpus in hardware.clusters]
    if "cpu_kinds" in facts:
        got["cpu_kinds"] = sorted(format_set(cpus) for _, cpus in hardware.cpu_kinds)
    expected = {key: facts[key] for key in got}
    expected["numa_nodes"] = [
        {**{key: node[key] for key in ("id", "cpus", "memory_bytes")}, "hugepages": _bytes(node["hugepages"])}
        for node in facts["numa_nodes"]
    ]
    expected["hugepages_total"] = _bytes(facts["hugepages_total"])
    expected["distances"] = facts["distances"] and facts["distances"]["matrix"]
    if "cpu_kinds" in facts:
        expected["cpu_kinds"] = sorted(kind["cpus"] for kind in facts["cpu_kinds"])
    for key in facts["contested"]:
        expected.pop(key, None)
    assert expected == {key: got[key] for key in expected}


def test_the_sizes_of_level_3_caches_are_those_of_the_tools(snapshot: tuple[str, Path], facts: dict[str, Any]) -> None:
    """A cache whose size is not told has none here; hwloc prints 0."""
    if "l3_bytes" in facts:
        caches = snapshots.discovered(*snapshot).hardware.l3
        assert facts["l3_bytes"] == sorted({cache.size or 0 for cache in caches})


def test_every_pci_function_is_found(snapshot: tuple[str, Path], facts: dict[str, Any]) -> None:
    if "pci" not in facts:
        assert not [device for device in snapshots.discovered(*snapshot).hardware.pci if device.class_id]
        return
    devices = snapshots.discovered(*snapshot).hardware.pci
    keys = ("address", "class", "vendor", "device", "numa_node", "driver", "physfn", "virtfns")
    expected = [{key: device[key] for key in keys if device.get(key) is not None} for device in facts["pci"]]
    assert expected == [_function(device) for device in devices if device.class_id]
    assert facts.get("pci_incomplete", []) == [device.address for device in devices if device.class_id is None]
    for device, fact in zip([device for device in devices if device.class_id], facts["pci"], strict=True):
        assert (fact.get("sriov_totalvfs"), fact.get("sriov_numvfs")) == (device.total_vfs, device.num_vfs)
        assert {name for name in fact.get("os_devices", ()) if not name.startswith("controlD")} <= set(device.names)


def test_what_confines_the_process_is_told_apart(snapshot: tuple[str, Path], facts: dict[str, Any]) -> None:
    if "allowed" in facts:
        allowed = snapshots.discovered(*snapshot).hardware.allowed
        assert allowed is not None
        assert facts["allowed"]["cpus"] == format_set(allowed.cpus or 0)
        assert facts["allowed"]["numa_nodes"] == format_set(allowed.numa_nodes or 0)


def _function(device: PCIFunction) -> dict[str, Any]:
    data = {
        "address": device.address,
        "class": device.class_id,
        "vendor": device.vendor,
        "device": device.device,
        "numa_node": None if device.numa_node == -1 else device.numa_node,
        "driver": device.driver,
        "physfn": device.physical_function,
        "virtfns": list(device.virtual_functions) or None,
    }
    return {key: value for key, value in data.items() if value is not None}


def _bytes(pages: dict[str, int] | None) -> dict[str, int] | None:
    return None if pages is None else {_page(size): int(size) * 1024 * count for size, count in pages.items()}


def _page(kilobytes: str) -> str:
    size = int(kilobytes)
    names = {64: "64Ki", 1024: "1Mi", 2048: "2Mi", 32768: "32Mi", 524288: "512Mi", 1048576: "1Gi", 16777216: "16Gi"}
    return names[size]
