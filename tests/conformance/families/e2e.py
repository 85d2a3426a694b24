"""Family `e2e`: pods one after another on one node, through the reader and the writer of `replay`."""

from __future__ import annotations

from typing import Any

from numalign.kubelet.setup import Setup
from numalign.render.json.replay import replay_json
from numalign.sources.recorded import scenario
from numalign.tasks.replay import replay
from tests.conformance.versions import kubelet_of


def decide(case: dict[str, Any]) -> dict[str, Any]:
    """Replay the case; `expect` is taken away first."""
    one = scenario.from_data({key: value for key, value in case.items() if key != "expect"})
    setup = Setup(one.machine, one.config, "kubelet", kubelet_of(case))
    return replay_json(replay(setup, one.steps))
