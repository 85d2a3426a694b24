"""Family `e2e`: pods one after another on one node, through the reader and the writer of `replay`."""

from __future__ import annotations

import json
from typing import Any

from numalign.kubelet.setup import Setup
from numalign.render.json.replay import replay_json
from numalign.sources.recorded import scenario
from numalign.tasks.replay import replay


def decide(case: dict[str, Any]) -> dict[str, Any]:
    """Replay the case; `expect` is taken away first."""
    line = json.dumps({key: value for key, value in case.items() if key != "expect"}).encode()
    one = scenario.read(line)
    return replay_json(replay(Setup(one.machine, one.config, "kubelet"), one.steps))
