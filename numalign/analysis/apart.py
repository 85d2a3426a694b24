"""Why the parts of an admitted container lie on more nodes than they need, or not with its CPUs: what was chosen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

from numalign.analysis.holding import cpus_of_nodes, handed_on
from numalign.analysis.matrix import Matrix, Row, available, matrix, offers
from numalign.kubelet.topology.hints import WithoutMask
from numalign.model.cpuset import ids
from numalign.model.resources import CPU, is_memory
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.analysis.alignment import Alignment
    from numalign.kubelet.admission import Outcome
    from numalign.kubelet.node import Decision, NodeState

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
    held: tuple[Wanted, ...] = ()
    """Memory that was free on so few, but not of nodes that may be used alone or together."""
    groups: tuple[int, ...] = ()
    """The masks of nodes whose memory is held, alone or together, where that is why; the fewest that explain it."""
    clash: bool = False
    """Each was to be had on so few nodes, but not all of it on the same ones: with `groups`, of those that may be used
    together."""


class Apart(NamedTuple):
    """What was chosen for a container, and why not less."""

    policy: str
    nodes: int | None
    """The mask of the nodes that were chosen; None: none were."""
    whole_pod: bool
    """They were chosen once, for all of several containers."""
    by_socket: bool = False
    """CPUs came from outside of them by the option `align-by-socket`."""
    outside: tuple[str, ...] = ()
    """Resources that came from outside of them, since there was too little."""
    never: tuple[str, ...] = ()
    """Those of them of which the chosen nodes have too little even on an empty machine."""
    along: tuple[str, ...] = ()
    """Memory of which the chosen nodes had enough, and that lies on others, too, as other memory has to."""
    first: tuple[Tied, ...] = ()
    """What it has of init containers from outside of them, as that is handed out first."""
    why: Chosen = Chosen()
    unused: tuple[Tied, ...] = ()
    """What init containers left to it, none of which it has."""


def apart(outcome: Outcome, container: str, judged: Alignment) -> Apart:
    """Tell how a container of an admitted pod comes to lie apart."""
    node, nodes = outcome.before.node, outcome.result.hints[container].numa_affinity
    whole = node.scope == "pod" and len(outcome.demand.containers) > 1
    if nodes is None:
        return Apart(node.policy, nodes, whole)
    elsewhere = [
        name for name, mask in judged.places.items() if mask & ~nodes and _off(outcome, container, name, nodes)
    ]
    decision = next(one for one in outcome.result.decisions if one.container in (None, container))
    short = tuple(name for name in elsewhere if not _left(outcome, container, name, nodes, decision.state))
    along = tuple(name for name in elsewhere if is_memory(name) and name not in short) * any(map(is_memory, short))
    # Without align-by-socket CPUs come from elsewhere only where there are too few.
    by_socket = CPU in elsewhere and CPU not in short
    first = tuple(one for one in _first(outcome, container, judged, nodes) if one.resource not in short)
    why = _why(outcome, decision, judged.least, nodes) if nodes.bit_count() > judged.least else Chosen()
    never = tuple(name for name in short if not _ever(outcome, container, name, nodes))
    return Apart(
        policy=node.policy,
        nodes=nodes,
        whole_pod=whole,
        by_socket=by_socket,
        outside=short,
        never=never,
        along=along,
        first=first,
        why=why,
        unused=tuple(_unused(outcome, decision, judged)),
    )


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
    return bool(members & ~resource.on(nodes) & ~resource.no_topology & ~resource.nowhere)


def _left(outcome: Outcome, container: str, name: str, nodes: int, state: NodeState) -> bool:
    """Tell whether nodes could have given a container all of a resource: it has it there, or it is left even after.

    Of memory it counts what was free before, in `state`: how much of it is taken on which node is not known after.
    """
    node, after, asked = outcome.before.node, outcome.after, _asked(outcome, container, name)
    resource = node.device.resources.get(name)
    if resource is not None:
        mine = after.device.holdings[outcome.demand.uid][container][name]
        free = resource.healthy & ~after.device.allocated[name]
        return (resource.on(nodes) & (mine | free)).bit_count() >= asked
    if is_memory(name):
        return sum(available(node, state, name, numa)[0] for numa in ids(nodes)) >= asked
    mine = after.cpu.assignments[outcome.demand.uid][container] & cpus_of_nodes(node, nodes)
    return mine.bit_count() + sum(available(node, after, name, numa)[0] for numa in ids(nodes)) >= asked


def _ever(outcome: Outcome, container: str, name: str, nodes: int) -> bool:
    """Tell whether nodes could give a container all of a resource on an empty machine."""
    node, asked = outcome.before.node, _asked(outcome, container, name)
    resource = node.device.resources.get(name)
    if resource is not None:
        return (resource.on(nodes) & resource.healthy).bit_count() >= asked
    return sum(available(node, outcome.after, name, numa)[1] for numa in ids(nodes)) >= asked


def _asked(outcome: Outcome, container: str, name: str) -> int:
    """Give how much of a resource a container asks for."""
    return next(one for one in outcome.demand.containers if one.name == container).amount_of(name)


def _why(outcome: Outcome, decision: Decision, least: int, chosen: int) -> Chosen:
    """Find what did not let a decision take as few nodes as a container needs.

    What init containers left is a reason only where it lies on the chosen nodes: best-effort may pass it over.
    """
    table = matrix(outcome.before.node, outcome.demand, decision)
    large = tuple(_wanted(row) for row in table.rows if row.width > least)
    if large or sum(comb(len(table.nodes), size) for size in range(1, least + 1)) > MAX_SETS_TRIED:
        return Chosen(large)
    few = [sum(some) for size in range(1, least + 1) for some in combinations([1 << one for one in table.nodes], size)]
    hints = {name: said for one in decision.answers for name, said in one.items() if not isinstance(said, WithoutMask)}
    rows = [row for row in table.rows if row.resource in hints]
    refused = [row for row in rows if not any(offers(hints[row.resource], mask) for mask in few)]
    having = {row.resource: [mask for mask in few if _enough(row, table, mask)] for row in rows}
    all_of_it = [mask for mask in few if all(mask in masks for masks in having.values())]
    scarce = [row for row in refused if not having[row.resource]]
    bound = [row for row in refused if row not in scarce]
    left = {one.resource: one for one in handed_on(outcome.before.node, decision.state, outcome.demand) if one.nodes}
    tied = [left[row.resource] for row in bound if row.resource in left and not left[row.resource].nodes & ~chosen]
    rest = [row for row in bound if row.resource not in left]
    blocked = {name: [_held_apart(decision.state, mask) for mask in masks] for name, masks in having.items()}
    held = [row for row in rest if all(blocked[row.resource])]
    # Memory resources have their hints together: one of them may be refused only for where another one is.
    together = [_held_apart(decision.state, mask) for mask in all_of_it]
    clash = len(held) < len(rest) and all(together)
    sets = [one for row in held for one in blocked[row.resource]] or together * clash
    return Chosen(
        tied=tuple(Tied(one.resource, one.nodes, one.containers) for one in tied),
        scarce=tuple(map(_wanted, scarce)),
        held=tuple(map(_wanted, held)),
        groups=tuple(_fewest(sets)),
        clash=clash,
    )


def _held_apart(state: NodeState, mask: int) -> set[int]:
    """Name what keeps nodes from being used for memory together, or one alone: groups of held nodes, as masks."""
    memory = state.memory
    groups = {memory.groups[numa] for numa in ids(mask) if numa < len(memory.counts) and memory.counts[numa]}
    return groups - {mask}


def _fewest(sets: Sequence[set[int]]) -> Iterator[int]:
    """Choose few groups of which there is one in each set."""
    while sets:
        most = min(set[int]().union(*sets), key=lambda group: (-sum(group in one for one in sets), group))
        yield most
        sets = [one for one in sets if most not in one]


def _enough(row: Row, table: Matrix, mask: int) -> bool:
    """Tell whether some nodes have enough of a resource free, whatever else binds it."""
    cells = [cell for numa, cell in zip(table.nodes, row.cells, strict=True) if mask >> numa & 1]
    free = sum(cell.free for cell in cells)
    if row.loose is not None:  # where a device of several nodes counts once
        free = sum(here for nodes, here, _ in row.loose.places if nodes & mask)
    return free + sum(cell.handed for cell in cells) >= row.requested


def _wanted(row: Row) -> Wanted:
    return Wanted(row.resource, row.requested)
