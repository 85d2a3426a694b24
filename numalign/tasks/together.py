"""How close to each other the devices of pods are that belong together: of one object, or with one owner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product
from typing import TYPE_CHECKING

from numalign.analysis.closeness import MAX_PAIRED, between
from numalign.results.admit import PodResult, Together

if TYPE_CHECKING:
    from numalign.model.machine import Machine
    from numalign.sources.pods.manifest import PodSource


def together(machine: Machine, sources: Iterable[PodSource], pods: Sequence[PodResult]) -> Iterator[Together]:
    """Yield the objects and owners with several admitted pods whose GPUs, or NICs, are of one resource.

    Args:
        machine: where the pods are.
        sources: where they come from; of others nothing is known.
        pods: what became of them. Of very many nothing is said: their pairs would be too many.
    """
    admitted = {pod.full_name: pod for pod in pods if pod.admitted}
    groups: dict[tuple[str, ...], list[PodResult]] = {}
    for source in sources:
        owner = source.belongs_to
        if owner is not None and source.pod.full_name in admitted:
            groups.setdefault(owner, []).append(admitted[source.pod.full_name])
    for (kind, name, *_), members in groups.items():
        if 1 < len(members) <= MAX_PAIRED:
            pairs = [
                pair
                for one, other in combinations(members, 2)
                for here, there in product(one.containers, other.containers)
                for pair in between(machine, here.holding, there.holding)
            ]
            if pairs:
                yield Together(kind, name, tuple([pod.name for pod in members]), tuple(pairs))
