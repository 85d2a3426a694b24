"""What a pod asks of a node, of the topology plugin, and for itself (docs/rules/scheduling.md 2.5, 3.4, T-9)."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.model.apiserver.defaulting import read_pod
from numalign.model.pod import Pod, PodStatus
from numalign.scheduler.request import effective, exclusive_amounts, exclusive_containers, node_load, read_request
from tests.conformance.sched import amounts

GPU = "v.com/gpu"


def container(name: str, always: bool = False, **wanted: str) -> dict[str, Any]:
    requests = {key.replace("gpu", GPU): text for key, text in wanted.items()}
    made: dict[str, Any] = {"name": name, "resources": {"requests": requests, "limits": requests}}
    return {**made, "restartPolicy": "Always"} if always else made


def pod(*containers: dict[str, Any], init: tuple[dict[str, Any], ...] = (), **spec: Any) -> Pod:
    return read_pod(
        {"metadata": {"name": "p"}, "spec": {"containers": list(containers), "initContainers": list(init), **spec}}
    )


APP, SIDECAR, INIT = container("a", cpu="3"), container("s", always=True, cpu="2"), container("i", cpu="5")
CPUS = [
    ("app containers are added", pod(APP, container("b", cpu="1")), "4", "4"),
    ("an init container counts where it asks for more", pod(APP, init=(INIT,)), "5", "5"),
    ("and not where it asks for less", pod(APP, container("b", cpu="4"), init=(INIT,)), "7", "7"),
    ("the plugin takes a sidecar for an init container", pod(APP, init=(SIDECAR,)), "5", "3"),
    ("a sidecar runs beside the init containers after it", pod(APP, init=(SIDECAR, INIT)), "7", "5"),
    ("and not beside those before it", pod(APP, init=(INIT, SIDECAR)), "5", "5"),
    ("an init container that nothing runs beside", pod(container("a", memory="1Gi"), init=(INIT,)), "5", "5"),
    ("of nothing there is none", pod(container("a"), init=(container("i", cpu="0"),)), "0", "0"),
    ("overhead comes last", pod(APP, init=(SIDECAR,), overhead={"cpu": "500m"}), "5500m", "3500m"),
    ("the plugin does not know pod-level resources", pod(APP, resources={"requests": {"cpu": "9"}}), "9", "3"),
    ("limits of the pod stand for its requests", pod(APP, resources={"limits": {"cpu": "8"}}), "8", "3"),
    (
        "a pod that is resized counts for what its status says",
        pod(APP, overhead={"cpu": "1"})._replace(counted=amounts({"cpu": "6"})),
        "7",
        "4",
    ),
]


@pytest.mark.parametrize(("asked", "node", "plugin"), [row[1:] for row in CPUS], ids=[row[0] for row in CPUS])
def test_how_many_cpus_a_pod_asks_for(asked: Pod, node: str, plugin: str) -> None:
    request = read_request(asked)
    assert dict(node_load(request).asked)["cpu"] == amounts({"cpu": node})["cpu"]
    assert effective(request)["cpu"] == amounts({"cpu": plugin})["cpu"]


CPU, MEMORY = ("cpu", "1"), ("memory", "1Gi")
BEYOND = [
    ("nothing where all is asked", pod(container("a", cpu="1", memory="1Gi")), {}),
    ("a container without anything", pod(container("a")), {"cpu": "100m", "memory": "200Mi"}),
    ("one of two resources, of one of two", pod(container("a", memory="1Gi"), APP), {"cpu": "100m", "memory": "200Mi"}),
    ("not what the pod as a whole asks for", pod(APP, resources={"requests": {"memory": "1Gi"}}), {}),
    ("not where the status counts", pod(container("a"))._replace(counted=amounts({"cpu": "1"})), {}),
    (
        "an init container that asks for more",
        pod(container("a", memory="1Gi"), init=(INIT,)),
        {"cpu": "0", "memory": "0"},
    ),
]


@pytest.mark.parametrize(("asked", "beyond"), [row[1:] for row in BEYOND], ids=[row[0] for row in BEYOND])
def test_what_the_score_counts_beyond_that(asked: Pod, beyond: dict[str, str]) -> None:
    assert dict(node_load(read_request(asked)).beyond) == amounts(beyond)


def test_equal_pods_are_equal_in_whatever_order_they_are_written() -> None:
    one, other = (pod(APP)._replace(counted=amounts(dict(order))) for order in ((CPU, MEMORY), (MEMORY, CPU)))
    assert read_request(one) == read_request(other)
    one, other = (pod(container("a", **dict(order)), overhead=dict(order)) for order in ((CPU, MEMORY), (MEMORY, CPU)))
    assert read_request(one) == read_request(other)


def test_what_claims_give_is_none_of_the_node() -> None:
    """docs/rules/dra.md D-53: each container has a request of its own."""
    asked = pod(container("a", cpu="1", gpu="2"), container("b", gpu="1"))
    claimed = asked._replace(status=PodStatus(claimed=frozenset({("a", GPU), ("b", "cpu")})))
    assert [one.amounts for one in read_request(claimed).containers] == [
        amounts({"cpu": "1"}),
        amounts({GPU: "1"}),
    ]


OWN = [
    ("whole CPUs", pod(container("a", cpu="1", memory="0"))._replace(qos="Guaranteed"), ("a",)),
    ("no whole CPUs", pod(container("a", cpu="1500m", memory="0"))._replace(qos="Guaranteed"), ()),
    ("no CPUs", pod(container("a", cpu="0", memory="0"))._replace(qos="Guaranteed"), ()),
    ("memory", pod(container("a", cpu="500m", memory="1Gi")), ("a",)),
    ("a pod that is not Guaranteed", pod(container("a", cpu="1")), ()),
    ("a device that a zone lists", pod(container("a", gpu="1")), ("a",)),
    ("a device that none lists", pod({"name": "a", "resources": {"limits": {"v.com/nic": "1"}}}), ()),
    ("sidecars, and no init containers", pod(INIT, init=(SIDECAR, container("j", gpu="1"))), ()),
    ("a sidecar with a device", pod(APP, init=(container("s", always=True, gpu="1"),)), ("s",)),
]


@pytest.mark.parametrize(("asked", "names"), [row[1:] for row in OWN], ids=[row[0] for row in OWN])
def test_which_containers_hold_something_of_their_own(asked: Pod, names: tuple[str, ...]) -> None:
    assert exclusive_containers(read_request(asked), frozenset({"cpu", "memory", GPU})) == names


ALONE = [
    ("whole CPUs", True, {"cpu": "2"}, {"cpu"}),
    ("a part of a CPU", True, {"cpu": "1500m"}, set()),
    ("memory and huge pages", True, {"memory": "1Gi", "hugepages-2Mi": "2Mi"}, {"memory", "hugepages-2Mi"}),
    ("none of it", True, {"cpu": "0", "memory": "0"}, set()),
    ("storage", True, {"ephemeral-storage": "1Gi"}, set()),
    ("a pod that is not Guaranteed", False, {"cpu": "2", "memory": "1Gi"}, set()),
    ("a device that zones list", False, {"a.b/c": "1"}, {"a.b/c"}),
    ("a device that none lists", True, {"a.b/d": "1"}, set()),
]


@pytest.mark.parametrize(("guaranteed", "asked", "held"), [row[1:] for row in ALONE], ids=[row[0] for row in ALONE])
def test_what_a_container_holds_for_itself(guaranteed: bool, asked: dict[str, str], held: set[str]) -> None:
    """docs/rules/scheduling.md 3.4."""
    [one] = read_request(pod({"name": "a", "resources": {"requests": asked, "limits": asked}})).containers
    assert exclusive_amounts(guaranteed, one, frozenset({"cpu", "memory", "a.b/c"})).keys() == held
