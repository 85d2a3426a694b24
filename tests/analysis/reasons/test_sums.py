"""What the containers that run at the same time ask for together: beside one that runs before, and after a cut."""

from __future__ import annotations

import pytest

from numalign.analysis.circumstances import Circumstances
from numalign.analysis.matrix import Matrix
from numalign.analysis.own_containers import Sum
from numalign.analysis.reasons.facts import TooLittle
from numalign.analysis.reasons.memory_facts import SumTooLarge
from numalign.analysis.reasons.needed import needed
from numalign.analysis.reasons.refusal import facts_of
from numalign.analysis.refusal import Refusal, refusal
from numalign.analysis.situation import Situation
from numalign.analysis.whatif.change import Part, WayOut
from numalign.kubelet.admission import admit
from numalign.kubelet.setup import Setup
from numalign.model.quantity import NANO
from tests.analysis.support import GPU, config, limits, machine, pod_of


@pytest.mark.parametrize("init", [3, 4])
def test_a_sum_is_told_although_an_init_container_asks_for_as_much_by_itself(init: int) -> None:
    """The machine has two GPUs; no cut of the init container mends what the others ask for after it."""
    asked = pod_of("p", init=limits(gpu=init), a=limits(gpu=2), b=limits(gpu=1))
    situation = Situation(Setup(machine("figure-1"), config("restricted"), "ideal"))
    alone, together = facts_of(refusal(admit(situation.session(), asked)))
    assert isinstance(alone, TooLittle)
    assert (alone.asked.resource, alone.asked.amount) == (GPU, init)
    assert together == SumTooLarge(GPU, 3, 2, (("a", 2), ("b", 1)), None)


@pytest.mark.parametrize(
    ("larger", "left", "less"),
    [
        pytest.param(0, 1, True, id="without the part"),
        pytest.param(2, 1, False, id="with the next larger amount"),
        pytest.param(2, 0, True, id="with that, where another container is left without any"),
    ],
)
def test_a_sum_that_is_still_too_large_names_who_asks_for_less_already(larger: int, left: int, *, less: bool) -> None:
    """Container a is to ask for one of four devices, b for all or none of one; with two of a it is one too many."""
    cut = WayOut(amounts={("a", GPU): NANO, ("b", GPU): left * NANO}, asked={("a", GPU): 4 * NANO, ("b", GPU): NANO})
    around = Circumstances(sums=(Sum(GPU, 3, 2, (("a", 2), ("b", 1))),))
    table = Matrix("app", (0, 1), (), "restricted")
    found = Refusal("merge", "", "", "app", "restricted", table, (), (), never=False, around=around)
    part = Part(cut, found, larger=larger * NANO)
    [reason] = needed(part, found, (), config("restricted"), whole=cut, head=())
    assert reason.fact == SumTooLarge(GPU, 3, 2, (("a", 2), ("b", 1)), None, (("a", 2),) if less else ())
