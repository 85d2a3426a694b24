"""Numbers that are never handed out: CPUs that are no whole cores, amounts that are no whole number of bytes.

And of how many sockets CPUs may take any nodes.
"""

from __future__ import annotations

from typing import Any

import pytest

from numalign.analysis.circumstances import Cores, Unreadable, counted_cores, unreadable_amounts
from numalign.analysis.refusal import refusal
from numalign.model.cpuset import parse
from numalign.model.machine import Device, Machine, NUMANode, Unit
from numalign.model.pod import Pod
from tests.analysis.support import GPU, STATIC, config, limits, outcome, pod, pod_of

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


FOUR = Machine(
    "m",
    tuple([NUMANode(place, 0b1111 << 4 * place, 8 * GI) for place in range(4)]),
    sockets=(Unit(0, 0x00FF), Unit(1, 0xFF00)),
    cores=tuple(1 << cpu for cpu in range(16)),
    devices={GPU: (Device("0", (0,)),)},
)
UNEVEN = FOUR._replace(sockets=(Unit(0, 0x000F), Unit(1, 0xFFF0)))
BY_SOCKET: dict[str, Any] = {
    "cpu_manager_policy_options": {"align-by-socket": "true"},
    "feature_gates": {"CPUManagerPolicyAlphaOptions": True},
}


@pytest.mark.parametrize(
    ("on", "options", "asked", "taken", "expected"),
    [
        pytest.param(FOUR, BY_SOCKET, pod("p", 2), 15, 1, id="either of the two nodes of a socket"),
        pytest.param(FOUR, BY_SOCKET, pod("p", 8), 12, 0, id="as many nodes as a socket has"),
        pytest.param(FOUR, BY_SOCKET, pod("p", 10), 8, 2, id="three of the four nodes of two sockets"),
        pytest.param(FOUR, BY_SOCKET, pod("p", 16), 2, 0, id="all nodes"),
        pytest.param(UNEVEN, BY_SOCKET, pod("p", 8), 12, 1, id="two of the three nodes of the larger socket"),
        pytest.param(FOUR, {}, pod("p", 2), 15, 0, id="the option is off"),
        pytest.param(FOUR, BY_SOCKET, pod("p", 2, gpu=2), 1, 0, id="CPUs are not in the way"),
    ],
)
def test_of_how_many_sockets_cpus_may_take_any_nodes(
    on: Machine, options: dict[str, Any], asked: Pod, taken: int, expected: int
) -> None:
    """docs/rules/cpu-manager.md 6.4."""
    refused = outcome(config("restricted", **options), asked, pod("before", taken), on=on, fit_check=False)
    assert not refused.admit
    assert refusal(refused).around.sockets == expected
