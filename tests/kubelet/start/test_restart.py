"""A kubelet that restarts: what running pods go through; a pod that asks for other amounts."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.errors import StartError
from numalign.kubelet import node as twin
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.device.checkpoint import inspect
from numalign.kubelet.node import Node, NodeState
from numalign.kubelet.releases.table import kubelet
from numalign.kubelet.setup import Setup
from numalign.kubelet.start.resize import resize
from numalign.kubelet.start.restart import Restarted, come_up, restart, running_of, written
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.machine import Device, Machine, NUMANode, Unit
from numalign.model.pod import Pod

MACHINE = Machine(
    "two",
    numa_nodes=(NUMANode(0, 0b00110011, 8 << 30), NUMANode(1, 0b11001100, 8 << 30)),
    sockets=(Unit(0, 0b00110011), Unit(1, 0b11001100)),
    cores=tuple(1 << cpu | 1 << cpu + 4 for cpu in range(4)),
    devices={"vendor.io/nic": (Device("nic0", (0,)), Device("nic1", (1,)))},
)
CONFIG = KubeletConfig(cpu_manager_policy="static", topology_manager_policy="best-effort", eviction_hard={})


def setup(**settings: Any) -> Setup:
    return Setup(MACHINE, CONFIG._replace(**settings), "ideal", kubelet((1, 36)))


def pod(name: str, cpus: int, **devices: int) -> Pod:
    limits = {"cpu": str(cpus), "memory": "1Gi", **{f"vendor.io/{key}": str(n) for key, n in devices.items()}}
    return read_pod(
        {
            "metadata": {"name": name, "uid": name},
            "spec": {"containers": [{"name": "c", "resources": {"limits": limits}}]},
        }
    )


def node_with(*pods: Pod) -> tuple[Node, NodeState]:
    node, state = twin.start(setup())
    for one in pods:
        state, result = twin.admit(node, state, node.read_pod(one)[1])
        assert result.admit
    return node, state


def restarted(pods: tuple[Pod, ...], after: Setup, **more: Any) -> Restarted:
    node, state = node_with(*pods)
    return restart(after, node, state, pods, **more)


def test_running_pods_keep_what_they_hold() -> None:
    pods = pod("a", 2, nic=1), pod("b", 1)
    node, state = node_with(*pods)

    again = restart(setup(), node, state, pods)

    assert [one.result.admit for one in again.pods] == [True, True]
    assert [one.name for one in again.there.pods] == ["a", "b"]
    assert again.there.state.cpu == state.cpu._replace(reuse_uid=again.there.state.cpu.reuse_uid)
    assert again.there.state.device.holdings == state.device.holdings


def test_the_device_file_says_on_which_nodes_devices_are() -> None:
    """docs/rules/kubelet-files.md 18."""
    files = written(*node_with(pod("a", 1, nic=2)))
    [entry] = inspect(files.devices or "").entries or ()
    assert entry[:4] == ("a", "c", "vendor.io/nic", {0: ("nic0",), 1: ("nic1",)})


def test_full_cores_are_compared_with_the_whole_request_though_the_pod_has_its_own() -> None:
    """Rule 72 (a): up to 1.36 it looks at free cores before it sees what the container holds."""
    again = restarted((pod("a", 6),), setup(cpu_manager_policy_options={"full-pcpus-only": "true"}))

    (one,) = again.pods
    assert (one.result.admit, one.result.reason) == (False, "SMTAlignmentError")
    assert again.there.state.cpu.assignments == {}  # what it held is free in the end


def test_a_running_container_needs_no_device_of_a_plugin_that_is_not_back() -> None:
    """Rules 71 and 74."""
    pods = (pod("a", 1, nic=1),)
    running = restarted(pods, setup(), registered=(), running={("a", "c")})
    stopped = restarted(pods, setup(), registered=())

    assert [one.result.admit for one in running.pods] == [True]
    assert "no healthy devices present" in stopped.pods[0].result.message


def test_containers_that_run_are_all_but_init_containers() -> None:
    limits = {"resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}
    sidecar = {"name": "s", "restartPolicy": "Always", **limits}
    spec = {"initContainers": [{"name": "i", **limits}, sidecar], "containers": [{"name": "c", **limits}]}
    made = read_pod({"metadata": {"name": "a", "uid": "a"}, "spec": spec})
    assert running_of([made, pod("b", 1)]) == {("a", "s"), ("a", "c"), ("b", "c")}


def test_the_node_is_judged_as_a_whole_unless_nobody_asks() -> None:
    """Rule 73 is of the managers; one pod more than the node can have is rejected by the fit check."""
    node, state = node_with(pod("a", 2))
    full = setup(max_pods=0)
    assert come_up(full, node, state).view is not None
    assert come_up(full, node, state, fit_check=False).view is None
    (one,) = restart(full, node, state, (pod("a", 2),)).pods
    again = restart(full, node, state, (pod("a", 2),), fit_check=True)
    (judged,) = again.pods
    assert (one.admit, judged.admit) == (True, False)
    assert (again.there.state.pods, again.there.state.cpu.assignments) == ({}, {})


def test_a_pod_that_does_not_come_again_leaves_nothing() -> None:
    pods = pod("a", 2), pod("b", 2)
    node, state = node_with(*pods)

    assert list(restart(setup(), node, state, pods[1:]).there.state.cpu.assignments) == ["b"]


def test_where_no_pod_comes_again_all_is_free() -> None:
    node, state = node_with(pod("a", 2, nic=1))
    again = restart(setup(), node, state, ())

    assert again.pods == ()
    assert again.stale.cpu.assignments == state.cpu.assignments
    assert again.there.state.cpu.assignments == {}
    assert again.there.state.device.holdings == {}


def test_a_kubelet_with_other_settings_does_not_come_up() -> None:
    with pytest.raises(StartError, match='configured policy "none" differs from state checkpoint policy "static"'):
        restarted((pod("a", 2),), setup(cpu_manager_policy="none"))


def test_devices_that_are_no_longer_reported_stay_with_their_pod_until_it_comes() -> None:
    node, state = node_with(pod("a", 1, nic=1))
    gone = setup()._replace(machine=MACHINE._replace(devices={"vendor.io/nic": (Device("nic9", (0,)),)}))

    (one,) = restart(gone, node, state, (pod("a", 1, nic=1),)).pods

    assert "no longer healthy" in one.result.message


@pytest.mark.parametrize(
    ("wanted_pod", "gates", "expected"),
    [
        (pod("a", 2), {}, (False, False, "", "")),
        (pod("a", 4), {}, (True, False, "Infeasible", "")),
        (pod("a", 4), {"InPlacePodVerticalScalingExclusiveCPUs": True}, (True, True, "", "")),
        (pod("a", 2, nic=9), {}, (True, False, "UnexpectedAdmissionError", "allocate")),
    ],
    ids=["the same", "exclusive CPUs without the gate", "with it", "more devices than there are"],
)
def test_a_resize_is_judged(wanted_pod: Pod, gates: dict[str, bool], expected: tuple[bool, bool, str, str]) -> None:
    """Rules 80 and 81: the CPUs stay as they were, admitted or not."""
    node, state = node_with(pod("a", 2))
    node = node._replace(config=node.config._replace(feature_gates=gates))
    wanted, demand = node.read_pod(wanted_pod)

    answer = resize(node, state, pod("a", 2), wanted, demand)

    assert (answer.changed, answer.admit, answer.reason, answer.stage) == expected
    assert answer.state.cpu.assignments == state.cpu.assignments
    assert (list(answer.state.pods), answer.state.leftovers) == (["a"], ())
