"""Pods that the kubelet does not survive: what it falls over, what would refuse them besides, and both in JSON."""

from __future__ import annotations

import json

import pytest

from numalign.analysis.crash import Crash, Missing
from numalign.analysis.refusal import refusal
from numalign.analysis.situation import Situation
from numalign.kubelet.admission import Outcome
from numalign.kubelet.setup import Setup
from numalign.model.pod import Pod
from numalign.render.json.explain import explain_json
from numalign.render.text.changes import Advice
from numalign.results.explain import ExplainResult
from numalign.sources.recorded import scenario
from numalign.tasks.explain import explain_one
from tests.analysis.support import STATIC, config, machine, outcome, pod_of
from tests.refusals.survey import named, refusals
from tests.render.text.support import lines, recorded
from tests.schemas import strictly

RDMA = "mellanox.com/rdma"
FIGURE = machine("figure-1")
ONE_HAS = FIGURE._replace(numa_nodes=(FIGURE.numa_nodes[0]._replace(hugepages={"1Gi": 1 << 30}), FIGURE.numa_nodes[1]))
PAGES = pod_of(
    "p",
    one={"cpu": "1", "memory": "1Gi", "hugepages-1Gi": "1Gi"},
    two={"cpu": "1", "memory": "1Gi"},
    three={"cpu": "1", "memory": "1Gi", "hugepages-1Gi": "2Gi"},
    parts_of_bytes={"cpu": "1", "memory": "1500m"},
)


def met(name: str, step: int) -> tuple[Situation, Outcome, Pod]:
    data = named(name)
    situation, found = next((now, refused) for index, now, refused in refusals(data) if index == step)
    asked = scenario.read_scenario(json.dumps(data).encode()).steps[step].pod
    assert asked is not None
    return situation, found, asked


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(
            met("e2e-d-00490", 0)[1],
            Crash("pages", (Missing("hugepages-64Ki", 128 << 10, ("c0",), 0),), 0b1110010),
            id="no node has such pages",
        ),
        pytest.param(
            outcome(config("restricted", **STATIC), PAGES, on=ONE_HAS),
            Crash("pages", (Missing("hugepages-1Gi", 2 << 30, ("one", "three"), 0b1),), 0b11),
            id="one node of two has such pages",
        ),
        pytest.param(
            met("lifecycle-d-00319", 0)[1], Crash("distances", (), 0b11011), id="ids beyond the lists of distances"
        ),
    ],
)
def test_what_the_kubelet_falls_over(found: Outcome, expected: Crash) -> None:
    assert refusal(found).crash == expected


def test_only_what_is_looked_up_is_in_the_way_of_a_pod_that_crashes_the_kubelet() -> None:
    assert refusal(met("e2e-d-00490", 0)[1]).resources == ("hugepages-64Ki",)


def test_a_crash_is_told_as_one_with_what_to_do_first_and_what_would_refuse_the_pod_besides() -> None:
    found = recorded("e2e-d-00490", 0)
    head = found[: found.index("No table: the kubelet crashes before it counts free resources.")]
    assert head == [
        "p0: crashes the kubelet, even on an empty node",
        (
            "First delete the pod or keep it off this node: after each restart the kubelet "
            "meets the pod and crashes again."
        ),
        (
            "hugepages-64Ki: 128Ki requested by c0, no NUMA node of this machine has any. "
            "The kubelet crashes over this (a bug, also in 1.36)."
        ),
        (
            "also: 3 CPUs of c0 are not whole cores, and full-pcpus-only allocates whole "
            "cores (2 CPUs each). Request 2 or 4. The same is true of c2 (1: request 2)."
        ),
        (
            "mellanox.com/rdma: 6 requested (c0 2 + c1 2 + c2 2), 2 by i0 before, 1 on the "
            "machine (the device plugin reports no NUMA node of this machine)"
        ),
        ("mellanox.com/rdma: the device plugin reports NUMA -1, not on this machine. single-numa-node counts none."),
        ('Kubelet panic, during admission: "runtime error: invalid memory address or nil pointer dereference"'),
    ]
    assert found[len(head) + 1] == "Fix (tested):"


def test_the_nodes_that_have_such_pages_are_named() -> None:
    found = lines(Situation(Setup(ONE_HAS, config("restricted", **STATIC), "ideal")), PAGES)
    assert (
        "hugepages-1Gi: 2Gi requested by one and three, only NUMA 0 has any, not NUMA 1. "
        "The kubelet crashes over this (a bug, also in 1.36)."
    ) in found


def test_json_has_the_crash_what_refuses_besides_and_where_devices_lie() -> None:
    situation, _, asked = met("e2e-d-00490", 0)
    told = explain_one(situation, asked)
    result = ExplainResult(situation.setup, 0, (told,), ())
    data = explain_json(result, [Advice(["command"] * len(told.changes), "command")], ())
    strictly("explain-result").validate(json.loads(json.dumps(data)))
    found = data["pods"][0]["refusal"]
    assert found["resources"] == ["hugepages-64Ki"]
    assert found["crash"]["kind"] == "pages"
    assert found["crash"]["missing"] == [
        {"resource": "hugepages-64Ki", "requested": 128 << 10, "containers": ["c0"], "numaNodes": []}
    ]
    assert [one["resources"] for one in found["besides"]] == [["cpu"], [RDMA]]
    assert found["besides"][1]["amounts"] == [{"resource": RDMA, "requested": 6, "used": 0, "capacity": 1}]


@pytest.mark.parametrize(
    ("name", "step", "resource"),
    [
        pytest.param("e2e-d-00741", 8, "hugepages-2Mi", id="pages that only an init container's decision tells"),
        pytest.param("e2e-d-00172", 3, "CPUs", id="CPUs that take more nodes than the memory"),
    ],
)
def test_what_refuses_for_ever_beside_what_the_kubelet_met_first_stands_in_the_head(
    name: str, step: int, resource: str
) -> None:
    besides = [line for line in recorded(name, step) if line.startswith("also: ")]
    assert resource in besides[0]
