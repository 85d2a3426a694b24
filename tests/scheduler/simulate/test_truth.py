"""What containers hold in truth, and on which NUMA nodes it lies."""

from __future__ import annotations

import pytest

from numalign.kubelet import admission
from numalign.model.machine import Device
from numalign.scheduler.simulate.truth import held
from tests.conformance.sched import pod
from tests.kubelet.regular import regular
from tests.scheduler.nrt.nodes import static

GPU = "example.com/gpu"


@pytest.mark.parametrize(
    ("first", "second", "nodes"),
    [
        pytest.param((0, 1), (1,), 0b11, id="the lowest of each"),
        pytest.param((1,), (0, 1), 0b10, id="a device that lies on a node that is counted adds none"),
        pytest.param((3,), (1, 3), 0b1000, id="nor does one that lies on a lower node beside it"),
        pytest.param((-1, 1), (), 0b10, id="-1 is no node"),
        pytest.param((), (1,), 0b10, id="a device without nodes counts for nothing"),
    ],
)
def test_devices_of_several_nodes(first: tuple[int, ...], second: tuple[int, ...], nodes: int) -> None:
    machine = regular(nodes=4, devices={GPU: (Device("a", first), Device("b", second))})
    session = admission.open_session(static(machine, topology_manager_policy="none"), fit_check=False)
    asked = pod({"containers": [{"name": "c", "limits": {GPU: "2"}, "requests": {GPU: "2"}}]}, "p")
    assert [one.nodes for one in held(admission.admit(session, asked))] == [nodes]
