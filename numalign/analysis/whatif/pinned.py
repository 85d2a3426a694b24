"""What it takes for the containers of an admitted pod to have CPUs of their own; other changes come on top of it.

A CPU Manager that is static, which needs a reservation; the class Guaranteed, which needs limits that equal the
requests; whole CPUs.
"""

from __future__ import annotations

from collections.abc import Iterator

from numalign.analysis.alignment import alignments
from numalign.analysis.settings import CPU_POLICY, RESERVED_CPUS, Flags
from numalign.analysis.situation import with_amounts
from numalign.analysis.whatif.change import Key, WayOut
from numalign.analysis.whatif.tries import SHARE, Tries, steps
from numalign.model.cpuset import format_set
from numalign.model.pod import Container
from numalign.model.quantity import GIBI, NANO
from numalign.model.resources import CPU, LIMIT, MEMORY


def pinning(tries: Tries) -> Iterator[WayOut]:
    """Give changes after which no container floats, or none if none does; requests grow to limits, or limits shrink."""
    outcome = tries.outcome
    floating = {one.name for one, judged in alignments(outcome) if judged.cpus_float} if outcome.admit else set()
    flags = _static(tries) if floating and not outcome.before.node.cpu.static else {}
    session = tries.standing(flags)
    if not floating or session is None:
        return
    core, told = steps(session, {("", CPU): NANO})["", CPU], list[WayOut]()
    for grow in (True, False) if outcome.pod.level is None else ():
        amounts, asked = dict[Key, int](), dict[Key, int]()
        for container in outcome.pod.containers:
            for key, old, new in _written(container, core if container.name in floating else 0, grow=grow):
                amounts[key], asked[key] = new, old
        way = WayOut(amounts=amounts, asked=asked, flags=flags)
        changed = with_amounts(outcome.pod, amounts)
        if changed.qos == "Guaranteed" and way not in told:
            told.append(way)
            yield way


def _static(tries: Tries) -> Flags:
    """Make the CPU Manager static, with the first core reserved where nothing is."""
    flags: Flags = {CPU_POLICY: "static"}
    if tries.under(flags) is not None:
        return flags
    first = min(tries.situation.setup.machine.cores, key=lambda core: core & -core)
    return {**flags, RESERVED_CPUS: format_set(first)}


def _written(container: Container, core: int, *, grow: bool) -> Iterator[tuple[Key, int, int]]:
    """List what a container has to write for its pod to be Guaranteed, and to have whole cores of its own.

    Args:
        container: the container.
        core: billionths of CPUs in which they are given out; 0: it needs none of its own.
        grow: a request below its limit grows; else the limit shrinks.

    Yields:
        (key, what is there, what is written), in billionths.
    """
    for resource, least in ((CPU, core or SHARE), (MEMORY, GIBI * NANO)):
        request, limit = (found.get(resource) for found in (container.requests, container.limits))
        there, most = request.nano if request else 0, limit.nano if limit else 0
        wanted = (max(there, most) if grow else there or most) or least
        if resource == CPU and core:
            wanted = -(-wanted // core) * core
        if request is not None and there != wanted:
            yield (container.name, resource), there, wanted
        goes_along = request is not None and there == most
        if most != wanted and not goes_along:
            yield (container.name, f"{LIMIT}{resource}"), most, wanted
