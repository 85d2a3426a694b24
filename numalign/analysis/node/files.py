"""The kubelet's files by themselves: can they be read, are their checksums right, which releases take them.

docs/rules/kubelet-files.md 5, 28b and 30, docs/rules/kubelet-1.37.md 6.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Final
from zlib import crc32

from numalign.analysis.node.finding import NodeFinding, Severity, drain_and_delete
from numalign.kubelet.checkpoint_forms import SINCE_DATA
from numalign.kubelet.checkpoint_shape import CheckpointError, fnv1a
from numalign.kubelet.cpu import checkpoint as cpu_file
from numalign.kubelet.cpu.checkpoint import CPUCheckpoint
from numalign.kubelet.device import checkpoint as device_file
from numalign.kubelet.memory import checkpoint as memory_file
from numalign.kubelet.memory.checkpoint import MemoryCheckpoint
from numalign.kubelet.releases.release import version_text
from numalign.kubelet.start.restore import POD_ENTRIES_GATE, ROOT, StateFiles

DEVICES: Final = f"{ROOT}/{device_file.FILE}"
"""The device plugins' folder does not follow `--root-dir`."""
MISMATCH: Final = "state-file-checksum"
Inspect = Callable[..., tuple[CPUCheckpoint | MemoryCheckpoint, Mapping[str, int]]]
"""(text, release) -> what a file says, and its right checksum in each form."""
_DRA: Final = "dra_manager_state"
_FIRST_RESIZED: Final = "pod_status_manager_state"
_RESIZED: Final = (1, 33)
"""From this release on the kubelet reads other files of resized pods."""
_TAKES_ZERO: Final = (1, 36)
"""From this release on a memory file with checksum 0 is taken unchecked."""


def file_findings(
    files: StateFiles, further: Mapping[str, str], release: tuple[int, int], root: str, gate: Callable[[str], bool]
) -> Iterator[NodeFinding]:
    """Judge the files of a node.

    Args:
        files: the three state files.
        further: name -> text of the further files (4a).
        release: the kubelet's, as (major, minor).
        root: its root directory.
        gate: tells whether a feature gate is on.
    """
    pod_entries = gate(POD_ENTRIES_GATE)
    for state, file in ((files.cpu, cpu_file), (files.memory, memory_file)):
        if state is not None:
            yield from _state_file(state, release, f"{root}/{file.FILE}", file.inspect, pod_entries=pod_entries)
    if files.devices is not None:
        yield from _devices(files.devices)
    for name, text in sorted(further.items()):
        yield from _further(name, text, f"{root}/{name}", read=_reads(name, release, gate))


def _state_file(
    text: str, release: tuple[int, int], path: str, inspect: Inspect, *, pod_entries: bool
) -> Iterator[NodeFinding]:
    """Judge the file of the CPU Manager, or of the Memory Manager."""
    try:
        found, sums = inspect(text, release)
    except CheckpointError as error:
        yield _stopping("state-file-unreadable", path, f"unreadable ({error}): the kubelet would not start")
        return
    if not found.pod_entries and _has_pods(text, inspect):
        # A file of 1.37 whose pods as a whole an older kubelet does not see.
        message = "was written by 1.37: this kubelet reads its older fields, and forgets what pods hold as a whole"
        yield _stopping("pod-entries-dropped", path, message, "warning")
    right = found.checksum in sums.values()
    if found.form == "with data":
        if not right:
            yield _mismatch("dataChecksum", path, found.checksum, sums["with data"])
    elif found.checksum == 0:
        if isinstance(found, MemoryCheckpoint):
            yield _zero(release, path, sums["current"])
        if found.pod_entries:
            message = "has checksum 0 and pod entries: 1.36 ignores the entries and forgets the pod-level resources"
            yield _stopping("pod-entries-dropped", path, message, "warning")
    elif not right:
        yield _mismatch("checksum", path, found.checksum, sums["current" if "current" in sums else found.form])
    elif found.form == "with podEntries" and not _takes_pods(release, gate_on=pod_entries):
        gated = "has pod entries: only 1.36 with gate PodLevelResourceManagers, and 1.37, read it; other kubelets stop"
        yield _stopping("state-file-pod-entries", path, gated)
    if found.form == "first generation":
        assert isinstance(found, CPUCheckpoint)  # noqa: S101 (no other file has that form)
        yield from _first_generation(found, release, path)


