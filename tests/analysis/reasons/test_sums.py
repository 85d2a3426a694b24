"""What the containers that run at the same time ask for together is told beside what one that runs before asks for."""

from __future__ import annotations

import pytest

from numalign.analysis.reasons.facts import TooLittle
from numalign.analysis.reasons.memory_facts import SumTooLarge
from numalign.analysis.reasons.refusal import facts_of
from numalign.analysis.refusal import refusal
from numalign.analysis.situation import Situation
from numalign.kubelet.admission import admit
from numalign.kubelet.setup import Setup
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
