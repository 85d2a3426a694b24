"""Why a pod was refused: the stage, the first resource or the first few that cannot meet, and whether it is for ever.

The kubelet tells one sentence. Here its own functions are asked again, with fewer resources at a time, until the policy
refuses no more: the smallest set that it still refuses is what stands in the way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Literal

from numalign.analysis.circumstances import Amount, Circumstances, amounts, circumstances, joined, together_width
from numalign.analysis.crash import Crash, crash
from numalign.analysis.matrix import Matrix, Row, matrix
from numalign.analysis.rest import Rest, rest
from numalign.analysis.whatif.situation import with_amounts
from numalign.kubelet import node as twin
from numalign.kubelet.admission import Outcome, admit
from numalign.kubelet.demand import ContainerDemand
from numalign.kubelet.errors import KubeletHangError, KubeletPanicError
from numalign.kubelet.fit.check import Shortage
from numalign.kubelet.fit.predicates import Refusal as Predicate
from numalign.kubelet.node import Decision, Node
from numalign.kubelet.topology.hints import CANNOT_FIT
from numalign.model.cpuset import ids
from numalign.model.quantity import NANO, parse, readable_near
from numalign.model.resources import CPU, HUGEPAGES
from numalign.values import NamedTuple

Stage = Literal["hints", "merge", "policy", "allocation", "fit", "panic", "hang"]
"""Where it went wrong. `hints`: a resource is to be had on no set of nodes. `policy`: one can be had, but never, or not
now, in the way that the policy wants; or two differ in how many nodes they need. `merge`: each alone would do, but they
do not meet. `allocation`: a manager could not hand out what was decided. `fit`: the node as a whole is too small.
`panic`, `hang`: the kubelet itself would not survive the call."""

MAX_RESOURCES_SEARCHED = 8
"""Among how many resources the smallest refused set is looked for; of more, all are named."""


class Refusal(NamedTuple):
    """One refusal, taken apart."""

    stage: Stage
    reason: str
    """The kubelet's own."""
    message: str
    """The kubelet's own."""
    container: str | None
    """Where it was refused; None: as a whole."""
    policy: str
    """The policy that held there."""
    matrix: Matrix | None
    """The decision at which it was refused; None where the kubelet never came to one."""
    culprits: tuple[Row, ...]
    """What stands in the way: one resource, or the smallest set that cannot meet."""
    shortages: tuple[Shortage | Predicate, ...]
    """Only with `fit`: every check that failed."""
    never: bool
    """An empty machine refuses the pod, too."""
    amounts: tuple[Amount, ...] = ()
    """What stands in the way and no decision tells."""
    around: Circumstances = Circumstances()
    """What it has to do with beside what is free."""
    also: tuple[Row, ...] = ()
    """Other resources of the same decision that would be refused alone, too."""
    crash: Crash | None = None
    """Why the kubelet does not survive the pod; None: it does."""
    empty: Refusal | None = None
    """With `never`, how an empty machine refuses it, where that says more."""
    mended: Refusal | None = None
    """How the pod is refused once its odd numbers are mended: parts of a core, parts of a byte."""
    rest: Rest | None = None
    """What the message counts, where that is not what is asked."""

    @property
    def resources(self) -> tuple[str, ...]:
        """Name the resources in the way, each once; none where a taint or a label is, or where the kubelet hangs."""
        names = [*(row.resource for row in self.culprits), *(one.resource for one in self.amounts)]
        return tuple(dict.fromkeys(names))

    @property
    def told(self) -> tuple[Amount, ...]:
        """Give the amounts of all that is in the way, those that a decision tells too."""
        return tuple(dict.fromkeys((*map(_amount, self.culprits), *self.amounts)))

    @property
    def at(self) -> str | None:
        """Name the container that this is about; None: the whole pod, also where a decision about it failed at one."""
        return self.matrix.container if self.matrix and self.culprits else self.container

    @property
    def lasting(self) -> bool:
        """Tell whether what is said here holds on an empty machine too: more is asked than there could ever be."""
        if self.around.unreadable or self.around.sums or any(one.requested > one.capacity for one in self.amounts):
            return True
        if self.odd_cores:
            return True
        if self.stage == "policy" and len(self.culprits) > 1:
            return True
        return any(self.too_large(row) for row in self.culprits)

    @property
    def odd_cores(self) -> bool:
        """Tell whether a number of CPUs was refused that is no multiple of a core's."""
        return bool(self.around.cores and self.around.cores.requested % self.around.cores.threads)

    def too_large(self, row: Row) -> bool:
        """Tell whether more of a resource is asked than there could ever be where the policy wants it."""
        totals = sorted((cell.total for cell in row.cells), reverse=True)
        if self.stage == "policy" and row.width:
            wide = self.policy == "single-numa-node" and row.width > 1
            return wide or sum(totals[: row.width]) < row.requested  # the kubelet's width counts reserved CPUs, too
        return max(sum(totals), row.free) < row.requested


