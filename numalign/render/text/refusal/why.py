"""Why a pod was refused, a sentence a line: which sentences a refusal needs, and in which order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from numalign.kubelet.cpu.allocate import SMT_ALIGNMENT_ERROR
from numalign.kubelet.fit.check import Shortage
from numalign.model.resources import CPU
from numalign.render.text.refusal.crash import not_survived
from numalign.render.text.refusal.fit import MILLI_OF_CPU, node_too_small
from numalign.render.text.refusal.memory import memory_apart, second_look
from numalign.render.text.refusal.nodes import alone_somewhere
from numalign.render.text.refusal.odd import no_whole_bytes, whole_cores
from numalign.render.text.refusal.own import TOGETHER, beside, sums, taken_over
from numalign.render.text.refusal.short import HINT, too_little
from numalign.render.text.refusal.width import as_few_nodes, differ_in_width, never_meet, on_fewer_nodes, too_wide
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.analysis.matrix import Matrix
    from numalign.analysis.own_containers import Sum
    from numalign.analysis.refusal import Refusal


EMPTY, NOW = "even on an empty machine", "as the node is now"
"""How it is told in which state of the machine a sentence holds."""

SAME = "the same goes for"

_TODAY = re.compile(r"requested by other pods|, the whole machine has [^,()]* free\b")
"""What is told of today's state, where it does not say that it is `_EVER` so."""

_OWN = re.compile(r", as this pod's own (?!.* and other pods hold )")
"""What only the pod itself holds of what is not free."""

_EVER = re.compile(r" never (?:has|have|get) more than |, and the node has ")


class Sentence(NamedTuple):
    """One sentence about a refusal."""

    when: str
    """In which case it holds, and of which other container: `besides, container c1: `; empty: in any."""
    text: str


def why(refusal: Refusal, besides: Iterable[Refusal] = ()) -> Iterator[str]:
    """Say why, each sentence with the case in which it holds; the arguments are those of `sentences`."""
    return map("".join, sentences(refusal, besides))


def sentences(refusal: Refusal, besides: Iterable[Refusal] = ()) -> Iterator[Sentence]:
    """Say why, a sentence a line; last what else refuses the pod, whatever is done about that.

    What holds at any time comes first where the pod is never admitted.
    """
    besides = list(besides)
    now = [_without_the_same(one) if _told_besides(refusal, besides) else one for one in _why(refusal)]
    said = list(now)
    corrected = list(_told_of(refusal.mended, "once that is corrected", refusal, said))
    empty = list(_told_of(refusal.empty, EMPTY, refusal, said))
    if any(SAME not in one.text for one in empty) and not refusal.lasting:
        yield from (*empty, *(Sentence(f"{NOW}: ", text) for text in now), *corrected)
    else:
        yield from (*_lasting_first(now, refusal), *corrected, *empty)
    for one in besides:
        yield from _told_of(one, f"besides, {NOW}" if refusal.never and not one.lasting else "besides", refusal, said)


def _lasting_first(texts: Sequence[str], refusal: Refusal) -> Iterator[Sentence]:
    """Tell first what holds on an empty machine, too, where the pod is never admitted; of the rest that it is of today.

    That is only where each is of one resource, but for sums, of which it is told beside what is free.
    """
    today = [one for one in texts if _TODAY.search(one) and not _EVER.search(one) and not _OWN.search(one)]
    heads = [one.partition(": ")[0] for one in texts if TOGETHER not in one]
    if not refusal.never or len(set(heads)) < len(heads) or not 0 < len(today) < len(texts):
        today = []
    yield from (Sentence("", one) for one in texts if one not in today)
    yield from (Sentence(f"{NOW}: ", one) for one in today)


def _told_of(other: Refusal | None, when: str, refusal: Refusal, said: list[str]) -> Iterator[Sentence]:
    """Say how else a pod is refused, as far as it is not said yet; what is new joins what is said."""
    if other is None or _same_goes(other, refusal):
        return
    at = f", container {other.at}" if other.at not in (None, refusal.at) else ""
    told = [f"{one.resource}: " for one in refusal.around.sums if one in other.around.sums or _too_much_too(one, other)]
    before = (*said, *told, *_limits(said))
    new = [text for text in _why(other) if not text.startswith(before) and f"{text} " not in before]
    new = [_without_advice_again(text, said) for text in new]
    again = [text for text in new if not at and _as_now(text) in said]
    yield from (Sentence(f"{when}: ", f"{SAME} {text.partition(': ')[0]}") for text in again)
    new = [text for text in new if text not in again]
    yield from (Sentence(f"{when}{at}: ", text) for text in new)
    said += new


def _too_much_too(one: Sum, other: Refusal) -> bool:
    """Tell whether the node as a whole has too little for a sum, too, whatever other pods ask for."""
    unit = MILLI_OF_CPU if one.resource == CPU else 1
    return any(
        isinstance(short, Shortage)
        and short.resource == one.resource
        and short.capacity < short.requested == one.requested * unit
        for short in other.shortages
    )


