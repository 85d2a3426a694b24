"""The largest request that would pass: for each resource, how much of it the node would give, all else the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from numalign.analysis.culprits import refused_at
from numalign.analysis.whatif.cuts import may_pin
from numalign.analysis.whatif.situation import ContainerAmounts, with_amounts
from numalign.kubelet.admission import Outcome, admits
from numalign.kubelet.cpu.allocate import SMT_ALIGNMENT_ERROR
from numalign.kubelet.fit.check import Shortage, check
from numalign.kubelet.memory.state import MemoryManager
from numalign.kubelet.node import NodeState
from numalign.kubelet.topology.hints import masks_by_width
from numalign.model.cpuset import ids
from numalign.model.pod import Container, Pod
from numalign.model.quantity import MEBI, MILLI, NANO, parse, value
from numalign.model.resources import CPU, is_hugepages, is_memory, page_size
from numalign.values import NamedTuple

MAX_NODES_SUMMED = 8
"""How many NUMA nodes a machine may have for all sets of them to be looked at for amounts of memory."""

MAX_CONTAINERS_TRIED = 3
"""How many containers of a pod are tried for each resource."""

LARGE = 1024 * MEBI
"""From so much on, memory is asked for in whole MiB."""


class OtherRequest(NamedTuple):
    """A request that passes, as near to the one asked as there is. Amounts in billionths."""

    amounts: ContainerAmounts
    """What to ask for instead."""
    asked: ContainerAmounts
    """What the manifest asks for, of the same."""

    @property
    def kept(self) -> float:
        """How much of the request is left, of the resource that changes most; at most 1."""
        return min([1.0, *(amount / self.asked[key] for key, amount in self.amounts.items())])

    @property
    def grown(self) -> float:
        """How much of the request is new, of the resource that grows most; 0: nothing grows."""
        return max([0.0, *(1 - self.asked[key] / amount for key, amount in self.amounts.items() if amount)])


def other_requests(outcome: Outcome) -> Iterator[OtherRequest]:
    """Yield for each resource the largest smaller request that passes; of a device or huge pages it may be none."""
    over = _too_much(outcome)
    for resource in _resources(outcome.pod):
        for container in _candidates(outcome, resource):
            amounts = _amounts(outcome, container, resource, over.get(resource, 0))
            passing = (nano for nano in amounts if _passes(outcome, container, resource, nano))
            best = next(passing, None)
            if best is not None:
                yield _request(outcome.pod, {(container.name, resource): best})
                less = next(passing, None) if resource == CPU and best > container.requests[resource].nano else None
                if less is not None:  # the whole cores above and those below
                    yield _request(outcome.pod, {(container.name, resource): less})
                break


def wider_requests(outcome: Outcome) -> Iterator[OtherRequest]:
    """Ask for more CPUs or memory, so that they take as many nodes as what needs most of them.

    Under `restricted` a pod with eight GPUs on two nodes and a few CPUs is refused for ever: the CPUs would fit one.
    """
    table, pod = refused_at(outcome), outcome.pod
    if table is None or outcome.result.stage != "merge":
        return
    widest = max((row.width for row in table.rows), default=0)
    raised: dict[tuple[str, str], int] = {}
    for row in table.rows:
        if 0 < row.width < widest and (row.resource == "cpu" or is_memory(row.resource)):
            most = _candidates(outcome, row.resource)
            if most and (least := _least_of_width(outcome, row.resource, widest)) is not None:
                old = most[0].requests[row.resource].nano
                raised[most[0].name, row.resource] = old + (least - row.requested) * NANO
    if raised and admits(outcome.before, with_amounts(pod, raised)):
        yield _request(pod, raised)


def _least_of_width(outcome: Outcome, resource: str, width: int) -> int | None:
    """Find the smallest amount that takes so many nodes on an empty machine; None: no amount does."""
    node = outcome.before.node
    if resource != "cpu":
        page = _page(resource)
        return (node.memory.widest[node.memory.places[resource]][width - 2] // page + 1) * page
    cores = node.cpu.topology.cpus_per_core if node.cpu.options.full_pcpus_only else 1
    total = _in_all(outcome, resource)
    return next((many for many in range(cores, total + 1, cores) if node.cpu.minimal_width(many) >= width), None)


def _request(pod: Pod, amounts: ContainerAmounts) -> OtherRequest:
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
    return admits(outcome.before, with_amounts(outcome.pod, {(container.name, resource): nano}))


def _amounts(outcome: Outcome, container: Container, resource: str, over: int) -> Sequence[int]:
    """List the amounts worth a try instead of what a container asks for, in billionths, the nearest first.

    `over` is how much of it is too much for the node as a whole; 0: none.
    """
    asked = container.requests[resource].nano
    left = asked - over if over else 0
    if is_memory(resource):
        return _memory_amounts(outcome, resource, asked, left)
    devices = outcome.before.node.device.resources
    pinned = may_pin(outcome.before, outcome.pod)
    if asked % NANO or resource not in (*[CPU] * pinned, *devices):
        return [left] if 0 < left < asked else []
    most = min(asked // NANO - 1, _in_all(outcome, resource))
    # A device can be left out; CPUs and memory cannot.
    fewer = [count * NANO for count in range(most, -1 if resource in devices else 0, -1)]
    # Where whole cores are given out, a CPU more may be all that is missing.
    core = outcome.before.node.cpu.topology.cpus_per_core * NANO
    more = [-(-asked // core) * core] if outcome.reason == SMT_ALIGNMENT_ERROR and resource == CPU else []
    return [*more, *fewer]


def _in_all(outcome: Outcome, resource: str) -> int:
    node = outcome.before.node
    if resource == "cpu":
        return node.machine.cpus.bit_count()
    return len(node.device.resources[resource].devices)


def _too_much(outcome: Outcome) -> dict[str, int]:
    """Count of each resource how much more the pod asks for than the node as a whole has left, in billionths."""
    view = outcome.before.view
    failures = check(outcome.pod, outcome.before.pods, view).failures if view is not None else ()
    return {
        one.resource: (one.requested + one.used - one.capacity) * (MILLI if one.resource == CPU else NANO)
        for one in failures
        if isinstance(one, Shortage)
    }


def _memory_amounts(outcome: Outcome, resource: str, asked: int, left: int) -> list[int]:
    """List the amounts at which the answer can change, largest first; the last one is about the least there is.

    These are what sets of NUMA nodes have free now, or could have on an empty machine, less what other containers ask,
    and what is `left` of the node as a whole.
    """
    manager: MemoryManager = outcome.before.node.memory
    sums = {left // NANO}
    if resource in manager.places:
        place = manager.places[resource]
        tables = {state.memory.free[place] for state in _states(outcome)}
        free = {total for table in tables for total in _sums(manager, table)} | set(manager.widest[place])
        others = _asked_by_others(outcome, resource, asked // NANO)
        sums |= free | {total - others for total in free}
    page = _page(resource)
    found = {total - total % (MEBI if total >= LARGE else page) for total in sums} | {page}
    least = -1 if is_hugepages(resource) else 0  # huge pages can be left out
    smaller = sorted((total * NANO for total in (*found, 0) if least < total * NANO < asked), reverse=True)
    if asked % NANO:
        below = asked // (MEBI * NANO)
        return [(below + 1) * MEBI * NANO, below * MEBI * NANO, *smaller]
    return smaller


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
