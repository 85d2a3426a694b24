"""The parts of a change as steps to take: what is the same for several containers once, and each reason once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.analysis.whatif.change import Part, WayOut


class Step(NamedTuple):
    """What is done for one reason."""

    changes: tuple[WayOut, ...]
    """What to do; of containers that are to ask for the same as one."""
    part: Part
    """The first of the parts that it is made of."""
    sentences: Sequence[str]
    """Why."""


Reasoned = tuple["Part", Sequence[str]]
"""A part with the sentences that say why it is needed."""


def grouped(change: WayOut, parts: Iterable[Reasoned]) -> list[Step]:
    """Put parts with the same reason together.

    Args:
        change: what the parts are of.
        parts: each part with the sentences that say why it is needed.
    """
    reasons: dict[tuple[object, ...], list[Reasoned]] = {}
    for part, sentences in _shared(change, parts):
        key = (bool(part.larger), bool(part.change.pods), *(_without_names(one, part) for one in sentences))
        reasons.setdefault(key, []).append((part, sentences))
    steps = []
    for each in reasons.values():
        part, sentences = each[0]
        if len(each) > 1:
            sentences = [_of_each(one, part) for one in sentences]
        steps.append(Step(tuple(_folded(one for one, _ in each)), part, sentences))
    return steps


def _shared(change: WayOut, parts: Iterable[Reasoned]) -> Iterator[Reasoned]:
    """Make one part of those of which only the sum counts."""
    done = set[tuple[str, str]]()
    for part, sentences in parts:
        keys = next((some for some in change.together if set(part.change.amounts) & set(some)), ())
        if not done.issuperset(keys) or not keys:
            yield part._replace(change=with_these(change, keys) if keys else part.change), sentences
        done.update(keys)


def with_these(change: WayOut, keys: tuple[tuple[str, str], ...]) -> WayOut:
    """Keep of a change only some requests of which the sum counts."""
    return change._replace(
        amounts={key: change.amounts[key] for key in keys if key in change.amounts},
        asked={key: change.asked[key] for key in keys},
        or_else={},
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


def _by(part: Part) -> str:
    """Match ` by c0`, as a sentence about a whole pod names the container that a part is about."""
    names = "|".join(re.escape(container) for container, _ in part.change.amounts)
    return rf" by (?:{names})(?=[,:; ]|$)" if names else r"(?!)"


def _without_names(sentence: str, part: Part) -> str:
    """Write a sentence without the names of the containers that it is about, and how they share what is asked."""
    return re.sub(r" \([^() ]+ [^()]+ \+ [^()]+\)", " (...)", re.sub(_by(part), " by ...", without_container(sentence)))


def _of_each(sentence: str, part: Part) -> str:
    return re.sub(_by(part), " by each", sentence)


def without_container(sentence: str) -> str:
    """Leave out of a sentence about a part of a change which container it is about."""
    return re.sub(r"^container \S+: ", "", sentence)
