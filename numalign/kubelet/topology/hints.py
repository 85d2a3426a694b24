"""Topology hints, and families of hints that need no enumeration.

A hint says "this set of NUMA nodes would do" (docs/rules/topology-manager.md 1). A provider's list of hints has up to
2^n entries, but it is the answer to a simple question: in which sets of nodes is enough free? A `HintFamily` keeps the
question, so that merging can search instead of enumerate (12.5). `expand` lists the hints where a person or a vector
wants to see them.

Masks are ints over node *ids*: bit i is NUMA node i.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import combinations
from typing import Final

from numalign.kubelet.errors import KubeletHangError
from numalign.model.cpuset import NUMAMask
from numalign.values import NamedTuple


def fewest(sums: Sequence[int], amount: int) -> int:
    """Count how few nodes reach an amount, of what the biggest, the two biggest … have together; all, if none do."""
    return min(bisect_left(sums, amount) + 1, len(sums))


class TopologyHint(NamedTuple):
    """A set of NUMA nodes and whether the provider prefers it. `numa_affinity` None means no constraint."""

    numa_affinity: NUMAMask | None
    preferred: bool


class AtLeast(NamedTuple):
    """One condition on a mask: the amounts on its nodes must reach `need`.

    `weights[j]` is the amount on node j (tuple index = node id; ids past its end have 0).
    `spans` are items that lie on several nodes (a device with two NUMA nodes): each is a mask and counts once
    if it touches the set.
    """

    weights: tuple[int, ...]
    need: int
    spans: tuple[int, ...] = ()

    def weight(self, node: int) -> int:
        """Give the amount on a node."""
        return self.weights[node] if node < len(self.weights) else 0

    def met_by(self, mask: NUMAMask) -> bool:
        """Tell whether the nodes of `mask` together have enough."""
        weights, need, spans = self
        total = 0
        size = len(weights)
        rest = mask
        while rest:
            low = rest & -rest
            node = low.bit_length() - 1
            if node < size:
                total += weights[node]
            rest ^= low
        for span in spans:
            if span & mask:
                total += 1
        return total >= need


class MaskSet(NamedTuple):
    """A monotone set of masks: all m with required ⊆ m ⊆ nodes, touching each of `touched`, meeting all conditions.

    Adding nodes of `nodes` to a member gives a member.
    """

    nodes: NUMAMask
    conditions: tuple[AtLeast, ...]
    required: NUMAMask = 0
    touched: tuple[int, ...] = ()

    def has(self, mask: NUMAMask) -> bool:
        """Tell whether `mask` (not empty) is a member."""
        nodes, conditions, required, touched = self
        if not mask or mask & ~nodes or required & ~mask:
            return False
        for other in touched:
            if not other & mask:
                return False
        for condition in conditions:  # noqa: SIM110 (asked most of all, and a generator takes three times as long)
            if not condition.met_by(mask):
                return False
        return True


class SocketAlignment(NamedTuple):
    """With `align-by-socket`, masks that touch exactly `width` sockets are preferred too (cpu-manager.md 6.4)."""

    width: int
    sockets: tuple[int, ...]
    """For each socket, the mask of the NUMA nodes that have CPUs in it."""

    def holds(self, mask: NUMAMask) -> bool:
        """Tell whether `mask` touches exactly `width` sockets."""
        return sum(1 for nodes in self.sockets if nodes & mask) == self.width


class HintFamily(NamedTuple):
    """The hints of one resource: members of any of `sets`; preferred when they have `width` nodes.

    Each set has members, all of its nodes among them (a provider that knows of no set answers `CANNOT_FIT`, or, as the
    Memory Manager does, has no opinion).
    """

    sets: tuple[MaskSet, ...]
    width: int
    socket_alignment: SocketAlignment | None = None

    @property
    def nodes(self) -> NUMAMask:
        """All nodes of the sets."""
        nodes = 0
        for mask_set in self.sets:
            nodes |= mask_set.nodes
        return nodes

    def has(self, mask: NUMAMask) -> bool:
        """Tell whether `mask` is one of the hints."""
        for mask_set in self.sets:  # noqa: SIM110 (see MaskSet.has)
            if mask_set.has(mask):
                return True
        return False

    def prefers(self, mask: NUMAMask) -> bool:
        """Tell whether a hint with this mask is preferred."""
        if mask.bit_count() == self.width:
            return True
        return self.socket_alignment is not None and self.socket_alignment.holds(mask)


class WithoutMask(Enum):
    """What a provider says without naming a set of nodes."""

    NO_PREFERENCE = "no preference"
    """The provider does not care: merged as [nil:T]."""
    CANNOT_FIT = "cannot fit"
    """No set of nodes will do: merged as [nil:F]."""


NO_PREFERENCE: Final = WithoutMask.NO_PREFERENCE
CANNOT_FIT: Final = WithoutMask.CANNOT_FIT


class HintList(tuple[TopologyHint, ...]):
    """Hints one by one, in the provider's order."""

    __slots__ = ()


Hints = HintFamily | HintList | WithoutMask
"""What a provider says about one resource."""

ProviderAnswer = Mapping[str, Hints]
"""Resource name -> hints. An empty mapping is "no preference"."""


def masks_by_width(nodes: NUMAMask) -> Iterator[NUMAMask]:
    """Yield all non-empty subsets of a node set: by size, within a size lexicographic by ascending id."""
    bits = []
    rest = nodes
    while rest:
        low = rest & -rest
        bits.append(low)
        rest ^= low
    for size in range(1, len(bits) + 1):
        for chosen in combinations(bits, size):
            yield sum(chosen)


MAX_LISTED: Final = 20
"""Sets of nodes are gone through one by one on machines of so many; they double with every node."""


def expand(family: HintFamily) -> HintList:
    """List the hints of a family in the providers' order (2^n steps for n nodes: for people and small machines).

    Raises:
        KubeletHangError: more than `MAX_LISTED` nodes. The kubelet lists them and does not come back.
    """
    nodes = family.nodes
    if nodes.bit_count() > MAX_LISTED:
        raise KubeletHangError(f"the hint providers list every set of {nodes.bit_count()} NUMA nodes")
    ordered: Iterable[NUMAMask] = _members(family.sets[0])
    if len(family.sets) > 1:
        members = {mask for mask_set in family.sets for mask in _members(mask_set)}
        ordered = [mask for mask in masks_by_width(nodes) if mask in members]
    return HintList([TopologyHint(mask, family.prefers(mask)) for mask in ordered])


def _members(mask_set: MaskSet) -> Iterator[NUMAMask]:
    """Yield the members of a set in the providers' order.

    What the nodes of each mask have together is added up as the masks are made.
    """
    nodes = [node for node in range(mask_set.nodes.bit_length()) if mask_set.nodes >> node & 1]
    masks = list(masks_by_width(mask_set.nodes))
    for weights, need, spans in mask_set.conditions:
        amounts = [weights[node] if node < len(weights) else 0 for node in nodes]
        totals = [sum(chosen) for size in range(1, len(nodes) + 1) for chosen in combinations(amounts, size)]
        if spans:
            totals = [
                total + sum([1 for span in spans if span & mask])
                for mask, total in zip(masks_by_width(mask_set.nodes), totals, strict=True)
            ]
        masks = [mask if mask and total >= need else 0 for mask, total in zip(masks, totals, strict=True)]
    required, touched = mask_set.required, mask_set.touched
    for mask in masks:
        if mask and not required & ~mask and all(other & mask for other in touched):
            yield mask
