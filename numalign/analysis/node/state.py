"""What the files of a node say together, and against its machine (docs/rules/kubelet-files.md 41, 42)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress

from numalign.analysis.node.files import DEVICES
from numalign.analysis.node.finding import NodeFinding, drain_and_delete
from numalign.kubelet.checkpoint_shape import CheckpointError
from numalign.kubelet.cpu import checkpoint as cpu_file
from numalign.kubelet.cpu.checkpoint import FILE as CPU_FILE
from numalign.kubelet.device import checkpoint as device_file
from numalign.kubelet.memory import checkpoint as memory_file
from numalign.kubelet.memory.checkpoint import FILE as MEMORY_FILE
from numalign.kubelet.memory.restore import overlapping_groups
from numalign.kubelet.node import Node, NodeState
from numalign.kubelet.start.held_pods import holders
from numalign.kubelet.start.restore import StateFiles
from numalign.model.cpuset import format_set

Named = Callable[[str], str]
"""UID -> how people call the pod."""


def state_findings(
    node: Node, state: NodeState, files: StateFiles, active: Collection[str] | None, named: Named, root: str
) -> Iterator[NodeFinding]:
    """Judge what the files say of a node.

    Args:
        node: the started node.
        state: what the files say, checked by nobody.
        files: the files themselves.
        active: UIDs of the pods that are there; None: not known.
        named: writes a pod's name.
        root: the kubelet's root directory.
    """
    if node.cpu.static and _is_static(files.cpu):
        yield from _cpus(node, state, named, f"{root}/{CPU_FILE}")
    if files.memory is not None:
        yield from _memory(node, files.memory, f"{root}/{MEMORY_FILE}")
    if node.cpu.static and node.memory.policy == "Static" and files.memory is not None:
        yield from _without_memory(state, active, named, f"{root}/{MEMORY_FILE}")
    if files.devices is not None:
        yield from _devices(files.devices, named)
    if active is not None:
        yield from _leftovers(state, active, root)


def _is_static(text: str | None) -> bool:
    """Tell whether a CPU file says anything of CPUs: that of policy none has no pool."""
    try:
        return text is not None and cpu_file.inspect(text)[0].policy == "static"
    except CheckpointError:
        return True


def _cpus(node: Node, state: NodeState, named: Named, path: str) -> Iterator[NodeFinding]:
    union = state.cpu.default
    holder: dict[int, str] = {}
    for uid, containers in sorted(state.cpu.assignments.items()):
        of_pod = 0
        for name, cpus in sorted(containers.items()):
            of_pod |= cpus
            both = cpus & state.cpu.default
            if both:
                text = f"CPUs {format_set(both)} of {named(uid)}/{name} are also in the shared pool"
                yield NodeFinding("cpu-in-pool", "error", path, text, drain_and_delete(path))
        for other, pod in holder.items():
            if other & of_pod:
                text = f"CPUs {format_set(other & of_pod)} belong to {pod} and to {named(uid)}"
                yield NodeFinding("cpu-twice", "warning", path, text, "end one of the pods")
        holder[of_pod] = named(uid)
        union |= of_pod
    for uid, cpus in sorted(state.cpu.pods.items()):
        union |= cpus
        if uid not in state.cpu.assignments:
            whose = f"CPUs {format_set(cpus)} belong to {named(uid)}, but no container holds any"
            text = f"{whose}: the kubelet never frees these CPUs"
            yield NodeFinding("cpu-lost", "warning", path, text, drain_and_delete(path))
    missing, foreign = node.cpu.all_cpus & ~union, union & ~node.cpu.topology.cpus
    if missing:
        text = f"CPUs {format_set(missing)} are in no pool and belong to no container"
        yield NodeFinding("cpu-nowhere", "error", path, text, drain_and_delete(path))
    if foreign:
        text = f"CPUs {format_set(foreign)} are not online on this machine"
        yield NodeFinding("cpu-offline", "error", path, text, f"bring these CPUs online, or {drain_and_delete(path)}")


def _memory(node: Node, text: str, path: str) -> Iterator[NodeFinding]:
    try:
        found, _ = memory_file.inspect(text, node.kubelet.version)
    except CheckpointError:
        return
    manager = node.memory
    for number, record in found.nodes.items():
        for resource, table in record.tables.items():
            place = manager.places.get(resource)
            if place is None or number not in manager.node_ids:
                continue
            total = manager.total[place][number]
            if table.total != total:
                had = f"NUMA node {number} had {table.total} bytes of {resource}"
                message = f"{had}, this machine has {total}: the kubelet would not restart"
                yield NodeFinding("memory-total-differs", "error", path, message, drain_and_delete(path))
    for number, other in overlapping_groups(found):
        message = f"the groups of NUMA nodes {number} and {other} overlap without being equal"
        yield NodeFinding("memory-groups-overlap", "error", path, message, drain_and_delete(path))


def _without_memory(state: NodeState, active: Collection[str] | None, named: Named, path: str) -> Iterator[NodeFinding]:
    """Tell of pods with CPUs and no memory; one that is gone is told as such."""
    for uid in sorted(state.cpu.assignments):
        if uid not in state.memory.entries and (active is None or uid in active):
            text = f"{named(uid)} has exclusive CPUs and no memory: the pod was rejected late, or has ended"
            yield NodeFinding(
                "cpu-without-memory", "info", path, text, "check that the pod runs; if not, nothing to do"
            )


def _devices(text: str, named: Named) -> Iterator[NodeFinding]:
    found = None
    with suppress(CheckpointError):
        found = device_file.inspect(text)
    holder: dict[tuple[str, str], str] = {}
    for entry in (found.entries or ()) if found else ():
        healthy = frozenset(found.registered.get(entry.resource, ())) if found else frozenset()
        for device in entry.nodes:
            if device not in healthy:
                what = f"{entry.resource} {device} of {named(entry.uid)}"
                message = f"{what} is not registered: unhealthy, or its device plugin has stopped"
                yield NodeFinding("device-not-registered", "warning", DEVICES, message, "check the device plugin")
            other = holder.setdefault((entry.resource, device), entry.uid)
            if other != entry.uid:
                message = f"{entry.resource} {device} belongs to {named(other)} and to {named(entry.uid)}"
                yield NodeFinding("device-twice", "warning", DEVICES, message, "end one of the pods")


def _leftovers(state: NodeState, active: Collection[str], root: str) -> Iterator[NodeFinding]:
    """Say what pods that are gone still hold, and until when (41)."""
    for uid in holders(state):
        if uid in active:
            continue
        for held, file, until in (
            (uid in state.cpu.assignments, f"{root}/{CPU_FILE}", "the next reconcile, at most about 10 s"),
            (
                uid in state.memory.entries,
                f"{root}/{MEMORY_FILE}",
                "the next admission of a Guaranteed pod",
            ),
            (uid in state.device.holdings, DEVICES, "the next device allocation"),
        ):
            if held:
                text = f"pod {uid} has ended; the kubelet removes the entry at {until}"
                yield NodeFinding(
                    "leftover",
                    "info",
                    file,
                    text,
                    "none needed: the kubelet removes the entry (check again after 10 s)",
                )
