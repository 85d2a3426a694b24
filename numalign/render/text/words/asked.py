"""What is requested of a resource and what NUMA nodes have of it, in words; also: enough is free, on too many nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING, Any, Final

from numalign.analysis.reasons import width_facts
from numalign.analysis.reasons.asked import MAX_NODES_NAMED, Asked, Best, Left, Place, Spread, Too
from numalign.model.resources import CPU, is_bytes
from numalign.render.text.amounts import amount_of, amount_text, listed, nodes_count, nodes_text, places_text

if TYPE_CHECKING:
    from numalign.analysis.loose import Loose

Writers = Mapping[type[object], Callable[[Any], str]]
"""Kind of fact -> what writes it."""

SAME_NODES = "each resource on as few NUMA nodes as possible, and all resources on the same NUMA nodes"


def asked_text(asked: Asked, too: Sequence[Too] = ()) -> str:
    """Say what is requested: `cpu: 9 requested (one 5 + two 4)` or `by one` of a whole pod, `after the fix`.

    Args:
        asked: what.
        too: containers that run before or after these and request too much themselves.
    """

    def say(amount: int) -> str:
        return amount_text(asked.resource, amount, up=True)

    text, one = f"{asked.resource}: {say(asked.amount)} requested", len(asked.parts) == 1
    if one:
        text += f" by {asked.parts[0][0]}{' after the reduction' * bool(asked.reduced)}"
    else:
        text += f"{reduced_text(asked)}{_parts(asked)}"
    runs = (f", {say(one.amount)} by {names_text(one.names)}{f' {one.runs}' * bool(one.runs)}" for one in too)
    return text + "".join(runs)


def needs(asked: Asked, too: Sequence[Too] = ()) -> tuple[str, str]:
    """Name what is requested as a subject, and end its verb: `16 CPUs`, ``; `1 CPU (of worker)`, `s`."""
    alone = f" (by {asked.parts[0][0]})" if len(asked.parts) == 1 else _parts(asked)
    more = "".join(f" and {amount_text(asked.resource, one.amount, up=True)} by {names_text(one.names)}" for one in too)
    many = asked.amount != 1 and not is_bytes(asked.resource)
    return f"{amount_of(asked.resource, asked.amount, up=True)}{reduced_text(asked)}{alone}{more}", "" if many else "s"


def _parts(asked: Asked) -> str:
    parts = (f"{name} {amount_text(asked.resource, amount, up=True)}" for name, amount in asked.parts)
    return f" ({' + '.join(parts)})" if len(asked.parts) > 1 else ""


def reduced_text(asked: Asked) -> str:
    """Go on about what is requested of a resource, where another part of a fix cuts it."""
    return f" (reduced{' below' * (asked.reduced == 'below')})" if asked.reduced else ""


def each_node(resource: str, had: Spread) -> str:
    """List what the nodes have; devices that lie on none or on several nodes apart, so that the amounts add up."""
    if had.loose is not None:
        return each_device(had.loose)
    if len(had.places) <= MAX_NODES_NAMED:
        return ", ".join(f"NUMA {one.node}: {_of(resource, one)}" for one in had.places)
    best = had.best
    if not best.nodes:
        return "no NUMA node has any"
    if not best.free + best.left:
        return "0 free on any NUMA node"
    one = not best.nodes & (best.nodes - 1)
    most = "most on " * (best.others or one)
    others = ", the others have none" * (not most and best.nodes.bit_count() < len(had.places))
    return f"{most}{'each of ' * (not one)}{nodes_text(best.nodes)}: {_of(resource, best)}{others}"


def _of(resource: str, place: Place | Best) -> str:
    """Write what one node has, as the table does: `2 + 6 of 8`, where 6 are left by the pod's init containers."""
    left = f" + {amount_text(resource, place.left)}" if place.left else ""
    return f"{amount_text(resource, place.free)}{left} of {amount_text(resource, place.total)}"


def each_device(loose: Loose) -> str:
    """List where the devices are, each once."""
    places = sorted((one for one in loose.places if one[2]), key=lambda one: -one[1])
    texts = [f"{places_text(mask)}: {free} of {total}" for mask, free, total in sorted(places[:MAX_NODES_NAMED])]
    if len(places) > MAX_NODES_NAMED:
        texts.append("…")
    free, total = loose.nowhere
    if total and not places:
        return f"{free} of {total}; {_nowhere(loose)}" if free < total else _nowhere(loose)
    return ", ".join([*texts, *[f"NUMA node unknown: {free} of {total}"] * bool(total)])


def all_devices(loose: Loose) -> str:
    """List how many devices there are where, each once."""
    texts = [f"{places_text(mask)}: {total}" for mask, _, total in sorted(loose.places) if total]
    if loose.nowhere[1] and not texts:
        return _nowhere(loose)
    return ", ".join([*texts, *[f"NUMA node unknown: {loose.nowhere[1]}"] * bool(loose.nowhere[1])])