def _without_advice_again(text: str, said: Iterable[str]) -> str:
    """Leave out how to get a resource where that is told of the same one before."""
    first, hint, _ = text.partition(HINT)
    name = text.partition(":")[0]
    return first if hint and any(HINT in one and one.startswith(f"{name}:") for one in said) else text


def _told_besides(refusal: Refusal, besides: Iterable[Refusal]) -> bool:
    """Tell whether it is told besides of all other containers that they ask for no whole number of cores."""
    cores = refusal.around.cores
    told = {one.at for one in besides if one.around.cores and not _same_goes(one, refusal)}
    return cores is not None and {name for name, _ in cores.others} <= told


def _without_the_same(sentence: str) -> str:
    """Leave out of which other containers the same goes, where that is told of each besides."""
    return re.sub(r"; the same goes for .*", "", sentence)


def _same_goes(other: Refusal, refusal: Refusal) -> bool:
    """Tell whether a sentence about whole cores names what is refused besides, too."""
    first, then = refusal.around.cores, other.around.cores
    named = first is not None and first.requested % first.threads and refusal.reason == SMT_ALIGNMENT_ERROR
    return bool(named and first and then and (other.container, then.requested) in first.others)


def _as_now(sentence: str) -> str:
    """Write what is told of another time as it would be told of now: then the numbers alone may differ."""
    return sentence.replace("; free then: ", "; free now: ").replace(" while nothing is held", " on an empty machine")


def lines(said: Iterable[Sentence]) -> Iterator[str]:
    """Write sentences a line each; the case in which they hold once, where several in a row hold in the same."""
    before = ""
    for when, text in said:
        yield f"  {text}" if when and when == before else f"{when}{text}"
        before = when


def _limits(texts: Iterable[str]) -> Iterator[str]:
    """Cut sentences that tell what the machine never has down to that: it holds at any time."""
    for one in texts:
        limit = re.match(r".* never has more than [^\s,]+", one)
        if limit:
            yield from (f"{limit[0]}{after}" for after in (",", " "))


def _why(refusal: Refusal) -> Iterator[str]:
    yield from _first(refusal)
    yield from beside(refusal)


def _first(refusal: Refusal, *, brief: bool = False) -> Iterator[str]:
    rows, table, around = refusal.culprits, refusal.matrix, refusal.around
    if refusal.crash is not None:
        yield from not_survived(refusal.crash)
    elif refusal.stage == "fit":
        yield from node_too_small(refusal)
    elif around.unreadable:
        for one in around.unreadable:
            yield no_whole_bytes(one)
    elif around.cores is not None and refusal.reason == SMT_ALIGNMENT_ERROR:
        # Where the table tells what the whole pod asks for, the number is that of one container.
        whole = table if table is not None and table.container is None else None
        other = whole is not None and [row.requested for row in whole.rows[:1]] != [around.cores.requested]
        left = next((one for one in around.handed if one.resource == CPU), None)
        yield whole_cores(around.cores, refusal.container if other else None, around.when, left)
    elif table is None or not rows:
        return
    elif refusal.stage == "policy" and len(rows) > 1:
        yield from differ_in_width(rows, table, refusal.policy, around)
        yield from _also(refusal, table)
    elif refusal.stage == "policy":
        yield too_wide(rows[0], table, refusal.policy, around)
        yield from on_fewer_nodes(rows[0], refusal)
        yield from _also(refusal, table)
    elif refusal.stage == "merge" or (len(rows) > 1 and around.chosen is None and all(map(alone_somewhere, rows))):
        yield from never_meet(rows, table, around)
        yield from _also(refusal, table)
    elif around.wider is not None and around.wider.short:
        for row in table.rows:
            if row.resource in {short[0] for short in around.wider.short} and refusal.too_large(row):
                yield from too_little(row, table, refusal, brief=brief)
        yield from second_look(around.wider)
        yield from _also(refusal, table)
    else:
        for row in rows:
            yield from too_little(row, table, refusal, brief=brief)
        yield from memory_apart(refusal)
        yield from _also(refusal, table)


def _also(refusal: Refusal, table: Matrix) -> Iterator[str]:
    """Name what else would be refused alone: who asks for less of what is in the way only meets it next."""
    for row in refusal.also:
        if row.possible:
            yield too_wide(row, table, refusal.policy, refusal.around)
        else:
            yield from too_little(row, table, refusal)


def in_short(refusal: Refusal) -> list[str]:
    """Say why one part of a change is needed, a sentence a line: no more than it takes to follow the amounts."""
    together = list(sums(refusal))
    if together:
        return together
    wide = refusal.stage == "policy" and len(refusal.culprits) > 1
    too = as_few_nodes(refusal, changed=True) if wide else ()
    return [*_first(refusal._replace(also=()), brief=True), *too, *taken_over(refusal)]
