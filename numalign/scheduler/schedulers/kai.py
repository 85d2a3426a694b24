"""KAI Scheduler with its `numa` plugin (docs/rules/scheduling.md 10)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction

from numalign.scheduler.attempt import attempt, judge, with_pod, without
from numalign.scheduler.config import SchedulerConfig
from numalign.scheduler.kai import evaluate, records
from numalign.scheduler.kai.causes import CAUSES
from numalign.scheduler.kai.evaluate import score
from numalign.scheduler.kai.records import Ledger, PlacedPod, Record
from numalign.scheduler.kai.topology import Around, KaiOptions, around, topology
from numalign.scheduler.node_fit import NodeTotals, check_totals
from numalign.scheduler.nrt.copy import Copy
from numalign.scheduler.nrt.value import NodeResourceTopology
from numalign.scheduler.record import Belief, KnownNode, PodEntry, Preemption, Scheduler, Seen
from numalign.scheduler.request import PodRequest, add
from numalign.scheduler.resources import Amounts
from numalign.scheduler.verdict import Verdict


def _opened(config: SchedulerConfig, cluster: Around, copy: Copy | None, placed: Sequence[PlacedPod]) -> Belief:
    machine = topology(copy and copy.nrt, exposed=cluster.exposed, ignored=config.kai.ignored)
    if machine is not None:
        machine = records.reconstruct(machine, placed, on=cluster.rebuilds)
    return Belief(copy, ledger=Ledger(machine, around=cluster))


def surroundings(
    options: KaiOptions, nodes: Sequence[tuple[NodeTotals, NodeResourceTopology | None, Sequence[PlacedPod]]]
) -> Around:
    """Sum up what a scheduler knows of the cluster as a whole.

    Args:
        options: the plugin's.
        nodes: of each node what it is as a bag, its object and the records of its pods.
    """
    exposed = frozenset({name for totals, _, _ in nodes for name in totals.allocatable})
    machines = [topology(nrt, exposed=exposed, ignored=options.ignored) for _, nrt, _ in nodes]
    rebuilds = any(placed for _, _, placed in nodes) if options.reconstruct is None else options.reconstruct
    return around(machines, exposed, rebuilds=rebuilds)


def _account(of: Belief | Seen) -> Ledger:
    assert of.ledger is not None  # noqa: S101 (`_opened` makes one of each node)
    return of.ledger


def _see(_: SchedulerConfig, belief: Belief) -> Seen:
    ledger = _account(belief)
    layout = belief.published and belief.published.layout
    key = layout, ledger.machine and ledger.machine.available_key
    return Seen(key, belief.published, ledger=ledger)


def _check(_: SchedulerConfig, seen: Seen, __: Amounts, pod: PodRequest) -> Verdict:
    return evaluate.check_kai(pod, _account(seen).machine)


def _score(_: SchedulerConfig, seen: Seen, pod: PodRequest) -> Fraction:
    ledger = _account(seen)
    return score(pod, ledger.machine, ledger.around)


def _bound(_: SchedulerConfig, belief: Belief, pod: PodEntry) -> Belief:
    """Charge a pod where it is predicted to be (K-11)."""
    ledger = _account(belief)
    return belief._replace(ledger=ledger.place(pod.key, pod.request) or ledger)


def _released(_: SchedulerConfig, belief: Belief, pod: PodEntry) -> Belief:
    """Give back what a pod took: what this session knows, else what its records say (K-8)."""
    ledger = _account(belief)
    taken = records.seed(pod.request, ledger.machine, pod.placed, ledger.placements.get(pod.key))
    return belief._replace(ledger=ledger._replace(placements={**ledger.placements, pod.key: taken}).free(pod.key))


def _published(
    config: SchedulerConfig, belief: Belief, copy: Copy, observed: Callable[[], Mapping[str, Record]]
) -> Belief:
    """Learn where pods really are (K-11); free amounts are the object's own only where nothing is rebuilt."""
    ledger = _account(belief)
    if ledger.machine is None or not ledger.around.rebuilds or ledger.machine.policy == "none":
        return _opened(config, ledger.around, copy, ())
    for pod, record in observed().items():
        placement = records.zones_of(ledger.machine, record)
        if placement is not None:
            ledger = ledger.free(pod).charge(pod, placement)
    return belief._replace(published=copy, ledger=ledger)


