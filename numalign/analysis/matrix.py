"""The matrix of a decision: what is asked of each resource, and what each NUMA node has of it.

Rows are resources, columns NUMA nodes, cells "free now of what could ever be there". Works for a container and, in
scope `pod`, for a whole pod, from the same answers that the kubelet merged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from numalign.analysis.holding import Handed, handed_on, memory_width
from numalign.analysis.loose import Loose, loose
from numalign.kubelet.demand import PodDemand
from numalign.kubelet.node import Decision, Node, NodeState
from numalign.kubelet.topology.hints import CANNOT_FIT, NO_PREFERENCE, HintFamily, HintList, Hints
from numalign.model.cpuset import NUMAMask, node_mask, union
from numalign.model.resources import CPU, MEMORY, is_memory
from numalign.values import NamedTuple

Verdict = Literal["enough", "together", "no", "any", "parts"]
"""What one node can do for a resource: hold all of it; only together with other nodes; nothing; for a resource that
takes no part in alignment, it does not matter; or nobody could, as parts of cores are asked."""


class Cell(NamedTuple):
    """One resource on one NUMA node. Amounts are CPUs, devices or bytes."""

    free: int
    total: int
    """What pods could ever get there: without reserved CPUs, unhealthy devices and reserved memory."""
    verdict: Verdict
    handed: int = 0
    """What the pod's init containers hand on there, beside what is free; memory only where it lies on no other node."""
    group: int = 0
    """Of memory: the mask of nodes that are used together only, with this one; 0: it may be used alone."""
    barred: int = 0
    """What is there beside `total` and the kubelet counts, too, when it looks how few nodes are enough."""


class Bound(NamedTuple):
    """NUMA nodes whose memory is held: others may use them only as this whole."""

    nodes: int
    own: tuple[str, ...]
    """Names of the pod's own containers among those that hold it."""
    others: bool
    """Other pods hold some, too."""


class Row(NamedTuple):
    """One resource."""

    resource: str
    requested: int
    cells: tuple[Cell, ...]
    """In the order of `Matrix.nodes`."""
    free: int
    """Free on the whole machine, devices without a NUMA node included."""
    width: int
    """How few nodes could hold it on an empty machine; 0: the resource has no opinion."""
    possible: bool
    """Some set of nodes holds it now; of devices that no node has, the machine does."""
    loose: Loose | None = None
    """Of devices: where they lie, each counted once."""
    bound: tuple[Bound, ...] = ()
    """Of memory: the nodes of which some is held."""
    left: int = 0
    """Of devices of which no plugin tells a node: what init containers hand on beside what is free."""

    @property
    def unplaced(self) -> bool:
        """Tell whether these are devices of which no plugin tells a node, so that any node does."""
        return all(cell.verdict == "any" for cell in self.cells)


class Matrix(NamedTuple):
    """All resources of one decision that have a say in it."""

    container: str | None
    """None: the whole pod."""
    nodes: tuple[int, ...]
    """NUMA node ids, ascending."""
    rows: tuple[Row, ...]
    """Sorted by resource name, `cpu` and `memory` first."""
    policy: str
    """The policy that held there."""
    strayed: NUMAMask = 0
    """Of an earlier container of a refused pod: nodes that its CPUs came from although others were chosen."""

    def of_parts(self) -> Matrix:
        """Say of CPUs, of which a number is asked that is no whole cores, that no node could give them."""
        rows = (
            row._replace(cells=tuple([cell._replace(verdict="parts") for cell in row.cells]))
            if row.resource == CPU
            else row
            for row in self.rows
        )
        return self._replace(rows=tuple(rows))

    def mask(self, columns: Iterable[int]) -> NUMAMask:
        """Return the mask of the nodes in some columns."""
        return sum(1 << self.nodes[column] for column in columns)

    def fits(self, column: int) -> bool:
        """Tell whether one node alone could hold everything."""
        return all(
            row.cells[column].verdict == "enough" or (row.cells[column].verdict == "any" and row.possible)
            for row in self.rows
        )


