"""A CPU left to share: who takes the last one keeps the kubelet from starting again (docs/rules/cpu-manager.md 4.8)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from numalign.analysis.alignment import aligned
from numalign.analysis.whatif.change import WayOut
from numalign.analysis.whatif.cuts import Key, steps
from numalign.analysis.whatif.parts import parts_of
from numalign.analysis.whatif.tries import Tries, sound
from numalign.kubelet.cpu.allocate import POOL_EMPTY
from numalign.model.quantity import NANO
from numalign.model.resources import CPU


def with_one_to_share(tries: Tries, change: WayOut) -> WayOut:
    """Ask for a CPU, or a core, less where a change would leave none to share; the change itself where that fails."""
    session = tries.session(change)
    elsewhere = change.machine or change.hardware
    if elsewhere or session is None or change.tried is None or not takes_the_last(change):
        return change
    containers = tries.outcome.pod.containers
    asked = {(one.name, CPU): one.requests[CPU].nano for one in containers if CPU in one.requests}
    step = steps(session, {("", CPU): NANO})["", CPU]
    for less in _less(asked, {key: change.amounts.get(key, nano) for key, nano in asked.items()}, step):
        other = change._replace(
            amounts={**change.amounts, **less},
            asked={**change.asked, **{key: asked[key] for key in less}},
            cost=change.cost + len(less),
        )
        tried = tries.admitted(other)
        if tried is not None and sound(tried) and (aligned(tried) or not change.aligned):
            kind = "combination" if len(parts_of(other)) > 1 else other.kind
            return other._replace(kind=kind, aligned=aligned(tried), tried=tried)
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
