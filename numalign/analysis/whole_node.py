"""What the node as a whole has too little of for a pod that the managers refuse before anybody asks for that.

The fit check comes after the managers, so that the kubelet tells of it only once they let the pod in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from numalign.analysis.circumstances import Circumstances
from numalign.analysis.in_the_way import of_shortage
from numalign.analysis.own_containers import shares_of_node
from numalign.analysis.refusal import Refusal
from numalign.kubelet.fit.check import Shortage, lacks
from numalign.model.quantity import MILLI, NANO
from numalign.model.resources import CPU

if TYPE_CHECKING:
    from numalign.kubelet.admission import Outcome


def whole_node(outcome: Outcome, told: Refusal, besides: Sequence[Refusal]) -> Iterator[Refusal]:
    """Tell what else refuses a pod: what the node as a whole lacks now, in one refusal.

    Args:
        outcome: the refusal.
        told: the same, taken apart; what it tells of a resource is not told again.
        besides: what else is told of it.
    """
    before = outcome.before
    if told.stage == "fit" or told.crash is not None or before.view is None:
        return
    devices = {name: len(each.devices) for name, each in before.node.device.resources.items()}
    sums = {one.resource for each in (told, *besides) for one in each.around.sums}
    short = tuple(
        one
        for one in lacks(outcome.pod, before.pods, before.view, devices)
        if (one.used or one.resource not in sums) and all(_tells_more(one, each) for each in (told, *besides))
    )
    if short:
        yield Refusal(
            stage="fit",
            reason=short[0].refusal.reason,
            message=short[0].refusal.message,
            container=None,
            policy=told.policy,
            matrix=None,
            culprits=(),
            shortages=short,
            never=any(one.requested > one.capacity for one in short),
            amounts=tuple(map(of_shortage, short)),
            around=Circumstances(shares=tuple(shares_of_node(outcome.pod, short))),
        )


def _tells_more(short: Shortage, told: Refusal) -> bool:
    """Tell whether a shortage is more than a refusal tells: less is left than is free, or more containers ask."""
    if told.around.when == "ever" and short.used:
        return True
    row = next((one for one in (*told.culprits, *told.also) if one.resource == short.resource), None)
    if row is None:
        return True
    unit = NANO // MILLI if short.resource == CPU else 1
    own = sum(one.amount for one in told.around.own if one.resource == short.resource and one.kind != "init")
    left, asked = max(short.capacity - short.used, 0) // unit, short.requested / unit
    return left < row.free + own or asked > row.requested + own
