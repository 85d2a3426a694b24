"""The words of reasons: one short writer a fact. What is told, and in which order, is decided before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from numalign.analysis.reasons.facts import TooLittle, resource_of, with_asked
from numalign.analysis.reasons.order import Case, Told, reasons
from numalign.model.resources import is_extended
from numalign.render.text.amounts import listed, quantity_text
from numalign.render.text.words import asked, memory, shortage

if TYPE_CHECKING:
    from numalign.analysis.reasons import change_facts
    from numalign.analysis.reasons.asked import Asked
    from numalign.analysis.refusal import Refusal

CASES: Mapping[Case, str] = {
    "": "",
    "now": "now",
    "corrected": "after this fix",
    "empty": "on an empty node",
    "besides": "also",
    "besides now": "also now",
}
"""In which state of the machine a fact holds."""

WRITERS: asked.Writers = {**asked.WRITERS, **memory.WRITERS, **shortage.WRITERS}
"""Kind of fact -> what writes it, of facts of a rejection; `pods` has those that only changes need."""


def words(fact: change_facts.Reasonable) -> str:
    """Write a fact, a sentence."""
    return (WRITERS.get(type(fact)) or _of_changes()[type(fact)])(fact)


def _of_changes() -> asked.Writers:
    """Import what `admit` never says: two dozen kinds of facts."""
    from numalign.render.text.words import pods

    return pods.WRITERS


def sentence(told: Told) -> str:
    """Write a fact with the case in which it holds."""
    return f"{_case(told)}{words(told.fact)}"


def _case(told: Told) -> str:
    """Write in which case a fact holds, and of which other container: `besides, container c1: `; empty: in any."""
    return f"{CASES[told.case]}{f', container {told.of}' * (told.of is not None)}: " if told.case else ""


def why(refusal: Refusal, besides: Iterable[Refusal] = ()) -> Iterator[str]:
    """Say why a pod was refused, each sentence with the case in which it holds."""
    return map(sentence, reasons(refusal, besides))


def reason_text(reason: change_facts.Reason) -> str:
    """Write a fact that says why a part of a change is needed, with the container that it is about."""
    more = f"with {quantity_text(reason.larger[1])} in {reason.larger[0]}, " if reason.larger else ""
    who = f"container {reason.container}: " if reason.container is not None else ""
    return f"{more}{who}{words(reason.fact)}"


def lines(said: Iterable[Told]) -> Iterator[str]:
    """Write facts a line each; the case in which they hold once, where several in a row hold in the same."""
    before = None
    for _, alike in groupby(said, _but_for_the_device):
        one, *others = alike
        if others:
            one = one._replace(fact=with_asked(one.fact, partial(_each, [one, *others])))
        yield f"  {words(one.fact)}" if one.case and (one.case, one.of) == before else sentence(one)
        before = one.case, one.of


def _but_for_the_device(told: Told) -> Told:
    """Give what is told of a device resource that there is too little of, whichever resource it is."""
    if not isinstance(told.fact, TooLittle) or not is_extended(told.fact.asked.resource):
        return told
    return told._replace(fact=with_asked(told.fact, lambda asked: asked._replace(resource="")))


def _each(alike: Sequence[Told], asked: Asked) -> Asked:
    """Name all resources of which the same is told."""
    return asked._replace(resource=f"{listed([resource_of(one.fact) for one in alike])}, each")