def refusal(outcome: Outcome) -> Refusal:
    """Take the refusal of a pod apart."""
    now = taken_apart(outcome)
    now = now._replace(mended=_mended(outcome, now))
    alone = admit(outcome.before.empty(), outcome.pod)
    if alone.admit:
        return now
    empty = taken_apart(alone)
    empty = empty._replace(around=empty.around._replace(when="then"))
    return now._replace(never=True, empty=None if _alike(now, empty) and now.lasting else empty)


def _mended(outcome: Outcome, now: Refusal) -> Refusal | None:
    """Take apart how a pod is refused that asks for whole cores and whole bytes; None: it is not, or it does."""
    cores, asked = now.around.cores, {}
    if cores is not None and now.odd_cores:
        odd = [(now.container or "", cores.requested), *cores.others]
        asked = {(name, CPU): -(-cpus // cores.threads) * cores.threads * NANO for name, cpus in odd}
    for one in now.around.unreadable:
        near = readable_near(one.nano)
        if near:
            asked[one.container, one.resource] = parse(near[-1]).nano
    tried = admit(outcome.before, with_amounts(outcome.pod, asked)) if asked else None
    return None if tried is None or tried.admit else taken_apart(tried)


def _alike(one: Refusal, other: Refusal) -> bool:
    """Tell whether two refusals are for the same reason."""
    resources = [[row.resource for row in refusal.culprits] for refusal in (one, other)]
    return one.stage == other.stage and resources[0] == resources[1]


def taken_apart(outcome: Outcome) -> Refusal:
    """Take a refusal apart as it is now, without asking whether an empty machine would refuse, too."""
    result = outcome.result
    decision = _refused_decision(outcome)
    table = decision and matrix(outcome.before.node, outcome.demand, decision)
    blocking = culprits(outcome, table)
    whole = _of_the_whole_pod(table, blocking)
    also = _also(outcome, table, blocking)
    around = circumstances(outcome, (blocking, also), whole=whole)
    told, fatal = {row.resource: row.requested for row in blocking}, crash(outcome)
    looked_up = tuple((one.resource, one.requested) for one in fatal.missing) if fatal else ()
    return Refusal(
        stage=_stage(outcome, blocking),
        reason=outcome.reason,
        message=outcome.message,
        container=result.container,
        policy=outcome.before.node.policy_of(result.container),
        matrix=table,
        culprits=blocking,
        shortages=outcome.fit.failures if outcome.fit and result.admit else (),
        never=False,
        amounts=(*amounts(outcome, around, told, looked_up), *_in_no_table(blocking, table)),
        around=around,
        also=also,
        crash=fatal,
        rest=rest(outcome),
    )


def _of_the_whole_pod(table: Matrix | None, blocking: Sequence[Row]) -> bool:
    """Tell whether what is in the way is told by a decision about the whole pod."""
    return table is not None and table.container is None and all(row in table.rows for row in blocking)


def _in_no_table(blocking: Sequence[Row], table: Matrix | None) -> Iterator[Amount]:
    """Tell the amounts of what stands in the way and is no row of the decision."""
    known = {row.resource for row in table.rows} if table else set()
    yield from (_amount(row) for row in blocking if row.resource not in known)


def _amount(row: Row) -> Amount:
    total = sum(cell.total for cell in row.cells) if row.loose is None else row.loose.total
    return Amount(row.resource, row.requested * NANO, (total - row.free) * NANO, total * NANO)


def _stage(outcome: Outcome, blocking: Sequence[Row]) -> Stage:
    result = outcome.result
    if result.stage == "merge":
        return _kind(outcome.before.node, result.decisions[-1], blocking)
    if result.stage == "allocate":
        return "allocation"
    return result.stage or "fit"


def culprits(outcome: Outcome, table: Matrix | None) -> tuple[Row, ...]:
    """Name what stands in the way of a refused pod, as rows of the matrix of that decision."""
    if table is not None and outcome.result.stage == "merge":
        return _in_the_way(outcome.before.node, outcome.result.decisions[-1], table)
    if table is not None and outcome.result.stage == "allocate":
        return _not_handed_out(outcome, table)
    return ()


def refused_at(outcome: Outcome) -> Matrix | None:
    """Lay out the decision at which the managers refused a pod; None: they did not, or never came to one."""
    decision = _refused_decision(outcome)
    return decision and matrix(outcome.before.node, outcome.demand, decision)


def _refused_decision(outcome: Outcome) -> Decision | None:
    asked = () if outcome.result.admit else decisions(outcome)
    return asked[-1] if asked else None


def decisions(outcome: Outcome) -> tuple[Decision, ...]:
    """List what the providers said, container by container or for the pod, up to a refusal.

    Under policy `none` nobody asked them, so they are asked here: what there was to choose from. A kubelet that does
    not survive the pod comes to no decision about what it falls over.
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
    # A policy that merges, on the state that it would have found: its verdict is not used.
    judged = node.topology._replace(policy="best-effort", container_policies={})
    try:
        return twin.decide(judged, state, demand, container)._replace(admit=True)
    except (KubeletPanicError, KubeletHangError):
        return None


def _in_the_way(node: Node, decision: Decision, table: Matrix) -> tuple[Row, ...]:
    """Find the smallest set of resources that the policy refuses, the first one in the matrix's order."""
    memory, rows = _with_opinions(node, decision, table)
    found = tuple(rows)
    if len(rows) <= MAX_RESOURCES_SEARCHED:
        subsets = (some for size in range(1, len(rows)) for some in combinations(rows, size))
        found = next((some for some in subsets if _refused(node, decision, some)), found)
    if len(memory) > 1 and found == (memory[0],) and _alone_would_do(memory[0]):
        return tuple(row for row in table.rows if row in memory)
    if len(memory) > 1 and len(found) > 1 and memory[0] in found and _wider_together(node, decision, memory):
        return tuple(row for row in table.rows if row in found or row in memory)
    if len(memory) > 1 and len(found) > 1 and memory[0] in found and _somewhere_alone(found):
        needed = [*(row for row in found if row not in memory), *_apart(found, memory)]
        return tuple(row for row in table.rows if row in (needed if len(needed) >= len(found) else found))
    return found


def _wider_together(node: Node, decision: Decision, memory: Sequence[Row]) -> bool:
    """Tell whether memory resources take more nodes together than each alone, where the policy minds it."""
    restricted = node.policy_of(decision.container) == "restricted"
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
    return not twin.judge(node.topology, decision.container, ({row.resource: hints[row.resource] for row in some},))[1]


def _also(outcome: Outcome, table: Matrix | None, blocking: Sequence[Row]) -> tuple[Row, ...]:
    """Find what else is refused alone: who asks for less of what is in the way only meets it next."""
    if table is None or not blocking:
        return ()
    refused = [row for row in table.rows if _short(row)]
    if outcome.result.stage == "merge" and len(blocking) == 1:
        node, decision = outcome.before.node, outcome.result.decisions[-1]
        memory, rows = _with_opinions(node, decision, table)
        refused += [row for row in rows if _refused(node, decision, [row])]
        if blocking[0] in memory:
            refused = [row for row in refused if row not in memory]
    return tuple(row for row in table.rows if row in refused and row not in blocking)


def _short(row: Row) -> bool:
    """Tell whether the whole machine has too little of a resource, what init containers leave included."""
    return not row.possible if row.unplaced else row.free + sum(cell.handed for cell in row.cells) < row.requested


def _somewhere_alone(rows: Sequence[Row]) -> bool:
    return all(_nodes_alone(row) for row in rows)


def _nodes_alone(row: Row) -> frozenset[int]:
    """Give the places of the nodes that alone have enough of a resource."""
    return frozenset(place for place, cell in enumerate(row.cells) if cell.verdict in ("enough", "any"))


def _apart(found: Sequence[Row], memory: Sequence[Row]) -> Sequence[Row]:
    """Find the fewest memory resources that have no node in common with the others in the way.

    Their hints are those of all of them together; the one that stands for them may be had where the others are.
    """
    others = [_nodes_alone(row) for row in found if row not in memory]
    for size in range(1, len(memory) + 1):
        for some in combinations(memory, size):
            if not frozenset.intersection(*others, *map(_nodes_alone, some)):
                return some
    return ()


def _alone_would_do(row: Row) -> bool:
    """Tell whether a memory resource is refused only for what is asked beside it of other memory."""
    return row.width == 1 and any(cell.verdict == "enough" for cell in row.cells)


def _kind(node: Node, decision: Decision, culprits: Sequence[Row]) -> Stage:
    if any(answer.get(row.resource) == CANNOT_FIT for row in culprits for answer in decision.answers):
        return "hints"
    memory = [row for row in culprits if row.resource in node.memory.places]
    widths = {row.width for row in culprits if row not in memory}
    widths |= {together_width(node, memory)} if len(memory) > 1 else {row.width for row in memory}
    return (
        "policy"
        if len(culprits) == 1 or (node.policy_of(decision.container) == "restricted" and len(widths) > 1)
        else "merge"
    )


_PROVIDED = {"cpu": ("cpu",), "memory": ("memory", HUGEPAGES)}


def _not_handed_out(outcome: Outcome, table: Matrix) -> tuple[Row, ...]:
    """Name the resources of the manager that failed: those of which there is too little, else all of them."""
    node, provider = outcome.before.node, outcome.result.provider
    if provider == "device":
        rows = [row for row in table.rows if row.resource in node.device.resources]
        named = [row for row in rows if row.resource in outcome.message]
        return tuple(named or rows)
    rows = [row for row in table.rows if row.resource.startswith(_PROVIDED.get(provider, ()))]
    own = _only_of_the_container(outcome, table) if provider == "memory" else ()
    if own:
        return own
    short = [row for row in rows if not row.possible or row.free < row.requested]
    if provider == "memory" and not short:
        short = [row for row in rows if not _had_everywhere(row, table, outcome)]
    return tuple(short or rows)


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
    asked = outcome.result.decisions[-1:]
    if table.container is not None or not asked:
        return ()
    alone = asked[0]._replace(container=outcome.result.container, answers=(), state=outcome.after)
    known = {row.resource for row in table.rows}
    table = matrix(outcome.before.node, outcome.demand, alone)
    chosen = asked[0].hint.numa_affinity
    places = [place for place, numa in enumerate(table.nodes) if chosen is None or chosen >> numa & 1]
    own = [row for row in table.rows if row.resource not in known]
    return tuple(
        row for row in own if sum(row.cells[place].free + row.cells[place].handed for place in places) < row.requested
    )
