"""Which resources stand in the way of a refused pod: the smallest set that is still refused, and what would be next.

The kubelet's own functions are asked again, with fewer resources at a time, until the policy refuses no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import combinations

from numalign.analysis.matrix import Matrix, Row, matrix
from numalign.analysis.memory_together import joined, together_width
from numalign.kubelet import node as twin
from numalign.kubelet.admission import Outcome
from numalign.kubelet.demand import ContainerDemand
from numalign.kubelet.errors import KubeletHangError, KubeletPanicError
from numalign.kubelet.node import Decision, Node
from numalign.kubelet.topology.manager import NO_HINT
from numalign.model.cpuset import ids
from numalign.model.resources import HUGEPAGES, is_memory

MAX_RESOURCES_SEARCHED = 8
"""Among how many resources the smallest refused set is looked for; of more, all are named."""


def culprits(outcome: Outcome, table: Matrix | None) -> tuple[Row, ...]:
    """Name what stands in the way of a refused pod, as rows of the matrix of that decision."""
    if table is None:
        return ()
    if outcome.result.stage == "merge":
        return _in_the_way(outcome.before.node, outcome.result.decisions[-1], table)
    if outcome.result.stage == "allocate":
        return _not_handed_out(outcome, table)
    return ()


def next_in_the_way(outcome: Outcome, table: Matrix | None, blocking: Sequence[Row]) -> tuple[Row, ...]:
    """Find what else is refused alone: who asks for less of what is in the way only meets it next."""
    if not blocking:
        return ()
    assert table is not None  # noqa: S101 (what blocks are rows of it)
    refused = [row for row in table.rows if _short(row)]
    if outcome.result.stage == "merge" and len(blocking) == 1:
        node, decision = outcome.before.node, outcome.result.decisions[-1]
        memory, rows = _with_opinions(node, decision, table)
        refused += [row for row in rows if _refused(node, decision, [row])]
        if blocking[0] in memory:
            refused = [row for row in refused if row not in memory]
    return tuple(row for row in table.rows if row in refused and row not in blocking)


def refused_decision(outcome: Outcome) -> Decision | None:
    """Return the last decision about a pod that the managers refused; None: there is none."""
    asked = () if outcome.result.admit else decisions(outcome)
    return asked[-1] if asked else None


def decisions(outcome: Outcome) -> tuple[Decision, ...]:
    """List what the providers said, container by container or for the pod, up to a refusal.

    Under policy `none` nobody asked them, so they are asked here: what there was to choose from. A decision without
    answers is one at which they cannot be asked. A kubelet that does not survive the pod comes to no decision about
    what it falls over.
    """
    result, node = outcome.result, outcome.before.node
    if result.decisions or result.stage in ("panic", "hang"):
        return result.decisions
    found: list[Decision] = []
    for container in outcome.demand.containers:
        decision = _asked_alone(outcome, node, container)
        if decision is not None:
            found.append(decision)
        if container.name == result.container:
            break
    return tuple(found)


def _asked_alone(outcome: Outcome, node: Node, container: ContainerDemand) -> Decision | None:
    """Ask the providers about a container after the containers before it got theirs."""
    demand = outcome.demand
    earlier = demand.containers[: demand.containers.index(container)]
    state, _ = twin.admit(node, outcome.before.state, demand._replace(containers=earlier))
    if any(numa.id < 0 for numa in node.machine.numa_nodes):
        # No mask holds this node, and providers answer in masks: only policy `none`, which never asks, works here
        # (docs/rules/topology-manager.md 2.3).
        return Decision(container.name, (), NO_HINT, admit=True, state=state)
    # A policy that merges, on the state that it would have found: its verdict is not used.
    judged = node.topology._replace(policy="best-effort")
    with suppress(KubeletPanicError, KubeletHangError):
        return twin.decide(judged, state, demand, container)._replace(admit=True)
    return None


def _in_the_way(node: Node, decision: Decision, table: Matrix) -> tuple[Row, ...]:
    """Find the smallest set of resources that the policy refuses, the first one in the matrix's order."""
    memory, rows = _with_opinions(node, decision, table)
    found = tuple(rows)
    if len(rows) <= MAX_RESOURCES_SEARCHED:
        subsets = (some for size in range(1, len(rows)) for some in combinations(rows, size))
        found = next((some for some in subsets if _refused(node, decision, some)), found)
    if not any(row in memory for row in found):
        return found
    alone = len(found) == 1
    if _alone_would_do(memory[0]) if alone else _wider_together(node, memory):
        return tuple(row for row in table.rows if row in found or row in memory)
    needed = [*(row for row in found if row not in memory), *_apart(found, memory)]
    return tuple(row for row in table.rows if row in (needed if len(needed) >= len(found) else found))


def _wider_together(node: Node, memory: Sequence[Row]) -> bool:
    """Tell whether memory resources take more nodes together than each alone, where the policy minds it."""
    restricted = node.policy == "restricted"
    return restricted and together_width(node, memory) > max(row.width for row in memory)


