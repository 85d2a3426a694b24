"""Facts of how many nodes a resource takes, and of resources that do not meet on the same ones (`facts`)."""

from __future__ import annotations

from numalign.analysis.reasons.asked import NOTHING, Asked, Left, Names, Spread, Too, When
from numalign.values import NamedTuple


class FitsOn(NamedTuple):
    """On how few nodes a resource fits, of several that differ in that."""

    asked: Asked
    had: Spread
    width: int
    most: int
    """What one node has at most."""
    sockets: int
    """CPUs may take all nodes of so many sockets; 0: they may not."""

    @property
    def shown(self) -> object:
        """Give what is told of it."""
        return self.asked, self.width, self.most, self.sockets


class FitsToo(NamedTuple):
    """A resource that fits one node beside what takes several."""

    asked: Asked


class FitOne(NamedTuple):
    """Resources that fit one node, and one that takes several at least."""

    resources: Names
    wide: str
    width: int
    policy: str


class Holders(NamedTuple):
    """Which sets of so many empty nodes hold enough of a resource."""

    asked: Asked
    had: Spread
    width: int
    sets: tuple[int, ...]
    nodes: int
    """All of the machine."""


class TakeTogether(NamedTuple):
    """Memory resources come from the same nodes, and take so many together."""

    resources: Names
    width: int


class OnTheSame(NamedTuple):
    """The policy wants each resource on as few nodes as it can do with, and all on the same ones."""

    policy: str


class TooWide(NamedTuple):
    """A resource cannot be had in the way that the policy wants."""

    asked: Asked
    had: Spread
    policy: str
    width: int
    short: bool = False
    """The nodes that the policy takes never have enough."""
    limit: int = 0
    """What they have at most then."""
    nodes: int = 0
    """Of one node: those that have so much."""
    too: tuple[Too, ...] = ()
    must: Left | None = None
    """What ties it to nodes."""
    counted: tuple[tuple[int, int], ...] = ()
    """(node, amount) of what the kubelet counts when it looks how few nodes are enough, and never gives to pods."""
    bound: tuple[tuple[int, Names], ...] = ()
    """Sets of nodes that would be enough and whose memory can only be used together, with whose it is: of the pod's own
    containers; none: of pods."""
    when: When = "now"
    after: Names = ()
    """Containers of the pod after which that is left."""

    @property
    def never(self) -> bool:
        """Tell whether no node alone ever has enough, so that what is free does not matter."""
        return self.short and self.policy == "single-numa-node"

    @property
    def shown(self) -> object:
        """Give what is told of it."""
        single = self.policy == "single-numa-node"
        timeless = self.never or (single and self.width > 1) or (self.after and (self.short or self.must or single))
        had = None if self.never else self.had.shown
        return (had, *self._replace(had=NOTHING, when="now" if timeless else self.when))


class Could(NamedTuple):
    """Where a resource could be had alone, of several that never meet."""

    asked: Asked
    had: Spread
    nodes: int | None
    """None: on any; 0: on several together only."""
    must: Left | None

    @property
    def shown(self) -> object:
        """Give what is told of it."""
        return self.asked, self.had.shown, self.nodes, self.must


class NeverMeet(NamedTuple):
    """Each of these could be had alone, but not from the same nodes."""


class TiedBy(NamedTuple):
    """CPUs that init containers leave tie a container to a node."""

    asked: Asked
    had: Spread
    left: Left | None
    node: int


class NotThere(NamedTuple):
    """The node that has to be used cannot give a resource."""

    asked: Asked
    had: Spread
    node: int
    own: Left | None
    """What earlier containers of the pod hold."""


Wide = FitsOn | FitsToo | FitOne | Holders | TakeTogether | OnTheSame | TooWide
Apart = Could | NeverMeet | TiedBy | NotThere
