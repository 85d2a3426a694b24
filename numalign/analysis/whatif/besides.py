"""What else refuses a pod for ever, whatever is done about the rest: all of a change but one part, tried."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from numalign.analysis.refusal import Refusal, taken_apart
from numalign.analysis.whatif.change import WayOut
from numalign.analysis.whatif.parts import parts_of, refused_with, without_part
from numalign.analysis.whatif.tries import Tries
from numalign.model.resources import CPU, MEMORY


def besides(tries: Tries, ways: Iterable[WayOut]) -> Iterator[Refusal]:
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
    now = taken_apart(tries.outcome)
    told = {(now.at, name) for name in now.resources}
    told.update((now.at, row.resource) for row in now.also if now.too_large(row))
    for each in _by_resource(nearest):
        part = each if each.flags else _not_told(each, told)
        if not part.amounts and not part.flags:
            continue
        rest = without_part(nearest, part)
        tried = tries.attempt(rest)
        found = None if tried is None or tried.admit else refused_with(tried, rest, part)
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
    """Take a change apart as `parts_of` does, the amounts of one resource together; without the pods to move."""
    parts = [part for part in parts_of(change) if not part.pods]
    names = dict.fromkeys(name for _, name in change.amounts)
    for name in sorted(names, key=lambda one: (one != CPU, one != MEMORY)):
        amounts = {key: nano for key, nano in change.amounts.items() if key[1] == name}
        asked = {key: change.asked[key] for key in amounts}
        parts = [part for part in parts if not amounts.keys() >= part.amounts.keys() or not part.amounts]
        parts.append(WayOut("request", change.cost, change.aligned, amounts=amounts, asked=asked))
    yield from parts
