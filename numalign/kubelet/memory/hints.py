"""Hints of the Memory Manager (docs/rules/memory-manager.md section 5), without looking at every mask.

The masks that rule 23 lets through are of three kinds:

- any set of *idle* nodes (count 0; an idle node stands alone) with enough free memory: one monotone set;
- a single busy node that stands alone;
- the group of some busy nodes, if every busy node in it has exactly this group.

All others have a busy node that forbids them. The second and third kind are one mask each and are judged on the spot,
as are sets of idle nodes under which the pod may reuse memory of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from numalign.kubelet.demand import ContainerDemand, PodDemand
from numalign.kubelet.demand import ResourcePairs as Request
from numalign.kubelet.errors import KubeletHangError, KubeletPanicError
from numalign.kubelet.memory.state import NIL_DEREFERENCE, STATIC, WORD, Block, MemoryManager, MemoryState, PerNode
from numalign.kubelet.topology.effort import all_sets
from numalign.kubelet.topology.hints import (
    MAX_LISTED,
    AtLeast,
    HintFamily,
    HintList,
    MaskSet,
    ProviderAnswer,
    TopologyHint,
    fewest,
    masks_by_width,
)
from numalign.kubelet.topology.merge.families import best_member, narrowest_width
from numalign.model.cpuset import NUMAMask, ids

Need = tuple[PerNode, int]
"""What each node has free of a resource, and how much of it is needed."""


def container_hints(
    manager: MemoryManager, state: MemoryState, pod: PodDemand, container: ContainerDemand
) -> ProviderAnswer:
    """Return the hints of one container (rule 21), the same for every requested resource.

    Empty: no opinion, which is also the answer when no mask will do (rule 27).

    Raises:
        KubeletPanicError: a node has no table for a requested resource (rule 24).
    """
    request = container.memory
    if not pod.guaranteed or request is None or manager.policy != STATIC:
        return {}
    blocks = state.blocks(pod.uid, container.name)
    if blocks:
        return regenerate(blocks, request)
    return answer(request, calculate(manager, state, pod.uid, request))


def pod_hints(manager: MemoryManager, state: MemoryState, pod: PodDemand) -> ProviderAnswer:
    """Return the hints of a whole pod (rule 22). Meaning and errors as in `container_hints`."""
    request = pod.memory
    if not pod.guaranteed or request is None or manager.policy != STATIC:
        return {}
    for container in pod.containers:
        blocks = state.blocks(pod.uid, container.name)
        if blocks:
            return regenerate(blocks, request)
    return answer(request, calculate(manager, state, pod.uid, request))


def sets_tried(manager: MemoryManager, state: MemoryState, pod: PodDemand, container: ContainerDemand | None) -> int:
    """Count the sets of NUMA nodes that are tried: all; none for what is held already."""
    if not pod.guaranteed or (container or pod).memory is None or manager.policy != STATIC:
        return 0
    held = any(state.blocks(pod.uid, one.name) for one in ((container,) if container else pod.containers))
    return 0 if held else all_sets(len(manager.node_ids))


def answer(request: Request, hints: HintFamily | HintList | None) -> ProviderAnswer:
    """Give every requested resource the same hints (rule 25)."""
    return {} if hints is None else {resource: hints for resource, _ in request}


def regenerate(blocks: Sequence[Block], request: Request) -> ProviderAnswer:
    """Return the hints of a container that has its blocks already (rule 28)."""
    if tuple((block.type, block.size) for block in blocks) != request:
        return {}
    return {block.type: HintList((TopologyHint(block.mask, True),)) for block in blocks}


def calculate(manager: MemoryManager, state: MemoryState, uid: str, request: Request) -> HintFamily | HintList | None:
    """Find the masks that satisfy all of a request together (rule 23); None when there is none.

    Raises:
        KubeletPanicError: a node has no table for a requested resource (rule 24).
        KubeletHangError: tables have wrapped (rule 14) on a machine with too many nodes to walk their sets.
    """
    if not request:
        return None
    places, free = manager.places, state.free
    for resource, _ in request:
        if resource not in manager.everywhere:
            raise KubeletPanicError(NIL_DEREFERENCE)
    for resource, _ in request:
        if manager.wraps[places[resource]]:
            return _walk(manager, state, uid, request)
    needs = [(free[places[resource]], amount) for resource, amount in request]
    idle, busy = _kinds(manager, state)
    reusable = state.reusable_of(uid)
    sets = []
    if idle and _enough(needs, idle):
        sets.append(MaskSet(idle, tuple([AtLeast(amounts, amount) for amounts, amount in needs])))
    single = busy
    if reusable:
        own = sorted({mask for mask, _ in reusable if not mask & ~idle})
        single = busy + [mask for mask in own if not any(mask_set.has(mask) for mask_set in sets)]
    for mask in single:
        fits = _fits(manager, state, uid, request, mask) if reusable else _enough(needs, mask)
        if fits:
            sets.append(MaskSet(mask, (), mask))
    return HintFamily(tuple(sets), narrowest(manager, request)) if sets else None


def breaks_group(manager: MemoryManager, state: MemoryState, mask: NUMAMask) -> bool:
    """Tell whether a mask of several nodes breaks up a group: nodes that pods hold memory of together stay together.

    Rules 23.4 and 35, as far as they speak of several nodes; that a grouped node gives no hint of its own is in
    `_kinds`.
    """
    if not mask & (mask - 1):
        return False
    return any(state.counts[node] and state.groups[node] != mask for node in manager.node_ids if mask >> node & 1)


def narrowest(manager: MemoryManager, request: Request) -> int:
    """Return `best` of rule 23: how many nodes the request needs at least, judged on allocatable memory alone.

    It is the number of all nodes when even they are too few.
    """
    places = manager.places
    width = 1
    for resource, amount in request:
        alone = fewest(manager.widest[places[resource]], amount)
        if alone > width:
            width = alone
    everything = len(manager.node_ids)
    if width >= everything:
        return everything
    if len(request) == 1:
        return width
    # Each resource alone needs no more than `width`; together they may need more.
    needs = [(manager.allocatable[places[resource]], amount) for resource, amount in request]
    if width == 1 and any(all(row[node] >= amount for row, amount in needs) for node in manager.node_ids):
        return 1
    demands = tuple(AtLeast(row, amount) for row, amount in needs)
    return narrowest_width((MaskSet(manager.nodes, demands),))


def best_hint(hints: HintFamily | HintList, required: NUMAMask) -> TopologyHint | None:
    """Return the best hint whose mask contains `required`: preferred, then fewest nodes, then smallest mask (rule 37).

    No mask of a family is narrower than its preferred ones, so there fewest nodes alone decides.
    """
    if not isinstance(hints, HintFamily):
        found = [
            (not hint.preferred, mask.bit_count(), mask)
            for hint in hints
            if (mask := hint.numa_affinity) is not None and not required & ~mask
        ]
        if not found:
            return None
        worse, _, mask = min(found)
        return TopologyHint(mask, not worse)
    nodes = hints.nodes
    if hints.width == 1 and not required & (required - 1):
        for node in (required,) if required else (1 << place for place in ids(nodes)):
            if hints.has(node):
                return TopologyHint(node, True)
    sets = [mask_set._replace(required=mask_set.required | required) for mask_set in hints.sets]
    for width in range(hints.width, nodes.bit_count() + 1):
        masks = [mask for mask_set in sets if (mask := best_member((mask_set,), width)) is not None]
        if masks:
            return TopologyHint(min(masks), width == hints.width)
    return None


def _kinds(manager: MemoryManager, state: MemoryState) -> tuple[int, list[int]]:
    """Return the mask of idle nodes, and the single masks that busy nodes allow (23.3, 23.4)."""
    idle = 0
    allowed = []
    groups = state.groups
    for node, count in enumerate(state.counts):
        bit = 1 << node
        if not count:
            idle |= bit
        elif groups[node] == bit:
            allowed.append(bit)
        elif groups[node] not in allowed and not breaks_group(manager, state, groups[node]):
            allowed.append(groups[node])
    return idle & manager.nodes, allowed


def sum_of(amounts: Sequence[int], mask: NUMAMask) -> int:
    """Add up the amounts of a mask's nodes."""
    total = 0
    while mask:
        low = mask & -mask
        total += amounts[low.bit_length() - 1]
        mask ^= low
    return total


