"""What is still free on a node, NUMA node by NUMA node, and the largest pod that would be aligned there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from numalign.analysis.alignment import aligned
from numalign.errors import StartError
from numalign.kubelet.admission import Session, admit
from numalign.kubelet.setup import Setup
from numalign.kubelet.start.take_over import take_over
from numalign.kubelet.topology.options import POLICIES
from numalign.model.apiserver.defaulting import read_pod
from numalign.model.cpuset import node_mask
from numalign.model.pod import Pod
from numalign.model.resources import MEMORY
from numalign.values import NamedTuple


class Room(NamedTuple):
    """What is free on one NUMA node."""

    node: int
    cpus: int
    """CPUs that can still be given out exclusively, as a set."""
    reserved: int
    """CPUs that are never given out."""
    total_cpus: int
    """All CPUs of the node, as a set."""
    memory: Mapping[str, tuple[int, int]]
    """Resource -> (free, allocatable) bytes; only with memory manager `Static`."""
    devices: Mapping[str, tuple[int, int]]
    """Resource -> (free, all) healthy devices; one of several nodes counts on each."""
    largest: int
    """CPUs of the largest Guaranteed container that can be aligned here, with as much memory as is free."""


def no_larger(found: tuple[Room, ...], largest: int | None) -> tuple[Room, ...]:
    """Let no NUMA node promise more than the largest pod of the node's policy; None: it is not known."""
    return found if largest is None else tuple([room._replace(largest=min(room.largest, largest)) for room in found])


def rooms(session: Session) -> tuple[Room, ...]:
    """Say what is free on each NUMA node."""
    node, state = session.node, session.state
    free = state.cpu.default & ~node.cpu.reserved if node.cpu.static else 0
    found = []
    for numa in sorted(node.machine.numa_nodes, key=lambda one: one.id):
        memory = {
            name: (state.memory.free[place][numa.id], node.memory.allocatable[place][numa.id])
            for place, name in enumerate(node.memory.resources)
            if node.memory.offered[place] >> numa.id & 1
        }
        found.append(
            Room(
                node=numa.id,
                cpus=free & numa.cpus,
                reserved=node.cpu.reserved & numa.cpus,
                total_cpus=numa.cpus,
                memory=memory,
                devices=_devices(session, numa.id),
                largest=0 if _no_memory(session, numa.id, memory) else _whole(session, free & numa.cpus),
            )
        )
    return tuple(found)


def _devices(session: Session, numa: int) -> dict[str, tuple[int, int]]:
    found = {}
    for name, resource in sorted(session.node.device.resources.items()):
        taken = session.state.device.allocated.get(name, 0)
        here = resource.on(node_mask(numa)) & resource.healthy
        if here:
            found[name] = ((here & ~taken).bit_count(), here.bit_count())
    return found


def _no_memory(session: Session, numa: int, memory: Mapping[str, tuple[int, int]]) -> bool:
    """Tell whether no pod may have memory of a node alone: none is free, or it is in use together with another's."""
    groups = session.state.memory.groups
    together = 0 <= numa < len(groups) and groups[numa].bit_count() > 1
    return together or (MEMORY in memory and not memory[MEMORY][0])


def _whole(session: Session, free: int) -> int:
    """Count the free CPUs of a node that one container could have: with `full-pcpus-only` whole cores alone count."""
    manager = session.node.cpu
    if not manager.options.full_pcpus_only:
        return free.bit_count()
    return sum(core.bit_count() for core in manager.topology.cores.values() if core & free == core)


def largest_by_policy(setup: Setup, there: Session, limit: int, policies: Iterable[str] = POLICIES) -> dict[str, int]:
    """Find for each policy how many CPUs the largest Guaranteed pod may ask for that is admitted and aligned now.

    Args:
        setup: the node's kubelet; only its policy is changed.
        there: the node as it is.
        limit: the most CPUs that are free on one NUMA node; no pod that is aligned there asks for more.
        policies: those that are asked about.
    """
    if not there.node.cpu.static:
        return {}
    found = {}
    for policy in policies:
        tried = setup._replace(config=setup.config._replace(topology_manager_policy=policy))
        try:
            session = take_over(tried, there)
        except StartError:
            continue
        sizes = () if _is_full(session) else range(limit, 0, -1)
        found[policy] = next((cpus for cpus in sizes if _aligned(session, _pod(cpus))), 0)
    return found


def _is_full(session: Session) -> bool:
    """Tell whether the node as a whole has no room for any pod, so that no size has to be tried."""
    outcome = admit(session, _pod(1))
    return outcome.fit is not None and not outcome.fit.admit


def _pod(cpus: int) -> Pod:
    limits = {"cpu": str(cpus), "memory": "1Mi"}
    return read_pod(
        {
            "metadata": {"name": "largest", "namespace": "numalign", "uid": "numalign/largest"},
            "spec": {"containers": [{"name": "c", "resources": {"limits": limits}}]},
        }
    )


def _aligned(session: Session, pod: Pod) -> bool:
    outcome = admit(session, pod)
    return outcome.admit and bool(aligned(outcome))
