"""Facts of a refusal in order: what holds at any time first, each once, and what else refuses the pod after that."""

from __future__ import annotations

import pytest

from numalign.analysis.circumstances import Circumstances, Cores
from numalign.analysis.in_the_way import Amount
from numalign.analysis.own_containers import Sum
from numalign.analysis.reasons.facts import NodeTooSmall, OddCores, SameGoes, resource_of
from numalign.analysis.reasons.order import Case, Told, reasons
from numalign.analysis.refusal import Refusal, refusal
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.fit.check import Shortage
from numalign.kubelet.fit.predicates import Refusal as Predicate
from numalign.model.pod import Pod
from tests.analysis.support import config, limits, machine, outcome, pod, pod_of

BUSY = Shortage("cpu", 3000, 6000, 8000)
ALL = Shortage("cpu", 8000, 1000, 8000)
MORE = Shortage("cpu", 8001, 1000, 8000)
NEVER = Shortage("memory", 9, 0, 8)
NO_GPU = Shortage("v.com/gpu", 1, 0, 0)
TAINT = Predicate("taint", "")
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
    (
        "of which the node has too little for another reason",
        short(NEVER, sums=(SUM,)),
        short(Shortage("cpu", 9000, 1000, 9000), Shortage("memory", 9000, 0, 8000)),
        [("cpu", "besides now"), ("memory", "besides now")],
    ),
    (
        "a sum that is told, and a taint",
        short(NEVER, sums=(SUM,)),
        short(TAINT, Shortage("cpu", 9000, 0, 8000)),
        [("", "besides now")],
    ),
    (
        "what is free at times, of which more is used",
        short(ALL),
        short(ALL._replace(used=2000)),
        [
            ("cpu", "besides now"),
        ],
    ),
    ("another resource", short(NEVER, sums=(SUM,)), short(NO_GPU), [("v.com/gpu", "besides now")]),
]


@pytest.mark.parametrize(("found", "other", "more"), [row[1:] for row in BESIDES], ids=[row[0] for row in BESIDES])
def test_what_else_refuses_the_pod_is_told_as_far_as_it_is_new(
    found: Refusal, other: Refusal, more: list[tuple[str, Case]]
) -> None:
    every = reasons(found, [other])
    assert told(every[len(reasons(found)) :]) == more


def test_what_else_is_told_is_told_once() -> None:
    assert told(reasons(short(BUSY), [short(NEVER), short(NEVER)])) == [("cpu", ""), ("memory", "besides now")]


def test_what_is_of_another_container_names_it() -> None:
    first = short(BUSY, container="a")
    assert [one.of for one in reasons(first, [short(NEVER, container="a"), short(NO_GPU, container="b")])] == [
        None,
        None,
        "b",
    ]


def test_how_to_get_huge_pages_is_told_once() -> None:
    one, more, small, most = (
        Shortage(f"hugepages-{size}", count, 0, 0) for size, count in (("1Gi", 2), ("1Gi", 3), ("2Mi", 4), ("1Gi", 5))
    )
    found = [
        each.fact for each in reasons(short(one), [short(more), short(small), short(TAINT), short(most), short(NO_GPU)])
    ]
    assert [fact.hint for fact in found if isinstance(fact, NodeTooSmall)] == [2, 0, 4, 0, 0]


def test_what_holds_then_as_it_does_now_is_told_in_short() -> None:
    """Three CPUs fit one node, and two are free on each."""
    now = refusal(outcome(config("restricted"), pod("p", 3), pod("a", 2, gpu=1), pod("b", 2, gpu=1)))
    then = now._replace(around=now.around._replace(when="then"))
    found = reasons(now, [then])
    assert (len(found), found[-1].fact) == (2, SameGoes("cpu"))
    assert then.matrix is not None
    for other in (
        then._replace(policy="single-numa-node"),
        then._replace(around=now.around._replace(when="ever")),
        then._replace(matrix=then.matrix._replace(container="other")),
    ):
        assert not isinstance(reasons(now, [other])[-1].fact, SameGoes)


RESERVED = config("restricted", reserved_system_cpus="0,4")
NODES: list[tuple[str, KubeletConfig, Pod, tuple[Pod, ...], tuple[Pod, ...], bool]] = [
    ("more than the machine has", config("restricted"), pod("p", 9), (pod("a", 2),), (), True),
    (
        "too much for now",
        config("restricted"),
        pod("p", 4),
        (pod("a", 3), pod("b", 3)),
        (pod("a", 3), pod("b", 4)),
        False,
    ),
    ("more than such nodes ever have", RESERVED, pod("p", 4), (pod("a", 2),), (), True),
]


@pytest.mark.parametrize(
    ("settings", "asked", "before", "then", "once"), [row[1:] for row in NODES], ids=[row[0] for row in NODES]
)
def test_what_holds_whatever_is_free_is_told_once(
    settings: KubeletConfig, asked: Pod, before: tuple[Pod, ...], then: tuple[Pod, ...], once: bool
) -> None:
    now, other = (refusal(outcome(settings, asked, *there, fit_check=False)) for there in (before, then))
    now, other = now._replace(empty=None), other._replace(empty=None)
    assert (reasons(now, [other]) == reasons(now)) is once


OWN: list[tuple[str, dict[str, dict[str, str]], int, list[Case]]] = [
    ("other pods hold some", {"one": limits(3), "two": limits(4, gpu=3)}, 2, ["", "now"]),
    ("they hold one", {"one": limits(4), "two": limits(4, gpu=3)}, 1, ["", "now"]),
    ("the pod itself holds all", {"one": limits(5), "two": limits(4, gpu=3)}, 0, [""]),
    ("only others do", {"two": limits(6, gpu=3)}, 3, ["", "now"]),
    ("init containers leave some", {"init": limits(2), "two": limits(6, gpu=3)}, 3, [""]),
]


@pytest.mark.parametrize(("containers", "held", "cases"), [row[1:] for row in OWN], ids=[row[0] for row in OWN])
def test_what_others_hold_is_of_today(containers: dict[str, dict[str, str]], held: int, cases: list[Case]) -> None:
    """Three GPUs are more than there ever are, some CPUs less."""
    before = [pod("a", held)] if held else []
    found = refusal(outcome(config("none"), pod_of("p", **containers), *before, fit_check=False))
    assert list(dict.fromkeys(one.case for one in reasons(found._replace(empty=None)))) == cases


@pytest.mark.parametrize(
    ("other", "others", "also"),
    [
        pytest.param(None, (("two", 5),), 0, id="nothing else refuses it"),
        pytest.param(0, (("two", 5),), 0, id="something else refuses the other one"),
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
    besides = list[Refusal]()
    if other == 0:
        besides = [short(NEVER, container="two")]
    elif other is not None:
        around = first.around._replace(cores=cores._replace(requested=other, others=()))
        besides = [first._replace(container="two", matrix=None, around=around, mended=None)]
    found = [one.fact for one in reasons(first, besides) if isinstance(one.fact, OddCores)]
    assert (found[0].others, len(found) - 1) == (others, also)


def test_where_the_first_has_whole_cores_the_odd_number_of_another_is_told_besides() -> None:
    cores = Cores(4, 2, 2, 8, (("two", 5),))
    first = short(NEVER, cores=cores)._replace(stage="allocation", reason="SMTAlignmentError")
    other = first._replace(container="two", around=Circumstances(cores=cores._replace(requested=5, others=())))
    found = reasons(first, [other])
    assert (found[-1].fact, found[-1].of) == (OddCores(5, 2, None), "two")
