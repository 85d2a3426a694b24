"""Where an admitted container's resources lie, and the NUMA distance it pays for that."""

from __future__ import annotations

from numalign.analysis.alignment import Alignment, alignments
from numalign.kubelet.admission import Outcome
from numalign.kubelet.node import Node
from numalign.model.cpuset import ids
from numalign.model.resources import CPU
from numalign.values import NamedTuple


class Place(NamedTuple):
    """One resource of a container."""

    resource: str
    nodes: int
    """The mask of the NUMA nodes it lies on."""
    distance: int | None
    """How far its farthest node is from the container's CPUs. None: the machine does not say, or the container has no
    CPUs of its own."""


class Placement(NamedTuple):
    """One container."""

    container: str
    places: tuple[Place, ...]
    distance: float | None
    """Mean distance over all ordered pairs of nodes it touches, as the kubelet reckons; None: not known, or it has no
    CPUs of its own."""
    local: int | None
    """The distance of the nearest of its nodes to itself."""


def placements(outcome: Outcome) -> tuple[Placement, ...]:
    """Describe all containers of an admitted pod."""
    return tuple([_placement(outcome.before.node, judged, one.name) for one, judged in alignments(outcome)])


def distance_between(node: Node, one: int, other: int) -> int | None:
    """Return the largest distance from a node of one set to a node of the other."""
    rows = {numa.id: numa.distances for numa in node.machine.numa_nodes}
    places = {numa: place for place, numa in enumerate(sorted(rows))}
    found = []
    for start in ids(one):
        row = rows[start]
        if row is None or len(row) < len(rows):
            return None
        found += [row[places[end]] for end in ids(other)]
    return max(found, default=None)


def _placement(node: Node, judged: Alignment, name: str) -> Placement:
    start = judged.places.get(CPU)
    if start is None:
        return Placement(name, tuple(Place(*place, None) for place in judged.places.items()), None, None)
    places = tuple(
        Place(resource, nodes, distance_between(node, start, nodes)) for resource, nodes in judged.places.items()
    )
    touched = list(ids(judged.nodes))
    pairs = [distance_between(node, 1 << one, 1 << other) for one in touched for other in touched]
    known = [pair for pair in pairs if pair is not None]
    if len(known) < len(pairs):
        return Placement(name, places, None, None)
    to_themselves = known[:: len(touched) + 1]
    return Placement(name, places, sum(known) / len(known), min(to_themselves))
