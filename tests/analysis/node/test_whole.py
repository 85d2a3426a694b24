"""No state that a kubelet was recorded in contradicts itself. Edits that do: tests/sources/node/test_state.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from numalign.analysis.node.whole import Contradiction, contradictions
from numalign.kubelet import node as twin
from numalign.kubelet.node import Node, NodeState
from tests.conformance import cases
from tests.conformance.families import e2e, lifecycle

VECTORS = Path(__file__).parents[2] / "vectors"
FAMILIES = [
    (lifecycle, VECTORS / "lifecycle.jsonl.gz", 2),
    (e2e, VECTORS / "e2e.jsonl.gz", 10),
    *((lifecycle, path, 2) for path in sorted(VECTORS.glob("versions/**/lifecycle*.jsonl.gz"))),
    *((e2e, path, 5) for path in sorted(VECTORS.glob("versions/**/e2e*.jsonl.gz"))),
]


def test_no_recorded_state_contradicts_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[Contradiction] = []
    seen = [0]

    def watch(name: str, state_of: Any) -> None:
        real = getattr(twin, name)

        def watching(node: Node, state: NodeState, what: Any) -> Any:
            result = real(node, state, what)
            found.extend(contradictions(node, state_of(result)))
            seen[0] += 1
            return result

        monkeypatch.setattr(twin, name, watching)

    watch("admit", lambda result: result[0])
    watch("remove", lambda result: result)
    watch("start_containers", lambda result: result.state)
    for family, path, every in FAMILIES:
        for case in cases(path, every):
            family.decide(case)

    assert found == []
    assert seen[0] > 5000
