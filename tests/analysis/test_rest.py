"""What the numbers of the kubelet's message count where they are not those of the request."""

from __future__ import annotations

import pytest

from numalign.analysis.memory_together import short_where_chosen, wider_nodes
from numalign.analysis.refusal import Rest, rest
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.cpuset import parse
from numalign.model.machine import Machine, NUMANode, Unit
from tests.analysis.support import GPU, STATIC, config, limits, outcome, pod, pod_of

GI = 1 << 30
ONE_SOCKET = Machine(
    "m",
    (NUMANode(0, parse("0-3"), 8 * GI), NUMANode(1, parse("4-7"), 8 * GI)),
    sockets=(Unit(0, parse("0-7")),),
    cores=tuple(1 << cpu for cpu in range(8)),
)


def test_a_message_about_all_of_the_request_has_no_rest() -> None:
    refused = outcome(config("none"), pod("p", gpu=3), fit_check=False)

    assert "Requested: 3" in refused.message
    assert rest(refused) is None


def test_a_pod_that_is_refused_before_anything_is_allocated_has_none() -> None:
    assert rest(outcome(config("single-numa-node"), pod("p", 5))) is None
    assert rest(outcome(config("none"), pod("p"))) is None


def test_in_scope_pod_earlier_containers_have_taken_some() -> None:
    settings = config("none", topology_manager_scope="pod")
    refused = outcome(settings, pod_of("p", a=limits(5), b=limits(4, gpu=1)), fit_check=False)

    assert refused.result.container == "b"
    assert rest(refused) == Rest("b", "cpu", requested=4, left=4, nodes=0, taken=(("a", 5),))


def test_devices_that_earlier_containers_have() -> None:
    settings = config("none", topology_manager_scope="pod")
    refused = outcome(settings, pod_of("p", a=limits(1, gpu=1), b=limits(1, gpu=2)), fit_check=False)

    assert rest(refused) == Rest("b", GPU, requested=2, left=2, nodes=0, taken=(("a", 1),))
    by_container = outcome(config("none"), pod_of("p", a=limits(1, gpu=1), b=limits(1, gpu=2)), fit_check=False)
    assert rest(by_container) is None


def test_devices_that_an_init_container_leaves() -> None:
    refused = outcome(config("none"), pod_of("p", init=limits(1, gpu=1), a=limits(1, gpu=3)), fit_check=False)

    assert rest(refused) == Rest("a", GPU, requested=3, left=2, nodes=0)


THREE_NODES = Machine(
    "m",
    tuple(NUMANode(numa, parse(f"{4 * numa}-{4 * numa + 3}"), 8 * GI) for numa in range(3)),
    sockets=(Unit(0, parse("0-3")), Unit(1, parse("4-11"))),
    cores=tuple(1 << cpu for cpu in range(12)),
)


@pytest.mark.parametrize(("nodes", "sockets"), [(0b001, 0), (0b010, 1), (0b011, 2), (0b110, 0), (0b111, 0)])
def test_sockets_count_where_they_are_more_than_the_nodes(nodes: int, sockets: int) -> None:
    gates = {"CPUManagerPolicyAlphaOptions": True}
    settings = config("best-effort", cpu_manager_policy_options={"align-by-socket": "true"}, feature_gates=gates)
    refused = outcome(settings, pod("p", 10), pod("q", 3), on=THREE_NODES, fit_check=False)
    hint = refused.result.hints["app"]._replace(numa_affinity=nodes)
    told = rest(refused._replace(result=refused.result._replace(hints={"app": hint})))

    assert told == Rest("app", "cpu", requested=10, left=9 - 8, nodes=nodes, sockets=sockets)


@pytest.mark.parametrize(
    ("cpu", "memory", "text"),
    [("9", "1Gi", "not enough cpus available to satisfy request: "), ("1500m", "99Gi", "failed to find NUMA nodes")],
    ids=["too many CPUs", "too much memory"],
)
def test_of_a_pod_as_a_whole_no_container_is_named_and_nothing_is_told(cpu: str, memory: str, text: str) -> None:
    """docs/rules/kubelet-versions.md 6.6."""
    whole = {"cpu": cpu, "memory": memory}
    spec = {"resources": {"limits": whole}, "containers": [{"name": "c", "resources": {"limits": {"memory": memory}}}]}
    settings = config(
        "best-effort", **STATIC, topology_manager_scope="pod", feature_gates={"PodLevelResourceManagers": True}
    )
    refused = outcome(settings, read_pod({"metadata": {"name": "p"}, "spec": spec}), fit_check=False)

    assert text in refused.message
    assert refused.result.container is None
    assert rest(refused) is None
    assert wider_nodes(refused) is None
    assert short_where_chosen(refused) == ()
