"""What is told of a refusal, of rows as they are: what the pod's own containers hold, leave, and have to do with it."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.analysis.circumstances import Circumstances, Cores
from numalign.analysis.holding import Handed
from numalign.analysis.matrix import Cell, Matrix, Row, Verdict
from numalign.analysis.memory_together import Group, Short, Wider
from numalign.analysis.own_containers import Own
from numalign.analysis.reasons.asked import Left
from numalign.analysis.reasons.memory_facts import (
    ChosenBefore,
    HasToFit,
    HeldByOwn,
    LeftByInit,
    LeftCounts,
    LookedAgain,
    MemoryHeld,
    ShortThere,
    TooMany,
)
from numalign.analysis.reasons.refusal import facts_of
from numalign.analysis.reasons.shortage import second_look, short_with_left
from numalign.analysis.refusal import Refusal, Stage

SIDE = Own("memory", "side", "sidecar", 2, 0b1)
GROUP = Group(0b11, ("other",))


def row(name: str, requested: int, *free: int, handed: int = 0, group: int = 0, width: int = 1) -> Row:
    """What is free on each node, of four."""
    enough: Verdict = "together" if group else "enough"
    cells = [Cell(one, 4, enough if one >= requested else "no", handed, group) for one in free]
    return Row(name, requested, tuple(cells), sum(free), width, possible=True)


def refused(stage: Stage, *rows: Row, more: tuple[Row, ...] = (), **around: Any) -> Refusal:
    table = Matrix("app", tuple(range(len(rows[0].cells))), (*rows, *more), "restricted")
    circumstances = Circumstances(**around)
    return Refusal(stage, "", "", "app", "restricted", table, rows, (), never=False, around=circumstances)


MEMORY, GPU = row("memory", 3, 3, 0), row("v.com/gpu", 1, 0, 1)
CPUS = row("cpu", 4, 2, 1, handed=1)
HELD: list[tuple[str, Refusal, tuple[str, ...]]] = [
    ("memory that does not meet devices", refused("merge", MEMORY, GPU, own=(SIDE,)), ("memory",)),
    ("where nodes are bound, that is told of them", refused("merge", MEMORY, GPU, own=(SIDE,), groups=(GROUP,)), ()),
    ("it leaves too little free, and init containers some", refused(
        "merge", CPUS, GPU, own=(SIDE._replace(resource="cpu"),)
    ), ("cpu",)),
    ("what is told of what is free", refused("hints", CPUS, own=(SIDE._replace(resource="cpu"),)), ()),
    ("an init container", refused("merge", MEMORY, GPU, own=(SIDE._replace(kind="init"),)), ()),
]  # fmt: skip


@pytest.mark.parametrize(("found", "names"), [one[1:] for one in HELD], ids=[one[0] for one in HELD])
def test_what_the_pods_own_containers_hold(found: Refusal, names: tuple[str, ...]) -> None:
    assert tuple(one.resource for one in facts_of(found) if isinstance(one, HeldByOwn)) == names


def init(nodes: int, amount: int = 2, resource: str = "memory") -> Handed:
    return Handed(resource, ("init",), amount, nodes, {})


WIDE = row("memory", 3, 2, 2, handed=2)
BY_INIT: list[tuple[str, Refusal, list[tuple[bool, int]]]] = [
    ("on a node of two", refused("hints", row("memory", 3, 2, 0), handed=(init(0b1),)), [(True, 0)]),
    ("on the only node", refused("hints", row("memory", 3, 2), handed=(init(0b1),)), [(False, 0)]),
    (
        "on the only node, of memory beside whole cores",
        refused("allocation", row("memory", 3, 2), handed=(init(0b1),), cores=Cores(4, 2, 2, 8, ())),
        [(False, 0)],
    ),
    ("on no known node", refused("hints", row("memory", 3, 2, 0), handed=(init(0),)), [(False, 0)]),
    ("on more nodes than are to be used", refused("policy", WIDE, handed=(init(0b11),)), [(True, 1)]),
    ("on as many", refused("policy", WIDE._replace(width=2), handed=(init(0b11),)), [(True, 0)]),
    ("on more nodes where the policy does not refuse", refused("hints", WIDE, handed=(init(0b11),)), [(True, 0)]),
    ("CPUs of a node", refused("policy", CPUS, handed=(init(0b11, resource="cpu"),)), []),
]


@pytest.mark.parametrize(("found", "told"), [one[1:] for one in BY_INIT], ids=[one[0] for one in BY_INIT])
def test_what_init_containers_leave(found: Refusal, told: list[tuple[bool, int]]) -> None:
    left = [one for one in facts_of(found) if isinstance(one, LeftByInit)]
    assert [(one.there, one.width) for one in left] == told
    assert all(isinstance(one.left, Left) for one in left)


def test_nodes_that_would_do_are_more_than_the_container_needs() -> None:
    """One was chosen before; the container needs one, and both are bound together."""
    bound = row("memory", 3, 3, 3, group=0b11)
    wider = Wider("app", 1, 0b1, 0b11, ())
    found = refused("allocation", bound, groups=(GROUP,), joined=(0b11,), chosen=0b1, wider=wider)
    told = list(facts_of(found))
    assert [type(one) for one in told[-3:]] == [MemoryHeld, HasToFit, TooMany]
    beside = refused("allocation", bound, CPUS, groups=(GROUP,), joined=(0b11,), chosen=0b1, wider=wider)
    [fit] = [one for one in facts_of(beside) if isinstance(one, HasToFit)]
    assert [one.resource for one in fit.asked] == ["memory"]


def test_of_memory_that_is_looked_for_again_only_what_was_short_is_told() -> None:
    """There never are as many huge pages, which is not what the nodes chosen before have too little of."""
    pages = row("hugepages-1Gi", 9, 3, 3)
    wider = Wider("app", 1, 0b1, 0b11, (Short("memory", 3, 1, ()),))
    found = refused("allocation", row("memory", 3, 1, 3), more=(pages,), chosen=0b1, wider=wider)
    assert isinstance(next(facts_of(found)), ShortThere)


BEFORE: list[tuple[str, tuple[int, int], int | None, list[ChosenBefore]]] = [
    ("several nodes would do", (3, 3), 0b11, [ChosenBefore((), 0b11)]),
    ("one of several", (3, 1), 0b10, [ChosenBefore((0b1,), 0b10)]),
    ("those that were chosen would", (3, 3), 0b10, []),
    ("none were chosen", (3, 3), None, []),
    ("none would do", (2, 2), 0b11, []),
]


@pytest.mark.parametrize(("free", "chosen", "told"), [one[1:] for one in BEFORE], ids=[one[0] for one in BEFORE])
def test_memory_nodes_were_chosen_before(free: tuple[int, int], chosen: int | None, told: list[ChosenBefore]) -> None:
    """Three bytes are asked for; other nodes' memory is bound, and each of these may be used alone."""
    found = refused("allocation", row("memory", 3, *free), groups=(GROUP,), joined=(0b1, 0b10), chosen=chosen)
    assert [one for one in facts_of(found) if isinstance(one, ChosenBefore)] == told


