"""The kubelets behind the scheduler: what a machine really holds, and what its exporter would say of it.

The one place of the simulator that looks into a node's state (docs/rules/podresources.md 22 to 28 for the amounts).
"""

from __future__ import annotations

from numalign.kubelet.admission import Outcome, Session
from numalign.model.cpuset import ids, node_mask
from numalign.model.quantity import NANO
from numalign.model.resources import CPU
from numalign.scheduler.nrt.copy import Free, Layout
from numalign.values import NamedTuple


def free(known: Layout, session: Session) -> Free:
    """Count what is free for new pods on each NUMA node: pinned CPUs, pinned memory and devices are taken off."""
    return tuple(
        [
            tuple([_free(session, zone, name) * NANO for name in names])
            for zone, names in zip(numbers(session), known.names, strict=True)
        ]
    )


def numbers(session: Session) -> list[int]:
    """Number the zones of a machine's object, in their order."""
    return sorted([node.id for node in session.node.machine.numa_nodes])


def _free(session: Session, zone: int, name: str) -> int:
    node, state = session.node, session.state
    if name == CPU:
        cpus = next(one.cpus for one in node.machine.numa_nodes if one.id == zone)
        return (cpus & state.cpu.default & node.cpu.allocatable).bit_count()
    place = node.memory.places.get(name)
    if place is not None:
        return state.memory.free[place][zone]
    resource = node.device.resources[name]
    # A device of several nodes counts on each of them.
    return (resource.on(node_mask(zone)) & resource.healthy & ~state.device.allocated.get(name, 0)).bit_count()


class Held(NamedTuple):
    """What an admitted container holds of its own."""

    name: str
    nodes: int
    """The NUMA nodes that it lies on, as a mask; devices without a node do not count."""
    preferred: bool | None
    """Whether its merged hint was preferred; None: the policy merges no hints."""


def held(outcome: Outcome) -> tuple[Held, ...]:
    """List the containers of an admitted pod that hold something of their own; plain init containers are left out."""
    node, state, uid = outcome.before.node, outcome.after, outcome.demand.uid
    result = []
    for container in outcome.demand.containers:
        if container.kind == "init":
            continue
        cpus = state.cpu.assigned(uid, container.name) or 0
        nodes = sum(node_mask(one.id) for one in node.machine.numa_nodes if one.cpus & cpus)
        for block in state.memory.blocks(uid, container.name) or ():
            nodes |= block.mask
        devices = state.device.holdings.get(uid, {}).get(container.name, {})
        for name, members in devices.items():
            nodes |= _nodes_of(outcome.before, name, members)
        if not (devices or nodes):
            continue
        hint = outcome.result.hints.get(container.name)
        result.append(Held(container.name, nodes, hint.preferred if hint and node.policy != "none" else None))
    return tuple(result)


def _nodes_of(session: Session, name: str, members: int) -> int:
    """Return the fewest nodes that devices surely lie on: each counts with its lowest one."""
    devices = session.node.device.resources[name].devices
    known = {one.id for one in session.node.machine.numa_nodes}
    result = 0
    for place in ids(members):
        nodes = [zone for zone in devices[place].numa_nodes or () if zone in known]
        if nodes and not any(result >> zone & 1 for zone in nodes):
            result |= 1 << min(nodes)
    return result
