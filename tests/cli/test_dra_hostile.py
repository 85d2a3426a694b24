"""Whatever a slice, a class, a claim or a selector holds: an answer or one line, never a traceback, never a hang."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from tests import documents
from tests.cli.running import ROOT, in_process

EXAMPLES = ROOT / "docs" / "examples" / "dra"
CLUSTER = documents.one((EXAMPLES / "cluster.yaml").read_text(encoding="utf-8"))
CLAIMS = documents.each((EXAMPLES / "gpu-nic.yaml").read_text(encoding="utf-8"))
PIECES: list[Any] = [
    None, True, 0, -3, 10**6, 2**63, 1.5, "", "x", "\x00", "-5Gi", "1n", "9" * 5000, [], {}, [[]], {"a": {}},
    "All", "gpu-0", "cpudevnumaX", "hgx-1", "dra.net/numaNode", "true", "(((", "size(device.attributes) > 0",
    "device.attributes['x'].y" * 50, "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaab'.matches('(a+)+$')",
    "device.attributes.all(a, device.attributes.all(b, a != b || true))", "'%s'.format([1]) == ''",
]  # fmt: skip


def places(thing: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    if isinstance(thing, dict | list):
        for key, inner in thing.items() if isinstance(thing, dict) else enumerate(thing):
            yield from places(inner, (*path, key))


def mutated(chance: random.Random, thing: Any) -> Any:
    """Put something else at one place, or take what is there away, or double it."""
    thing = deepcopy(thing)
    path = chance.choice(list(places(thing)))
    around = thing
    for key in path[:-1]:
        around = around[key]
    kind = chance.random()
    if kind < 0.1 and isinstance(around, dict):
        del around[path[-1]]
    elif kind < 0.2 and isinstance(around, list):
        around.append(deepcopy(around[path[-1]]))
    else:
        around[path[-1]] = deepcopy(chance.choice(PIECES))
    return thing


@pytest.mark.parametrize("seed", range(40))
def test_a_wrong_object_is_answered_or_refused(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    cluster = mutated(chance, CLUSTER) if seed % 2 else CLUSTER
    claims = CLAIMS if seed % 2 else [mutated(chance, one) for one in CLAIMS]
    (tmp_path / "cluster.json").write_text(json.dumps(cluster), encoding="utf-8")
    (tmp_path / "pod.json").write_text(json.dumps({"kind": "List", "items": claims}), encoding="utf-8")
    files = [str(tmp_path / "pod.json"), "--slices", str(tmp_path / "cluster.json")]

    for arguments in (
        ["dra", "check", *files],
        ["admit", *files, "-m", "hgx-h100", "--node-name", "hgx-1"],
        ["lint", *files],
    ):
        done = in_process(*arguments)
        assert done.status in (0, 1, 2), done.err
        assert "Traceback" not in done.err
        assert done.status != 2 or done.err
