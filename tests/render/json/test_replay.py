"""`replay` against what other commands promise."""

from __future__ import annotations

import json

import pytest

from numalign.analysis.config.suggest import suggest
from numalign.kubelet.setup import Setup
from numalign.render.json.node import suggestion_json
from numalign.render.json.replay import replay_json
from numalign.sources.kubelet.fields import read_fields
from numalign.sources.machine import bundled
from numalign.sources.machine.loading import load_machine
from numalign.tasks.replay import replay


@pytest.mark.parametrize("name", bundled.names())
def test_a_suggested_configuration_starts(name: str) -> None:
    """What `config suggest` writes for a bundled machine starts there, and a pod is admitted or refused on it."""
    machine = load_machine(name).machine
    written = json.loads(json.dumps(suggestion_json(suggest(machine, {}))))
    config = read_fields(written, name).config

    answer = replay_json(replay(Setup(machine, config, "kubelet"), ()))

    assert "startError" not in answer
    assert answer["finalState"]["pods"] == {}
