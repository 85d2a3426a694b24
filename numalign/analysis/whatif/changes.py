"""What would have to be different for a pod to be admitted, or aligned: each change tried on the twin, none guessed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from numalign.analysis.alignment import alignments, verdict_of
from numalign.analysis.settings import POLICY, apply
from numalign.analysis.situation import Situation
from numalign.analysis.whatif.change import Hardware, WayOut, covers
from numalign.analysis.whatif.goal import ADMITTED, ALIGNED
from numalign.analysis.whatif.kinds import (
    Machines,
    altered_machine,
    known_machines,
    on_machines,
    other_settings,
    pods_moved,
)
from numalign.analysis.whatif.pinned import pinning
from numalign.analysis.whatif.reasons import reasons
from numalign.analysis.whatif.search import (
    cut_and_move,
    cut_now,
    setting_and_cut,
    single_requests,
    two_settings,
)
from numalign.analysis.whatif.shrink import shared, shrunk, with_one_to_share
from numalign.analysis.whatif.tries import Tries, sound
from numalign.kubelet.admission import Outcome
from numalign.model.quantity import NANO
from numalign.model.resources import LIMIT, is_memory

MAX_CHANGES = 5
"""How many changes are told."""
MAX_OF_A_KIND = 2
"""How many of them may be of one kind."""

MAX_PARTS_BESIDE = 4
"""How many parts a combination may have that is told beside pods to move."""

MAX_BUNDLED = 1
"""How many machines are named that nobody asked about."""


def changes(
    tries: Tries,
    others: Machines = (),
    *,
    known: Machines = (),
    altered: Iterable[tuple[Hardware, Situation]] = (),
) -> tuple[WayOut, ...]:
    """Find the nearest changes that meet a goal, in the order in which they are told (see `_order`).

    Args:
        tries: the refusal, or the admission that is not aligned, and what the pod met.
        others: further machines to try.
        known: machines that nobody asked about, the smallest first; they are looked at only where every other change
            takes something away from the pod, or leaves it without a device that this machine does not have.
        altered: this machine with more devices or huge pages, looked at in the same case.
    """
    starts = [_after(tries, base) for base in pinning(tries)] or [(WayOut(), tries)]
    found = [_with(tries, base, change) for base, then in starts for change in _candidates(then, others)]
    # What policy none aligns is aligned by chance.
    found = [one for one in found if tries.goal == ADMITTED or one.flags.get(POLICY) != "none"] or found
    found = [with_one_to_share(tries, change) for change in found]
    found = [change for change in found if sound(change.outcome)] or found
    # A pod that runs across devices is not helped by fewer of them: what keeps them comes first.
    found.sort(key=lambda change: (not change.keeps_devices, change.leaves_out, change.cost))
    whole = [change for change in found if all(change.amounts.values())]
    spare: list[WayOut] = []
    if any(change.keeps_devices for change in whole):
        # Where there is a choice, nobody needs to hear that a resource could be left out.
        found, spare = whole, [change for change in found if not all(change.amounts.values())]
    base, then = starts[0]
    if all(change.cuts or _incomplete(change) for change in found) and not _floats(then.outcome):
        elsewhere = islice(altered_machine(then, altered), 1), islice(known_machines(then, known), MAX_BUNDLED)
        found += [_with(tries, base, change) for each in elsewhere for change in each]
    nearest = _nearest(tries, found, [])
    here = [change for change in nearest if not change.machine and not change.hardware]
    alone = len(here) == 1 and tries.goal == ADMITTED
    if alone or all(change.kind == "combination" for change in here):
        nearest = _nearest(tries, spare, nearest, most=len(nearest) + 1)
    if tries.goal == ADMITTED and not any(change.aligned is not False for change in nearest):
        nearest = [*nearest, *_aligned_on_top(tries, nearest)]
    told = sorted(reasons(tries, nearest), key=_order)
    return tuple(_without_long_ones(told))


def _candidates(tries: Tries, others: Machines) -> list[WayOut]:
    """Find changes of one kind, and of several where these are not good enough."""
    if tries.goal.met(tries.outcome):
        return [WayOut(True, tried=tries.outcome), *on_machines(tries, others)]
    found = [*on_machines(tries, others), *pods_moved(tries), *single_requests(tries), *other_settings(tries)]
    # What admits the pod only as others come first again is no way to rely on.
    found, leaning = [one for one in found if not one.needs_newcomers], [one for one in found if one.needs_newcomers]
    found = _without_rivals(found)
    if not any(change.keeps_devices for change in found):
        found += _combinations(tries, found)
    elif not any(change.amounts for change in found if change.keeps_devices and all(change.amounts.values())):
        moving = any(change.pods for change in found)
        cutting = cut_now(tries.requests) if moving else _as_it_is_set(tries)
        found += [change for change in cutting if _worth_telling(change, found)]
    asks_devices = any(amount for one in tries.outcome.demand.containers for _, amount in one.devices)
    if found and not (asks_devices or any(change.keeps_memory for change in found)):
        keeping = [change for change in two_settings(tries) if change.keeps_memory]
        found += sorted(keeping, key=lambda change: change.cost)[:1]
    return _without_large_raises(found) or leaning


def _aligned_on_top(tries: Tries, nearest: Sequence[WayOut]) -> list[WayOut]:
    """Add one more request or setting to a change that only admits a pod, so that it is aligned: the nearest such."""
    strict, found = Tries(tries.situation, tries.outcome, ALIGNED), list[WayOut]()
    for base in nearest:
        if base.machine or base.hardware or base.gone or verdict_of(base.outcome) != "spread":
            continue
        _, then = _after(strict, base)
        more = (one for one in (*single_requests(then), *other_settings(then)) if not one.kept_out)
        found += [_with(strict, base, one) for one in more]
    return [shrunk(strict, min(found, key=lambda change: change.cost))] if found else []


def _after(tries: Tries, base: WayOut) -> tuple[WayOut, Tries]:
    """Go on from where a change leads."""
    setup = tries.situation.setup
    situation = tries.situation._replace(setup=setup._replace(config=apply(setup.config, base.flags)))
    return base, Tries(situation, tries.after(base), tries.goal)


def _with(tries: Tries, base: WayOut, change: WayOut) -> WayOut:
    """Put a change on top of another one, after which it was tried; limits go along with the requests it changes."""
    if not (base.flags or base.amounts):
        return change
    limits = {one.name: one.limits for one in tries.outcome.pod.containers}
    amounts, asked = dict(base.amounts), {**change.asked, **base.asked}
    for key, nano in change.amounts.items():
        limit = (key[0], f"{LIMIT}{key[1]}")
        if key in amounts or limit in amounts:
            old = limits[key[0]].get(key[1])
            amounts[limit], asked[limit] = nano, old.nano if old is not None else 0
        if limit not in amounts or key in tries.requests.asked:
            amounts[key], asked[key] = nano, tries.requests.asked[key]
    kept = {key: nano for key, nano in amounts.items() if nano != asked[key]}
    return change._replace(flags={**base.flags, **change.flags}, amounts=kept, asked={key: asked[key] for key in kept})


def _without_rivals(found: Sequence[WayOut]) -> list[WayOut]:
    """Drop what helps only as other pods stay away, where anything else keeps all devices."""
    sure = [change for change in found if not change.kept_out]
    return sure if any(change.keeps_devices for change in sure) else list(found)


def _nearest(tries: Tries, found: Iterable[WayOut], kept: list[WayOut], most: int = MAX_CHANGES) -> list[WayOut]:
    """Add the first ones to those kept, few of a kind; of those of several parts only the parts that are needed."""
    for change in found:
        alike = [other for other in kept if other.kind == change.kind]
        # Who has no say in settings finds one of those cuts that need none.
        if len(alike) >= MAX_OF_A_KIND or (_cut_beside(change) and any(map(_cut_beside, alike))):
            continue
        needed = shrunk(tries, change)
        if any(covers(needed, other) for other in kept):
            continue
        split = shared(tries, needed)
        if not any(covers(split, other) for other in kept):  # two may differ in the split alone
            kept.append(split)
            if len(kept) == most:
                break
    return kept


def _order(change: WayOut) -> tuple[bool | float, ...]:
    """Give what changes are told by: what keeps the devices first, pods before settings of the node, what costs least.

    Machines that somebody asked about come before all that, others after; but what leaves the pod without a device that
    a machine does not have comes last.
    """
    elsewhere = bool(change.hardware or change.example)
    here = not change.machine or elsewhere
    kept = (not change.keeps_devices, change.leaves_out)
    settings = (bool(change.flags), change.cost)
    return (change.needs_newcomers, _incomplete(change), elsewhere, here, *kept, change.long, *settings)


def _floats(outcome: Outcome) -> bool:
    """Tell whether a container of an admitted pod has no CPUs of its own: on other machines it has none either."""
    return outcome.admit and any(judged.cpus_float for _, judged in alignments(outcome))


def _incomplete(change: WayOut) -> bool:
    """Tell whether the pod, admitted so, runs without a device that the machine does not have."""
    return verdict_of(change.outcome) == "incomplete"


def _cut_beside(change: WayOut) -> bool:
    """Tell whether requests are cut under another setting."""
    return bool(change.flags and change.amounts)


def _without_long_ones(told: Sequence[WayOut]) -> Iterator[WayOut]:
    """Drop changes of very many parts but the shortest one where all are, or where all others need a setting."""
    here = [change for change in told if not change.machine and not change.hardware]
    short = [change for change in here if not change.long]
    needed = [change for change in here if not change.flags] if short else here
    kept = min(needed, key=lambda change: change.length, default=None)
    yield from (change for change in told if not change.long or change is kept)


def _worth_telling(change: WayOut, others: Iterable[WayOut]) -> bool:
    """Tell whether a combination beside settings and moves is not too much: few parts, nothing left out, no worse.

    Where there are settings alone it may have many: who runs a pod may have no say in them.
    """
    parts = len(change.amounts) + bool(change.pods)
    as_good = change.aligned is not False or not any(other.aligned for other in others)
    few = parts <= MAX_PARTS_BESIDE or all(other.flags for other in others)
    return as_good and few and all(change.amounts.values())


def _without_large_raises(found: list[WayOut]) -> list[WayOut]:
    """Drop what more than doubles a request of memory, where anything else would do: nobody asks for that."""
    small = [change for change in found if not _raises_memory(change)]
    return small or found


def _raises_memory(change: WayOut) -> bool:
    """Tell whether much more memory is asked for, and not since the request is no whole number of bytes."""
    asked = change.asked
    return any(
        nano > 2 * asked[key] and is_memory(key[1]) and not asked[key] % NANO for key, nano in change.amounts.items()
    )


def _as_it_is_set(tries: Tries) -> Iterator[WayOut]:
    """Cut requests and move pods, the settings as they are."""
    yield from cut_now(tries.requests)
    if tries.outcome.before.pods:
        yield from cut_and_move(tries.outcome.before, tries.outcome.pod, tries.goal)


def _combinations(tries: Tries, known: Sequence[WayOut]) -> list[WayOut]:
    """Put changes together: first those that leave the settings alone; others where they lose a device.

    Where single changes are known, which all lose a device, only what keeps all of them is wanted; where these even
    leave one out, what keeps some of each, too; and what keeps more of it for pods that are moved away.
    """
    some_left = bool(known) and not any(all(change.amounts.values()) for change in known)

    def wanted(change: WayOut) -> bool:
        if not known or change.keeps_devices or _keeps_more(change, known):
            return True
        return some_left and all(change.amounts.values())

    searches: tuple[Callable[[], Iterable[WayOut]], ...] = (
        lambda: _as_it_is_set(tries),
        lambda: two_settings(tries),
        lambda: setting_and_cut(tries),
    )
    found: list[WayOut] = []
    for search in searches:
        found += [change for change in search() if wanted(change)]
        if any(change.keeps_devices or some_left for change in found):
            break
    return found


def _keeps_more(change: WayOut, known: Sequence[WayOut]) -> bool:
    """Tell whether moves let a pod keep more of the one request that is cut than without them."""
    same = [one for one in known if one.amounts.keys() == change.amounts.keys() and not one.pods and not one.flags]
    more = all(nano > one.amounts[key] for one in same for key, nano in change.amounts.items())
    return bool(change.pods and same) and len(change.amounts) == 1 and more
