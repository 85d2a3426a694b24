"""Giving memory to containers and taking it back (docs/rules/memory-manager.md sections 6 to 8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain

from numalign.kubelet.demand import ContainerDemand, PodDemand
from numalign.kubelet.demand import ResourcePairs as Request
from numalign.kubelet.errors import AllocationError, KubeletPanicError
from numalign.kubelet.memory.hints import best_hint, breaks_group, calculate, sum_of
from numalign.kubelet.memory.state import NIL_DEREFERENCE, STATIC, WORD, Block, MemoryManager, MemoryState, fill
from numalign.kubelet.topology.effort import Effort, all_sets, endure
from numalign.kubelet.topology.hints import HintFamily, HintList, TopologyHint
from numalign.model.cpuset import NUMAMask
from numalign.model.resources import MEMORY

NO_DEFAULT = "[memorymanager] failed to get the default NUMA affinity, no NUMA nodes with enough memory is available"
"""No nodes were chosen, and no set that may be combined has enough."""

GROUP_BROKEN = "[memorymanager] preferred hint violates NUMA node allocation"
"""The nodes that were chosen may not be combined."""

DEFAULT_TOO_WIDE = "[memorymanager] failed to find the default preferred hint"
"""No nodes were chosen, and those that would do are more than the request needs."""

EXTENDED_TOO_WIDE = "[memorymanager] failed to find the extended preferred hint"
"""The nodes that were chosen have too little, and those with more beside them are more than the request needs."""

NO_EXTENDED = "[memorymanager] failed to find NUMA nodes to extend the current topology hint"
"""The nodes that were chosen have too little, and so have all that may be combined with them."""

Entries = Mapping[str, Mapping[str, tuple[Block, ...]]]
"""Pod UID -> container name -> blocks."""


def allocate(
    manager: MemoryManager, state: MemoryState, pod: PodDemand, container: ContainerDemand, hint: TopologyHint
) -> MemoryState:
    """Allocate the memory of one container under the hint that the Topology Manager stored for it (section 6).

    A container that shares what its pod has as a whole is skipped (docs/rules/kubelet-1.37.md 5.1).

    Raises:
        AllocationError: the kubelet refuses; the state stays as it was (rule 38).
        KubeletPanicError: a node has no table for a requested resource (rule 24).
    """
    return (
        state if pod.as_a_whole and not container.memory else allocate_until_1_36(manager, state, pod, container, hint)
    )


def allocate_until_1_36(
    manager: MemoryManager, state: MemoryState, pod: PodDemand, container: ContainerDemand, hint: TopologyHint
) -> MemoryState:
    """Do the same for every container, an empty request or not. Errors as in `allocate`."""
    if not pod.guaranteed or manager.policy != STATIC:
        return state
    blocks = state.blocks(pod.uid, container.name)
    if blocks:
        return _update_reusable(state, pod.uid, container, blocks)
    request = container.memory
    if request is None:
        raise AllocationError("[memorymanager] failed to represent quantity as int64")
    mask = settle(manager, state, pod.uid, request, hint)
    if breaks_group(manager, state, mask):
        raise AllocationError(GROUP_BROKEN)
    blocks = tuple([Block(mask, resource, amount) for resource, amount in request])
    held = {**_shrink(state.entries.get(pod.uid, {}), pod, container, blocks), container.name: blocks}
    return _update_reusable(charge(manager, state, pod.uid, blocks, held), pod.uid, container, blocks)


def settle(manager: MemoryManager, state: MemoryState, uid: str, request: Request, hint: TopologyHint) -> NUMAMask:
    """Find the mask to allocate from: the hint's, the default one (rule 33), or an extended one (rule 34)."""
    mask = hint.numa_affinity
    if mask is None:
        hints = _tried_anew(manager, state, uid, request)
        default = None if hints is None else _best_for(request, hints, 0)
        if default is None:
            raise AllocationError(NO_DEFAULT)
        if hint.preferred and not default.preferred:
            raise AllocationError(DEFAULT_TOO_WIDE)
        hint, mask = default, _mask_of(default)
    if not _too_small(manager, state, request, mask):
        return mask
    hints = _tried_anew(manager, state, uid, request)
    extended = None if hints is None else _best_for(request, hints, mask)
    if extended is None:
        raise AllocationError(NO_EXTENDED)
    if hint.preferred and not extended.preferred:
        raise AllocationError(EXTENDED_TOO_WIDE)
    return _mask_of(extended)


