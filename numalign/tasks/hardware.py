"""Machines with what a refused pod lacks, devices and huge pages, said as flags of the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from numalign.analysis.refusal import refusal
from numalign.errors import InputError
from numalign.kubelet.demand import effective
from numalign.model.quantity import NANO
from numalign.model.resources import is_hugepages, page_size

if TYPE_CHECKING:
    from numalign.analysis.whatif.change import Hardware
    from numalign.analysis.whatif.situation import Situation
    from numalign.kubelet.admission import Outcome
    from numalign.model.machine import Machine, NUMANode

MAX_NODES = 8
"""On how many NUMA nodes what is lacking is tried."""


def with_what_lacks(situation: Situation, outcome: Outcome) -> Iterator[tuple[Hardware, Situation]]:
    """Give the machine what stands in the way, the least first, node by node, at last huge pages on every node.

    There is no such machine where a node in use is asked about, or where no device or huge page stands in the way.
    """
    if situation.there is not None:
        return
    from numalign.sources.machine.changes import Changes, changed

    setup = situation.setup
    lacking = _lacking(outcome, setup.machine)
    if not lacking:
        return
    for hardware in _ways_to_add(setup.machine, lacking):
        devices = tuple(text for flag, text in hardware if flag == "device")
        pages = tuple(text for flag, text in hardware if flag == "hugepages")
        try:
            other, _ = changed(setup.machine, Changes(devices=devices, hugepages=pages))
        except InputError:  # such as more huge pages than the node has memory
            continue
        yield hardware, situation._replace(setup=setup._replace(machine=other))


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
    nodes = machine.numa_nodes[:MAX_NODES]
    for enough in (_in_all, _on_the_node, _beside_what_is_there):
        for node in nodes:
            yield tuple(
                _flag(name, f"@{node.id}", enough(machine, node, name, amount)) for name, amount in lacking.items()
            )
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


def _in_all(machine: Machine, node: NUMANode, name: str, amount: int) -> int:
    """So much that the whole machine has what is asked."""
    elsewhere = sum(_there(machine, other, name) for other in machine.numa_nodes) - _there(machine, node, name)
    return max(amount - elsewhere, _there(machine, node, name))


def _on_the_node(machine: Machine, node: NUMANode, name: str, amount: int) -> int:
    """So much that the node alone has what is asked."""
    return max(amount, _there(machine, node, name))


def _beside_what_is_there(machine: Machine, node: NUMANode, name: str, amount: int) -> int:
    """So much that the node has what is asked even if all that is there is taken."""
    return amount + _there(machine, node, name)
