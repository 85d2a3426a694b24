"""Facts of a refusal in order: what holds at any time first, each once, and what else refuses the pod after that."""

from __future__ import annotations

import pytest

from numalign.analysis.circumstances import Circumstances
from numalign.analysis.in_the_way import Amount
from numalign.analysis.own_containers import Sum
from numalign.analysis.reasons.facts import NodeTooSmall, OddCores, SameGoes, resource_of
from numalign.analysis.reasons.order import Case, Told, reasons
from numalign.analysis.refusal import Refusal, refusal
from numalign.kubelet.fit.check import Shortage
from tests.analysis.support import config, limits, machine, outcome, pod, pod_of

BUSY = Shortage("cpu", 3000, 6000, 8000)
ALL = Shortage("cpu", 8000, 1000, 8000)
MORE = Shortage("cpu", 8001, 1000, 8000)
NEVER = Shortage("memory", 9, 0, 8)
NO_GPU = Shortage("v.com/gpu", 1, 0, 0)
SUM = Sum("cpu", 9, 8, (("a", 4), ("b", 5)))


def short(*shortages: Shortage, never: bool = True, container: str | None = None, **around: object) -> Refusal:
    """A node that is too small as a whole."""
    circumstances = Circumstances()._replace(**around)
    return Refusal("fit", "OutOfcpu", "", container, "none", None, (), shortages, never, around=circumstances)


def lasting(found: Refusal) -> Refusal:
    return found._replace(amounts=(Amount("memory", 9, 0, 8),))


def told(found: list[Told]) -> list[tuple[str, Case]]:
    return [(resource_of(one.fact), one.case) for one in found]


ORDER: list[tuple[str, Refusal, list[tuple[str, Case]]]] = [
    ("what is never there first", short(BUSY, NEVER), [("memory", ""), ("cpu", "now")]),
    ("just what there is is free at times", short(ALL, NEVER), [("memory", ""), ("cpu", "now")]),
    ("more than there is is not", short(MORE, NEVER), [("cpu", ""), ("memory", "")]),
    ("a pod that is admitted at times", short(BUSY, NEVER, never=False), [("cpu", ""), ("memory", "")]),
    ("all is of today", short(BUSY), [("cpu", "")]),
    ("nothing is", short(NEVER, NO_GPU), [("memory", ""), ("v.com/gpu", "")]),
    ("two facts of one resource", short(BUSY, NEVER, BUSY), [("cpu", ""), ("memory", ""), ("cpu", "")]),
    (
        "a sum beside its resource",
        short(BUSY, NEVER, sums=(SUM._replace(resource="memory"),)),
        [("memory", ""), ("memory", ""), ("cpu", "now")],
    ),
    ("an empty machine says the same", short(MORE)._replace(empty=short(MORE._replace(used=0))), [("cpu", "")]),
    ("and more", short(BUSY)._replace(empty=short(NEVER)), [("memory", "empty"), ("cpu", "now")]),
    (
        "beside what lasts already",
        lasting(short(BUSY, NO_GPU))._replace(empty=short(NEVER)),
        [("v.com/gpu", ""), ("cpu", "now"), ("memory", "empty")],
    ),
    ("once odd numbers are mended", short(NEVER)._replace(mended=short(BUSY)), [("memory", ""), ("cpu", "corrected")]),
]


@pytest.mark.parametrize(("found", "facts"), [row[1:] for row in ORDER], ids=[row[0] for row in ORDER])
def test_what_holds_at_any_time_is_told_first(found: Refusal, facts: list[tuple[str, Case]]) -> None:
    assert told(reasons(found)) == facts


BESIDES: list[tuple[str, Refusal, Refusal, list[tuple[str, Case]]]] = [
    ("for ever", short(BUSY), lasting(short(NEVER)), [("memory", "besides")]),
    ("as the node is", short(BUSY), short(NEVER), [("memory", "besides now")]),
    ("beside what is of today", short(BUSY, never=False), short(NEVER), [("memory", "besides")]),
    ("the same once more", short(MORE), short(MORE), []),
    ("a sum that is told", short(NEVER, sums=(SUM,)), short(Shortage("cpu", 9000, 0, 8000)), []),
    ("a sum of both", short(NEVER, sums=(SUM,)), short(BUSY, sums=(SUM,)), []),
    (
        "what is free at times",
        short(NEVER, sums=(SUM,)),
        short(Shortage("cpu", 9000, 1000, 9000)),
        [("cpu", "besides now")],
    ),
    (
        "another amount",
        short(NEVER, sums=(SUM,)),
        short(Shortage("cpu", 9001, 0, 8000)),
        [("cpu", "besides now")],
    ),
    ("another resource", short(NEVER, sums=(SUM,)), short(NO_GPU), [("v.com/gpu", "besides now")]),
]


@pytest.mark.parametrize(("found", "other", "more"), [row[1:] for row in BESIDES], ids=[row[0] for row in BESIDES])
def test_what_else_refuses_the_pod_is_told_as_far_as_it_is_new(
    found: Refusal, other: Refusal, more: list[tuple[str, Case]]
) -> None:
    every = reasons(found, [other])
    assert told(every[len(reasons(found)) :]) == more


def test_what_is_of_another_container_names_it() -> None:
    first = short(BUSY, container="a")
    assert [one.of for one in reasons(first, [short(NEVER, container="a"), short(NO_GPU, container="b")])] == [
        None,
        None,
        "b",
    ]


def test_how_to_get_huge_pages_is_told_once() -> None:
    one, more, small = (
        Shortage(f"hugepages-{size}", count, 0, 0) for size, count in (("1Gi", 2), ("1Gi", 3), ("2Mi", 4))
    )
    found = [each.fact for each in reasons(short(one), [short(more), short(small)])]
    assert [fact.hint for fact in found if isinstance(fact, NodeTooSmall)] == [2, 0, 4]


def test_what_holds_then_as_it_does_now_is_told_in_short() -> None:
    """Three CPUs fit one node, and two are free on each."""
    now = refusal(outcome(config("restricted"), pod("p", 3), pod("a", 2, gpu=1), pod("b", 2, gpu=1)))
    then = now._replace(around=now.around._replace(when="then"))
    found = reasons(now, [then])
    assert (len(found), found[-1].fact) == (2, SameGoes("cpu"))
    other = reasons(now, [then._replace(policy="single-numa-node")])
    assert not isinstance(other[-1].fact, SameGoes)


@pytest.mark.parametrize(
    ("other", "others", "also"),
    [
        pytest.param(None, (("two", 5),), 0, id="nothing else refuses it"),
        pytest.param(5, (("two", 5),), 0, id="the number that is told with the first"),
        pytest.param(7, (), 1, id="another number, told besides"),
    ],
)
def test_containers_with_odd_numbers_of_cpus_are_told_once(
    other: int | None, others: tuple[tuple[str, int], ...], also: int
) -> None:
    full = config("restricted", cpu_manager_policy_options={"full-pcpus-only": "true"})
    odd = pod_of("p", one=limits(3), two=limits(5))
    first = refusal(outcome(full, odd, on=machine("hgx-h100")))
    cores = first.around.cores
    assert cores is not None
    besides = []
    if other is not None:
        around = first.around._replace(cores=cores._replace(requested=other, others=()))
        besides = [first._replace(container="two", matrix=None, around=around, mended=None)]
    found = [one.fact for one in reasons(first, besides) if isinstance(one.fact, OddCores)]
    assert (found[0].others, len(found) - 1) == (others, also)
