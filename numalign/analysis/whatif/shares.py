"""Cuts of one resource in several containers: only their sum counts where another split of it does as well."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from numalign.analysis.alignment import aligned
from numalign.analysis.whatif.change import WayOut
from numalign.analysis.whatif.cuts import SHARE, Key, may_pin, steps
from numalign.analysis.whatif.needed import given_back, without_needless
from numalign.analysis.whatif.tries import Tries, as_sound
from numalign.model.pod import Pod
from numalign.model.quantity import NANO
from numalign.model.resources import CPU, is_device

VERY_LITTLE = 4
"""Less than one part in so many of what is asked."""


def shared(tries: Tries, change: WayOut) -> WayOut:
    """Split what containers may have of a resource as they ask for it, where only the sum counts.

    Who asks for little is left as it is, where the others can do with what that leaves. All that is tried: the pod is
    admitted, as well aligned, with the same sum split so, and with nearly all of it in either container; and with no
    more of it.
    """
    session, pod = tries.session(change), tries.outcome.pod
    if session is None:
        return change
    for asked in _cut_together(pod, change):
        total = sum(change.amounts.get(key, nano) for key, nano in asked.items())
        step = max(steps(session, asked).values())
        if any(key[1] == CPU and change.amounts.get(key, 0) % NANO for key in asked):
            if may_pin(session, pod):
                continue  # a split with a whole number of CPUs asks for CPUs of its own
            step = SHARE
        splits = [_sparing_little(asked, total, step), *(_mostly_to(key, asked, total, step) for key in asked)]
        others = [_with_split(change, asked, split) for split in splits]
        found = [_as_good(tries, other) for other in others]
        if found[0] is not None and all(found) and _is_least(tries, found[0]):
            change = found[0]._replace(together=(*change.together, tuple(asked)))
        elif _starve(asked, change.amounts):
            fairer = [
                split for split in (_from_the_largest(asked, total, step), splits[0]) if not _starve(asked, split)
            ]
            tried = (_no_worse(tries, _with_split(change, asked, split)) for split in fairer)
            change = next(filter(None, tried), change)
    return change


def _starve(asked: Mapping[Key, int], split: Mapping[Key, int]) -> bool:
    """Tell whether a split leaves somebody very little."""
    return any(split.get(key, nano) * VERY_LITTLE < nano for key, nano in asked.items())


def _from_the_largest(asked: Mapping[Key, int], total: int, step: int) -> dict[Key, int]:
    """Cut who asks for most alone, in whole steps; that may leave it nothing, or less."""
    largest = max(asked, key=lambda key: asked[key])
    left = total - sum(nano for key, nano in asked.items() if key != largest)
    return {**asked, largest: left // step * step}


def _no_worse(tries: Tries, change: WayOut) -> WayOut | None:
    """Try a change with another split; None: the pod is refused, or no longer aligned."""
    tried = tries.admitted(change)
    if tried is None or not as_sound(tried, change) or (change.aligned and not aligned(tried)):
        return None
    return given_back(tries, without_needless(tries, change._replace(tried=tried, aligned=aligned(tried))))


def _with_split(change: WayOut, asked: Mapping[Key, int], split: Mapping[Key, int]) -> WayOut:
    """Ask for the same sum in other parts; what stays as it is asked for is no part of the change."""
    every = {**change.asked, **asked}
    amounts = {key: nano for key, nano in {**change.amounts, **split}.items() if nano != every[key]}
    return change._replace(amounts=amounts, asked=every)


def _is_least(tries: Tries, change: WayOut) -> bool:
    """Tell whether with another split still all parts of a change are needed, and no more of any may be asked."""
    needed = without_needless(tries, change)
    return needed == change and given_back(tries, change).amounts == change.amounts


def _as_good(tries: Tries, change: WayOut) -> WayOut | None:
    """Try a change with another split; None: the pod is refused, or aligned otherwise."""
    tried = tries.admitted(change)
    if tried is None or not as_sound(tried, change) or aligned(tried) != change.aligned:
        return None
    return change._replace(tried=tried)


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
