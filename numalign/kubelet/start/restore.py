"""A kubelet's start on a node that is in use: the state files are taken over, or stop it, in the kubelet's own words.

Rows 10 and 11 of docs/rules/kubelet-files.md 56; the first twelve rules of that file and `docs/rules/cpu-manager.md` 4,
`memory-manager.md` 9 say what each file must be. The device file never stops a kubelet (22).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TypeVar

from numalign.errors import StartError
from numalign.kubelet import cpu
from numalign.kubelet.checkpoint_shape import CheckpointError
from numalign.kubelet.cpu import checkpoint as cpu_file
from numalign.kubelet.cpu.state import CPUState
from numalign.kubelet.demand import PodDemand
from numalign.kubelet.device import checkpoint as device_file
from numalign.kubelet.device.state import EMPTY, DeviceState
from numalign.kubelet.memory import checkpoint as memory_file
from numalign.kubelet.memory.restore import entries_of, restore_state
from numalign.kubelet.memory.start import replay
from numalign.kubelet.memory.state import MemoryState
from numalign.kubelet.memory.state import initial_state as initial_memory
from numalign.kubelet.node import Node, NodeState
from numalign.kubelet.releases import OLDEST
from numalign.kubelet.start.held_pods import holders
from numalign.model import cpuset
from numalign.values import NamedTuple

ROOT = "/var/lib/kubelet"
"""The kubelet's root directory unless `--root-dir` says otherwise."""

POD_ENTRIES_GATE = "PodLevelResourceManagers"

_State = TypeVar("_State")


class StateFiles(NamedTuple):
    """The texts of a node's three checkpoints; None: there is no such file."""

    cpu: str | None = None
    memory: str | None = None
    devices: str | None = None


def restore(
    node: Node,
    files: StateFiles,
    *,
    containers: Mapping[str, tuple[str, str]] | None = None,
    root: str = ROOT,
) -> NodeState:
    """Take a node's state files over as its kubelet does when it starts. No pod is active yet: see `settle`.

    Args:
        node: the started node; its machine has every device that the device file names.
        files: the state files.
        containers: container id -> (pod UID, container name), for a CPU file of the first generation.
        root: the kubelet's root directory, for the message.

    Raises:
        StartError: the kubelet would not start with these files; the text is its own.
    """
    return NodeState(
        (
            restore_devices(node, files.devices),
            restore_cpu(node, files.cpu, containers, root),
            restore_memory(node, files.memory, root),
        )
    )


def refused(
    node: Node, files: StateFiles, containers: Mapping[str, tuple[str, str]] | None = None, root: str = ROOT
) -> tuple[str, ...]:
    """List the state files, by path, that the kubelet would not take: it complains of one at a time."""
    found = []
    for file, take in (
        (cpu_file.FILE, lambda: restore_cpu(node, files.cpu, containers, root)),
        (memory_file.FILE, lambda: restore_memory(node, files.memory, root)),
    ):
        try:
            take()
        except StartError:
            found.append(f"{root}/{file}")
    return tuple(found)


class Resealed(NamedTuple):
    """A state file whose checksum was wrong."""

    file: str
    stored: int
    right: int


def resealed(files: StateFiles, release: tuple[int, int]) -> tuple[StateFiles, tuple[Resealed, ...]]:
    """Give state files their right checksums, so that they are taken for what they say.

    Args:
        files: the state files; one that cannot be read stays as it is.
        release: the kubelet's, as (major, minor).
    """
    mended = []
    # From which release on a checksum of 0 is taken unchecked.
    for field, file, since in (("cpu", cpu_file, OLDEST), ("memory", memory_file, (1, 36))):
        with suppress(CheckpointError):
            found, sums = file.inspect(getattr(files, field) or "", release)
            unchecked = found.checksum == 0 and release >= since and found.form != "with data"
            if not unchecked and found.checksum not in sums.values():
                sealed = file.sealed(found)
                mended.append(Resealed(file.FILE, found.checksum, sealed.checksum))
                files = files._replace(**{field: file.write(sealed)})
    return files, tuple(mended)


