"""Find recorded pods that are admitted and not aligned, explain them, and judge what is said to align them.

That nothing does is held by brute force: every other setting, every pair of settings, every amount alone, every pod.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any, NamedTuple

from numalign.analysis.alignment import aligned, alignment, verdict_of
from numalign.analysis.explanation import explain_outcome
from numalign.analysis.holding import holding
from numalign.analysis.settings import POLICY, other_settings
from numalign.analysis.situation import Situation
from numalign.analysis.whatif.change import WayOut
from numalign.analysis.whatif.goal import ALIGNED
from numalign.analysis.whatif.past import without
from numalign.analysis.whatif.tries import Tries, newcomers, steps
from numalign.kubelet.admission import Outcome, admit
from numalign.kubelet.node import Node
from numalign.model.quantity import NANO
from numalign.model.resources import CPU
from numalign.tasks.hardware_to_add import with_what_lacks
from tests.refusals.applied import with_change
from tests.refusals.survey import last, met, scenarios

SMALL = 40
"""How many CPUs a small machine has at most."""

MAX_AMOUNTS = 512
"""How many amounts of one request are tried; of more, as many, evenly spread."""


class Judged(NamedTuple):
    """One pod, and what is said of it."""

    scenario: str
    step: int
    verdict: str
    kinds: tuple[str, ...]
    """Of the changes that align it."""
    false: tuple[str, ...]
    """Changes that do not."""
    missed: str
    """Where nothing is said to align it: what does after all."""
    small: bool
    """The machine is small enough for brute force to look for what is nearer."""
    nearer: str
    """What aligns it and costs less than what is said."""


def unaligned(data: dict[str, Any]) -> Iterator[tuple[int, Situation, Outcome]]:
    """Play a scenario; give each pod that is admitted and not aligned, with the step and what it met."""
    for index, situation, outcome in met(data):
        if outcome.admit and verdict_of(outcome) in ("spread", "floating"):
            yield index, situation, outcome


def sample(count: int, every: int = 1) -> list[tuple[dict[str, Any], int]]:
    """Choose so many pods, a scenario each, spread evenly over every so many scenarios."""
    found = [(data, index) for data in scenarios(every) for index, _, _ in [*unaligned(data)][:1]]
    return found[:: max(len(found) // count, 1)][:count]


def judged(one: tuple[dict[str, Any], int]) -> Judged:
    data, place = one
    index, situation, outcome = next(each for each in unaligned(data) if each[0] == place)
    told = explain_outcome(situation, outcome, altered=with_what_lacks(situation, outcome)).changes
    here = [way for way in told if not way.hardware]
    small = situation.setup.machine.cpus.bit_count() <= SMALL
    found = list(by_force(Tries(situation, outcome, ALIGNED))) if small or not here else []
    least = min((way.cost for way in here), default=0.0)
    return Judged(
        data["id"],
        index,
        verdict_of(outcome),
        tuple(way.kind for way in told),
        tuple(named(way) for way in told if not _aligns(data, index, way)),
        "" if here else next(map(named, found), ""),
        small,
        next((named(way) for way in found if here and way.cost < least - 1e-9), ""),
    )


def named(way: WayOut) -> str:
    return f"{way.kind}: {dict(way.flags)} {dict(way.amounts)} {[pod.name for pod in way.gone]} {way.hardware}"


def _aligns(data: dict[str, Any], index: int, way: WayOut) -> bool:
    """Write a change into the scenario and play it again: the pod is aligned, and all who are there stay."""
    found = last(*with_change(data, index, way))
    return found is not None and found.admit and aligned(found) is True


def by_force(tries: Tries) -> Iterator[WayOut]:
    """Give every single change and pair of settings that aligns a pod, but for policy none, which does so by chance."""
    outcome = tries.outcome
    for pod in outcome.before.pods:
        if _done(admit(without(outcome.before, [pod]), outcome.pod)):
            yield WayOut(pods=(pod,))
    for change in _amounts(tries):
        if _done(tries.attempt(change)):
            yield change
    for flags in _settings(tries):
        session = tries.under(flags)
        if session is None or newcomers(session, outcome.before) is None:
            continue
        if _done(admit(session, outcome.pod)):
            yield WayOut(flags=flags)


def _done(found: Outcome | None) -> bool:
    return found is not None and found.admit and aligned(found) is True


def _settings(tries: Tries) -> Iterator[Mapping[str, str]]:
    others = other_settings(tries.situation.setup, tries.outcome.pod, aligning=False)
    every = [one for one in others if one.get(POLICY) != "none"]
    yield from every
    yield from ({**one, **other} for one, other in combinations(every, 2) if not one.keys() & other.keys())


def _amounts(tries: Tries) -> Iterator[WayOut]:
    """Ask for every other amount of one request, none left out; for no more CPUs than need no more nodes."""
    pod, session = tries.outcome.pod, tries.outcome.before
    asked = {(one.name, name): each.nano for one in pod.containers for name, each in one.requests.items() if each.nano}
    spread = {
        one.name: alignment(session.node, holding(session.node, tries.outcome.after, pod.uid, one), one).least
        for one in tries.outcome.demand.containers
        if one.cpus and session.node.cpu.widest
    }
    for key, step in steps(session, asked).items():
        most = asked[key] if key[1] != CPU or not spread.get(key[0]) else _as_wide(session.node, spread[key[0]]) * NANO
        places = range(1, most // step + 1)
        for place in places[:: len(places) // MAX_AMOUNTS + 1]:
            if place * step != asked[key]:
                yield WayOut(amounts={key: place * step}, asked={key: asked[key]})


def _as_wide(node: Node, least: int) -> int:
    """Give how many CPUs so few nodes have at most."""
    return node.cpu.widest[min(least, len(node.cpu.widest)) - 1]


def shares(every: Iterable[Judged]) -> Iterator[str]:
    """Say how many get what, a line a measure."""
    found = list(every)
    count = max(len(found), 1)
    with_fix = [one for one in found if one.kinds and not one.false]
    yield f"{len(found)} pods that are admitted and not aligned"
    yield f"{100 * len(with_fix) / count:6.2f} % have a fix that was applied and aligns the pod"
    for verdict in ("floating", "spread"):
        some = [one for one in found if one.verdict == verdict]
        yield f"  {sum(one in with_fix for one in some)} of {len(some)} {verdict}"
    small = [one for one in found if one.small]
    yield f"{sum(bool(one.nearer) for one in small)} of {len(small)} on small machines have a nearer fix"
    yield f"{sum(len(one.false) for one in found)} false fixes, {sum(bool(one.missed) for one in found)} missed"
