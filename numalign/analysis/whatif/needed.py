"""What of a change is needed: parts that nothing comes of are left out, and as much as can be is given back."""

from __future__ import annotations

from numalign.analysis.alignment import aligned
from numalign.analysis.whatif.change import WayOut
from numalign.analysis.whatif.cuts import steps
from numalign.analysis.whatif.parts import parts_of, without_part
from numalign.analysis.whatif.tries import Tries, as_sound, gone
from numalign.model.quantity import NANO
from numalign.model.resources import CPU

LARGER_TRIED = 8
"""In how many parts the way from a cut amount to the asked one is divided to look whether more would do."""


def without_needless(tries: Tries, change: WayOut) -> WayOut:
    """Leave out of a combination what is not needed."""
    if change.kind != "combination":
        return change
    for part in parts_of(change):
        rest = without_part(change, part)
        if not parts_of(rest):
            continue
        tried = tries.admitted(rest)
        if tried is not None and as_sound(tried, change):
            change = rest._replace(tried=tried, aligned=aligned(tried))
    return change if len(parts_of(change)) > 1 else change._replace(kind=parts_of(change)[0].kind)


def given_back(tries: Tries, change: WayOut) -> WayOut:
    """Give back of each cut request what is admitted with all the rest of a change: what it ends at is the most tried.

    More may do where a little more does not, as other nodes are chosen then; so some larger amounts are tried, too.
    """
    session = tries.session(change)
    cut = {key: nano for key, nano in change.amounts.items() if nano < change.asked[key]}
    if session is None or not cut:
        return change
    for key, step in steps(session, {key: change.asked[key] for key in cut}).items():
        if key[1] == CPU and (change.amounts[key] % step or change.asked[key] % NANO):
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
    if tried is None or not as_sound(tried, change) or (change.aligned and not aligned(tried)):
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
