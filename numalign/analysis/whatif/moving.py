"""Which pods to move away so that another is admitted: the fewest, looked for by trying."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb

from numalign.kubelet.admission import Session, admit, end, forecast
from numalign.model.pod import Pod
from numalign.values import NamedTuple

MAX_PODS_SEARCHED = 12
"""How many pods there may be for every set of them to be tried, smallest first."""

MAX_SETS_TRIED = 1000
"""How many sets of one size are tried among more pods; a size of which there are more is not."""


class Moved(NamedTuple):
    """Pods that make room by going."""

    pods: tuple[Pod, ...]
    """In the order in which they came."""
    fewest: bool
    """No smaller set would do."""


def moved(session: Session, pod: Pod) -> Moved | None:
    """Find the fewest pods to move away; None where even an empty node refuses.

    Among sets of the same size the one with the youngest pods wins: they have run for the shortest time.
    """
    young = session.pods[::-1]
    if not _admits_without(session, pod, young):
        return None
    for size in range(1, len(young) + 1):
        if len(young) > MAX_PODS_SEARCHED and comb(len(young), size) > MAX_SETS_TRIED:
            break
        for some in combinations(young, size):
            if _admits_without(session, pod, some):
                return Moved(_as_they_came(session, some), True)
    found = min((_thinned(session, pod, order) for order in _orders(session)), key=len)
    return Moved(_as_they_came(session, found), False)


def without(session: Session, pods: Sequence[Pod]) -> Session:
    """End pods."""
    for one in pods:
        session = end(session, one.uid)
    return session


def _admits_without(session: Session, pod: Pod, gone: Sequence[Pod]) -> bool:
    """Try it as it is told: memory that a pod frees goes to nodes by rule, so the order of ends may count."""
    going = _as_they_came(session, gone)
    staying = session.pods.without({one.uid for one in going})
    if forecast(session._replace(pods=staying), pod) is False:
        return False
    return admit(without(session, going), pod).admit


def _as_they_came(session: Session, pods: Sequence[Pod]) -> tuple[Pod, ...]:
    uids = {one.uid for one in pods}
    return tuple(one for one in session.pods if one.uid in uids)


def _orders(session: Session) -> Iterator[tuple[Pod, ...]]:
    """In which order pods are sent away: youngest first, oldest first, and NUMA node by NUMA node."""
    yield session.pods[::-1]
    yield session.pods
    for numa in session.node.machine.numa_nodes:
        yield tuple(sorted(session.pods, key=lambda one: -_held(session, one, numa.cpus)))


def _held(session: Session, pod: Pod, cpus: int) -> int:
    """Count the exclusive CPUs that a pod holds among some."""
    return sum(
        ((session.state.cpu.assigned(pod.uid, container.name) or 0) & cpus).bit_count() for container in pod.containers
    )


def _thinned(session: Session, pod: Pod, order: Sequence[Pod]) -> tuple[Pod, ...]:
    """Send pods away one by one until it works, then let each of them stay that can."""
    low, high = 1, len(order)
    while low < high:
        middle = (low + high) // 2
        if _admits_without(session, pod, order[:middle]):
            high = middle
        else:
            low = middle + 1
    gone = list(order[:high])
    if not _admits_without(session, pod, gone):
        gone = list(order)
    for one in tuple(gone):
        fewer = [other for other in gone if other is not one]
        if _admits_without(session, pod, fewer):
            gone = fewer
    return tuple(gone)
