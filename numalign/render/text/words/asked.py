"""What is asked of a resource and what nodes have of it, in words; too: enough is free, but on too many nodes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING

from numalign.analysis.reasons.asked import MAX_NODES_NAMED
from numalign.model.resources import CPU
from numalign.render.text.amounts import amount_text, listed, nodes_text, places_text
from numalign.render.text.written import Written, written

if TYPE_CHECKING:
    from numalign.analysis.loose import Loose
    from numalign.analysis.reasons import facts
    from numalign.analysis.reasons.asked import Asked, Best, Left, Place, Spread, Too


def amounts_of(asked: Asked, had: Spread, more: Sequence[int] = ()) -> Written:
    """Write all amounts of a resource in one unit, with those that are told beside them, and with `more`."""
    named = had.places if len(had.places) <= MAX_NODES_NAMED else ()
    handed = {one.free + one.left: [one.free, one.left] for one in named if one.left}
    cells = [amount for one in named for amount in (one.free, one.total, one.left)]
    there = [had.free, had.total, had.most, had.left, had.free + had.left, *cells, *handed, *more]
    pairs = [(asked.amount, amount) for amount in there]
    pairs += [(one.free, one.total) for one in named] or [(had.free, had.total)]
    sums = {had.free: [one.free for one in named], had.total: [one.total for one in named]}
    added = {key: terms for key, terms in {**handed, **sums}.items() if named and sum(terms) == key}
    parts = [amount for _, amount in asked.parts]
    return written(asked.resource, there, [asked.amount], parts=parts, pairs=pairs, sums=added)


def asked_text(asked: Asked, say: Written, too: Sequence[Too] = ()) -> str:
    """Say what is asked: `cpu: 9 asked (one 5 + two 4)` or `by one` of a whole pod, `as reduced` by a change.

    Args:
        asked: what.
        say: how amounts are written.
        too: containers that run before or after these and ask for too much, too.
    """
    text, one = f"{asked.resource}: {say(asked.amount)} asked", len(asked.parts) == 1
    if one:
        text += f" by {asked.parts[0][0]}{' after the reduction' * bool(asked.reduced)}"
    else:
        parts = " + ".join(f"{name} {say(amount)}" for name, amount in asked.parts)
        text += f"{reduced_text(asked)}{f' ({parts})' * bool(parts)}"
    runs = (f", {say(one.amount)} by {names_text(one.names)}{f' {one.runs}' * bool(one.runs)}" for one in too)
    return text + "".join(runs)


def reduced_text(asked: Asked) -> str:
    """Go on about what is asked of a resource, where another part of a change cuts it."""
    return f" as reduced{' below' * (asked.reduced == 'below')}" if asked.reduced else ""


def each_node(had: Spread, say: Written) -> str:
    """List what the nodes have; devices that lie on none or on several nodes apart, so that the amounts add up."""
    if had.loose is not None:
        return each_device(had.loose)
    if len(had.places) <= MAX_NODES_NAMED:
        return ", ".join(f"node {one.node}: {_of(one, say)}" for one in had.places)
    best = had.best
    if not best.nodes:
        return "no node has any"
    if not best.free + best.left:
        return "none free on any node"
    one = not best.nodes & (best.nodes - 1)
    most = "most on " * (best.others or one)
    others = ", the others have none" * (not most and best.nodes.bit_count() < len(had.places))
    return f"{most}{'each of ' * (not one)}{nodes_text(best.nodes)}: {_of(best, say)}{others}"


def _of(place: Place | Best, say: Written) -> str:
    """Write what one node has, as the table does: `2 + 6 of 8`, where 6 are left by the pod's init containers."""
    return f"{say(place.free)}{f' + {say(place.left)}' if place.left else ''} of {say(place.total)}"


def each_device(loose: Loose) -> str:
    """List where the devices are, each once."""
    places = sorted((one for one in loose.places if one[2]), key=lambda one: -one[1])
    texts = [f"{places_text(mask)}: {free} of {total}" for mask, free, total in sorted(places[:MAX_NODES_NAMED])]
    if len(places) > MAX_NODES_NAMED:
        texts.append("…")
    free, total = loose.nowhere
    if total and not places:
        return f"{free} of {total}; {_nowhere(loose)}" if free < total else _nowhere(loose)
    return ", ".join([*texts, *[f"on no known node: {free} of {total}"] * bool(total)])


def all_devices(loose: Loose) -> str:
    """List how many devices there are where, each once."""
    texts = [f"{places_text(mask)}: {total}" for mask, _, total in sorted(loose.places) if total]
    if loose.nowhere[1] and not texts:
        return _nowhere(loose)
    return ", ".join([*texts, *[f"on no known node: {loose.nowhere[1]}"] * bool(loose.nowhere[1])])


