"""Numbers that are never handed out: parts of a core, parts of a byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numalign.model.quantity import readable_near, with_decimals
from numalign.render.text.refusal.nodes import left_text

if TYPE_CHECKING:
    from numalign.analysis.handed import Handed
    from numalign.analysis.odd_numbers import Cores, Unreadable


def whole_cores(cores: Cores, by: str | None, when: str, left: Handed | None = None) -> str:
    """Say that `full-pcpus-only` refused.

    Args:
        cores: what it counted.
        by: the container, where what is told is about the whole pod.
        when: at which time that is free: now, or after a change.
        left: the CPUs that init containers leave, which it does not count.
    """
    asked = f"cpu: {cores.requested} asked{f' by {by}' * (by is not None)}"
    if cores.requested % cores.threads:
        near = _near(cores.requested, cores.threads)
        others = " and ".join(
            f"the {cpus} of {name}{f' (ask for {_near(cpus, cores.threads)})' * (cpus != cores.requested)}"
            for name, cpus in cores.others
        )
        same = f"; the same goes for {others}" if others else ""
        return f"{asked}, but full-pcpus-only gives out whole cores of {cores.threads} threads: ask for {near}{same}"
    one = cores.threads == 1
    if left is not None and when != "ever":
        any_number = " (cores have 1 thread here, so any number is whole)" * one
        finds = f"full-pcpus-only finds {cores.available or 'none'} free"
        return f"{asked}; {finds}, and does not count the {left.amount} that {left_text(left)}{any_number}"
    if one and when != "ever":
        return f"{asked}, {cores.available} free {when}, {cores.total} on an empty machine"
    if one:
        return f"{asked}, {cores.total} on an empty machine"
    now = f"{cores.available} {when}, " * (when != "ever")
    only = "counts only free CPUs on cores without a reserved CPU, on any node"
    return f"{asked}, but full-pcpus-only {only}: {now}{cores.total} on an empty machine"


def _near(cpus: int, threads: int) -> str:
    """Write the numbers of CPUs next to one that are whole cores."""
    below = cpus - cpus % threads
    return f"{below} or {below + threads}" if below else str(threads)


def no_whole_bytes(one: Unreadable) -> str:
    """An amount that the Memory Manager cannot hold."""
    return (
        f"{one.resource}: {with_decimals(one.nano)} of container {one.container} is not read as a whole number of "
        f"bytes, and the Memory Manager takes no other: write {' or '.join(readable_near(one.nano)) or 'less'}"
    )