def matrix(node: Node, pod: PodDemand, decision: Decision) -> Matrix:
    """Build the matrix of a decision from the state it was taken in; without answers what is free decides alone."""
    asked = _asked(pod, decision.container)
    answers: dict[str, Hints] = {}
    for answer in decision.answers:
        answers.update(answer)
    unasked = NO_PREFERENCE if decision.answers else None
    ids = tuple(sorted(numa.id for numa in node.machine.numa_nodes))
    memory = any(is_memory(name) for name, _ in asked)
    groups = tuple(_groups(decision.state, pod.uid)) if memory else ()
    handed = tuple(handed_on(node, decision.state, pod))
    rows = [
        _bound(
            decision.state,
            _row(node, decision.state, name, amount, answers.get(name, unasked), ids),
            ids,
            [one for one in handed if one.resource == name],
            groups,
        )
        for name, amount in asked
        if name in answers or _limits(node, name) or (not decision.answers and name == CPU and node.cpu.static)
    ]
    rows.sort(key=lambda row: (row.resource not in (CPU, MEMORY), row.resource))
    return Matrix(decision.container, ids, tuple(rows), node.policy)


def _groups(state: NodeState, uid: str) -> Iterator[Bound]:
    """List the sets of nodes whose memory is held, and whether by containers of the pod."""
    own: dict[int, dict[str, None]] = {}
    others: set[int] = set()
    for each, containers in state.memory.entries.items():
        for name, blocks in containers.items():
            for block in blocks:
                own.setdefault(block.mask, {}).update({name: None} if each == uid else {})
                others |= {block.mask} if each != uid else set()
    for mask in sorted(own):
        yield Bound(mask, tuple(own[mask]), mask in others)


def _bound(state: NodeState, row: Row, ids: tuple[int, ...], left: Sequence[Handed], groups: tuple[Bound, ...]) -> Row:
    """Add to the cells of a row what init containers hand on there, and with which nodes memory is used only."""
    given = [one.per_numa for one in left]
    memory = is_memory(row.resource)
    if row.unplaced:
        amount = sum(one.amount for one in left)
        return row._replace(possible=row.free + amount >= row.requested, left=amount)
    cells = []
    for numa, cell in zip(ids, row.cells, strict=True):
        group = state.memory.groups[numa] if memory and numa < len(state.memory.groups) else 0
        more = sum(each.get(numa, 0) for each in given)
        some = more > 0 and cell.free + more < row.requested
        verdict: Verdict = "together" if some else cell.verdict
        cells.append(cell._replace(handed=more, group=group if group & (group - 1) else 0, verdict=verdict))
    row = row._replace(cells=tuple(cells), bound=groups if memory else ())
    return row._replace(possible=row.possible and (not memory or bool(left) or _together(row, ids)))


def _together(row: Row, ids: tuple[int, ...]) -> bool:
    """Tell whether nodes that may be used together have enough memory (docs/rules/memory-manager.md 23)."""
    sets = [one.nodes for one in row.bound]
    untouched = sum(1 << numa for numa in ids) & ~union(sets)
    free = dict(zip(ids, (cell.free for cell in row.cells), strict=True))
    return any(sum(free[numa] for numa in ids if mask >> numa & 1) >= row.requested for mask in (*sets, untouched))


def _asked(pod: PodDemand, container: str | None) -> list[tuple[str, int]]:
    demand = pod if container is None else next(one for one in pod.containers if one.name == container)
    asked = [("cpu", demand.cpus)] if demand.cpus else []
    return [*asked, *(demand.memory or ()), *demand.devices]


def _limits(node: Node, name: str) -> bool:
    """Tell whether a resource without a hint still belongs in the matrix: it is one that a manager hands out."""
    return name in node.device.resources or name in node.memory.places


