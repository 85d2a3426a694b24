"""What would admit a refused pod, in words: what to change, what becomes of the pod then, what to type to see it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from numalign.kubelet.cpu.allocate import POOL_EMPTY
from numalign.model.words import few_of
from numalign.render.page.document import Block, Command, Item, Note, Paragraph
from numalign.render.text.aligned_then import (
    aligned_first,
    aligned_then,
    aligned_too,
    beside_the_cpus,
    unaligned,
    where_then,
)
from numalign.render.text.amounts import (
    bytes_text,
    listed,
)
from numalign.render.text.reasons import admitted_anew, for_the_whole_node, long, reason_lines, settings_text
from numalign.render.text.requests import requests_text
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.analysis.reasons.steps import Step
    from numalign.analysis.whatif.change import WayOut
    from numalign.kubelet.config import KubeletConfig
    from numalign.results.admit import PodResult
    from numalign.results.explain import ExplainedPod

MANY_PARTS = 5
"""Where no fewer changes will do, a machine suits a pod badly."""

MAX_PODS_NAMED = 12
"""How many pods to move are named."""

MAX_INSTEAD = 3
"""How many pods are named that may be moved instead of one."""

NO_COMMAND = "No command shows it: with the node's state files the kubelet would not start (see below)."

COUNTS = {2: "Two", 3: "Three", 4: "Four", 5: "Five", 6: "Six", 7: "Seven", 8: "Eight"}


Where = tuple[Sequence[str], Sequence[str]]
"""Sentences on what is not aligned with a change, and on what is."""


class Advice(NamedTuple):
    """What to type next."""

    changes: Sequence[str | None]
    """For each change, the command that shows it; None: none does, as the node's state files would stop the kubelet."""
    otherwise: str
    """The command where no change was found."""
    flags: Sequence[str] = ()
    """For each change, what differs in its command, or the setting as it stands in the file that was read."""


def changes_lines(
    config: KubeletConfig, told: ExplainedPod, advice: Advice, steps: Sequence[Sequence[Step]], *, wide: bool = False
) -> Iterator[Block]:
    """Tell all changes that were found, or that there is none, each with the command to type.

    Args:
        config: the settings as they are.
        told: the pod.
        advice: the commands.
        steps: for each change its parts, with why each is needed.
        wide: show each full command.
    """
    yield Paragraph()
    if not told.changes:
        yield Paragraph("No fix found. Tested: moving pods, other requests, other settings, and pairs of these.", 2)
        yield Paragraph("To compare every policy and scope, run:", 2)
        yield Command(advice.otherwise, 5)
        return
    placed = dict[tuple[str, ...], int]()
    yield from _badly_suited(told, [sum(len(step.changes) for step in each) for each in steps])
    again = "; repeat with the flag" * bool(advice.flags and not wide)
    yield Paragraph(f"{_how_ordered(told.changes)} (tested{again}):")
    for number, (change, after, command) in enumerate(
        zip(told.changes, told.after, advice.changes, strict=True), start=1
    ):
        where = _where(number, (change, after), told, placed)
        yield from _change(number, (change, after, steps[number - 1]), where, config, told)
        yield from (Note(f"warning: {text}", "warn", 5) for text in _warnings(change))
        yield from (Paragraph(text, 5) for text in aligned_first(change, told.alone[number - 1], told))
        if command is None:
            yield Note(NO_COMMAND, "dim", 5)
        else:
            yield Command(command if wide or not advice.flags else advice.flags[number - 1], 5)
    if text := " ".join(for_the_whole_node(told.changes, config)):
        yield Paragraph()
        yield Paragraph(text)


def _how_ordered(changes: Sequence[WayOut]) -> str:
    """Say what the order of changes goes by."""
    if len(changes) < 2:
        return "Fix"
    if len({change.needs_newcomers for change in changes}) > 1:
        return "Fixes, those that depend on another pod last"
    here = [change for change in changes if not change.machine and not change.hardware]  # other machines come last
    if any(change.machine and not change.example for change in changes):
        return "Fixes, the other machine first"
    return f"Fixes{_first(here)}"


def _first(here: Sequence[WayOut]) -> str:
    """Say what comes first of changes that are told in the order of `numalign.analysis.whatif.changes`."""
    groups: dict[tuple[bool, ...], set[bool]] = {}
    for change in here:
        key = (not change.keeps_devices, change.leaves_out, change.long)
        groups.setdefault(key, set()).add(bool(change.flags))
    settings = any(len(each) > 1 for each in groups.values())
    names = (", those that keep all devices first", ", those that remove nothing first", ", short ones first")
    for name, values in zip(names, zip(*groups, strict=True), strict=False):
        if len(set(values)) > 1:
            return name
    return ", pods before node settings" if settings else ", smallest loss first"


