"""What numalign itself is, what it finds on this host, and the machines that come with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.model.machine import Machine


class About(NamedTuple):
    """The program."""

    version: str
    python: str
    oldest_kubelet: str
    newest_kubelet: str
    exact_kubelets: tuple[str, ...]
    published_kubelets: tuple[str, ...]
    """Releases known from published changes alone."""
    """The releases whose decisions were recorded, oldest first."""
    extras: tuple[tuple[str, bool], ...]
    """(extra, whether what it needs is installed) pairs."""


class HostCheck(NamedTuple):
    """One thing on this host that some command can use."""

    name: str
    found: bool
    detail: str
    """Where, or why not."""
    used_by: str
    """What cannot be done without it."""


class BundledMachine(NamedTuple):
    """A machine that comes with numalign."""

    machine: Machine
    description: str
    """One line about it."""
