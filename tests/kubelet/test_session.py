"""What a session adds to the managers: warnings, the fit check, evictions."""

from __future__ import annotations

from numalign.kubelet.admission import odd_from_the_start, open_session
from numalign.kubelet.config import IDEAL, KubeletConfig, MemoryReservation
from numalign.kubelet.setup import Setup
from numalign.model.machine import Machine, NUMANode

GIB = 1 << 30


def test_a_node_that_gives_more_than_it_has_is_told() -> None:
    """Huge pages and reservation exceed node 0: the kubelet starts, and the node looks almost infinite."""
    machine = Machine("m", (NUMANode(0, 0b11, GIB, {"1Gi": GIB}), NUMANode(1, 0b1100, 4 * GIB)))
    config = KubeletConfig(
        memory_manager_policy="Static",
        kube_reserved={"memory": "1Gi"},
        eviction_hard={},
        reserved_memory=(MemoryReservation(0, {"memory": "1Gi"}),),
    )

    notices = odd_from_the_start(open_session(Setup(machine, config, "kubelet")))

    assert [notice.code for notice in notices] == ["memory-overdrawn"]
    assert "node 0" in notices[0].message


def test_nothing_is_odd_on_a_plain_node() -> None:
    machine = Machine("m", (NUMANode(0, 0b11, GIB),))

    assert odd_from_the_start(open_session(Setup(machine, IDEAL, "ideal"))) == ()
