"""A kubelet that starts with a node's state files knows what one knows that has been there from the beginning."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from typing import Any

import pytest

from numalign.errors import StartError
from numalign.kubelet import admission
from numalign.kubelet.admission import Outcome, Session
from numalign.kubelet.config import KubeletConfig, MemoryReservation
from numalign.kubelet.cpu import checkpoint as cpu_file
from numalign.kubelet.demand import read_demand
from numalign.kubelet.device import checkpoint as device_file
from numalign.kubelet.device.state import DeviceState, per_numa
from numalign.kubelet.node import Node, NodeState, collect, start
from numalign.kubelet.releases.table import kubelet
from numalign.kubelet.setup import Setup
from numalign.kubelet.start.held_pods import held_pod, holders
from numalign.kubelet.start.restore import (
    StateFiles,
    as_written,
    refused,
    resealed,
    restore,
    restore_cpu,
    restore_devices,
    restore_memory,
    settle,
)
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.machine import Device, Machine, NUMANode, Unit
from numalign.model.pod import Pod
from tests.kubelet.state_nodes import NODES, StateNode, lived, restored, state_node
from tests.kubelet.test_checkpoint import CPU_POD_EXAMPLES, MEMORY_POD_EXAMPLES

GENERATED = 20


def counted(node: Node, holdings: Mapping[str, Mapping[str, Mapping[str, int]]]) -> dict[str, object]:
    """Devices by NUMA node: which of several equal ones a kubelet takes is chance. Without a policy all are equal."""
    return {
        f"{uid}/{name}/{resource}": (
            members.bit_count() if node.policy == "none" else per_numa(node.device.resources[resource], members)
        )
        for uid, containers in holdings.items()
        for name, held in containers.items()
        for resource, members in held.items()
    }


@pytest.mark.parametrize("name", NODES)
def test_the_recorded_steps_are_replayed(name: str) -> None:
    sample = state_node(name)
    _, outcomes = lived(sample)

    recorded = [step for step in sample.steps if step["step"] == "admit"]

    assert [outcome.admit for outcome in outcomes] == [step["admitted"] for step in recorded]
    assert [outcome.message for outcome in outcomes] == [step.get("message", "") for step in recorded]


def test_without_files_the_state_is_that_of_a_first_start() -> None:
    node, state = start(Setup(Machine("m", (NUMANode(0, 0b1111, 1 << 30),)), KubeletConfig(), "kubelet"))

    assert restore_cpu(node, None) == state.cpu
    assert restore_memory(node, None) == state.memory


@pytest.mark.parametrize("name", NODES)
def test_restoring_equals_living_through_it(name: str) -> None:
    sample = state_node(name)
    old, _ = lived(sample)
    new = restored(sample)

    assert new.state.cpu.default == old.state.cpu.default
    assert new.state.cpu.assignments == old.state.cpu.assignments
    assert new.state.memory._replace(reusable_pod="", reusable={}) == old.state.memory._replace(
        reusable_pod="", reusable={}
    )
    assert counted(new.node, new.state.device.holdings) == counted(old.node, old.state.device.holdings)
    assert set(new.state.leftovers) == set(old.state.leftovers)
    assert dict(new.state.pods) == dict(old.state.pods)


def next_pods(sample: StateNode) -> list[Pod]:
    """Generate pods that fit, do not fit, use init containers and devices; the seed is the node's name."""
    chance = random.Random(sample.name)
    resources = sorted(sample.machine.devices)
    pods = []
    for number in range(GENERATED):
        containers = []
        for position in range(chance.choice((1, 1, 2, 3))):
            amounts = {"cpu": chance.choice(("500m", "1", "2", "4", "6")), "memory": f"{chance.randint(1, 20)}Gi"}
            limits = dict(amounts)
            if chance.random() < 0.2:
                amounts["cpu"] = "250m"
            if resources and chance.random() < 0.5:
                limits[chance.choice(resources)] = str(chance.randint(1, 2))
            if chance.random() < 0.2:
                limits["hugepages-2Mi"] = f"{chance.randint(1, 8) * 64}Mi"
            amounts |= {key: value for key, value in limits.items() if key not in amounts}
            containers.append({"name": f"c{position}", "resources": {"requests": amounts, "limits": limits}})
        init = containers[:1] if len(containers) > 1 and chance.random() < 0.5 else []
        spec: dict[str, Any] = {"containers": containers[len(init) :], "initContainers": init}
        if init and chance.random() < 0.5:
            init[0]["restartPolicy"] = "Always"
        metadata = {"name": f"next-{number}", "uid": f"uid-next-{number}"}
        pods.append(read_pod({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}))
    return pods


