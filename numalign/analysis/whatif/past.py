"""The pods before a refused one: which have to go, and what they get where a change of settings admits them anew."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb

from numalign.analysis.refusal import Refusal, taken_apart
from numalign.analysis.whatif.goal import ADMITTED, Goal
from numalign.kubelet.admission import Outcome, Session, admit, end, forecast
from numalign.kubelet.demand import with_overhead
from numalign.kubelet.device.state import Resource
from numalign.model.cpuset import CPUSet, from_ids, node_mask, union
from numalign.model.pod import Pod
from numalign.model.resources import CPU
from numalign.values import NamedTuple

MAX_SETS_TRIED = 1000
"""How many sets of one size are tried; a size of which there are more is not. Of up to 12 pods every set is."""


class HeldAmount(NamedTuple):
    """What a pod holds of one resource: CPUs of its own, devices or pinned bytes."""

    resource: str
    amount: int
    places: tuple[tuple[int, int], ...]
    """(mask of NUMA nodes, amount) pairs; no node: nobody knows where these devices are."""


class Held(NamedTuple):
    """What a pod holds, and what it asks for."""

    name: str
    amounts: tuple[HeldAmount, ...]
    asks: tuple[tuple[str, int], ...] = ()
    """(resource, amount) pairs, in billionths, as the node as a whole counts them."""


class Moved(NamedTuple):
    """Pods that make room by going."""

    pods: tuple[Pod, ...]
    """In the order in which they came."""
    fewest: bool
    """No smaller set would do."""


class Anew(NamedTuple):
    """How the pods before a refused one fare under other settings. None of those that are there now is refused then."""

    newcomers: tuple[Held, ...]
    """Pods that were refused before, and are admitted under the other settings."""
    moved: tuple[str, ...]
    """Names of pods that get other CPUs, other devices or memory of other nodes."""
    fewer: tuple[tuple[str, int, int], ...] = ()
    """Of these: (name, CPUs it holds now, how many it would hold), where its containers take over more CPUs of its init
    containers."""
    rivals: tuple[Held, ...] = ()
    """Pods that were refused before and must not come first: the refused one is admitted only without them."""
    instead: tuple[Held, ...] = ()
    """Of pods that have to be admitted first: those refused before that come first without them."""
    otherwise: Refusal | None = None
    """How the pod is refused then."""


def anew(now: Session, after: Session, gone: Sequence[Pod] = (), kept_out: Sequence[Pod] = ()) -> Anew:
    """Compare what pods hold with what they would hold.

    Args:
        now: the node as it is.
        after: the node under other settings, all pods on it that are admitted there.
        gone: pods that are moved away.
        kept_out: pods that must not come first.
    """
    then = without(after, (*gone, *kept_out))
    there = {pod.uid for pod in now.pods}
    newcomers = held_by(then, [pod for pod in then.pods if pod.uid not in there])
    moved = [pod for pod in then.pods if _differs(now, then, pod)]
    leaving = [pod for pod in moved if any(one.kind == "init" for one in pod.containers)]
    counts = [(pod.name, _cpus(now, pod).bit_count(), _cpus(then, pod).bit_count()) for pod in leaving]
    return Anew(
        newcomers,
        moved=tuple([pod.name for pod in moved]),
        fewer=tuple([one for one in counts if one[2] < one[1]]),
        rivals=held_by(after, kept_out),
    )


def with_others_first(found: Anew, now: Session, alone: Outcome) -> Anew:
    """Add to pods that have to be admitted first what comes without them: another pod refused before, and a refusal.

    Args:
        found: how the pods before fare.
        now: the node as it is.
        alone: the pod, refused under the other settings without those pods.
    """
    there = {pod.uid for pod in now.pods}
    others = [pod for pod in alone.before.pods if pod.uid not in there]
    refused = taken_apart(alone)
    around = refused.around._replace(when="then")
    return found._replace(instead=held_by(alone.before, others), otherwise=refused._replace(around=around))


def without(session: Session, pods: Sequence[Pod]) -> Session:
    """End pods."""
    for one in pods:
        session = end(session, one.uid)
    return session


def held_by(session: Session, pods: Sequence[Pod]) -> tuple[Held, ...]:
    """Read what pods hold."""
    return tuple(
        [Held(pod.name, tuple(_held(session, pod)), tuple(sorted(with_overhead(pod).items()))) for pod in pods]
    )


def _differs(now: Session, then: Session, pod: Pod) -> bool:
    """Tell whether a pod has something else of what it holds in both; who comes new holds nothing in one."""
    both = zip(_places(now, pod), _places(then, pod), strict=True)
    return any(old and new and old != new for old, new in both)


def _places(session: Session, pod: Pod) -> Iterator[object]:
    device, cpu, memory = session.state.states
    for container in pod.containers:
        yield cpu.assigned(pod.uid, container.name)
        yield device.holdings.get(pod.uid, {}).get(container.name)
        yield {block.mask for block in memory.blocks(pod.uid, container.name) or ()}


def _held(session: Session, pod: Pod) -> Iterator[HeldAmount]:
    """Add up what a pod holds; CPUs and devices that init containers leave to later ones count once."""
    of_device, _, of_memory = session.state.states
    cpus, devices, memory = _cpus(session, pod), dict[str, int](), dict[str, dict[int, int]]()
    for container in pod.containers:
        for name, members in of_device.holdings.get(pod.uid, {}).get(container.name, {}).items():
            devices[name] = devices.get(name, 0) | members
        for block in of_memory.blocks(pod.uid, container.name) or ():
            sizes = memory.setdefault(block.type, {})
            sizes[block.mask] = sizes.get(block.mask, 0) + block.size
    node = session.node
    if cpus:
        there = ((node_mask(numa.id), (numa.cpus & cpus).bit_count()) for numa in node.machine.numa_nodes)
        yield HeldAmount(CPU, cpus.bit_count(), tuple([(mask, count) for mask, count in there if count]))
    for name, members in devices.items():
        if members:
            yield HeldAmount(name, members.bit_count(), _places_of(node.device.resources[name], members))
    for name, sizes in memory.items():
        if any(sizes.values()):
            yield HeldAmount(name, sum(sizes.values()), tuple(sizes.items()))


def _cpus(session: Session, pod: Pod) -> CPUSet:
    """Return the CPUs that a pod's containers hold, each once."""
    return union(session.state.cpu.assigned(pod.uid, one.name) or 0 for one in pod.containers)


