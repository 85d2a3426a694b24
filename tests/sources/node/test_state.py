"""A node that lives in a file reads back as it was written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from numalign.errors import InputError
from numalign.kubelet import admission
from numalign.kubelet.admission import open_session
from numalign.kubelet.config import IDEAL
from numalign.kubelet.proposals.table import PER_POD_POLICY, with_proposals
from numalign.kubelet.releases.table import kubelet
from numalign.kubelet.setup import Setup
from numalign.sources.machine.file import load_machine
from numalign.sources.node.state import NODE_STATE, dump, load
from numalign.store import state_file
from tests.kubelet.state_nodes import NODES, lived, state_node


def plain(document: object) -> Any:
    return json.loads(json.dumps(document))


@pytest.mark.parametrize("name", NODES)
def test_a_node_reads_back_as_it_was_written(name: str) -> None:
    sample = state_node(name)
    session, _ = lived(sample)

    read = load(plain(dump(sample.setup, session)), "state.json")

    assert read.setup == sample.setup
    assert read.session._replace(view=None) == session


@pytest.mark.parametrize("name", NODES)
def test_a_node_reads_back_between_the_steps(name: str) -> None:
    """What an init container leaves to its pod is known only until the next pod: it is in the file too."""
    sample = state_node(name)
    session = open_session(sample.setup)
    for pod in sample.pods.values():
        outcome = admission.admit(session, pod)
        session = outcome.then._replace(state=outcome.after)

        assert load(plain(dump(sample.setup, session)), "state.json").session == session


def test_an_ideal_node_of_an_earlier_kubelet_reads_back() -> None:
    setup = Setup(load_machine("figure-1").machine, IDEAL, "ideal", with_proposals(kubelet((1, 23)), [PER_POD_POLICY]))

    assert load(plain(dump(setup, open_session(setup))), "state.json").setup == setup


def broken(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    sample = state_node("two-socket-restricted")
    document: dict[str, Any] = plain(dump(sample.setup, lived(sample)[0]))
    change(document)
    return document


BROKEN: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "cpu missing": (lambda data: data.pop("cpu"), "state.json: cpu: expected a mapping"),
    "a CPU list": (lambda data: data["cpu"].update(default="0-"), "state.json: cpu.default: expected a CPU list"),
    "a number": (
        lambda data: data["memory"]["nodes"]["0"].update(numberOfAssignments="1"),
        "state.json: memory.nodes.0.numberOfAssignments: expected a whole number",
    ),
    "a node": (lambda data: data["memory"]["nodes"].pop("0"), "state.json: memory.nodes: expected the NUMA nodes"),
    "a device": (
        lambda data: data["devices"]["reuse"].update(devices={"example.com/nic": ["x"]}),
        "state.json: devices.reuse.devices.example.com/nic: expected devices of the machine",
    ),
    "a resource": (
        lambda data: data["devices"]["reuse"].update(devices={"example.com/x": []}),
        "state.json: devices.reuse.devices.example.com/x: expected a resource of the machine",
    ),
    "the pods": (lambda data: data.update(pods={}), "state.json: pods: expected a list of pods"),
    "a pod": (lambda data: data["pods"][0].pop("spec"), "state.json: pods[0]: spec"),
    "a release": (lambda data: data.update(kubeletVersion=1), "state.json: kubeletVersion: expected a release"),
    "the machine": (lambda data: data["machine"].pop("numaNodes"), "state.json: machine"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_file_that_somebody_changed_is_told_with_its_place(case: str) -> None:
    change, message = BROKEN[case]

    with pytest.raises(InputError) as raised:
        load(broken(change), "state.json")

    assert str(raised.value).startswith(message)


def test_a_state_that_version_1_wrote_is_read_for_ever() -> None:
    """The file was written by the first release that had states; it is never written anew."""
    path = Path(__file__).parent / "state-version-1.json"

    document = state_file.read(str(path), NODE_STATE)

    assert document is not None
    read = load(document, str(path))
    assert read.session.state.cpu.assignments["6f9c2d4e-0000-4000-8000-000000000002"] == {"fwd": 1 << 3 | 1 << 19}
    assert [pod.name for pod in read.session.pods] == ["web", "db", "dpdk", "train"]
    assert read.session.state.leftovers == ("6f9c2d4e-0000-4000-8000-000000000005",)
