"""What is said of a change beside its edits: who has to come first, what comes otherwise, why no less will do."""

from __future__ import annotations

from typing import Any

import pytest

from numalign.analysis.in_the_way import Amount
from numalign.analysis.situation import Situation, arrivals
from numalign.analysis.whatif.change import Key, WayOut
from numalign.analysis.whatif.reasons import reasons
from numalign.analysis.whatif.tries import Tries
from numalign.kubelet.admission import admit
from numalign.kubelet.setup import Setup
from numalign.model.quantity import GIBI, MEBI, NANO
from tests.analysis.support import GPU, STATIC, config, machine, pod
from tests.analysis.whatif.drawn import case
from tests.kubelet.regular import regular


def told(of: Any, change: WayOut) -> WayOut:
    """Give what is said of a change for a recorded or drawn pod."""
    tries = Tries(*case(of))
    return next(reasons(tries, [change._replace(tried=tries.attempt(change))]))


@pytest.mark.parametrize(
    ("of", "flags", "first", "instead", "missing"),
    [
        pytest.param(
            ("e2e-d-01279", 3), {"memory-manager-policy": "None"}, ["p0"], [], ["cpu"], id="nobody comes instead"
        ),
        pytest.param(5844, {"topology-manager-policy": "best-effort"}, ["p1"], ["p4"], ["cpu"], id="another comes"),
    ],
)
def test_a_setting_that_helps_only_as_others_come_first_says_how_the_pod_is_refused_without_them(
    of: Any, flags: dict[str, str], first: list[str], instead: list[str], missing: list[str]
) -> None:
    change = told(of, WayOut(flags=flags))
    assert change.needs_newcomers
    anew = change.anew
    assert anew is not None
    assert anew.otherwise is not None
    assert ([one.name for one in anew.newcomers], [one.name for one in anew.instead]) == (first, instead)
    assert (anew.otherwise.around.when, [*anew.otherwise.resources]) == ("then", missing)


CPUS, MEMORY, GPUS = ("app", "cpu"), ("app", "memory"), ("app", GPU)


@pytest.mark.parametrize(("more", "instead"), [(0, {MEMORY: 2047 * MEBI * NANO}), (1, {})])
def test_less_would_do_as_well_only_on_the_same_nodes(more: int, instead: dict[Key, int]) -> None:
    """A node has two GiB, a byte more than is asked for: a MiB more than it has takes both, a MiB less one of them."""
    settings = config("restricted", cpu_manager_policy="none", **STATIC)
    situation = Situation(Setup(regular(2, 4, 1, memory=2 * GIBI), settings, "ideal"))
    asked, grown = (2 * GIBI - 1) * NANO, (2048 + more) * MEBI * NANO
    tries = Tries(situation, admit(situation.session(), pod("p", 1, str(2 * GIBI - 1))))
    change = WayOut(amounts={MEMORY: grown}, asked={MEMORY: asked})
    found = next(reasons(tries, [change._replace(tried=tries.attempt(change))]))
    assert found.or_else == instead


@pytest.mark.parametrize("fit_check", [True, False])
def test_only_where_the_node_as_a_whole_is_looked_at_a_share_of_a_cpu_is_counted_against_it(fit_check: bool) -> None:
    """One of eight CPUs is left: who has it for its own leaves none to share, half a CPU is there."""
    past = arrivals((pod("a", 4), pod("b", 3)))
    situation = Situation(Setup(machine("figure-1"), config("single-numa-node"), "ideal"), fit_check, past)
    tries = Tries(situation, admit(situation.session(), pod("p", 2)))
    change = WayOut(amounts={CPUS: NANO // 2}, asked={CPUS: 2 * NANO})
    [part] = next(reasons(tries, [change._replace(tried=tries.attempt(change))])).parts
    assert part.whole == (Amount("cpu", NANO // 2, 7 * NANO, 8 * NANO) if fit_check else None)


CORES = config("restricted", cpu_manager_policy_options={"full-pcpus-only": "true"})


@pytest.mark.parametrize(("gpus", "instead"), [(1, {}), (3, {CPUS: 2 * NANO})], ids=["CPUs alone", "beside a device"])
def test_a_core_less_is_a_change_of_its_own_where_nothing_else_changes(gpus: int, instead: dict[Key, int]) -> None:
    """Three CPUs are asked for, and cores of two are given out; there are two GPUs."""
    situation = Situation(Setup(regular(2, 4, 2, devices=machine("figure-1").devices), CORES, "ideal"))
    tries = Tries(situation, admit(situation.session(), pod("p", 3, gpu=gpus)))
    change = WayOut(amounts={CPUS: 4 * NANO}, asked={CPUS: 3 * NANO})
    if gpus > 1:
        change = change._replace(amounts={**change.amounts, GPUS: NANO}, asked={**change.asked, GPUS: 3 * NANO})
    [found] = reasons(tries, [change._replace(tried=tries.attempt(change))])
    assert (found.or_else, found.cores) == (instead, 2)
