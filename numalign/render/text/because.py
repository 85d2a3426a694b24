"""Why each part of a change is needed, why the pod would not be aligned after it, and what would be in the way next."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from numalign.analysis.whatif.settings import MEMORY_POLICY, POLICY, SCOPE
from numalign.model.resources import CPU
from numalign.render.text.alignment import reason_of
from numalign.render.text.amounts import nodes_text, quantity_text, written
from numalign.render.text.refusal.why import in_short, why

if TYPE_CHECKING:
    from numalign.analysis.matrix import Matrix, Row
    from numalign.analysis.refusal import Refusal
    from numalign.analysis.whatif.change import Part, WayOut
    from numalign.kubelet.config import KubeletConfig
    from numalign.results.admit import ContainerResult, PodResult
    from numalign.results.explain import ExplainedPod

EFFECTS: Mapping[tuple[str, str], str] = {
    (POLICY, "restricted"): "it takes several NUMA nodes where one is too small even when empty",
    (POLICY, "best-effort"): "it takes the best nodes there are, and refuses nothing for being apart",
    (POLICY, "none"): "it does not look at NUMA nodes",
    (SCOPE, "container"): "each container may then be on other NUMA nodes than the rest of the pod",
    (SCOPE, "pod"): "NUMA nodes are then chosen once, for the whole pod",
    (MEMORY_POLICY, "None"): "memory is then not counted and not kept on any NUMA node",
}
"""(flag, value) -> what it does to a pod that was refused without it."""


def because(part: Part, refusal: Refusal | None, after: PodResult | None) -> list[str]:
    """Say why one part of a change is needed, a sentence a line; nothing where the refusal itself says it.

    `after` is what the pod would get.
    """
    change, found = part.change, part.otherwise
    grown = [key[1] for key, nano in change.amounts.items() if nano > change.asked[key]]
    if grown and refusal is not None and refusal.stage == "policy" and not (found and found.around.cores):
        widest = max(row.width for row in refusal.culprits)
        like = ", ".join(row.resource for row in refusal.culprits if row.width == widest)
        return [f"as {like} takes {widest} nodes, {grown[0]} has to take {widest}, too"]
    if found is None:
        return [EFFECTS[flag, text] for flag, text in change.flags.items() if (flag, text) in EFFECTS]
    sentences = (change.pods and after and _room(found, after)) or in_short(found)
    if refusal is not None and set(map(_limit, sentences)) <= set(map(_limit, why(refusal))):
        return []
    return sentences


def _room(found: Refusal, after: PodResult) -> list[str]:
    """Say all that is short where a pod goes once others have gone; nothing where the refusal names all of it."""
    table = found.matrix
    if table is None:
        return []
    whose = [one for one in after.containers if table.container in (None, one.name)]
    nodes = reduce(or_, (one.alignment.nodes for one in whose), 0)
    alone = nodes.bit_count() == 1
    there = {row: _free(row, table, nodes if alone else 0) for row in table.rows}
    short = {row: amounts for row, amounts in there.items() if sum(amounts) < row.requested}
    if len(short) < 2 or (not alone and {row.resource for row in short} <= set(found.resources)):
        return []
    texts = []
    for row, (free, left) in short.items():
        say = written(row.resource, [row.requested, free, left])
        texts.append(f"{say(row.requested)} {row.resource} asked, {say(free)}{f' + {say(left)}' * bool(left)} free")
    where = f"it goes to {nodes_text(nodes)} then, which" if alone else "the machine"
    return [f"{where} has too little free now: {'; '.join(texts)}"]


def _free(row: Row, table: Matrix, node: int) -> tuple[int, int]:
    """Give what is free and what init containers leave, on one node or, without one, everywhere.

    Of devices that no node has only the number on the machine counts.
    """
    cells = row.cells
    if node and not all(cell.verdict == "any" for cell in cells):
        cell = cells[table.nodes.index(node.bit_length() - 1)]
        return cell.free, cell.handed
    return row.free, sum(cell.handed for cell in cells)


def _limit(sentence: str) -> str:
    """Cut a sentence down to the resource and what there is of it: who knows that needs no other amount asked."""
    sentence = sentence.removeprefix("on an empty machine: ")
    places = re.search(r" \((?:node|between|on|most) .*\)", sentence)
    if places:
        return f"{sentence.split()[0]}{places[0]}"
    return re.sub(r": \S+ asked\b", ":", sentence)


def unaligned(change: WayOut, after: PodResult | None, config: KubeletConfig) -> Iterator[str]:
    """Say why the pod would not be aligned after a change; `config` holds what the change leaves as it is."""
    if change.aligned is not False or after is None:
        return
    scope = change.flags.get(SCOPE, config.topology_manager_scope)
    told: dict[str, list[str]] = {}
    for container in after.containers:
        reason = reason_of(container, after.qos)
        if reason and container.alignment.aligned is False:
            chosen = _chosen(container, "the whole pod" if scope == "pod" else "it", change)
            told.setdefault(reason + chosen, []).append(container.name)
    for reason, names in told.items():
        who = f"{', '.join(names)}: " if len(after.containers) > 1 else ""
        yield f"not aligned: {who}{reason}"


def _chosen(container: ContainerResult, whom: str, change: WayOut) -> str:
    """Say how parts of a container come to lie apart: on different ones of the nodes that were chosen."""
    judged, chosen = container.alignment, container.hint.numa_affinity
    if not judged.remote or judged.cpus_float or chosen is None:
        return ""
    if judged.places.get(CPU, 0) & ~chosen and change.tried and change.tried.before.node.cpu.options.align_by_socket:
        return f", as {nodes_text(chosen)} was chosen and option align-by-socket takes CPUs of the whole socket"
    if not chosen & (chosen - 1) or any(mask & ~chosen for mask in judged.places.values()):
        return ""
    return f", as {nodes_text(chosen)} were chosen for {whom} and each resource may come from any of them"


def next_in_the_way(told: ExplainedPod) -> Iterator[str]:
    """Say what would be in the way next, where no cut of a single request does.

    The refusal names what the kubelet met first; who asks for less of only that is refused again.
    """
    refusal = told.refusal
    if refusal is None or any(len(change.amounts) == 1 and len(change.parts) == 1 for change in told.changes):
        return
    number, change = next(
        ((number, one) for number, one in enumerate(told.changes, start=1) if len(one.amounts) > 1), (0, None)
    )
    if change is None:
        return
    others = _not_named(refusal, change.amounts)
    if others and len(others) < len(change.amounts):
        texts = []
        for container in dict.fromkeys(name for name, _ in others):
            amounts = [f"{quantity_text(change.asked[key])} {key[1]}" for key in others if key[0] == container]
            of = f" of container {container}" if told.containers > 1 else ""
            texts.append(f"{', '.join(amounts)}{of}")
        yield f"to ask for less of that alone would not do: {' and '.join(texts)} would be refused, too (see {number}.)"


def _not_named(refusal: Refusal, amounts: Mapping[tuple[str, str], int]) -> Sequence[tuple[str, str]]:
    """List the (container, resource) pairs that a refusal does not name; in scope `pod` it is about all containers."""
    named = {row.resource for row in (*refusal.culprits, *refusal.also)}
    named |= {one.resource for one in refusal.around.sums} | {one.resource for one in refusal.amounts}
    at = refusal.matrix.container if refusal.matrix and refusal.culprits else refusal.container
    return [key for key in amounts if key[1] not in named or at not in (None, key[0])]
