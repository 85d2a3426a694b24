"""A kubelet that stops and starts again where pods run: they come through the whole admission once more.

docs/rules/kubelet-files.md 70 to 76. Until all have come nothing stale is collected, and a container that the runtime
says is running needs no devices from a plugin; then what no active pod holds is free.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from numalign.errors import StartError
from numalign.kubelet import node as twin
from numalign.kubelet.admission import FATAL, Outcome, Session, admit, open_session
from numalign.kubelet.cpu import checkpoint as cpu_file
from numalign.kubelet.device import checkpoint as device_file
from numalign.kubelet.device.state import unregistered
from numalign.kubelet.fit import ActivePods
from numalign.kubelet.memory import checkpoint as memory_file
from numalign.kubelet.memory.restore import overlapping
from numalign.kubelet.memory.start import OTHER_STATE, Table
from numalign.kubelet.memory.state import Block
from numalign.kubelet.node import Node, NodeState
from numalign.kubelet.setup import Setup
from numalign.kubelet.start.held_pods import holders
from numalign.kubelet.start.restore import POD_ENTRIES_GATE, StateFiles, restore
from numalign.model.cpuset import format_set, ids
from numalign.model.machine import Device
from numalign.model.pod import Pod
from numalign.values import NamedTuple


class Restarted(NamedTuple):
    """A kubelet that came up again."""

    there: Session
    pods: tuple[Outcome, ...]
    """Of those that came again, in order; none after one that the kubelet does not survive."""
    stale: NodeState
    """What pods hold before anything is collected."""


def restart(
    setup: Setup,
    node: Node,
    state: NodeState,
    pods: Sequence[Pod],
    *,
    registered: Collection[str] | None = None,
    running: Collection[tuple[str, str]] = (),
    fit_check: bool = False,
) -> Restarted:
    """Stop a kubelet and start it with what its three files say.

    Args:
        setup: the machine, settings and release from then on.
        node: the kubelet before.
        state: what its files say pods hold.
        pods: those that come again, in order.
        registered: resources whose plugins are back before the first pod comes; None: all.
        running: (pod UID, container) of those that the runtime says are running.
        fit_check: judge the node as a whole after the managers.

    Raises:
        StartError: the kubelet does not come up.
    """
    up = come_up(setup, node, state, fit_check=fit_check)
    come = tuple(readmit(up, pods, registered=registered, running=running))
    stale = _uncollected(come[-1]) if come else up.state
    there = come[-1].then.pods if come else up.pods
    ready = up._replace(state=twin.collect(up.node, stale._replace(leftovers=tuple(holders(stale)))), pods=there)
    return Restarted(ready, come, stale)


def come_up(setup: Setup, node: Node, state: NodeState, *, fit_check: bool = True) -> Session:
    """Start a kubelet with what another one's files say; no pod has come yet.

    Where the order of a Go map decides whether it comes up (docs/rules/memory-manager.md 52), it does not.

    Args:
        setup: the machine, settings and release from then on.
        node: the kubelet before.
        state: what its files say pods hold.
        fit_check: judge the node as a whole after the managers.

    Raises:
        StartError: the kubelet does not come up.
    """
    files = written(node, state)
    session = open_session(_with_held(setup, _device_entries(node, state)), fit_check=fit_check)
    return checked(session._replace(state=restore(session.node, files)))


def checked(up: Session) -> Session:
    """Return a kubelet that has its files, unless only chance makes it come up with them.

    Raises:
        StartError: memory of NUMA nodes overlaps, so that the order of a Go map decides.
    """
    if overlapping(dict(enumerate(up.state.memory.groups))):
        raise StartError(f"start memory manager error: {OTHER_STATE}")
    return up


def written(node: Node, state: NodeState) -> StateFiles:
    """Write the three files of a kubelet."""
    entries = tuple(_device_entries(node, state))
    known = {name: tuple([one.id for one in each.devices]) for name, each in node.device.resources.items()}
    return StateFiles(
        cpu_file.write(cpu_file.sealed(_cpu_checkpoint(node, state))),
        memory_file.write(memory_file.sealed(_memory_checkpoint(node, state))),
        device_file.write(device_file.sealed(device_file.DeviceCheckpoint(entries, known))),
    )


def readmit(
    up: Session,
    pods: Sequence[Pod],
    *,
    registered: Collection[str] | None = None,
    running: Collection[tuple[str, str]] = (),
) -> Iterator[Outcome]:
    """Admit the pods of a kubelet that came up: one after another, each beside all that its files say.

    Args:
        up: the kubelet with what its files say.
        pods: those that come again, in order.
        registered: resources whose plugins are back before the first pod comes; None: all.
        running: (pod UID, container) of those that the runtime says are running.
    """
    (provider, manager), *others = up.node.topology.providers
    told = manager._replace(
        running=frozenset(running),
        resources={
            name: known if registered is None or name in registered else unregistered(known)
            for name, known in manager.resources.items()
        },
    )
    topology = up.node.topology._replace(providers=((provider, told), *others))
    waiting = up._replace(
        node=up.node._replace(topology=topology),
        state=up.state._replace(pods={}, leftovers=()),
        pods=ActivePods(),
    )
    for pod in pods:
        outcome = admit(waiting, pod)
        yield outcome
        if outcome.stage in FATAL:
            return
        waiting = outcome.then._replace(state=_uncollected(outcome))


def running_of(pods: Iterable[Pod]) -> frozenset[tuple[str, str]]:
    """Name the containers that run, as (pod UID, container): init containers have ended."""
    return frozenset((pod.uid, one.name) for pod in pods for one in pod.containers if one.kind != "init")


def _uncollected(outcome: Outcome) -> NodeState:
    """What the next pod finds: a rejected pod is gone, what it holds is not."""
    return outcome.after._replace(pods=outcome.then.state.pods, leftovers=())


def _device_entries(node: Node, state: NodeState) -> Iterator[device_file.DeviceEntry]:
    """Write who holds which devices, by their ids: the places that sets count may change."""
    for uid, containers in state.device.holdings.items():
        for name, held in containers.items():
            for resource, members in held.items():
                devices: dict[int, tuple[str, ...]] = {}
                for place in ids(members):
                    one = node.device.resources[resource].devices[place]
                    for numa in one.numa_nodes or (device_file.NO_NODE,):
                        devices[numa] = (*devices.get(numa, ()), one.id)
                yield device_file.DeviceEntry(uid, name, resource, devices)


def _with_held(setup: Setup, entries: Iterable[device_file.DeviceEntry]) -> Setup:
    """Let the machine have the devices that are held though no plugin reports them any more, as sick ones."""
    devices = {resource: list(known) for resource, known in setup.machine.devices.items()}
    for entry in entries:
        there = devices.setdefault(entry.resource, [])
        names = {one.id for one in there}
        there += [Device(name, None, healthy=False) for name in entry.nodes if name not in names]
    machine = setup.machine._replace(devices={resource: tuple(known) for resource, known in devices.items()})
    return setup._replace(machine=machine)


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