def _nowhere(loose: Loose) -> str:
    """Say what the plugin reports of devices of which none lies on a node of the machine."""
    return f"the device plugin reports no NUMA node{' of this machine' * bool(loose.told)}"


def left_text(one: Left, amount: str = "") -> str:
    """Say who leaves how much: `Init containers i0 and i1 leave 2`; without an amount only who."""
    named = f"init container{'s' * (len(one.names) > 1)} {listed(one.names)}" if one.names else "init containers"
    return f"{named} {verb_text('leave', one.names)} {amount}".rstrip()


def own_text(own: Left | None, resource: str) -> str:
    """Say so where earlier containers of the pod that go on running hold some of a resource."""
    if own is None:
        return ""
    return f": {names_text(own.names)} of this pod {verb_text('hold', own.names)} {amount_text(resource, own.amount)}"


def names_text(names: Sequence[str]) -> str:
    """Write names of containers: `a, b and c`."""
    return listed(names) or "init containers"


def verb_text(verb: str, names: Sequence[str]) -> str:
    """Write a verb after names of containers."""
    return verb if len(names) != 1 else f"{verb}s"


def too_wide(one: width_facts.TooWide) -> str:
    """Say that one resource cannot be allocated in the way that the policy requires."""
    name, (what, s) = one.asked.resource, needs(one.asked, one.too)
    free = f"{f'Left after {names_text(one.after)}' if one.after else 'Free now'}: {each_node(name, one.had)}."
    now = "" if one.when == "ever" else f" {free}"
    must = f" {_must(name, one.must)}" if one.must is not None else ""
    if one.policy == "single-numa-node":
        if one.short:
            most = amount_text(name, one.limit)
            need = f"need{s} {nodes_count(one.width)}"
            need = need if one.width > 1 else f"do{'es' * bool(s)} not fit on 1 NUMA node"
            return f"{what} {need}: each has at most {most}. single-numa-node allows 1."
        if one.width > 1:
            counts = f"The kubelet counts {what} as {nodes_count(one.width)}, also on an empty node."
            return f"{counts} single-numa-node allows 1.{now}"
        return f"single-numa-node takes {what} from 1 NUMA node.{must}{now}"
    few = nodes_count(one.width)
    if one.short:
        have = f"{few} {'has' if one.width == 1 else 'have'} at most {amount_text(name, one.limit)} for pods"
        counts = f"{one.policy} allows {few}, because the kubelet also counts {_counted_too(one)}."
        return f"{what} do{'es' * bool(s)} not fit: {have}. {counts}{must}{now}"
    enough = "is" if one.width == 1 else "are"
    takes = f"{one.policy} takes {what} from {few}, because {one.width} {enough} enough on an empty node."
    return f"{takes}{must}{_at_most(one) if must else _used_together(one)}{now}"


def _must(resource: str, left: Left) -> str:
    """Say which nodes init containers tie a resource to."""
    leave = left_text(left, amount_of(resource, left.amount))
    return f"{leave[0].upper()}{leave[1:]} on {nodes_text(left.nodes)}, which the container must use."


def _used_together(one: width_facts.TooWide) -> str:
    """Say that a node with enough memory cannot be used alone, as memory of it is held together with other nodes'."""
    texts = []
    for nodes, own in one.bound[:MAX_NODES_NAMED]:
        who = f"{names_text(own)} of this pod {verb_text('hold', own)}" if own else "Other pods hold"
        texts.append(f" {who} memory of {nodes_text(nodes)} together, so the Memory Manager uses all or none.")
    return "".join(texts)


def _counted_too(one: width_facts.TooWide) -> str:
    """Name what the kubelet counts when it looks how few nodes are enough, and withholds from pods; memory has none."""
    counts = [amount for _, amount in one.counted]
    where = nodes_text(sum(1 << node for node, _ in one.counted))
    if len(counts) > 1 and len(set(counts)) == 1:
        told = f"{counts[0]} on each of {where}"
    elif len(counts) > MAX_NODES_NAMED:
        told = f"{sum(counts)} on {where}"
    else:
        told = ", ".join(f"{amount} on NUMA {node}" for node, amount in one.counted)
    return f"{'reserved CPUs' if one.asked.resource == CPU else 'unhealthy devices'} ({told})"


def _at_most(one: width_facts.TooWide) -> str:
    """Add up what there is of CPUs at most with the one node that must take part: `At most 6 + 8 = 14 are free.`."""
    tied = [place for place in one.had.places if place.left]
    if len(tied) != 1 or one.width < 2 or one.asked.resource != CPU:
        return ""
    free = sorted((place.free for place in one.had.places if place is not tied[0]), reverse=True)
    amounts = [tied[0].free + tied[0].left, *free[: one.width - 1]]
    most = sum(amounts)
    return f" At most {' + '.join(map(str, amounts))} = {most} are free there." if most < one.asked.amount else ""