def decided(outcome: Outcome, session: Session) -> object:
    """Everything that a person could see of a decision."""
    uid = outcome.pod.uid
    state = outcome.after
    return (
        outcome.admit,
        outcome.stage,
        outcome.reason,
        outcome.message,
        outcome.result.hints,
        state.cpu.default,
        state.cpu.assignments.get(uid),
        state.memory.entries.get(uid),
        counted(session.node, {uid: state.device.holdings.get(uid, {})}),
    )


@pytest.mark.parametrize("name", NODES)
def test_the_next_pods_meet_the_same_node(name: str) -> None:
    sample = state_node(name)
    old, _ = lived(sample)
    new = restored(sample)
    answers = set()

    for pod in next_pods(sample):
        before, after = admission.admit(old, pod), admission.admit(new, pod)
        assert decided(after, new) == decided(before, old), pod.name
        answers.add(after.admit)
        old, new = before.then, after.then
    assert answers == {True, False}


def damaged(files: StateFiles, which: str, text: str) -> StateFiles:
    return files._replace(**{which: text})


def changed(text: str, field: str, value: object) -> str:
    return json.dumps({**json.loads(text), field: value})


CPU_REFUSAL = (
    "start cpu manager error: could not restore state from checkpoint: {}, please drain this node and delete the CPU "
    'manager checkpoint file "/var/lib/kubelet/cpu_manager_state" before restarting Kubelet'
)
MEMORY_REFUSAL = (
    "start memory manager error: could not restore state from checkpoint: {}, please drain this node and delete the "
    'memory manager checkpoint file "/var/lib/kubelet/memory_manager_state" before restarting Kubelet'
)
SAMPLE = state_node("two-socket-restricted")
CPU_TEXT, MEMORY_TEXT = SAMPLE.files.cpu or "", SAMPLE.files.memory or ""
REFUSALS = {
    "a digit of the CPU file changed": (
        damaged(SAMPLE.files, "cpu", CPU_TEXT.replace("29-31", "29-30")),
        CPU_REFUSAL.format("checkpoint is corrupted"),
    ),
    "the CPU file cut": (
        damaged(SAMPLE.files, "cpu", CPU_TEXT[:100]),
        CPU_REFUSAL.format("unexpected end of JSON input"),
    ),
    "the CPU policy changed, unchecked": (
        damaged(SAMPLE.files, "cpu", changed(changed(CPU_TEXT, "policyName", "none"), "checksum", 0)),
        CPU_REFUSAL.format('configured policy "static" differs from state checkpoint policy "none"'),
    ),
    "a CPU list that is none": (
        damaged(SAMPLE.files, "cpu", changed(changed(CPU_TEXT, "defaultCpuSet", "0-"), "checksum", 0)),
        CPU_REFUSAL.format('could not parse default cpu set "0-": strconv.Atoi: parsing "": invalid syntax'),
    ),
    "a container's CPU list that is none": (
        damaged(SAMPLE.files, "cpu", changed(changed(CPU_TEXT, "entries", {"u": {"c": "x"}}), "checksum", 0)),
        CPU_REFUSAL.format(
            'could not parse cpuset "x" for container "c" in pod "u": strconv.Atoi: parsing "x": invalid syntax'
        ),
    ),
    "a CPU of the machine in nobody's hands": (
        damaged(
            SAMPLE.files, "cpu", changed(changed(CPU_TEXT, "defaultCpuSet", "0,5-7,13-16,21-23,29-30"), "checksum", 0)
        ),
        'start cpu manager error: current set of available CPUs "0-31" doesn\'t match with CPUs in state "0-30"',
    ),
    "a container of the first generation that nobody knows": (
        damaged(
            SAMPLE.files,
            "cpu",
            '{"policyName":"static","defaultCpuSet":"0-1,4-15","entries":{"4f2b1c":"2-3"},"checksum":2075329964}',
        ),
        CPU_REFUSAL.format(
            "error migrating v1 checkpoint state to v2 checkpoint state: containerID '4f2b1c' not found in initial "
            "containers list"
        ),
    ),
    "a digit of the memory file changed": (
        damaged(SAMPLE.files, "memory", MEMORY_TEXT.replace("49123688448", "49123688449")),
        MEMORY_REFUSAL.format("checkpoint is corrupted"),
    ),
    "the memory file cut": (
        damaged(SAMPLE.files, "memory", MEMORY_TEXT[:300]),
        MEMORY_REFUSAL.format("unexpected end of JSON input"),
    ),
    "the memory file unchecked": (
        damaged(SAMPLE.files, "memory", changed(MEMORY_TEXT, "checksum", 0)),
        MEMORY_REFUSAL.format("checkpoint is corrupted"),
    ),
    "the memory file of policy None": (
        damaged(SAMPLE.files, "memory", '{"policyName":"None","machineState":{},"checksum":4236770233}'),
        MEMORY_REFUSAL.format('[memorymanager] configured policy "Static" differs from state checkpoint policy "None"'),
    ),
    "both damaged: the CPU Manager comes first": (
        StateFiles("", "", ""),
        CPU_REFUSAL.format("unexpected end of JSON input"),
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_a_damaged_file_stops_the_kubelet_in_its_own_words(case: str) -> None:
    files, expected = REFUSALS[case]
    node, _ = start(SAMPLE.setup)

    with pytest.raises(StartError) as raised:
        restore(node, files)

    assert str(raised.value) == expected


def test_another_memory_size_stops_the_kubelet() -> None:
    """A machine that lost a page of memory over a reboot does not come back by itself."""
    nodes = [node._replace(memory=node.memory - 4096) for node in SAMPLE.machine.numa_nodes]
    node, _ = start(SAMPLE.setup._replace(machine=SAMPLE.machine._replace(numa_nodes=tuple(nodes))))

    with pytest.raises(StartError) as raised:
        restore(node, SAMPLE.files)

    assert (
        str(raised.value)
        == "start memory manager error: [memorymanager] the expected machine state is different from the real one"
    )


def test_a_first_generation_file_is_taken_over_where_the_containers_are_known() -> None:
    text = '{"policyName":"static","defaultCpuSet":"0-1,4-31","entries":{"4f2b1c":"2-3"},"checksum":0}'
    node, _ = start(SAMPLE.setup)

    known = {"4f2b1c": ("uid", "app")}
    state = restore(node, StateFiles(text), containers=known)

    assert state.cpu.assignments == {"uid": {"app": 0b1100}}
    assert refused(node, StateFiles(text), known) == ()
    assert refused(node, StateFiles(text[:20]), known) == ("/var/lib/kubelet/cpu_manager_state",)


def test_a_damaged_device_file_stops_nobody() -> None:
    node, _ = start(SAMPLE.setup)

    assert restore(node, damaged(SAMPLE.files, "devices", "{")).device.holdings == {}


def test_a_pod_of_which_only_its_holdings_are_known_is_described_by_them() -> None:
    node, _ = start(SAMPLE.setup)
    state = restore(node, SAMPLE.files)

    assert len(holders(state)) == 4
    pod = held_pod(state, "6f9c2d4e-0000-4000-8000-000000000002", "dpdk", "net")
    real = SAMPLE.pods["dpdk"]

    assert pod.qos == "Guaranteed"
    assert read_demand(pod) == read_demand(real)


def test_devices_are_put_together_from_the_file_and_what_is_known() -> None:
    found = device_file.inspect(SAMPLE.files.devices or "")

    alone = device_file.registered({}, found)
    with_machine = device_file.registered({**SAMPLE.machine.devices, "example.com/fpga": ()}, found)

    assert Device("nic0", (0,)) in alone.devices["example.com/nic"]
    assert alone.unknown == {
        "example.com/gpu": ("GPU-a1",),
        "example.com/license": ("lic-1", "lic-2"),
        "example.com/nic": ("nic3",),
    }
    assert with_machine.unknown == {}
    assert with_machine.gone == ("example.com/fpga",)


GI = 1 << 30
POD_NODE = Machine(
    "m",
    (NUMANode(0, 0x0F0F, 8 * GI), NUMANode(1, 0xF0F0, 8 * GI)),
    (Unit(0, 0x0F0F), Unit(1, 0xF0F0)),
    tuple(0x101 << core for core in range(8)),
)
POD_CONFIG = KubeletConfig(
    cpu_manager_policy="static",
    memory_manager_policy="Static",
    topology_manager_policy="restricted",
    topology_manager_scope="pod",
    reserved_system_cpus="0",
    reserved_memory=(MemoryReservation(0, {"memory": "100Mi"}),),
    feature_gates={"PodLevelResourceManagers": True},
)


def test_what_136_gave_a_pod_as_a_whole_is_taken_over_and_given_back() -> None:
    """The files were written by 1.36.3 with gate PodLevelResourceManagers on."""
    node, _ = start(Setup(POD_NODE, POD_CONFIG, "kubelet", kubelet((1, 36))))
    files = StateFiles(CPU_POD_EXAMPLES["written by 1.36"], MEMORY_POD_EXAMPLES["written by 1.36"])

    state = restore(node, files)

    assert state.cpu.pods == {"uid-p0": 0b11000000110}
    assert state.cpu.assignments == {"uid-p0": {"c0": 0b1000000010, "c1": 0b10000000100}}
    assert state.memory.pods["uid-p0"][0].size == 3 * GI
    empty = collect(node, settle(state, {}))
    assert empty.cpu.default == 0xFFFF
    assert empty.memory.counts == (0, 0)
    assert empty.memory.free == node.memory.allocatable


def test_files_that_are_taken_over_say_what_is_written() -> None:
    node, _ = start(SAMPLE.setup)
    written, taken = as_written(node, SAMPLE.files), restore(node, SAMPLE.files)

    assert (written.cpu.assignments, written.cpu.default) == (taken.cpu.assignments, taken.cpu.default)
    assert (written.memory.entries, written.memory.free) == (taken.memory.entries, taken.memory.free)


def test_files_that_nobody_can_read_say_nothing() -> None:
    node, state = start(SAMPLE.setup)
    for text in ("{", "[]"):
        assert as_written(node, StateFiles(text, text, text)) == NodeState(state.states)
    bad = changed(CPU_TEXT, "defaultCpuSet", "x")
    assert as_written(node, SAMPLE.files._replace(cpu=bad)).cpu == state.cpu


def test_a_file_that_no_kubelet_would_take_still_says_who_holds_what() -> None:
    """Blocks on a node that is not there are known, and the tables those of a first start."""
    node, state = start(SAMPLE.setup)
    assert SAMPLE.files.memory is not None
    elsewhere = SAMPLE.files.memory.replace('"numaAffinity":[0]', '"numaAffinity":[9]')
    found, right = (
        as_written(node, SAMPLE.files._replace(memory=elsewhere)).memory,
        as_written(node, SAMPLE.files).memory,
    )
    assert found.entries.keys() == right.entries.keys()
    assert found.entries != right.entries
    assert (found.free, found.counts) == (state.memory.free, state.memory.counts)
    assert (right.free, right.counts) != (state.memory.free, state.memory.counts)
    unknown = SAMPLE.files.memory.replace('"type":"memory"', '"type":"hugepages-3Mi"')
    assert not any(
        block.type == "hugepages-3Mi"
        for pod in as_written(node, SAMPLE.files._replace(memory=unknown)).memory.entries.values()
        for held in pod.values()
        for block in held
    )


def test_wrong_checksums_are_mended_and_told() -> None:
    wrong = StateFiles(changed(CPU_TEXT, "checksum", 1), changed(MEMORY_TEXT, "checksum", 2))

    files, mended = resealed(wrong, (1, 32))

    right = [json.loads(text)["checksum"] for text in (CPU_TEXT, MEMORY_TEXT)]
    assert mended == (("cpu_manager_state", 1, right[0]), ("memory_manager_state", 2, right[1]))
    node, _ = start(SAMPLE.setup)
    assert refused(node, wrong) == tuple(f"/var/lib/kubelet/{one.file}" for one in mended)
    assert refused(node, files) == ()


def test_a_memory_file_with_checksum_0_is_right_for_kubelets_from_136() -> None:
    """docs/rules/kubelet-files.md 28b."""
    text = json.dumps({**json.loads(MEMORY_TEXT), "checksum": 0})
    wrong = [release for release in ((1, 35), (1, 36), (1, 37)) if resealed(StateFiles(memory=text), release)[1]]
    assert wrong == [(1, 35)]


def test_a_device_file_may_list_nothing_at_all() -> None:
    node, _ = start(SAMPLE.setup)
    text = '{"Data":{"PodDeviceEntries":null,"RegisteredDevices":null},"Checksum":0}'
    assert restore_devices(node, text) == DeviceState({}, {})


def test_files_that_are_not_there_say_nothing() -> None:
    node, empty = start(SAMPLE.setup)
    assert as_written(node, StateFiles()) == restore(node, StateFiles()) == empty


def test_a_right_checksum_needs_no_mending() -> None:
    files = StateFiles(CPU_TEXT, MEMORY_TEXT)
    assert resealed(files, (1, 32)) == (files, ())


def test_a_checksum_of_0_over_the_content_as_text_is_mended() -> None:
    """docs/rules/kubelet-1.37.md 6: nobody takes it for none."""
    text = cpu_file.write(cpu_file.sealed(cpu_file.CPUCheckpoint("with data", "static", "0-3", pod_entries={"u": 0b1})))
    files, mended = resealed(StateFiles(changed(text, "dataChecksum", 0)), (1, 37))
    assert ([one.stored for one in mended], files.cpu) == ([0], text)


@pytest.mark.parametrize("release", [(1, 16), (1, 36)])
def test_a_cpu_file_with_checksum_0_is_right_for_all(release: tuple[int, int]) -> None:
    assert resealed(StateFiles(changed(CPU_TEXT, "checksum", 0)), release)[1] == ()
