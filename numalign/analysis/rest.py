"""What the numbers in the kubelet's message count where they are not those of the request: what was left to find.

The CPU Manager first takes what is free on the chosen nodes (docs/rules/cpu-manager.md 7.5), the Device Manager what
init containers leave (docs/rules/device-manager.md 6.3); a message about the rest has the numbers of the rest.
"""

from __future__ import annotations

import re

from numalign.kubelet.admission import Outcome
from numalign.model.resources import CPU
from numalign.values import NamedTuple

_NUMBERS = re.compile(r"requested=(\d+), available=\d+|unavailable for (\S+)\. Requested: (\d+), Available: \d+")


class Rest(NamedTuple):
    """What was left to find of what a container asks for."""

    container: str
    resource: str
    requested: int
    left: int
    """What was still to be found: the number in the message."""
    nodes: int
    """Of CPUs: the mask of the nodes that the others came from; 0: init containers leave them."""
    by_socket: bool = False
    """They came from the whole sockets of these nodes."""


def rest(outcome: Outcome) -> Rest | None:
    """Read the kubelet's message; None: it has no such numbers, or they are those of the request."""
    found = _NUMBERS.search(outcome.message)
    asked = next((one for one in outcome.demand.containers if one.name == outcome.result.container), None)
    if found is None or asked is None or outcome.result.stage != "allocate":
        return None
    name = found[2] or CPU
    requested, left = {CPU: asked.cpus, **dict(asked.devices)}.get(name, 0), int(found[1] or found[3])
    hint = outcome.result.hints.get(asked.name)
    nodes = (hint.numa_affinity or 0) if hint and name == CPU else 0
    by_socket = bool(nodes) and outcome.before.node.cpu.options.align_by_socket
    told = Rest(asked.name, name, requested=requested, left=left, nodes=nodes, by_socket=by_socket)
    return told if left < requested else None
