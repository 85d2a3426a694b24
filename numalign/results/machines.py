"""The result of `machines`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.model.machine import Machine


class BundledMachine(NamedTuple):
    """A machine that comes with numalign."""

    machine: Machine
    description: str
    """One line about it."""
