"""Numbers that are never handed out: CPUs that are no whole cores, amounts that are no whole number of bytes."""

from __future__ import annotations

from numalign.analysis.circumstances import Cores, Unreadable, counted_cores, unreadable_amounts
from numalign.model.cpuset import parse
from numalign.model.machine import Machine, NUMANode, Unit
from tests.analysis.support import STATIC, config, limits, outcome, pod_of

GI = 1 << 30
THREADS = Machine(
    "m",
    (NUMANode(0, parse("0-3"), 8 * GI), NUMANode(1, parse("4-7"), 8 * GI)),
    sockets=(Unit(0, parse("0-7")),),
    cores=tuple(parse(f"{core * 2}-{core * 2 + 1}") for core in range(4)),
)
WHOLE = config("none", cpu_manager_policy_options={"full-pcpus-only": "true"})


def test_what_full_cores_only_counts() -> None:
    refused = outcome(WHOLE, pod_of("p", a=limits(2), b=limits(3), c=limits(1)), on=THREADS, fit_check=False)

    assert refused.result.container == "b"
    assert counted_cores(refused) == Cores(3, 2, 6, 8, (("c", 1),))


def test_cores_with_a_reserved_cpu_do_not_count() -> None:
    kept = WHOLE._replace(reserved_system_cpus="0")
    refused = outcome(kept, pod_of("p", a=limits(3)), on=THREADS, fit_check=False)

    assert counted_cores(refused) == Cores(3, 2, 6, 6)


def test_no_container_was_refused() -> None:
    assert counted_cores(outcome(WHOLE, pod_of("p", a=limits(2)), on=THREADS)) is None


def test_amounts_that_are_no_whole_number_of_bytes() -> None:
    refused = outcome(config("none", **STATIC), pod_of("p", a=limits(1, "1Gi"), b=limits(1, "1500m")), fit_check=False)

    assert unreadable_amounts(refused) == (Unreadable("b", "memory", 1_500_000_000),)


def test_a_share_of_a_cpu_is_none_of_them() -> None:
    refused = outcome(config("none", **STATIC), pod_of("p", a=limits(0.5, "1500m")), fit_check=False)

    assert unreadable_amounts(refused) == (Unreadable("a", "memory", 1_500_000_000),)


def test_those_of_a_container_behind_the_refused_one_are_nothing_to_it() -> None:
    settings = config("none", **STATIC)
    refused = outcome(settings, pod_of("p", a=limits(1, "100Gi"), b=limits(1, "1500m")), fit_check=False)

    assert (refused.result.provider, refused.result.container) == ("memory", "a")
    assert unreadable_amounts(refused) == ()


def test_where_something_else_failed_there_are_none() -> None:
    settings = config("none", cpu_manager_policy_options={"full-pcpus-only": "true"}, **STATIC)
    refused = outcome(settings, pod_of("p", a=limits(1, "1500m")), on=THREADS, fit_check=False)

    assert refused.result.provider == "cpu"
    assert unreadable_amounts(refused) == ()
