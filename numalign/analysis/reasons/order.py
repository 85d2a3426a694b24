"""Which facts are told of a refused pod, in which case each holds, in which order, and each once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from numalign.analysis.reasons.facts import Fact, NodeTooSmall, NoneThere, OddCores, SameGoes, TooLittle, resource_of
from numalign.analysis.reasons.memory_facts import SumTooLarge
from numalign.analysis.reasons.refusal import facts_of
from numalign.analysis.reasons.width_facts import TooWide
from numalign.kubelet.fit.check import Shortage
from numalign.model.quantity import NANO
from numalign.model.resources import unit_of
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.analysis.own_containers import Sum
    from numalign.analysis.refusal import Refusal

Case = Literal["", "now", "corrected", "empty", "besides", "besides now"]
"""In which state of the machine a fact holds; empty: in any."""


class Told(NamedTuple):
    """A fact about a refusal, as it is told."""

    fact: Fact
    case: Case = ""
    of: str | None = None
    """Another container than the refused one, which it is about."""


def reasons(refusal: Refusal, besides: Iterable[Refusal] = ()) -> list[Told]:
    """List all that refuses a pod, each fact once; last what else refuses it, whatever is done about that.

    What holds at any time comes first where the pod is never admitted.
    """
    besides = list(besides)
    now = list(facts_of(refusal))
    if _told_besides(refusal, besides):
        now = [one._replace(others=()) if isinstance(one, OddCores) else one for one in now]
    said = list(now)
    corrected = _told_of(refusal.mended, "corrected", refusal, said)
    empty = _told_of(refusal.empty, "empty", refusal, said)
    if any(map(_says_more, empty)) and not refusal.lasting:
        found = [*empty, *(Told(one, "now") for one in now), *corrected]
    else:
        found = [*_lasting_first(now, refusal), *corrected, *empty]
    for one in besides:
        found += _told_of(one, "besides now" if refusal.never and not one.lasting else "besides", refusal, said)
    return found


def _says_more(told: Told) -> bool:
    """Tell whether a fact is no other one once more: that the same goes for a resource, or for other containers."""
    return not (isinstance(told.fact, SameGoes) or (isinstance(told.fact, OddCores) and told.fact.others))


def _lasting_first(facts: Sequence[Fact], refusal: Refusal) -> Iterator[Told]:
    """Tell first what holds on an empty machine, too, where the pod is never admitted; of the rest that it is of today.

    That is only where each is of one resource, but for sums, of which it is told beside what is free.
    """
    today = list(filter(_of_today, facts))
    heads = [resource_of(one) or one for one in facts if not isinstance(one, SumTooLarge)]
    if not refusal.never or len(set(heads)) < len(heads) or len(today) == len(facts):
        today = []
    yield from (Told(one) for one in facts if one not in today)
    yield from (Told(one, "now") for one in today)


def _of_today(fact: Fact) -> bool:
    """Tell whether a fact is about the node as it is now, and others than the pod itself hold what is not free."""
    if isinstance(fact, NodeTooSmall):
        return fact.asked.amount <= fact.capacity
    if not isinstance(fact, TooLittle) or fact.never or fact.left:
        return False
    return fact.own is None or fact.others > 0


def _told_of(other: Refusal | None, case: Case, refusal: Refusal, said: list[Fact]) -> list[Told]:
    """Tell how else a pod is refused, as far as it is not said yet; what is new joins what is said."""
    if other is None or _same_goes(other, refusal):
        return []
    at = other.at if other.at != refusal.at else None
    summed = {one.resource for one in refusal.around.sums if one in other.around.sums or _too_much_too(one, other)}
    before = {known for one in said for known in (key(one), _limit(one))} - {None}
    new = [one for one in facts_of(other) if resource_of(one) not in summed and not {key(one), _limit(one)} & before]
    new = [without_hint(fact, said) for fact in new]
    again = [fact for fact in new if at is None and key(_as_now(fact)) in before]
    new = [fact for fact in new if fact not in again]
    said += new
    return [*(Told(SameGoes(resource_of(fact)), case) for fact in again), *(Told(fact, case, at) for fact in new)]


def key(fact: object) -> tuple[type, object]:
    """Give what is told of a fact, to compare it: tuples of other kinds are not the same."""
    return type(fact), getattr(fact, "shown", fact)


def _limit(fact: Fact) -> object:
    """Give of a fact that tells what the machine never has that alone: it holds at any time."""
    if isinstance(fact, TooLittle) and fact.never:
        return fact.asked, fact.too, fact.had.total
    if isinstance(fact, NodeTooSmall) and fact.asked.amount > fact.capacity:
        return fact.asked, fact.capacity
    if isinstance(fact, TooWide) and fact.short:
        return fact.asked, fact.policy, fact.width, fact.counted, fact.limit
    return None


def _as_now(fact: Fact) -> Fact:
    """Tell of another time as it would be told of now: then the numbers alone may differ."""
    return fact._replace(when="now") if isinstance(fact, TooWide) and fact.when == "then" else fact


def without_hint(fact: Fact, said: Iterable[Fact]) -> Fact:
    """Leave out how to get huge pages where that is told of the same ones before."""
    if not isinstance(fact, NodeTooSmall | NoneThere):
        return fact
    alike = (one for one in said if isinstance(one, NodeTooSmall | NoneThere))
    return fact._replace(hint=0) if any(one.asked.resource == fact.asked.resource for one in alike) else fact


def _too_much_too(one: Sum, other: Refusal) -> bool:
    """Tell whether the node as a whole has too little for a sum, too, whatever other pods ask for."""
    return any(
        isinstance(short, Shortage)
        and short.resource == one.resource
        and short.capacity < short.requested == one.requested * NANO // unit_of(one.resource)
        for short in other.shortages
    )


def _told_besides(refusal: Refusal, besides: Iterable[Refusal]) -> bool:
    """Tell whether it is told besides of all other containers that they ask for no whole number of cores."""
    others = refusal.around.cores.others if refusal.around.cores is not None else ()
    told = {one.at for one in besides if one.around.cores and not _same_goes(one, refusal)}
    return {name for name, _ in others} <= told


def _same_goes(other: Refusal, refusal: Refusal) -> bool:
    """Tell whether a fact about whole cores names what is refused besides, too."""
    first, then = refusal.around.cores, other.around.cores
    named = first.others if first is not None and first.requested % first.threads else ()
    return then is not None and (other.container, then.requested) in named
