"""A kubelet that stops and starts again where pods run: they come through the whole admission once more.

docs/rules/kubelet-files.md 70 to 76. Until all have come nothing stale is collected, and a container that the runtime
says is running needs no devices from a plugin; then what no active pod holds is free.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from numalign.kubelet import node as twin
from numalign.kubelet.cpu import checkpoint as cpu_file
from numalign.kubelet.demand import PodDemand
from numalign.kubelet.device import checkpoint as device_file
from numalign.kubelet.device.state import device_ids
from numalign.kubelet.memory import checkpoint as memory_file
from numalign.kubelet.memory.start import Table
from numalign.kubelet.memory.state import Block
from numalign.kubelet.node import AdmitResult, Node, NodeState
from numalign.kubelet.setup import Setup
from numalign.kubelet.start.held_pods import holders
from numalign.kubelet.start.restore import POD_ENTRIES_GATE, restore_cpu, restore_memory
from numalign.model.cpuset import format_set, ids
from numalign.model.machine import Device
from numalign.model.pod import Pod
from numalign.values import NamedTuple


class Readmitted(NamedTuple):
    """One pod that came again."""

    pod: Pod
    demand: PodDemand
    result: AdmitResult
    after: NodeState
    """The node behind its admission."""


class Restarted(NamedTuple):
    """A kubelet that came up again."""

    node: Node
    state: NodeState
    pods: tuple[Readmitted, ...]


def restart(
    setup: Setup,
    node: Node,
    state: NodeState,
    pods: Sequence[Pod],
    *,
    registered: Collection[str] | None = None,
    running: Collection[tuple[str, str]] = (),
) -> Restarted:
    """Stop a kubelet and start it with what its three files say.

    Args:
        setup: the machine, settings and release from then on.
        node: the kubelet before.
        state: what pods hold.
        pods: those that come again, in order.
        registered: resources whose plugins are back before the first pod comes; None: all.
        running: (pod UID, container) of those that the runtime says are running.

    Raises:
        StartError: the kubelet does not come up.
    """
    entries = list(_device_entries(node, state))
    full = _with_held(setup, entries)
    early = full._replace(machine=full.machine._replace(devices=_back(full.machine.devices, registered)))
    waiting, _ = twin.start(early)
    waiting = _told_running(waiting, frozenset(running))
    now = NodeState(
        (
            device_file.restore(waiting.device, entries),
            restore_cpu(waiting, cpu_file.write(cpu_file.sealed(_cpu_checkpoint(node, state)))),
            restore_memory(waiting, memory_file.write(memory_file.sealed(_memory_checkpoint(node, state)))),
        )
    )
    come = []
    for pod in pods:
        read, demand = waiting.read_pod(pod)
        now, result = twin.admit(waiting, now, demand)
        now = now._replace(leftovers=())
        come.append(Readmitted(read, demand, result, now))
        if result.stage in ("panic", "hang"):
            break
    ready, _ = twin.start(full)
    over = tuple(uid for uid in holders(now) if uid not in now.pods)
    return Restarted(ready, twin.collect(ready, now._replace(leftovers=over)), tuple(come))


def _told_running(node: Node, running: frozenset[tuple[str, str]]) -> Node:
    (provider, manager), *others = node.topology.providers
    topology = node.topology._replace(providers=((provider, manager._replace(running=running)), *others))
    return node._replace(topology=topology)


def _device_entries(node: Node, state: NodeState) -> Iterator[device_file.DeviceEntry]:
    """Write who holds which devices, by their ids: the places that sets count may change."""
    for uid, containers in state.device.holdings.items():
        for name, held in containers.items():
            for resource, members in held.items():
                named = tuple(device_ids(node.device.resources[resource], members))
                yield device_file.DeviceEntry(uid, name, resource, None, named)


def _with_held(setup: Setup, entries: Sequence[device_file.DeviceEntry]) -> Setup:
    """Let the machine have the devices that are held though no plugin reports them any more, as sick ones."""
    devices = {resource: list(known) for resource, known in setup.machine.devices.items()}
    for entry in entries:
        there = devices.setdefault(entry.resource, [])
        names = {one.id for one in there}
        there += [Device(name, None, healthy=False) for name in entry.nodes if name not in names]
    machine = setup.machine._replace(devices={resource: tuple(known) for resource, known in devices.items()})
    return setup._replace(machine=machine)


def _back(
    devices: Mapping[str, tuple[Device, ...]], registered: Collection[str] | None
) -> dict[str, tuple[Device, ...]]:
    """Leave the devices without health and place whose plugin has not registered yet."""
    return {
        resource: known
        if registered is None or resource in registered
        else tuple([Device(one.id, None, healthy=False) for one in known])
        for resource, known in devices.items()
    }


def _cpu_checkpoint(node: Node, state: NodeState) -> cpu_file.CPUCheckpoint:
    cpu = state.cpu
    return cpu_file.CPUCheckpoint(
        "with podEntries" if node.gate(POD_ENTRIES_GATE) else "current",
        node.cpu.policy,
        format_set(cpu.default) if node.cpu.static else "",
        {uid: {name: format_set(cpus) for name, cpus in held.items()} for uid, held in cpu.assignments.items()},
        pod_entries=cpu.pods,
    )


def _memory_checkpoint(node: Node, state: NodeState) -> memory_file.MemoryCheckpoint:
    manager, memory = node.memory, state.memory
    nodes = {
        number: memory_file.FileNode(
            memory.counts[number],
            tuple(ids(memory.groups[number])),
            {
                resource: Table(
                    manager.total[place][number],
                    manager.system_reserved[place][number],
                    manager.allocatable[place][number],
                    memory.reserved[place][number],
                    memory.free[place][number],
                )
                for place, resource in enumerate(manager.resources)
                if manager.offered[place] >> number & 1
            },
        )
        for number in manager.node_ids
    }
    return memory_file.MemoryCheckpoint(
        "with podEntries" if node.gate(POD_ENTRIES_GATE) else "current",
        manager.policy,
        nodes,
        {uid: {name: _blocks(held) for name, held in pod.items()} for uid, pod in memory.entries.items()},
        {uid: _blocks(held) for uid, held in memory.pods.items()},
    )


def _blocks(held: Sequence[Block]) -> tuple[memory_file.FileBlock, ...]:
    return tuple([memory_file.FileBlock(tuple(ids(one.mask)), one.type, one.size) for one in held])
