"""The calculator for `reservedMemory`: what each side of its sum is made of, and a section that would be accepted.

The sum over all NUMA nodes must equal, to the byte, system + kube reserved memory and the hard eviction threshold
(docs/rules/kubelet-files.md 35, 37; docs/rules/memory-manager.md 2).
"""

from __future__ import annotations

from numalign.kubelet.config import KubeletConfig, MemoryReservation
from numalign.kubelet.start.reservation import Reservation
from numalign.model import quantity
from numalign.model.machine import Machine
from numalign.model.quantity import MEBI, NANO, Quantity, QuantityError
from numalign.values import NamedTuple


class Part(NamedTuple):
    """One addend: where it comes from, the text as written, and what it amounts to in bytes (rounded up)."""

    source: str
    text: str
    bytes: int


class MemorySum(NamedTuple):
    """Both sides of the sum for `memory`."""

    wanted: tuple[Part, ...]
    """What the kubelet keeps back: systemReserved, kubeReserved, evictionHard."""
    given: tuple[Part, ...]
    """What `reservedMemory` says, element by element."""
    pages: tuple[Part, ...]
    """Huge pages in `reservedMemory`: the kubelet keeps none back, so none may be there."""
    accepted: tuple[MemoryReservation, ...] | None
    """A `reservedMemory` that would be accepted; None: there is none (nothing is kept back, or no node could)."""

    @property
    def total_wanted(self) -> int:
        """Bytes the node keeps back."""
        return sum(part.bytes for part in self.wanted)

    @property
    def total_given(self) -> int:
        """Bytes that `reservedMemory` names."""
        return sum(part.bytes for part in self.given)


def memory_sum(config: KubeletConfig, machine: Machine, reservation: Reservation) -> MemorySum:
    """Work out both sides for a configuration whose reservations can be read."""
    eviction = "evictionHard[memory.available]"
    texts = (
        ("systemReserved.memory", config.system_reserved.get("memory", ""), reservation.system),
        ("kubeReserved.memory", config.kube_reserved.get("memory", ""), reservation.kube),
        (
            eviction if config.eviction_hard is not None else f"{eviction}, default",
            "100Mi" if config.eviction_hard is None else config.eviction_hard.get("memory.available", ""),
            reservation.eviction,
        ),
    )
    wanted = tuple(
        Part(source, text, -(-amounts["memory"].quantity.nano // NANO))
        for source, text, amounts in texts
        if "memory" in amounts
    )
    given = tuple(
        Part(
            f"reservedMemory[{place}], NUMA node {element.numa_node}",
            element.limits["memory"],
            _bytes(element.limits["memory"]),
        )
        for place, element in enumerate(config.reserved_memory)
        if "memory" in element.limits
    )
    pages = tuple(
        Part(f"reservedMemory[{place}], NUMA node {element.numa_node}, {name}", text, _bytes(text))
        for place, element in enumerate(config.reserved_memory)
        for name, text in element.limits.items()
        if name != "memory"
    )
    return MemorySum(wanted, given, pages, accepted_section(config, machine, reservation))


def _bytes(text: str) -> int:
    try:
        return -(-quantity.parse(text).nano // NANO)
    except QuantityError:
        return 0


def accepted_section(
    config: KubeletConfig, machine: Machine, reservation: Reservation
) -> tuple[MemoryReservation, ...] | None:
    """Write a `reservedMemory` that adds up: what is configured with its last node changed, else an even split."""
    nano = reservation.nano("memory")
    if not nano or nano % NANO:
        return None
    total = nano // NANO
    room = {
        node.id: node.memory - sum(node.hugepages.values())
        for node in sorted(machine.numa_nodes)
        if node.memory > sum(node.hugepages.values())
    }
    shares = _adjusted(config, room, total) or _even(room, total)
    if shares is None:
        return None
    return tuple(MemoryReservation(node, {"memory": _text(share)}) for node, share in sorted(shares.items()) if share)


def _adjusted(config: KubeletConfig, room: dict[int, int], total: int) -> dict[int, int] | None:
    """Keep what is configured and let the last node make up the difference, where that is possible."""
    shares: dict[int, int] = {}
    for element in config.reserved_memory:
        if element.numa_node in room and "memory" in element.limits and element.numa_node not in shares:
            shares[element.numa_node] = _bytes(element.limits["memory"])
    if not shares:
        return None
    last = list(shares)[-1]
    shares[last] += total - sum(shares.values())
    return shares if all(0 < share <= room[node] for node, share in shares.items()) else None


def _even(room: dict[int, int], total: int) -> dict[int, int] | None:
    """Split evenly in whole Mi, the rest to the first node; nodes too small for their share give what they have."""
    if sum(room.values()) < total:
        return None
    shares: dict[int, int] = {}
    left = total
    for place, (node, size) in enumerate(sorted(room.items(), key=lambda one: one[1])):
        share = min(size, left // (len(room) - place))
        shares[node] = share - share % MEBI
        left -= shares[node]
    for node in room:
        more = min(left, room[node] - shares[node])
        shares[node] += more
        left -= more
    return shares


def _text(amount: int) -> str:
    """Write bytes so that the kubelet reads them as a whole number (kubelet-files.md 51)."""
    text = quantity.canonical(Quantity(amount * NANO, "BinarySI", amount))
    return text if quantity.parse(text).int64 == amount else str(amount)


def split_cores(reserved: int, machine: Machine) -> int:
    """Return the CPUs that share a core with a reserved CPU but are not reserved themselves."""
    return sum(core & ~reserved for core in machine.cores if core & reserved)


def isolated_cpus(machine: Machine) -> int:
    """Return the CPUs that the host's kernel isolates (`isolcpus=`), where the machine says so."""
    return machine.hardware.isolated_cpus if machine.hardware else 0
