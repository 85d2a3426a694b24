"""Numbers that are never handed out: parts of a core, parts of a byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numalign.model.quantity import readable_near, with_decimals

if TYPE_CHECKING:
    from numalign.analysis.odd_numbers import Cores, Unreadable


def whole_cores(cores: Cores, by: str | None, when: str) -> str:
    """Say that `full-pcpus-only` refused.

    Args:
        cores: what it counted.
        by: the container, where what is told is about the whole pod.
        when: at which time that is free: now, or after a change.
    """
    asked = f"cpu: {cores.requested} asked{f' by {by}' * (by is not None)}"
    below = cores.requested - cores.requested % cores.threads
    if cores.requested % cores.threads:
        near = f"{below} or {below + cores.threads}" if below else str(cores.threads)
        others = " and ".join(f"the {cpus} of {name}" for name, cpus in cores.others)
        same = f"; the same goes for {others}" if others else ""
        return f"{asked}, but full-pcpus-only gives out whole cores of {cores.threads} threads: ask for {near}{same}"
    what = "CPUs" if cores.threads == 1 else f"CPUs of cores whose {cores.threads} threads are all free, on any node"
    return (
        f"{asked}, but full-pcpus-only counts only {what}: {cores.available} {when}, {cores.total} on an empty machine"
    )


def no_whole_bytes(one: Unreadable) -> str:
    """An amount that the Memory Manager cannot hold."""
    return (
        f"{one.resource}: {with_decimals(one.nano)} of container {one.container} is not read as a whole number of "
        f"bytes, and the Memory Manager takes no other: write {' or '.join(readable_near(one.nano)) or 'less'}"
    )
