"""The amounts of what stands in the way and no decision tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from numalign.analysis.circumstances import Circumstances
from numalign.analysis.matrix import on_the_machine
from numalign.kubelet.admission import Outcome
from numalign.kubelet.demand import ResourcePairs
from numalign.kubelet.fit.check import Shortage
from numalign.model.quantity import NANO
from numalign.model.resources import unit_of
from numalign.values import NamedTuple


class Amount(NamedTuple):
    """What is asked of a resource and what there is, where no decision tells it. All in billionths."""

    resource: str
    requested: int
    used: int
    """What others have of it."""
    capacity: int
    """What pods could ever get."""


def amounts(
    outcome: Outcome, found: Circumstances, told: Mapping[str, int], looked_up: ResourcePairs = ()
) -> tuple[Amount, ...]:
    """List the amounts in the way that no decision tells.

    Args:
        outcome: the refusal.
        found: its circumstances.
        told: resource -> amount asked, of what the decision tells.
        looked_up: what the kubelet falls over, where it does.
    """
    node, state = outcome.before.node, outcome.after
    written = [of_shortage(one) for one in outcome.fit.failures if isinstance(one, Shortage)] if outcome.fit else []
    if found.cores:
        cores = found.cores
        written.append(_whole("cpu", cores.requested, cores.total - cores.available, cores.total))
    for one in found.unreadable:
        free, total = on_the_machine(node, state, one.resource)
        written.append(Amount(one.resource, one.nano, (total - free) * NANO, total * NANO))
    written += [_whole(one.resource, one.requested, 0, one.capacity) for one in found.sums]
    if not written and not told and not outcome.fit:
        for name, amount in looked_up or _asked(outcome):
            free, total = on_the_machine(node, outcome.before.state, name)
            written.append(_whole(name, amount, total - free, total))
    return tuple(dict.fromkeys(written))


def _whole(resource: str, requested: int, used: int, capacity: int) -> Amount:
    return Amount(resource, requested * NANO, used * NANO, capacity * NANO)


def of_shortage(short: Shortage) -> Amount:
    """Give the amounts of a failed check."""
    unit = unit_of(short.resource)
    return Amount(short.resource, short.requested * unit, short.used * unit, short.capacity * unit)


def _asked(outcome: Outcome) -> Iterator[tuple[str, int]]:
    """List what the container that failed asks of managers that give it out, or the whole pod."""
    demand, node = outcome.demand, outcome.before.node
    whose = next((one for one in demand.containers if one.name == outcome.result.container), None) or demand
    if whose.cpus and node.cpu.static:
        yield "cpu", whose.cpus
    for name, amount in whose.memory or ():
        if name in node.memory.places:
            yield name, amount
    yield from whose.devices
