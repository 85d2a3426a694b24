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
from numalign.kubelet.releases.table import kubelet
from numalign.kubelet.setup import Setup
from numalign.model.apiserver.defaulting import read_pod
from numalign.sources.kubelet.fields import read_fields
from numalign.sources.machine.file import from_data as machine_from_data
from numalign.sources.machine.loading import load_machine
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
    setup = Setup(load_machine("figure-1").machine, IDEAL, "ideal", kubelet((1, 23)))

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
    "a proposal": (lambda data: data.update(proposals=["of 2019"]), "state.json: proposals: unknown key"),
    "the machine": (lambda data: data["machine"].pop("numaNodes"), "state.json: machine"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_file_that_somebody_changed_is_told_with_its_place(case: str) -> None:
    change, message = BROKEN[case]

    with pytest.raises(InputError) as raised:
        load(broken(change), "state.json")

    assert str(raised.value).startswith(message)


def kept() -> dict[str, Any]:
    """A node with two pods, each with CPUs, memory and a device of its own."""
    regular = {"sockets": 2, "numaNodesPerSocket": 1, "coresPerNumaNode": 4, "threadsPerCore": 1}
    numa = [{"id": f"nic{place}", "numaNodes": [place]} for place in (0, 1)]
    machine, _ = machine_from_data(
        {"regular": {**regular, "memoryPerNumaNode": "8Gi"}, "devices": {"example.com/nic": numa}}, "m"
    )
    reserved = {"memoryManagerPolicy": "Static", "reservedMemory": [{"numaNode": 0, "limits": {"memory": "1Gi"}}]}
    fields = {**reserved, "kubeReserved": {"memory": "1Gi"}, "topologyManagerPolicy": "restricted"}
    config = read_fields({**fields, "cpuManagerPolicy": "static", "evictionHard": {}}, "c").config
    setup = Setup(machine, config, "ideal")
    session = open_session(setup)
    for name in ("a", "b"):
        limits = {"cpu": "2", "memory": "1Gi", "example.com/nic": "1"}
        spec = {"containers": [{"name": "c", "image": "i", "resources": {"limits": limits}}]}
        outcome = admission.admit(session, read_pod({"metadata": {"name": name}, "spec": spec}))
        assert outcome.admit
        session = outcome.then
    return plain(dump(setup, session))  # type: ignore[no-any-return]  # JSON is anything


def moved(data: dict[str, Any]) -> None:
    table = data["memory"]["nodes"]["0"]["memory"]["memory"]
    table["free"] += 1 << 30
    table["reserved"] -= 1 << 30


A, B = "default/a", "default/b"
EDITS: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "a CPU of two pods": (
        lambda data: data["cpu"]["assignments"][B].update(c="0-1"),
        "cpu.assignments.default/a: CPUs 0-1 also belong to another pod, or count as free",
    ),
    "free CPUs that are held": (lambda data: data["cpu"].update(default="0-7"), "cpu.assignments.default/a: CPUs 0-1"),
    "CPU 999 free": (lambda data: data["cpu"].update(default="2-3,6-7,999"), "cpu.default: CPUs 999 cannot be shared"),
    "CPU 999 held": (lambda data: data["cpu"]["assignments"][A].update(c="0,999"), "cpu.assignments.default/a.c: CPUs"),
    "a CPU lost": (lambda data: data["cpu"].update(default="2-3,6"), "cpu.default: CPUs 7 are missing"),
    "CPUs fewer than asked for": (
        lambda data: data["cpu"]["assignments"][A].update(c="0") or data["cpu"].update(default="1-3,6-7"),
        "cpu.assignments.default/a.c: 1 CPUs, 2 requested",
    ),
    "CPUs given back": (
        lambda data: data["cpu"]["assignments"].pop(A) and data["cpu"].update(default="0-3,6-7"),
        "cpu.assignments.default/a.c: 0 CPUs",
    ),
    "CPUs of nobody": (
        lambda data: data["cpu"]["assignments"].update({"x": {"c": "2"}}),
        "cpu.assignments.x: belongs to no pod",
    ),
    "CPUs of no container": (
        lambda data: data["cpu"]["assignments"][A].update(x="2"),
        "cpu.assignments.default/a.x: the pod has no such container",
    ),
    "CPUs of a pod that is none": (lambda data: data["cpu"].update(pods={"x": "2"}), "cpu.pods.x: belongs to no pod"),
    "CPUs up for reuse": (
        lambda data: data["cpu"]["reuse"].update(cpus="0"),
        "cpu.reuse.cpus: some are not free and not the pod's",
    ),
    "a pod twice": (lambda data: data["pods"].append(data["pods"][0]), "pods[2].metadata: duplicate pod a"),
    "a pod gone": (lambda data: data["pods"].pop(), "cpu.assignments.default/b: belongs to no pod of the node"),
    "a pod that asks for more": (
        lambda data: data["pods"][0]["spec"]["containers"][0]["resources"]["limits"].update(cpu="3"),
        "cpu.assignments.default/a.c: 2 CPUs, 3 requested",
    ),
    "1 PiB free": (
        lambda data: data["memory"]["nodes"]["1"]["memory"]["memory"].update(free=1 << 50),
        "memory.nodes.1.memory.memory: free plus reserved is not 8589934592",
    ),
    "1 PiB in all": (
        lambda data: data["memory"]["nodes"]["1"]["memory"]["memory"].update(total=1 << 50),
        "memory.nodes.1: expected the tables of this machine",
    ),
    "memory free that is held": (
        moved,
        "memory.nodes: 1073741824 bytes of memory are reserved, the pods hold 2147483648",
    ),
    "another number of assignments": (
        lambda data: data["memory"]["nodes"]["0"].update(numberOfAssignments=9),
        "memory.nodes.0.numberOfAssignments: expected 1",
    ),
    "a group of nobody": (
        lambda data: data["memory"]["nodes"]["0"].update(cells=[1]),
        "memory.nodes.0.cells: not a group of the pods' blocks",
    ),
    "less memory than asked for": (
        lambda data: data["memory"]["entries"][A]["c"][0].update(bytes=1),
        "memory.entries.default/a.c: not the requested memory",
    ),
    "memory of a NUMA node that is not there": (
        lambda data: data["memory"]["entries"][A]["c"][0].update(numaNodes=[7]),
        "memory.entries.default/a.c: memory that the machine does not have",
    ),
    "memory of another kind": (
        lambda data: data["memory"]["entries"][A]["c"][0].update(type="hugepages-3Mi"),
        "memory.entries.default/a.c: not the requested memory",
    ),
    "memory up for reuse": (
        lambda data: data["memory"]["reuse"].update(blocks=[{"numaNodes": [0], "type": "memory", "bytes": 1 << 50}]),
        "memory.reuse.blocks: memory that the machine does not have",
    ),
    "memory of nobody": (
        lambda data: data["memory"]["entries"].update({"x": {"c": []}}),
        "memory.entries.x: belongs to no pod",
    ),
    "a device of two pods": (
        lambda data: data["devices"]["holdings"][B]["c"].update({"example.com/nic": ["nic0"]}),
        "devices.holdings.default/b.c.example.com/nic: nic0 also belongs to pod default/a",
    ),
    "a device more": (
        lambda data: data["devices"]["holdings"][A]["c"].update({"example.com/nic": ["nic0", "nic1"]}),
        "devices.holdings.default/a.c.example.com/nic: 2 devices, 1 requested",
    ),
    "a device given back": (
        lambda data: data["devices"]["holdings"].pop(B),
        "devices.holdings.default/b.c.example.com/nic: 0 devices, 1 requested",
    ),
    "a hint of nobody": (
        lambda data: data.update(hints={"x": {"numaNodes": [0], "preferred": True}}),
        "hints.x: belongs to no pod",
    ),
    "a hint of NUMA nodes that are missing": (
        lambda data: data.update(hints={A: {"numaNodes": [5], "preferred": True}}),
        "hints.default/a: NUMA nodes that the machine does not have",
    ),
    "a hint without a word": (
        lambda data: data.update(hints={A: {"numaNodes": [0], "preferred": "yes"}}),
        "hints.default/a.preferred: expected true or false",
    ),
    "another base": (lambda data: data.update(base="banana"), "base: expected one of ideal, kubelet"),
    "a key": (lambda data: data.update(extra=1), "extra: unknown key"),
    "another machine": (
        lambda data: data["machine"]["numaNodes"][1].update(memory=1 << 50),
        "memory.nodes.1",
    ),
    "another policy": (
        lambda data: data["kubelet"].update(cpuManagerPolicy="none"),
        "cpu.assignments",
    ),
    "a group wider than what lies in it": (
        lambda data: data["memory"]["nodes"]["0"].update(cells=[0, 1]),
        "memory.nodes.0.cells: not a group",
    ),
    "a device twice": (
        lambda data: data["devices"]["holdings"][A]["c"].update({"example.com/nic": ["nic0", "nic0"]}),
        "devices.holdings.default/a.c.example.com/nic: expected devices of the machine, each once",
    ),
    "CPUs left to nobody": (
        lambda data: data["cpu"].update(reuse={"pod": "x", "cpus": "2"}),
        "cpu.reuse.pod: is no pod of the node",
    ),
    "devices left that the pod does not hold": (
        lambda data: data["devices"].update(reuse={"pod": A, "devices": {"example.com/nic": ["nic1"]}}),
        "devices.reuse.devices.example.com/nic: some are not the pod's",
    ),
    "CPUs of a pod as a whole that asks for none": (
        lambda data: data["cpu"].update(pods={A: "0-1"}),
        "cpu.pods.default/a: the pod requests nothing for all its containers",
    ),
    "a device that nobody asked for": (
        lambda data: data["pods"][0]["spec"]["containers"][0]["resources"]["limits"].pop("example.com/nic"),
        "devices.holdings.default/a.c.example.com/nic: the container requests none",
    ),
    "a release that there is not": (
        lambda data: data.update(kubeletVersion="9.9"),
        "kubeletVersion: expected a version from 1.16",
    ),
    "a kubelet that does not start": (
        lambda data: data.update(kubeletVersion="1.20"),
        "kubelet: its kubelet would not start: kubelet 1.20 has no memoryManagerPolicy",
    ),
    "an active pod among those that are over": (
        lambda data: data.update(leftovers=[A]),
        "leftovers: default/a is a pod of the node",
    ),
}


def test_the_node_that_is_edited_is_whole() -> None:
    assert [pod.name for pod in load(kept(), "state.json").session.pods] == ["a", "b"]


@pytest.mark.parametrize("case", EDITS)
def test_a_state_that_contradicts_itself_is_told_with_its_place(case: str) -> None:
    change, message = EDITS[case]
    data = kept()
    change(data)

    with pytest.raises(InputError) as raised:
        load(data, "state.json")

    assert str(raised.value).startswith(f"state.json: {message}")


def test_a_state_that_version_1_wrote_is_read_for_ever() -> None:
    """The file was written by the first release that had states; it is never written anew."""
    path = Path(__file__).parent / "state-version-1.json"

    document = state_file.read_state(str(path), NODE_STATE)

    assert document is not None
    read = load(document, str(path))
    assert read.session.state.cpu.assignments["6f9c2d4e-0000-4000-8000-000000000002"] == {"fwd": 1 << 3 | 1 << 19}
    assert [pod.name for pod in read.session.pods] == ["web", "db", "dpdk", "train"]
    assert read.session.state.leftovers == ("6f9c2d4e-0000-4000-8000-000000000005",)
