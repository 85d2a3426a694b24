"""A device that a driver would publish, and where it really is."""

from __future__ import annotations

from numalign.dra.values import Attribute, Device
from numalign.values import NamedTuple


class Made(NamedTuple):
    """A device with the NUMA nodes it is on, whether or not its driver says so."""

    device: Device
    numa: tuple[int, ...] = ()


def number(value: int) -> Attribute:
    """Make an attribute that is a whole number."""
    return Attribute("int", value)


def text(value: str) -> Attribute:
    """Make an attribute that is text."""
    return Attribute("string", value)


def flag(value: bool) -> Attribute:
    """Make an attribute that is true or false."""
    return Attribute("bool", value)
