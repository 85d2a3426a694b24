"""Why each part of a change is needed: the same change without that part, or with a little more, tried on the twin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from numalign.analysis.alignment import aligned
from numalign.analysis.in_the_way import Amount
from numalign.analysis.matrix import on_the_machine
from numalign.analysis.refusal import Refusal
from numalign.analysis.whatif.besides import too_strict
from numalign.analysis.whatif.change import Part, WayOut, parts_of, refused_with, without_part
from numalign.analysis.whatif.past import anew, held_by, with_others_first
from numalign.analysis.whatif.shrink import or_in
from numalign.analysis.whatif.tries import SHARE, Tries, as_sound, may_pin, steps
from numalign.kubelet.admission import Outcome
from numalign.kubelet.demand import with_overhead
from numalign.kubelet.fit.check import Shortage, check_node_fit
from numalign.model.quantity import NANO
from numalign.model.resources import CPU, is_device

MAX_STAYING = 6
"""Of how many pods to move it is tried what one of them alone is in the way of."""


def reasons(tries: Tries, changes: Sequence[WayOut]) -> Iterator[WayOut]:
    """Say of each part of changes why it is needed."""
    outcome = tries.outcome
    for change in changes:
        session = tries.session(change) if change.flags else None
        told = change._replace(
            or_else=_or_else(tries, change),
            or_in=or_in(tries, change, changes),
            cores=_cores(tries, change),
            own_cpus=outcome.pod.qos == "Guaranteed",
        )
        alone = tries.alone(change)
        leaning = alone is None or not tries.goal.met(alone)
        fare = anew(outcome.before, session, change.pods, change.kept_out) if session else None
        if fare is not None and alone is not None and leaning:
            fare = with_others_first(fare, outcome.before, alone)
        better = alone if change.aligned is False and _better(alone, outcome) else None
        yield told._replace(
            too_strict={} if tries.goal.aligned else too_strict(tries, change),
            parts=tuple([_reason(tries, told, part) for part in parts_of(told)]),
            needs_newcomers=leaning,
            anew=fare,
            alone=better,
            if_they_end=_if_they_end(tries, change) if better is not None else (),
        )


def _if_they_end(tries: Tries, change: WayOut) -> tuple[str, ...]:
    """Try a change with the pods that come first under it gone again: what `--without` does."""
    first = tries.first_then(change)
    pods = tuple([pod for pod in change.outcome.before.pods if pod.uid in first])
    tried = tries.after(change._replace(kept_out=pods))
    return tuple([pod.name for pod in pods]) if aligned(tried) else ()


def _better(alone: Outcome | None, outcome: Outcome) -> bool:
    """Tell whether a pod is aligned with no pods but those that are there now."""
    there = {pod.uid for pod in outcome.before.pods}
    return (
        alone is not None and alone.admit and there >= {pod.uid for pod in alone.before.pods} and aligned(alone) is True
    )


def _cores(tries: Tries, change: WayOut) -> int:
    """Tell of how many CPUs a core is that is given out as a whole after a change; 1: single CPUs are given out."""
    session, whole = tries.session(change), ("", CPU)
    return steps(session, {whole: NANO})[whole] // NANO if may_pin(session, tries.outcome.pod) else 1


def _or_else(tries: Tries, change: WayOut) -> dict[tuple[str, str], int]:
    """Find of what grows to whole cores or bytes the next number below that does as well, on the same nodes.

    Of a change of CPUs alone that is a change of its own.
    """
    found = dict[tuple[str, str], int]()
    grown = {key: change.asked[key] for key, nano in change.amounts.items() if nano > change.asked[key]}
    for key, step in steps(tries.session(change), grown).items():
        less = grown[key] // step * step
        if not less or less == grown[key] or (key[1] == CPU and len(parts_of(change)) == 1):
            continue
        tried = tries.after(change._replace(amounts={**change.amounts, **found, key: less}))
        if tried.admit and tried.result.hints == change.outcome.result.hints:
            found[key] = less
    return found


def _reason(tries: Tries, change: WayOut, part: WayOut) -> Part:
    """Try a change without one part; of a cut request with the next larger amount."""
    if tries.goal.aligned:
        return Part(part, None, held=held_by(tries.outcome.before, part.pods))
    more = _with_more(tries, change, part)
    if more:
        tried = tries.after(more)
        if not tried.admit or not as_sound(tried, change):
            return Part(
                part,
                None if tried.admit else refused_with(tried, more, part),
                larger=more.amounts[next(iter(part.amounts))],
                whole=_whole(change, part),
                unshared=tried.admit,
            )
    held = held_by(tries.session(change), part.pods)
    staying = _staying(tries, change, part) if 1 < len(part.pods) <= MAX_STAYING else ()
    rest = without_part(change, part)
    if tries.under(rest.flags) is None:
        return Part(part, None)
    tried = tries.after(rest)
    short = _short_as_a_whole(tried) if part.pods else ()
    if len(parts_of(change)) == 1:
        return Part(part, None, held=held, short=short, staying=staying)  # without it there is the refusal itself
    found = None if tried.admit else refused_with(tried, rest, part)
    unshared = tried.admit and not as_sound(tried, change)
    apart = bool(change.aligned and tried.admit and not aligned(tried))
    return Part(part, found, held=held, short=short, staying=staying, unshared=unshared, apart=apart)


def _whole(change: WayOut, part: WayOut) -> Amount | None:
    """Count the CPUs of the node as a whole, where a part asks for a share of one instead of CPUs of its own."""
    tried, view = change.outcome, change.outcome.before.view
    if view is None or CPU not in view.allocatable or not may_pin(tried.before, tried.pod):
        return None
    cut = [(nano, part.asked[key]) for key, nano in part.amounts.items() if key[1] == CPU]
    if not any(nano % NANO and not asked % NANO for nano, asked in cut):
        return None
    used = sum(with_overhead(pod).get(CPU, 0) for pod in tried.before.pods)
    return Amount(CPU, with_overhead(tried.pod).get(CPU, 0), used, view.allocatable[CPU].nano)


def _short_as_a_whole(tried: Outcome) -> tuple[Shortage, ...]:
    """Name what the node as a whole has too little of, but for devices, also where the kubelet looked no further."""
    view = tried.before.view
    failures = check_node_fit(tried.pod, tried.before.pods, view).failures if view else ()
    return tuple([one for one in failures if isinstance(one, Shortage) and not is_device(one.resource)])


def _staying(tries: Tries, change: WayOut, part: WayOut) -> tuple[Refusal | None, ...]:
    """Tell how the pod is refused as long as one of the pods to move stays, for each; nothing where one may.

    None: it is admitted, and leaves no CPU to share.
    """
    found: list[Refusal | None] = []
    for pod in part.pods:
        kept = change._replace(pods=tuple(one for one in part.pods if one is not pod))
        tried = tries.after(kept)
        if tried.admit and as_sound(tried, change):
            return ()
        found.append(None if tried.admit else refused_with(tried, kept, part))
    return tuple(found)


def _with_more(tries: Tries, change: WayOut, part: WayOut) -> WayOut | None:
    """Ask for one CPU, core, device, page or MiB more than a cut leaves; None: the part is no such cut.

    Of a resource that is left out that is the first one, if the machine has any.
    """
    session = tries.session(change)
    for key, nano in part.amounts.items():
        asked = part.asked[key]
        step = steps(session, {key: asked})[key]
        if nano % NANO and not asked % NANO:
            # from a share of a CPU to the first whole ones, which are others; where nobody pins any they are not
            step = step - nano if may_pin(session, tries.outcome.pod) else SHARE
        any_there = nano or on_the_machine(session.node, session.state, key[1])[1]
        if any_there and nano + step < asked:
            return change._replace(amounts={**change.amounts, key: nano + step})
    return None
