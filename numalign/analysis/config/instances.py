"""How many pods the network of an EC2 instance has addresses for: the limits that AWS publishes for each type."""

from __future__ import annotations

from typing import Final

from numalign.analysis.config.reservations import eni_pods

_USUAL: Final = {
    "large": (3, 10),
    **dict.fromkeys(("xlarge", "2xlarge"), (4, 15)),
    **dict.fromkeys(("4xlarge", "8xlarge", "12xlarge"), (8, 30)),
}
"""Size -> (network interfaces, addresses of each) of most families; larger ones, and metal, have 15 with 50."""
_FAMILIES: Final = frozenset(
    name
    for names in (
        "c4 c5a c5ad c6a c6g c6gd c6gn c6i c6id c7a c7g c7gd c7gn c7i c8g c8gd dl1 g5g g6 gr6 i3 i4g i7i i8g inf2",
        "m5 m5a m5ad m5d m5dn m5n m6a m6g m6gd m6i m6id m7a m7g m7gd m7i m8g m8gd p3dn p4d p4de r5 r5a r5ad r5b r5d",
        "r5dn r5n r6a r6g r6gd r6i r6id r7a r7g r7gd r7i r7iz r8g r8gd x2gd x2idn x2iedn x8g",
    )
    for name in names.split()
)
"""Families of which that holds."""
_OTHERS: Final = {
    "g4dn.metal": (15, 50),
    "g5.12xlarge": (15, 50),
    "g5.24xlarge": (15, 50),
    "g5.48xlarge": (7, 50),
    "g6e.12xlarge": (10, 30),
    "g6e.24xlarge": (10, 50),
    "g6e.48xlarge": (10, 50),
    "g7.48xlarge": (12, 64),
    "g7e.48xlarge": (10, 64),
    "hpc6a.48xlarge": (2, 50),
    "hpc6id.32xlarge": (1, 50),
    "hpc7a.96xlarge": (2, 50),
    "hpc7g.16xlarge": (4, 50),
    "hpc8a.96xlarge": (2, 50),
    "p5.4xlarge": (4, 30),
    "p5.48xlarge": (2, 50),
    "p5e.48xlarge": (2, 50),
    "p5en.48xlarge": (4, 50),
    "p6-b200.48xlarge": (4, 50),
    "p6-b300.48xlarge": (4, 50),
    "trn1.32xlarge": (5, 50),
    "trn1n.32xlarge": (5, 50),
    "trn2.48xlarge": (2, 50),
}
"""Types with other limits, mostly with accelerators."""


def limits_of(instance: str) -> tuple[int, int] | None:
    """Return the network interfaces of an instance type, and the addresses of each; None: an unknown type."""
    family, _, size = instance.partition(".")
    limits = _OTHERS.get(instance)
    if limits is None and family in _FAMILIES and size.endswith(("large", "metal", "xl")):
        limits = _USUAL.get(size, (15, 50))
    return limits


def pods_of(instance: str) -> int | None:
    """Return how many pods the network of an instance type has addresses for; None: the type is not known here."""
    limits = limits_of(instance)
    return None if limits is None else eni_pods(*limits)
