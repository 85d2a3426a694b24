"""Why each part of a change is needed: the same change without that part, or with a little more, tried on the twin.

A part without which the pod is admitted, too, is left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from numalign.analysis.alignment import aligned
from numalign.analysis.in_the_way import Amount
from numalign.analysis.matrix import on_the_machine
from numalign.analysis.refusal import Refusal, taken_apart
from numalign.analysis.whatif.change import Part, WayOut
from numalign.analysis.whatif.cuts import SHARE, is_device, steps
from numalign.analysis.whatif.past import anew, held_by, with_others_first
from numalign.analysis.whatif.policies import too_strict
from numalign.analysis.whatif.settings import CPU_POLICY_OPTIONS, GATES, TOPOLOGY_POLICY_OPTIONS
from numalign.analysis.whatif.situation import Situation
from numalign.analysis.whatif.swaps import or_in
from numalign.analysis.whatif.tries import Tries, gone, newcomers, sound, without_newcomers
from numalign.kubelet.admission import Outcome
from numalign.kubelet.demand import of_node
from numalign.kubelet.fit.check import Shortage, check
from numalign.model.quantity import NANO
from numalign.model.resources import CPU, MEMORY

MAX_STAYING = 6
"""Of how many pods to move it is tried what one of them alone is in the way of."""

LARGER_TRIED = 8
"""In how many parts the way from a cut amount to the asked one is divided to look whether more would do."""


def without_needless(situation: Situation, outcome: Outcome, change: WayOut) -> WayOut:
    """Leave out of a combination what is not needed."""
    if change.kind != "combination":
        return change
    tries = Tries(situation, outcome, {})
    for part in _parts(change):
        rest = _rest(change, part)
        if not _count(rest):
            continue
        tried = tries.admitted(rest)
        if tried is not None:
            change = rest._replace(tried=tried, aligned=aligned(tried))
    return change if _count(change) > 1 else change._replace(kind=_parts(change)[0].kind)


def given_back(situation: Situation, outcome: Outcome, change: WayOut) -> WayOut:
    """Give back of each cut request what is admitted with all the rest of a change: what it ends at is the most tried.

    More may do where a little more does not, as other nodes are chosen then; so some larger amounts are tried, too.
    """
    tries = Tries(situation, outcome, {})
    session = tries.session(change)
    cut = {key: nano for key, nano in change.amounts.items() if nano < change.asked[key]}
    if session is None or not cut:
        return change
    for key, step in steps(session, {key: change.asked[key] for key in cut}).items():
        if change.amounts[key] % step or (key[1] == CPU and change.asked[key] % NANO):
            continue
        low, most = change.amounts[key] // step, (change.asked[key] - 1) // step
        places = {most, low + 1, *(low + (most - low) * part // LARGER_TRIED for part in range(1, LARGER_TRIED))}
        high = most + 1
        for place in sorted((one for one in places if low < one <= most), reverse=True):
            more = _as_good(tries, change, key, place * step)
            if more is None:
                high = place
                continue
            change, low = more, place
            while high - low > 1:
                middle = (low + high) // 2
                more = _as_good(tries, change, key, middle * step)
                change, low, high = (more, middle, high) if more else (change, low, middle)
            break
    return change


def _as_good(tries: Tries, change: WayOut, key: tuple[str, str], nano: int) -> WayOut | None:
    """Try another amount in a change; None: the pod is refused with it, or not aligned where it was."""
    more = change._replace(amounts={**change.amounts, key: nano})
    tried = tries.admitted(more)
    if tried is None or not sound(tried) or (change.aligned and not aligned(tried)):
        return None
    return more._replace(tried=tried, aligned=aligned(tried))


def covers(change: WayOut, other: WayOut) -> bool:
    """Tell whether a change does all that another does, and no better: who knows the other does not need it."""
    if (change.machine, change.hardware) != (other.machine, other.hardware) or (change.aligned and not other.aligned):
        return False
    return (
        other.flags.items() <= change.flags.items()
        and {pod.uid for pod in gone(other)} <= {pod.uid for pod in gone(change)}
        and all(
            key in change.amounts and (nano - change.asked[key]) * (change.amounts[key] - nano) >= 0
            for key, nano in other.amounts.items()
        )
    )


def besides(situation: Situation, outcome: Outcome, ways: Iterable[WayOut]) -> Iterator[Refusal]:
    """Tell what else refuses the pod for ever, whatever is done about the rest: a refusal for each resource.

    The kubelet tells what it meets first. So all of the nearest change on this machine is done but what is about one
    resource, or about one setting.
    """
    here = [one for one in ways if not (one.machine or one.hardware or one.kept_out)]
    nearest = next(iter(here), None)
    if nearest is not None and nearest.flags and len(nearest.parts) < 2:
        # What a setting alone mends at once may be several things as it is set.
        as_set = [one for one in here if not one.flags]
        nearest = min(as_set, key=lambda one: len(one.parts), default=None)
    if nearest is None or len(nearest.parts) < 2:
        return
    now = taken_apart(outcome)
    tries, told = Tries(situation, outcome, {}), {(now.at, name) for name in now.resources}
    told.update((now.at, row.resource) for row in now.also if now.too_large(row))
    for each in _by_resource(nearest):
        part = each if each.flags else _not_told(each, told)
        if not part.amounts and not part.flags:
            continue
        rest = _rest(nearest, part)
        tried = tries.attempt(rest)
        found = None if tried is None or tried.admit else _taken_apart(tried, rest, part)
        if found is None or not found.lasting or found.around.reduced & set(found.resources):
            continue  # what a change only brings about is told where it stands
        if part.amounts != each.amounts and found.around.sums:
            continue  # a sum with what is cut elsewhere is nobody's
        ever = found.for_ever()
        some = {(found.at, name) for name in ever.resources}
        if not told.issuperset(some) or (found.odd_cores and not now.odd_cores):
            told.update(some)
            yield ever


def _not_told(part: WayOut, told: Collection[tuple[str | None, str]]) -> WayOut:
    """Keep of a part the containers that it is not told of; what is told of a whole pod is told of each."""
    amounts = {key: nano for key, nano in part.amounts.items() if key not in told and (None, key[1]) not in told}
    return part._replace(amounts=amounts, asked={key: part.asked[key] for key in amounts})


def _by_resource(change: WayOut) -> Iterator[WayOut]:
    """Take a change apart as `_parts` does, the amounts of one resource together; without the pods to move."""
    parts = [part for part in _parts(change) if not part.pods]
    names = dict.fromkeys(name for _, name in change.amounts)
    for name in sorted(names, key=lambda one: (one != CPU, one != MEMORY)):
        amounts = {key: nano for key, nano in change.amounts.items() if key[1] == name}
        asked = {key: change.asked[key] for key in amounts}
        parts = [part for part in parts if not amounts.keys() >= part.amounts.keys() or not part.amounts]
        parts.append(WayOut("request", change.cost, change.aligned, amounts=amounts, asked=asked))
    yield from parts


def reasons(situation: Situation, outcome: Outcome, changes: Iterable[WayOut]) -> Iterator[WayOut]:
    """Say of each part of changes why it is needed."""
    changes = tuple(changes)
    for change in changes:
        tries = Tries(situation, outcome, {})
        session = tries.session(change) if change.flags else None
        told = change._replace(
            or_else=_or_else(tries, change),
            or_in=or_in(tries, change, changes),
            cores=_cores(tries, change),
            own_cpus=outcome.pod.qos == "Guaranteed",
        )
        new = newcomers(outcome, change)
        alone = without_newcomers(situation, outcome, change) if new else None
        leaning = bool(new) and (alone is None or not alone.admit)
        fare = anew(outcome.before, session, change.pods, change.kept_out) if session else None
        if fare is not None and alone is not None and leaning:
            fare = with_others_first(fare, outcome.before, alone)
        yield told._replace(
            too_strict=too_strict(tries, change),
            parts=tuple([_reason(tries, told, part) for part in _parts(told)]),
            needs_newcomers=leaning,
            anew=fare,
            alone=alone if alone is not None and change.aligned is False and _better(alone, outcome) else None,
        )


def _better(alone: Outcome, outcome: Outcome) -> bool:
    """Tell whether a pod is aligned with no pods but those that are there now."""
    there = {pod.uid for pod in outcome.before.pods}
    return alone.admit and there >= {pod.uid for pod in alone.before.pods} and aligned(alone) is True


def _cores(tries: Tries, change: WayOut) -> int:
    """Tell of how many CPUs a core is that is given out as a whole after a change; 1: single CPUs are given out."""
    session, whole = tries.session(change), ("", CPU)
    return steps(session, {whole: NANO})[whole] // NANO if session else 1


def _or_else(tries: Tries, change: WayOut) -> dict[tuple[str, str], int]:
    """Find of what grows to whole cores or bytes the next number below that does as well, on the same nodes.

    Of a change of CPUs alone that is a change of its own.
    """
    session, found = tries.session(change), dict[tuple[str, str], int]()
    grown = {key: change.asked[key] for key, nano in change.amounts.items() if nano > change.asked[key]}
    if session is None or change.tried is None:
        return found
    for key, step in steps(session, grown).items():
        less = grown[key] // step * step
        if not less or less == grown[key] or (key[1] == CPU and _count(change) == 1):
            continue
        tried = tries.attempt(change._replace(amounts={**change.amounts, **found, key: less}))
        if tried is not None and tried.admit and tried.result.hints == change.tried.result.hints:
            found[key] = less
    return found


def _reason(tries: Tries, change: WayOut, part: WayOut) -> Part:
    """Try a change without one part; of a cut request with the next larger amount."""
    if part.machine or part.hardware:
        return Part(part, None)
    more = _with_more(tries, change, part)
    tried = tries.attempt(more) if more else None
    if more is not None and tried is not None and not tried.admit:
        return Part(
            part,
            _taken_apart(tried, more, part),
            larger=more.amounts[next(iter(part.amounts))],
            whole=_whole(change, part),
        )
    session = tries.session(change) if part.pods else None
    held = held_by(session, part.pods) if session else ()
    staying = _staying(tries, change, part) if 1 < len(part.pods) <= MAX_STAYING else ()
    rest = _rest(change, part)
    tried = tries.attempt(rest)
    short = _short_as_a_whole(tried) if tried is not None and part.pods else ()
    if _count(change) == 1:
        return Part(part, None, held=held, short=short, staying=staying)  # without it there is the refusal itself
    found = None if tried is None or tried.admit else _taken_apart(tried, rest, part)
    return Part(part, found, held=held, short=short, staying=staying)


def _whole(change: WayOut, part: WayOut) -> Amount | None:
    """Count the CPUs of the node as a whole, where a part asks for a share of one instead of CPUs of its own."""
    tried = change.tried
    view = tried.before.view if tried is not None else None
    if tried is None or view is None or CPU not in view.allocatable or not tried.before.node.cpu.static:
        return None
    cut = [(nano, part.asked[key]) for key, nano in part.amounts.items() if key[1] == CPU]
    if not any(nano % NANO and not asked % NANO for nano, asked in cut):
        return None
    used = sum(of_node(pod).get(CPU, 0) for pod in tried.before.pods)
    return Amount(CPU, of_node(tried.pod).get(CPU, 0), used, view.allocatable[CPU].nano)


def _short_as_a_whole(tried: Outcome) -> tuple[Shortage, ...]:
    """Name what the node as a whole has too little of, but for devices, also where the kubelet looked no further."""
    view = tried.before.view
    failures = check(tried.pod, tried.before.pods, view).failures if view else ()
    return tuple([one for one in failures if isinstance(one, Shortage) and not is_device(one.resource)])


def _staying(tries: Tries, change: WayOut, part: WayOut) -> tuple[Refusal, ...]:
    """Tell how the pod is refused as long as one of the pods to move stays, for each; nothing where one may."""
    kept = [change._replace(pods=tuple(one for one in part.pods if one is not pod)) for pod in part.pods]
    tried = [(tries.attempt(one), one) for one in kept]
    found = [_taken_apart(outcome, one, part) for outcome, one in tried if outcome is not None and not outcome.admit]
    return tuple(found) if len(found) == len(kept) else ()


def _taken_apart(tried: Outcome, change: WayOut, part: WayOut) -> Refusal:
    """Take a refusal apart; it knows of which resources a change asks for less, but for the part that it is about."""
    found = taken_apart(tried)
    at = found.matrix.container if found.matrix else found.container
    reduced = frozenset(
        resource
        for (container, resource), nano in change.amounts.items()
        if at in (None, container) and nano < change.asked[container, resource]
    )
    around = found.around._replace(reduced=reduced - {name for _, name in part.amounts})
    elsewhere = change.pods or (change.flags and tried.before.pods)
    return found._replace(around=around._replace(when="then") if elsewhere else around)


def _with_more(tries: Tries, change: WayOut, part: WayOut) -> WayOut | None:
    """Ask for one CPU, core, device, page or MiB more than a cut leaves; None: the part is no such cut.

    Of a resource that is left out that is the first one, if the machine has any.
    """
    session = tries.session(change)
    if session is None:
        return None
    for key, nano in part.amounts.items():
        asked = part.asked[key]
        step = steps(session, {key: asked})[key]
        if nano % NANO and key[1] == CPU and not asked % NANO:
            # from a share of a CPU to the first whole ones, which are others; where nobody pins any they are not
            step = step - nano if change.own_cpus and session.node.cpu.static else SHARE
        any_there = nano or on_the_machine(session.node, session.state, key[1])[1]
        if any_there and nano + step < asked:
            return change._replace(amounts={**change.amounts, key: nano + step})
    return None


def _parts(change: WayOut) -> list[WayOut]:
    """Take a change apart: the machine, each setting, each request, the pods."""
    nothing = WayOut(change.kind, change.cost, change.aligned, cores=change.cores, own_cpus=change.own_cpus)
    found = []
    if change.machine or change.hardware:
        found.append(
            nothing._replace(kind="machine", machine=change.machine, hardware=change.hardware, example=change.example)
        )
    # A feature gate is there for the option beside it.
    gates = {flag: text for flag, text in change.flags.items() if flag == GATES}
    for flag, text in change.flags.items():
        if flag in (CPU_POLICY_OPTIONS, TOPOLOGY_POLICY_OPTIONS):
            found.append(nothing._replace(kind="setting", flags={flag: text, **gates}))
            gates = {}
        elif flag != GATES:
            found.append(nothing._replace(kind="setting", flags={flag: text}))
    found += [
        nothing._replace(
            kind="request",
            amounts={key: nano},
            asked={key: change.asked[key]},
            or_else={one: less for one, less in change.or_else.items() if one == key},
            or_in={one: others for one, others in change.or_in.items() if one == key},
        )
        for key, nano in change.amounts.items()
    ]
    if change.pods:
        found.append(nothing._replace(kind="pods", pods=change.pods, fewest=change.fewest, or_pods=change.or_pods))
    return found


def _rest(change: WayOut, part: WayOut) -> WayOut:
    """Return a change without one of its parts."""
    return change._replace(
        flags={flag: text for flag, text in change.flags.items() if flag not in part.flags},
        amounts={key: nano for key, nano in change.amounts.items() if key not in part.amounts},
        asked={key: nano for key, nano in change.asked.items() if key not in part.amounts},
        pods=() if part.pods else change.pods,
    )


def _count(change: WayOut) -> int:
    return len(_parts(change))
