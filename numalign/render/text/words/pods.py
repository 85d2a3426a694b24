"""What pods to move hold, why no more may be asked, and what a setting does: in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from numalign.analysis.reasons import change_facts as facts
from numalign.analysis.settings import MEMORY_POLICY, POLICY, SCOPE
from numalign.kubelet.releases.release import OPTIONS
from numalign.model.quantity import NANO, of_thousandths, with_decimals
from numalign.model.resources import CPU, is_bytes, unit_of
from numalign.render.text.amounts import (
    amount_of,
    amount_text,
    listed,
    named,
    nodes_text,
    quantity_text,
    readable_text,
)
from numalign.render.text.words.asked import Writers, asked_text, own_text, reduced_text
from numalign.render.text.words.shortage import as_taken, taken_text

if TYPE_CHECKING:
    from numalign.analysis.whatif.past import HeldAmount

MAX_PLACES = 4
"""How many NUMA nodes are named on which a pod holds something."""


def pod_holds(one: facts.PodHolds) -> str:
    """Say what a pod holds and requests, and what that means while it stays."""
    asks = [f"{_asked_of(each)} {each.resource}{' in total' * each.in_all}" for each in one.asks]
    asked = f"requests {listed(asks)}{f' (without {one.name}, {_left(one.left)})' * bool(one.left)}" if asks else ""
    held = f"holds {held_places(one.held)}" if one.held else ""
    text = f"{one.name} {' and '.join(filter(None, [held, asked]))}."
    if one.last:
        text += f" While {one.name} stays, the shared pool is empty and the kubelet would not restart."
    if one.bound:
        several = one.bound & (one.bound - 1)
        rule = "uses them only as a whole" if several else "combines it with no other"
        text += f" While {one.name} holds memory of {nodes_text(one.bound)}, the Memory Manager {rule}."
    return f"{text}{f' While {one.name} stays:' * one.stays}"


def pods_hold(one: facts.PodsHold) -> str:
    """Add up what many pods hold, or request."""
    text = listed([f"{_asked_of(each)} {each.resource}" for each in one.amounts])
    return f"These {one.pods} pods {'request' if one.asked else 'hold'} {text} together."


def without_them(one: facts.WithoutThem) -> str:
    """Say what the node totals have left without these pods."""
    return f"Without these pods, {_left(one.left)}."


def _left(every: Sequence[facts.LeftOf]) -> str:
    """Say what the node totals have left: `30 of 30 cpu are left`."""
    texts = []
    for one in every:
        left, capacity = as_taken(one.resource, one.left), as_taken(one.resource, one.capacity)
        texts.append(f"{left} of {capacity} {one.resource} {'is' if is_bytes(one.resource) else 'are'} left")
    return listed(texts)


def _asked_of(one: facts.AskedOf) -> str:
    """Write what is requested as what all others request is written, or what is held of it; CPUs have decimals."""
    return as_taken(one.resource, -(-one.nano // unit_of(one.resource)))


def held_places(held: Sequence[HeldAmount]) -> str:
    """Write what is held and where: `8 cpu and 1 nvidia.com/gpu on NUMA 0`, `8 cpu (6 on NUMA 0, 2 on NUMA 1)`."""
    there = {tuple(mask for mask, _ in one.places) for one in held}
    if len(there) == 1 and len(places := there.pop()) == 1 and places[0]:
        return f"{listed([amount_of(one.resource, one.amount) for one in held])} on {nodes_text(places[0])}"
    return listed([_with_places(one) for one in held])


def _with_places(one: HeldAmount) -> str:
    text = amount_of(one.resource, one.amount)
    known = [(mask, amount) for mask, amount in one.places if mask]
    if len(known) == 1 and len(one.places) == 1:
        return f"{text} on {nodes_text(known[0][0])}"
    if not known or len(known) > MAX_PLACES:
        return text
    parts = [f"{amount_text(one.resource, amount)} on {nodes_text(mask)}" for mask, amount in known]
    parts += [f"{amount_text(one.resource, amount)} NUMA node unknown" for mask, amount in one.places if not mask]
    return f"{text} ({', '.join(parts)})"


def last_shared(one: facts.LastShared) -> str:
    """Say that no CPU would be left to share."""
    what = "A larger request" if one.more else "This pod"
    return f"{what} would take the last CPU of the shared pool, and the kubelet would not restart."


def odd_bytes(one: facts.OddBytes) -> str:
    """Say why more is requested than an amount that cannot be held."""
    return f"{with_decimals(one.nano)} is not a whole number of bytes, which the Memory Manager requires."


def as_wide(one: facts.AsWide) -> str:
    """Say why more is requested than fits fewer nodes."""
    like, need = listed(one.like), "need" if len(one.like) > 1 else "needs"
    if not one.most:
        return f"{like} {need} {one.width} NUMA nodes, so {one.resource} must need {one.width}."
    if one.above:
        return f"Above {one.above} CPUs the kubelet counts {one.width} NUMA nodes, as {like} {need}."
    most = f"{readable_text(one.resource, one.most * NANO, down=True)} {named(one.resource)}"
    if one.width == 2:
        do = "do" if len(one.like) > 1 else "does"
        return f"More than {most} need 2 NUMA nodes, as {like} {do}."
    fewer = f"Fewer {named(one.resource)} fit on {one.width - 1}"
    return f"{like} {need} {one.width} NUMA nodes. {fewer}: each has at most {most}."


def not_aligned(_: facts.NotAligned) -> str:
    """Say what a part is for that the pod would be admitted without."""
    return "Without this change: admitted, NOT aligned."


def then_together(one: facts.ThenTogether) -> str:
    """Say on how many nodes memory resources meet."""
    return f"{listed(one.resources)} come from {nodes_text(one.nodes)} together, as the rest of the pod does."


def whole_cores_only(one: facts.WholeCoresOnly) -> str:
    """Say why not all CPUs that are free may be requested."""
    return f"{one.free} CPUs are free, but full-pcpus-only allocates whole cores ({one.threads} CPUs each)."


def too_little_there(one: facts.TooLittleThere) -> str:
    """Say all that is short where a pod goes once others have gone."""
    texts = []
    for asked, free, left in one.short:
        name = asked.resource
        there = f"{amount_text(name, free)}{f' + {amount_text(name, left)}' * bool(left)} free now"
        texts.append(f"{amount_text(name, asked.amount, up=True)} {name} requested{reduced_text(asked)}, {there}")
    whom = f"{one.container or 'This pod'} goes to {nodes_text(one.nodes)}" if one.nodes else "The node is too full"
    beside = f" (with {listed(one.beside)} there)" if one.beside else ""
    return f"{whom}{beside}: {', '.join(texts)}."


def has_there(one: facts.HasThere) -> str:
    """Say what the node has to which a container goes."""
    by = "" if one.left_by is None else f", left by {_leavers(one.left_by)}"
    return f"{asked_text(one.asked)}, {amount_text(one.asked.resource, one.there)} free on NUMA {one.node}{by}"


def _leavers(names: Sequence[str]) -> str:
    return listed(names) or "an init container"


def has_to_stay(one: facts.HasToStay) -> str:
    """Say what ties a container to the node."""
    return f"{_leavers(one.left_by)} left {amount_of(one.resource, one.amount)} there, which the container must use."


def enough_but(one: facts.EnoughBut) -> str:
    """Say that nodes have enough of what is asked about, and what they have too little of."""
    have = "have" if one.nodes & (one.nodes - 1) else "has"
    return f"{nodes_text(one.nodes)} {have} enough of it, but {' and '.join(map(_lack, one.lacks))}."


def _lack(one: facts.Lack) -> str:
    name = one.asked.resource
    what = f"too little {name}" if one.some else f"no {name}{' free' * one.ever}"
    amount = amount_text(name, one.asked.amount, up=True)
    return f"{what} ({amount} requested{reduced_text(one.asked)}{own_text(one.own, name)})"


def elsewhere(one: facts.Elsewhere) -> str:
    """Say that a little more leads to other nodes."""
    return f"With {quantity_text(one.nano)} {one.resource} the kubelet would choose {nodes_text(one.nodes)}."


def leaves_none(one: facts.LeavesNone) -> str:
    """Say that nothing is left that ties others to nodes."""
    ties = f"to keep {one.whom or 'the pod'} on {nodes_text(one.nodes)}"
    return f"With {quantity_text(one.nano)}, {one.container} leaves no {named(one.resource)} {ties}."


def counts_as_whole(one: facts.CountsAsWhole) -> str:
    """Say why a share of a CPU fits where whole ones do not."""
    amount, unit = one.amount, unit_of(CPU)
    asked, left = (of_thousandths(nano // unit) for nano in (amount.requested, amount.capacity - amount.used))
    counts = "A share of a CPU counts against the node totals only."
    return f"{counts} Other pods request {taken_text(amount)} CPUs, which leaves {left}, {asked} requested."


EFFECTS: Mapping[tuple[str, str], str] = {
    (POLICY, "restricted"): "restricted allows several NUMA nodes where 1 is too small even when empty.",
    (POLICY, "best-effort"): "best-effort never rejects.",
    (POLICY, "none"): "none ignores NUMA nodes.",
    (SCOPE, "container"): "The kubelet then aligns each container separately.",
    (SCOPE, "pod"): "The kubelet then chooses NUMA nodes once, for the whole pod.",
    (MEMORY_POLICY, "None"): "The kubelet then ignores memory when it aligns.",
    **{(row.name, "true"): row.on for row in OPTIONS.values() if not row.number},
    **{(row.name, "false"): row.off for row in OPTIONS.values() if not row.number},
}
"""(flag or option, value) -> what it does to a pod that was refused without it."""


def effect(one: facts.Effect) -> str:
    """Say what a setting does."""
    return EFFECTS[one.name, one.value]


WRITERS: Final[Writers] = {
    facts.AsWide: as_wide,
    facts.CountsAsWhole: counts_as_whole,
    facts.Effect: effect,
    facts.Elsewhere: elsewhere,
    facts.EnoughBut: enough_but,
    facts.HasThere: has_there,
    facts.HasToStay: has_to_stay,
    facts.LastShared: last_shared,
    facts.LeavesNone: leaves_none,
    facts.NotAligned: not_aligned,
    facts.OddBytes: odd_bytes,
    facts.PodHolds: pod_holds,
    facts.PodsHold: pods_hold,
    facts.ThenTogether: then_together,
    facts.TooLittleThere: too_little_there,
    facts.WholeCoresOnly: whole_cores_only,
    facts.WithoutThem: without_them,
}