def _tried_anew(manager: MemoryManager, state: MemoryState, uid: str, request: Request) -> HintFamily | HintList | None:
    """Find the masks that satisfy a request, where no hint does: the manager goes through all sets once more.

    Raises:
        KubeletPanicError: see `calculate`.
        KubeletHangError: see `calculate`; or there are so many sets that it does not come back.
    """
    endure(Effort(all_sets(len(manager.node_ids))))
    return calculate(manager, state, uid, request)


def _best_for(request: Request, hints: HintFamily | HintList, required: NUMAMask) -> TopologyHint | None:
    """Return the best hint of a request's `memory`; a request of huge pages alone has none, but its hints are there."""
    if any(resource == MEMORY for resource, _ in request):
        return best_hint(hints, required)
    return TopologyHint(None, preferred=False)


def _mask_of(hint: TopologyHint) -> NUMAMask:
    """Return a hint's mask. The kubelet does not check that there is one."""
    if hint.numa_affinity is None:
        raise KubeletPanicError(NIL_DEREFERENCE)
    return hint.numa_affinity


def _too_small(manager: MemoryManager, state: MemoryState, request: Request, mask: NUMAMask) -> bool:
    """Tell whether a mask's free memory is less than the request; reusable memory does not count here (rule 34)."""
    for resource, amount in request:
        place = manager.places.get(resource)
        if place is None or mask & ~manager.offered[place]:
            raise KubeletPanicError(NIL_DEREFERENCE)
        if sum_of(state.free[place], mask) % WORD < amount:
            return True
    return False


def charge(
    manager: MemoryManager,
    state: MemoryState,
    uid: str,
    blocks: tuple[Block, ...],
    held: Mapping[str, tuple[Block, ...]],
) -> MemoryState:
    """Take blocks from their nodes, less what the pod may reuse (rule 36); `held` is what its containers then hold."""
    counts, groups = list(state.counts), list(state.groups)
    free, reserved = list(state.free), list(state.reserved)
    reusable = state.reusable_of(uid)
    for mask, resource, size in blocks:
        rest = mask
        while rest:
            low = rest & -rest
            node = low.bit_length() - 1
            counts[node] += 1
            groups[node] = mask
            rest ^= low
        place = manager.places[resource]
        free_now, reserved_now = list(free[place]), list(reserved[place])
        fill(free_now, reserved_now, mask, max(0, size - reusable.get((mask, resource), 0)))
        free[place], reserved[place] = tuple(free_now), tuple(reserved_now)
    entries = {**state.entries, uid: held}
    return state._replace(
        counts=tuple(counts), groups=tuple(groups), free=tuple(free), reserved=tuple(reserved), entries=entries
    )


def _update_reusable(
    state: MemoryState, uid: str, container: ContainerDemand, blocks: tuple[Block, ...]
) -> MemoryState:
    """Init containers offer their memory to later containers; sidecars and app containers keep theirs (rule 40).

    What containers of other pods could reuse is forgotten.
    """
    reusable = state.reusable_of(uid)
    if container.kind == "init":
        reusable = dict(reusable)
        for mask, resource, size in blocks:
            reusable[mask, resource] = max(size, reusable.get((mask, resource), size))
    elif reusable:
        reusable = dict(reusable)
        for mask, resource, size in blocks:
            left = reusable.pop((mask, resource), size) - size
            if left > 0:
                reusable[mask, resource] = left
    elif not state.reusable:
        return state
    return state._replace(reusable_pod=uid, reusable=reusable)