def fits_on(one: width_facts.FitsOn) -> str:
    """Say on how few nodes a resource fits."""
    (what, s), most = needs(one.asked), amount_text(one.asked.resource, one.most)
    whose = "1 socket" if one.sockets == 1 else f"{one.sockets} sockets"
    more = f" align-by-socket allows all NUMA nodes of {whose}." * bool(one.sockets)
    if one.width == 1:
        unequal = len({place.total for place in one.had.places}) > 1
        return f"{what} fit{s} on 1 NUMA node: each has {'at most ' * unequal}{most}.{more}"
    return f"{what} need{s} {nodes_count(one.width)}: each has at most {most}.{more}"


def fits_too(one: width_facts.FitsToo) -> str:
    """Say that something else fits one node."""
    what, s = needs(one.asked)
    return f"{what} fit{s} on 1 NUMA node."


def fit_one(one: width_facts.FitOne) -> str:
    """Say what fits one node beside what takes several."""
    fit = f"{listed(one.resources)} {'fits' if len(one.resources) == 1 else 'fit'} on 1 NUMA node."
    return f"{fit} {one.policy} requires as many for {one.wide}, which needs at least {one.width}."


def holders(one: width_facts.Holders) -> str:
    """Say which sets of empty nodes hold enough of a resource."""
    masks, (what, s) = one.sets, needs(one.asked)
    common, some = reduce(and_, masks), reduce(or_, masks)
    if one.width == 1:
        return f"On an empty node {what} fit{s} on {nodes_text(some)} only."
    never = one.nodes & ~some
    few = f"On an empty node {what} fit{s} on {nodes_count(one.width)}"
    if common or never:
        return f"{few} only {f'with {nodes_text(common)}' if common else f'without {nodes_text(never)}'} among them."
    texts = [nodes_text(mask) for mask in masks[:MAX_NODES_NAMED]]
    more = ", …" if len(masks) > MAX_NODES_NAMED else ""
    return f"{few}: only on {' or '.join(texts)}{more}."


def take_together(one: width_facts.TakeTogether) -> str:
    """Say how many nodes resources take that have to come from the same ones."""
    return f"{listed(one.resources)} must come from the same NUMA nodes and need {one.width} together."


def on_the_same(one: width_facts.OnTheSame) -> str:
    """Say what the policy requires of resources that differ in width."""
    return f"{one.policy} requires {SAME_NODES}."


def could(one: width_facts.Could) -> str:
    """Say where a resource could be allocated alone."""
    if one.must is not None:
        return f"{asked_text(one.asked)}. {_must(one.asked.resource, one.must)}"
    what, s = needs(one.asked)
    what = f"{what} {'is' if s else 'are'} free on"
    if one.nodes == 0:
        return f"{what} several NUMA nodes together."
    return f"{what} any NUMA node." if one.nodes is None else f"{what} {nodes_text(one.nodes)} only."


def never_meet(_: width_facts.NeverMeet) -> str:
    """Say that resources are not free on the same nodes."""
    return "Each resource is free somewhere, but not on the same NUMA nodes."


def tied_by(one: width_facts.TiedBy) -> str:
    """Say which node init containers' CPUs tie a container to."""
    left = one.left
    leave = left_text(left, amount_of(CPU, left.amount)) if left else "init containers leave CPUs"
    text = f"{leave[0].upper()}{leave[1:]} on NUMA {one.node}; the container must use NUMA {one.node}."
    return f"{asked_text(one.asked)}. {text}"


def not_there(one: width_facts.NotThere) -> str:
    """Say that the node that has to be used cannot give a resource."""
    name, own = one.asked.resource, own_text(one.own, one.asked.resource)
    return f"{asked_text(one.asked)}: too few free on NUMA {one.node}{own} ({each_node(name, one.had)})"


def how_many(free: int, total: int) -> str:
    """Say how many there are, and how many of them are free: `2 of 4 free`, `none there`."""
    return f"{free} of {total} free" if total else "none there"


WRITERS: Final[Writers] = {
    width_facts.Could: could,
    width_facts.FitOne: fit_one,
    width_facts.FitsOn: fits_on,
    width_facts.FitsToo: fits_too,
    width_facts.Holders: holders,
    width_facts.NeverMeet: never_meet,
    width_facts.NotThere: not_there,
    width_facts.OnTheSame: on_the_same,
    width_facts.TakeTogether: take_together,
    width_facts.TiedBy: tied_by,
    width_facts.TooWide: too_wide,
}
