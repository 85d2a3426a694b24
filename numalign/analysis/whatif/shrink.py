"""Passes that make a set of edits small, as a failing test is: what is needed of it, and how it is told.

An edit is dropped, or weakened as far as it goes; the pass that failed is the reason why no less will do. Only the sum
counts of cuts of one resource in several containers where another split of it does as well. Who takes the last CPU to
share keeps the kubelet from starting again (docs/rules/cpu-manager.md 4.8). Where one container is to do without a
resource people choose by what they need.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from numalign.analysis.alignment import aligned
from numalign.analysis.whatif.change import Key, WayOut, parts_of, without_part
from numalign.analysis.whatif.tries import LARGER_TRIED, SHARE, Tries, as_sound, may_pin, sound, steps
from numalign.kubelet.cpu.allocate import POOL_EMPTY
from numalign.model.pod import Pod
from numalign.model.quantity import NANO
from numalign.model.resources import CPU, is_device

VERY_LITTLE = 4
"""Less than one part in so many of what is asked."""


def shrunk(tries: Tries, change: WayOut) -> WayOut:
    """Drop what is not needed of a change, and weaken the rest, until neither can be done."""
    while (less := weakened(tries, dropped(tries, change))) is not change:
        change = less
    return change


def dropped(tries: Tries, change: WayOut) -> WayOut:
    """Leave out of a change of several parts what is not needed; elsewhere nothing is tried once more."""
    for part in parts_of(change) if not (change.machine or change.hardware) else ():
        rest = without_part(change, part)
        tried = tries.admitted(rest)
        if tried is not None and as_sound(tried, change):
            change = rest._replace(tried=tried, aligned=aligned(tried))
    return change


def weakened(tries: Tries, change: WayOut) -> WayOut:
    """Give back of each cut request what is admitted with all the rest of a change: what it ends at is the most tried.

    More may do where a little more does not, as other nodes are chosen then; so some larger amounts are tried, too.
    """
    cut = {key: change.asked[key] for key in change.cuts}
    for key, step in steps(tries.session(change), cut).items():
        if key[1] == CPU and (change.amounts[key] % step or change.asked[key] % NANO):
            continue
        low, most = change.amounts[key] // step, (change.asked[key] - 1) // step
        places = {most, low + 1, *(low + (most - low) * part // LARGER_TRIED for part in range(1, LARGER_TRIED))}
        high = most
        for place in sorted((one for one in places if low < one <= most), reverse=True):
            more = _no_worse(tries, change._replace(amounts={**change.amounts, key: place * step}))
            if more is None:
                high = place
                continue
            change, low = more, place
            while high - low > 1:
                middle = (low + high) // 2
                more = _no_worse(tries, change._replace(amounts={**change.amounts, key: middle * step}))
                change, low, high = (more, middle, high) if more else (change, low, middle)
            break
    return change


def _no_worse(tries: Tries, change: WayOut) -> WayOut | None:
    """Try a change with other amounts than so far; None: the pod is refused, or no longer aligned or sound."""
    tried = tries.admitted(change)
    if tried is None or not as_sound(tried, change) or (change.aligned and not aligned(tried)):
        return None
    return change._replace(tried=tried, aligned=aligned(tried))


def shared(tries: Tries, change: WayOut) -> WayOut:
    """Split what containers may have of a resource as they ask for it, where only the sum counts.

    Who asks for little is left as it is, where the others can do with what that leaves. All that is tried: the pod is
    admitted, as well aligned, with the same sum split so, and with nearly all of it in either container; and with no
    more of it.
    """
    session, pod = tries.session(change), tries.outcome.pod
    for asked in _cut_together(pod, change):
        total = sum(change.amounts.get(key, nano) for key, nano in asked.items())
        step = max(steps(session, asked).values())
        if any(key[1] == CPU and change.amounts.get(key, 0) % NANO for key in asked):
            if may_pin(session, pod):
                continue  # a split with a whole number of CPUs asks for CPUs of its own
            step = SHARE
        splits = [_sparing_little(asked, total, step), *(_mostly_to(key, asked, total, step) for key in asked)]
        found = [_no_worse(tries, _with_split(change, asked, split)) for split in splits]
        same = [one for one in found if one is not None and one.aligned == change.aligned]
        if len(same) == len(found) and shrunk(tries, same[0]) == same[0]:
            change = same[0]._replace(together=(*change.together, tuple(asked)))
        elif _starve(asked, change.amounts):
            fairer = [
                split for split in (_from_the_largest(asked, total, step), splits[0]) if not _starve(asked, split)
            ]
            tried = (_no_worse(tries, _with_split(change, asked, split)) for split in fairer)
            fair = next(filter(None, tried), None)
            change = shrunk(tries, fair) if fair is not None else change
    return change


def _starve(asked: Mapping[Key, int], split: Mapping[Key, int]) -> bool:
    """Tell whether a split leaves somebody very little."""
    return any(split.get(key, nano) * VERY_LITTLE < nano for key, nano in asked.items())


def _from_the_largest(asked: Mapping[Key, int], total: int, step: int) -> dict[Key, int]:
    """Cut who asks for most alone, in whole steps; that may leave it nothing, or less."""
    largest = max(asked, key=lambda key: asked[key])
    left = total - sum(nano for key, nano in asked.items() if key != largest)
    return {**asked, largest: left // step * step}


def _with_split(change: WayOut, asked: Mapping[Key, int], split: Mapping[Key, int]) -> WayOut:
    """Ask for the same sum in other parts; what stays as it is asked for is no part of the change."""
    every = {**change.asked, **asked}
    amounts = {key: nano for key, nano in {**change.amounts, **split}.items() if nano != every[key]}
    return change._replace(amounts=amounts, asked=every)


def _cut_together(pod: Pod, change: WayOut) -> Iterator[dict[Key, int]]:
    """List the requests of a resource that are cut in several containers that run together, with what is asked.

    Where one of several requests is cut to very little, those of the resource that are not cut belong to them.
    """
    lasting = {one.name: one.requests for one in pod.containers if one.kind != "init"}
    cut = {key: nano for key, nano in change.amounts.items() if key[0] in lasting and 0 < nano < change.asked[key]}
    for resource in dict.fromkeys(name for _, name in cut):
        asked = {key: change.asked[key] for key in cut if key[1] == resource}
        if len(cut) > 1 and any(cut[key] * VERY_LITTLE < nano for key, nano in asked.items()):
            whole = {(name, resource): each[resource].nano for name, each in lasting.items() if resource in each}
            asked = {key: nano for key, nano in whole.items() if nano and change.amounts.get(key, nano)}
        if len(asked) > 1:
            yield asked


def _mostly_to(first: Key, asked: Mapping[Key, int], total: int, step: int) -> dict[Key, int]:
    """Split a sum so that one has as much as it asks for, and the others what is left, in whole steps.

    A container can do without a device at all, so that its share may be none.
    """
    least = 0 if is_device(first[1]) else step
    split: dict[Key, int] = {}
    for place, key in enumerate((first, *(one for one in asked if one != first)), start=1):
        split[key] = min(asked[key] // step * step, total - sum(split.values()) - least * (len(asked) - place))
    return {key: split[key] for key in asked}


def _sparing_little(asked: Mapping[Key, int], total: int, step: int) -> dict[Key, int]:
    """Leave as they are those that ask for no more than each of the others has left then; split the rest."""
    spared: dict[Key, int] = {}
    for key in sorted(asked, key=lambda one: asked[one])[:-1]:
        more = {**spared, key: asked[key]}
        others = {one: nano for one, nano in asked.items() if one not in more}
        left = total - sum(more.values())
        if left % step or left < step * len(others) or min(_in_proportion(others, left, step).values()) < asked[key]:
            break
        spared = more
    others = {one: nano for one, nano in asked.items() if one not in spared}
    found = {**spared, **_in_proportion(others, total - sum(spared.values()), step)}
    return {key: found[key] for key in asked}


def _in_proportion(asked: Mapping[Key, int], total: int, step: int) -> dict[Key, int]:
    """Split a sum in proportion to what is asked, in whole steps; what is left goes where most is missing."""
    whole = sum(asked.values())
    shares = {key: max(nano * total // whole // step, 1) * step for key, nano in asked.items()}
    for _ in range((total - sum(shares.values())) // step):
        key = max(shares, key=lambda one: asked[one] * total // whole - shares[one])
        shares[key] += step
    return shares


def with_one_to_share(tries: Tries, change: WayOut) -> WayOut:
    """Ask for a CPU, or a core, less where a change would leave none to share; the change itself where that fails."""
    if change.machine or not takes_the_last(change):
        return change
    containers = tries.outcome.pod.containers
    asked = {(one.name, CPU): one.requests[CPU].nano for one in containers if CPU in one.requests}
    step = steps(tries.session(change), {("", CPU): NANO})["", CPU]
    for less in _less(asked, {key: change.amounts.get(key, nano) for key, nano in asked.items()}, step):
        other = change._replace(
            amounts={**change.amounts, **less},
            asked={**change.asked, **{key: asked[key] for key in less}},
        )
        tried = tries.admitted(other)
        if tried is not None and sound(tried) and (aligned(tried) or not change.aligned):
            return other._replace(aligned=aligned(tried), tried=tried)
    return change


def _less(asked: Mapping[Key, int], now: Mapping[Key, int], step: int) -> Iterator[dict[Key, int]]:
    """Take a step off one amount, the largest first; then off all of the largest ones.

    Init containers hand on what they have: only where all that run there do with less a CPU is left.
    """
    lower = {key: nano - step for key, nano in now.items() if nano > step}
    for key in sorted(lower, key=lambda one: -lower[one]):
        if lower[key] != asked[key]:
            yield {key: lower[key]}
    most = max(lower.values(), default=0)
    yield {key: most for key, nano in now.items() if nano > most > 0 and asked[key] != most}


def takes_the_last(change: WayOut) -> bool:
    """Tell whether a change leaves no CPU to share."""
    return any(one.code == POOL_EMPTY for one in change.warnings)


def or_in(tries: Tries, change: WayOut, told: Sequence[WayOut]) -> dict[Key, tuple[tuple[str, int], ...]]:
    """Find for each resource that one container is to leave out the others that may do so instead.

    Args:
        tries: what changes are tried against.
        change: the change.
        told: all changes that are told: what one of them says needs no word in another.

    Returns:
        key of what is left out -> (other container, what the first may ask for then, in billionths).
    """
    found: dict[Key, tuple[tuple[str, int], ...]] = {}
    left_out = [key for key, nano in change.amounts.items() if not nano]
    for key in left_out:
        if sum(other[1] == key[1] for other in left_out) == 1:
            others = tuple(_others(tries, change, key, told))
            found.update({key: others} if others else {})
    return found


def _others(tries: Tries, change: WayOut, key: Key, told: Sequence[WayOut]) -> Iterator[tuple[str, int]]:
    """Try each other container that asks for the resource; the first one may have as much of it then, if it wants."""
    for container in tries.outcome.pod.containers:
        other = (container.name, key[1])
        asked = container.requests[key[1]].nano if key[1] in container.requests else 0
        if not asked or other in change.amounts or any(other in one.amounts for one in told):
            continue
        swapped = swap(change, key, other, asked)
        tried = tries.admitted(swapped)
        if tried is not None and aligned(tried) == change.aligned:
            yield container.name, swapped.ask(key)


def swap(change: WayOut, key: Key, other: Key, asked: int) -> WayOut:
    """Leave a resource out in another container, which asks for `asked` of it, instead."""
    kept = min(asked, change.asked[key])
    amounts = {one: nano for one, nano in change.amounts.items() if one != key}
    amounts |= {other: 0} | ({key: kept} if kept < change.asked[key] else {})
    return change._replace(amounts=amounts, asked={**change.asked, other: asked})