def test_the_only_nodes_that_are_told_would_do() -> None:
    found = refused("allocation", row("memory", 3, 3, 3), groups=(GROUP,), joined=(0b1,), chosen=0b10)
    assert ChosenBefore((0b1,), 0b10) in facts_of(found)


WITH_LEFT: list[tuple[str, Row, int, int | None]] = [
    ("both do not do", row("memory", 5, 2, 5, handed=2), 0b1, 2),
    ("both just do", row("memory", 4, 2, 5, handed=2), 0b1, None),
    ("it lies on two nodes", row("memory", 5, 2, 5, handed=2), 0b11, None),
    ("CPUs", row("cpu", 5, 2, 5, handed=2), 0b1, None),
    ("no node has as much of it", row("memory", 5, 2, 5), 0b1, None),
]


@pytest.mark.parametrize(("of", "nodes", "free"), [one[1:] for one in WITH_LEFT], ids=[one[0] for one in WITH_LEFT])
def test_what_is_free_beside_memory_that_is_left(of: Row, nodes: int, free: int | None) -> None:
    assert short_with_left(Left(("init",), 2, nodes), of) == free


@pytest.mark.parametrize("own", [0, 1, 2], ids=["none of it", "some of one", "some of both"])
def test_what_init_containers_leave_counts_where_the_pod_itself_holds_any_of_what_is_short(own: int) -> None:
    held = (("init", 1),)
    each = tuple(
        Short(name, 3, 1, held if place < own else ()) for place, name in enumerate(("memory", "hugepages-1Gi"))
    )
    told = [type(one) for one in second_look(Wider("app", 1, 0b1, 0b11, each))]
    assert told == [ShortThere, ShortThere, *([LeftCounts] if own else []), LookedAgain, TooMany]
