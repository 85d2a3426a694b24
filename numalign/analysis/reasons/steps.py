"""The parts of a change as steps to take: what is the same for several containers once, and each reason once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from numalign.analysis.reasons.asked import Asked
from numalign.analysis.reasons.change_facts import (
    CountsAsWhole,
    EnoughBut,
    HasThere,
    LastShared,
    PodHolds,
    PodsHold,
    Reason,
    Reasonable,
    TooLittleThere,
    WholeCoresOnly,
    WithoutThem,
)
from numalign.analysis.reasons.facts import (
    ChosenElsewhere,
    CoresTaken,
    EnoughInAll,
    NodeTooSmall,
    OddCores,
    Placed,
    TooLittle,
    resource_of,
    with_asked,
)
from numalign.analysis.reasons.memory_facts import HasToFit, LeftByInit, ShortThere, SumTooLarge
from numalign.analysis.reasons.needed import effects
from numalign.analysis.reasons.order import Told, key
from numalign.analysis.reasons.width_facts import FitOne, FitsOn, OnTheSame, TakeTogether, TooWide
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.analysis.whatif.change import Part, WayOut
    from numalign.kubelet.config import KubeletConfig


class Above(NamedTuple):
    """A reason is told of the refusal itself."""

    resources: tuple[str, ...]
    """Of which, where the part does not say so."""
    effects: tuple[Reasonable, ...]


class AsIn(NamedTuple):
    """A reason is told of another change."""

    number: int


class Step(NamedTuple):
    """What is done for one reason."""

    changes: tuple[WayOut, ...]
    """What to do; of containers that are to ask for the same as one."""
    part: Part
    """The first of the parts that it is made of."""
    reasons: tuple[Reason, ...]
    """Why."""
    told: Above | AsIn | None = None
    """Where that is told already, if it is."""


Reasoned = tuple["Part", Sequence[Reason]]
"""A part with what says why it is needed."""


def change_steps(
    change: WayOut, reasoned: Iterable[Reasoned], above: Sequence[Told], at: str | None, config: KubeletConfig
) -> list[Step]:
    """Put the parts of a change together; pods to move first, as what may be asked then is told without them.

    Args:
        change: what the parts are of.
        reasoned: each part with why it is needed.
        above: the facts about the refusal itself, with all that refuses the pod besides.
        at: the container that was refused.
        config: the settings as they are.
    """
    facts = [one.fact for one in above]
    known: set[object] = {key(one.fact) for one in above}
    known |= {(key(one.fact), one.of) for one in above if one.of is not None}
    steps = _grouped(change, sorted(reasoned, key=lambda one: not one[0].change.pods))
    return [_without_what_is_told(step, known, facts, at, config) for step in steps]


def refer(every: Iterable[list[Step]]) -> Iterator[list[Step]]:
    """Refer in the steps of changes, in order, to the change that tells a reason first."""
    said: dict[object, int] = {}
    for number, steps in enumerate(every, start=1):
        found = []
        for step in steps:
            told = tuple([(key(one.fact), one.container, one.larger) for one in step.reasons])
            first = said.setdefault(told, number) if told and not step.told else number
            found.append(step._replace(told=AsIn(first)) if first != number else step)
        yield found


def _without_what_is_told(
    step: Step, above: Collection[object], facts: Sequence[Reasonable], at: str | None, config: KubeletConfig
) -> Step:
    """Leave out of a reason what is told of the refusal itself, or refer to it; a little more needs no second proof."""
    reasons = step.reasons
    new = tuple([one for one in reasons if one.larger or _now(one, at) not in above])
    kinds = {(type(fact), resource_of(fact)) for fact in facts}
    proven = step.part.larger and all((type(one.fact), resource_of(one.fact)) in kinds for one in reasons)
    if reasons and (proven or not new):
        told = Above(_of_which(step), tuple(effects(step.part.change.flags, config)))
        return step._replace(told=told)
    of_pods = bool(step.part.change.pods) and reasons[: len(new)] == new  # what they hold, then what is in the way
    widths = any(isinstance(one.fact, OnTheSame) for one in reasons)
    takes = any(isinstance(one.fact, FitsOn) and one.fact.width > 1 for one in new)
    return step._replace(reasons=new) if of_pods or (widths and takes) else step


def _now(reason: Reason, at: str | None) -> object:
    """Give what is told of a reason as it is told of the refusal: what is free then may be what is free now.

    It is of another container than the one that was refused where that is told with it.
    """
    fact = reason.fact
    if isinstance(fact, EnoughInAll | TooLittle):
        fact = fact._replace(when="now")
    return key(fact) if reason.container in (None, at) else (key(fact), reason.container)


def _of_which(step: Step) -> tuple[str, ...]:
    """Name the resources that a reason is about, where what is done does not."""
    facts = [one.fact for one in step.reasons]
    if step.part.change.amounts or any(isinstance(one, TakeTogether | FitOne) for one in facts):
        return ()
    return tuple(dict.fromkeys(filter(None, map(resource_of, facts))))


def of_the_state(fact: Reasonable) -> bool:
    """Tell whether a fact is about what is free as the node is, or would be."""
    if isinstance(fact, TooLittle):
        return fact.when != "ever" and (fact.free_too or not fact.never) and not fact.left
    if isinstance(fact, TooWide):
        single = fact.policy == "single-numa-node"
        return fact.when != "ever" and not fact.after and not (single and (fact.short or fact.width > 1))
    if isinstance(fact, NodeTooSmall):
        return fact.asked.amount <= fact.capacity
    return isinstance(
        fact,
        ChosenElsewhere
        | CoresTaken
        | CountsAsWhole
        | EnoughBut
        | EnoughInAll
        | HasThere
        | HasToFit
        | LeftByInit
        | Placed
        | ShortThere
        | TooLittleThere
        | WholeCoresOnly,
    )


def of_pods(fact: Reasonable) -> bool:
    """Tell whether a fact is about pods to move, so that it need not be told that it holds as long as they stay."""
    return isinstance(fact, PodHolds | PodsHold | WithoutThem) or (isinstance(fact, LastShared) and not fact.more)


def _grouped(change: WayOut, parts: Iterable[Reasoned]) -> list[Step]:
    """Put parts with the same reason together."""
    groups: dict[tuple[object, ...], list[Reasoned]] = {}
    for part, reasons in _shared(change, parts):
        names = {container for container, _ in part.change.amounts}
        same = (bool(part.larger), bool(part.change.pods), *(_without_names(one, names) for one in reasons))
        groups.setdefault(same, []).append((part, reasons))
    steps = []
    for each in groups.values():
        part, reasons = each[0]
        if len(each) > 1:
            names = {container for container, _ in part.change.amounts}
            reasons = [one._replace(fact=_named(one.fact, names, "each")) for one in reasons]
        steps.append(Step(tuple(_folded(one for one, _ in each)), part, tuple(reasons)))
    return steps


def _shared(change: WayOut, parts: Iterable[Reasoned]) -> Iterator[Reasoned]:
    """Make one part of those of which only the sum counts."""
    done = set[tuple[str, str]]()
    for part, reasons in parts:
        keys = next((some for some in change.together if set(part.change.amounts) & set(some)), ())
        if not done.issuperset(keys) or not keys:
            yield part._replace(change=with_these(change, keys) if keys else part.change), reasons
        done.update(keys)


def with_these(change: WayOut, keys: tuple[tuple[str, str], ...]) -> WayOut:
    """Keep of a change only some requests of which the sum counts."""
    return change._replace(
        amounts={key: change.amounts[key] for key in keys if key in change.amounts},
        together=(keys,),
        flags={},
        pods=(),
    )


def _folded(parts: Iterable[Part]) -> list[WayOut]:
    """Make one change of those after which containers ask for the same of a resource instead of the same."""
    found: dict[object, WayOut] = {}
    for part in parts:
        change = part.change
        alike = tuple((name, nano, change.asked[container, name]) for (container, name), nano in change.amounts.items())
        other = found.get(alike) if alike else None
        if other is not None:
            change = other._replace(
                amounts={**other.amounts, **change.amounts},
                asked={**other.asked, **change.asked},
                or_else={**other.or_else, **change.or_else},
            )
        found[alike or id(part)] = change
    return list(found.values())


def _without_names(reason: Reason, names: set[str]) -> object:
    """Give a reason without the names of the containers that it is about, and how they share what is asked."""
    fact = _named(reason.fact, names, "")
    if isinstance(fact, SumTooLarge):
        fact = fact._replace(parts=())
    fact = with_asked(fact, lambda asked: asked._replace(parts=asked.parts if len(asked.parts) == 1 else ()))
    return key(fact), reason.larger, reason.container if reason.larger else None


def _named(fact: Reasonable, names: set[str], whom: str) -> Reasonable:
    """Tell of containers that ask for something by another name."""
    if isinstance(fact, OddCores | CoresTaken):
        return fact._replace(by=whom) if fact.by in names else fact

    def renamed(asked: Asked) -> Asked:
        if len(asked.parts) > 1:
            return asked
        return asked._replace(parts=tuple([(whom if name in names else name, nano) for name, nano in asked.parts]))

    named: Reasonable = with_asked(fact, renamed)
    return named
