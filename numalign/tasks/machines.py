"""The machines that come with numalign."""

from __future__ import annotations

from numalign.results.about import BundledMachine
from numalign.sources.machine import bundled
from numalign.sources.machine.loading import load_machine


def machines(name: str | None = None) -> tuple[BundledMachine, ...]:
    """Read all bundled machines, or those that a name or a word means.

    Raises:
        InputError: there is no such machine.
    """
    if name is not None:
        bundled.check_known(name)
    names = bundled.names() if name is None else bundled.meant_by(name)
    return tuple(BundledMachine(load_machine(one).machine, bundled.description(one)) for one in names)
