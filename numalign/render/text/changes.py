"""What would admit a refused pod, in words: what to change, why each part is needed, what to type to see it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from numalign.analysis.whatif.settings import CPU_POLICY_OPTIONS, MEMORY_POLICY, POLICY, SCOPE, TOPOLOGY_POLICY_OPTIONS
from numalign.model.quantity import NANO, Quantity, canonical
from numalign.model.resources import CPU
from numalign.render.page.document import Line
from numalign.render.text.alignment import reason_of
from numalign.render.text.amounts import bytes_text, nodes_text, written
from numalign.render.text.refusal import in_short, why
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.analysis.refusal import Refusal
    from numalign.analysis.whatif.change import Part, WayOut
    from numalign.kubelet.config import KubeletConfig
    from numalign.results.admit import PodResult
    from numalign.results.explain import ExplainedPod

COUNTS = {2: "Two", 3: "Three", 4: "Four", 5: "Five", 6: "Six"}


class Advice(NamedTuple):
    """What to type next."""

    changes: Sequence[str]
    """For each change, the command that shows it."""
    otherwise: str
    """The command where no change was found."""


def changes_lines(config: KubeletConfig, told: ExplainedPod, advice: Advice) -> Iterator[Line]:
    """Tell all changes that were found, or that there is none, each with the command to type."""
    yield Line()
    if not told.changes:
        yield Line(
            "  Nothing that was tried admits it: pods moved away, other requests, settings, nor two of these together."
        )
        yield Line("  To see it under every policy and scope:")
        yield Line(f"     {advice.otherwise}", "dim")
        return
    yield Line("  Each of these admits it (tried, the nearest first):")
    for number, (change, after, command) in enumerate(
        zip(told.changes, told.after, advice.changes, strict=True), start=1
    ):
        yield from _change(number, change, after, config, told)
        yield Line(f"     {command}", "dim")


def _change(
    number: int, change: WayOut, after: PodResult | None, config: KubeletConfig, told: ExplainedPod
) -> Iterator[Line]:
    many, aligned = told.containers, ALIGNED[change.aligned]
    if after is not None and any(one.alignment.verdict == "unknown" for one in after.containers):
        aligned = "; aligned or not, nobody knows then"
    if len(change.parts) < 2:
        yield Line(f"  {number}. {what_text(change, config, many)}{aligned}")
        for part in change.parts:
            yield from _reason("     ", part, because(part, told.refusal, after))
    else:
        count = COUNTS.get(len(change.parts), str(len(change.parts)))
        yield Line(f"  {number}. {count} changes together{aligned}")
        known: list[list[str]] = [[]]
        for part in change.parts:
            sentences = because(part, told.refusal, after)
            yield Line(f"     - {what_text(part.change, config, many)}")
            yield from _reason("       ", part, ["said above"] if sentences in known else sentences)
            known.append(sentences)
    for text in unaligned(change, after):
        yield Line(f"     {text}", "warn")


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
    named = {row.resource for row in (*refusal.culprits, *refusal.also)}
    named |= {one.resource for one in refusal.around.sums} | {one.resource for one in refusal.amounts}
    others = [key for key in change.amounts if key[1] not in named or refusal.container not in (None, key[0])]
    if others and len(others) < len(change.amounts):
        texts = []
        for container in dict.fromkeys(name for name, _ in others):
            amounts = [f"{quantity_text(change.asked[key])} {key[1]}" for key in others if key[0] == container]
            of = f" of container {container}" if told.containers > 1 else ""
            texts.append(f"{', '.join(amounts)}{of}")
        yield f"to ask for less of that alone would not do: {' and '.join(texts)} would be refused, too (see {number}.)"


def _reason(indent: str, part: Part, sentences: Sequence[str]) -> Iterator[Line]:
    head = f"why no more{_next_cores(part)}: " if part.larger else "why: "
    for place, text in enumerate(sentences):
        yield Line(f"{indent}{'     ' if place else head}{text}")


def _next_cores(part: Part) -> str:
    """Name the next larger number of CPUs where only whole cores are given out."""
    for (_, resource), nano in part.change.amounts.items():
        if resource == CPU and part.larger - nano > NANO:
            return f" (the next whole core makes {quantity_text(part.larger)})"
    return ""


def because(part: Part, refusal: Refusal | None, after: PodResult | None) -> list[str]:
    """Say why one part of a change is needed, a sentence a line; nothing where the refusal itself says it.

    `after` is what the pod would get.
    """
    change, found = part.change, part.otherwise
    grown = [key for key, nano in change.amounts.items() if nano > change.asked[key]]
    if grown and refusal is not None and refusal.stage == "policy" and not refusal.odd_cores:
        widest = max(row.width for row in refusal.culprits)
        like = ", ".join(row.resource for row in refusal.culprits if row.width == widest)
        return [f"as {like} takes {widest} nodes, {grown[0][1]} has to take {widest}, too"]
    if found is None:
        return [EFFECTS[flag, text] for flag, text in change.flags.items() if (flag, text) in EFFECTS]
    sentences = (change.pods and after and _room(found, after)) or in_short(found)
    if refusal is not None and set(map(_limit, sentences)) <= set(map(_limit, why(refusal))):
        return []
    return sentences


def _room(found: Refusal, after: PodResult) -> list[str]:
    """Say what all is short on the one node that a pod gets once others have gone; nothing where it is one resource."""
    whose = [one for one in after.containers if found.container in (None, one.name)]
    nodes = reduce(or_, (one.alignment.nodes for one in whose), 0)
    table = found.matrix
    if table is None or table.container != found.container or nodes.bit_count() != 1:
        return []
    place = table.nodes.index(nodes.bit_length() - 1)
    short = [row for row in table.rows if row.cells[place].free + row.cells[place].handed < row.requested]
    if len(short) < 2:
        return []
    texts = []
    for row in short:
        free = row.cells[place].free
        say = written(row.resource, [row.requested, free])
        texts.append(f"{say(row.requested)} {row.resource} ({say(free)} free)")
    return [f"{nodes_text(nodes)} has to give {', '.join(texts[:-1])} and {texts[-1]}"]


def _limit(sentence: str) -> str:
    """Cut a sentence down to the resource and what there is of it: who knows that needs no other amount asked."""
    sentence = sentence.removeprefix("on an empty machine: ")
    places = re.search(r" \((?:node|between|on|most) .*\)", sentence)
    if places:
        return f"{sentence.split()[0]}{places[0]}"
    return re.sub(r": \S+ asked\b", ":", sentence)


def unaligned(change: WayOut, after: PodResult | None) -> Iterator[str]:
    """Say why the pod would not be aligned after a change."""
    if change.aligned is not False or after is None:
        return
    told: dict[str, list[str]] = {}
    for container in after.containers:
        reason = reason_of(container, after.qos)
        if reason and container.alignment.aligned is False:
            told.setdefault(reason, []).append(container.name)
    for reason, names in told.items():
        who = f"{', '.join(names)}: " if len(after.containers) > 1 else ""
        yield f"not aligned: {who}{reason}"


def change_text(change: WayOut, config: KubeletConfig, containers: int = 1) -> str:
    """Say what to change, and whether the pod is aligned then."""
    return f"{what_text(change, config, containers)}{ALIGNED[change.aligned]}"


ALIGNED: Mapping[bool | None, str] = {
    True: "; it is aligned then",
    False: "; it is NOT aligned then",
    None: "",
}

EFFECTS: Mapping[tuple[str, str], str] = {
    (POLICY, "restricted"): "it takes several NUMA nodes where one is too small even when empty",
    (POLICY, "best-effort"): "it takes the best nodes there are, and refuses nothing for being apart",
    (POLICY, "none"): "it does not look at NUMA nodes",
    (SCOPE, "container"): "each container may then be on other NUMA nodes than the rest of the pod",
    (SCOPE, "pod"): "NUMA nodes are then chosen once, for the whole pod",
    (MEMORY_POLICY, "None"): "memory is then not counted and not kept on any NUMA node",
}
"""(flag, value) -> what it does to a pod that was refused without it."""


def what_text(change: WayOut, config: KubeletConfig, containers: int) -> str:
    """Say what to change."""
    parts: list[str] = []
    if change.machine:
        parts.append(f"run it on {'a machine such as' if change.example else 'machine'} {change.machine}")
    parts += [_hardware(flag, text) for flag, text in change.hardware]
    if change.flags:
        parts += _settings(change, config)
    if change.amounts:
        parts += _requests(change, containers)
    if change.pods:
        names = ", ".join(pod.name for pod in change.pods)
        many = len(change.pods) != 1
        size = "no fewer will do" if change.fewest else "one set that will do; there may be a smaller one"
        parts.append(f"move {len(change.pods)} pod{'s' * many} away: {names}" + (f" ({size})" if many else ""))
    return ", and ".join(parts)


def _hardware(flag: str, text: str) -> str:
    """Say what the machine would have to have: `RESOURCE[@NODE]=N`, `SIZE[@NODE]=BYTES`."""
    what, _, amount = text.rpartition("=")
    name, _, node = what.partition("@")
    where = f"node {node}" if node else "every node"
    if flag == "hugepages":
        return f"set {bytes_text(int(amount))} aside in {name} pages on {where} at boot"
    return f"have {amount} {name} on {where}"


def _requests(change: WayOut, containers: int) -> Iterator[str]:
    """Say what to ask for instead, and what to leave out."""
    less, left_out = [], []
    for (container, resource), nano in change.amounts.items():
        where = f" in container {container}" if containers > 1 else ""
        asked = change.asked[container, resource]
        if nano:
            most = "at most " * (nano < asked)
            less.append(f"{most}{quantity_text(nano)} {resource} instead of {quantity_text(asked)}{where}")
        else:
            left_out.append(f"{resource}{where}")
    if less:
        yield "ask for " + " and ".join(less)
    if left_out:
        yield "leave out " + " and ".join(left_out)


def _settings(change: WayOut, config: KubeletConfig) -> Iterator[str]:
    flags = dict(change.flags)
    policy, scope = flags.pop(POLICY, None), flags.pop(SCOPE, None)
    if policy is not None:
        yield f"policy {policy} instead of {config.topology_manager_policy}"
    if scope is not None:
        yield f"scope {scope} instead of {config.topology_manager_scope}"
    for flag, old in (
        (CPU_POLICY_OPTIONS, config.cpu_manager_policy_options),
        (TOPOLOGY_POLICY_OPTIONS, config.topology_manager_policy_options),
    ):
        if flag in flags:
            yield from _options(flag, flags.pop(flag), old or {})
    if flags:
        yield "set " + " ".join(f"--{flag} {value}" for flag, value in flags.items())


def _options(flag: str, text: str, old: Mapping[str, str]) -> Iterator[str]:
    """Say which options to turn on or off; the flag has those that stay, too."""
    for name, _, value in (pair.partition("=") for pair in text.split(",")):
        if old.get(name) != value:
            yield f"turn option {name} {'on' if value == 'true' else 'off'} (--{flag})"


def quantity_text(nano: int) -> str:
    """Write an amount as a manifest would."""
    whole = nano // NANO
    binary = nano % NANO == 0 and whole >= 1 << 20 and whole % 1024 == 0
    return canonical(Quantity(nano, "BinarySI" if binary else "DecimalSI", None))
