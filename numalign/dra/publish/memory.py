"""The devices of `dra.memory`: one a NUMA node and page size (docs/rules/dra.md D-25)."""

from __future__ import annotations

from collections.abc import Iterator

from numalign.dra.publish.made import Made, flag, number, text
from numalign.dra.values import Attribute, Capacity, Device
from numalign.model.machine import Machine, NUMANode
from numalign.model.quantity import from_int, parse, value

PAGE = "4k"
"""How the driver names ordinary pages."""
CAPACITY = "size"


def devices(machine: Machine) -> list[Made]:
    """Give the devices that the driver publishes: memory beside the huge pages, and each size of these."""
    return [made for node in machine.numa_nodes if node.id >= 0 for made in _of_node(node)]


def _of_node(node: NUMANode) -> Iterator[Made]:
    plain = node.memory - sum(node.hugepages.values())
    if plain > 0:
        yield _device(f"memory-{node.id}", node.id, PAGE, plain, huge=False)
    for size in sorted(node.hugepages, key=lambda name: value(parse(name))):
        if node.hugepages[size]:
            short = size.removesuffix("i").lower()
            yield _device(f"hugepages-{short}-{node.id}", node.id, short, node.hugepages[size], huge=True)


def _device(name: str, node: int, page: str, size: int, *, huge: bool) -> Made:
    where = number(node)
    attributes: dict[str, Attribute] = {
        "dra.memory/numaNode": where,
        "dra.cpu/numaNode": where,
        "dra.net/numaNode": where,
        "dra.memory/pageSize": text(page),
        "dra.memory/hugeTLB": flag(huge),
    }
    amount = Capacity(from_int(size, "BinarySI"))
    return Made(Device(name=name, attributes=attributes, capacity={CAPACITY: amount}, shared=True), (node,))
