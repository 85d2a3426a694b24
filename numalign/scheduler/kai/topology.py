"""What KAI reads out of a NodeResourceTopology, and its options (docs/rules/scheduling.md K-1, K-8)."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Final

from numalign.kubelet.topology.options import POLICIES, SCOPES
from numalign.scheduler.nrt.value import (
    NUMA_ZONE,
    POLICY,
    SCOPE,
    NodeResourceTopology,
    attribute,
    legacy_policy,
    number_of,
)
from numalign.scheduler.resources import Amounts
from numalign.values import NamedTuple

ACTING_POLICIES: Final = ("single-numa-node", "restricted")
"""The policies under which KAI filters (K-2)."""


class KaiOptions(NamedTuple):
    """How KAI's plugin is set up."""

    ignored: tuple[str, ...] = ()
    """The resources that it does not look at (`ignoreList`, K-1)."""
    reconstruct: bool | None = None
    """Whether free amounts are rebuilt from records (`reconstructAvailable`, K-8); None: where some pod has one."""
    deserved: Mapping[str, Amounts] = {}
    """Queue -> what it deserves; of a queue that is not named nothing is reclaimed, and it gets what it asks for."""


class Around(NamedTuple):
    """What KAI knows of the cluster as a whole."""

    exposed: frozenset[str] | None = None
    """The resources that its machines expose (K-1); None: all that zones list."""
    zones: int = 0
    """The most zones that a machine has; 0: none has an object."""
    aware: frozenset[str] = frozenset()
    """All resources that KAI looks at on some machine."""
    rebuilds: bool = True
    """Whether free amounts are rebuilt from records (K-8)."""


class KaiZone(NamedTuple):
    """A zone as KAI works with it."""

    name: str
    allocatable: Amounts
    available: Amounts


class KaiTopology(NamedTuple):
    """A machine as KAI works with it."""

    zones: tuple[KaiZone, ...]
    """In KAI's order; a zone's number is its position here."""
    policy: str
    scope: str
    aware: frozenset[str]
    """The resources that KAI looks at on this machine."""

    def with_available(self, available: Collection[Amounts]) -> KaiTopology:
        """Replace the free amounts of all zones."""
        zones = [zone._replace(available=free) for zone, free in zip(self.zones, available, strict=True)]
        return self._replace(zones=tuple(zones))

    @property
    def available_key(self) -> Hashable:
        """Make a key of the free amounts, where they are not those of the object."""
        return tuple([frozenset(zone.available.items()) for zone in self.zones])

    @property
    def available(self) -> tuple[Amounts, ...]:
        """The free amounts of all zones."""
        return tuple([zone.available for zone in self.zones])


def zone_order(name: str) -> tuple[bool, int | None, str]:
    """Order zones by their trailing number; those without one come last, by name (K-1)."""
    number = number_of(name)
    return number is None, number, name


def policy_scope(nrt: NodeResourceTopology) -> tuple[str, str]:
    """Read policy and scope as KAI does: from the attributes if the policy is there, else from the old list (K-1)."""
    policy = attribute(nrt.attributes, POLICY)
    if policy is not None:
        scope = attribute(nrt.attributes, SCOPE)
        return (policy if policy in POLICIES else "none"), (scope if scope in SCOPES else "container")
    legacy = legacy_policy(nrt.topology_policies[0], short=True) if nrt.topology_policies else None
    return legacy or ("none", "container")


def topology(
    nrt: NodeResourceTopology | None,
    *,
    exposed: Collection[str] | None = None,
    ignored: Collection[str] = (),
) -> KaiTopology | None:
    """Read a machine's object (K-1); None: it has none, or all its zones are something else than NUMA nodes.

    Args:
        nrt: the object.
        exposed: the resources that the machines of the cluster expose; None: all that the zones list.
        ignored: the names of the option `ignoreList`.
    """
    if nrt is None:
        return None
    zones = []
    for zone in nrt.zones:
        if zone.type == NUMA_ZONE:
            named = zone.resources.items()
            zones.append(
                KaiZone(
                    zone.name,
                    {name: one.allocatable for name, one in named if one.allocatable is not None},
                    {name: one.available for name, one in named if one.available is not None},
                )
            )
    if not zones:
        return None
    policy, scope = policy_scope(nrt)
    return of_zones(zones, policy, scope, exposed=exposed, ignored=ignored)


def of_zones(
    zones: Collection[KaiZone],
    policy: str,
    scope: str,
    *,
    exposed: Collection[str] | None = None,
    ignored: Collection[str] = (),
) -> KaiTopology:
    """Put zones into KAI's order and work out which resources it looks at (K-1)."""
    listed = {name for zone in zones for amounts in (zone.allocatable, zone.available) for name in amounts}
    if exposed is not None:
        listed &= set(exposed)
    ordered = sorted(zones, key=lambda zone: zone_order(zone.name))
    return KaiTopology(tuple(ordered), policy, scope, frozenset(listed - set(ignored)))


def around(machines: Iterable[KaiTopology | None], exposed: frozenset[str] | None, *, rebuilds: bool) -> Around:
    """Sum up what KAI knows of a cluster; a machine that has no object is None."""
    known = [machine for machine in machines if machine is not None]
    aware = frozenset[str]().union(*[machine.aware for machine in known])
    return Around(exposed, max([len(machine.zones) for machine in known], default=0), aware, rebuilds)


def ignore_list(text: str) -> tuple[str, ...]:
    """Read the option `ignoreList`: names between commas, sorted."""
    return tuple(sorted({name.strip() for name in text.split(",")} - {""}))


_FALSE: Final = frozenset({"0", "f", "F", "false", "FALSE", "False"})


def reconstruct_option(text: str | None) -> bool:
    """Read the option `reconstructAvailable`: on unless it says false (K-8)."""
    return text not in _FALSE
