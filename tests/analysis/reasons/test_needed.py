"""Why a part of a change is needed: where memory meets then, and what the refusal itself tells already."""

from __future__ import annotations

import pytest

from numalign.analysis.circumstances import Circumstances
from numalign.analysis.matrix import Cell, Matrix, Row
from numalign.analysis.memory_together import Joint
from numalign.analysis.reasons.change_facts import AsWide, Goes, ThenTogether
from numalign.analysis.reasons.facts import Fact
from numalign.analysis.reasons.needed import needed
from numalign.analysis.reasons.refusal import in_short
from numalign.analysis.refusal import Refusal
from numalign.analysis.whatif.change import Part, WayOut
from numalign.kubelet.fit.check import Shortage
from numalign.model.quantity import MEBI, NANO
from tests.analysis.support import config

GI = 1 << 30
SETTINGS = config("restricted")
PAGES = "hugepages-1Gi"
JOINT = Joint(("memory", PAGES), 2)
ONE, BOTH, ANY = Goes("app", 0b01, {}, 0b01), Goes("app", 0b11, {}, 0b11), Goes("app", 0b01, {}, None)
OTHER = ONE._replace(name="other", chosen=0b10)


def cut(resource: str, nano: int, found: Refusal | None = None, **more: object) -> Part:
    """The one part of a change that asks for less of a resource."""
    way = WayOut(amounts={("app", resource): nano}, asked={("app", resource): 9 * GI * NANO})
    return Part(way, found)._replace(**more)


MEET: list[tuple[str, str, Joint | None, str | None, tuple[Goes, ...], bool]] = [
    ("less memory", "memory", JOINT, "app", (ONE,), True),
    ("fewer huge pages", PAGES, JOINT, "app", (ONE,), True),
    ("fewer CPUs", "cpu", JOINT, "app", (ONE,), False),
    ("memory that was not to meet", "memory", None, "app", (ONE,), False),
    ("on as many nodes", "memory", JOINT, "app", (BOTH,), False),
    ("on any nodes", "memory", JOINT, "app", (ANY,), False),
    ("where another container goes does not matter", "memory", JOINT, "app", (ONE, OTHER), True),
    ("of a pod that is refused as a whole it does", "memory", JOINT, None, (ONE, OTHER), False),
    ("and they go to the same nodes", "memory", JOINT, None, (ONE, ONE._replace(name="other")), True),
    ("a container that goes nowhere", "memory", JOINT, "app", (OTHER,), False),
]


@pytest.mark.parametrize(
    ("resource", "joint", "at", "after", "told"), [row[1:] for row in MEET], ids=[row[0] for row in MEET]
)
def test_on_how_many_nodes_memory_meets_once_less_is_asked(
    resource: str, joint: Joint | None, at: str | None, after: tuple[Goes, ...], told: bool
) -> None:
    around = Circumstances(joint=joint)
    refused = Refusal("policy", "", "", at, "restricted", None, (), (), never=True, around=around)
    part = cut(resource, NANO)
    found = needed(part, refused, after, SETTINGS, whole=part.change._replace(parts=(part,)), head=())
    assert [one.fact for one in found] == ([ThenTogether(JOINT.resources, 0b01)] if told else [])
    assert needed(part, None, after, SETTINGS, whole=part.change, head=()) == []


def short(*shortages: Shortage) -> Refusal:
    return Refusal("fit", "", "", None, "restricted", None, (), shortages, never=True)


def wide(requested: int, free: int) -> Refusal:
    """Too many CPUs for one of two nodes."""
    row = Row("cpu", requested, (Cell(free, 4, "together"),) * 2, 2 * free, 1, possible=True)
    table = Matrix(None, (0, 1), (row,), "restricted")
    return Refusal("policy", "", "", "app", "restricted", table, (row,), (), never=False)


CPUS, MEMORY = Shortage("cpu", 4000, 1500, 4000), Shortage("memory", 4 * GI, 2 * GI, 4 * GI)
SAID: list[tuple[str, str, int, Refusal, Refusal, bool]] = [
    ("what the node has left", "cpu", 2 * NANO, short(CPUS), short(CPUS), True),
    ("a share of a CPU that it has left", "cpu", 5 * NANO // 2, short(CPUS), short(CPUS), False),
    ("another number", "cpu", 3 * NANO, short(CPUS), short(CPUS), False),
    ("of another resource", "memory", 2 * NANO, short(CPUS), short(CPUS), False),
    ("a node of which more is used", "cpu", 2 * NANO, short(CPUS), short(CPUS._replace(used=1600)), False),
    ("none of what it has none left of", "cpu", 0, *[short(CPUS._replace(used=4000))] * 2, False),
    ("all the memory that it has left", "memory", 2 * GI * NANO, short(MEMORY), short(MEMORY), True),
    ("a MiB less", "memory", (2 * GI - MEBI) * NANO, short(MEMORY), short(MEMORY), False),
    ("none of the memory", "memory", 0, *[short(MEMORY._replace(used=4 * GI))] * 2, False),
    ("what is free on a node", "cpu", 2 * NANO, wide(3, 2), wide(3, 2), True),
    ("less than that", "cpu", NANO, wide(3, 2), wide(3, 2), False),
]


@pytest.mark.parametrize(
    ("resource", "nano", "refused", "found", "said"), [row[1:] for row in SAID], ids=[row[0] for row in SAID]
)
def test_what_the_refusal_says_with_the_very_amount_is_not_said_of_the_change(
    resource: str, nano: int, refused: Refusal, found: Refusal, said: bool
) -> None:
    part = cut(resource, nano, found)
    head: list[Fact] = in_short(refused)
    told = needed(part, refused, (ONE,), SETTINGS, whole=part.change._replace(parts=(part,)), head=head)
    assert (not told) is said


@pytest.mark.parametrize(("cpus", "told"), [(4, False), (5, True), (6, False)])
def test_more_cpus_are_asked_for_than_one_node_has_so_that_they_take_two_as_devices_do(cpus: int, told: bool) -> None:
    """The pod is admitted, and not aligned; a node has four CPUs: five are the least that need two."""
    rows = (
        Row("cpu", 1, (Cell(4, 4, "enough"),) * 2, 8, 1, possible=True),
        Row("v.com/gpu", 2, (Cell(1, 1, "together"),) * 2, 2, 2, possible=True),
    )
    change = WayOut(amounts={("app", "cpu"): cpus * NANO}, asked={("app", "cpu"): NANO})
    part, tables = Part(change, None), [Matrix("app", (0, 1), rows, "best-effort")]
    found = needed(part, None, (ONE,), SETTINGS, whole=change._replace(parts=(part,)), head=(), tables=tables)
    assert [one.fact for one in found] == ([AsWide(("v.com/gpu",), 2, "cpu", 4)] if told else [])