def settle(state: NodeState, pods: Mapping[str, PodDemand]) -> NodeState:
    """Say which pods are active, by UID: what others hold is left over, and free for the next pod (41)."""
    return state._replace(pods=dict(pods), leftovers=tuple(uid for uid in holders(state) if uid not in pods))


def restore_cpu(
    node: Node, text: str | None, containers: Mapping[str, tuple[str, str]] | None = None, root: str = ROOT
) -> CPUState:
    """Take `cpu_manager_state` over; without a file the state is that of a first start.

    Raises:
        StartError: the kubelet would not start.
    """
    if text is None:
        return cpu.initial_state(node.cpu)

    def take() -> CPUState:
        found = cpu_file.read_cpu_checkpoint(text, node.kubelet.version, pod_entries=node.gate(POD_ENTRIES_GATE))
        return cpu_file.restore(node.cpu, found, containers)

    return _started("CPU", take, f"{root}/{cpu_file.FILE}")


def restore_memory(node: Node, text: str | None, root: str = ROOT) -> MemoryState:
    """Take `memory_manager_state` over; without a file the state is that of a first start.

    Raises:
        StartError: the kubelet would not start.
    """
    if text is None:
        return initial_memory(node.memory)

    def take() -> MemoryState:
        found = memory_file.read_memory_checkpoint(text, node.kubelet.version, pod_entries=node.gate(POD_ENTRIES_GATE))
        return restore_state(node.memory, found)

    return _started("memory", take, f"{root}/{memory_file.FILE}")


def restore_devices(node: Node, text: str | None) -> DeviceState:
    """Take the records of the device file over, damaged or not: see `device.checkpoint.inspect`."""
    if text is None:
        return EMPTY
    try:
        return device_file.restore(node.device, device_file.inspect(text).entries or ())
    except CheckpointError:
        return EMPTY


def as_written(node: Node, files: StateFiles) -> NodeState:
    """Say what the files say, checked by nobody: for looking at a node whose kubelet would not come up with them."""
    return NodeState(
        (restore_devices(node, files.devices), _written_cpu(node, files.cpu), _written_memory(node, files.memory))
    )


def _written_cpu(node: Node, text: str | None) -> CPUState:
    try:
        found, _ = cpu_file.inspect(text or "", node.kubelet.version)
        assignments = {
            uid: {name: cpuset.parse(cpus) for name, cpus in held.items()} for uid, held in found.entries.items()
        }
        assignments |= {f"container {one}": {"?": cpuset.parse(cpus)} for one, cpus in found.containers.items()}
        return CPUState(cpuset.parse(found.default), assignments, pods=found.pod_entries)
    except (CheckpointError, cpuset.CPUSetError):
        return cpu.initial_state(node.cpu)


def _written_memory(node: Node, text: str | None) -> MemoryState:
    try:
        entries = entries_of(memory_file.inspect(text or "", node.kubelet.version)[0])
    except CheckpointError:
        return initial_memory(node.memory)
    known = {
        uid: {name: tuple([one for one in held if one.type in node.memory.places]) for name, held in pod.items()}
        for uid, pod in entries.items()
    }
    try:
        return replay(node.memory, known)._replace(entries=known)
    except StartError:
        return initial_memory(node.memory)._replace(entries=known)


def _started(manager: str, take: Callable[[], _State], path: str) -> _State:
    """Run a manager's start; its complaint gets the words that stand around it (56)."""
    try:
        return take()
    except CheckpointError as error:
        message = (
            f"could not restore state from checkpoint: {error}, please drain this node and delete the {manager} "
            f'manager checkpoint file "{path}" before restarting Kubelet'
        )
    except StartError as error:
        message = error.message
    raise StartError(f"start {manager.lower()} manager error: {message}")
