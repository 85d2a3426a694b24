"""One whole scheduling cycle of KAI, as far as NUMA nodes decide it (docs/rules/scheduling.md K-11).

Every action runs job by job. *allocate* binds what fits. *preempt* and *reclaim* take victims off, the lowest priority
first, until the job fits; victims that still fit beside it come back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Literal

from numalign.scheduler.kai.evaluate import ZoneAmounts
from numalign.scheduler.kai.ledger import Ledger
from numalign.scheduler.kai.score import score
from numalign.scheduler.request import PodRequest, node_level
from numalign.scheduler.resources import Amounts
from numalign.values import NamedTuple

Action = Literal["allocate", "consolidation", "reclaim", "preempt"]
JobState = Literal["bound", "pending", "running", "evicted", "waits_for_eviction"]


class Job(NamedTuple):
    """A job of one pod."""

    name: str
    queue: str
    priority: int
    preemptible: bool
    request: PodRequest
    running_on: str | None = None


class Standing(NamedTuple):
    """Where a job is."""

    state: JobState
    node: str | None = None


class Session(NamedTuple):
    """What a cycle has come to."""

    ledgers: Mapping[str, Ledger]
    """Machine -> its account; a machine without NRT has one without zones and policy `none`."""
    free: Mapping[str, Amounts]
    """Machine -> what is free of its total."""
    standings: Mapping[str, Standing]

    def zones(self, job: str) -> ZoneAmounts:
        """Return the zones that a job takes."""
        node = self.standings[job].node
        return self.ledgers[node].placements.get(job, {}) if node else {}


def open_session(
    ledgers: Mapping[str, Ledger],
    total: Mapping[str, Amounts],
    jobs: Iterable[Job],
    observed: Mapping[str, ZoneAmounts],
) -> Session:
    """Start a cycle.

    Args:
        ledgers: the machines, their free amounts rebuilt.
        total: machine -> its node-level allocatable.
        jobs: all jobs, running ones included.
        observed: running job -> its placement, already taken off.
    """
    session = Session(ledgers, total, {})
    for job in jobs:
        standing = Standing("running", job.running_on) if job.running_on else Standing("pending")
        session = session._replace(standings={**session.standings, job.name: standing})
        if job.running_on:
            ledger = session.ledgers[job.running_on]
            ledger = ledger._replace(placements={**ledger.placements, job.name: observed.get(job.name, {})})
            session = _with(session, job.running_on, ledger, node_level(job.request), -1)
    return session


def run(session: Session, jobs: Sequence[Job], actions: Iterable[Action], deserved: Mapping[str, Amounts]) -> Session:
    """Run a cycle.

    Args:
        session: the start.
        jobs: all jobs.
        actions: what KAI does, in order. *consolidation* moves nothing here.
        deserved: queue -> what it deserves.
    """
    by_priority = sorted(jobs, key=lambda job: -job.priority)
    for action in actions:
        for job in by_priority:
            if session.standings[job.name].state != "pending":
                continue
            if action == "allocate":
                session = _allocate(session, job, "bound") or session
            elif action in ("preempt", "reclaim"):
                session = _evict_for(session, job, jobs, action == "reclaim", deserved) or session
    return session


def _allocate(session: Session, job: Job, state: JobState) -> Session | None:
    """Put a job onto the machine with the best score, the first on ties; None: none takes it."""
    asked = node_level(job.request)
    topologies = {name: ledger.machine for name, ledger in session.ledgers.items()}
    best: tuple[Fraction, str, Ledger] | None = None
    for name, ledger in session.ledgers.items():
        if any(amount > session.free[name].get(resource, 0) for resource, amount in asked.items()):
            continue
        placed = ledger.place(job.name, job.request)
        if placed is None:
            continue
        points = score(job.request, name, topologies)
        if best is None or points > best[0]:
            best = points, name, placed
    if best is None:
        return None
    _, name, placed = best
    session = _with(session, name, placed, asked, -1)
    return session._replace(standings={**session.standings, job.name: Standing(state, name)})


def _with(session: Session, node: str, ledger: Ledger, amounts: Amounts, sign: int) -> Session:
    """Replace a machine's account and change what is free of its total."""
    free = {name: have + sign * amounts.get(name, 0) for name, have in session.free[node].items()}
    return session._replace(ledgers={**session.ledgers, node: ledger}, free={**session.free, node: free})


def _evict_for(
    session: Session, job: Job, jobs: Sequence[Job], reclaim: bool, deserved: Mapping[str, Amounts]
) -> Session | None:
    """Make room for a job; None: no set of victims is enough, so nobody goes."""
    if reclaim and not _stays_within(session, job, jobs, deserved):
        return None
    tried, gone = session, []
    for victim in sorted(jobs, key=lambda one: one.priority):
        if not _may_go(tried, victim, job, jobs, reclaim, deserved):
            continue
        tried = _evict(tried, victim)
        gone.append(victim)
        placed = _allocate(tried, job, "waits_for_eviction")
        if placed:
            return _bring_back(placed, gone, session)
    return None


def _evict(session: Session, victim: Job) -> Session:
    node = session.standings[victim.name].node
    if node is None:
        return session
    session = _with(session, node, session.ledgers[node].free(victim.name), node_level(victim.request), 1)
    return session._replace(standings={**session.standings, victim.name: Standing("evicted")})


def _bring_back(session: Session, gone: Sequence[Job], before: Session) -> Session:
    """Let victims that still fit run on where they were, the highest priority first."""
    for victim in sorted(gone, key=lambda one: -one.priority):
        standing = before.standings[victim.name]
        node = standing.node
        if node is None:
            continue
        asked = node_level(victim.request)
        if any(amount > session.free[node].get(resource, 0) for resource, amount in asked.items()):
            continue
        known = before.ledgers[node].placements.get(victim.name, {})
        ledger = session.ledgers[node]
        available = ledger.machine.available
        if any(amount > available[zone].get(name, 0) for zone, part in known.items() for name, amount in part.items()):
            continue
        session = _with(session, node, ledger.charge(victim.name, known), asked, -1)
        session = session._replace(standings={**session.standings, victim.name: standing})
    return session


def _may_go(
    session: Session, victim: Job, job: Job, jobs: Sequence[Job], reclaim: bool, deserved: Mapping[str, Amounts]
) -> bool:
    """Tell whether a running job may be a victim."""
    if not victim.preemptible or session.standings[victim.name].state != "running":
        return False
    if not reclaim:
        return victim.queue == job.queue and victim.priority < job.priority
    if victim.queue == job.queue:
        return False
    held = _held(session, victim.queue, jobs)
    fair = deserved.get(victim.queue, {})
    return any(amount > fair[name] for name, amount in held.items() if name in fair)


def _stays_within(session: Session, job: Job, jobs: Sequence[Job], deserved: Mapping[str, Amounts]) -> bool:
    """Tell whether the job's queue stays within what it deserves once the job runs."""
    held = _held(session, job.queue, jobs)
    asked = node_level(job.request)
    fair = deserved.get(job.queue, {})
    return all(held.get(name, 0) + amount <= fair[name] for name, amount in asked.items() if name in fair)


def _held(session: Session, queue: str, jobs: Sequence[Job]) -> dict[str, int]:
    """Add up what the jobs of a queue hold."""
    total: dict[str, int] = {}
    for job in jobs:
        if job.queue == queue and session.standings[job.name].node is not None:
            for name, amount in node_level(job.request).items():
                total[name] = total.get(name, 0) + amount
    return total
