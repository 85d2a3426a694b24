"""What `lint` advises about claims is tried: a claim that follows the advice gets its devices where drivers publish."""

from __future__ import annotations

import re

import pytest

from numalign.dra.attempt import Attempt
from numalign.dra.features import features
from numalign.dra.lint import lint_claim
from numalign.dra.pools import published
from numalign.dra.publish.slices import Options, publish
from numalign.dra.reading import read_claim
from numalign.dra.usage import Usage
from numalign.dra.values import Claim, Node
from numalign.sources.machine.file import load_machine
from tests.dra.objects import claim, request

HGX = load_machine("hgx-h100").machine
DRIVERS: dict[str, tuple[str, ...]] = {
    "dra.cpu": (),
    "dra.memory": (),
    "dra.net": ("mellanox.com/ib",),
    "gpu.nvidia.com": ("nvidia.com/gpu",),
}
CASES = [
    ("four GPUs", [("gpu.nvidia.com", 4)], "dra.net/numaNode"),
    ("four GPUs and a NUMA node's CPUs", [("gpu.nvidia.com", 4), ("dra.cpu", 1)], "dra.net/numaNode"),
    ("GPUs, CPUs and a root", [("gpu.nvidia.com", 2), ("dra.cpu", 1)], "resource.kubernetes.io/pcieRoot"),
    ("CPUs and a NIC", [("dra.cpu", 1), ("dra.net", 1)], "dra.cpu/numaNodeID"),
    ("memory and CPUs", [("dra.memory", 1), ("dra.cpu", 1)], "dra.memory/numaNode"),
]


def matching(asked: list[tuple[str, int]], name: str) -> Claim:
    requests = [request(f"r{place}", class_, count) for place, (class_, count) in enumerate(asked)]
    return read_claim(claim("c", *requests, match=name))


@pytest.mark.parametrize(("asked", "wrong"), [row[1:] for row in CASES], ids=[row[0] for row in CASES])
def test_a_claim_that_follows_the_advice_gets_its_devices(asked: list[tuple[str, int]], wrong: str) -> None:
    made = publish(HGX, DRIVERS, Options())
    classes = {one.name: one for one in made.classes}
    node = Node(made.slices[0].placement.node_name or "")
    attempt = Attempt(published(made.slices), classes, Usage(), features(), node)
    [finding] = lint_claim(matching(asked, wrong), classes)
    assert not attempt.allocate([matching(asked, wrong)]).allocated
    advised = re.match(r"match (\S+), ", finding.advice)
    assert advised is not None
    assert attempt.allocate([matching(asked, advised[1])]).allocated
