"""An object as a scheduler keeps it: its quick form says what reading it says (docs/rules/scheduling.md T-6)."""

from __future__ import annotations

from typing import Literal

import pytest

from numalign.scheduler.nrt.copy import Layout, copy_of
from numalign.scheduler.nrt.value import (
    FINGERPRINT,
    NodeResourceTopology,
    Zone,
    ZoneResource,
    numa_zones,
    with_available,
)

SAYS, SILENT = ZoneResource(8, 8, 5), ZoneResource(8, 7, None)
COSTS = {"node-0": 10, "node-1": 20}


def zone(name: str, cpu: ZoneResource = SAYS, gpu: ZoneResource = SAYS, kind: str = "Node") -> Zone:
    return Zone(name, kind, {"cpu": cpu, "v.com/gpu": gpu}, COSTS)


OBJECTS = {
    "all is said": (zone("node-0"), zone("node-1")),
    "a zone does not say what is free": (zone("node-0", gpu=SILENT), zone("node-1")),
    "no zone says what is free of a device": (zone("node-0", gpu=SILENT), zone("node-1", gpu=SILENT)),
    "nothing is said": (zone("node-0", SILENT, SILENT), zone("node-1", SILENT, SILENT)),
    "a zone is no NUMA node": (zone("node-0"), zone("node-1", kind="Socket")),
    "a zone has no number": (zone("left"), zone("node-1")),
    "there is none": (),
}
AMOUNTS: tuple[Literal["available", "kep"], ...] = ("available", "kep")


@pytest.mark.parametrize("zones", OBJECTS.values(), ids=OBJECTS)
@pytest.mark.parametrize("amount", AMOUNTS)
def test_the_zones_of_a_copy_are_those_of_its_object(
    zones: tuple[Zone, ...], amount: Literal["available", "kep"]
) -> None:
    nrt = NodeResourceTopology("n", zones)
    copy = copy_of(nrt)
    assert copy is not None
    assert copy.nrt == nrt
    assert copy.zones(amount) == numa_zones(nrt, amount)
    less = copy._replace(free=tuple([tuple([free - 2 for free in row]) for row in copy.free]))
    known = [
        {name: one.available - 2 for name, one in each.resources.items() if one.available is not None} for each in zones
    ]
    assert less.nrt == with_available(nrt, known)
    assert less.zones(amount) == numa_zones(less.nrt, amount)


BASE = NodeResourceTopology("n", OBJECTS["all is said"], (("topologyManagerPolicy", "restricted"),))
OTHERS = [
    ("its name", BASE._replace(name="m"), True),
    ("what is free", with_available(BASE, [{"cpu": 1}, {}]), True),
    ("the pods that it describes", BASE._replace(attributes=(*BASE.attributes, (FINGERPRINT, "x"))), True),
    ("its policy", BASE._replace(attributes=(("topologyManagerPolicy", "none"),)), False),
    ("its old policy", BASE._replace(topology_policies=("Restricted",)), False),
    ("what there is", BASE._replace(zones=(zone("node-0", cpu=ZoneResource(9, 8, 5)), BASE.zones[1])), False),
    ("what may be had", BASE._replace(zones=(zone("node-0", cpu=ZoneResource(8, 7, 5)), BASE.zones[1])), False),
    ("that it says what is free", BASE._replace(zones=(zone("node-0", cpu=SILENT), BASE.zones[1])), False),
    ("a zone's name", BASE._replace(zones=(zone("node-2"), BASE.zones[1])), False),
    ("a zone's type", BASE._replace(zones=(zone("node-0", kind="Socket"), BASE.zones[1])), False),
    ("a distance", BASE._replace(zones=(zone("node-0")._replace(costs={}), BASE.zones[1])), False),
]


@pytest.mark.parametrize(("other", "alike"), [row[1:] for row in OTHERS], ids=[row[0] for row in OTHERS])
def test_objects_that_decide_alike_share_a_layout(other: NodeResourceTopology, alike: bool) -> None:
    one, same, changed = Layout(BASE), Layout(BASE), Layout(other)
    assert one == same
    assert hash(one) == hash(same)
    assert (one == changed) is alike
    assert one != "a layout"


def test_no_object_has_no_copy() -> None:
    assert copy_of(None) is None