def _row(node: Node, state: NodeState, name: str, amount: int, hints: Hints | None, ids: tuple[int, ...]) -> Row:
    amounts = [available(node, state, name, numa) for numa in ids]
    verdicts: list[Verdict] = []
    for numa, (free, _) in zip(ids, amounts, strict=True):
        offered = free >= amount if hints is None else offers(hints, 1 << numa)
        if name in node.device.resources and not node.device.resources[name].aware:
            verdicts.append("any")
        elif offered or (free >= amount and _stands_alone(state, node, name, numa)):
            verdicts.append("enough")
        elif free and free < amount:
            verdicts.append("together")
        else:
            verdicts.append("no")
    cells = tuple(
        Cell(free, total, verdict, barred=_barred(node, name, numa))
        for (free, total), verdict, numa in zip(amounts, verdicts, ids, strict=True)
    )
    everywhere = sum(cell.free for cell in cells)
    width, devices = 0, None
    if name in node.device.resources:
        resource, devices = node.device.resources[name], loose(node, state, name)
        everywhere = (resource.healthy & ~state.device.allocated.get(name, 0)).bit_count()
        width = resource.width(amount) if resource.aware else 0
    elif name == "cpu":
        width = node.cpu.minimal_width(amount)
    elif name in node.memory.places and amount:
        # Its own: memory and huge pages share their hints, so that the widest of them decides for all.
        width = memory_width(node, name, amount)
    possible = hints != CANNOT_FIT and (hints not in (None, NO_PREFERENCE) or everywhere >= amount)
    return Row(name, amount, cells=cells, free=everywhere, width=width, possible=possible, loose=devices)


def _stands_alone(state: NodeState, node: Node, name: str, numa: int) -> bool:
    """Tell whether a memory resource of a node can be used without other nodes.

    Memory and huge pages share their hints, so where one of them is short the other's say nothing.
    """
    return name in node.memory.places and state.memory.groups[numa] == 1 << numa


def offers(hints: Hints, mask: int) -> bool:
    """Tell whether a set of nodes is among a resource's hints."""
    if isinstance(hints, HintFamily):
        return hints.has(mask)
    return isinstance(hints, HintList) and any(hint.numa_affinity == mask for hint in hints)


def available(node: Node, state: NodeState, name: str, numa: int) -> tuple[int, int]:
    """Return (free now, total that pods could ever get) of a resource on one NUMA node."""
    if name == "cpu":
        own = next(one.cpus for one in node.machine.numa_nodes if one.id == numa)
        assignable = own & ~node.cpu.reserved
        return (assignable & state.cpu.default).bit_count(), assignable.bit_count()
    if name in node.device.resources:
        resource = node.device.resources[name]
        healthy = resource.on(node_mask(numa)) & resource.healthy
        return (healthy & ~state.device.allocated.get(name, 0)).bit_count(), healthy.bit_count()
    place = node.memory.places.get(name)
    if place is None:
        return 0, 0
    return state.memory.free[place][numa], node.memory.allocatable[place][numa]


def _barred(node: Node, name: str, numa: int) -> int:
    """Count the reserved CPUs of one NUMA node, or its devices that are not healthy."""
    if name == "cpu":
        return (node.cpu.reserved & next(one.cpus for one in node.machine.numa_nodes if one.id == numa)).bit_count()
    resource = node.device.resources.get(name)
    return (resource.on(node_mask(numa)) & ~resource.healthy).bit_count() if resource is not None else 0


def on_the_machine(node: Node, state: NodeState, name: str) -> tuple[int, int]:
    """Return (free now, total that pods could ever get) of a resource on all NUMA nodes and on none."""
    resource = node.device.resources.get(name)
    if resource is not None:
        free = resource.healthy & ~state.device.allocated.get(name, 0)
        return free.bit_count(), resource.healthy.bit_count()
    there = [available(node, state, name, numa.id) for numa in node.machine.numa_nodes]
    return sum(free for free, _ in there), sum(total for _, total in there)