def _places_of(resource: Resource, members: int) -> tuple[tuple[int, int], ...]:
    """Count a set of devices by the mask of their NUMA nodes."""
    counts = Counter(
        from_ids(numa for numa in device.numa_nodes or () if numa >= 0)
        for position, device in enumerate(resource.devices)
        if members >> position & 1
    )
    return tuple(sorted(counts.items()))


def moved(session: Session, pod: Pod, goal: Goal = ADMITTED) -> Moved | None:
    """Find the fewest pods to move away; None where even an empty node does not do.

    Among sets of the same size the one with the youngest pods wins: they have run for the shortest time.
    """
    young = session.pods[::-1]
    empty = _does_without(session, goal, pod, young)
    if not (empty or goal.aligned):
        return None
    for size in range(1, len(young) + 1):
        if comb(len(young), size) > MAX_SETS_TRIED:
            break
        for some in combinations(young, size):
            if _does_without(session, goal, pod, some):
                return Moved(_as_they_came(session, some), True)
        if not empty and size == 2:
            return None  # what others hold may send a pod where it is aligned, but not many of them
    if not empty:
        return None
    found = min((_thinned(session, goal, pod, order) for order in _orders(session)), key=len)
    return Moved(_as_they_came(session, found), False)


def _does_without(session: Session, goal: Goal, pod: Pod, gone: Sequence[Pod]) -> bool:
    """Try it as it is told: memory that a pod frees goes to nodes by rule, so the order of ends may count."""
    going = _as_they_came(session, gone)
    staying = session.pods.without({one.uid for one in going})
    if forecast(session._replace(pods=staying), pod) is False:
        return False
    return goal.met(admit(without(session, going), pod))


def _as_they_came(session: Session, pods: Sequence[Pod]) -> tuple[Pod, ...]:
    uids = {one.uid for one in pods}
    return tuple(one for one in session.pods if one.uid in uids)


def _orders(session: Session) -> Iterator[tuple[Pod, ...]]:
    """In which order pods are sent away: youngest first, oldest first, and NUMA node by NUMA node."""
    yield session.pods[::-1]
    yield session.pods
    for numa in session.node.machine.numa_nodes:
        yield tuple(sorted(session.pods, key=lambda one: -(_cpus(session, one) & numa.cpus).bit_count()))


def _thinned(session: Session, goal: Goal, pod: Pod, order: Sequence[Pod]) -> tuple[Pod, ...]:
    """Send pods away one by one until it works, then let each of them stay that can."""
    many = range(1, len(order))
    gone = list(order[: 1 + bisect_left(many, True, key=lambda high: _does_without(session, goal, pod, order[:high]))])
    if not _does_without(session, goal, pod, gone):
        gone = list(order)
    for one in tuple(gone):
        fewer = [other for other in gone if other is not one]
        if _does_without(session, goal, pod, fewer):
            gone = fewer
    return tuple(gone)
