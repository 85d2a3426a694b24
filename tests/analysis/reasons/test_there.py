"""Why no more may be asked of one resource: what the node has to which the pod goes, and what the others lack."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.analysis.circumstances import Circumstances
from numalign.analysis.holding import Handed
from numalign.analysis.matrix import Cell, Matrix, Row, Verdict
from numalign.analysis.own_containers import Own, Sum
from numalign.analysis.reasons.asked import NOTHING, Asked, Left, Place, Spread
from numalign.analysis.reasons.change_facts import EnoughBut, Goes, HasThere, HasToStay, Lack, Reasonable
from numalign.analysis.reasons.there import limit_there
from numalign.analysis.refusal import Refusal
from numalign.analysis.whatif.change import Part, WayOut
from numalign.model.quantity import NANO

GPU, NIC = "v.com/gpu", "v.com/nic"


def row(name: str, requested: int, *free: int, verdicts: dict[int, Verdict] | None = None, **more: int) -> Row:
    """What is free on each of three nodes, of four; `more`: of the first cell."""
    given = verdicts or {}
    cells = [
        Cell(one, 4, given.get(place, "enough" if one >= requested else "no"), **(more if not place else {}))
        for place, one in enumerate(free)
    ]
    return Row(name, requested, tuple(cells), sum(free), 1, possible=True)


def refused(*rows: Row, container: str | None = "app", **around: Any) -> Refusal:
    table = Matrix(container, (0, 1, 3), rows, "restricted")
    circumstances = Circumstances(**around)
    return Refusal("merge", "", "", "app", "restricted", table, rows, (), never=False, around=circumstances)


CPUS, GPUS = row("cpu", 4, 2, 4, 3), row(GPU, 1, 1, 0, 0)
FOUND = refused(CPUS, GPUS)
HERE = (Goes("app", 0b1, {}, 0b1),)
TWO = HasThere(Asked("cpu", 4), 0, 2, None)
NO_GPU = EnoughBut(0b10, (Lack(Asked(GPU, 1), NOTHING, some=False, ever=True, own=None),))
INIT = Handed("cpu", ("init",), 3, 0b1, {})
LEFT = row("cpu", 6, 2, 6, 3, handed=3)
SIDE = Own(GPU, "side", "sidecar", 1, 0b10)


def lacks(one: Lack, nodes: int = 0b10) -> EnoughBut:
    return EnoughBut(nodes, (one,))


OTHERS: list[tuple[str, Refusal, list[Reasonable]]] = [
    ("the other node that has enough lacks another resource", FOUND, [TWO, NO_GPU]),
    ("whatever comes first", refused(GPUS, CPUS), [TWO, NO_GPU]),
    ("of nothing else it is asked", refused(CPUS), []),
    ("the whole pod does", refused(CPUS, GPUS, container=None), [TWO, NO_GPU]),
    ("something else refuses it", FOUND._replace(stage="hints"), []),
    ("no decision", FOUND._replace(matrix=None), []),
    ("another container does", refused(CPUS, GPUS, container="other"), []),
    ("nothing is decided of it", refused(GPUS), []),
    ("something takes several nodes", refused(CPUS, GPUS._replace(width=2)), []),
    ("something takes none", refused(CPUS, GPUS, row(NIC, 1, 1, 1, 1)._replace(width=0)), [TWO, NO_GPU]),
    ("its node has enough", refused(row("cpu", 2, 2, 4, 3), GPUS), []),
    ("its node has as much only with others", refused(row("cpu", 2, 2, 4, 0, group=0b11), GPUS), [
        HasThere(Asked("cpu", 2), 0, 0, None), NO_GPU,
    ]),
    ("no other node has enough", refused(row("cpu", 4, 2, 3, 3), GPUS), [TWO]),
    ("the other one lacks nothing", refused(CPUS, row(GPU, 1, 1, 1, 0)), []),
    ("nor what does not matter", refused(CPUS, row(GPU, 1, 1, 0, 0, verdicts={1: "any"})), []),
    ("nor what it has with others", refused(CPUS, row(GPU, 1, 1, 1, 0, verdicts={1: "no"})), []),
    ("there never is any", refused(CPUS, GPUS._replace(cells=(Cell(1, 1, "enough"), *[Cell(0, 0, "no")] * 2))), [
        TWO, lacks(Lack(Asked(GPU, 1), NOTHING, some=False, ever=False, own=None)),
    ]),
    ("the pod's own containers hold it there", refused(CPUS, GPUS, own=(SIDE, SIDE._replace(nodes=0b1, amount=7))), [
        TWO, lacks(Lack(
            Asked(GPU, 1), Spread(1, 12, (Place(0, 1, 4), Place(1, 0, 4), Place(3, 0, 4))),
            some=False, ever=True, own=Left(("side",), 1),
        )),
    ]),
    ("they hold some, and some is left", refused(CPUS, row(GPU, 2, 2, 1, 0), own=(SIDE,)), [
        TWO, lacks(Lack(Asked(GPU, 2), NOTHING, some=True, ever=True, own=None)),
    ]),
    ("two nodes lack the same", refused(row("cpu", 4, 2, 4, 4), GPUS), [TWO, NO_GPU._replace(nodes=0b1010)]),
    ("of which one has some", refused(row("cpu", 4, 2, 4, 4), row(GPU, 2, 2, 1, 0)), [
        TWO, lacks(Lack(Asked(GPU, 2), NOTHING, some=True, ever=True, own=None), 0b1010),
    ]),
    ("of which one could have some", refused(
        row("cpu", 4, 2, 4, 4), GPUS._replace(cells=(Cell(1, 4, "enough"), Cell(0, 4, "no"), Cell(0, 0, "no")))
    ), [TWO, NO_GPU._replace(nodes=0b1010)]),
    ("who asks for it is told with what there is", refused(CPUS, GPUS, together=(Sum(GPU, 1, 8, (("app", 1),)),)), [
        TWO, NO_GPU,
    ]),
    ("what is left has to be used where no other node has it", refused(
        row("cpu", 4, 2, 4, 4), row(GPU, 2, 1, 0, 2, handed=1), handed=(INIT._replace(resource=GPU),)
    ), []),
    ("who leaves another resource is not named", refused(
        LEFT, GPUS, handed=(INIT, INIT._replace(resource=NIC, containers=("b",)))
    ), [HasThere(Asked("cpu", 6), 0, 5, ("init",)), NO_GPU]),
    ("each lacks something else", refused(row("cpu", 4, 2, 4, 4), row(GPU, 1, 1, 0, 1), row(NIC, 1, 1, 1, 0)), [
        TWO, NO_GPU, lacks(Lack(Asked(NIC, 1), NOTHING, some=False, ever=True, own=None), 0b1000),
    ]),
    ("one lacks two, of one of which it has some", refused(CPUS, row(GPU, 2, 2, 1, 0), row(NIC, 1, 1, 0, 0)), [
        TWO, EnoughBut(0b10, (
            Lack(Asked(NIC, 1), NOTHING, some=False, ever=True, own=None),
            Lack(Asked(GPU, 2), NOTHING, some=True, ever=True, own=None),
        )),
    ]),
    ("one of two lacks nothing", refused(row("cpu", 4, 2, 4, 4), row(GPU, 1, 1, 0, 1)), []),
    ("init containers leave most of it, and it has to stay", refused(LEFT, GPUS, handed=(INIT,)), [
        HasThere(Asked("cpu", 6), 0, 5, ("init",)), NO_GPU,
    ]),
    ("which of them is not known", refused(LEFT, GPUS, handed=(INIT, INIT._replace(containers=("b",)))), [
        HasThere(Asked("cpu", 6), 0, 5, ()), NO_GPU,
    ]),
    ("as much is free", refused(row("cpu", 6, 2, 6, 3, handed=2), GPUS, handed=(INIT,)), [
        HasThere(Asked("cpu", 6), 0, 4, None), NO_GPU,
    ]),
    ("what is left there of another resource has to be used", refused(
        CPUS, row(GPU, 2, 1, 0, 2, handed=1), handed=(INIT._replace(resource=GPU),)
    ), [TWO, HasToStay(GPU, 1, ("init",))]),
    ("those of what is in the way may be others", refused(CPUS, row(GPU, 2, 1, 0, 2, handed=1), handed=(INIT,)), [
        TWO, HasToStay(GPU, 1, ("init",)),
    ]),
    ("but not where it does not matter", refused(
        CPUS, row(GPU, 2, 1, 0, 2, verdicts={1: "any"}, handed=1), row(NIC, 1, 1, 0, 0)
    ), [TWO, lacks(Lack(Asked(NIC, 1), NOTHING, some=False, ever=True, own=None))]),
    ("memory that is left ties nothing", refused(CPUS, row("memory", 2, 1, 0, 2, handed=1)), [
        TWO, lacks(Lack(Asked("memory", 2), NOTHING, some=False, ever=True, own=None)),
    ]),
]  # fmt: skip


def part(**amounts: int) -> Part:
    keys = {("app", name): nano * NANO for name, nano in amounts.items()}
    return Part(WayOut(amounts=keys, asked=dict.fromkeys(keys, 9 * NANO)), None)


@pytest.mark.parametrize(("found", "told"), [one[1:] for one in OTHERS], ids=[one[0] for one in OTHERS])
def test_what_the_node_has_and_the_others_lack(found: Refusal, told: list[Reasonable]) -> None:
    """The pod goes to node 0, with as many CPUs as that has; it is refused with the next larger number."""
    assert list(limit_there(part(cpu=2), found, HERE)) == told


GOES: list[tuple[str, Part, tuple[Goes, ...], bool]] = [
    ("where another container goes does not matter", part(cpu=2), (*HERE, Goes("other", 0b10, {}, 0b10)), True),
    ("it goes nowhere", part(cpu=2), (Goes("other", 0b1, {}, 0b1),), False),
    ("any node will do", part(cpu=2), (HERE[0]._replace(chosen=None),), False),
    ("it goes to two", part(cpu=2), (HERE[0]._replace(chosen=0b11),), False),
    ("a part of two amounts", part(cpu=2, memory=1), HERE, False),
]


@pytest.mark.parametrize(("cut", "after", "told"), [one[1:] for one in GOES], ids=[one[0] for one in GOES])
def test_where_the_pod_goes_is_one_node(cut: Part, after: tuple[Goes, ...], told: bool) -> None:
    assert bool(list(limit_there(cut, FOUND, after))) is told


def test_of_devices_that_lie_nowhere_no_node_has_any() -> None:
    anywhere = row("cpu", 4, 2, 4, 3, verdicts=dict.fromkeys(range(3), "any"))
    assert not list(limit_there(part(cpu=2), refused(anywhere, GPUS), HERE))


def test_it_may_be_any_node() -> None:
    found = refused(row("cpu", 4, 4, 2, 3), row(GPU, 1, 0, 1, 0))
    has, but = limit_there(part(cpu=2), found, (Goes("app", 0b10, {}, 0b10),))
    assert (has, but) == (TWO._replace(node=1), NO_GPU._replace(nodes=0b1))
