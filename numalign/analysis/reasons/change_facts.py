"""What there is to tell of a change that would admit a pod: what pods to move hold, what limits a request. No words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numalign.analysis.reasons.facts import Fact
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numalign.analysis.in_the_way import Amount
    from numalign.analysis.reasons.asked import Asked, Left, Names, Spread
    from numalign.analysis.whatif.past import HeldAmount


class Goes(NamedTuple):
    """Where one container of an admitted pod goes."""

    name: str
    nodes: int
    places: Mapping[str, int]
    """Resource -> the mask of the nodes it comes from."""
    chosen: int | None
    """The mask of the nodes that were chosen for it; None: any."""


class AskedOf(NamedTuple):
    """What pods ask for, or hold, of a resource, in billionths."""

    resource: str
    nano: int
    taken: tuple[int, int] | None
    """Of what the node as a whole has too little of: what others ask for, and what there is, as it counts them."""
    in_all: bool = False
    """It holds some of it, but less."""


class LeftOf(NamedTuple):
    """What the node as a whole has left of a resource without pods, as it counts it."""

    resource: str
    left: int
    capacity: int


class PodHolds(NamedTuple):
    """What a pod to move holds and asks for of what is in the way."""

    name: str
    held: tuple[HeldAmount, ...]
    asks: tuple[AskedOf, ...] = ()
    left: tuple[LeftOf, ...] = ()
    """What that leaves without it."""
    bound: int = 0
    """As long as it stays, these nodes are used only as they are; 0: that does not matter."""
    last: bool = False
    """As long as it stays, no CPU is left to share."""
    stays: bool = False
    """What follows is in the way as long as it stays."""


class PodsHold(NamedTuple):
    """What many pods to move hold, or ask for, together."""

    pods: int
    amounts: tuple[AskedOf, ...]
    asked: bool


class WithoutThem(NamedTuple):
    """What the node as a whole has left without the pods to move."""

    left: tuple[LeftOf, ...]


class LastShared(NamedTuple):
    """The last CPU that is shared would be taken, with more or without the change."""

    more: bool


class OddBytes(NamedTuple):
    """An amount, in billionths, that is no whole number of bytes."""

    nano: int


class AsWide(NamedTuple):
    """A resource has to take as many nodes as others do."""

    like: Names
    width: int
    resource: str
    most: int
    """What one node has of it at most; 0: none has any."""
    above: int = 0
    """The most for which the kubelet counts fewer nodes, where that is more than one node has; 0: it is not."""


class NotAligned(NamedTuple):
    """Without a part the pod is admitted, and not aligned."""


class ThenTogether(NamedTuple):
    """On which nodes memory resources meet once less is asked of one of them."""

    resources: Names
    nodes: int


class Effect(NamedTuple):
    """What a setting, or an option, does with this value."""

    name: str
    value: str


class WholeCoresOnly(NamedTuple):
    """So many CPUs are free, but only whole cores are given out."""

    free: int
    threads: int


class TooLittleThere(NamedTuple):
    """What is short where a pod goes once others have gone."""

    container: str | None
    """None: the pod."""
    nodes: int
    """One; 0: the whole machine."""
    beside: Names
    """Containers of the pod that are there until then."""
    short: tuple[tuple[Asked, int, int], ...]
    """What is asked, what is free, and what init containers leave."""


class HasThere(NamedTuple):
    """What the node has of a resource to which a container goes."""

    asked: Asked
    node: int
    there: int
    left_by: Names | None
    """Init containers that leave most of it; none: one of them; None: it is free."""


class HasToStay(NamedTuple):
    """What init containers left there for it, so that it cannot go elsewhere."""

    resource: str
    amount: int
    left_by: Names


class Lack(NamedTuple):
    """What nodes have too little of."""

    asked: Asked
    had: Spread
    some: bool
    """They have some of it."""
    ever: bool
    """They could have some."""
    own: Left | None
    """What earlier containers of the pod hold there."""


class EnoughBut(NamedTuple):
    """Nodes have enough of a resource, but too little of others."""

    nodes: int
    lacks: tuple[Lack, ...]


class Elsewhere(NamedTuple):
    """With so much, in billionths, other nodes would be chosen."""

    resource: str
    nano: int
    nodes: int


class LeavesNone(NamedTuple):
    """An init container that asks for so much, in billionths, leaves nothing that ties others to nodes."""

    resource: str
    nano: int
    container: str
    whom: str | None
    """None: the pod."""
    nodes: int


class CountsAsWhole(NamedTuple):
    """A share of a CPU counts only against the node as a whole."""

    amount: Amount


OfPods = PodHolds | PodsHold | WithoutThem
Limits = WholeCoresOnly | TooLittleThere | HasThere | HasToStay | EnoughBut | Elsewhere | LeavesNone | CountsAsWhole
Reasonable = OfPods | Limits | LastShared | OddBytes | AsWide | NotAligned | ThenTogether | Effect | Fact


class Reason(NamedTuple):
    """A fact that says why a part of a change is needed."""

    fact: Reasonable
    container: str | None = None
    """Which one it is about, where the part does not say so."""
    larger: tuple[str, int] | None = None
    """(container, billionths): what that one would have to ask for."""
