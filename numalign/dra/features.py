"""What a release with its gates can do, and which copy of the allocator does it (docs/rules/dra.md 2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, Literal

from numalign.dra.values import Node
from numalign.errors import InputError
from numalign.kubelet.releases import NEWEST_TEXT
from numalign.values import NamedTuple

Copy = Literal["stable", "incubating", "experimental"]

UNTIL_1_35: Final = ("1.34", "1.35")
"""Releases before what 1.36 changed; before 1.34 the API was another one."""

_SINCE_1_36: Final = frozenset(
    {"admin_access", "prioritized_list", "partitionable", "taints", "binding", "status", "consumable", "extended"}
)
_DEFAULTS: Final[Mapping[str, frozenset[str]]] = {
    "1.34": frozenset({"admin_access", "prioritized_list", "status"}),
    "1.35": frozenset({"admin_access", "prioritized_list", "status"}),
    "1.36": _SINCE_1_36,
    "1.37": _SINCE_1_36 | {"lists", "taint_rules", "fractions"},
}
"""Release -> fields of `Features` that are on by default."""

RELEASES: Final = tuple(_DEFAULTS)
"""Releases whose rules are known; those after `NEWEST_TEXT` from published changes alone."""


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
    extended: bool = False
    """Claims for extended resources that a class serves (D-53)."""
    lists: bool = False
    """List attributes in selectors."""
    list_constraints: bool = False
    """List attributes in constraints too."""
    taint_rules: bool = False
    """DeviceTaintRule objects keep claims away from devices, too."""
    fractions: bool = False
    """Ranges of capacities in fractions."""
    release: str = NEWEST_TEXT

    @property
    def mended(self) -> bool:
        """Whether the quirks that 1.37 mends are gone (docs/rules/kubelet-1.37.md 11)."""
        return self.release not in (*UNTIL_1_35, "1.36")

    @property
    def copy(self) -> Copy:
        """Which of the three allocators the scheduler takes (D-1, D-1a)."""
        if self.release not in UNTIL_1_35:
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
        return self.release not in UNTIL_1_35 and self.copy != "stable"


GATES: Final[Mapping[str, str]] = {
    "DRAAdminAccess": "admin_access",
    "DRAPrioritizedList": "prioritized_list",
    "DRAPartitionableDevices": "partitionable",
    "DRADeviceTaints": "taints",
    "DRADeviceTaintRules": "taint_rules",
    "DRAFractionalCapacityRange": "fractions",
    "DRADeviceBindingConditions": "binding",
    "DRAResourceClaimDeviceStatus": "status",
    "DRAConsumableCapacity": "consumable",
    "DRAExtendedResource": "extended",
    "DRAListTypeAttributes": "lists",
}
"""Feature gate -> field."""


def features(release: str = NEWEST_TEXT, gates: Mapping[str, bool] | None = None) -> Features:
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


def asked_features(release: str | None, gates: str, flag: str = "--kubelet-version") -> Features:
    """Read a release and feature gates.

    Args:
        release: of the scheduler; None: the newest that was recorded.
        gates: `NAME=true,…`.
        flag: what names the release.

    Raises:
        InputError: the release is not one whose allocator is known, or a gate is not written `NAME=true`.
    """
    if release is not None and release not in RELEASES:
        raise InputError(f"expected a scheduler of {', '.join(RELEASES)}, got {release}", flag)
    switched: dict[str, bool] = {}
    for part in filter(None, gates.split(",")):
        name, _, value = part.strip().partition("=")
        if value not in ("true", "false"):
            raise InputError(f'expected NAME=true or NAME=false, got "{part.strip()}"', "--feature-gates")
        if name in GATES:
            switched[name] = value == "true"
    return features(release or NEWEST_TEXT, switched)


def newest_of(nodes: Iterable[Node]) -> str | None:
    """Return the newest release that nodes name, of those that are known: no scheduler is older. None: none is."""
    named = [found[1] for node in nodes if (found := re.match(r"v?(\d+\.\d+)(?:\D|$)", node.release))]
    return max([one for one in named if one in RELEASES], default=None, key=RELEASES.index)
