"""What would be in the way next: named where no change of one request alone does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from numalign.analysis.circumstances import Circumstances, Cores, Unreadable
from numalign.analysis.in_the_way import Amount
from numalign.analysis.own_containers import Sum
from numalign.analysis.reasons.next import Rivals, ThenNext, next_in_the_way
from numalign.analysis.refusal import Refusal
from numalign.analysis.whatif.change import Key, Part, WayOut
from numalign.kubelet.fit.check import Shortage
from numalign.model.quantity import NANO

CPU, MEMORY, GPU, OTHER = ("a", "cpu"), ("a", "memory"), ("a", "v.com/gpu"), ("b", "cpu")


def refused(*names: str, container: str | None = "a", told: Sequence[str] = (), **around: Any) -> Refusal:
    """A node that has too little of some; `told`: of which it is told, if not of these."""
    amounts = tuple([Amount(name, 9, 0, 8) for name in names])
    shortages = tuple([Shortage(name, 9, 0, 8) for name in told or names])
    circumstances = Circumstances(**around)
    return Refusal("fit", "", "", container, "none", None, (), shortages, False, amounts, circumstances)


def cut(*keys: Key, unshared: Sequence[Key] = (), flags: Sequence[str] = ()) -> WayOut:
    """Ask for half of each, under other settings."""
    parts = [
        *(Part(WayOut(flags={flag: "x"}), None) for flag in flags),
        *(Part(WayOut(amounts={key: NANO}, asked={key: 2 * NANO}), None, unshared=key in unshared) for key in keys),
    ]
    amounts, asked = dict.fromkeys(keys, NANO), dict.fromkeys(keys, 2 * NANO)
    return WayOut(amounts=amounts, asked=asked, flags=dict.fromkeys(flags, "x"), parts=tuple(parts))


def then(*keys: Key, first: Sequence[str] = ("cpu",)) -> list[ThenNext]:
    return [ThenNext(tuple(first), "a", tuple((*key, 2 * NANO) for key in keys))]


BOTH, POLICY = cut(CPU, MEMORY), cut(flags=["policy"])
OF_CPUS = refused("cpu")
WITH_PODS = cut(MEMORY)._replace(parts=(*cut(MEMORY).parts, Part(WayOut(), None)))
NEXT: list[tuple[str, Refusal, Sequence[Refusal], Sequence[WayOut], list[ThenNext]]] = [
    ("a second resource", OF_CPUS, (), [BOTH], then(MEMORY)),
    ("what is in the way, too, and not cut", refused("cpu", "v.com/gpu"), (), [BOTH], then(MEMORY)),
    ("one cut alone does", OF_CPUS, (), [BOTH, cut(CPU)], []),
    ("one cut under another setting", OF_CPUS, (), [BOTH, cut(CPU, flags=["policy"])], then(MEMORY)),
    ("another setting alone", OF_CPUS, (), [POLICY, BOTH], then(MEMORY)),
    ("nothing but that", OF_CPUS, (), [POLICY], []),
    ("other cuts under a setting", OF_CPUS, (), [cut(CPU, GPU, flags=["policy"]), BOTH], then(MEMORY)),
    ("pods that move", OF_CPUS, (), [WayOut(parts=(Part(WayOut(), None),)), BOTH], then(MEMORY)),
    ("a cut beside pods that move", OF_CPUS, (), [WITH_PODS, BOTH], then(MEMORY)),
    ("what every change cuts", OF_CPUS, (), [BOTH, cut(CPU, MEMORY, GPU)], then(MEMORY)),
    ("nothing that every change cuts", OF_CPUS, (), [BOTH, cut(CPU, GPU)], []),
    ("all of it is named", refused("cpu", "memory"), (), [BOTH], []),
    ("none of it is named", refused("v.com/gpu"), (), [BOTH], []),
    ("it is told besides", OF_CPUS, [refused("memory")], [BOTH], []),
    ("besides is told what is told already", OF_CPUS, [refused("memory", told=["cpu"])], [BOTH], then(MEMORY)),
    (
        "what is cut first is told besides",
        refused("v.com/gpu"),
        [refused("cpu")],
        [BOTH],
        then(MEMORY, first=["v.com/gpu"]),
    ),
    ("it is cut to leave a CPU to share", refused("memory"), (), [cut(CPU, MEMORY, unshared=[CPU])], []),
    ("the same of another container", OF_CPUS, (), [cut(CPU, OTHER)], then(OTHER)),
    ("a sum of containers", refused("cpu", sums=(Sum("memory", 9, 8, (("x", 9),)),)), (), [BOTH], []),
    ("no whole cores", refused("cpu", cores=Cores(3, 2, 4, 8, (("b", 5),))), (), [cut(CPU, OTHER)], []),
    ("no whole bytes", refused("cpu", unreadable=(Unreadable("a", "memory", 5),)), (), [BOTH], []),
    ("once that is mended it is named", OF_CPUS._replace(mended=refused("memory")), (), [BOTH], []),
    ("and where it is not", OF_CPUS._replace(mended=OF_CPUS), (), [BOTH], then(MEMORY)),
]


@pytest.mark.parametrize(
    ("refusal", "besides", "changes", "found"), [row[1:] for row in NEXT], ids=[row[0] for row in NEXT]
)
def test_what_would_be_in_the_way_next(
    refusal: Refusal, besides: Sequence[Refusal], changes: Sequence[WayOut], found: list[ThenNext]
) -> None:
    assert list(next_in_the_way(refusal, besides, changes, several=True)) == found
    alone = [one._replace(container=None) for one in found]
    assert list(next_in_the_way(refusal, besides, changes, several=False)) == alone


def test_a_refusal_of_the_whole_pod_names_all_containers() -> None:
    assert list(next_in_the_way(refused("cpu", container=None), (), [cut(CPU, OTHER)], several=True)) == []


FROM_A, FROM_B, FROM_BOTH = cut(GPU, MEMORY), cut(("b", "v.com/gpu"), MEMORY), cut(GPU, ("b", "v.com/gpu"))
RIVALS: list[tuple[str, Sequence[WayOut], list[Rivals]]] = [
    ("each may lose", [FROM_A, FROM_B], [Rivals("v.com/gpu", 2, (("a", 1), ("b", 2), ("c", None)))]),
    ("the first change counts", [FROM_B, FROM_A, FROM_B], [Rivals("v.com/gpu", 2, (("a", 2), ("b", 1), ("c", None)))]),
    ("one of them loses always", [FROM_A, FROM_A], []),
    ("both lose", [FROM_A, FROM_B, FROM_BOTH], []),
    ("none loses", [FROM_A, FROM_B, POLICY], []),
    ("that alone would do", [cut(GPU), cut(("b", "v.com/gpu"))], []),
]


@pytest.mark.parametrize(("changes", "found"), [row[1:] for row in RIVALS], ids=[row[0] for row in RIVALS])
def test_containers_that_want_the_same_devices(changes: Sequence[WayOut], found: list[Rivals]) -> None:
    wanted = Sum("v.com/gpu", 4, 2, (("a", 2), ("b", 1), ("c", 1)))
    told = list(next_in_the_way(refused("v.com/gpu", sums=(wanted,)), (), changes, several=True))
    assert [one for one in told if isinstance(one, Rivals)] == found
    assert not (found and len(told) > 1)