def _shrink(
    entry: Mapping[str, tuple[Block, ...]], pod: PodDemand, container: ContainerDemand, blocks: tuple[Block, ...]
) -> dict[str, tuple[Block, ...]]:
    """Take from earlier init containers' blocks what a new container took over from them (rule 41)."""
    held = dict(entry)
    rest = {(block.mask, block.type): block.size for block in blocks}
    for earlier in pod.containers:
        if earlier.name == container.name:
            break
        if earlier.kind == "init" and earlier.name in held:
            held[earlier.name] = _shrunk(held[earlier.name], rest)
    return held


def _shrunk(blocks: tuple[Block, ...], rest: dict[tuple[int, str], int]) -> tuple[Block, ...]:
    result = []
    for block in blocks:
        taken = min(rest.get((block.mask, block.type), 0), block.size)
        if taken:
            rest[block.mask, block.type] -= taken
            block = block._replace(size=block.size - taken)
        result.append(block)
    return tuple(result)


def remove(manager: MemoryManager, state: MemoryState, uid: str, container: str) -> MemoryState:
    """Give back what a container holds (rule 45); without an entry nothing changes.

    What a pod holds as a whole comes back with the last of its containers (docs/rules/kubelet-versions.md 6.9).
    """
    blocks = state.blocks(uid, container)
    if blocks is None:
        return state
    entries = dict(state.entries)
    kept = {name: held for name, held in entries[uid].items() if name != container}
    if kept:
        entries[uid] = kept
    else:
        del entries[uid]
    if uid not in state.pods:
        return _give_back(manager, state, blocks, entries)
    return state._replace(entries=entries) if kept else _without_budget(manager, state, uid, entries)


def _without_budget(manager: MemoryManager, state: MemoryState, uid: str, entries: Entries) -> MemoryState:
    """Give back what a pod holds as a whole."""
    pods = {other: held for other, held in state.pods.items() if other != uid}
    return _give_back(manager, state._replace(pods=pods), state.pods[uid], entries)


def _give_back(manager: MemoryManager, state: MemoryState, blocks: Iterable[Block], entries: Entries) -> MemoryState:
    """Put blocks back to their nodes; `entries` is what is left."""
    counts, groups = list(state.counts), list(state.groups)
    free, reserved = list(state.free), list(state.reserved)
    for mask, resource, size in blocks:
        place = manager.places[resource]
        free_now, reserved_now = list(free[place]), list(reserved[place])
        rest = mask
        while rest:
            low = rest & -rest
            node = low.bit_length() - 1
            counts[node] -= 1
            if not counts[node]:
                groups[node] = low
            given = min(size, reserved_now[node])
            reserved_now[node] -= given
            free_now[node] += given
            size -= given
            rest ^= low
        free[place], reserved[place] = tuple(free_now), tuple(reserved_now)
    return state._replace(
        counts=tuple(counts), groups=tuple(groups), free=tuple(free), reserved=tuple(reserved), entries=entries
    )


def start_container(
    manager: MemoryManager, state: MemoryState, pod: PodDemand, container: ContainerDemand, _hint: TopologyHint
) -> MemoryState:
    """Let the init containers before a starting container, which have ended, give their blocks back (rule 43)."""
    for earlier in pod.containers:
        if earlier.name == container.name:
            break
        if earlier.kind == "init":
            state = remove(manager, state, pod.uid, earlier.name)
    return state


def remove_pod(manager: MemoryManager, state: MemoryState, uid: str) -> MemoryState:
    """Give back what all containers of a pod hold, oldest entry first."""
    if not state.entries.get(uid):
        return state
    entries = dict(state.entries)
    held = entries.pop(uid)
    if uid in state.pods:
        return _without_budget(manager, state, uid, entries)
    return _give_back(manager, state, chain.from_iterable(held.values()), entries)