def _nowhere(loose: Loose) -> str:
    """Say what the plugin tells of devices of which none lies on a node of the machine."""
    them = "it" if loose.nowhere[1] == 1 else "them"
    if loose.told:
        return f"the plugin puts {them} on no NUMA node of this machine"
    return f"the plugin names no NUMA node for {them}"


def how_many(free: int, total: int) -> str:
    """Say how many there are, and how many of them are free."""
    if total < 2:
        return f"there is 1, {'and it is free' if free else 'which is not free'}" if total else "there are none"
    some = "all" if free == total else f"{free} of them" if free else "none of them"
    return f"there are {total}, {some} free"


def left_text(one: Left, amount: str = "") -> str:
    """Say who leaves how much: `i0 and i1 leave 2`; without an amount only who."""
    return f"{names_text(one.names)} {verb_text('leave', one.names)} {amount}".rstrip()


def own_text(own: Left | None, say: Written) -> str:
    """Say so where earlier containers of the pod that go on running hold some of a resource."""
    if own is None:
        return ""
    return f", as this pod's own {names_text(own.names)} {verb_text('hold', own.names)} {say(own.amount)}"


def names_text(names: Sequence[str]) -> str:
    """Write names of containers: `a, b and c`."""
    return listed(names) or "init containers"


def verb_text(verb: str, names: Sequence[str]) -> str:
    """Write a verb after names of containers."""
    return verb if len(names) != 1 else f"{verb}s"


def too_wide(one: facts.TooWide) -> str:
    """Say that one resource cannot be had in the way the policy wants."""
    say = amounts_of(one.asked, one.had)
    asked, each = asked_text(one.asked, say, one.too), each_node(one.had, say)
    must = f"; {_must(one.must)}" if one.must is not None else ""
    when = f"left after {names_text(one.after)}" if one.after else f"free {one.when}"
    now = "" if one.when == "ever" else f"; {when}: {each}"
    if one.policy == "single-numa-node":
        takes = "and policy single-numa-node takes all of it from one node"
        if one.short:
            return f"{asked}, but no NUMA node ever has more than {say(one.limit)} ({nodes_text(one.nodes)}), {takes}"
        if one.width > 1:
            several = f"which the kubelet counts as {one.width} nodes' worth even on an empty machine"
            return f"{asked}, {several}, {takes} ({each})"
        return f"{asked}, {takes}{must}{now}"
    many, enough = ("one node", "is enough") if one.width == 1 else (f"{one.width} nodes", "are enough")
    if one.short:
        count = f"as the kubelet counts {_counted_too(one)}, too, {many} {enough}"
        never = f"but {many} never {'has' if one.width == 1 else 'have'} more than {say(one.limit)} for pods"
        return f"{asked}; {count}, and policy {one.policy} allows no more nodes; {never}{must}{now}"
    takes = f"and policy {one.policy} takes it from {many}"
    if must:
        hold = "an empty one holds" if one.width == 1 else f"{one.width} empty ones hold"
        return f"{asked}, {takes}, as {hold} so many{must}{_at_most(one, say)}{now}"
    empty = "while nothing is held" if one.when == "then" else "on an empty machine"
    return f"{asked}, {takes}, which {enough} {empty}{_used_together(one)}{now}"


def _must(left: Left) -> str:
    """Say which nodes init containers tie a resource to."""
    return f"its nodes must include {nodes_text(left.nodes)}, where {left_text(left, str(left.amount))}"


def _used_together(one: facts.TooWide) -> str:
    """Say that a node with enough memory cannot be used alone, as memory of it is held together with other nodes'."""
    texts = []
    for nodes, own in one.bound[:MAX_NODES_NAMED]:
        who = f"this pod's own {names_text(own)} {verb_text('hold', own)}" if own else "pods hold"
        texts.append(f"; but {nodes_text(nodes)} can only be used together, as {who} memory of them together")
    return "".join(texts)


def _counted_too(one: facts.TooWide) -> str:
    """Name what the kubelet counts when it looks how few nodes are enough, and never gives to pods; memory has none."""
    counts = [amount for _, amount in one.counted]
    where = nodes_text(sum(1 << node for node, _ in one.counted))
    if len(counts) > 1 and len(set(counts)) == 1:
        told = f"{counts[0]} on each of {where}"
    elif len(counts) > MAX_NODES_NAMED:
        told = f"{sum(counts)} on {where}"
    else:
        told = ", ".join(f"{amount} on node {node}" for node, amount in one.counted)
    return f"{'reserved CPUs' if one.asked.resource == CPU else 'devices that are not healthy'} ({told})"


