"""What pods to move hold, and why no more may be asked: in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from numalign.model.quantity import NANO, of_thousandths, with_decimals
from numalign.model.resources import CPU, unit_of
from numalign.render.text.amounts import amount_text, listed, named, nodes_text, quantity_text, readable_text
from numalign.render.text.words.asked import amounts_of, asked_text, own_text, reduced_text
from numalign.render.text.words.shortage import as_taken, taken_text
from numalign.render.text.written import written

if TYPE_CHECKING:
    from numalign.analysis.reasons import change_facts as facts
    from numalign.analysis.whatif.past import HeldAmount

MAX_PLACES = 4
"""How many NUMA nodes are named on which a pod holds something."""


def pod_holds(one: facts.PodHolds) -> str:
    """Say what a pod holds and asks for, and what that means as long as it stays."""
    asks = [f"{_asked_of(each)} {each.resource}{' in all' * each.in_all}" for each in one.asks]
    asked = f" and asks for {listed(asks)}{f'; without it {_left(one.left)}' * bool(one.left)}" if asks else ""
    text = f"{one.name} holds {held_places(one.held)}{asked}" if one.held else f"{one.name}{asked.removeprefix(' and')}"
    if one.last:
        text += "; as long as it stays, no CPU is left to share, and the kubelet would not start again"
    if one.bound:
        several = one.bound & (one.bound - 1)
        rule = "are used only together" if several else "is not combined with another"
        text += f"; as long as it stays, {nodes_text(one.bound)} {rule}"
    return f"{text}{'; as long as it stays:' * one.stays}"


def pods_hold(one: facts.PodsHold) -> str:
    """Add up what many pods hold, or ask for."""
    text = listed([f"{_asked_of(each)} {each.resource}" for each in one.amounts])
    return f"these {one.pods} pods {'ask for' if one.asked else 'hold'} {text} together"


def without_them(one: facts.WithoutThem) -> str:
    """Say what the node as a whole has left without them."""
    return f"without them {_left(one.left)}"


def _left(every: Sequence[facts.LeftOf]) -> str:
    """Say what the node as a whole has left: `all 30 cpu of the node are left`."""
    texts = []
    for one in every:
        say = of_thousandths if one.resource == CPU else written(one.resource, [one.left, one.capacity])
        all_of_it = f"all {say(one.left)} {one.resource} of the node"
        some = f"{say(one.left)} of the node's {say(one.capacity)} {one.resource}"
        texts.append(f"{all_of_it if one.left == one.capacity else some} are left")
    return listed(texts)


def _asked_of(one: facts.AskedOf) -> str:
    """Write what is asked as what all others ask for is written, or what is held of it; CPUs have decimals."""
    asked = -(-one.nano // unit_of(one.resource))
    if one.taken is not None:
        return as_taken(one.resource, *one.taken)(asked)
    return of_thousandths(asked) if one.resource == CPU else amount_text(one.resource, asked)


def held_places(held: Sequence[HeldAmount]) -> str:
    """Write what is held and where: `8 cpu and 1 nvidia.com/gpu on node 0`, `8 cpu (6 on node 0, 2 on node 1)`."""
    there = {tuple(mask for mask, _ in one.places) for one in held}
    if len(there) == 1 and len(places := there.pop()) == 1 and places[0]:
        amounts = [f"{amount_text(one.resource, one.amount)} {one.resource}" for one in held]
        return f"{listed(amounts)} on {nodes_text(places[0])}"
    return listed([_with_places(one) for one in held])


def _with_places(one: HeldAmount) -> str:
    text = f"{amount_text(one.resource, one.amount)} {one.resource}"
    known = [(mask, amount) for mask, amount in one.places if mask]
    if len(known) == 1 and len(one.places) == 1:
        return f"{text} on {nodes_text(known[0][0])}"
    if not known or len(known) > MAX_PLACES:
        return text
    parts = [f"{amount_text(one.resource, amount)} on {nodes_text(mask)}" for mask, amount in known]
    parts += [f"{amount_text(one.resource, amount)} on no known node" for mask, amount in one.places if not mask]
    return f"{text} ({', '.join(parts)})"


def last_shared(one: facts.LastShared) -> str:
    """Say that no CPU would be left to share."""
    then = f"{'that' if one.more else 'else this pod'} would take the last CPU that is shared"
    return f"{then}, and the kubelet would not start again"


def odd_bytes(one: facts.OddBytes) -> str:
    """Say why more is asked than an amount that cannot be held."""
    return f"{with_decimals(one.nano)} is no whole number of bytes, and the Memory Manager takes no other"


def as_wide(one: facts.AsWide) -> str:
    """Say why more is asked than fits fewer nodes."""
    most = f", and one has {readable_text(one.resource, one.most * NANO, down=True)} at most" if one.most else ""
    like = ", ".join(one.like)
    return f"as {like} takes {one.width} nodes, {one.resource} has to take {one.width}, too{most}"


def then_together(one: facts.ThenTogether) -> str:
    """Say on how many nodes memory resources meet."""
    many = f"{one.nodes.bit_count()} nodes" if one.nodes & (one.nodes - 1) else "one node"
    where = f"together ({nodes_text(one.nodes)})"
    return f"{listed(one.resources)} then take {many} {where}, as the rest of the pod does"


def whole_cores_only(one: facts.WholeCoresOnly) -> str:
    """Say why not all CPUs that are free may be asked for."""
    return f"{one.free} are free, but full-pcpus-only gives out whole cores of {one.threads} threads"


def too_little_there(one: facts.TooLittleThere) -> str:
    """Say all that is short where a pod goes once others have gone."""
    texts = []
    for asked, free, left in one.short:
        say = written(asked.resource, [free, left], [asked.amount])
        what = f"{say(asked.amount)} {asked.resource} asked{reduced_text(asked)}"
        texts.append(f"{what}, {say(free)}{f' + {say(left)}' * bool(left)} free")
    whom = f"{one.container or 'this pod'} goes to {nodes_text(one.nodes)} then, which"
    beside = f" (with {listed(one.beside)} there until then)" if one.beside else ""
    return f"{whom if one.nodes else 'the machine'} has too little free now{beside}: {'; '.join(texts)}"


def has_there(one: facts.HasThere) -> str:
    """Say what the node has to which a container goes."""
    parts = [amount for _, amount in one.asked.parts]
    say = written(one.asked.resource, [one.there], [one.asked.amount], parts=parts)
    by = "" if one.left_by is None else f", left by {_leavers(one.left_by)}"
    has = say(one.there) if one.there else "none free"
    return f"{asked_text(one.asked, say)}, and node {one.node}, where it goes, has {has}{by}"


def _leavers(names: Sequence[str]) -> str:
    return listed(names) or "an init container"


def has_to_stay(one: facts.HasToStay) -> str:
    """Say what ties a container to the node."""
    what = f"CPU{'s' * (one.amount > 1)}" if one.resource == CPU else one.resource
    verb = "are" if one.amount > 1 else "is"
    return f"{one.amount} {what} that {_leavers(one.left_by)} left {verb} there for it, so it cannot go elsewhere"


def enough_but(one: facts.EnoughBut) -> str:
    """Say that nodes have enough of what is asked about, and what they have too little of."""
    have = "have" if one.nodes & (one.nodes - 1) else "has"
    return f"{nodes_text(one.nodes)} {have} enough of it, but {' and '.join(map(_lack, one.lacks))}"


def _lack(one: facts.Lack) -> str:
    name, own = one.asked.resource, own_text(one.own, amounts_of(one.asked, one.had)) if one.own is not None else ""
    what = f"too little {name}" if one.some else f"no {name}{' free' * one.ever}"
    return f"{what} ({amount_text(name, one.asked.amount)} asked{reduced_text(one.asked)}{own})"


def elsewhere(one: facts.Elsewhere) -> str:
    """Say that a little more leads to other nodes."""
    return f"with {quantity_text(one.nano)} {one.resource} {nodes_text(one.nodes)} would be chosen"


def leaves_none(one: facts.LeavesNone) -> str:
    """Say that nothing is left that ties others to nodes."""
    what = named(one.resource)
    ties = f"that {'ties' if what == one.resource else 'tie'} {one.whom or 'the pod'} to {nodes_text(one.nodes)}"
    return f"with {quantity_text(one.nano)}, {one.container} leaves no {what} {ties}"


def counts_as_whole(one: facts.CountsAsWhole) -> str:
    """Say why a share of a CPU fits where whole ones do not."""
    amount, unit = one.amount, unit_of(CPU)
    asked, left = (of_thousandths(nano // unit) for nano in (amount.requested, amount.capacity - amount.used))
    return (
        "a share counts only against the node as a whole, not against the CPUs that are free: "
        f"{taken_text(amount)} requested by other pods, which leaves {left} for this pod, {asked} asked"
    )
