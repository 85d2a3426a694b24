"""Changes of a machine on the command line: other devices, huge pages, another amount of memory.

`--device nvidia.com/gpu@1=4`, `--hugepages 1Gi@0=16Gi`, `--memory-per-numa-node 256Gi`. Without `@NODE` a change holds
for every NUMA node with CPUs (devices) or with memory (huge pages).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from numalign.errors import InputError, Notice
from numalign.model import machine_checks
from numalign.model.document import values
from numalign.model.machine import Device, Machine
from numalign.model.path import blaming, dotted, shown
from numalign.sources.machine.devices import MAX_DEVICES, check_resource
from numalign.sources.machine.sections import hugepages
from numalign.values import NamedTuple

Value = TypeVar("Value")


class Changes(NamedTuple):
    """What the line says, as given; a flag may be given several times, and holds several changes joined by commas."""

    devices: tuple[str, ...] = ()
    """`RESOURCE[@NODE]=N`."""
    hugepages: tuple[str, ...] = ()
    """`SIZE[@NODE]=AMOUNT`."""
    memory: str | None = None
    """Of each NUMA node that has memory."""
    nps: int | None = None
    """NUMA nodes a socket, as AMD's firmware asks."""
    snc: int | None = None
    """NUMA nodes a socket, as Intel's firmware asks."""


def changed(machine: Machine, changes: Changes) -> tuple[Machine, tuple[Notice, ...]]:
    """Change a machine; returns it, and what is odd about it now.

    Raises:
        InputError: a change cannot be read, or the machine cannot be so.
    """
    lost = False
    for count, named in ((changes.nps, "--nps"), (changes.snc, "--snc")):
        if count is not None:
            from numalign.sources.machine.firmware import with_nodes

            machine, lost = with_nodes(machine, count, named)
    if changes.memory is not None:
        machine = _with_memory(machine, changes.memory)
    for what, amount, node in _parts(changes.hugepages, "--hugepages", "1Gi@0=16Gi"):
        machine = _with_pages(machine, what, amount, node)
    for what, amount, node in _parts(changes.devices, "--device", "nvidia.com/gpu@0=4"):
        machine = _with_devices(machine, what, amount, node)
    for finding in machine_checks.errors(machine):
        raise InputError(f"{dotted(finding.path)}: {finding.message}", "--device")
    odd = list(machine_checks.warnings(machine))
    if lost and not changes.devices:
        text = "the new NUMA nodes of the devices are unknown, so these devices give no hints; fix: add --device"
        odd.append(machine_checks.MachineFinding("devices-without-node", ("devices",), text))
    return machine, tuple(Notice(one.code, one.message, dotted(one.path)) for one in odd)


def _parts(texts: Iterable[str], flag: str, example: str) -> Iterable[tuple[str, str, int | None]]:
    """Yield (what, amount, node) of each change; None: every node."""
    for text in texts:
        for part in text.split(","):
            left, equals, amount = part.partition("=")
            what, at, node = left.strip().rpartition("@")
            if not at:
                what, node = node, ""
            if not (equals and what and amount.strip()) or (at and not node.isdecimal()) or len(node) > 7:
                raise InputError(f"expected WHAT[@NODE]=AMOUNT such as {example}, got {shown(part)}", flag)
            yield what, amount.strip(), int(node) if at else None


def _nodes(machine: Machine, node: int | None, flag: str, suitable: Sequence[int]) -> Sequence[int]:
    """List the ids of the nodes that a change is about."""
    if node is None:
        return suitable
    known = [one.id for one in machine.numa_nodes]
    if node not in known:
        raise InputError(f"the machine has no NUMA node {node}; allowed: {', '.join(map(str, sorted(known)))}", flag)
    return (node,)


def _with_memory(machine: Machine, text: str) -> Machine:
    flag = "--memory-per-numa-node"
    with blaming(lambda _: flag):
        amount = values.amount.read(text)
    nodes = tuple(one._replace(memory=amount) if one.memory or one.cpus else one for one in machine.numa_nodes)
    return machine._replace(numa_nodes=nodes, total_memory=None)


def _with_pages(machine: Machine, size: str, text: str, node: int | None) -> Machine:
    with blaming(lambda _: "--hugepages"):
        pages = hugepages.read({size: int(text) if text.isdecimal() else text})
    about = _nodes(machine, node, "--hugepages", [one.id for one in machine.numa_nodes if one.memory])
    nodes = tuple(
        one._replace(hugepages={**one.hugepages, **pages}) if one.id in about else one for one in machine.numa_nodes
    )
    return machine._replace(numa_nodes=nodes)


def _with_devices(machine: Machine, resource: str, text: str, node: int | None) -> Machine:
    flag = "--device"
    with blaming(lambda _: flag):
        check_resource(resource)
        count = values.integer(0, MAX_DEVICES).read(int(text) if text.isdecimal() and len(text) < 10 else text)
    about = _nodes(machine, node, flag, [one.id for one in machine.numa_nodes if one.cpus])
    # Devices of the nodes in question make room; with every node in question, those without a node do, too.
    old = machine.devices.get(resource, ())
    kept = tuple(one for one in old if one.numa_nodes and node is not None and not set(one.numa_nodes) <= set(about))
    devices = dict(machine.devices)
    made = _made(resource, count, sorted(about), {one.id for one in kept})
    devices[resource] = tuple(sorted((*kept, *made), key=lambda one: (one.numa_nodes or (), len(one.id), one.id)))
    if not devices[resource]:
        del devices[resource]
    return machine._replace(
        devices=devices,
        preferred_allocation=_without(machine.preferred_allocation, resource),
        links=_without(machine.links, resource),
    )


def _made(resource: str, count: int, nodes: Iterable[int], taken: set[str]) -> Iterable[Device]:
    """Make devices called after their resource, with the next free numbers."""
    prefix, number = resource.rpartition("/")[2], 0
    for node in nodes:
        for _ in range(count):
            while f"{prefix}{number}" in taken:
                number += 1
            taken.add(f"{prefix}{number}")
            yield Device(f"{prefix}{number}", (node,))


def _without(known: Mapping[str, Value], resource: str) -> dict[str, Value]:
    """Leave out what was said of devices that may be others now."""
    return {name: value for name, value in known.items() if name != resource}