def _at_most(one: facts.TooWide, say: Written) -> str:
    """Add up what there is of CPUs at most with the one node that must take part: `: 6 + 8 = 14 at most`."""
    tied = [place for place in one.had.places if place.left]
    if len(tied) != 1 or one.width < 2 or one.asked.resource != CPU:
        return ""
    free = sorted((place.free for place in one.had.places if place is not tied[0]), reverse=True)
    amounts = [tied[0].free + tied[0].left, *free[: one.width - 1]]
    most = sum(amounts)
    return f": {' + '.join(map(say, amounts))} = {say(most)} at most" if most < one.asked.amount else ""


def fits_on(one: facts.FitsOn) -> str:
    """Say on how few nodes a resource fits."""
    say = amounts_of(one.asked, one.had)
    most = f"has {say(one.most)} at most"
    fits = f"fits one node, which {most}" if one.width == 1 else f"takes {one.width} nodes, as one {most}"
    whose = "one socket" if one.sockets == 1 else f"{one.sockets} sockets"
    more = f"; by align-by-socket it may take all nodes of {whose}" * bool(one.sockets)
    return f"{asked_text(one.asked, say)}: {fits}{more}"


def fits_too(one: facts.FitsToo) -> str:
    """Say that something else fits one node."""
    return f"{asked_text(one.asked, lambda amount: amount_text(one.asked.resource, amount))}: fits one node, too"


def fit_one(one: facts.FitOne) -> str:
    """Say what fits one node beside what takes several."""
    return (
        f"{listed(one.resources)}: {'fits' if len(one.resources) == 1 else 'fit'} one node, and policy {one.policy} "
        f"wants {one.wide} on as many, which takes {one.width} nodes at least"
    )


def holders(one: facts.Holders) -> str:
    """Say which sets of empty nodes hold enough of a resource."""
    masks, asked = one.sets, asked_text(one.asked, amounts_of(one.asked, one.had))
    common, some = reduce(and_, masks), reduce(or_, masks)
    if one.width == 1:
        have = "has" if len(masks) == 1 else "have each"
        return f"{asked}: of the empty nodes only {nodes_text(some)} {have} enough"
    never = one.nodes & ~some
    if common or never:
        which = f"with {nodes_text(common)}" if common else f"without {nodes_text(never)}"
        return f"{asked}: {one.width} empty nodes have enough only {which}"
    texts = [nodes_text(mask) for mask in masks[:MAX_NODES_NAMED]]
    more = ", …" if len(masks) > MAX_NODES_NAMED else ""
    return f"{asked}: of {one.width} empty nodes only these have enough: {'; '.join(texts)}{more}"


def take_together(one: facts.TakeTogether) -> str:
    """Say how many nodes resources take that have to come from the same ones."""
    both = "both" if len(one.resources) == 2 else "all"
    rule = f"{both} have to come from the same nodes, so together they take {one.width} nodes"
    return f"{listed(one.resources)}: {rule}"


def on_the_same(one: facts.OnTheSame) -> str:
    """Say what the policy wants of resources that differ in width."""
    return f"policy {one.policy} wants each on as few nodes as it can do with, and all of them on the same nodes"


def could(one: facts.Could) -> str:
    """Say where a resource could be had alone."""
    say = amounts_of(one.asked, one.had)
    which = "any node" if one.nodes is None else f"only {nodes_text(one.nodes)}"
    where = f"{which} could give it" if one.nodes != 0 else "takes several nodes together"
    there = _must(one.must) if one.must is not None else where
    return f"{asked_text(one.asked, say)}: {there} ({each_node(one.had, say)})"


def never_meet(_: facts.NeverMeet) -> str:
    """Say that resources are not free on the same nodes."""
    return "each could be had alone, but not from the same nodes"


def tied_by(one: facts.TiedBy) -> str:
    """Say which node init containers' CPUs tie a container to."""
    asked, left = asked_text(one.asked, amounts_of(one.asked, one.had)), one.left
    some = f"{left_text(left, str(left.amount))} CPU{'s' * (left.amount != 1)}" if left else ""
    return f"{asked}: {some or 'init containers leave CPUs'} of node {one.node} to it, so it must use node {one.node}"


def not_there(one: facts.NotThere) -> str:
    """Say that the node that has to be used cannot give a resource."""
    say = amounts_of(one.asked, one.had)
    cannot = f"node {one.node} cannot give it{own_text(one.own, say)}"
    what = f"what other nodes have does not help ({each_node(one.had, say)})"
    return f"{asked_text(one.asked, say)}, and {cannot}; {what}"
