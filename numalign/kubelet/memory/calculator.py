"""The sum that `reservedMemory` has to meet, laid open, and a section that meets it.

The kubelet refuses to start unless `reservedMemory` adds up, to the byte, to what system, kube and hard eviction keep
for themselves (docs/rules/memory-manager.md 3 e, 4, 5). Here both sides are broken down for people.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from numalign.errors import StartError
from numalign.kubelet.config import KubeletConfig, MemoryReservation
from numalign.kubelet.memory.reserved import MEMORY, handles, memory_first, total_of, validate_reserved_memory
from numalign.kubelet.memory.start import start
from numalign.kubelet.memory.state import STATIC, MemoryManager
from numalign.kubelet.reservation import Reservation, reserve
from numalign.model import quantity
from numalign.model.machine import Machine
from numalign.model.quantity import NANO, Quantity

MI: Final = 1 << 20


class Sums(NamedTuple):
    """Both sides of the comparison for one resource. None: that part has nothing of it."""

    resource: str
    system: Quantity | None
    kube: Quantity | None
    eviction: Quantity | None
    reservation: Quantity | None
    """What the node reserves: system + kube + eviction, if the machine has the resource."""
    elements: tuple[tuple[int, Quantity], ...]
    """(node id, amount) of `reservedMemory`, in the order written."""
    total: Quantity | None
    """Their sum."""

    @property
    def equal(self) -> bool:
        """Tell whether the kubelet accepts the two sides as equal."""
        return (self.total.nano if self.total else 0) == (self.reservation.nano if self.reservation else 0)


class MemoryCalculation(NamedTuple):
    """What becomes of `reservedMemory` under policy `Static`."""

    sums: tuple[Sums, ...]
    """`memory` first, then by name."""
    error: str
    """The text with which the kubelet would refuse the section; empty when it would start."""
    overdrawn: tuple[tuple[int, str], ...]
    """(node id, resource) where more is kept than there is, so that the node looks almost infinite (rule 14)."""
    suggestion: tuple[MemoryReservation, ...]
    """A section that would be accepted: the present one if it is and no node is overdrawn. Empty: there is none."""
    obstacle: str
    """Why there is no suggestion; empty when there is one."""


def calculate(machine: Machine, config: KubeletConfig) -> MemoryCalculation:
    """Work out both sides of the sum and a section that meets it, as if the policy were `Static`.

    Raises:
        StartError: `systemReserved`, `kubeReserved` or `evictionHard` cannot be read.
        QuantityError: an amount of `reservedMemory` cannot be read.
    """
    reservation = reserve(config, machine)
    sums = _sums(config, reservation)
    error, overdrawn = _judge(machine, config, reservation)
    if not error and not overdrawn:
        return MemoryCalculation(sums, "", (), config.reserved_memory, "")
    need = reservation.total.get(MEMORY)
    suggestion, obstacle = suggest(machine, need.quantity if need else None)
    return MemoryCalculation(sums, error, overdrawn, suggestion, obstacle)


def overdrawn_tables(manager: MemoryManager) -> tuple[tuple[int, str], ...]:
    """List (node id, resource) whose allocatable amount has wrapped (rule 14)."""
    return tuple(
        (node, resource)
        for node in manager.node_ids
        for place, resource in enumerate(manager.resources)
        if manager.allocatable[place][node] > manager.total[place][node]
    )


def suggest(machine: Machine, need: Quantity | None) -> tuple[tuple[MemoryReservation, ...], str]:
    """Spread a node reservation of `memory` over the nodes that have room, as evenly as whole Mi allow.

    Returns:
        A section, or an empty one and what is in the way.
    """
    if need is None or need.nano <= 0:
        return (), (
            "nothing is reserved for the system, and Static needs some memory: "
            "set memory in systemReserved or kubeReserved, or memory.available in evictionHard"
        )
    if need.nano % NANO:
        return (), f"the node reservation of memory, {quantity.canonical(need)}, is no whole number of bytes"
    room = {node.id: node.memory - sum(node.hugepages.values()) for node in machine.numa_nodes}
    room = {node: space for node, space in room.items() if space > 0}
    spread = _spread(need.nano // NANO, room)
    if spread is None:
        free = quantity.canonical(quantity.from_int(sum(room.values()), "BinarySI"))
        return (), (
            f"the node reservation of memory, {quantity.canonical(need)}, is more than the NUMA nodes have "
            f"beside their huge pages, {free}"
        )
    return tuple(MemoryReservation(node, {MEMORY: _text(amount)}) for node, amount in sorted(spread.items())), ""


def _sums(config: KubeletConfig, reservation: Reservation) -> tuple[Sums, ...]:
    elements = [
        (element.numa_node, resource, quantity.parse(text))
        for element in config.reserved_memory
        for resource, text in element.limits.items()
    ]
    resources = {resource for _, resource, _ in elements} | set(filter(handles, reservation.total)) | {MEMORY}
    result = []
    for resource in memory_first(resources):
        parts = [part.get(resource) for part in (reservation.system, reservation.kube, reservation.eviction)]
        system, kube, eviction = [part.quantity if part else None for part in parts]
        whole = reservation.total.get(resource)
        mine = tuple((node, amount) for node, name, amount in elements if name == resource)
        total = total_of(amount for _, amount in mine)
        result.append(Sums(resource, system, kube, eviction, whole.quantity if whole else None, mine, total))
    return tuple(result)


def _judge(
    machine: Machine, config: KubeletConfig, reservation: Reservation
) -> tuple[str, tuple[tuple[int, str], ...]]:
    """Start the Memory Manager with the section as it is; give the refusal, and the overdrawn tables."""
    texts = list(dict.fromkeys(validate_reserved_memory(config.reserved_memory)))
    if texts:
        return (texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"), ()
    amounts = {resource: amount.quantity for resource, amount in reservation.total.items()}
    try:
        manager = start(machine, STATIC, config.reserved_memory, amounts)
    except StartError as error:
        return error.message, ()
    return "", overdrawn_tables(manager)


def _spread(need: int, room: dict[int, int]) -> dict[int, int] | None:
    """Hand an amount out: equal shares in whole Mi, smallest node first, and what is left to whoever has room."""
    if need > sum(room.values()):
        return None
    shares: dict[int, int] = {}
    rest = need
    order = sorted(room, key=lambda node: (room[node], -node))
    for index, node in enumerate(order):
        shares[node] = min(room[node], rest // (len(order) - index) // MI * MI)
        rest -= shares[node]
    for node in reversed(order):
        more = min(rest, room[node] - shares[node])
        shares[node] += more
        rest -= more
    return {node: share for node, share in shares.items() if share}


def _text(amount: int) -> str:
    """Write an amount so that the kubelet reads it as a whole number (docs/rules/kubelet-files.md 51)."""
    text = quantity.canonical(quantity.from_int(amount, "BinarySI"))
    return text if quantity.parse(text).int64 == amount else str(amount)
