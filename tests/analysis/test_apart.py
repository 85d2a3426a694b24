"""Why a container is spread: what was chosen for it, and what kept the kubelet from choosing less."""

from __future__ import annotations

import pytest

from numalign.analysis.apart import Apart, Chosen, Tied, Wanted
from numalign.kubelet.config import KubeletConfig
from numalign.model.hardware import Hardware, PCIFunction
from numalign.model.machine import Device, Machine
from numalign.model.pod import Pod
from numalign.worlds.pod_result import pod_result
from tests.analysis.support import GPU, STATIC, config, limits, machine, outcome, pod, pod_of
from tests.kubelet.regular import regular

BEST, POD = config("best-effort"), config("best-effort", topology_manager_scope="pod")


def spread(settings: KubeletConfig, asked: Pod, *before: Pod) -> dict[str, Apart]:
    """Admit a pod after others; returns why each container of it is spread that is."""
    found = outcome(settings, asked, *before)
    assert found.admit, found.message
    containers = pod_result(found, why_apart=True).containers
    return {one.name: one.apart for one in containers if one.apart is not None}


@pytest.mark.parametrize(
    ("settings", "asked", "before", "expected"),
    [
        pytest.param(
            config("none"),
            pod("p", 2, gpu=1),
            (pod("a", 4),),
            {"app": Apart("none", None, whole_pod=False)},
            id="nobody chose",
        ),
        pytest.param(
            BEST,
            pod("p", 2),
            (pod("a", 3), pod("b", 3)),
            {"app": Apart("best-effort", 0b11, whole_pod=False, why=Chosen(scarce=(Wanted("cpu", 2),)))},
            id="no node had enough free",
        ),
        pytest.param(
            POD,
            pod_of("p", one=limits(3), two=limits(3)),
            (),
            {"two": Apart("best-effort", 0b11, whole_pod=True, why=Chosen(large=(Wanted("cpu", 6),)))},
            id="the whole pod needs more nodes",
        ),
        pytest.param(
            BEST,
            pod_of("p", init=limits(6), app=limits(2, "20Gi")),
            (),
            {},
            id="who is not spread has no reason",
        ),
        pytest.param(
            config("best-effort", **STATIC),
            pod_of("p", init=limits(8), app=limits(2)),
            (),
            {
                "app": Apart(
                    "best-effort",
                    0b11,
                    whole_pod=False,
                    why=Chosen(tied=tuple(Tied(name, 0b11, ("init",)) for name in ("cpu", "memory"))),
                )
            },
            id="an init container left some on each",
        ),
        pytest.param(
            BEST,
            pod("p", 2, gpu=1),
            (pod("a", 4), pod("b", 1, gpu=1)),
            {"app": Apart("best-effort", 0b01, whole_pod=False, outside=("cpu",))},
            id="the nodes had too little of one resource",
        ),
    ],
)
def test_why_a_container_is_spread(
    settings: KubeletConfig, asked: Pod, before: tuple[Pod, ...], expected: dict[str, Apart]
) -> None:
    assert spread(settings, asked, *before) == expected


def test_nobody_works_it_out_who_did_not_ask() -> None:
    found = pod_result(outcome(config("none"), pod("p", 2, gpu=1), pod("a", 4)))
    assert [(one.alignment.verdict, one.apart) for one in found.containers] == [("spread", None)]


BOTH, SECOND, THIRD = (0, 1), (2,), (3,)


def with_gpus(sockets: int, *nodes: tuple[int, ...]) -> Machine:
    """A machine of four CPUs a NUMA node, with a GPU on each of these sets of nodes."""
    found = machine(f"sockets={sockets},coresPerNumaNode=4,threadsPerCore=1,memoryPerNumaNode=64Gi")
    return found._replace(devices={GPU: tuple(Device(f"gpu{place}", each) for place, each in enumerate(nodes))})


@pytest.mark.parametrize(
    ("on", "asked", "before", "expected"),
    [
        pytest.param(
            with_gpus(3, BOTH, BOTH, SECOND, SECOND),
            pod("p", 8, gpu=4),
            (),
            Apart("best-effort", 0b011, whole_pod=False, outside=(GPU,), never=(GPU,)),
            id="two devices that are near both chosen nodes are not four",
        ),
        pytest.param(
            with_gpus(3, SECOND, SECOND, BOTH),
            pod_of("p", init=limits(0.5, gpu=2), app=limits(8, gpu=2)),
            (),
            Apart("best-effort", 0b011, whole_pod=False, outside=(GPU,), never=(GPU,)),
            id="nor is one that is left near both of them two",
        ),
        pytest.param(
            with_gpus(4, BOTH, BOTH, SECOND, SECOND, SECOND, SECOND, THIRD),
            pod("p", 8, gpu=4),
            (pod("a", 0.5, gpu=3),),
            Apart("best-effort", 0b111, whole_pod=False, outside=(GPU,), why=Chosen(scarce=(Wanted(GPU, 4),))),
            id="nor are they enough of four on as few nodes as are needed",
        ),
    ],
)
def test_a_device_near_several_nodes_counts_once(
    on: Machine, asked: Pod, before: tuple[Pod, ...], expected: Apart
) -> None:
    third = "8-11" if len(on.numa_nodes) == 3 else ""
    found = pod_result(outcome(BEST._replace(reserved_system_cpus=third), asked, *before, on=on), why_apart=True)
    assert found.containers[-1].apart == expected


def test_a_device_of_which_only_sys_tells_the_node_came_from_nowhere_else() -> None:
    """The kubelet knows no node of it, so that it has no part in what was chosen."""
    on = machine("figure-1")
    far = PCIFunction("0000:98:00.0", numa_node=1)
    on = on._replace(devices={GPU: (Device(far.address),)}, hardware=Hardware(pci=(far,)))
    found = pod_result(outcome(BEST, pod("p", 2, gpu=1), on=on), why_apart=True)
    assert found.containers[0].alignment.verdict == "spread"
    assert found.containers[0].apart == Apart("best-effort", 0b01, whole_pod=False)


@pytest.mark.parametrize(
    ("nodes", "expected"), [(15, Chosen(scarce=(Wanted("cpu", 8),))), (16, Chosen())], ids=["1940 sets", "2516 sets"]
)
def test_among_too_many_sets_of_nodes_it_is_not_looked_up_why_none_would_have_done(
    nodes: int, expected: Chosen
) -> None:
    """Of two CPUs a node one is reserved: eight are on four nodes at least, and come from eight."""
    on = regular(nodes, 2, 1)
    settings = BEST._replace(
        topology_manager_policy_options={"max-allowable-numa-nodes": "16"},
        reserved_system_cpus=",".join(str(2 * node) for node in range(nodes)),
    )
    [container] = pod_result(outcome(settings, pod("p", 8), on=on), why_apart=True).containers
    assert container.apart == Apart("best-effort", 0xFF, whole_pod=False, why=expected)
