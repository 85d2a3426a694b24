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
from numalign.kubelet.checkpoint_shape import SINCE_DATA, CheckpointError, fnv1a
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
    if files.cpu is not None:
        yield from _cpu(files.cpu, release, f"{root}/{cpu_file.FILE}", pod_entries=pod_entries)
    if files.memory is not None:
        yield from _memory(files.memory, release, f"{root}/{memory_file.FILE}", pod_entries=pod_entries)
    if files.devices is not None:
        yield from _devices(files.devices)
    for name, text in sorted(further.items()):
        yield from _further(name, text, f"{root}/{name}", read=_reads(name, release, gate))


def _cpu(text: str, release: tuple[int, int], path: str, *, pod_entries: bool) -> Iterator[NodeFinding]:
    try:
        found, sums = cpu_file.inspect(text, release)
    except CheckpointError as error:
        yield _unreadable(path, error)
        return
    if release < SINCE_DATA and not found.pod_entries and _has_pods(text, cpu_file.inspect):
        yield _forgotten(path)
    right = found.checksum in sums.values()
    if found.form == "with data":
        if not right:
            yield _wrong_data(path, found.checksum, sums["with data"])
    elif found.checksum == 0:
        if found.pod_entries:
            yield _dropped(path)
    elif not right:
        yield _mismatch(path, found.checksum, sums["current" if "current" in sums else found.form])
    elif found.form == "with podEntries" and not _takes_pods(release, gate_on=pod_entries):
        yield _only_gated(path)
    if found.form == "first generation" and release >= SINCE_DATA:
        text = f"is of a kubelet before 1.18, which {version_text(release)} does not read: it does not start with it"
        yield NodeFinding("cpu-first-generation", "error", path, text, drain_and_delete(path))
    elif found.form == "first generation" and found.containers:
        yield NodeFinding(
            "cpu-first-generation",
            "warning",
            path,
            f"is of a kubelet before 1.18: {len(found.containers)} container ids hold CPUs, "
            "whose pods only the runtime knows; 1.37 does not read such a file",
            "start a kubelet before 1.37 with it before the upgrade, or " + drain_and_delete(path),
        )


def _memory(text: str, release: tuple[int, int], path: str, *, pod_entries: bool) -> Iterator[NodeFinding]:
    try:
        found, sums = memory_file.inspect(text, release)
    except CheckpointError as error:
        yield _unreadable(path, error)
        return
    if release < SINCE_DATA and not found.pod_entries and _has_pods(text, memory_file.inspect):
        yield _forgotten(path)
    if found.form == "with data":
        if found.checksum not in sums.values():
            yield _wrong_data(path, found.checksum, sums["with data"])
    elif found.checksum == 0:
        if release < _TAKES_ZERO:
            yield _mismatch(path, 0, sums["current"])
        else:
            text = "has checksum 0: this kubelet accepts it, releases up to 1.35 do not start with it"
            yield NodeFinding("memory-checksum-zero", "warning", path, text, "do not go back to 1.35 with this file")
        if found.pod_entries:
            yield _dropped(path)
    elif found.checksum not in sums.values():
        yield _mismatch(path, found.checksum, sums["current"])
    elif found.form == "with podEntries" and not _takes_pods(release, gate_on=pod_entries):
        yield _only_gated(path)


def _has_pods(text: str, inspect: Callable[[str], tuple[CPUCheckpoint | MemoryCheckpoint, object]]) -> bool:
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
    elif found.checksum != device_file.checksum(found):
        message = (
            f"wrong checksum (stored {found.checksum}, computed {device_file.checksum(found)}): at its start the "
            "kubelet forgets all device allocations"
        )
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
        yield NodeFinding("further-file-unreadable", severity, path, f"unreadable: {what}", drain_and_delete(path))
        return
    raw = content.encode("utf-8", "surrogatepass")
    right = crc32(raw) if name == _DRA else fnv1a(b"(string)" + raw)
    if stored != right:
        message = f"wrong checksum (stored {stored}, computed {right}): {what}"
        yield NodeFinding("further-file-checksum", severity, path, message, drain_and_delete(path))


def _unreadable(path: str, error: CheckpointError) -> NodeFinding:
    message = f"unreadable ({error}): the kubelet would not start"
    return NodeFinding("state-file-unreadable", "error", path, message, drain_and_delete(path))


def _mismatch(path: str, stored: int, right: int) -> NodeFinding:
    message = f"wrong checksum (stored {stored}, computed {right}): the kubelet would not start"
    return NodeFinding(MISMATCH, "error", path, message, drain_and_delete(path))


def _only_gated(path: str) -> NodeFinding:
    message = "has pod entries: only 1.36 with gate PodLevelResourceManagers, and 1.37, read it; other kubelets stop"
    return NodeFinding("state-file-pod-entries", "error", path, message, drain_and_delete(path))


def _dropped(path: str) -> NodeFinding:
    message = "has checksum 0 and pod entries: 1.36 ignores the entries and forgets the pod-level resources"
    return NodeFinding("pod-entries-dropped", "warning", path, message, drain_and_delete(path))


def _wrong_data(path: str, stored: int, right: int) -> NodeFinding:
    message = f"wrong dataChecksum (stored {stored}, computed {right}): the kubelet would not start"
    return NodeFinding(MISMATCH, "error", path, message, drain_and_delete(path))


def _forgotten(path: str) -> NodeFinding:
    """Tell of a file of 1.37 whose pods as a whole an older kubelet does not see."""
    message = "was written by 1.37: this kubelet reads its older fields, and forgets what pods hold as a whole"
    return NodeFinding("pod-entries-dropped", "warning", path, message, drain_and_delete(path))
