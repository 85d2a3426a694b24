"""The result of `discover`: a host as its kubelet sees it, and as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.errors import Notice
    from numalign.model.hardware import Hardware
    from numalign.model.machine import Machine


class DiscoverResult(NamedTuple):
    """What a host is made of."""

    name: str
    machine: Machine | None
    """The kubelet's view, with what the hardware has otherwise; None where the kubelet's own reading fails."""
    hardware: Hardware | None
    """The hardware alone; None where there is a machine."""
    kubelet_error: str | None
    """Why the kubelet's own reading fails."""
    notices: tuple[Notice, ...]
