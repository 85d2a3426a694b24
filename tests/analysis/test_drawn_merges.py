"""Merges of drawn hints, under each policy and in each release: their steps are told as they were."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from numalign.analysis.merging import merging
from numalign.kubelet import node as twin
from numalign.kubelet.config import IDEAL
from numalign.kubelet.node import Decision, Node, NodeState
from numalign.kubelet.releases.table import kubelet
from numalign.kubelet.setup import Setup
from numalign.kubelet.topology.hints import (
    CANNOT_FIT,
    NO_PREFERENCE,
    AtLeast,
    HintFamily,
    HintList,
    Hints,
    MaskSet,
    TopologyHint,
)
from tests.analysis.kept import hold
from tests.kubelet.regular import regular

POLICIES = ("best-effort", "restricted", "single-numa-node")
CLOSEST = {"prefer-closest-numa-nodes": "true"}


def test_steps_of_a_merge_are_told_as_they_were() -> None:
    hold(Path(__file__).parent / "drawn_merges.jsonl.gz", map(steps, range(400)))


def steps(number: int) -> Any:
    dice = Random(number)
    count = dice.choice((1, 2, 2, 3, 4, 4, 8, 9, 10))
    node, state = started(count, dice.choice(POLICIES), dice.choice((36, 36, 36, 26, 18)), bool(dice.randrange(2)))
    names = (dice.choice(((), ("gpu",), ("gpu", "nic"))), ("cpu",), dice.choice(((), ("memory",))))
    answers = tuple({name: hints(dice, count) for name in each} for each in names)
    # The winner is drawn, too: the steps lead to what the kubelet chose, which is not theirs to say.
    winner = TopologyHint(dice.randrange(1 << count) or None, bool(dice.randrange(2)))
    return merging(node, Decision("c", answers, winner, bool(dice.randrange(2)), state))


@cache
def started(count: int, policy: str, minor: int, closest: bool) -> tuple[Node, NodeState]:
    config = IDEAL._replace(topology_manager_policy=policy)
    if count > 8:
        many = {**CLOSEST, "max-allowable-numa-nodes": "16"}
        config, minor = config._replace(topology_manager_policy_options=many), 36
    elif closest and minor > 30:
        config = config._replace(topology_manager_policy_options=CLOSEST)
    machine = regular(count, 2, 1)
    far = tuple(
        node._replace(distances=tuple(10 if a == b else 12 if a ^ b == 1 else 32 for b in range(count)))
        for a, node in enumerate(machine.numa_nodes)
    )
    return twin.start(Setup(machine._replace(numa_nodes=far), config, "ideal", kubelet((1, minor))))


def hints(dice: Random, count: int) -> Hints:
    kind = dice.randrange(8)
    if kind < 2:
        return (NO_PREFERENCE, CANNOT_FIT)[kind]
    if kind < 5 or count > 4:
        weights = tuple(dice.randrange(4) for _ in range(count))
        need = dice.randint(1, max(sum(weights), 1))
        every = (1 << count) - 1
        if sum(weights) < need:
            return CANNOT_FIT
        return HintFamily((MaskSet(every, (AtLeast(weights, need),)),), dice.randint(1, count))
    masks = [mask for mask in range(1, 1 << count) if dice.randrange(2)]
    return HintList([TopologyHint(dice.choice((mask, mask, mask, None)), bool(dice.randrange(2))) for mask in masks])