def _enough(needs: Iterable[Need], mask: NUMAMask) -> bool:
    """Tell whether the nodes of a mask have all that is needed."""
    for free, amount in needs:
        rest = mask
        while rest:
            low = rest & -rest
            amount -= free[low.bit_length() - 1]
            rest ^= low
        if amount > 0:
            return False
    return True


def _fits(manager: MemoryManager, state: MemoryState, uid: str, request: Request, mask: NUMAMask) -> bool:
    """Judge one mask by 23.1 and 23.5; sums wrap."""
    reusable = state.reusable_of(uid)
    for resource, amount in request:
        place = manager.places[resource]
        if sum_of(manager.allocatable[place], mask) % WORD < amount:
            return False
        if (sum_of(state.free[place], mask) + reusable.get((mask, resource), 0)) % WORD < amount:
            return False
    return True


def _walk(manager: MemoryManager, state: MemoryState, uid: str, request: Request) -> HintList | None:
    """Follow rule 23 mask by mask: where sums wrap, more nodes can have less."""
    best = len(manager.node_ids)
    if best > MAX_LISTED:
        raise KubeletHangError("the Memory Manager tries every set of NUMA nodes")
    masks = []
    for mask in masks_by_width(manager.nodes):
        if any(
            sum_of(manager.allocatable[manager.places[resource]], mask) % WORD < amount for resource, amount in request
        ):
            continue
        best = min(best, mask.bit_count())
        if not mask & (mask - 1) and state.groups[mask.bit_length() - 1] != mask:
            continue
        if not breaks_group(manager, state, mask) and _fits(manager, state, uid, request, mask):
            masks.append(mask)
    return HintList(TopologyHint(mask, mask.bit_count() == best) for mask in masks) or None
