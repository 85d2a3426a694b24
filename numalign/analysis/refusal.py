"""Why a pod was refused: the stage, the first resource or the first few that cannot meet, and whether it is for ever.

The kubelet tells one sentence. What stands in the way is in `culprits`, what else it has to do with in `circumstances`.

Its numbers may count what was left to find: the CPU Manager first takes what is free on the chosen nodes
(docs/rules/cpu-manager.md 7.5), the Device Manager what init containers leave (docs/rules/device-manager.md 6.3).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from numalign.analysis.circumstances import Circumstances, circumstances
from numalign.analysis.crash import Crash, crash
from numalign.analysis.culprits import culprits, next_in_the_way, refused_decision
from numalign.analysis.holding import cpus_of_nodes
from numalign.analysis.in_the_way import Amount, amounts
from numalign.analysis.matrix import Matrix, Row, matrix
from numalign.analysis.memory_together import together_width
from numalign.analysis.situation import with_amounts
from numalign.kubelet.admission import Outcome, admit
from numalign.kubelet.fit.check import Shortage
from numalign.kubelet.fit.predicates import Refusal as Predicate
from numalign.kubelet.node import Decision, Node
from numalign.kubelet.topology.hints import CANNOT_FIT
from numalign.model.quantity import NANO, parse, readable_near
from numalign.model.resources import CPU
from numalign.values import NamedTuple

_NUMBERS = r"requested=(\d+), available=\d+|unavailable for (\S+)\. Requested: (\d+), Available: \d+"


class Rest(NamedTuple):
    """What was left to find of what a container asks for."""

    container: str
    resource: str
    requested: int
    left: int
    """What was still to be found: the number in the message."""
    nodes: int
    """Of CPUs: the mask of the nodes that the others came from; 0: init containers leave them."""
    sockets: int = 0
    """They came from so many sockets, of which these nodes are parts; 0: from these nodes."""
    taken: tuple[tuple[str, int], ...] = ()
    """Where nothing was found before: (container, amount) of what the pod's earlier containers had taken by then."""


def rest(outcome: Outcome) -> Rest | None:
    """Read the kubelet's message; None: it has no such numbers, or they are those of the request."""
    found = re.search(_NUMBERS, outcome.message) if outcome.result.stage == "allocate" else None
    asked = next((one for one in outcome.demand.containers if one.name == outcome.result.container), None)
    if found is None or asked is None:  # of a pod as a whole no container is named
        return None
    name = found[2] or CPU
    requested, left = asked.amount_of(name), int(found[1] or found[3])
    hint = outcome.result.hints.get(asked.name)
    nodes = (hint.numa_affinity or 0) if hint and name == CPU else 0
    told = Rest(asked.name, name, requested=requested, left=left, nodes=nodes)
    if left < requested:
        return told._replace(sockets=_sockets(outcome, nodes))
    taken = tuple(_taken(outcome, name)) if outcome.before.node.scope == "pod" else ()
    return told._replace(taken=taken) if taken else None


def _sockets(outcome: Outcome, nodes: int) -> int:
    """Count the sockets that CPUs come from, where the option for it makes them more than those of the nodes."""
    if not outcome.before.node.cpu.options.align_by_socket:
        return 0
    cpus = cpus_of_nodes(outcome.before.node, nodes)
    touched = [one for one in outcome.before.node.machine.sockets if one.cpus & cpus]
    return len(touched) if any(one.cpus & ~cpus for one in touched) else 0


def _taken(outcome: Outcome, name: str) -> Iterator[tuple[str, int]]:
    """List what earlier containers of the pod that go on running hold of CPUs or of devices."""
    uid, after = outcome.demand.uid, outcome.after
    devices = after.device.holdings.get(uid, {})
    for one in outcome.demand.containers:
        held = after.cpu.assigned(uid, one.name) if name == CPU else devices.get(one.name, {}).get(name)
        if held and one.kind != "init" and one.name != outcome.result.container:
            yield one.name, held.bit_count()


Stage = Literal["hints", "merge", "policy", "allocation", "fit", "panic", "hang"]
"""Where it went wrong. `hints`: a resource is to be had on no set of nodes. `policy`: one can be had, but never, or not
now, in the way that the policy wants; or two differ in how many nodes they need. `merge`: each alone would do, but they
do not meet. `allocation`: a manager could not hand out what was decided. `fit`: the node as a whole is too small.
`panic`, `hang`: the kubelet itself would not survive the call."""


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
        if self.around.unreadable or any(one.requested > one.capacity for one in self.amounts):
            return True
        if self.odd_cores:
            return True
        if self.stage == "policy" and len(self.culprits) > 1:
            return True
        return any(self.too_large(row) for row in self.culprits)

    def for_ever(self) -> Refusal:
        """Keep of a lasting refusal what holds at any time, for where nobody knows the state it was found in."""
        always = self._replace(around=self.around._replace(when="ever", groups=(), wider=None))
        if self.odd_cores or self.around.unreadable or (self.stage == "policy" and len(self.culprits) > 1):
            return always
        summed = {one.resource for one in self.around.sums}
        rows = tuple(row for row in self.culprits if row.resource in summed or self.too_large(row))
        return always._replace(culprits=rows, also=tuple(filter(self.too_large, self.also)))

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
    decision = refused_decision(outcome)
    table = decision and matrix(outcome.before.node, outcome.demand, decision)
    blocking = culprits(outcome, table)
    whole = table is not None and table.container is None and all(row in table.rows for row in blocking)
    also = next_in_the_way(outcome, table, blocking)
    around = circumstances(outcome, (blocking, also), whole=whole)
    told, fatal = {row.resource: row.requested for row in blocking}, crash(outcome)
    looked_up = tuple((one.resource, one.requested) for one in fatal.missing) if fatal else ()
    return Refusal(
        stage=_stage(outcome, blocking),
        reason=outcome.reason,
        message=outcome.message,
        container=result.container,
        policy=outcome.before.node.policy,
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


def _kind(node: Node, decision: Decision, culprits: Sequence[Row]) -> Stage:
    if any(answer.get(row.resource) == CANNOT_FIT for row in culprits for answer in decision.answers):
        return "hints"
    memory = [row for row in culprits if row.resource in node.memory.places]
    widths = {row.width for row in culprits if row not in memory}
    if memory:
        widths.add(together_width(node, memory))
    return "policy" if len(culprits) == 1 or (node.policy == "restricted" and len(widths) > 1) else "merge"
