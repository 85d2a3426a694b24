"""What would be in the way next, where no cut of a single request does: the facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from numalign.analysis.reasons.order import key, reasons
from numalign.model.resources import CPU
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.analysis.refusal import Refusal
    from numalign.analysis.whatif.change import WayOut


class Rivals(NamedTuple):
    """Containers want the same few devices: which change takes them from whom."""

    resource: str
    capacity: int
    changes: tuple[tuple[str, int | None], ...]
    """(container, number of the change)."""


class ThenNext(NamedTuple):
    """To change some resources alone is not enough."""

    resources: tuple[str, ...]
    container: str | None
    """Where; None: in the pod."""
    asked: tuple[tuple[str, str, int], ...]
    """(container, resource, billionths) that would be in the way then."""


def next_in_the_way(
    refusal: Refusal, besides: Sequence[Refusal], changes: Sequence[WayOut], *, several: bool
) -> Iterator[Rivals | ThenNext]:
    """Tell what would be in the way next.

    The refusal names what the kubelet met first; who asks for less of only that is refused again.

    Args:
        refusal: why the pod is refused.
        besides: what else refuses it.
        changes: what would admit it.
        several: the pod has several containers.
    """
    if any(len(change.amounts) == 1 and len(change.parts) == 1 for change in changes):
        return
    rivals = list(_rivals(refusal, changes))
    yield from rivals
    cutting = [change for change in changes if change.amounts and not change.flags]
    change = next((one for one in cutting if len(one.amounts) > 1), None)
    if rivals or change is None:
        return
    head = _keys(refusal)  # what is told of the refused container is not told of another once more
    others_too = {name for one in besides for name in one.resources if not head >= _keys(one)}
    spared = {key for part in change.parts if part.unshared for key in part.change.amounts}
    unnamed = _not_named(refusal, change.amounts)
    others = [key for key in unnamed if key[1] not in others_too and key not in spared]
    if len(others) == len(change.amounts):
        return
    # What one change leaves alone is in the way only as long as something else stays as it is.
    sure = [key for key in others if all(key in one.amounts for one in cutting)]
    if not sure:
        return
    named = [key[1] for key in change.amounts if key not in others and key[1] not in others_too]
    where = refusal.at if several else None
    first = tuple(dict.fromkeys(named or refusal.resources))
    yield ThenNext(first, where, tuple([(*key, change.asked[key]) for key in sure]))


def _keys(refusal: Refusal) -> set[object]:
    return {(key(one.fact), one.case, one.of) for one in reasons(refusal)}


def _rivals(refusal: Refusal, changes: Sequence[WayOut]) -> Iterator[Rivals]:
    """Tell which containers want the same few devices, and which change takes them from whom."""
    for one in refusal.around.sums:
        names = [name for name, _ in one.parts]
        loser = {
            number: [name for name in names if (name, one.resource) in change.amounts]
            for number, change in enumerate(changes, start=1)
        }
        if any(len(each) != 1 for each in loser.values()) or len({each[0] for each in loser.values()}) < 2:
            continue
        where = {name: next((number for number, each in loser.items() if each == [name]), None) for name in names}
        yield Rivals(one.resource, one.capacity, tuple(where.items()))


def _not_named(refusal: Refusal, amounts: Mapping[tuple[str, str], int]) -> Sequence[tuple[str, str]]:
    """List the (container, resource) pairs that a refusal does not name; in scope `pod` it is about all containers."""
    named = {row.resource for row in (*refusal.culprits, *refusal.also)}
    named |= {one.resource for one in refusal.amounts}
    added_up = {one.resource for one in refusal.around.sums}  # of these all containers are named
    at = refusal.at
    odd = {(name, CPU) for name, _ in refusal.around.cores.others} if refusal.around.cores else set()
    odd |= {(one.container, one.resource) for one in refusal.around.unreadable}
    left = [key for key in amounts if key[1] not in named or at not in (None, key[0])]
    left = [key for key in left if key[1] not in added_up and key not in odd]
    return left if refusal.mended is None else [key for key in left if key in _not_named(refusal.mended, amounts)]