def _preempt(
    scheduler: Scheduler, config: SchedulerConfig, nodes: Sequence[KnownNode], pod: PodEntry
) -> Preemption | None:
    """Reclaim from other queues, then preempt within the pod's own."""
    for reclaim in (True, False):
        found = evict_for(scheduler, config, nodes, pod, reclaim=reclaim)
        if found is not None:
            return found
    return None


def evict_for(
    scheduler: Scheduler, config: SchedulerConfig, nodes: Sequence[KnownNode], pod: PodEntry, *, reclaim: bool
) -> Preemption | None:
    """Make room for a pod: victims go, the lowest priority first, until it fits; those that still fit come back (K-11).

    None: no set of victims is enough, so nobody goes.
    """
    deserved = config.kai.deserved
    if reclaim and not _stays_within(nodes, pod, deserved.get(pod.queue, {})):
        return None
    before = {node.node.name: node for node in nodes}
    now = dict(before)
    gone: list[tuple[str, PodEntry]] = []
    there = [(node.node.name, one) for node in nodes for one in node.pods.values()]
    for name, victim in sorted(there, key=lambda one: one[1].priority):
        if not _may_go(now.values(), victim, pod, deserved if reclaim else None):
            continue
        now[name] = without(scheduler, config, now[name], victim)
        gone.append((name, victim))
        places = list(now)
        tried = attempt(config, places, lambda place: judge(scheduler, config, now[place], pod))
        if tried.chosen is not None:
            now[tried.chosen] = with_pod(scheduler, config, now[tried.chosen], pod)
            return Preemption(tried.chosen, _stay_gone(scheduler, config, before, now, gone))
    return None


def _stay_gone(
    scheduler: Scheduler,
    config: SchedulerConfig,
    before: Mapping[str, KnownNode],
    now: dict[str, KnownNode],
    gone: Sequence[tuple[str, PodEntry]],
) -> tuple[str, ...]:
    """Let victims that still fit run on where they were, the highest priority first; name the others."""
    evicted = [victim.key for _, victim in gone]
    for name, victim in sorted(gone, key=lambda one: -one[1].priority):
        machine, was = _account(now[name].belief).machine, _account(before[name].belief)
        if not check_totals(now[name].node.totals, victim.load).passed:
            continue
        place = records.seed(victim.request, was.machine, victim.placed, was.placements.get(victim.key))
        there = machine.available if machine is not None else ()
        if any(amount > there[zone].get(one, amount) for zone, part in place.items() for one, amount in part.items()):
            continue
        back = with_pod(scheduler, config, now[name], victim)
        now[name] = back._replace(
            belief=now[name].belief._replace(ledger=_account(now[name].belief).charge(victim.key, place))
        )
        evicted.remove(victim.key)
    return tuple(evicted)


def _may_go(
    nodes: Iterable[KnownNode], victim: PodEntry, pod: PodEntry, deserved: Mapping[str, Amounts] | None
) -> bool:
    """Tell whether a running pod may be a victim; without `deserved` within its own queue only."""
    if not victim.preemptible:
        return False
    if deserved is None:
        return victim.queue == pod.queue and victim.priority < pod.priority
    if victim.queue == pod.queue:
        return False
    fair = deserved.get(victim.queue, {})
    return any(amount > fair[name] for name, amount in _held(nodes, victim.queue).items() if name in fair)


def _stays_within(nodes: Iterable[KnownNode], pod: PodEntry, fair: Amounts) -> bool:
    """Tell whether the pod's queue stays within what it deserves once the pod runs."""
    held = _held(nodes, pod.queue)
    add(held, pod.load.asked)
    return all(held[name] <= fair[name] for name, _ in pod.load.asked if name in fair)


def _held(nodes: Iterable[KnownNode], queue: str) -> dict[str, int]:
    """Add up what the pods of a queue hold."""
    total: dict[str, int] = {}
    for node in nodes:
        for pod in node.pods.values():
            if pod.queue == queue:
                add(total, pod.load.asked)
    return total


SCHEDULER = Scheduler(
    name="kai",
    title=lambda _: "kai: KAI Scheduler's numa plugin",
    opened=_opened,
    see=_see,
    check=_check,
    score=_score,
    causes=CAUSES,
    scores_nodes=False,
    bound=_bound,
    released=_released,
    published=_published,
    preempt=_preempt,
)
