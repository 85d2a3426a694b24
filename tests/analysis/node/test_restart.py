"""What a restart does to the pods that run: whom it rejects, why, and who has to go first."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from numalign.analysis.node.restart import Restart, restart_of
from numalign.kubelet.admission import Session, admit, open_session
from numalign.kubelet.config import KubeletConfig, MemoryReservation
from numalign.kubelet.releases.table import kubelet
from numalign.kubelet.setup import Setup
from numalign.kubelet.start.restart import come_up, readmit, running_of
from numalign.kubelet.start.restore import settle
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
FULL = {"cpu_manager_policy_options": {"full-pcpus-only": "true"}}


def setup(release: tuple[int, int] = (1, 36), **settings: Any) -> Setup:
    config = KubeletConfig(cpu_manager_policy="static", topology_manager_policy="best-effort", eviction_hard={})
    return Setup(MACHINE, config._replace(**settings), "ideal", kubelet(release))


def pod(name: str, cpus: int, nics: int = 0, *, init: int | None = None, created: str = "") -> Pod:
    def container(name: str, cpus: int, nics: int) -> dict[str, Any]:
        limits = {"cpu": str(cpus), "memory": "1Gi", **({"vendor.io/nic": str(nics)} if nics else {})}
        return {"name": name, "resources": {"limits": limits}}

    return read_pod(
        {
            "metadata": {"name": name, "uid": name, "creationTimestamp": created},
            "spec": {
                "containers": [container("c", cpus, 0 if init is not None else nics)],
                "initContainers": [] if init is None else [container("i", init, nics)],
            },
        }
    )


def after(on: Setup, *pods: Pod, then: Setup | None = None) -> Session:
    """Let pods run, and restart the kubelet, with other settings or with the same."""
    session = open_session(on)
    for one in pods:
        outcome = admit(session, one)
        assert outcome.admit, outcome.message
        session = outcome.then
    up = come_up(then or on, session.node, session.state)
    return up._replace(
        state=settle(up.state, {one.uid: up.node.read_pod(one)[1] for one in session.pods}), pods=session.pods
    )


def told(found: Restart) -> list[tuple[str, str, str]]:
    return [(one.name, one.reason, one.when) for one in found.rejected]


def test_whole_cores_are_compared_with_what_is_free() -> None:
    on = setup(**FULL)
    found = restart_of(after(on, pod("a", 2), pod("b", 4)))

    assert told(found) == [("default/b", "SMTAlignmentError", "")]
    assert found.rejected[0].place == 2
    assert found.first == ("default/b",)


def test_managers_reject_where_what_the_node_has_in_all_is_not_judged() -> None:
    up = after(setup(**FULL), pod("a", 2), pod("b", 4))
    assert restart_of(up._replace(view=None)) == restart_of(up)
    assert restart_of(after(setup((1, 37), **FULL), pod("a", 2), pod("b", 4))).rejected == ()


def test_a_stricter_policy_rejects_who_lies_spread() -> None:
    before, strict = setup(), setup(topology_manager_policy="single-numa-node")

    found = restart_of(after(before, pod("wide", 5), pod("one", 1), then=strict))

    assert told(found) == [("default/wide", "TopologyAffinityError", "")]


def test_a_stricter_policy_rejects_who_has_its_device_elsewhere() -> None:
    """Without a policy both have CPUs of NUMA 0, which has one NIC."""
    before, strict = (setup(topology_manager_policy=policy) for policy in ("none", "single-numa-node"))

    found = restart_of(after(before, pod("a", 1, 1), pod("b", 1, 1), then=strict))

    assert told(found) == [("default/b", "TopologyAffinityError", "")]


def test_an_init_container_needs_its_device_again_unless_the_plugin_is_back() -> None:
    found = restart_of(after(setup(), pod("a", 1, 1, init=1)))

    assert told(found) == [("default/a", "UnexpectedAdmissionError", "plugins")]
    assert "no healthy devices present" in found.rejected[0].message
    assert found.devices == ("default/a",)


def test_static_pods_are_tried_in_both_directions() -> None:
    """A formerly rejected pod takes the free CPUs if it comes first; then the running one finds none."""
    on = setup(**FULL)
    again = pod("again", 2)
    up = after(on, pod("a", 2), pod("b", 2), pod("c", 2))

    known = restart_of(up, [*up.pods, again])
    random = restart_of(up, [*up.pods, again], "random")

    assert known.rejected == ()
    assert told(random) == [(f"default/{name}", "SMTAlignmentError", "order") for name in "abc"]
    assert random.first == ("default/a", "default/b", "default/c")


def test_a_reboot_moves_memory_only_where_it_is_pinned() -> None:
    reserved = (MemoryReservation(0, {"memory": "1Gi"}),)
    static = setup(memory_manager_policy="Static", kube_reserved={"memory": "1Gi"}, reserved_memory=reserved)

    assert restart_of(after(static, pod("a", 1))).memory_may_move
    assert not restart_of(after(setup(), pod("a", 1))).memory_may_move


@given(data=st.data())
def test_who_is_not_tried_would_be_admitted(data: st.DataObject) -> None:
    """The short cut for pods that hold everything on one NUMA node changes no answer."""
    policy = data.draw(st.sampled_from(("none", "best-effort", "restricted", "single-numa-node")))
    on, strict = (setup(reserved_system_cpus="0", topology_manager_policy=one) for one in ("best-effort", policy))
    session = open_session(on)
    for number in range(data.draw(st.integers(1, 4))):
        one = pod(f"p{number}", data.draw(st.integers(1, 4)), data.draw(st.integers(0, 1)))
        outcome = admit(session, one)
        session = outcome.then
    up = come_up(strict, session.node, session.state)
    up = up._replace(
        state=settle(up.state, {one.uid: up.node.read_pod(one)[1] for one in session.pods}), pods=session.pods
    )

    every = readmit(up, up.pods, running=running_of(up.pods))

    assert [one.uid for one in restart_of(up).rejected] == [one.pod.uid for one in every if not one.admit]