def _zero(release: tuple[int, int], path: str, right: int) -> NodeFinding:
    """Tell of a memory file with checksum 0."""
    if release < _TAKES_ZERO:
        return _mismatch("checksum", path, 0, right)
    text = "has checksum 0: this kubelet accepts it, releases up to 1.35 do not start with it"
    return NodeFinding("memory-checksum-zero", "warning", path, text, "do not go back to 1.35 with this file")


def _first_generation(found: CPUCheckpoint, release: tuple[int, int], path: str) -> Iterator[NodeFinding]:
    """Tell of a CPU file without pods, which the kubelet before 1.18 wrote."""
    if release >= SINCE_DATA:
        text = f"is of a kubelet before 1.18, which {version_text(release)} does not read: it does not start with it"
        yield _stopping("cpu-first-generation", path, text)
    elif found.containers:
        yield NodeFinding(
            "cpu-first-generation",
            "warning",
            path,
            f"is of a kubelet before 1.18: {len(found.containers)} container ids hold CPUs, "
            "whose pods only the runtime knows; 1.37 does not read such a file",
            "start a kubelet before 1.37 with it before the upgrade, or " + drain_and_delete(path),
        )


def _has_pods(text: str, inspect: Inspect) -> bool:
    """Tell whether the content that 1.37 reads of a file has pods as a whole."""
    with suppress(CheckpointError):
        return bool(inspect(text)[0].pod_entries)
    return False


def _takes_pods(release: tuple[int, int], *, gate_on: bool) -> bool:
    """Tell whether a kubelet reads the form with pod entries that 1.36 writes."""
    return release >= SINCE_DATA or (release >= _TAKES_ZERO and gate_on)


def _devices(text: str) -> Iterator[NodeFinding]:
    try:
        found = device_file.inspect(text)
    except CheckpointError as error:
        message = f"unreadable ({error}): the kubelet starts and forgets all device allocations"
        yield NodeFinding("device-file-unreadable", "warning", DEVICES, message, "restart the pods that hold devices")
        return
    if found.old:
        message = "is of a kubelet before 1.20, without NUMA nodes of devices: 1.32 drops it"
        yield NodeFinding("device-file-old", "warning", DEVICES, message, "restart the pods that hold devices")
    elif found.checksum != (right := device_file.checksum(found)):
        stored = f"wrong checksum (stored {found.checksum}, computed {right})"
        message = f"{stored}: at its start the kubelet forgets all device allocations"
        yield NodeFinding("device-checksum", "warning", DEVICES, message, "restart the pods that hold devices")


def stops(finding: NodeFinding) -> bool:
    """Tell whether a finding is about a further file that stops the kubelet; nobody knows its words then."""
    return finding.severity == "error" and finding.code.startswith("further-file")


def _reads(name: str, release: tuple[int, int], gate: Callable[[str], bool]) -> bool:
    """Tell whether a kubelet reads one of the further files."""
    if name == _DRA:
        return gate("DynamicResourceAllocation")
    return gate("InPlacePodVerticalScaling") and (release < _RESIZED) == (name == _FIRST_RESIZED)


def _further(name: str, text: str, path: str, *, read: bool) -> Iterator[NodeFinding]:
    """Check one of the further files (23a to 23e)."""
    severity: Severity = "error" if read else "warning"
    what = (
        "this kubelet reads it and does not start"
        if read
        else "this kubelet does not read it; a kubelet that reads it does not start"
    )
    try:
        data = json.loads(text)
        fields = {str(key).lower(): value for key, value in data.items()}
        content, stored = fields["data"], fields["checksum"]
        json.loads(content)
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
        yield _stopping("further-file-unreadable", path, f"unreadable: {what}", severity)
        return
    raw = content.encode("utf-8", "surrogatepass")
    right = crc32(raw) if name == _DRA else fnv1a(b"(string)" + raw)
    if stored != right:
        message = f"wrong checksum (stored {stored}, computed {right}): {what}"
        yield _stopping("further-file-checksum", path, message, severity)


def _mismatch(field: str, path: str, stored: int, right: int) -> NodeFinding:
    message = f"wrong {field} (stored {stored}, computed {right}): the kubelet would not start"
    return _stopping(MISMATCH, path, message)


def _stopping(code: str, path: str, message: str, severity: Severity = "error") -> NodeFinding:
    """Tell of a file that goes away."""
    return NodeFinding(code, severity, path, message, drain_and_delete(path))
