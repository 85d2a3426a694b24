"""What the numbers in the kubelet's message count where they are not those of the request: what was left to find.

The CPU Manager first takes what is free on the chosen nodes (docs/rules/cpu-manager.md 7.5), the Device Manager what
init containers leave (docs/rules/device-manager.md 6.3); a message about the rest has the numbers of the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from numalign.analysis.holding import cpus_of_nodes
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
    sockets: int = 0
    """They came from so many sockets, of which these nodes are parts; 0: from these nodes."""
    taken: tuple[tuple[str, int], ...] = ()
    """Where nothing was found before: (container, amount) of what the pod's earlier containers had taken by then."""


def rest(outcome: Outcome) -> Rest | None:
    """Read the kubelet's message; None: it has no such numbers, or they are those of the request."""
    found = _NUMBERS.search(outcome.message)
    asked = next((one for one in outcome.demand.containers if one.name == outcome.result.container), None)
    if found is None or asked is None or outcome.result.stage != "allocate":
        return None
    name = found[2] or CPU
    requested, left = asked.amount_of(name), int(found[1] or found[3])
    hint = outcome.result.hints.get(asked.name)
    nodes = (hint.numa_affinity or 0) if hint and name == CPU else 0
    told = Rest(asked.name, name, requested=requested, left=left, nodes=nodes)
    if left < requested:
        return told._replace(sockets=_sockets(outcome, nodes))
    taken = tuple(_taken(outcome, name)) if outcome.before.node.scope == "pod" else ()
    return told._replace(taken=taken) if taken else None


def _sockets(outcome: Outcome, nodes: int) -> int:
    """Count the sockets that CPUs come from, where the option for it makes them more than those of the nodes."""
    if not outcome.before.node.cpu.options.align_by_socket:
        return 0
    cpus = cpus_of_nodes(outcome.before.node, nodes)
    touched = [one for one in outcome.before.node.machine.sockets if one.cpus & cpus]
    return len(touched) if any(one.cpus & ~cpus for one in touched) else 0


def _taken(outcome: Outcome, name: str) -> Iterator[tuple[str, int]]:
    """List what earlier containers of the pod that go on running hold of CPUs or of devices."""
    uid, after = outcome.demand.uid, outcome.after
    devices = after.device.holdings.get(uid, {})
    for one in outcome.demand.containers:
        held = after.cpu.assigned(uid, one.name) if name == CPU else devices.get(one.name, {}).get(name)
        if held and one.kind != "init" and one.name != outcome.result.container:
            yield one.name, held.bit_count()
