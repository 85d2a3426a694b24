"""The kubelet's checkpoint files: every form, every checksum that is known from a real kubelet, every refusal."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numalign.kubelet import node
from numalign.kubelet.checkpoint_shape import CheckpointError, fnv1a
from numalign.kubelet.config import IDEAL
from numalign.kubelet.cpu import checkpoint as cpu
from numalign.kubelet.device import checkpoint as device
from numalign.kubelet.device.state import build
from numalign.kubelet.memory import checkpoint as memory
from numalign.kubelet.memory.start import Table
from numalign.kubelet.setup import Setup
from numalign.model.machine import Device, Machine, NUMANode

STATE = Path(__file__).parent.parent / "kubelet-state"
ISSUES = STATE / "public-issues"
CPU_FILES = [*sorted(STATE.glob("*/kubelet/cpu_manager_state")), ISSUES / "kubelet-issue-87249-cpu_manager_state.json"]
MEMORY_FILES = [
    *sorted(STATE.glob("*/kubelet/memory_manager_state")),
    ISSUES / "kubelet-issue-128669-memory_manager_state.json",
]
DEVICE_FILES = sorted(STATE.glob("*/kubelet/device-plugins/kubelet_internal_checkpoint"))
RELEASES = [(1, 32), (1, 35), (1, 36)]

# Content and checksum as a kubelet gives them: docs/rules/kubelet-files.md 28 and 28a, cpu-manager.md 4.4 and
# kubelet-versions 6.10.
CPU_EXAMPLES = {
    "policy none, nothing": '{"policyName":"none","defaultCpuSet":"","checksum":1353318690}',
    "default 0-7": '{"policyName":"static","defaultCpuSet":"0-7","checksum":14413152}',
    "one container": (
        '{"policyName":"static","defaultCpuSet":"0,2-7","entries":{"uid-1":{"app":"1"}},"checksum":2309862762}'
    ),
    "keys in any order": (
        '{"checksum":1356689945,"entries":{"uid-1":{"app":"1"},"a-2":{"z":"2","b b":"3"}},"defaultCpuSet":"0,2-7",'
        '"policyName":"static"}'
    ),
    "first generation": (
        '{"policyName":"static","defaultCpuSet":"0-1,4-15","entries":{"4f2b1c":"2-3"},"checksum":2075329964}'
    ),
}
CPU_POD_EXAMPLES = {
    "a pod entry": (
        '{"policyName":"none","defaultCpuSet":"1-3","entries":{"pod":{"container1":"4-6","container2":"1-3"}},'
        '"podEntries":{"pod":{"cpuSet":"4-6"}},"checksum":2649431787}'
    ),
    "no pod entry, policy none": '{"policyName":"none","defaultCpuSet":"","checksum":642675224}',
    "no pod entry, policy static": '{"policyName":"static","defaultCpuSet":"0-3","checksum":1408856778}',
    "written by 1.36": (
        '{"policyName":"static","defaultCpuSet":"0,3-8,11-15","entries":{"uid-p0":{"c0":"1,9","c1":"2,10"}},'
        '"podEntries":{"uid-p0":{"cpuSet":"1-2,9-10"}},"checksum":2825936468}'
    ),
}
MEMORY_EXAMPLES = {
    "policy None": '{"policyName":"None","machineState":{},"checksum":4236770233}',
    "one container": (
        '{"policyName":"Static","machineState":{"0":{"numberOfAssignments":1,"memoryMap":{"hugepages-2Mi":{"total":0,'
        '"systemReserved":0,"allocatable":0,"reserved":0,"free":0},"memory":{"total":8192,"systemReserved":1024,'
        '"allocatable":7168,"reserved":4096,"free":3072}},"cells":[0]}},"entries":{"uid-1":{"app":[{"numaAffinity":[0],'
        '"type":"memory","size":4096}]}},"checksum":1141090873}'
    ),
}
MEMORY_POD_EXAMPLES = {
    "a pod entry": (
        '{"policyName":"static","machineState":{"0":{"numberOfAssignments":0,"memoryMap":{"memory":{"total":2048,'
        '"systemReserved":512,"allocatable":1536,"reserved":512,"free":1024}},"cells":[]}},"entries":{"pod":{'
        '"container1":[{"numaAffinity":[0],"type":"memory","size":512}]}},"podEntries":{"pod":{"memoryBlocks":[{'
        '"numaAffinity":[0],"type":"memory","size":512}]}},"checksum":1278640530}'
    ),
    "written by 1.36": (
        '{"policyName":"Static","machineState":{"0":{"numberOfAssignments":1,"memoryMap":{"memory":{"total":8589934592,'
        '"systemReserved":104857600,"allocatable":8485076992,"reserved":3221225472,"free":5263851520}},"cells":[0]},'
        '"1":{"numberOfAssignments":0,"memoryMap":{"memory":{"total":8589934592,"systemReserved":0,'
        '"allocatable":8589934592,"reserved":0,"free":8589934592}},"cells":[1]}},"entries":{"uid-p0":{"c0":[{'
        '"numaAffinity":[0],"type":"memory","size":1073741824}],"c1":[{"numaAffinity":[0],"type":"memory",'
        '"size":2147483648}]}},"podEntries":{"uid-p0":{"memoryBlocks":[{"numaAffinity":[0],"type":"memory",'
        '"size":3221225472}]}},"checksum":2388440541}'
    ),
}
DEVICE_EXAMPLES = {
    "nodes as numbers, -1 first": (
        '{"Data":{"PodDeviceEntries":[{"PodUID":"uid-1","ContainerName":"app","ResourceName":"example.com/nic",'
        '"DeviceIDs":{"-1":["x"],"0":["a","b"],"10":["c"],"2":["d"]},"AllocResp":"CgA="}],"RegisteredDevices":{'
        '"example.com/nic":["a","b","c","d","x"],"example.com/zero":[]}},"Checksum":3535376109}'
    ),
    "nothing": '{"Data":{"PodDeviceEntries":null,"RegisteredDevices":{}},"Checksum":3467439661}',
}


def name_of(path: Path) -> str:
    return str(path.relative_to(STATE))


@pytest.mark.parametrize(
    ("text", "expected"), [("", 2166136261), ("a", 3826002220), ("foobar", 3214735720)], ids=["empty", "a", "foobar"]
)
def test_the_sum_is_fnv_1a(text: str, expected: int) -> None:
    assert fnv1a(text.encode()) == expected


@pytest.mark.parametrize("path", CPU_FILES, ids=name_of)
@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_a_cpu_file_of_a_real_kubelet_is_read_by_every_release(path: Path, release: tuple[int, int]) -> None:
    found = cpu.read_cpu_checkpoint(path.read_text(), release)

    assert cpu.sealed(found) == found


@pytest.mark.parametrize("path", MEMORY_FILES, ids=name_of)
@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_a_memory_file_of_a_real_kubelet_is_read_by_every_release(path: Path, release: tuple[int, int]) -> None:
    found = memory.read_memory_checkpoint(path.read_text(), release)

    assert memory.sealed(found) == found


@pytest.mark.parametrize("path", DEVICE_FILES, ids=name_of)
def test_a_device_file_of_a_real_kubelet_is_read(path: Path) -> None:
    found = device.inspect(path.read_text())

    assert device.sealed(found) == found


@pytest.mark.parametrize("path", CPU_FILES + MEMORY_FILES + DEVICE_FILES, ids=name_of)
def test_a_file_is_written_byte_for_byte_as_the_kubelet_wrote_it(path: Path) -> None:
    text = path.read_text()
    module = cpu if "cpu" in path.name else memory if "memory" in path.name else device
    if path.parent.parent.name == "legacy-cpu-v1":  # written by hand, with spaces
        text = json.dumps(json.loads(text), separators=(",", ":"))

    assert module.write(module.inspect(text)[0] if module is not device else device.inspect(text)) == text.rstrip("\n")


@pytest.mark.parametrize("case", CPU_EXAMPLES)
def test_a_cpu_example_has_its_checksum(case: str) -> None:
    found = cpu.read_cpu_checkpoint(CPU_EXAMPLES[case], (1, 32))

    assert found.form == (
        "first generation" if "generation" in case or "nothing" in case or "0-7" in case else "current"
    ) or (not found.entries and not found.containers)
    assert cpu.read_cpu_checkpoint(CPU_EXAMPLES[case], (1, 36)).default == found.default


@pytest.mark.parametrize("case", CPU_POD_EXAMPLES)
def test_a_cpu_file_with_pod_entries_is_read_by_136_with_the_gate_and_by_nobody_else(case: str) -> None:
    text = CPU_POD_EXAMPLES[case]

    found = cpu.read_cpu_checkpoint(text, (1, 36), pod_entries=True)

    assert found.form == "with podEntries"
    assert cpu.sealed(found) == found
    assert cpu.write(found) == text
    for release in RELEASES:
        with pytest.raises(CheckpointError):
            cpu.read_cpu_checkpoint(text, release)


@pytest.mark.parametrize("case", MEMORY_EXAMPLES)
def test_a_memory_example_has_its_checksum(case: str) -> None:
    text = MEMORY_EXAMPLES[case]

    assert memory.write(memory.read_memory_checkpoint(text, (1, 32))) == text
    assert memory.read_memory_checkpoint(text, (1, 36), pod_entries=True).form == "current"


@pytest.mark.parametrize("case", MEMORY_POD_EXAMPLES)
def test_a_memory_file_with_pod_entries_is_read_by_136_with_the_gate_and_by_nobody_else(case: str) -> None:
    text = MEMORY_POD_EXAMPLES[case]

    found = memory.read_memory_checkpoint(text, (1, 36), pod_entries=True)

    assert found.form == "with podEntries"
    assert memory.sealed(found) == found
    assert memory.write(found) == text
    for release in RELEASES:
        with pytest.raises(CheckpointError, match=r"^checkpoint is corrupted$"):
            memory.read_memory_checkpoint(text, release)


@pytest.mark.parametrize("case", DEVICE_EXAMPLES)
def test_a_device_example_has_its_checksum(case: str) -> None:
    assert device.write(device.inspect(DEVICE_EXAMPLES[case])) == DEVICE_EXAMPLES[case]


CONTAINERS = '{"policyName":"static","defaultCpuSet":"0,2-7","entries":{"uid-1":{"app":"1"}},"checksum":2309862763}'
NO_CONTAINERS = '{"policyName":"static","defaultCpuSet":"0-7","checksum":14413153}'
GENERATION = "json: cannot unmarshal object into Go struct field CPUManagerCheckpointV1.entries.{} of type string"
CPU_REFUSALS = [
    ("a wrong sum up to 1.35", CONTAINERS, (1, 35), False, "checkpoint is corrupted"),
    ("a wrong sum in 1.36, with containers", CONTAINERS, (1, 36), False, GENERATION.format("uid-1")),
    ("a wrong sum in 1.36 with the gate, with containers", CONTAINERS, (1, 36), True, GENERATION.format("uid-1")),
    ("a wrong sum in 1.36, without containers", NO_CONTAINERS, (1, 36), False, "checkpoint is corrupted"),
    ("pod entries, gate off", CPU_POD_EXAMPLES["a pod entry"], (1, 36), False, GENERATION.format("pod")),
    ("pod entries, 1.35", CPU_POD_EXAMPLES["a pod entry"], (1, 35), False, "checkpoint is corrupted"),
    ("a cut file", CONTAINERS[:50], (1, 32), False, "unexpected end of JSON input"),
    ("an empty file", "", (1, 32), False, "unexpected end of JSON input"),
    (
        "a first-generation file of another shape",
        '{"entries": {"a": 1}}',
        (1, 32),
        False,
        "json: cannot unmarshal number into Go struct field CPUManagerCheckpoint.entries of type map[string]string",
    ),
    (
        "a checksum that is no whole number",
        '{"checksum": 1.5}',
        (1, 32),
        False,
        (
            "json: cannot unmarshal number 1.5 into Go struct field CPUManagerCheckpoint.checksum of type "
            "checksum.Checksum"
        ),
    ),
    (
        "a list",
        "[]",
        (1, 32),
        False,
        "json: cannot unmarshal array into Go value of type state.CPUManagerCheckpoint",
    ),
]


@pytest.mark.parametrize(
    ("text", "release", "gate", "expected"), [case[1:] for case in CPU_REFUSALS], ids=[case[0] for case in CPU_REFUSALS]
)
def test_a_cpu_file_is_refused_in_the_kubelets_words(
    text: str, release: tuple[int, int], gate: bool, expected: str
) -> None:
    with pytest.raises(CheckpointError) as raised:
        cpu.read_cpu_checkpoint(text, release, pod_entries=gate)

    assert str(raised.value) == expected


def test_a_cpu_file_with_checksum_0_is_taken_unchecked_by_all() -> None:
    text = CONTAINERS.replace("2309862763", "0")

    for release in RELEASES:
        assert cpu.read_cpu_checkpoint(text, release).entries == {"uid-1": {"app": "1"}}


def test_136_drops_pod_entries_of_a_file_with_checksum_0() -> None:
    text = CPU_POD_EXAMPLES["a pod entry"].replace("2649431787", "0")

    assert cpu.read_cpu_checkpoint(text, (1, 36), pod_entries=True).pod_entries == {}


def test_a_memory_file_with_checksum_0_is_taken_by_136_alone() -> None:
    text = MEMORY_EXAMPLES["one container"].replace("1141090873", "0")

    assert memory.read_memory_checkpoint(text, (1, 36)).policy == "Static"
    for release in ((1, 32), (1, 35)):
        with pytest.raises(CheckpointError, match=r"^checkpoint is corrupted$"):
            memory.read_memory_checkpoint(text, release)


def test_keys_are_matched_without_regard_to_case() -> None:
    assert (
        cpu.read_cpu_checkpoint('{"POLICYNAME":"none","defaultCPUSet":"","CheckSum":1353318690}', (1, 32)).policy
        == "none"
    )


def test_a_tool_reads_a_file_with_a_wrong_sum_and_tells_the_right_one() -> None:
    found, sums = cpu.inspect(CONTAINERS)

    assert found.entries == {"uid-1": {"app": "1"}}
    assert sums["current"] == 2309862762


def test_a_tool_reads_each_form_of_a_memory_file() -> None:
    """What is right tells the form; where nothing is, pods as a whole are of the newer one."""
    plain, pods = MEMORY_EXAMPLES["one container"], MEMORY_POD_EXAMPLES["a pod entry"]
    for text, form in ((plain, "current"), (pods, "with podEntries")):
        found, sums = memory.inspect(text)
        assert (found.form, sums[found.form]) == (form, found.checksum)
        assert found.entries
        wrong, same = memory.inspect(json.dumps({**json.loads(text), "checksum": 1}))
        assert (wrong.form, wrong.checksum, same) == (form, 1, sums)
        assert wrong._replace(checksum=found.checksum) == found
    assert memory.inspect(pods)[0].pod_entries == {"pod": (memory.FileBlock((0,), "memory", 512),)}


def test_a_memory_file_of_which_only_the_older_form_fits() -> None:
    found, sums = memory.inspect(json.dumps({**json.loads(MEMORY_EXAMPLES["one container"]), "podEntries": 7}))

    assert (found.form, list(sums)) == ("current", ["current"])


def test_a_memory_table_that_is_missing_is_empty() -> None:
    text = '{"policyName":"Static","machineState":{"1":{"memoryMap":{"memory":null}},"0":null},"checksum":0}'
    found = memory.read_memory_checkpoint(text, (1, 36))

    assert found.nodes == {
        0: memory.FileNode(0, (), {}),
        1: memory.FileNode(0, (), {"memory": memory.Table(0, 0, 0, 0, 0)}),
    }


def test_containers_of_the_first_generation_that_nobody_knows_stop_the_kubelet() -> None:
    found = cpu.inspect(CPU_EXAMPLES["first generation"])[0]
    machine = Machine("m", (NUMANode(0, 0b11, 1 << 30),), cores=(1, 2))
    manager = node.start(Setup(machine, IDEAL, "ideal"))[0].cpu
    with pytest.raises(CheckpointError, match="containerID '4f2b1c' not found in initial containers list"):
        cpu.restore(manager, found)


def test_a_tool_tells_the_form_of_a_cpu_file() -> None:
    for text, form in (
        (CPU_EXAMPLES["first generation"], "first generation"),
        (CONTAINERS, "current"),
        (CPU_POD_EXAMPLES["a pod entry"], "with podEntries"),
    ):
        for written in (text, json.dumps({**json.loads(text), "checksum": 7})):
            assert cpu.inspect(written)[0].form == form


ENTRY = device.DeviceEntry("u", "c", "r/x", {-1: ("free",), 0: ("a", "both"), 1: ("both",)})


def test_devices_of_a_file_are_taken_over_as_far_as_the_machine_has_them() -> None:
    devices = {"r/x": (Device("a", (0,)), Device("b", (0,)), Device("both", (0, 1))), "r/y": (Device("z", (0,)),)}
    manager = build(Machine("m", (NUMANode(0, 1, 1), NUMANode(1, 2, 1)), devices=devices))
    entries = [
        ENTRY,
        ENTRY._replace(resource="r/gone"),
        ENTRY._replace(resource="r/y"),
        ENTRY._replace(devices={0: ("b",)}),
        device.DeviceEntry("v", "d", "r/y", None, ("z",)),
    ]

    state = device.restore(manager, entries)

    assert state.holdings == {"u": {"c": {"r/x": 0b111}}, "v": {"d": {"r/y": 1}}}
    assert state.allocated == {"r/x": 0b111, "r/y": 1}


def test_the_old_format_of_devices_is_written_again() -> None:
    old = device.DeviceCheckpoint((device.DeviceEntry("u", "c", "r/x", None, ("a",), (7,)),), {"r/x": ("a",)}, old=True)

    assert device.inspect(device.write(device.sealed(old))) == device.sealed(old)
    new = old._replace(old=False, entries=(ENTRY,))
    assert device.inspect(device.write(device.sealed(new))) == device.sealed(new)
    assert device.inspect(device.write(device.sealed(new._replace(entries=None)))).entries is None


def test_devices_of_the_format_before_120_are_read_without_nodes() -> None:
    text = (
        '{"Data":{"PodDeviceEntries":[{"PodUID":"u","ContainerName":"c","ResourceName":"r/x","DeviceIDs":["a","b"],'
        '"AllocResp":""}],"RegisteredDevices":{"r/x":["a","b"]}},"Checksum":1}'
    )

    found = device.inspect(text)

    assert found.old
    assert found.entries is not None
    assert found.entries[0].nodes == {"a": None, "b": None}


def test_a_device_listed_under_two_nodes_is_one_device() -> None:
    found = device.inspect((STATE / "devices-only/kubelet/device-plugins/kubelet_internal_checkpoint").read_text())

    assert [one.nodes for one in found.entries or ()] == [{"gpu-any": (), "gpu1": (1,)}, {"gpu-both": (0, 1)}]


names = st.text(st.characters(exclude_categories=("Cs",)), max_size=8)
cpu_lists = st.sampled_from(["", "0", "1-3", "0,2-5"])
cpu_checkpoints = st.builds(
    cpu.CPUCheckpoint,
    form=st.sampled_from(["current", "with podEntries"]),
    policy=names,
    default=cpu_lists,
    entries=st.dictionaries(names, st.dictionaries(names, cpu_lists, max_size=3), max_size=3),
    containers=st.just({}),
    pod_entries=st.dictionaries(names, st.integers(0, 255), max_size=3),
    checksum=st.just(0),
)


@given(cpu_checkpoints)
def test_what_is_written_reads_back(checkpoint: cpu.CPUCheckpoint) -> None:
    sealed = cpu.sealed(checkpoint)

    found = cpu.read_cpu_checkpoint(cpu.write(sealed), (1, 36), pod_entries=sealed.form == "with podEntries")

    assert (found.policy, found.default, found.entries) == (sealed.policy, sealed.default, sealed.entries)
    assert found.pod_entries == (sealed.pod_entries if sealed.form == "with podEntries" else {})


@given(st.sampled_from(CPU_FILES + MEMORY_FILES + DEVICE_FILES), st.data())
def test_a_damaged_file_is_read_or_refused_never_a_bug(path: Path, data: st.DataObject) -> None:
    text = path.read_text()
    at = data.draw(st.integers(0, len(text)))
    text = text[:at] + data.draw(st.sampled_from(["", "x", '"', "{", "9", "null", "\x00", "\ud800"])) + text[at + 1 :]
    for read in (
        lambda: cpu.read_cpu_checkpoint(text, (1, 36), pod_entries=True),
        lambda: cpu.inspect(text),
        lambda: memory.read_memory_checkpoint(text, (1, 32)),
        lambda: memory.inspect(text),
        lambda: device.inspect(text),
    ):
        try:
            read()
        except CheckpointError:
            continue


def test_nodes_of_a_memory_file_are_in_the_order_of_their_ids() -> None:
    found, _ = memory.inspect('{"policyName":"Static","machineState":{"1":{},"0":{}},"checksum":0}', (1, 36))
    assert list(found.nodes) == [0, 1]


@pytest.mark.parametrize(
    ("key", "taken"),
    [
        *((key, True) for key in ("9223372036854775807", "-1", "+1")),
        *((key, False) for key in ("9223372036854775808", "x", "1.5", "-+1", "٣", "", "-")),
    ],
)
def test_a_key_of_a_node_is_a_number_of_64_bits(key: str, taken: bool) -> None:
    text = f'{{"policyName":"Static","machineState":{{"{key}":{{}}}},"checksum":0}}'
    if taken:
        assert list(memory.inspect(text, (1, 36))[0].nodes) == [int(key)]
        return
    with pytest.raises(
        CheckpointError, match=f"cannot unmarshal number {re.escape(key)} into Go struct field .* of type int"
    ):
        memory.inspect(text, (1, 36))


def nodes(**of_node: str) -> str:
    inside = ",".join(f'"{key}":{value}' for key, value in of_node.items())
    return f'{{"policyName":"Static","machineState":{{"0":{{{inside}}}}},"checksum":0}}'


BOUNDS = [
    ("an amount", lambda text: nodes(memoryMap=f'{{"memory":{{"total":{text}}}}}'), 0, 2**64 - 1),
    ("a count", lambda text: nodes(numberOfAssignments=text), -(2**63), 2**63 - 1),
    ("a cell", lambda text: nodes(cells=f"[{text}]"), -(2**63), 2**63 - 1),
    ("a checksum", lambda text: f'{{"policyName":"{{}}","checksum":{text}}}', 0, 2**64 - 1),
]


@pytest.mark.parametrize(("write", "least", "most"), [case[1:] for case in BOUNDS], ids=[case[0] for case in BOUNDS])
def test_a_number_has_the_bounds_of_its_type(write: Callable[[object], str], least: int, most: int) -> None:
    """docs/rules/kubelet-files.md 28c."""
    for inside in (least, most):
        memory.inspect(write(inside), (1, 36))
    for outside in (least - 1, most + 1):
        with pytest.raises(CheckpointError, match=f"cannot unmarshal number {outside} into Go struct field"):
            memory.inspect(write(outside), (1, 36))


def of_137() -> tuple[cpu.CPUCheckpoint, memory.MemoryCheckpoint]:
    """Files as 1.37 writes them: in the older form, and with pods as text."""
    block = memory.FileBlock((0, 1), "memory", 5)
    nodes = {0: memory.FileNode(1, (0, 1), {"memory": Table(9, 1, 8, 5, 3)})}
    held = {"u": {"c": (block,)}}
    return (
        cpu.sealed(cpu.CPUCheckpoint("with data", "static", "0-3", {"u": {"c": "4"}}, pod_entries={"u": 0b110000})),
        memory.sealed(memory.MemoryCheckpoint("with data", "Static", nodes, held, {"u": (block,)})),
    )


def test_a_file_of_137_is_read_by_itself_and_by_older_kubelets() -> None:
    """docs/rules/kubelet-1.37.md 6: older ones read what has no pods."""
    for module, read, file in zip(
        (cpu, memory), (cpu.read_cpu_checkpoint, memory.read_memory_checkpoint), of_137(), strict=True
    ):
        text = module.write(file)
        assert read(text, (1, 37), pod_entries=True) == file
        older = read(text, (1, 36), pod_entries=False)
        assert (older.form, older.entries, older.pod_entries) == ("current", file.entries, {})
        assert module.inspect(text) == (file, {"with data": file.checksum})
        content = json.loads(text)
        assert content["dataChecksum"] == file.checksum == fnv1a(b"(string)" + content["data"].encode())
        assert "checksum" not in json.loads(content["data"])
        wrong = module.write(file._replace(checksum=1))
        with pytest.raises(CheckpointError, match="checkpoint is corrupted"):
            read(wrong, (1, 37), pod_entries=True)
        assert module.inspect(wrong)[1] == {"with data": file.checksum}
        assert read(wrong, (1, 36), pod_entries=False).entries == file.entries