def _with_opinions(node: Node, decision: Decision, table: Matrix) -> tuple[list[Row], list[Row]]:
    """Return the rows of memory, and the rows with hints of their own: of memory the one that needs most.

    Memory and huge pages share their hints.
    """
    names = {name for answer in decision.answers for name in answer}
    memory = [row for row in table.rows if row.resource in node.memory.places]
    memory.sort(key=lambda row: (-row.width, any(cell.verdict == "enough" for cell in row.cells)))
    return memory, [row for row in table.rows if row.resource in names and (row not in memory or row is memory[0])]


def _refused(node: Node, decision: Decision, some: Sequence[Row]) -> bool:
    """Tell whether a policy would refuse some resources if nothing else were asked."""
    hints = {name: said for answer in decision.answers for name, said in answer.items()}
    answers = ({row.resource: hints[row.resource] for row in some},)
    return not node.topology.merge(node.policy, answers, node.numa)[1]


def _short(row: Row) -> bool:
    """Tell whether the whole machine has too little of a resource, what init containers leave included.

    What they leave of memory on several nodes is in no cell, but in what the provider says.
    """
    if row.unplaced or (row.possible and is_memory(row.resource)):
        return not row.possible
    return row.free + sum(cell.handed for cell in row.cells) < row.requested


def _nodes_alone(row: Row) -> frozenset[int]:
    """Give the places of the nodes that alone have enough of a resource."""
    return frozenset(place for place, cell in enumerate(row.cells) if cell.verdict in ("enough", "any"))


def _apart(found: Sequence[Row], memory: Sequence[Row]) -> Sequence[Row]:
    """Find the fewest memory resources that have no node in common with the others in the way.

    Their hints are those of all of them together; the one that stands for them may be had where the others are.
    """
    others = [_nodes_alone(row) for row in found if row not in memory]
    subsets = (some for size in range(1, len(memory)) for some in combinations(memory, size))
    return next((some for some in subsets if not frozenset.intersection(*others, *map(_nodes_alone, some))), memory)


def _alone_would_do(row: Row) -> bool:
    """Tell whether a memory resource is refused only for what is asked beside it of other memory."""
    return row.width == 1 and any(cell.verdict == "enough" for cell in row.cells)


_PROVIDED = {"cpu": ("cpu",), "memory": ("memory", HUGEPAGES)}


def _not_handed_out(outcome: Outcome, table: Matrix) -> tuple[Row, ...]:
    """Name the resources of the manager that failed: those of which there is too little, else all of them."""
    node, provider = outcome.before.node, outcome.result.provider
    if provider == "device":
        rows = [row for row in table.rows if row.resource in node.device.resources]
        named = [row for row in rows if row.resource in outcome.message]
        return tuple(named or rows)
    rows = [row for row in table.rows if row.resource.startswith(_PROVIDED[provider])]
    own = _only_of_the_container(outcome, table) if provider == "memory" else ()
    if own:
        return own
    short = [row for row in rows if not _enough(row)]
    if not short:
        short = [row for row in rows if not _had_everywhere(row, table, outcome)]
    return tuple(short or rows)


def _enough(row: Row) -> bool:
    """Tell whether there is enough of a resource: of memory on the nodes on which init containers leave some of it."""
    there = [cell.free + cell.handed for cell in row.cells if cell.handed]
    if there and is_memory(row.resource):
        return sum(there) >= row.requested
    return row.possible and row.free >= row.requested


def _had_everywhere(row: Row, table: Matrix, outcome: Outcome) -> bool:
    """Tell whether memory is to be had on each set of nodes that may be used together, so that it is not in the way."""
    masks = joined(outcome)
    free = {numa: cell.free for numa, cell in zip(table.nodes, row.cells, strict=True)}
    return bool(masks) and all(sum(free[numa] for numa in ids(mask)) >= row.requested for mask in masks)


def _only_of_the_container(outcome: Outcome, table: Matrix) -> tuple[Row, ...]:
    """Name memory that the refused container asks for and the pod as a whole does not, and that it cannot have.

    There is too little of it, or too little on the nodes that were chosen for the whole pod.

    Huge pages that init containers alone ask for have no part in the pod's hints (docs/rules/memory-manager.md 18).
    """
    if table.container is not None:
        return ()
    [decision] = outcome.result.decisions
    alone = decision._replace(container=outcome.result.container, answers=(), state=outcome.after)
    known = {row.resource for row in table.rows}
    table = matrix(outcome.before.node, outcome.demand, alone)
    chosen = decision.hint.numa_affinity
    places = [place for place, numa in enumerate(table.nodes) if chosen is None or chosen >> numa & 1]
    own = [row for row in table.rows if row.resource not in known]
    return tuple(
        row for row in own if sum(row.cells[place].free + row.cells[place].handed for place in places) < row.requested
    )
