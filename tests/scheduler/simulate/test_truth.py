"""What containers hold in truth, and on which NUMA nodes it lies."""

from __future__ import annotations

import pytest

from numalign.kubelet import admission
from numalign.kubelet.admission import Session
from numalign.model.machine import Device
from numalign.scheduler.nrt.copy import copied
from numalign.scheduler.nrt.export import export
from numalign.scheduler.simulate.truth import free, held
from tests.conformance.sched import pod
from tests.kubelet.regular import GI, regular
from tests.scheduler.nrt.nodes import guaranteed, static, with_pods

GPU = "example.com/gpu"


@pytest.mark.parametrize(
    ("first", "second", "nodes"),
    [
        pytest.param((0, 1), (1,), 0b11, id="the lowest of each"),
        pytest.param((1,), (0, 1), 0b10, id="a device that lies on a node that is counted adds none"),
        pytest.param((3,), (1, 3), 0b1000, id="nor does one that lies on a lower node beside it"),
        pytest.param((-1, 1), (), 0b10, id="-1 is no node"),
        pytest.param((), (1,), 0b10, id="a device without nodes counts for nothing"),
        pytest.param(None, (1,), 0b10, id="nor does one of which nobody says where it is"),
        pytest.param((), (), 0, id="on none at all"),
    ],
)
def test_devices_of_several_nodes(first: tuple[int, ...] | None, second: tuple[int, ...], nodes: int) -> None:
    machine = regular(nodes=4, devices={GPU: (Device("a", first), Device("b", second))})
    session = admission.open_session(static(machine, topology_manager_policy="none"), fit_check=False)
    asked = pod({"containers": [{"name": "c", "limits": {GPU: "2"}, "requests": {GPU: "2"}}]}, "p")
    assert [one.nodes for one in held(admission.admit(session, asked))] == [nodes]


MACHINE = regular(
    hugepages={"2Mi": GI}, devices={GPU: (Device("a", (0,)), Device("b", (0, 1)), Device("c", (1,), healthy=False))}
)
OFF = {"cpu_manager_policy": "none", "memory_manager_policy": "None", "reserved_memory": ()}
SMALL = guaranteed("p", {"cpu": "2", "memory": "1Gi", "hugepages-2Mi": "2Mi"})
WIDE = guaranteed("q", {"cpu": "9", "memory": "40Gi", GPU: "1"})
NODES = [
    ("nothing is held", with_pods(static(MACHINE), [])),
    ("a pod on one node", with_pods(static(MACHINE), [SMALL])),
    ("and one on both", with_pods(static(MACHINE), [SMALL, WIDE])),
    ("no manager, no device", with_pods(static(regular(), **OFF), [])),
    ("only devices", with_pods(static(MACHINE, **OFF), [WIDE])),
]


@pytest.mark.parametrize("session", [row[1] for row in NODES], ids=[row[0] for row in NODES])
def test_what_is_free_is_what_the_object_of_the_node_says(session: Session) -> None:
    said = copied(export(session, "n"))
    assert free(said.layout, session) == said.free


@pytest.mark.parametrize(
    ("policy", "spec", "found"),
    [
        pytest.param("best-effort", {"cpu": "2", "memory": "1Gi"}, [(0b01, True)], id="on one node"),
        pytest.param("best-effort", {"cpu": "9", "memory": "1Gi"}, [(0b11, False)], id="on both"),
        pytest.param("best-effort", {"cpu": "1500m", "memory": "1Gi"}, [(0b01, True)], id="memory alone"),
        pytest.param("none", {"cpu": "2", "memory": "1Gi"}, [(0b01, None)], id="no policy merges hints"),
        pytest.param("best-effort", {"memory": "1Gi"}, [], id="nothing of its own"),
    ],
)
def test_what_a_container_holds_of_its_own(
    policy: str, spec: dict[str, str], found: list[tuple[int, bool | None]]
) -> None:
    session = admission.open_session(static(regular(), topology_manager_policy=policy), fit_check=False)
    asked = pod({"containers": [{"name": "c", "limits": spec, "requests": spec}]}, "p")
    outcome = admission.admit(session, asked)
    assert outcome.admit
    assert [(one.nodes, one.preferred) for one in held(outcome)] == found


def test_cpus_say_where_a_container_is_without_memory_of_its_own() -> None:
    setup = static(regular(), memory_manager_policy="None", reserved_memory=())
    spec = {"cpu": "9", "memory": "1Gi"}
    asked = pod({"containers": [{"name": "c", "limits": spec, "requests": spec}]}, "p")
    [one] = held(admission.admit(admission.open_session(setup, fit_check=False), asked))
    assert one.nodes == 0b11
