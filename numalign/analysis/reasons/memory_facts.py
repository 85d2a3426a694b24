"""Facts of memory nodes that are chosen for a pod, and of what its containers hold together (`facts`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numalign.analysis.reasons.asked import Amounts, Asked, Left, Spread
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.analysis.loose import Loose
    from numalign.analysis.memory_together import Group


class MemoryHeld(NamedTuple):
    """The memory of these nodes is held already, so that they are used only as they are."""

    groups: tuple[Group, ...]


class OneNode(NamedTuple):
    """The policy takes all memory from one node."""

    policy: str


class HasToFit(NamedTuple):
    """Sets of nodes whose memory may be used together, the one with the most free first, and what each has free."""

    asked: tuple[Asked, ...]
    had: tuple[Spread, ...]
    sets: tuple[tuple[int, tuple[int, ...]], ...]

    @property
    def shown(self) -> object:
        """Give what is told of it."""
        return tuple([one.resource for one in self.asked]), self.sets


class ChosenBefore(NamedTuple):
    """Nodes would do, but the memory nodes had been chosen before for all that is asked."""

    nodes: tuple[int, ...]
    """None: each of those told."""
    chosen: int


class TooMany(NamedTuple):
    """Nodes would do, but they are more than the container itself needs."""

    container: str
    nodes: int
    width: int


class ShortThere(NamedTuple):
    """The nodes chosen for a container have too little memory."""

    container: str
    chosen: int
    resource: str
    amount: int
    """What the container itself asks for."""
    free: int
    own: Amounts
    """What the pod's other containers hold there."""


class LookedAgain(NamedTuple):
    """Nodes are looked for again, with those chosen among them; what init containers leave counts in that."""

    chosen: int


class LeftCounts(NamedTuple):
    """What init containers leave does not count where nodes are chosen; it does in what follows."""


class SumTooLarge(NamedTuple):
    """The pod's containers together ask for more than the machine ever has."""

    resource: str
    amount: int
    capacity: int
    parts: Amounts
    loose: Loose | None
    less: Amounts = ()
    """Those that ask for less already, by the change told."""


class HeldByOwn(NamedTuple):
    """Earlier containers of the pod hold some of it: (container, amount, nodes)."""

    resource: str
    held: tuple[tuple[str, int, int], ...]


class LeftByInit(NamedTuple):
    """What init containers leave to the containers after them, and what that ties them to."""

    resource: str
    left: Left
    amount: int
    """What is asked."""
    there: bool
    """Nodes are named: it is known, and there are several."""
    free: int | None
    """Of memory: what is free on its node, where both do not do."""
    width: int
    """Of memory that lies on more nodes than are to be used: these; 0: it does not."""

    @property
    def shown(self) -> object:
        """Give what is told of it."""
        return self if self.free is not None else self._replace(amount=0)


Memory = MemoryHeld | OneNode | HasToFit | ChosenBefore | TooMany | ShortThere | LookedAgain | LeftCounts
OfThePod = SumTooLarge | HeldByOwn | LeftByInit
