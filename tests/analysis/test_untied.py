"""What no table counts: by the class of the pod, the managers, a share of a CPU, or as only init containers ask."""

from __future__ import annotations

import pytest

from numalign.analysis.culprits import decisions
from numalign.analysis.matrix import matrix
from numalign.analysis.untied import untied
from numalign.kubelet.config import KubeletConfig
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.pod import Pod
from tests.analysis.support import GPU, PAGES, STATIC, config, limits, outcome, pod, pod_of

SINGLE = config("single-numa-node")


def burstable(**more: str) -> Pod:
    asked = {"requests": {"cpu": "2"}, "limits": {GPU: "3", **more}}
    return read_pod({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "app", "resources": asked}]}})


@pytest.mark.parametrize(
    ("settings", "asked", "expected"),
    [
        pytest.param(SINGLE, pod("p", 6), [("app", "memory", "memory-manager", False)], id="nobody pins memory"),
        pytest.param(config("single-numa-node", **STATIC), pod("p", 6), [], id="all of it counts"),
        pytest.param(SINGLE, burstable(), [("app", "cpu", "cpu", False)], id="CPUs of a pod that is not Guaranteed"),
        pytest.param(
            config("single-numa-node", **STATIC),
            burstable(memory="1Gi"),
            [("app", "cpu", "cpu", False), ("app", "memory", "qos", False)],
            id="memory of a pod that is not Guaranteed",
        ),
        pytest.param(
            config("single-numa-node", topology_manager_scope="pod", **STATIC),
            pod_of("p", one=limits(5), two=limits(0.5)),
            [("two", "cpu", "cpu", True)],
            id="a share of a CPU beside whole ones",
        ),
        pytest.param(
            config("single-numa-node", topology_manager_scope="pod", **STATIC),
            pod_of("p", init=limits(1, pages="1Gi"), app=limits(6)),
            [("init", PAGES, "init", False)],
            id="huge pages of an init container alone",
        ),
        pytest.param(
            SINGLE,
            pod("p", 6, nic=1),
            [("app", "memory", "memory-manager", False)],
            id="devices that the machine has",
        ),
        pytest.param(
            SINGLE,
            pod_of("p", app={**limits(6), "nobody.com/nic": "1"}),
            [("app", "memory", "memory-manager", False), ("app", "nobody.com/nic", "no-plugin", False)],
            id="devices that nobody offers",
        ),
        pytest.param(
            config("single-numa-node", cpu_manager_policy="none"),
            pod("p", 2, gpu=2),
            [("app", "cpu", "cpu", False), ("app", "memory", "memory-manager", False)],
            id="whole CPUs that nobody hands out",
        ),
        pytest.param(
            SINGLE,
            pod_of("p", app={"cpu": "0", "memory": "0", GPU: "2", "nobody.com/nic": "0"}),
            [],
            id="nothing of any but devices",
        ),
        pytest.param(
            config("single-numa-node", **STATIC),
            pod_of("p", app={**limits(6), "memory": "1500m"}),
            [("app", "memory", "bytes", False)],
            id="no whole number of bytes",
        ),
        pytest.param(
            SINGLE,
            read_pod({"metadata": {"name": "p"}, "spec": {
                "resources": {"limits": limits(1)},
                "containers": [{"name": "app", "resources": {"limits": limits(0.5, gpu=2)}}],
            }}),
            [],
            id="a pod with resources of its own",
        ),
    ],
)  # fmt: skip
def test_what_no_table_counts(settings: KubeletConfig, asked: Pod, expected: list[tuple[str, str, str, bool]]) -> None:
    found = outcome(settings, asked)
    assert not found.admit
    tables = [matrix(found.before.node, found.demand, one) for one in decisions(found)]
    told = [(one.container, one.resource, one.kind, one.counted) for one in untied(found, tables)]
    assert sorted(told) == expected


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ("pod", [("one", (("one", 1500 * 10**6),)), ("two", (("one", 1500 * 10**6),))]),
        ("container", [("one", ())]),
    ],
)
def test_a_decision_about_the_whole_pod_counts_no_memory_where_one_container_asks_for_parts_of_a_byte(
    scope: str, expected: list[tuple[str, tuple[tuple[str, int], ...]]]
) -> None:
    """It names the container, with what it asks for, at each of them."""
    settings = config("single-numa-node", topology_manager_scope=scope, **STATIC)
    found = outcome(settings, pod_of("p", one=limits(1, "1500m"), two=limits(0.5, "1Gi")))
    tables = [matrix(found.before.node, found.demand, one) for one in decisions(found)]
    told = [one for one in untied(found, tables) if one.resource == "memory"]
    assert [(one.container, one.odd) for one in told if one.kind == "bytes"] == expected
