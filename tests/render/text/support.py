"""The whole text of a refused pod, a line each, for the tests of its words."""

from __future__ import annotations

import json
from functools import cache

from numalign.analysis.explanation import explain_outcome
from numalign.analysis.situation import Situation, arrivals
from numalign.kubelet.admission import admit
from numalign.kubelet.config import KubeletConfig
from numalign.kubelet.setup import Setup
from numalign.model.machine import Machine
from numalign.model.pod import Pod
from numalign.render.page.document import Table, lines_of, text_of
from numalign.render.text.changes import Advice
from numalign.render.text.explain import explanation
from numalign.sources.recorded import scenario
from numalign.tasks.explain import explained_pod
from tests.analysis.support import machine
from tests.refusals.survey import named, refusals

FIGURE = machine("figure-1")


def lines(situation: Situation, asked: Pod) -> list[str]:
    """Write an explanation; cells of a row stand beside each other with ` | ` between."""
    told = explained_pod(explain_outcome(situation, admit(situation.session(), asked)))
    assert told.refusal is not None
    found = []
    for part in explanation(situation.setup.config, told, Advice([""] * len(told.changes), "")):
        if isinstance(part, Table):
            found += [" | ".join(map(text_of, row)) for row in part.rows]
        else:
            found += [text.strip() for text in lines_of(part)]
    return [text for text in found if text]


def explained(settings: KubeletConfig, asked: Pod, *before: Pod, on: Machine = FIGURE) -> list[str]:
    return lines(Situation(Setup(on, settings, "ideal"), past=arrivals(before)), asked)


def recorded(name: str, step: int) -> list[str]:
    """Explain a recorded refusal; many are looked at by several tests."""
    return [*_recorded(name, step)]


@cache
def _recorded(name: str, step: int) -> tuple[str, ...]:
    data = named(name)
    situation = next(found for index, found, _ in refusals(data) if index == step)
    return tuple(lines(situation, scenario.read_scenario(json.dumps(data).encode()).steps[step].pod))
