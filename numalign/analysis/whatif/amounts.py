"""The largest request that would pass: for each resource, how much of it the node would give, all else the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from numalign.analysis.refusal import culprits, refused_at
from numalign.analysis.whatif.situation import Amounts, with_amounts
from numalign.kubelet.admission import Outcome, admit
from numalign.kubelet.cpu.allocate import SMT_ALIGNMENT_ERROR
from numalign.kubelet.demand import NANO
from numalign.kubelet.fit.check import Shortage
from numalign.kubelet.memory.state import MemoryManager
from numalign.kubelet.node import NodeState
from numalign.kubelet.topology.hints import masks_by_width
from numalign.model.cpuset import ids
from numalign.model.pod import Container, Pod
from numalign.model.quantity import parse, value
from numalign.model.resources import is_hugepages, is_memory, page_size

MAX_NODES_SUMMED = 8
"""How many NUMA nodes a machine may have for all sets of them to be looked at for amounts of memory."""

MAX_CONTAINERS_TRIED = 3
"""How many containers of a pod are tried for each resource."""

MAX_AMOUNTS_CHANGED = 6
"""How many amounts are changed together at most."""

MILLI = NANO // 1000


class OtherRequest(NamedTuple):
    """A request that passes, as near to the one asked as there is. Amounts in billionths."""

    amounts: Amounts
    """What to ask for instead."""
    asked: Amounts
    """What the manifest asks for, of the same."""

    @property
    def kept(self) -> float:
        """How much of the request is left, of the resource that changes most; at most 1."""
        return min([1.0, *(amount / self.asked[key] for key, amount in self.amounts.items())])


def other_requests(outcome: Outcome) -> Iterator[OtherRequest]:
    """Yield for each resource the largest smaller request that passes; if none does alone, several together."""
    found = False
    for resource in _resources(outcome.pod):
        for container in _candidates(outcome, resource):
            best = next(
                (
                    nano
                    for nano in _amounts(outcome, container, resource)
                    if _passes(outcome, container, resource, nano)
                ),
                None,
            )
            if best is not None:
                found = True
                yield _request(outcome.pod, {(container.name, resource): best})
                break
    if not found:
        together = _fitted_to_a_node(outcome) or _repaired(outcome)
        if together is not None:
            yield together


def _request(pod: Pod, amounts: Amounts) -> OtherRequest:
    requests = {container.name: container.requests for container in pod.containers}
    return OtherRequest(amounts, {(name, resource): requests[name][resource].nano for name, resource in amounts})


def _resources(pod: Pod) -> tuple[str, ...]:
    names = {name for container in pod.containers for name, amount in container.requests.items() if amount.nano > 0}
    return tuple(sorted(names, key=lambda name: ({"cpu": 0, "memory": 1}.get(name, 2), name)))


def _candidates(outcome: Outcome, resource: str) -> list[Container]:
    """Name the containers that could ask for less: the refused one first, then from the one that asks for most."""
    those = [one for one in outcome.pod.containers if resource in one.requests and one.requests[resource].nano > 0]
    refused = outcome.result.container
    return sorted(those, key=lambda one: (one.name != refused, -one.requests[resource].nano))[:MAX_CONTAINERS_TRIED]


def _passes(outcome: Outcome, container: Container, resource: str, nano: int) -> bool:
    return admit(outcome.before, with_amounts(outcome.pod, {(container.name, resource): nano})).admit


def _amounts(outcome: Outcome, container: Container, resource: str) -> Sequence[int]:
    """List the amounts worth a try instead of what a container asks for, in billionths, the nearest first."""
    asked = container.requests[resource].nano
    if is_memory(resource):
        return _memory_amounts(outcome, resource, asked)
    if asked % NANO or resource not in ("cpu", *outcome.before.node.device.resources):
        return [left for left in (_left_on_the_node(outcome, resource, asked),) if 0 < left < asked]
    most = min(asked // NANO - 1, _in_all(outcome, resource))
    fewer = [count * NANO for count in range(most, 0, -1)]
    # Where whole cores are given out, one CPU more may be all that is missing.
    return [asked + NANO, *fewer] if outcome.reason == SMT_ALIGNMENT_ERROR and resource == "cpu" else fewer


def _repaired(outcome: Outcome) -> OtherRequest | None:
    """Change what stands in the way, one resource after another, as long as the admission gets further each time."""
    amounts: dict[tuple[str, str], int] = {}
    tried = outcome
    for _ in range(MAX_AMOUNTS_CHANGED):
        change = _next_change(tried)
        if change is None:
            return None
        amounts |= change
        tried = admit(outcome.before, with_amounts(outcome.pod, amounts))
        if tried.admit:
            return _request(outcome.pod, amounts)
    return None


def _fitted_to_a_node(outcome: Outcome) -> OtherRequest | None:
    """Cut all requests of the refused container down to what one NUMA node has, so that most of them is left."""
    pod, table = outcome.pod, refused_at(outcome)
    name = (table and table.container) or (pod.containers[0].name if len(pod.containers) == 1 else None)
    if table is None or name is None:
        return None
    found = []
    for column in range(len(table.nodes)):
        cut = {
            (name, row.resource): min(row.cells[column].free, row.requested) * NANO
            for row in table.rows
            if row.cells[column].verdict in ("no", "together")
        }
        if cut and all(cut.values()) and admit(outcome.before, with_amounts(pod, cut)).admit:
            found.append(_request(pod, cut))
    return max(found, key=lambda one: one.kept, default=None)


def _next_change(outcome: Outcome) -> Amounts | None:
    """Find the nearest amount of one blocking resource with which the admission gets further."""
    for row in culprits(outcome, refused_at(outcome)):
        for container in _candidates(outcome, row.resource):
            for nano in _amounts(outcome, container, row.resource):
                change = {(container.name, row.resource): nano}
                tried = admit(outcome.before, with_amounts(outcome.pod, change))
                if tried.admit or _further(tried, outcome, row.resource):
                    return change
    return None


def _further(tried: Outcome, than: Outcome, resource: str) -> bool:
    """Tell whether an admission came to a later container, or to another resource of the same one."""
    if tried.result.admit or tried.result.container != than.result.container:
        names = [container.name for container in tried.pod.containers]
        places = [names.index(one) if one in names else -1 for one in (tried.result.container, than.result.container)]
        return tried.result.admit or places[0] > places[1]
    return resource not in [row.resource for row in culprits(tried, refused_at(tried))]


def _in_all(outcome: Outcome, resource: str) -> int:
    node = outcome.before.node
    if resource == "cpu":
        return node.machine.cpus.bit_count()
    return len(node.device.resources[resource].devices)


def _left_on_the_node(outcome: Outcome, resource: str, asked: int) -> int:
    """What the fit check would let one container ask for, in billionths; 0 where that was not what failed."""
    for failure in outcome.fit.failures if outcome.fit else ():
        if isinstance(failure, Shortage) and failure.resource == resource:
            unit = MILLI if resource == "cpu" else NANO
            return asked - (failure.requested + failure.used - failure.capacity) * unit
    return 0


def _memory_amounts(outcome: Outcome, resource: str, asked: int) -> list[int]:
    """List the amounts at which the answer can change, largest first; the last one is about the least there is.

    These are what sets of NUMA nodes have free now, or could have on an empty machine, less what other containers ask.
    """
    manager: MemoryManager = outcome.before.node.memory
    sums = {_left_on_the_node(outcome, resource, asked) // NANO}
    if resource in manager.places:
        place = manager.places[resource]
        tables = {state.memory.free[place] for state in _states(outcome)}
        free = {total for table in tables for total in _sums(manager, table)} | set(manager.widest[place])
        others = _asked_by_others(outcome, resource, asked // NANO)
        sums |= free | {total - others for total in free}
    page = _page(resource)
    found = {total - total % page for total in sums} | {page}
    return sorted((total * NANO for total in found if 0 < total * NANO < asked), reverse=True)


def _states(outcome: Outcome) -> list[NodeState]:
    """The states to look for free memory in: before the pod, and where it was refused."""
    return [outcome.before.state, *(decision.state for decision in outcome.result.decisions[-1:])]


def _sums(manager: MemoryManager, free: tuple[int, ...]) -> list[int]:
    """Add up what sets of nodes have: of all sets on small machines, else of the nodes that have most."""
    if len(manager.node_ids) <= MAX_NODES_SUMMED:
        return [sum(free[numa] for numa in ids(mask)) for mask in masks_by_width(manager.nodes)]
    return list(accumulate(sorted(free, reverse=True)))


def _asked_by_others(outcome: Outcome, resource: str, asked: int) -> int:
    """What the rest of the pod asks when it is decided as a whole."""
    demand = outcome.demand
    return max(dict(demand.memory or ()).get(resource, 0) - asked, 0)


def _page(resource: str) -> int:
    """Huge pages come in whole pages, memory in KiB."""
    return value(parse(page_size(resource))) if is_hugepages(resource) else 1024
