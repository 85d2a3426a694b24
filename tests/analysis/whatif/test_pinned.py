"""What gives a container that floats CPUs of its own, and that the pod is aligned so."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.analysis.alignment import aligned
from numalign.analysis.situation import Situation
from numalign.analysis.whatif.changes import changes
from numalign.analysis.whatif.goal import ALIGNED
from numalign.analysis.whatif.pinned import pinning
from numalign.analysis.whatif.tries import Tries
from numalign.kubelet.admission import admit
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.setup import Setup
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.pod import Pod
from numalign.model.quantity import GIBI, MILLI, NANO
from tests.analysis.support import GPU, config, machine, pod

FULL_CORES = {"full-pcpus-only": "true"}


def asks(requests: dict[str, Any], limits: dict[str, Any]) -> Pod:
    resources = {"requests": requests, "limits": {GPU: "1", **limits}}
    return read_pod({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "app", "resources": resources}]}})


def met(asked: Pod, policy: str = "best-effort", on: str = "figure-1", **more: Any) -> Tries:
    found = Situation(Setup(machine(on), config(policy, **more), "ideal"))
    return Tries(found, admit(found.session(), asked), ALIGNED)


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        pytest.param(
            asks({"cpu": "1", "memory": "1Gi"}, {"cpu": "2", "memory": "1Gi"}),
            [{("app", "cpu"): 2 * NANO}, {("app", "limits.cpu"): NANO}],
            id="the request grows or the limit shrinks",
        ),
        pytest.param(
            asks({"cpu": "1500m"}, {}),
            [{("app", "cpu"): 2 * NANO, ("app", "limits.cpu"): 2 * NANO, ("app", "limits.memory"): GIBI * NANO}],
            id="whole CPUs, and limits where there are none",
        ),
        pytest.param(asks({}, {"cpu": "1500m", "memory": "1Gi"}), [{("app", "cpu"): 2 * NANO}], id="a share of a CPU"),
        pytest.param(
            asks({}, {}),
            [{("app", "limits.cpu"): NANO, ("app", "limits.memory"): GIBI * NANO}],
            id="a pod that asks for no CPU",
        ),
        pytest.param(pod("p", 1, gpu=1), [], id="nothing floats"),
    ],
)
def test_a_pod_becomes_guaranteed(asked: Pod, written: list[dict[tuple[str, str], int]]) -> None:
    assert [dict(one.amounts) for one in pinning(met(asked))] == written


def test_whole_cores_are_written_where_only_they_are_given_out() -> None:
    asked = read_pod(
        {
            "metadata": {"name": "p"},
            "spec": {
                "containers": [
                    {"name": "app", "resources": {"limits": {"cpu": "500m", "memory": "1Gi", "nvidia.com/gpu": "1"}}}
                ]
            },
        }
    )
    [way] = pinning(met(asked, on="hgx-h100", cpu_manager_policy_options=FULL_CORES))
    assert way.amounts == {("app", "cpu"): 2 * NANO}


@pytest.mark.parametrize(
    "resources",
    [
        pytest.param({"requests": {"cpu": "100m"}}, id="it asks for so much"),
        pytest.param({}, id="it asks for nothing: the least that is written"),
    ],
)
def test_a_helper_has_a_share_of_a_cpu(resources: dict[str, Any]) -> None:
    spec = {"containers": [{"name": "app", "resources": {"limits": {GPU: "1"}}}]}
    spec["containers"].append({"name": "log", "resources": resources})
    [way] = pinning(met(read_pod({"metadata": {"name": "p"}, "spec": spec})))
    assert way.amounts["log", "limits.cpu"] == 100 * MILLI
    assert way.amounts["app", "limits.cpu"] == NANO


def test_a_static_cpu_manager_reserves_the_first_core() -> None:
    found = Situation(Setup(machine("figure-1"), KubeletConfig(), "kubelet"))
    tries = Tries(found, admit(found.session(), asks({}, {"cpu": "2", "memory": "1Gi"})), ALIGNED)
    [way] = pinning(tries)
    assert way.flags == {"cpu-manager-policy": "static", "reserved-system-cpus": "0"}


@pytest.mark.parametrize("policy", ["none", "best-effort", "restricted", "single-numa-node"])
def test_every_change_is_aligned(policy: str) -> None:
    tries = met(asks({"cpu": "1500m"}, {}), policy)
    found = changes(tries)
    assert found
    for change in found:
        tried = tries.attempt(change)
        assert tried is not None
        assert aligned(tried)
        assert change.aligned
