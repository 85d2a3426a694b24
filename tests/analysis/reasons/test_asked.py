"""What is asked of a resource beside what other containers of the pod ask for, hold and leave."""

from __future__ import annotations

import pytest

from numalign.analysis.circumstances import Circumstances
from numalign.analysis.holding import Handed
from numalign.analysis.loose import Loose
from numalign.analysis.matrix import Cell, Matrix, Row
from numalign.analysis.own_containers import Own, Sum
from numalign.analysis.reasons.asked import Asked, Left, Place, Spread, Too, held_by_own, left_to, own, too, what

INIT = Sum("cpu", 10, 8, (("init", 10),), lasting=False)
LATER = Sum("cpu", 11, 8, (("init", 1), ("later", 10)), lasting=False)
APPS = Sum("cpu", 9, 8, (("a", 4), ("b", 5)))
MEMORY = Sum("memory", 99, 8, (("a", 99),))
BEFORE, BETWEEN, AFTER = Too(10, ("init",), "before"), Too(11, ("init", "later"), ""), Too(9, ("a", "b"), "after")


def row(requested: int, resource: str = "cpu", free: int = 3, loose: Loose | None = None) -> Row:
    cells = (Cell(1, 4, "no"), Cell(2, 4, "no", handed=1))
    return Row(resource, requested, cells, free, 1, possible=False, loose=loose)


TOO: list[tuple[str, int, tuple[Sum, ...], int, tuple[Too, ...]]] = [
    ("who runs before", 9, (INIT, APPS, MEMORY), 8, (BEFORE,)),
    ("who runs after", 10, (INIT, APPS, MEMORY), 8, (AFTER,)),
    ("who runs at another time before the others", 10, (INIT, LATER, APPS), 8, (BETWEEN, AFTER)),
    ("of containers that all run before", 10, (INIT, LATER), 8, (BETWEEN,)),
    ("what is not too much", 10, (INIT, APPS), 9, ()),
    ("what is asked by one container", 7, (INIT, APPS), 8, ()),
    ("nobody else", 9, (APPS,), 8, ()),
]


@pytest.mark.parametrize(
    ("requested", "together", "limit", "others"), [case[1:] for case in TOO], ids=[case[0] for case in TOO]
)
def test_who_else_asks_for_too_much(
    requested: int, together: tuple[Sum, ...], limit: int, others: tuple[Too, ...]
) -> None:
    assert too(row(requested), Circumstances(together=together), limit) == others


def test_what_earlier_containers_hold_and_leave() -> None:
    side, logs = Own("cpu", "side", "sidecar", 2, 0b01), Own("cpu", "logs", "sidecar", 1, 0b10)
    holding = (side, Own("cpu", "init", "init", 4, 0b01), logs, Own("memory", "side", "sidecar", 5, 0b01))
    handed = (Handed("cpu", ("init",), 4, 0b01, {}), Handed("memory", ("init",), 5, 0b01, {}))
    around = Circumstances(own=holding, handed=handed)

    assert held_by_own(row(9), around) == [side, logs]
    assert own(row(9), around) == Left(("side", "logs"), 3)
    assert own(row(9, "v.com/gpu"), around) is None
    assert list(left_to(row(9), around)) == [Left(("init",), 4, 0b01)]


def test_what_there_is() -> None:
    table = Matrix(None, (0, 3), (), "restricted")
    around = Circumstances(
        together=(APPS,), reduced=frozenset({"cpu"}), handed=(Handed("cpu", ("init",), 1, 0b1000, {}),)
    )
    places = (Place(0, 1, 4), Place(3, 2, 4, 1))

    assert what(row(9), table, around) == (
        Asked("cpu", 9, APPS.parts, reduced="yes"),
        Spread(3, 8, places, left=1),
    )
    assert what(row(7, free=9), table, Circumstances()) == (Asked("cpu", 7), Spread(9, 9, places))
    known = Loose((0, 0), ((0b1, 1, 4), (0b1000, 2, 4)), 3, 8)
    assert what(row(9, "v.com/gpu", loose=known), table, around)[1] == Spread(3, 8, places)
    apart = Loose((1, 1), ((0b1, 1, 4),), 1, 5)
    assert what(row(9, "v.com/gpu", loose=apart), table, around)[1] == Spread(3, 5, (), apart)
