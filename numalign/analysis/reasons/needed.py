"""Why each part of a change is needed: the facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from numalign.analysis.reasons.amounts_left import amounts_of, limit_of, nothing_left, units_of
from numalign.analysis.reasons.asked import NOTHING
from numalign.analysis.reasons.change_facts import (
    AsWide,
    CountsAsWhole,
    Effect,
    Elsewhere,
    Goes,
    LastShared,
    NotAligned,
    OddBytes,
    Reason,
    Reasonable,
    ThenTogether,
    WholeCoresOnly,
)
from numalign.analysis.reasons.facts import (
    Fact,
    NodeTooSmall,
    NoneThere,
    OddCores,
    TooLittle,
    resource_of,
)
from numalign.analysis.reasons.held import held_by_them, room
from numalign.analysis.reasons.memory_facts import SumTooLarge
from numalign.analysis.reasons.order import without_hint
from numalign.analysis.reasons.refusal import in_short
from numalign.analysis.reasons.there import limit_there
from numalign.analysis.reasons.width_facts import FitsOn, TooWide
from numalign.analysis.settings import GATES, MEMORY_POLICY, POLICY, switched
from numalign.kubelet.releases.release import OPTIONS
from numalign.model.quantity import NANO
from numalign.model.resources import CPU, is_bytes, is_memory

if TYPE_CHECKING:
    from numalign.analysis.matrix import Matrix, Row
    from numalign.analysis.refusal import Refusal
    from numalign.analysis.whatif.change import Part, WayOut
    from numalign.kubelet.config import KubeletConfig


def needed(
    part: Part,
    refusal: Refusal | None,
    after: Sequence[Goes],
    config: KubeletConfig,
    *,
    whole: WayOut,
    head: Sequence[Fact],
    tables: Sequence[Matrix] = (),
) -> list[Reason]:
    """Tell why one part of a change is needed; nothing where the refusal itself tells it.

    Args:
        part: the part.
        refusal: why the pod is refused as it is; None: it is admitted.
        after: where the pod would go; empty: that is not known.
        config: the settings as they are.
        whole: the change that it is a part of.
        head: the facts of the refusal itself.
        tables: of an admitted pod: what is asked, decision by decision.
    """
    change, found = part.change, part.otherwise
    if part.unshared:
        return _reasons([*held_by_them(part, None, after, ()), LastShared(bool(part.larger))])
    if part.apart:
        return _reasons([NotAligned()])
    raised = _raised(part, _policy_rows(refusal) if refusal is not None else _just_wide_enough(part, tables))
    if raised:
        return _reasons(raised)
    nearer = _together_again(change, refusal, after) if found is None else None
    if nearer is not None:
        return _reasons([nearer])
    # What is short of other containers, or once the rest of a change is done, no refusal tells.
    alone = len(whole.parts) == 1 and len(after) == 1
    wanted = set[str]() if alone else {name for one in after for name in one.places}
    holding = _reasons(held_by_them(part, found or refusal, after, wanted))
    if found is None:
        done = effects(change.flags, config) if refusal is not None else ()
        return [*holding, *_reasons([*done, *_whole_cores_only(part, refusal)])]
    facts: Sequence[Reasonable] = (change.pods and room(found, after)) or list(limit_there(part, found, after))
    facts = facts or in_short(found)
    if any(nano % NANO for nano in change.amounts.values()):  # a share of a CPU
        facts = [one._replace(advised=False) if isinstance(one, OddCores) else one for one in facts]
    if len(whole.parts) < 2 and _said(facts, head, change):
        return []
    if not part.larger or not all(change.amounts.values()):
        facts = [_still_together(one, whole) for one in facts]
    reasons = _reasons(_without_what_is_told(one, head) for one in facts)
    if reasons and len(after) > 1 and not found.around.sums:
        before = refusal.at if refusal is not None else None
        reasons[0] = _of_a_container(reasons[0], part, whole, found.at, before)
    more = [*nothing_left(part, found), *([CountsAsWhole(part.whole)] if part.whole is not None else ())]
    return [*holding, *_reasons(_elsewhere(part, found, after)), *reasons, *_reasons(more)]


def _reasons(facts: Iterator[Reasonable] | Sequence[Reasonable]) -> list[Reason]:
    return [Reason(one) for one in facts]


def effects(flags: Mapping[str, str], config: KubeletConfig) -> Iterator[Effect]:
    """Tell what settings do to a pod that was refused without them."""
    for name, value in (pair for flag, text in flags.items() for pair in switched(flag, text, config)):
        strict = (name, value) in ((POLICY, "single-numa-node"), (MEMORY_POLICY, "Static"))
        if name != GATES and not strict and not (name in OPTIONS and OPTIONS[name].number):
            yield Effect(name, value)


def _of_a_container(reason: Reason, part: Part, whole: WayOut, at: str | None, before: str | None) -> Reason:
    """Name the container that is refused, and the other one that asked for more of what they share.

    A fact without a name is about the container that the part is about, or else about the one refused before.
    """
    amounts = part.change.amounts
    clear = {None, *(name for name, _ in amounts)} if amounts else {None, before}
    larger = [
        (key[0], part.larger)
        for key, nano in amounts.items()
        if at not in (None, key[0]) and part.larger > nano and any(key in keys for keys in whole.together)
    ]
    return reason._replace(container=at if at not in clear else None, larger=next(iter(larger), None))


def _whole_cores_only(part: Part, refusal: Refusal | None) -> Iterator[WholeCoresOnly]:
    """Tell why not all CPUs that are free may be asked for, where only whole cores are given out."""
    cores = part.change.cores
    rows = refusal.culprits if refusal is not None else ()
    for (_, name), nano in part.change.amounts.items():
        row = next((row for row in rows if row.resource == name == CPU), None)
        if row is not None and cores > 1 and nano < row.free * NANO < nano + cores * NANO:
            yield WholeCoresOnly(row.free, cores)


def _still_together(fact: Reasonable, whole: WayOut) -> Reasonable:
    """Tell of a sum that is still too much which containers ask for less of it already."""
    if not isinstance(fact, SumTooLarge):
        return fact
    asked = whole.asked
    return fact._replace(
        less=tuple([(name, size) for name, size in fact.parts if size * NANO < asked.get((name, fact.resource), 0)])
    )


def _elsewhere(part: Part, found: Refusal, after: Sequence[Goes]) -> Iterator[Elsewhere]:
    """Tell that a little more of one resource leads to other nodes, where another resource is refused then."""
    chosen = found.around.chosen
    if not part.larger or not chosen:
        return
    for _, name in part.change.amounts:
        if name not in found.resources and chosen not in {one.chosen for one in after}:
            yield Elsewhere(name, part.larger, chosen)


def _without_what_is_told(fact: Reasonable, head: Sequence[Fact]) -> Reasonable:
    """Leave out how to get huge pages where the refusal tells it."""
    return without_hint(fact, head) if isinstance(fact, NodeTooSmall | NoneThere) else fact


def _said(facts: Sequence[Reasonable], head: Sequence[Fact], change: WayOut) -> bool:
    """Tell whether why no more may be asked is told where the refusal is: the limit, and the very amount."""
    told = [(resource_of(one), list(amounts_of(_told(one))), list(amounts_of(one))) for one in head]
    asked = all(
        any(name == one and nano in amounts and _is_plain(name, nano, beside) for one, amounts, beside in told)
        for (_, name), nano in change.amounts.items()
    )
    return asked and set(map(limit_of, facts)) <= set(map(limit_of, head))


def _told(fact: Fact) -> Fact:
    """Give what is told of a fact: of what never is enough nothing is told of what there is now."""
    if isinstance(fact, TooLittle):
        return fact._replace(had=fact.there)
    if isinstance(fact, FitsOn):
        return fact._replace(had=NOTHING)
    return fact._replace(had=NOTHING) if isinstance(fact, TooWide) and fact.never else fact


def _is_plain(resource: str, nano: int, beside: Iterable[int]) -> bool:
    """Tell whether an amount that stands beside others can be told exactly as it is asked for."""
    if not nano:
        return False
    if not is_bytes(resource):
        return not nano % NANO
    unit, told = units_of(beside)
    return not nano % ((told or unit) * NANO) and (told in (0, unit) or bool(nano % (unit * NANO)))


def _together_again(change: WayOut, refusal: Refusal | None, after: Sequence[Goes]) -> ThenTogether | None:
    """Tell on how many nodes memory resources meet once less is asked of one of them."""
    joint = refusal.around.joint if refusal is not None else None
    if refusal is None or joint is None or not any(name in joint.resources for _, name in change.amounts):
        return None
    chosen = {one.chosen for one in after if refusal.at in (None, one.name)}
    mask = chosen.pop() if len(chosen) == 1 else None
    return ThenTogether(joint.resources, mask) if mask is not None and mask.bit_count() < joint.width else None


def _policy_rows(refusal: Refusal) -> Sequence[Row]:
    """List what is asked where a policy refuses; nothing where something else does."""
    if refusal.stage != "policy":
        return ()
    return refusal.matrix.rows if refusal.matrix is not None else refusal.culprits


def _just_wide_enough(part: Part, tables: Sequence[Matrix]) -> Sequence[Row]:
    """List what an admitted pod asks for, where a part asks for the least that needs as many nodes as the widest."""
    rows = [row for one in tables for row in one.rows]
    fewer = max((row.width for row in rows), default=1) - 1
    for (_, name), nano in part.change.amounts.items():
        most = fewer * max((cell.total for row in rows if row.resource == name for cell in row.cells), default=0)
        if name != CPU or not nano - part.change.cores * NANO <= most * NANO < nano:
            return ()
    return rows


def _raised(part: Part, rows: Sequence[Row]) -> list[Reasonable]:
    """Tell why more is asked: whole bytes, or as many nodes as another resource; nothing where it is for neither."""
    for (container, name), nano in part.change.amounts.items():
        asked = part.change.asked[container, name]
        if nano > asked and asked % NANO and is_memory(name):
            return [OddBytes(asked)]
    grown = [key[1] for key, nano in part.change.amounts.items() if nano > part.change.asked[key]]
    raised = next((row for row in rows if row.resource in grown), None)
    if raised is None or (part.otherwise and part.otherwise.around.cores):
        return []
    name, widest = raised.resource, max(row.width for row in rows)
    most = max(cell.total for cell in raised.cells)
    like = tuple([row.resource for row in rows if row.width == widest and row.resource != name])
    above = max(nano for key, nano in part.change.amounts.items() if key[1] == name) // NANO - part.change.cores
    return [AsWide(like, widest, name, most, above if name == CPU and above > most else 0)]
