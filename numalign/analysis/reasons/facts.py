"""What there is to tell of a refused pod, a fact each: what is asked, what there is, who holds it. No words.

A fact has what is told of it and no more, so that two are equal where the same is told. Amounts are CPUs, devices or
bytes; nodes are masks of NUMA nodes; names are those of containers of the pod.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from numalign.analysis.reasons.asked import Amounts, Asked, Left, Names, Spread, Too, When
from numalign.analysis.reasons.memory_facts import Memory, OfThePod
from numalign.analysis.reasons.width_facts import Apart, Wide
from numalign.model.resources import CPU
from numalign.values import NamedTuple


class Missing(NamedTuple):
    """The kubelet crashes: it looks memory up on nodes that have no such kind."""

    resource: str
    amount: int
    names: Names
    nodes: int
    """Those that have it."""
    others: int


class NoDistance(NamedTuple):
    """The kubelet crashes: the ids of these nodes go beyond its lists of distances."""

    nodes: int


class NoNodeChosen(NamedTuple):
    """The kubelet crashes: memory is to come from the nodes that were chosen, and none were."""


class NodeTooSmall(NamedTuple):
    """The node as a whole has too little; CPUs in thousandths."""

    asked: Asked
    used: int
    """What other pods ask for."""
    capacity: int
    hint: int
    """So much a node needs that has none; 0: that is told before."""


class NodeRefuses(NamedTuple):
    """The node does not want the pod."""

    reason: str
    message: str


class NoWholeBytes(NamedTuple):
    """An amount, in billionths, that the Memory Manager cannot hold."""

    resource: str
    nano: int
    container: str


class OddCores(NamedTuple):
    """A number of CPUs that is no multiple of a core's is refused."""

    amount: int
    threads: int
    by: str | None
    others: Amounts = ()
    """Other containers of which the same goes."""
    advised: bool = True
    """It is told what to ask for."""


class CoresTaken(NamedTuple):
    """Only whole cores count, and too few are free."""

    amount: int
    threads: int
    by: str | None
    free: int | None
    """None: what is told holds at any time."""
    total: int
    when: When
    left: Left | None
    """What init containers leave, which does not count."""

    @property
    def shown(self) -> object:
        """Give what is told of it."""
        return self if self.left is None else self._replace(total=0, when="now")


class NoneThere(NamedTuple):
    """The machine has none of a resource."""

    asked: Asked
    hint: int
    """So much a node would need; 0: that is told before."""


class TooLittle(NamedTuple):
    """The whole machine has too little."""

    asked: Asked
    had: Spread
    when: When
    too: tuple[Too, ...] = ()
    leavers: Names = ()
    """Init containers that leave some to it."""
    own: Left | None = None
    """What earlier containers of the pod hold, where nothing is left to it."""

    @property
    def never(self) -> bool:
        """Tell whether there could never be enough."""
        return self.had.total < self.asked.amount

    @property
    def left(self) -> bool:
        """Tell whether what is left to it is told as what it has, as it does not do with what is free."""
        short = self.asked.amount - self.had.free
        return 0 < self.had.left < short and (not self.had.free or self.had.loose is None)

    @property
    def there(self) -> Spread:
        """What there is, and what is left to it counted as free where it is told so."""
        had = self.had
        if not (self.left and had.free):
            return had
        places = tuple([one._replace(free=one.free + one.left, left=0) for one in had.places])
        return had._replace(free=had.free + had.left, places=places)

    @property
    def free_too(self) -> bool:
        """Tell whether it is told of what could never be enough how much of it is free."""
        return self.had.total not in (self.had.free, self.had.free + self.had.left)

    @property
    def others(self) -> int:
        """What other pods hold, where earlier containers of the pod hold some."""
        return self.had.total - self.had.free - self.own.amount if self.own is not None else 0

    @property
    def shown(self) -> object:
        """Give what is told of it: of what could never be enough often only what there could be."""
        if self.when == "ever":
            loose = self.had.loose
            return (self.asked, self.too, self.had.total, loose.all_free if loose else ("ever", self.had.totals))
        if self.never and not self.free_too:
            return self.asked, self.too, self.had.total, self.there.shown
        return self._replace(had=self.there)


class EnoughInAll(NamedTuple):
    """Enough is free on the whole machine, but not where it may be used."""

    asked: Asked
    had: Spread
    when: When
    too: tuple[Too, ...] = ()


class Placed(NamedTuple):
    """How many devices lie on known nodes, where no others count."""

    asked: Asked
    too: tuple[Too, ...]
    free: int
    total: int
    policy: str


class Unplaced(NamedTuple):
    """Free devices of no known node do not count."""

    resource: str
    policy: str
    free: int
    told: tuple[int, ...]
    """Nodes that the plugin names, and the machine does not have."""
    placed: int
    total: int
    misplaced: bool
    """The plugin puts all of them on such nodes."""
    short: bool = False
    """The rule is told above: never so, and written for programs that read it."""


class ChosenElsewhere(NamedTuple):
    """It has to come from the nodes chosen for what else is asked; None: where the other resources have to be."""

    resource: str
    nodes: int | None


class SameGoes(NamedTuple):
    """What is told of now holds in another case, too."""

    name: str


Crashes = Missing | NoDistance | NoNodeChosen
Numbers = NoWholeBytes | OddCores | CoresTaken
Short = NodeTooSmall | NodeRefuses | NoneThere | TooLittle | EnoughInAll | Placed | Unplaced | ChosenElsewhere
Fact = Crashes | Numbers | Short | Wide | Apart | Memory | OfThePod | SameGoes


def resource_of(fact: object) -> str:
    """Name the resource that a fact is about; empty: it is about none, or several."""
    if isinstance(fact, OddCores | CoresTaken):
        return CPU
    asked = getattr(fact, "asked", None)
    return asked.resource if isinstance(asked, Asked) else str(getattr(fact, "resource", ""))


Kind = TypeVar("Kind")


def with_asked(fact: Kind, change: Callable[[Asked], Asked]) -> Kind:
    """Change in a fact, wherever it stands there, what is asked."""
    value: object = fact
    if isinstance(fact, Asked):
        value = change(fact)
    elif isinstance(fact, tuple):
        values = [with_asked(one, change) for one in fact]
        value = type(fact)(*values) if hasattr(fact, "_fields") else tuple(values)
    return cast("Kind", value)
