"""Why each part of a change is needed, and what would be in the way next."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from numalign.model.quantity import NANO, of_thousandths, with_decimals
from numalign.model.resources import CPU, is_memory
from numalign.render.text.amounts import amount_text, listed, named, nodes_text, quantity_text, readable_text
from numalign.render.text.held import held_by_them, room
from numalign.render.text.refusal.fit import MILLI_OF_CPU, taken_text
from numalign.render.text.refusal.own import TOGETHER
from numalign.render.text.refusal.short import HINT, UNKNOWN_NODE
from numalign.render.text.refusal.why import in_short, why
from numalign.render.text.settings import effects
from numalign.render.text.where_it_goes import limit_there

if TYPE_CHECKING:
    from numalign.analysis.in_the_way import Amount
    from numalign.analysis.refusal import Refusal
    from numalign.analysis.whatif.change import Part, WayOut
    from numalign.kubelet.config import KubeletConfig
    from numalign.results.admit import PodResult
    from numalign.results.explain import ExplainedPod


def because(
    part: Part,
    refusal: Refusal | None,
    after: PodResult | None,
    config: KubeletConfig,
    *,
    whole: WayOut,
    head: Sequence[str],
) -> list[str]:
    """Say why one part of a change is needed, a sentence a line; nothing where the refusal itself says it.

    Args:
        part: the part.
        refusal: why the pod is refused as it is.
        after: what the pod would get.
        config: the settings as they are.
        whole: the change that it is a part of.
        head: the sentences about the refusal itself, without the cases in which they hold.
    """
    change, found = part.change, part.otherwise
    if part.unshared:
        then = f"{'that' if part.larger else 'else this pod'} would take the last CPU that is shared"
        holds = list(held_by_them(part, None, after, set()))
        return [*holds, f"{then}, and the kubelet would not start again"]
    raised = _raised(part, refusal)
    if raised:
        return raised
    if found is None and refusal is not None and refusal.around.joint is not None and after is not None:
        nearer = list(_together_again(change, refusal, after))
        if nearer:
            return nearer
    # What is short of other containers, or once the rest of a change is done, no refusal tells.
    alone = len(whole.parts) == 1 and after is not None and len(after.containers) == 1
    wanted = set[str]() if alone else _placed(after)
    holding = list(held_by_them(part, found or refusal, after, wanted))
    if found is None:
        return [*holding, *effects(change, config), *_whole_cores_only(part, refusal)]
    sentences = (change.pods and after and room(found, after)) or limit_there(part, found, after) or in_short(found)
    if found.around.cores and any(key[1] == CPU and nano % NANO for key, nano in change.amounts.items()):
        sentences = [sentence.partition(": ask for ")[0] for sentence in sentences]  # the advice is another one
    if len(whole.parts) < 2 and _said(sentences, head, change):
        return []
    sentences = [_without_rule(_without_hint(one, head), head) for one in sentences]
    if after is not None and len(after.containers) > 1 and not found.around.sums:
        sentences = _of_a_container(sentences, part, whole, found.at, refusal)
    if not part.larger or not all(change.amounts.values()):
        sentences = [_still_together(one, whole, found) for one in sentences]
    shares = _counts_as_a_whole(part.whole) if part.whole is not None else ()
    return [*holding, *_elsewhere(part, found, after), *sentences, *_nothing_left(part, found), *shares]


def _of_a_container(
    sentences: list[str], part: Part, whole: WayOut, at: str | None, refusal: Refusal | None
) -> list[str]:
    """Name the container that is refused, and the other one that asked for more of what they share.

    A sentence without a name is about the container that the part is about, or else about the refused one.
    """
    clear: set[str | None] = {None, *(name for name, _ in part.change.amounts)}
    if not part.change.amounts and refusal is not None:
        clear.add(refusal.at)
    who = f"container {at}: " * (at not in clear)
    key, nano = next(iter(part.change.amounts.items()), (("", ""), 0))
    if at not in (None, key[0]) and part.larger > nano and any(key in keys for keys in whole.together):
        who = f"with {quantity_text(part.larger)} in {key[0]}, {who}"
    return [f"{who}{sentences[0]}", *sentences[1:]]


def _placed(after: PodResult | None) -> set[str]:
    """Name what a pod gets on known nodes."""
    return {name for one in after.containers for name in one.alignment.places} if after is not None else set()


def _whole_cores_only(part: Part, refusal: Refusal | None) -> Iterator[str]:
    """Say why not all CPUs that are free may be asked for, where only whole cores are given out."""
    cores = part.change.cores
    rows = refusal.culprits if refusal is not None and refusal.stage == "hints" else ()
    for (_, name), nano in part.change.amounts.items():
        row = next((row for row in rows if row.resource == name == CPU), None)
        if row is not None and cores > 1 and nano < row.free * NANO < nano + cores * NANO:
            yield f"{row.free} are free, but full-pcpus-only gives out whole cores of {cores} threads"


def _still_together(sentence: str, whole: WayOut, found: Refusal) -> str:
    """Say of a sum that is still too much which containers ask for less of it already."""
    for one in found.around.sums:
        less = [(name, size) for name, size in one.parts if size * NANO < whole.asked.get((name, one.resource), 0)]
        head = f"{one.resource}: {TOGETHER} "
        if less and sentence.startswith(head):
            with_less = listed([f"{amount_text(one.resource, size)} in {name}" for name, size in less])
            return f"{one.resource}: with {with_less} still {sentence.removeprefix(head)}"
    return sentence


def _counts_as_a_whole(one: Amount) -> Iterator[str]:
    """Say why a share of a CPU fits where whole ones do not."""
    asked, left = (of_thousandths(nano * MILLI_OF_CPU // NANO) for nano in (one.requested, one.capacity - one.used))
    yield (
        "a share counts only against the node as a whole, not against the CPUs that are free: "
        f"{taken_text(one)} requested by other pods, which leaves {left} for this pod, {asked} asked"
    )


def _elsewhere(part: Part, found: Refusal, after: PodResult | None) -> Iterator[str]:
    """Say that a little more of one resource leads to other nodes, where another resource is refused then."""
    chosen = found.around.chosen
    if not part.larger or not chosen or after is None:
        return
    now = {one.hint.numa_affinity for one in after.containers}
    for _, name in part.change.amounts:
        if name not in found.resources and chosen not in now:
            yield f"with {quantity_text(part.larger)} {name} {nodes_text(chosen)} would be chosen"


def _without_hint(sentence: str, head: Sequence[str]) -> str:
    """Leave out how to add what a machine has none of, where the refusal tells it of the same."""
    start = sentence.partition(": ")[0]
    hinted = any(one.startswith(f"{start}: ") and HINT in one for one in head)
    return sentence.partition(HINT)[0] if hinted else sentence


def _without_rule(sentence: str, head: Sequence[str]) -> str:
    """Shorten why devices of no known node do not count, where the refusal tells it of the same."""
    if UNKNOWN_NODE not in sentence or sentence not in head:
        return sentence
    return f"{sentence.partition(': ')[0]}: those of no known node do not count, as told above"


def _said(sentences: Sequence[str], head: Sequence[str], change: WayOut) -> bool:
    """Tell whether why no more may be asked is said where the refusal is told: the limit, and the very amount."""
    known = re.split(r"[ ,()]+", " ".join(head))
    asked = all(nano and quantity_text(nano) in known for nano in change.amounts.values())
    return asked and set(map(_limit, sentences)) <= set(map(_limit, head))


def _nothing_left(part: Part, found: Refusal) -> Iterator[str]:
    """Say that an init container that asks for less leaves no CPUs or devices that tie a later one to their nodes."""
    for (name, resource), nano in part.change.amounts.items():
        left = next((one for one in found.around.handed if one.resource == resource), None)
        if left is None or not left.nodes or is_memory(resource):
            continue
        fewer = (part.larger or part.change.asked[name, resource]) - nano
        if left.containers == (name,) and left.amount * NANO <= fewer:
            what, whom = named(resource), found.at or "the pod"
            ties = "ties" if what == resource else "tie"
            yield f"with {quantity_text(nano)}, {name} leaves no {what} that {ties} {whom} to {nodes_text(left.nodes)}"


def _together_again(change: WayOut, refusal: Refusal, after: PodResult) -> Iterator[str]:
    """Say on how many nodes memory resources meet once less is asked of one of them."""
    joint = refusal.around.joint
    cut = [name for _, name in change.amounts if joint is not None and name in joint.resources]
    chosen = {one.hint.numa_affinity for one in after.containers if refusal.at in (None, one.name)}
    if joint is None or not cut or len(chosen) != 1 or None in chosen:
        return
    mask = chosen.pop() or 0
    if mask.bit_count() < joint.width:
        many = f"{mask.bit_count()} nodes" if mask & (mask - 1) else "one node"
        yield f"{listed(joint.resources)} then take {many} together ({nodes_text(mask)}), as the rest of the pod does"


def _raised(part: Part, refusal: Refusal | None) -> list[str]:
    """Say why more is asked: whole bytes, or as many nodes as another resource; nothing where it is for neither."""
    for key, nano in part.change.amounts.items():
        asked = part.change.asked[key]
        if nano > asked and asked % NANO and is_memory(key[1]):
            return [f"{with_decimals(asked)} is no whole number of bytes, and the Memory Manager takes no other"]
    grown = [key[1] for key, nano in part.change.amounts.items() if nano > part.change.asked[key]]
    if not grown or refusal is None or refusal.stage != "policy" or (part.otherwise and part.otherwise.around.cores):
        return []
    rows = refusal.culprits
    widest = max(row.width for row in rows)
    like = ", ".join(row.resource for row in rows if row.width == widest)
    most = max((cell.total for row in rows if row.resource == grown[0] for cell in row.cells), default=0)
    one = f", and one has {readable_text(grown[0], most * NANO, down=True)} at most" if most else ""
    return [f"as {like} takes {widest} nodes, {grown[0]} has to take {widest}, too{one}"]


def _limit(sentence: str) -> str:
    """Cut a sentence down to the resource and what there is of it: who knows that needs no other amount asked."""
    places = re.search(r" \((?:nodes?|on|most|each|the plugin|\d+ of) .*\)", sentence)
    if places:
        return f"{sentence.split()[0]}{places[0]}"
    sentence = re.sub(r"; the same goes for .*", "", sentence)
    return re.sub(r": \S+ asked\b(?: as reduced)?(?: by \S+)?(?: after the reduction)?(?: \([^)]*\))?", ":", sentence)


def next_in_the_way(told: ExplainedPod) -> Iterator[str]:
    """Say what would be in the way next, where no cut of a single request does.

    The refusal names what the kubelet met first; who asks for less of only that is refused again.
    """
    refusal = told.refusal
    if refusal is None or any(len(change.amounts) == 1 and len(change.parts) == 1 for change in told.changes):
        return
    rivals = list(_rivals(refusal, told))
    yield from rivals
    cutting = [change for change in told.changes if change.amounts and not change.flags]
    change = next((one for one in cutting if len(one.amounts) > 1), None)
    if rivals or change is None:
        return
    head = set(why(refusal))  # what is told of the refused container is not told of another once more
    besides = {name for one in told.besides for name in one.resources if not head.issuperset(why(one))}
    spared = {key for part in change.parts if part.unshared for key in part.change.amounts}
    unnamed = _not_named(refusal, change.amounts)
    others = [key for key in unnamed if key[1] not in besides and key not in spared]
    if not others or len(others) == len(change.amounts):
        return
    # What one change leaves alone is in the way only as long as something else stays as it is.
    sure = [key for key in others if all(key in one.amounts for one in cutting)]
    if not sure:
        return
    named = [key[1] for key in change.amounts if key not in others and key[1] not in besides]
    first = listed(list(dict.fromkeys(named or refusal.resources)))
    where = f" in container {refusal.at}" if _at_one(told) else ""
    then = _asked_of(sure, change, told)
    yield f"to change {first}{where} alone is not enough: {then} would be in the way then"


def _at_one(told: ExplainedPod) -> bool:
    """Tell whether a refusal is about one container of several."""
    return told.refusal is not None and told.refusal.at is not None and told.containers > 1


def _asked_of(keys: Sequence[tuple[str, str]], change: WayOut, told: ExplainedPod) -> str:
    """Write what containers ask for: `8Gi memory of container a and 2 cpu of container b`."""
    texts = []
    for container in dict.fromkeys(name for name, _ in keys):
        amounts = [f"{readable_text(key[1], change.asked[key])} {key[1]}" for key in keys if key[0] == container]
        texts.append(f"{', '.join(amounts)}{f' of container {container}' * (told.containers > 1)}")
    return listed(texts)


def _rivals(refusal: Refusal, told: ExplainedPod) -> Iterator[str]:
    """Say which containers want the same few devices, and which change takes them from whom."""
    for one in refusal.around.sums:
        names = [name for name, _ in one.parts]
        loser = {
            number: [name for name in names if (name, one.resource) in change.amounts]
            for number, change in enumerate(told.changes, start=1)
        }
        if any(len(each) != 1 for each in loser.values()) or len({each[0] for each in loser.values()}) < 2:
            continue
        where = {name: next((number for number, each in loser.items() if each == [name]), None) for name in names}
        see = ", ".join(f"{name}: see {number}." for name, number in where.items() if number)
        only = "the only" if one.capacity == 1 else f"of the {amount_text(one.resource, one.capacity)}"
        without = "do without it" if one.capacity == 1 else "do with less"
        both = "both want" if len(names) == 2 else "want"
        yield f"{listed(names)} {both} {only} {one.resource}: one of them has to {without} ({see})"


def _not_named(refusal: Refusal, amounts: Mapping[tuple[str, str], int]) -> Sequence[tuple[str, str]]:
    """List the (container, resource) pairs that a refusal does not name; in scope `pod` it is about all containers."""
    named = {row.resource for row in (*refusal.culprits, *refusal.also)}
    named |= {one.resource for one in refusal.amounts}
    added_up = {one.resource for one in refusal.around.sums}  # of these all containers are named
    at = refusal.at
    odd = {(name, CPU) for name, _ in refusal.around.cores.others} if refusal.around.cores else set()
    odd |= {(one.container, one.resource) for one in refusal.around.unreadable}
    left = [key for key in amounts if key[1] not in named or at not in (None, key[0])]
    left = [key for key in left if key[1] not in added_up and key not in odd]
    return left if refusal.mended is None else [key for key in left if key in _not_named(refusal.mended, amounts)]
