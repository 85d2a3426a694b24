"""Devices of which the NUMA nodes do not tell: those on no node of the machine, and those on several."""

from __future__ import annotations

import pytest

from numalign.analysis.loose import Loose, loose
from numalign.model.machine import Device, Machine
from tests.analysis.support import GPU, config, limits, machine, outcome, pod_of


def of(*devices: Device, taken: int = 0) -> Loose:
    """The GPUs of figure 1, two nodes, if they were these; some of them taken."""
    on: Machine = machine("figure-1")._replace(devices={GPU: devices})
    found = outcome(config("none"), pod_of("p", a=limits(1, **({"gpu": taken} if taken else {}))), on=on)
    return loose(found.before.node, found.after, GPU)


A0, B0, C1 = Device("a", (0,)), Device("b", (0,)), Device("c", (1,))
BOTH, NOWHERE, FAR = Device("both", (0, 1)), Device("nowhere", None), Device("far", (7,))


def test_devices_on_nodes() -> None:
    assert of(A0, B0, C1) == Loose((0, 0), ((1, 2, 2), (2, 1, 1)), 3, 3)


def test_what_is_taken_is_not_free() -> None:
    found = of(A0, B0, C1, taken=2)

    assert (found.placed, found.total) == (1, 3)
    assert sum(free for _, free, _ in found.places) == 1
    assert sum(total for *_, total in found.places) == 3


def test_devices_that_are_not_well_do_not_count() -> None:
    sick = Device("sick", (0,), healthy=False)
    assert of(A0, sick) == Loose((0, 0), ((1, 1, 1),), 1, 1)
    assert of(sick) == Loose((0, 0), ((1, 0, 0),), 0, 0)


def test_devices_on_no_node_count_apart() -> None:
    assert of(A0, NOWHERE, FAR) == Loose((2, 2), ((1, 1, 1),), 1, 3, (7,))


def test_nodes_that_are_missing_are_told_in_ascending_order_once() -> None:
    assert of(FAR, Device("farther", (9, 2)), Device("beside", (7,))).told == (2, 7, 9)


def test_devices_on_several_nodes_count_apart() -> None:
    assert of(A0, BOTH) == Loose((0, 0), ((1, 1, 1), (3, 1, 1)), 2, 2)


TOLD = [
    ("all on one node each", (A0, C1), (False, True, False, False)),
    ("one on no node", (A0, NOWHERE), (True, True, False, False)),
    ("all on no node", (NOWHERE,), (True, False, False, False)),
    ("all on nodes that are missing", (FAR,), (True, True, True, False)),
    ("some on nodes that are missing", (FAR, A0), (True, True, False, False)),
    ("one on two nodes", (A0, BOTH), (True, True, False, True)),
    ("one on two nodes that is not well", (A0, BOTH._replace(healthy=False)), (False, True, False, False)),
]


@pytest.mark.parametrize(("devices", "said"), [row[1:] for row in TOLD], ids=[row[0] for row in TOLD])
def test_what_is_said_of_them(devices: tuple[Device, ...], said: tuple[bool, ...]) -> None:
    found = of(*devices)

    assert (found.apart, found.aware, found.misplaced, found.several) == said
