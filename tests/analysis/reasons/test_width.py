"""How many nodes resources take, and that they do not meet: what is told of rows of a decision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from numalign.analysis.circumstances import Circumstances
from numalign.analysis.holding import Handed
from numalign.analysis.matrix import Cell, Matrix, Row, Verdict
from numalign.analysis.memory_together import Group, Joint
from numalign.analysis.own_containers import Own
from numalign.analysis.reasons.asked import Asked, Left
from numalign.analysis.reasons.facts import Fact
from numalign.analysis.reasons.width import (
    as_few_nodes,
    differ_in_width,
    never_meet,
    on_fewer_nodes,
    tied_to,
    too_wide,
)
from numalign.analysis.reasons.width_facts import (
    Could,
    FitOne,
    FitsOn,
    FitsToo,
    Holders,
    NeverMeet,
    NotThere,
    OnTheSame,
    TakeTogether,
    TiedBy,
    TooWide,
)
from numalign.analysis.refusal import Refusal, Stage

NODES = (0, 2)


def row(name: str, requested: int, *cells: tuple[Any, ...], width: int = 1) -> Row:
    """Cells: what is free, what there is at all, what the node can do for it."""
    return Row(name, requested, tuple(Cell(*one) for one in cells), sum(one[0] for one in cells), width, possible=True)


def table(*rows: Row) -> Matrix:
    return Matrix("app", NODES, rows, "restricted")


def wide(one: Row, policy: str = "restricted", **around: Any) -> TooWide:
    return too_wide(one, table(one), policy, Circumstances(**around))


FREE = row("cpu", 3, (2, 4, "together"), (1, 4, "together"))
LARGE = row("cpu", 5, (4, 4, "together"), (1, 4, "together"), width=2)
COUNTED = row("cpu", 4, (3, 3, "together", 0, 0, 1), (2, 2, "together"))
SIDE = Own("cpu", "side", "sidecar", 1, 0b1)
INIT = Handed("cpu", ("init",), 1, 0b100, {})
WIDE: list[tuple[str, TooWide, dict[str, Any]]] = [
    ("less is free on each", wide(FREE), {}),
    ("then, after another container", wide(FREE, when="then", own=(SIDE,)), {"when": "then", "after": ("side",)}),
    ("tied to what is left", wide(FREE, handed=(INIT,)), {"must": Left(("init",), 1, 0b100)}),
    ("what is left on no node ties to none", wide(FREE, handed=(INIT._replace(nodes=0),)), {}),
    ("as wide as it can do with", wide(LARGE), {}),
    ("more than one node has", wide(LARGE, "single-numa-node"), {"short": True, "limit": 4, "nodes": 0b101}),
    ("which one alone has", wide(COUNTED, "single-numa-node"), {"short": True, "limit": 3, "nodes": 0b001}),
    ("what is counted and never given", wide(COUNTED), {"short": True, "limit": 3, "counted": ((0, 1),)}),
    ("one node alone has it", wide(FREE, "single-numa-node"), {}),
]


@pytest.mark.parametrize(("found", "told"), [one[1:] for one in WIDE], ids=[one[0] for one in WIDE])
def test_one_resource_takes_too_many_nodes(found: TooWide, told: dict[str, Any]) -> None:
    fields = {name: getattr(found, name) for name in ("short", "limit", "nodes", "must", "counted", "bound")}
    fields |= {"when": found.when, "after": found.after}
    default = {"short": False, "limit": 0, "nodes": 0, "must": None, "counted": (), "bound": (), "when": "now"}
    assert fields == {**default, "after": (), **told}


OTHERS = Group(0b101, ("other",), ("init",))
MINE = OTHERS._replace(pods=())
BOUND = row("memory", 3, (3, 4, "together", 0, 0b101), (1, 4, "together", 0, 0b101))
HELD: list[tuple[str, Row, str, dict[str, Any], tuple[tuple[int, tuple[str, ...]], ...]]] = [
    ("of others", BOUND, "restricted", {"groups": (OTHERS,)}, ((0b101, ()),)),
    ("of the pod itself", BOUND, "restricted", {"groups": (MINE,)}, ((0b101, ("init",)),)),
    ("one node alone is wanted", BOUND, "single-numa-node", {"groups": (OTHERS,)}, ()),
    ("too little is free there", BOUND._replace(requested=4), "restricted", {"groups": (OTHERS,)}, ()),
    ("more nodes are wanted", BOUND._replace(width=2), "restricted", {"groups": (OTHERS,)}, ()),
    ("of other nodes", BOUND, "restricted", {"groups": (OTHERS._replace(nodes=0b11),)}, ()),
    ("what init containers leave of it ties to none", BOUND, "restricted", {
        "groups": (OTHERS,), "handed": (INIT._replace(resource="memory"),),
    }, ((0b101, ()),)),
]  # fmt: skip


@pytest.mark.parametrize(("of", "policy", "around", "bound"), [one[1:] for one in HELD], ids=[one[0] for one in HELD])
def test_nodes_whose_memory_is_held_together_are_used_together(
    of: Row, policy: str, around: dict[str, Any], bound: tuple[tuple[int, tuple[str, ...]], ...]
) -> None:
    assert wide(of, policy, **around).bound == bound


GPU = row("v.com/gpu", 1, (1, 1, "enough"), (0, 1, "no"))


def refused(
    culprits: Sequence[Row], *rows: Row, stage: Stage = "policy", policy: str = "restricted", **around: Any
) -> Refusal:
    every = (*culprits, *rows)
    circumstances = Circumstances(**around)
    return Refusal(stage, "", "", "app", policy, table(*every), tuple(culprits), (), never=True, around=circumstances)


NIC = row("v.com/nic", 1, (1, 1, "enough"), (1, 1, "enough"))
JOINT = Joint(("memory", "hugepages-1Gi"), 2)
CUT = frozenset({"v.com/nic"})
FEW: list[tuple[str, Refusal, bool, list[tuple[str, str]]]] = [
    ("beside one that fits one node, too", refused([LARGE, GPU], NIC), False, [("v.com/nic", "")]),
    ("all in the way take several", refused([LARGE, LARGE], NIC), False, []),
    ("the other one takes several, too", refused([LARGE, GPU], LARGE._replace(resource="v.com/nic")), False, []),
    ("it takes no part", refused([LARGE, GPU], NIC._replace(width=0)), False, []),
    ("it is in the way next", refused([LARGE, GPU], NIC)._replace(also=(NIC,)), False, []),
    ("memory that meets", refused([LARGE, GPU], NIC, joint=JOINT), False, []),
    ("a change asks for less of it", refused([LARGE, GPU], NIC, reduced=CUT), False, []),
    ("which is told with it", refused([LARGE, GPU], NIC, reduced=CUT), True, [("v.com/nic", "yes")]),
    ("no decision", refused([LARGE, GPU], NIC)._replace(matrix=None), False, []),
]


@pytest.mark.parametrize(("refusal", "changed", "found"), [one[1:] for one in FEW], ids=[one[0] for one in FEW])
def test_what_fits_one_node_beside_what_is_in_the_way(
    refusal: Refusal, changed: bool, found: list[tuple[str, str]]
) -> None:
    told = list(as_few_nodes(refusal, changed=changed))
    assert [(one.asked.resource, one.asked.reduced) for one in told if isinstance(one, FitsToo)] == found
    assert len(told) == len(found)


FITTING: list[tuple[str, Row, Refusal, list[Fact]]] = [
    ("a device", LARGE, refused([LARGE], GPU), [FitOne(("v.com/gpu",), "cpu", 2, "restricted")]),
    ("another policy", LARGE, refused([LARGE], GPU, policy="single-numa-node"), []),
    ("memory that meets", LARGE, refused([LARGE], GPU, joint=JOINT), []),
    ("what is in the way takes one", FREE, refused([FREE], GPU), []),
    ("nothing else", LARGE, refused([LARGE]), []),
    ("what takes no part", LARGE, refused([LARGE], GPU._replace(width=0)), []),
    ("no decision", LARGE, refused([LARGE], GPU)._replace(matrix=None), []),
]


@pytest.mark.parametrize(("of", "refusal", "found"), [one[1:] for one in FITTING], ids=[one[0] for one in FITTING])
def test_what_fits_one_node_beside_what_takes_several(of: Row, refusal: Refusal, found: list[Fact]) -> None:
    assert list(on_fewer_nodes(of, refusal)) == found


def test_resources_that_differ_in_width() -> None:
    """Each is told with the most that a node has; memory that comes from the same nodes, with which ones hold it."""
    gigabytes = row("memory", 5, (1, 5, "together"), (1, 3, "together"), width=1)
    pages = row("hugepages-1Gi", 3, (1, 2, "together"), (1, 3, "together"), width=1)
    around = Circumstances(joint=JOINT, sockets=1)
    told = list(differ_in_width([LARGE, GPU, gigabytes, pages], table(), "restricted", around))
    assert [type(one) for one in told] == [FitsOn, FitsOn, Holders, Holders, TakeTogether, OnTheSame]
    assert [(one.width, one.most, one.sockets) for one in told if isinstance(one, FitsOn)] == [(2, 4, 1), (1, 1, 0)]
    assert [(one.width, one.sets, one.nodes) for one in told if isinstance(one, Holders)] == [
        (1, (0b001,), 0b101),
        (1, (0b100,), 0b101),
    ]
    assert told[-2:] == [TakeTogether(("memory", "hugepages-1Gi"), 2), OnTheSame("restricted")]
    alone = list(differ_in_width([LARGE, GPU], table(), "restricted", Circumstances()))
    assert [type(one) for one in alone] == [FitsOn, FitsOn, OnTheSame]


@pytest.mark.parametrize(("width", "told"), [(4, 1), (5, 0)])
def test_of_more_than_two_hundred_sets_of_nodes_it_is_not_told_which_hold_it(width: int, told: int) -> None:
    """Of ten nodes there are 120 sets of three, and 210 of four."""
    memory = row("memory", 5, *[(1, 1, "together")] * 10)
    around = Circumstances(joint=Joint(("memory",), width))
    found = list(differ_in_width([memory], Matrix("app", tuple(range(10)), (), "restricted"), "restricted", around))
    assert sum(isinstance(one, Holders) for one in found) == told


def verdicts(name: str, *each: Verdict, width: int = 1) -> Row:
    return row(name, 1, *((1, 1, one) for one in each), width=width)


HERE, THERE, ANYWHERE = (("enough", "no"), ("no", "enough"), ("enough", "enough"))
MEET: list[tuple[str, list[tuple[Verdict, Verdict]], list[int | None]]] = [
    ("on different nodes", [HERE, THERE], [0b001, 0b100]),
    ("the third is anywhere", [HERE, THERE, ANYWHERE], [0b001, 0b100]),
    ("one of two is anywhere", [HERE, ANYWHERE], [0b001, None]),
    ("on several together only", [("together", "together"), THERE], [0, 0b100]),
]


@pytest.mark.parametrize(("each", "nodes"), [one[1:] for one in MEET], ids=[one[0] for one in MEET])
def test_resources_that_never_meet(each: list[tuple[Verdict, Verdict]], nodes: list[int | None]) -> None:
    rows = [verdicts(f"v.com/{number}", *one) for number, one in enumerate(each)]
    *told, last = never_meet(rows, table(*rows), Circumstances())
    assert [one.nodes for one in told if isinstance(one, Could)] == nodes
    assert (len(told), last) == (len(nodes), NeverMeet())


OWN = Own("cpu", "init", "init", 1, 0b100)
CPUS, NOT_THERE = verdicts("cpu", "no", "no"), verdicts("v.com/gpu", "enough", "no")
TIED: list[tuple[str, list[Row], tuple[Own, ...], int | None]] = [
    ("to the node of an init container", [CPUS, NOT_THERE], (OWN,), 2),
    ("which has enough CPUs", [verdicts("cpu", "no", "enough"), NOT_THERE], (OWN,), 2),
    ("which has enough of the rest", [CPUS, verdicts("v.com/gpu", "no", "enough")], (OWN,), None),
    ("of which it does not matter where it is", [CPUS, verdicts("v.com/gpu", "no", "any")], (OWN,), None),
    ("of a third there is enough", [CPUS, NOT_THERE, verdicts("v.com/nic", "no", "enough")], (OWN,), None),
    ("to two nodes", [CPUS, NOT_THERE], (OWN, OWN._replace(nodes=0b1)), None),
    ("by a sidecar", [CPUS, NOT_THERE], (OWN._replace(kind="sidecar"),), None),
    ("by devices", [CPUS, NOT_THERE], (OWN._replace(resource="v.com/nic"),), None),
    ("beside a sidecar elsewhere", [CPUS, NOT_THERE], (OWN, OWN._replace(kind="sidecar", nodes=0b1)), 2),
    ("beside devices elsewhere", [CPUS, NOT_THERE], (OWN, OWN._replace(resource="v.com/nic", nodes=0b1)), 2),
    ("by nothing", [CPUS, NOT_THERE], (), None),
    ("no CPUs are in the way", [NOT_THERE, verdicts("v.com/nic", "enough", "no")], (OWN,), None),
    ("something takes two nodes", [CPUS, verdicts("v.com/gpu", "no", "no", width=2)], (OWN,), None),
]


@pytest.mark.parametrize(("rows", "own", "numa"), [one[1:] for one in TIED], ids=[one[0] for one in TIED])
def test_cpus_that_are_left_tie_to_their_node(rows: list[Row], own: tuple[Own, ...], numa: int | None) -> None:
    found = refused(rows, stage="merge", own=own, handed=(INIT, INIT._replace(containers=("later",))))
    assert tied_to(found) == numa
    assert found.matrix is not None
    told = list(never_meet(rows, found.matrix, found.around))
    tied = [(one.asked, one.left, one.node) for one in told if isinstance(one, TiedBy)]
    assert tied == ([(Asked("cpu", 1), Left(("init",), 1, 0b100), 2)] if numa else [])
    assert (NeverMeet() in told) is (numa is None)
    there = [(one.asked.resource, one.node) for one in told if isinstance(one, NotThere)]
    assert there == ([(one.resource, 2) for one in rows[1:]] if numa else [])


def test_only_where_resources_do_not_meet_a_refusal_is_about_that_node() -> None:
    found = refused([CPUS, NOT_THERE], stage="merge", own=(OWN,))
    assert tied_to(found) == 2
    assert tied_to(found._replace(stage="hints")) is None
    assert tied_to(found._replace(culprits=())) is None
    assert tied_to(found._replace(matrix=None)) is None