def _badly_suited(told: ExplainedPod, counts: Sequence[int]) -> Iterator[Block]:
    """Say so where only very many changes together do on this machine; name one that admits the pod as it is.

    `counts` has for each change of how many it consists.
    """
    every = zip(counts, told.changes, strict=True)
    here = [(count, change) for count, change in every if not change.machine and not change.hardware]
    fewest, least = min(here, key=lambda one: one[0], default=(0, None))
    if least is None or fewest < MANY_PARTS:
        return
    what = listed(list(dict.fromkeys(name for _, name in least.amounts)))
    elsewhere = ((number, one) for number, one in enumerate(told.changes, start=1) if one.machine)
    number, other = next(elsewhere, (0, None))
    better = f"Machine {other.machine} admits the pod unchanged (fix {number})." if other else "Use another machine."
    count = COUNTS.get(fewest, str(fewest)).lower()
    poor = f"This machine is a poor match: every fix found needs at least {count} changes ({what})."
    yield Note(f"{poor} {better}", "warn", 2)


def _change(
    number: int,
    one: tuple[WayOut, PodResult | None, Sequence[Step]],
    where: Where,
    config: KubeletConfig,
    told: ExplainedPod,
) -> Iterator[Block]:
    """Say what to do, why, and what becomes of the pod; of one setting and one container in one paragraph."""
    change, after, steps = one
    many, aligned = told.containers, aligned_then(change, after, told) + where_then(change, after, told)
    count = sum(len(step.changes) for step in steps)
    if count < 2:
        only = steps[0].changes[0] if steps else change
        yield Item(number, f"{what_text(only, config, many)}{aligned}", 2)
    else:
        yield Item(number, f"Make {COUNTS.get(count, str(count)).lower()} changes together{aligned}", 2)
    apart, rest = where
    for step in steps:
        texts = list(reason_lines(step, change))
        if count < 2 and many == 1 and change.flags:
            texts, apart, rest = [" ".join([*texts, *apart, *rest])], [], []
        if count > 1:
            yield from (Paragraph(f"- {_lower(what_text(each, config, many))}", 5) for each in step.changes)
        yield from (Paragraph(text, 7 if count > 1 else 5) for text in texts)
    if change.or_pods:
        others = few_of([pod.name for pod in change.or_pods], MAX_INSTEAD)
        yield Paragraph(f"Or move {'one of ' * (len(change.or_pods) > 1)}{others}.", 5)
    yield from (Paragraph(text, 5) for text in admitted_anew(change, told))
    yield from (Note(text, "warn", 5) for text in apart)
    yield from (Paragraph(text, 5) for text in rest)


def _where(
    number: int, one: tuple[WayOut, PodResult | None], told: ExplainedPod, said: dict[tuple[str, ...], int]
) -> Where:
    """Say where what lies that is not aligned with a change, and what is; `said` has where earlier ones leave it."""
    apart, rest = list(unaligned(*one, told.untied)), [*aligned_too(*one), *beside_the_cpus(*one)]
    first = said.setdefault((*apart, *rest), number)
    if first != number and apart and long([*apart, *rest]):
        return [f"NOT aligned as in fix {first}."], []
    return apart, rest


def _warnings(change: WayOut) -> Iterator[str]:
    """Say what goes wrong with a change; that nothing is left to share is about the pod, whichever container it is."""
    yield from (one.message for one in change.warnings if one.code != POOL_EMPTY)
    if any(one.code == POOL_EMPTY for one in change.warnings):
        yield "the shared pool is empty, and the kubelet would not restart. Request fewer CPUs."


def change_text(change: WayOut, config: KubeletConfig, after: PodResult | None, told: ExplainedPod) -> str:
    """Say what to change, and whether the pod is aligned with the change."""
    return f"{what_text(change, config, told.containers)}{aligned_then(change, after, told)}"


def what_text(change: WayOut, config: KubeletConfig, containers: int) -> str:
    """Say what to change."""
    parts: list[str] = []
    if change.machine:
        parts.append(f"Run the pod on {'another machine, such as' if change.example else 'machine'} {change.machine}")
    parts += [_hardware(flag, text) for flag, text in change.hardware]
    if change.flags:
        parts += settings_text(change, config)
    if change.amounts:
        parts += requests_text(change, containers, config)
    if change.pods:
        names = few_of([pod.name for pod in change.pods], MAX_PODS_NAMED)
        names += " (see -o wide)" * (len(change.pods) > MAX_PODS_NAMED)
        many = len(change.pods) != 1
        size = "the smallest set" if change.fewest else "one set that works; a smaller one may exist"
        who = f"pods {names}" if many else f"pod {names}"
        parts.append(f"Move {who} off the node" + (f" ({size})" if many else ""))
    return " and ".join([*parts[:1], *map(_lower, parts[1:])])


def _lower(order: str) -> str:
    """Begin an order inside a sentence."""
    return order[0].lower() + order[1:]


def _hardware(flag: str, text: str) -> str:
    """Say what the machine would have to have: `RESOURCE[@NODE]=N`, `SIZE[@NODE]=BYTES`; or a count of NUMA nodes."""
    if flag in ("nps", "snc"):
        return f"Set the firmware to {text} NUMA node{'s' * (text != '1')} a socket (NPS{text}, or SNC{text} on Intel)"
    what, _, amount = text.rpartition("=")
    name, _, node = what.partition("@")
    where = f"NUMA {node}" if node else "every NUMA node"
    if flag == "hugepages":
        return f"Reserve {bytes_text(int(amount))} of {name} huge pages on {where} at boot"
    return f"Put {amount} {name} on {where} of the machine"
