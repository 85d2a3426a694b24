"""Numbers that are never handed out: CPUs that are no whole cores, amounts that are no whole number of bytes."""

from __future__ import annotations

from numalign.kubelet.admission import Outcome
from numalign.model.resources import is_memory
from numalign.values import NamedTuple


class Cores(NamedTuple):
    """What `full-pcpus-only` counted."""

    requested: int
    """The refused container's own number of CPUs."""
    threads: int
    """CPUs of a core."""
    available: int
    """Free CPUs, but for those on cores that have a reserved CPU."""
    total: int
    """The same on an empty machine."""
    others: tuple[tuple[str, int], ...] = ()
    """(container, CPUs) of the pod's other containers whose numbers are no multiple of a core's either."""


class Unreadable(NamedTuple):
    """An amount that is no whole number of bytes, which the Memory Manager refuses."""

    container: str
    resource: str
    nano: int
    """In billionths of a byte."""


def counted_cores(outcome: Outcome) -> Cores | None:
    """Count whole cores as `full-pcpus-only` does; None: no container of the pod was refused by it."""
    manager, state = outcome.before.node.cpu, outcome.after.cpu
    container = next((one for one in outcome.demand.containers if one.name == outcome.result.container), None)
    if container is None:
        return None
    own = 0
    for one in outcome.before.node.machine.numa_nodes:
        own |= one.cpus
    return Cores(
        container.cpus,
        manager.topology.cpus_per_core,
        (state.default & ~manager.physically_reserved).bit_count(),
        (own & ~manager.physically_reserved).bit_count(),
        tuple(
            (one.name, one.cpus)
            for one in outcome.demand.containers
            if one is not container and one.cpus % manager.topology.cpus_per_core
        ),
    )


def unreadable_amounts(outcome: Outcome) -> tuple[Unreadable, ...]:
    """Find the amounts of memory that are no whole number of bytes, where that is what failed."""
    odd = {one.name for one in outcome.demand.containers if one.memory is None}
    if outcome.result.provider != "memory" or outcome.result.container not in odd:
        return ()
    return tuple(
        Unreadable(container.name, name, quantity.nano)
        for container in outcome.pod.containers
        if container.name in odd
        for name, quantity in container.requests.items()
        if is_memory(name) and quantity.int64 is None
    )
