"""What the refused pod's own containers have to do with it. Figure 1: two nodes of four CPUs, a GPU and a NIC each."""

from __future__ import annotations

import pytest

from numalign.analysis.own_containers import (
    Own,
    Shares,
    Sum,
    asked_at_init,
    asked_together,
    held_before,
    shares_of_node,
    strayed,
)
from numalign.kubelet.config import KubeletConfig
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.cpuset import parse
from numalign.model.machine import Device, Machine, NUMANode, Unit
from tests.analysis.support import GPU, NIC, PAGES, STATIC, config, limits, machine, outcome, pod, pod_of

SINGLE, UNPINNED = config("single-numa-node"), config("none", cpu_manager_policy="none")
PINS = config("single-numa-node", **STATIC)
MI, GI = 1 << 20, 1 << 30
NANO = 10**9


def test_what_earlier_containers_got_is_told_by_resource_with_its_nodes() -> None:
    refused = outcome(PINS, pod_of("p", a=limits(2, "1Gi", gpu=1, pages="64Mi"), b=limits(5, gpu=1)))

    assert refused.result.container == "b"
    assert list(held_before(refused)) == [
        Own("cpu", "a", "app", 2, 1),
        Own(GPU, "a", "app", 1, 1),
        Own(PAGES, "a", "app", 64 * MI, 1),
        Own("memory", "a", "app", GI, 1),
    ]


def test_containers_behind_the_refused_one_got_nothing() -> None:
    refused = outcome(SINGLE, pod_of("p", a=limits(5), b=limits(1)))

    assert list(held_before(refused)) == []


def test_what_the_refused_one_itself_got_before_it_failed_is_not_told() -> None:
    """Devices are handed out before CPUs."""
    refused = outcome(config("best-effort"), pod_of("p", a=limits(1), b=limits(9, gpu=1)), fit_check=False)

    assert list(held_before(refused)) == [Own("cpu", "a", "app", 1, 1)]


@pytest.mark.parametrize(
    ("nodes", "told"), [((1,), 0b10), ((0, 1), 0b11), (None, 0)], ids=["a node", "several nodes", "nobody tells"]
)
def test_devices_are_told_with_all_their_nodes(nodes: tuple[int, ...] | None, told: int) -> None:
    there = machine("figure-1")._replace(devices={GPU: (Device("g", nodes),)})
    refused = outcome(config("best-effort"), pod_of("p", a=limits(1, gpu=1), b=limits(9)), on=there, fit_check=False)

    assert list(held_before(refused))[1:] == [Own(GPU, "a", "app", 1, told)]


def test_an_init_container_is_told_as_one() -> None:
    refused = outcome(SINGLE, pod_of("p", init=limits(2), a=limits(5)))

    assert list(held_before(refused)) == [Own("cpu", "init", "init", 2, 1)]


def test_what_containers_that_run_together_ask_for() -> None:
    refused = outcome(PINS, pod_of("p", init=limits(9), a=limits(3, "1Gi", gpu=1), b=limits(2, "2Gi", gpu=1, nic=1)))

    assert {one.resource: one for one in asked_together(refused)} == {
        "cpu": Sum("cpu", 5, 8, (("a", 3), ("b", 2))),
        "memory": Sum("memory", 3 * GI, 29 * GI, (("a", GI), ("b", 2 * GI))),
        GPU: Sum(GPU, 2, 2, (("a", 1), ("b", 1))),
        NIC: Sum(NIC, 1, 2, (("b", 1),)),
    }
    assert all(one.lasting for one in asked_together(refused))


def test_what_no_manager_hands_out_is_not_added_up() -> None:
    refused = outcome(config("single-numa-node", cpu_manager_policy="none"), pod_of("p", a=limits(1, gpu=2)))

    assert [one.resource for one in asked_together(refused)] == [GPU]
    unknown = outcome(SINGLE, pod_of("p", a={**limits(1, "1500m"), "nobody.com/nic": "1"}))
    assert [one.resource for one in asked_together(unknown)] == ["cpu"]


