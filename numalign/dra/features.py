"""What a release with its gates can do, and which copy of the allocator does it (docs/rules/dra.md 2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from numalign.values import NamedTuple

Copy = Literal["stable", "incubating", "experimental"]

NEWEST: Final = "1.36"
RELEASES: Final = ("1.34", "1.35", "1.36")
"""Releases whose rules are known. Before 1.34 the API was another one."""


class Features(NamedTuple):
    """What the allocator may use."""

    admin_access: bool = False
    prioritized_list: bool = False
    partitionable: bool = False
    taints: bool = False
    binding: bool = False
    """Binding conditions."""
    status: bool = False
    """`DRAResourceClaimDeviceStatus`; from 1.36 on it only counts together with `binding`."""
    consumable: bool = False
    lists: bool = False
    """List attributes in selectors."""
    list_constraints: bool = False
    """List attributes in constraints too."""
    release: str = NEWEST

    @property
    def copy(self) -> Copy:
        """Which of the three allocators the scheduler takes (D-1, D-1a)."""
        if self.release == NEWEST:
            if self.list_constraints:
                return "experimental"
            return "incubating" if self.binding or self.consumable else "stable"
        return "experimental" if self.consumable or self.binding or self._lone_status else "incubating"

    @property
    def _lone_status(self) -> bool:
        return self.status and self.release == "1.34"

    @property
    def is_ordered(self) -> bool:
        """Whether pools and slices are tried in a fixed order (D-2)."""
        return self.release == NEWEST and self.copy != "stable"


GATES: Final[Mapping[str, str]] = {
    "DRAAdminAccess": "admin_access",
    "DRAPrioritizedList": "prioritized_list",
    "DRAPartitionableDevices": "partitionable",
    "DRADeviceTaints": "taints",
    "DRADeviceBindingConditions": "binding",
    "DRAResourceClaimDeviceStatus": "status",
    "DRAConsumableCapacity": "consumable",
    "DRAListTypeAttributes": "lists",
}
"""Feature gate -> field."""

_DEFAULTS: Final[Mapping[str, frozenset[str]]] = {
    "1.34": frozenset({"admin_access", "prioritized_list", "status"}),
    "1.35": frozenset({"admin_access", "prioritized_list", "status"}),
    "1.36": frozenset(
        {"admin_access", "prioritized_list", "partitionable", "taints", "binding", "status", "consumable"}
    ),
}


def features(release: str = NEWEST, gates: Mapping[str, bool] | None = None) -> Features:
    """Give what a release can do with some gates turned on or off.

    Raises:
        KeyError: a release that is not known.
    """
    on = set(_DEFAULTS[release])
    for gate, value in (gates or {}).items():
        if gate in GATES:
            (on.add if value else on.discard)(GATES[gate])
    if "status" not in on and release != "1.34":
        on.discard("binding")
    return Features(**dict.fromkeys(on, True), release=release)
