"""The example of a kubelet with other parts, docs/examples/proposals.py: what it prints, and whose rules it follows."""

from __future__ import annotations

import runpy
from typing import Any

import pytest

from numalign.kubelet import device
from numalign.kubelet.demand import ContainerDemand, PodDemand
from numalign.kubelet.device import DeviceState
from numalign.kubelet.releases.table import LATEST
from numalign.kubelet.topology.hints import HintFamily, TopologyHint, expand
from numalign.kubelet.topology.merge.lists import numa_info
from tests.cli.running import ROOT
from tests.kubelet.hint_text import hints, show

EXAMPLE: dict[str, Any] = runpy.run_path(str(ROOT / "docs/examples/proposals.py"))
GPU = "nvidia.com/gpu"

POLICIES = (
    # list 0, list 1, preferred, strict, proposed-strict
    ("01:T", "10:T", "00:T admit", "00:T admit", "nil:F refuse"),
    ("11:T", "01:T", "01:T admit", "01:T admit", "nil:F refuse"),
    ("11:T", "01:T 10:T 11:T", "01:T admit", "01:T admit", "11:T admit"),
    ("11:T", "01:T 10:T 11:F", "01:T admit", "01:T admit", "nil:F refuse"),
    ("01:F", "01:T", "01:F admit", "01:F refuse", "nil:F refuse"),
    ("01:F", "10:T", "nil:F admit", "nil:F refuse", "nil:F refuse"),
    ("01:T", "01:T", "01:T admit", "01:T admit", "01:T admit"),
)
"""docs/rules/topology-manager.md 14, its table of results."""


@pytest.mark.parametrize("row", POLICIES, ids=[f"{row[0]} with {row[1]}" for row in POLICIES])
def test_a_row_of_the_feedback_document(row: tuple[str, ...]) -> None:
    found = []
    for policy in EXAMPLE["FEEDBACK_POLICIES"]:
        hint, admit = EXAMPLE["merge_feedback"](policy, (hints(row[0]), hints(row[1])), numa_info(range(2)))
        found.append(f"{show(hint, 2)} {'admit' if admit else 'refuse'}")

    assert tuple(found) == row[2:]


def asks(gpus: int) -> tuple[PodDemand, ContainerDemand]:
    container = ContainerDemand("c", "app", 0, (), ((GPU, gpus),))
    return PodDemand("p", True, (container,), 0, (), ()), container


def given_out(ids: str) -> DeviceState:
    members = sum(1 << int(one) for one in ids.split())
    return DeviceState({"other": {"c": {GPU: members}}}, {GPU: members})


def dgx() -> device.DeviceManager:
    return EXAMPLE["opened"]("dgx-1", "restricted", LATEST).node.device  # type: ignore[no-any-return]  # runpy


@pytest.mark.parametrize(
    ("used", "gpus", "today", "proposed"),
    [
        pytest.param("", 2, "01:T 10:T 11:F", "01:T 10:T 11:T", id="the nodes of all pairs are preferred"),
        pytest.param("0 2 4 5 6 7", 2, "01:T 11:F", "01:F 11:F", id="pairs that are not free do not count"),
        pytest.param("1 2 3 5 6 7", 2, "11:F", "11:T", id="a free pair on both nodes is preferred"),
        pytest.param("", 1, "01:T 10:T 11:F", "01:T 10:T 11:F", id="one GPU has no links"),
    ],
)
def test_preferred_sets_in_hints(used: str, gpus: int, today: str, proposed: str) -> None:
    pod, container = asks(gpus)

    for ask, expected in ((device.container_hints, today), (EXAMPLE["prefer"], proposed)):
        answer = ask(dgx(), given_out(used), pod, container)[GPU]
        listed = expand(answer) if isinstance(answer, HintFamily) else answer
        assert " ".join(show(hint, 2) for hint in listed) == expected


@pytest.mark.parametrize(
    ("used", "mask", "taken"),
    [
        pytest.param("", None, "gpu0 gpu3", id="without a mask: the first pair"),
        pytest.param("0 2 4 5 6 7", None, "gpu1 gpu3", id="no pair is free: as in the kubelet"),
        pytest.param("", 0b10, "gpu4 gpu7", id="the first pair on the wanted node"),
        pytest.param("3 1 2", 0b11, "gpu0 gpu4", id="a pair on both nodes"),
        pytest.param("0 2 4", 0b01, "gpu1 gpu3", id="no pair on the wanted node"),
    ],
)
def test_preferred_sets_in_the_choice(used: str, mask: int | None, taken: str) -> None:
    pod, container = asks(2)
    of = dgx()

    after = EXAMPLE["choose"](of, given_out(used), pod, container, TopologyHint(mask, preferred=True))

    assert " ".join(device.device_ids(of.resources[GPU], after.holdings["p"]["c"][GPU])) == taken


def test_what_the_example_prints(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)

    EXAMPLE["main"]()

    printed = capsys.readouterr().out.splitlines()
    assert printed[:3] == [
        "Hints on which strict and proposed-strict differ:",
        "  01:T / 10:T: strict admits",
        "  01:T / 11:T: strict admits",
    ]
    assert printed[7:] == [
        "A GPU on one node, a NIC on the other:",
        "  restricted: admitted admitted TopologyAffinityError",
        "  strict: admitted admitted admitted",
        "Pairs of GPUs of a DGX-1, preferred by NVLinks:",
        "  gpu0+gpu3 gpu0+gpu4 gpu1+gpu2 gpu1+gpu5 gpu2+gpu3 gpu2+gpu6 gpu3+gpu7 gpu4+gpu7 gpu5+gpu6 gpu6+gpu7",
        "  two-gpus-0: gpu0 gpu3",
        "  two-gpus-1: gpu1 gpu2",
        "  two-gpus-2: gpu4 gpu7",
        "  two-gpus-3: gpu5 gpu6",
        "A pod that chooses its policy:",
        "  choosy: refused",
    ]