def test_what_an_init_container_asks_for_with_the_sidecars_before_it() -> None:
    refused = outcome(SINGLE, pod_of("p", init=limits(5, gpu=1), a=limits(1)))

    assert [one for one in asked_at_init(refused) if one.resource in ("cpu", GPU)] == [
        Sum("cpu", 5, 8, (("init", 5),), lasting=False),
        Sum(GPU, 1, 2, (("init", 1),), lasting=False),
    ]
    assert list(asked_at_init(outcome(SINGLE, pod("p", 5)))) == []
    of = [("proxy", {**limits(2), GPU: "0"}), ("log", limits(1)), ("init", limits(5, gpu=1)), ("last", limits(0.5))]
    parts = [
        {"name": name, "resources": {"limits": each}, "restartPolicy": "Always" if name in ("proxy", "log") else None}
        for name, each in of
    ]
    spec = {"initContainers": parts, "containers": [{"name": "a", "resources": {"limits": limits(1)}}]}
    together = asked_at_init(outcome(SINGLE, read_pod({"metadata": {"name": "p"}, "spec": spec})))
    assert [one[:4] for one in together if one.resource in ("cpu", GPU)] == [
        ("cpu", 8, 8, (("proxy", 2), ("log", 1), ("init", 5))),
        (GPU, 1, 2, (("init", 1),)),
    ]


SHARES = [
    ("two that add up", pod_of("p", a=limits(5), b=limits(4)), [("cpu", (("a", 5 * NANO), ("b", 4 * NANO)))]),
    (
        "beside one without a request and one that requests none",
        pod_of("p", a=limits(5), b=limits(4), c={"memory": "1Gi"}, d=limits(0)),
        [("cpu", (("a", 5 * NANO), ("b", 4 * NANO)))],
    ),
    ("one alone", pod_of("p", a=limits(9)), []),
    (
        "an init container does not run with them",
        pod_of("p", init=limits(7), a=limits(5), b=limits(4)),
        [("cpu", (("a", 5 * NANO), ("b", 4 * NANO)))],
    ),
    ("an init container asks for more than they do", pod_of("p", init=limits(12), a=limits(5), b=limits(4)), []),
    (
        "memory too",
        pod_of("p", a=limits(1, "20Gi"), b=limits(1, "20Gi")),
        [("memory", (("a", 20 * GI * NANO), ("b", 20 * GI * NANO)))],
    ),
]


@pytest.mark.parametrize(("asked", "parts"), [row[1:] for row in SHARES], ids=[row[0] for row in SHARES])
def test_whose_parts_add_up_to_what_the_node_lacks(asked: object, parts: list[tuple[str, object]]) -> None:
    refused = outcome(UNPINNED, asked)  # type: ignore[arg-type]  # a pod
    assert refused.fit is not None

    assert list(shares_of_node(refused.pod, refused.fit.failures)) == [Shares(name, each) for name, each in parts]  # type: ignore[arg-type]  # pairs


SOCKET = Machine(
    "m",
    (NUMANode(0, parse("0-3"), 8 * GI), NUMANode(1, parse("4-7"), 8 * GI)),
    sockets=(Unit(0, parse("0-7")),),
    cores=tuple(1 << cpu for cpu in range(8)),
    devices={GPU: (Device("g", (1,)), Device("h", (1,)))},
)
BY_SOCKET = {
    "cpu_manager_policy_options": {"align-by-socket": "true"},
    "feature_gates": {"CPUManagerPolicyAlphaOptions": True},
}


@pytest.mark.parametrize(
    ("settings", "last", "expected"),
    [
        (config("best-effort", **BY_SOCKET), 7, {"a": 0b01, "b": 0, "c": 0, "nobody": 0}),
        (config("best-effort", **BY_SOCKET), 1, {"a": 0}),
        (config("best-effort"), 7, {"a": 0}),
        (config("none", **BY_SOCKET), 7, {"a": 0}),
    ],
    ids=[
        "from the socket of the chosen node",
        "of an admitted pod it is told elsewhere",
        "CPUs of which the chosen node has too few",
        "none chosen",
    ],
)
def test_cpus_that_stray_from_the_chosen_nodes(settings: KubeletConfig, last: int, expected: dict[str, int]) -> None:
    """With `align-by-socket` CPUs come from all of the socket of the node that was chosen, here for its GPU."""
    asked = pod_of("p", a=limits(6, gpu=1), b=limits(0.5, gpu=1), c=limits(last))
    found = outcome(settings, asked, on=SOCKET, fit_check=False)

    assert found.admit is (last == 1)
    assert {name: strayed(found, name) for name in expected} == expected
