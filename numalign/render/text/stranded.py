"""What copies of a pod leave on NUMA nodes, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from numalign.render.page.document import NOTHING
from numalign.render.text.amounts import amount_text, nodes_text
from numalign.results.compare import ComparedRow

if TYPE_CHECKING:
    pass


MAX_NODES_ADDED = 4
"""What more NUMA nodes have left is not written as a sum."""


def stranded_text(one: ComparedRow, *, wide: bool = False) -> str:
    """Say what is left on which nodes: of the resources that the pods take exclusively, or of all."""
    if one.ended is None:
        return NOTHING
    asked = one.exclusive
    places: dict[str, list[int | None]] = {}
    for numa, free in one.stranded:
        amounts = (
            f"{amount_text(name, amount)} {name}" for name, amount in free.items() if amount and (wide or name in asked)
        )
        text = ", ".join(amounts)
        if text:
            places.setdefault(text, []).append(numa)
    if not places and not wide and asked.isdisjoint(name for left in one.stranded for name in left.free):
        return NOTHING
    return (
        "; ".join(f"{_place(numas)}: {text}{' each' * (len(numas) > 1)}" for text, numas in places.items()) or "nothing"
    )


def stranded_sum(one: ComparedRow) -> str:
    """Say how much is left over all nodes of what the pods take exclusively."""
    if one.ended is None:
        return NOTHING
    sums = Counter[str]()
    for _, free in one.stranded:
        sums.update({name: amount for name, amount in free.items() if name in one.exclusive})
    if not sums:
        return NOTHING
    return ", ".join(f"{amount_text(name, amount)} {name}" for name, amount in sums.items() if amount) or "nothing"


def on_numbered_nodes(one: ComparedRow) -> bool:
    """Tell whether all that is left lies on NUMA nodes of the machine."""
    return all(numa is not None and numa >= 0 for numa, _ in one.stranded)


def per_node_text(one: ComparedRow) -> str:
    """Write what is left of what the pods take exclusively, node by node: `80 + 112 cpu`."""
    names = [name for name in sorted(one.exclusive) if any(free.get(name) for _, free in one.stranded)]
    return ", ".join(
        f"{' + '.join(amount_text(name, free.get(name, 0)) for _, free in one.stranded)} {name}" for name in names
    )


def _place(numas: Sequence[int | None]) -> str:
    mask = sum(1 << numa for numa in numas if numa is not None and numa >= 0)
    odd = ["NUMA node unknown" if numa is None else f"NUMA {numa}" for numa in numas if numa is None or numa < 0]
    return " and ".join([*([nodes_text(mask)] if mask else []), *odd])
