"""`reservedMemory`: what of each NUMA node is kept from pods, and the checks it has to pass.

Stands for docs/rules/memory-manager.md section 2. Checks a to c belong to the validation of the configuration, d to g
to the start of the Memory Manager.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from numalign.errors import StartError
from numalign.kubelet.config import MemoryReservation
from numalign.kubelet.memory.state import WORD
from numalign.model import quantity
from numalign.model.quantity import Quantity
from numalign.model.resources import in_order, is_memory
from numalign.values import NamedTuple

Reserved = Mapping[tuple[int, str], int]
"""(node id, resource) -> bytes."""


class NodeAmount(NamedTuple):
    """One resource of one element of `reservedMemory`, its text read."""

    numa_node: int
    resource: str
    amount: Quantity


def read_reserved_memory(reserved_memory: Iterable[MemoryReservation]) -> tuple[NodeAmount, ...]:
    """Read the texts of `reservedMemory`, element by element.

    Inside an element the kubelet takes the resources in random order; here `memory` comes first.

    Raises:
        QuantityError: an amount cannot be read.
    """
    return tuple(
        NodeAmount(element.numa_node, resource, quantity.parse(element.limits[resource]))
        for element in reserved_memory
        for resource in in_order(element.limits)
    )


def validate_reserved_memory(reserved_memory: Iterable[NodeAmount]) -> list[str]:
    """Check names, zeros and duplicates (rule 3 a to c); give the kubelet's texts, one a failure."""
    texts = []
    seen = set()
    for node, resource, amount in reserved_memory:
        if not is_memory(resource):
            texts.append(
                f'the limit type "{resource}" for NUMA node {node} is not supported, '
                "only [memory hugepages-<HugePageSize>] is accepted"
            )
        if amount.nano == 0:
            texts.append(f'reserved memory may not be zero for NUMA node {node} and resource "{resource}"')
        if (node, resource) in seen:
            texts.append(f'the reserved memory has a duplicate value for NUMA node {node} and resource "{resource}"')
        seen.add((node, resource))
    return [f"invalid configuration: {text}" for text in texts]


def check_reserved_memory(
    node_ids: Iterable[int],
    reserved_memory: Iterable[NodeAmount],
    reservation: Mapping[str, Quantity],
) -> Reserved:
    """Turn `reservedMemory` into bytes, unsigned, after checks d to g in this order.

    Args:
        node_ids: the machine's NUMA nodes.
        reserved_memory: the setting.
        reservation: the node reservation per resource (rule 4).

    Raises:
        StartError: a check fails; the text is the kubelet's.
    """
    known = set(node_ids)
    amounts = tuple(reserved_memory)
    for node, _, _ in amounts:
        if node not in known:
            raise StartError(
                f"the reserved memory configuration references a NUMA node {node} that does not exist on this machine"
            )
    _compare_totals([(resource, amount) for _, resource, amount in amounts], reservation)
    reserved: dict[tuple[int, str], int] = {}
    for node, resource, amount in amounts:
        if amount.int64 is None:
            raise StartError("could not covert a variable of type Quantity to int64")
        reserved[node, resource] = amount.int64 % WORD
    if sum(reserved.values()) % WORD == 0:  # of huge pages there are none: no node reservation has any
        raise StartError("[memorymanager] you should specify the system reserved memory")
    return reserved


def total_of(amounts: Iterable[Quantity]) -> Quantity | None:
    """Add amounts up; the format is the last one's (rule 6). None when there is none."""
    total: Quantity | None = None
    for amount in amounts:
        total = amount._replace(nano=amount.nano + (total.nano if total else 0), int64=None)
    return total


def _compare_totals(amounts: list[tuple[str, Quantity]], reservation: Mapping[str, Quantity]) -> None:
    """Check e: per resource the sum over the nodes is exactly the node reservation (rule 5)."""
    resources = {resource for resource, _ in amounts} | {resource for resource in reservation if is_memory(resource)}
    for resource in in_order(resources):
        total = total_of(amount for name, amount in amounts if name == resource)
        wanted = reservation.get(resource)
        if (total.nano if total else 0) != (wanted.nano if wanted else 0):
            raise StartError(
                f'the total amount "{_printed(total)}" of type "{resource}" is not equal to the value '
                f'"{_printed(wanted)}" determined by Node Allocatable feature'
            )


def _printed(amount: Quantity | None) -> str:
    return quantity.canonical(amount) if amount else "0"
