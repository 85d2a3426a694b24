"""What is allocated already, over all nodes (docs/rules/dra.md D-6, D-12, D-13)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from numalign.dra.capacity import Capacities, added
from numalign.dra.values import Claim, DeviceID
from numalign.values import NamedTuple


class Usage(NamedTuple):
    """The devices that claims hold."""

    whole: frozenset[DeviceID] = frozenset()
    """Taken by one claim."""
    shared: frozenset[DeviceID] = frozenset()
    """Serving one or more claims by shares."""
    amounts: Mapping[DeviceID, Capacities] = {}
    """What the shares take."""

    def holds(self, identity: DeviceID) -> bool:
        """Tell whether a device is allocated in any way."""
        return identity in self.whole or identity in self.shared


def usage(claims: Iterable[Claim]) -> Usage:
    """Sum up allocated claims. Allocations with admin access count for nothing (D-10a)."""
    whole: set[DeviceID] = set()
    shared: set[DeviceID] = set()
    amounts: dict[DeviceID, Capacities] = {}
    for claim in claims:
        for taken in claim.allocation or ():
            if taken.admin:
                continue
            if taken.share:
                shared.add(taken.device)
                amounts[taken.device] = added(amounts.get(taken.device, {}), taken.consumed)
            else:
                whole.add(taken.device)
    return Usage(frozenset(whole), frozenset(shared), amounts)
