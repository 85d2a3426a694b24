"""Everything an allocation needs beside the claims: tried as it is, and with a change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from numalign.dra.allocator import MAX_WORK, allocate
from numalign.dra.features import Features
from numalign.dra.pools import Pool, Published, pools_of
from numalign.dra.result import Outcome
from numalign.dra.usage import Usage
from numalign.dra.values import Claim, Device, DeviceClass, Node
from numalign.values import NamedTuple


class Attempt(NamedTuple):
    """A cluster, and the node that is tried."""

    cluster: Published
    classes: Mapping[str, DeviceClass]
    used: Usage
    features: Features
    node: Node

    def allocate(self, claims: Sequence[Claim], *, work: int = MAX_WORK) -> Outcome:
        """Try claims on the node (see `allocator.allocate`)."""
        return allocate(self.node, self.cluster, self.classes, claims, self.used, self.features, work=work)

    def pools(self) -> tuple[Pool, ...]:
        """Give the node's pools."""
        return pools_of(self.node, self.cluster, self.features)

    @property
    def is_determined(self) -> bool:
        """Whether the order of pools and slices is fixed, or the node has but one (D-2)."""
        return self.features.is_ordered or sum(len(pool.slices) for pool in self.pools()) < 2

    def devices(self) -> Iterator[tuple[str, Device]]:
        """Yield (driver, device) of the pools that can be used."""
        for pool in self.pools():
            if pool.is_usable:
                for slice_ in pool.slices:
                    for device in slice_.devices:
                        yield pool.driver, device
