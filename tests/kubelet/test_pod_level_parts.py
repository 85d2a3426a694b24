"""What is filled in of a pod's own resources, and what of them the managers serve."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from numalign.kubelet.admission import loses_pinning, open_session
from numalign.kubelet.config import KubeletConfig, MemoryReservation
from numalign.kubelet.demand import read_demand
from numalign.kubelet.fit.predicates import as_static
from numalign.kubelet.pod_level import (
    as_a_whole,
    complete,
    complete_in_1_32,
    complete_in_1_33,
    complete_in_1_34,
    skipped,
)
from numalign.kubelet.releases.table import kubelet
from numalign.kubelet.setup import Setup
from numalign.model.pod import Pod, PodLevel
from numalign.model.quantity import parse
from tests.kubelet.test_pod_level import NODE, SMALL, pod

HUGE = "hugepages-2Mi"

# What is filled in; the pod's own requests and limits, the limits of its container; its own limits then.
FILLED = [
    ("a limit that is there stays", complete, {"cpu": "1"}, {"cpu": "4"}, {"cpu": "2"}, {"cpu": "4"}),
    (
        "1.32 knows no huge pages of a pod",
        complete_in_1_32,
        {HUGE: "8Mi"},
        {"cpu": "2", HUGE: "8Mi"},
        SMALL,
        {"cpu": "2"},
    ),
    ("huge pages are filled in", complete, {"cpu": "1"}, {}, {HUGE: "4Mi"}, {HUGE: "4Mi"}),
    ("devices are no resource of a pod", complete, {"v/g": "1"}, {}, {"v/g": "1"}, {}),
    ("huge pages that are limited stay", complete_in_1_33, {}, {HUGE: "8Mi"}, {HUGE: "4Mi"}, {HUGE: "8Mi"}),
    ("requested ones are filled in", complete_in_1_33, {HUGE: "8Mi"}, {}, {HUGE: "4Mi"}, {HUGE: "4Mi"}),
    ("requested ones are not since 1.34", complete_in_1_34, {HUGE: "8Mi"}, {}, {HUGE: "4Mi"}, {}),
    ("others are", complete_in_1_34, {"cpu": "1"}, {}, {HUGE: "4Mi", "cpu": "1"}, {HUGE: "4Mi"}),
]


@pytest.mark.parametrize(
    ("fill", "requests", "limits", "contained", "filled"), [r[1:] for r in FILLED], ids=[r[0] for r in FILLED]
)
def test_limits_are_filled_in(
    fill: Callable[[Pod, PodLevel], PodLevel],
    requests: dict[str, str],
    limits: dict[str, str],
    contained: dict[str, str],
    filled: dict[str, str],
) -> None:
    """docs/rules/kubelet-versions.md 6.1, kubelet-1.37.md 4.2."""
    own = PodLevel(*({name: parse(text) for name, text in given.items()} for given in (requests, limits)))
    found = fill(pod(None, asks=contained), own)
    assert {name: amount.nano for name, amount in found.limits.items()} == {
        name: parse(text).nano for name, text in filled.items()
    }


def test_a_static_pod_stays_as_it_is_written() -> None:
    """docs/rules/kubelet-1.37.md 4.2: no API server has seen it."""
    own = PodLevel({"cpu": parse("1")}, {})
    assert complete(as_static(pod(None)), own) == own
    assert complete(pod(None), own) != own


def test_of_requests_cpu_and_memory_alone_are_filled_in() -> None:
    found = complete_in_1_33(pod(None, asks={**SMALL, "v/g": "1"}), PodLevel({}, {"cpu": parse("4")}))
    assert found.requests.keys() == {"cpu", "memory"}


@pytest.mark.parametrize(
    ("own", "cpus", "memory"),
    [
        ({"cpu": "2", "memory": "4"}, 2, (("memory", 4),)),
        ({"memory": "4", HUGE: "8"}, 0, ((HUGE, 8), ("memory", 4))),
        ({"cpu": "2", "memory": "0"}, 2, ()),
        ({"cpu": "2", "memory": "1n"}, 2, None),
    ],
    ids=["both", "no CPUs", "no memory", "memory that is no whole number"],
)
def test_managers_serve_what_is_above_zero(
    own: dict[str, str], cpus: int, memory: tuple[tuple[str, int], ...] | None
) -> None:
    """docs/rules/kubelet-versions.md 6.4."""
    made = pod(None)._replace(level=PodLevel({name: parse(text) for name, text in own.items()}, {}))
    asked = as_a_whole(made, read_demand(made))
    assert (asked.cpus, asked.memory) == (cpus, memory)


@pytest.mark.parametrize(
    ("cpu", "memory", "pins"), [("static", "None", True), ("none", "Static", True), ("none", "None", False)]
)
def test_pinning_is_lost_where_a_manager_would_pin(cpu: str, memory: str, pins: bool) -> None:
    """docs/rules/kubelet-versions.md 6.3: of Guaranteed pods with resources of their own."""
    kept = MemoryReservation(0, {"memory": "1Gi"}) if memory == "Static" else None
    config = KubeletConfig(
        cpu_manager_policy=cpu,
        memory_manager_policy=memory,
        kube_reserved={"memory": "1Gi"},
        reserved_memory=(kept,) if kept else (),
        eviction_hard={},
    )
    node = open_session(Setup(NODE, config, "ideal", kubelet((1, 36)))).node
    burstable = pod(SMALL)._replace(level=PodLevel({"cpu": parse("1")}, {}))
    for asked, lost in ((pod(SMALL), pins), (pod(None), False), (burstable, False)):
        seen, demand = node.read_pod(asked)
        assert loses_pinning(node, seen, demand) is lost


def test_who_is_skipped_asks_for_devices_alone() -> None:
    """docs/rules/kubelet-versions.md 6.3."""
    made = pod(SMALL, asks={**SMALL, "v/g": "1"})
    asked = skipped(made, read_demand(made))
    assert (asked.guaranteed, asked.cpus, asked.memory, asked.devices) == (False, 0, (), (("v/g", 1),))
    assert [one[2:5] for one in asked.containers] == [(0, (), (("v/g", 1),))]
