"""What a machine lacks for a rejected pod, as machines to try."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from numalign.analysis.alignment import alignments
from numalign.analysis.refusal import refusal
from numalign.analysis.situation import (
    Situation,
)
from numalign.errors import InputError
from numalign.kubelet.demand import effective
from numalign.model.quantity import NANO
from numalign.model.resources import is_hugepages, page_size

if TYPE_CHECKING:
    from numalign.analysis.whatif.change import Hardware
    from numalign.kubelet.admission import Outcome
    from numalign.model.machine import Machine, NUMANode


MAX_NODES = 8
"""On how many NUMA nodes what is lacking is tried."""


def with_what_lacks(situation: Situation, outcome: Outcome) -> Iterator[tuple[Hardware, Situation]]:
    """Give the machine what stands in the way, the least first, node by node, at last huge pages on every node.

    For a pod that is admitted the firmware makes fewer NUMA nodes first. There is no such machine where a node in use
    is asked about, or where no device or huge page stands in the way.
    """
    if situation.there is not None:
        return
    from numalign.sources.machine.changes import Changes, changed

    setup = situation.setup
    lacking = _outside(outcome) if outcome.admit else _lacking(outcome, setup.machine)
    fewer = _fewer_nodes(setup.machine) if outcome.admit else ()
    for hardware in (*fewer, *(_ways_to_add(setup.machine, lacking) if lacking else ())):
        nps, snc = (next((int(text) for flag, text in hardware if flag == name), None) for name in ("nps", "snc"))
        devices = tuple(text for flag, text in hardware if flag == "device")
        pages = tuple(text for flag, text in hardware if flag == "hugepages")
        try:
            other, _ = changed(setup.machine, Changes(devices=devices, hugepages=pages, nps=nps, snc=snc))
        except InputError:  # such as more huge pages than the node has memory, or no regular machine
            continue
        yield hardware, situation._replace(setup=setup._replace(machine=other))


def _fewer_nodes(machine: Machine) -> Iterator[Hardware]:
    """Let the firmware cut sockets into fewer NUMA nodes, the most first."""
    now = sum(1 for node in machine.numa_nodes if node.cpus) // max(len(machine.sockets), 1)
    for count in range(now - 1, 0, -1):
        yield (("snc" if count == 3 else "nps", str(count)),)


def _outside(outcome: Outcome) -> dict[str, int]:
    """Name the devices of an admitted pod that lie on too many nodes, or where a container has no CPU; with amounts."""
    node, asked = outcome.before.node, effective(outcome.pod, "limits")
    names: set[str] = set()
    for _, judged in alignments(outcome):
        spread = judged.widest if judged.verdict == "spread" else ()
        names.update(spread, (part.resource for part in judged.remote))
    return {name: -(-asked[name] // NANO) for name in sorted(names & asked.keys()) if name in node.device.resources}


def _lacking(outcome: Outcome, machine: Machine) -> dict[str, int]:
    """Name the devices and huge pages in the way, with what the whole pod asks of them."""
    found = refusal(outcome)
    names = {*found.resources, *(found.empty.resources if found.empty else ())}
    asked = {**effective(outcome.pod, "requests"), **effective(outcome.pod, "limits")}
    return {
        name: -(-asked[name] // NANO)
        for name in sorted(names & asked.keys())
        if asked[name] and (is_hugepages(name) or name in machine.devices)
    }


def _ways_to_add(machine: Machine, lacking: Mapping[str, int]) -> Iterator[Hardware]:
    for way in range(3):
        for node in machine.numa_nodes[:MAX_NODES]:
            enough = {name: _enough(machine, node, name, amount)[way] for name, amount in lacking.items()}
            yield tuple(_flag(name, f"@{node.id}", amount) for name, amount in enough.items())
    if all(map(is_hugepages, lacking)):
        yield tuple(_flag(name, "", amount) for name, amount in lacking.items())


def _flag(name: str, node: str, amount: int) -> tuple[str, str]:
    if is_hugepages(name):
        return "hugepages", f"{page_size(name)}{node}={amount}"
    return "device", f"{name}{node}={amount}"


def _there(machine: Machine, node: NUMANode, name: str) -> int:
    if is_hugepages(name):
        return node.hugepages.get(page_size(name), 0)
    return sum(1 for device in machine.devices[name] if device.numa_nodes == (node.id,))


def _enough(machine: Machine, node: NUMANode, name: str, amount: int) -> tuple[int, int, int]:
    """Say with how much on a node the machine has what is asked, the node has it, and has it beside what is there."""
    there = _there(machine, node, name)
    elsewhere = sum(_there(machine, other, name) for other in machine.numa_nodes) - there
    return max(amount - elsewhere, there), max(amount, there), amount + there
