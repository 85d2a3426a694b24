"""What takes part in the alignment of a container on an empty machine, and on how few NUMA nodes it fits."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.analysis.lint.on_machine import widths
from numalign.kubelet import node as twin
from numalign.kubelet.demand import ContainerDemand
from numalign.kubelet.setup import Setup
from numalign.model.machine import Device
from tests.analysis.support import GPU, NIC, STATIC, config, machine

GI = 1 << 30
BY_SOCKET = {
    "cpu_manager_policy_options": {"align-by-socket": "true"},
    "feature_gates": {"CPUManagerPolicyAlphaOptions": True},
}
CASES: list[tuple[str, dict[str, Any], int, dict[str, int] | None, dict[str, int], list[tuple[str, str, int]]]] = [
    ("one CPU", {}, 1, {}, {}, [("cpu", "1", 1)]),
    ("all CPUs", {}, 8, {}, {}, [("cpu", "8", 2)]),
    ("more than all", {}, 9, {}, {}, []),
    ("none", {}, 0, {}, {}, []),
    ("CPUs of any node of a socket", BY_SOCKET, 6, {}, {}, []),
    ("CPUs that nobody pins", {"cpu_manager_policy": "none"}, 6, {}, {}, []),
    ("memory that nobody pins", {}, 0, {"memory": 20 * GI}, {}, []),
    ("memory of two nodes", STATIC, 0, {"memory": 20 * GI}, {}, [("memory", "all its", 2)]),
    ("memory that no node has", STATIC, 0, {"memory": GI, "hugepages-1Gi": GI}, {}, []),
    ("memory in parts of a byte", STATIC, 0, None, {}, []),
    ("devices", {}, 0, {}, {GPU: 1, NIC: 2}, [(GPU, "1", 1), (NIC, "2", 2)]),
    ("no devices, and more than there are", {}, 0, {}, {GPU: 0, NIC: 3}, []),
    ("devices of no known node, and of no kind", {}, 0, {}, {"v.com/bare": 1, "v.com/none": 1}, []),
]


@pytest.mark.parametrize(
    ("settings", "cpus", "memory", "devices", "expected"), [row[1:] for row in CASES], ids=[row[0] for row in CASES]
)
def test_on_how_few_nodes_it_fits(
    settings: dict[str, Any],
    cpus: int,
    memory: dict[str, int] | None,
    devices: dict[str, int],
    expected: list[tuple[str, str, int]],
) -> None:
    on = machine("figure-1")
    on = on._replace(devices={**on.devices, "v.com/bare": (Device("0", ()),)})
    node = twin.start(Setup(on, config("none", **settings), "ideal"))[0]
    asked = None if memory is None else tuple(memory.items())
    assert widths(node, ContainerDemand("c", "app", cpus, asked, tuple(devices.items()))) == expected
