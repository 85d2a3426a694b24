"""Why the parts of an admitted container lie on more nodes than they need, or not with its CPUs: what was chosen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

from numalign.analysis.handed import handed_on
from numalign.analysis.matrix import Matrix, Row, available, matrix, offers
from numalign.kubelet.topology.hints import WithoutMask
from numalign.model.cpuset import ids
from numalign.model.resources import CPU
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.analysis.alignment import Alignment
    from numalign.kubelet.admission import Outcome
    from numalign.kubelet.device.state import Resource
    from numalign.kubelet.node import Decision

MAX_SETS_TRIED = 2000
"""Of up to how many sets of nodes it is looked up whether one of them would have done."""


class Wanted(NamedTuple):
    """What is asked of one resource, by a container or by a whole pod."""

    resource: str
    requested: int
    """CPUs, devices or bytes."""


class Tied(NamedTuple):
    """A resource that some nodes must take part in, since init containers leave some of it there."""

    resource: str
    nodes: int
    containers: tuple[str, ...]
    """The init containers."""


class Chosen(NamedTuple):
    """Why so many nodes were chosen."""

    large: tuple[Wanted, ...] = ()
    """Of a whole pod: what takes more nodes than the container, even of an empty machine."""
    tied: tuple[Tied, ...] = ()
    scarce: tuple[Wanted, ...] = ()
    """What was not free on as few nodes as are enough on an empty machine."""
    grouped: tuple[str, ...] = ()
    """Memory that was free on so few, but of nodes that are used only together with others, as pods hold them."""
    clash: bool = False
    """Each was to be had on so few nodes, but not all of it on the same ones."""


class Apart(NamedTuple):
    """What was chosen for a container, and why not less."""

    policy: str
    nodes: int | None
    """The mask of the nodes that were chosen; None: none were."""
    whole_pod: bool
    """They were chosen once, for all containers."""
    by_socket: bool = False
    """CPUs came from outside of them by the option `align-by-socket`."""
    outside: tuple[str, ...] = ()
    """Resources that came from outside of them, since there was too little."""
    first: tuple[Tied, ...] = ()
    """What it has of init containers from outside of them, as that is handed out first."""
    why: Chosen = Chosen()
    unused: tuple[Tied, ...] = ()
    """What init containers left to it, none of which it has."""


def apart(outcome: Outcome, container: str, judged: Alignment) -> Apart:
    """Tell how a container of an admitted pod comes to lie apart."""
    node, nodes = outcome.before.node, outcome.result.hints[container].numa_affinity
    found = Apart(node.policy_of(container), nodes, node.scope == "pod")
    if nodes is None:
        return found
    elsewhere = [
        name for name, mask in judged.places.items() if mask & ~nodes and _off(outcome, container, name, nodes)
    ]
    by_socket = CPU in elsewhere and node.cpu.options.align_by_socket
    outside = (name for name in elsewhere if not (by_socket and name == CPU))
    short = tuple(name for name in outside if not _left(outcome, container, name, nodes))
    decision = next((one for one in outcome.result.decisions if one.container in (None, container)), None)
    first = tuple(one for one in _first(outcome, container, judged, nodes) if one.resource not in short)
    wider = decision is not None and nodes.bit_count() > judged.least
    why = _why(outcome, decision, judged.least) if decision is not None and wider else Chosen()
    unused = tuple(_unused(outcome, decision, judged)) if decision is not None and decision.container else ()
    return found._replace(by_socket=by_socket, outside=short, first=first, why=why, unused=unused)


def _first(outcome: Outcome, container: str, judged: Alignment, nodes: int) -> Iterator[Tied]:
    """List devices outside of the chosen nodes that init containers left: these are handed out before all others."""
    held = outcome.after.device.holdings.get(outcome.demand.uid, {})
    inits = [one.name for one in outcome.demand.containers if one.kind == "init" and one.name != container]
    for part in judged.remote:
        if part.ids and not part.nodes & nodes:
            mine = held[container][part.resource]
            left = tuple(name for name in inits if held.get(name, {}).get(part.resource, 0) & mine)
            if left:
                yield Tied(part.resource, part.nodes, left)


def _unused(outcome: Outcome, decision: Decision, judged: Alignment) -> Iterator[Tied]:
    """List what init containers left on nodes of which a container has nothing of the same."""
    for one in handed_on(outcome.before.node, decision.state, outcome.demand):
        held = judged.places.get(one.resource, 0)
        if held and one.nodes and not held & one.nodes:
            yield Tied(one.resource, one.nodes, one.containers)


def _off(outcome: Outcome, container: str, name: str, nodes: int) -> bool:
    """Tell whether what a container holds of a resource is not all on some nodes; a device may lie on several."""
    resource = outcome.before.node.device.resources.get(name)
    if resource is None:
        return True
    members = outcome.after.device.holdings[outcome.demand.uid][container][name]
    return bool(members & ~_devices_on(resource, nodes) & ~resource.no_topology & ~resource.nowhere)


def _devices_on(resource: Resource, nodes: int) -> int:
    """Return the devices that lie on some nodes, also those that lie on others, too."""
    there = sum(resource.on_node[numa] for numa in ids(nodes) if numa < len(resource.on_node))
    return there | sum(bit for bit, span in resource.spanning if span & nodes)


def _left(outcome: Outcome, container: str, name: str, nodes: int) -> bool:
    """Tell whether nodes could have given a container all of a resource: it has it there, or it is left even after."""
    asked = next(one for one in outcome.demand.containers if one.name == container)
    amount = {CPU: asked.cpus, **dict(asked.memory or ()), **dict(asked.devices)}.get(name, 0)
    resource, had = outcome.before.node.device.resources.get(name), 0
    if resource is not None:
        members = outcome.after.device.holdings[outcome.demand.uid][container][name]
        had = (members & _devices_on(resource, nodes)).bit_count()
    return had + sum(available(outcome.before.node, outcome.after, name, numa)[0] for numa in ids(nodes)) >= amount


def _why(outcome: Outcome, decision: Decision, least: int) -> Chosen:
    """Find what did not let a decision take as few nodes as a container needs."""
    table = matrix(outcome.before.node, outcome.demand, decision)
    large = tuple(_wanted(row) for row in table.rows if row.width > least)
    if large or sum(comb(len(table.nodes), size) for size in range(1, least + 1)) > MAX_SETS_TRIED:
        return Chosen(large)
    few = [sum(some) for size in range(1, least + 1) for some in combinations([1 << one for one in table.nodes], size)]
    hints = {name: said for one in decision.answers for name, said in one.items() if not isinstance(said, WithoutMask)}
    rows = [row for row in table.rows if row.resource in hints]
    refused = [row for row in rows if not any(offers(hints[row.resource], mask) for mask in few)]
    scarce = [row for row in refused if not any(_enough(row, table, mask) for mask in few)]
    left = {one.resource: one for one in handed_on(outcome.before.node, decision.state, outcome.demand) if one.nodes}
    bound = [row.resource for row in refused if row not in scarce]
    held = {row.resource for row in refused if any(cell.group for cell in row.cells)}
    # Memory resources have their hints together: one of them may be refused only for where another one is.
    apart = [name for name in bound if name not in left and name not in held]
    return Chosen(
        tied=tuple(Tied(name, left[name].nodes, left[name].containers) for name in bound if name in left),
        scarce=tuple(map(_wanted, scarce)),
        grouped=tuple(name for name in bound if name in held and name not in left),
        clash=bool(apart)
        or (not refused and not any(all(offers(one, mask) for one in hints.values()) for mask in few)),
    )


def _enough(row: Row, table: Matrix, mask: int) -> bool:
    """Tell whether some nodes have enough of a resource free, whatever else binds it."""
    there: Sequence[int] = [cell.free + cell.handed for cell in row.cells]
    return sum(amount for numa, amount in zip(table.nodes, there, strict=True) if mask >> numa & 1) >= row.requested


def _wanted(row: Row) -> Wanted:
    return Wanted(row.resource, row.requested)
