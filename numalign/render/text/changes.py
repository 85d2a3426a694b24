"""What would admit a refused pod, in words: what to change, what becomes of the pod then, what to type to see it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from numalign.analysis.settings import CPU_POLICY_OPTIONS, options_on
from numalign.kubelet.cpu.allocate import POOL_EMPTY
from numalign.model.quantity import NANO
from numalign.model.resources import CPU
from numalign.model.words import few_of
from numalign.render.page.document import Block, Command, Item, Note, Paragraph
from numalign.render.text.aligned_then import (
    NOT_ALIGNED,
    aligned_first,
    aligned_then,
    aligned_too,
    beside_the_cpus,
    unaligned,
    where_then,
)
from numalign.render.text.amounts import (
    amount_text,
    as_asked_text,
    bytes_text,
    like_asked,
    listed,
    readable_text,
)
from numalign.render.text.reasons import admitted_anew, for_the_whole_node, long, reason_lines, settings_text
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

NO_COMMAND = "no command shows it: with the node's state files as they are the kubelet would not start so (see below)"

COUNTS = {2: "Two", 3: "Three", 4: "Four", 5: "Five", 6: "Six", 7: "Seven", 8: "Eight"}


class Advice(NamedTuple):
    """What to type next."""

    changes: Sequence[str | None]
    """For each change, the command that shows it; None: none does, as the node's state files would stop the kubelet."""
    otherwise: str
    """The command where no change was found."""


def changes_lines(
    config: KubeletConfig, told: ExplainedPod, advice: Advice, steps: Sequence[Sequence[Step]]
) -> Iterator[Block]:
    """Tell all changes that were found, or that there is none, each with the command to type.

    Args:
        config: the settings as they are.
        told: the pod.
        advice: the commands.
        steps: for each change its parts, with why each is needed.
    """
    yield Paragraph()
    if not told.changes:
        yield Paragraph(
            "Nothing that was tried admits it: pods moved away, other requests, settings, nor two of these together.", 2
        )
        yield Paragraph("To see it under every policy and scope:", 2)
        yield Command(advice.otherwise, 5)
        return
    placed = dict[tuple[str, ...], int]()
    yield from _badly_suited(told, [sum(len(step.changes) for step in each) for each in steps])
    yield Paragraph(f"{_how_ordered(told.changes)}:", 2)
    for number, (change, after, command) in enumerate(
        zip(told.changes, told.after, advice.changes, strict=True), start=1
    ):
        yield from _change(number, (change, after, steps[number - 1]), config, told)
        yield from _where(number, (change, after), told, placed)
        yield from (Paragraph(text, 5) for text in aligned_first(change, told.alone[number - 1], told))
        yield Note(NO_COMMAND, "dim", 5) if command is None else Command(command, 5)
    for text in for_the_whole_node(told.changes, config):
        yield Paragraph(text, 2)


def _how_ordered(changes: Sequence[WayOut]) -> str:
    """Say what the order of changes goes by."""
    if len(changes) < 2:
        return "This admits it (tried)"
    if len({change.needs_newcomers for change in changes}) > 1:
        return "Each of these admits it (tried; last what depends on another pod)"
    here = [change for change in changes if not change.machine and not change.hardware]  # other machines come last
    machine = any(change.machine and not change.example for change in changes)
    return f"Each of these admits it (tried; first {'the other machine, then ' * machine}{_first(here)})"


def _first(here: Sequence[WayOut]) -> str:
    """Say what comes first of changes that are told in the order of `numalign.analysis.whatif.changes`."""
    groups: dict[tuple[bool, ...], set[bool]] = {}
    for change in here:
        key = (not change.keeps_devices, change.leaves_out, change.long)
        groups.setdefault(key, set()).add(bool(change.flags))
    settings = any(len(each) > 1 for each in groups.values())
    names = ("what keeps all devices", "what leaves nothing out", "what takes few changes")
    for name, values in zip(names, zip(*groups, strict=True), strict=False):
        if len(set(values)) > 1:
            return f"{name}{', pods before settings of the node' * settings}"
    return "what changes pods, then settings of the node" if settings else "what gives up least"


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
    better = (
        f"machine {other.machine} admits it as it is (see {number}.)" if other else "another machine would be better"
    )
    count = COUNTS.get(fewest, str(fewest)).lower()
    yield Note(f"This machine suits this pod badly: no way with fewer than {count} changes was found", "warn", 2)
    yield Note(f"({what}); {better}", "warn", 2)


def _change(
    number: int, one: tuple[WayOut, PodResult | None, Sequence[Step]], config: KubeletConfig, told: ExplainedPod
) -> Iterator[Block]:
    change, after, steps = one
    many, aligned = told.containers, aligned_then(change, after, told) + where_then(change, after, told)
    count = sum(len(step.changes) for step in steps)
    if count < 2:
        only = steps[0].changes[0] if steps else change
        yield Item(number, f"{what_text(only, config, many)}{aligned}", 2)
    else:
        yield Item(number, f"{COUNTS.get(count, str(count))} changes together{aligned}", 2)
    for step in steps:
        if count > 1:
            yield from (Paragraph(f"- {what_text(each, config, many)}", 5) for each in step.changes)
        yield from (Paragraph(text, 7 if count > 1 else 5) for text in reason_lines(step, change))
    if change.or_pods:
        others = few_of([pod.name for pod in change.or_pods], MAX_INSTEAD)
        yield Paragraph(f"to move {'one of ' * (len(change.or_pods) > 1)}{others} instead would do, too", 5)
    for text in admitted_anew(change, told):
        yield Paragraph(text, 5)


def _where(
    number: int, one: tuple[WayOut, PodResult | None], told: ExplainedPod, said: dict[tuple[str, ...], int]
) -> Iterator[Block]:
    """Say where what lies that is not aligned with a change, and warn; `said` has where earlier ones leave it."""
    apart, rest = list(unaligned(*one, told.untied)), [*aligned_too(*one), *beside_the_cpus(*one)]
    first = said.setdefault((*apart, *rest), number)
    if first != number and apart and apart[0].startswith(NOT_ALIGNED) and long([*apart, *rest]):
        apart, rest = [f"{NOT_ALIGNED}as in {first}."], []
    yield from (Note(text, "warn", 5) for text in apart)
    yield from (Paragraph(text, 5) for text in rest)
    for text in _warnings(one[0]):
        yield Note(f"warning: {text}", "warn", 5)


def _warnings(change: WayOut) -> Iterator[str]:
    """Say what goes wrong with a change; that nothing is left to share is about the pod, whichever container it is."""
    yield from (one.message for one in change.warnings if one.code != POOL_EMPTY)
    if any(one.code == POOL_EMPTY for one in change.warnings):
        yield "no CPU is left to share then, and the kubelet would not start again: ask for fewer CPUs to leave one"


def change_text(change: WayOut, config: KubeletConfig, after: PodResult | None, told: ExplainedPod) -> str:
    """Say what to change, and whether the pod is aligned then."""
    return f"{what_text(change, config, told.containers)}{aligned_then(change, after, told)}"


def what_text(change: WayOut, config: KubeletConfig, containers: int) -> str:
    """Say what to change."""
    parts: list[str] = []
    if change.machine:
        parts.append(f"run it on {'a machine such as' if change.example else 'machine'} {change.machine}")
    parts += [_hardware(flag, text) for flag, text in change.hardware]
    if change.flags:
        parts += settings_text(change, config)
    if change.amounts:
        parts += _requests(change, containers, config)
    if change.pods:
        more = len(change.pods) - MAX_PODS_NAMED
        names = ", ".join(pod.name for pod in change.pods[:MAX_PODS_NAMED])
        names += f" and {more} more, which the command names" if more > 0 else ""
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


def _requests(change: WayOut, containers: int, config: KubeletConfig) -> Iterator[str]:
    """Say what to ask for instead, and what to leave out; who asks for the same of a resource is told together.

    Whole CPUs are cut to whole CPUs, also where none are pinned: a share of one more might do, so that is not the most.
    """
    pinned = config.cpu_manager_policy != "none"
    cores_only = change.own_cpus and "full-pcpus-only" in options_on(config) and CPU_POLICY_OPTIONS not in change.flags
    single = pinned and cores_only and change.cores == 1 and not change.machine
    whose: dict[tuple[str, int, int], list[str]] = {}
    less, left_out = [_in_all(change, keys) for keys in change.together], []
    alone = {key: nano for key, nano in change.amounts.items() if not any(key in keys for keys in change.together)}
    for (container, resource), nano in alone.items():
        whose.setdefault((resource, nano, change.asked[container, resource]), []).append(container)
    for (resource, nano, asked), names in whose.items():
        where = f" in {_containers(names)}" if containers > 1 else ""
        if not nano:
            left_out.append(f"{resource}{_or_in(change, names, resource) * (containers > 1)}")
            continue
        share = bool(resource == CPU and nano % NANO and not asked % NANO)
        whole = resource == CPU and not (share or nano % NANO) and (change.cores > 1 or not (pinned or asked % NANO))
        most = "at most " * (nano < asked and not whole)
        named, own = f" {resource}", ""
        if share and pinned and change.own_cpus:
            most, named, own = "a share of a cpu, such as ", ",", " (no CPUs of its own then)"
        # 26214Mi (25.6Gi) is no change of 25.6Gi to look at
        say = as_asked_text if asked % NANO else partial(readable_text, down=True)
        other = [f"{say(resource, one)} or " for (name, _), one in change.or_else.items() if name in names]
        now, old = like_asked(resource, nano, asked)
        now, old = now or say(resource, nano), old or readable_text(resource, asked)
        more = "more: " * (nano > asked and not asked % (change.cores * NANO))
        ask = f"{more}{''.join(other[:1])}{now}{named}"
        odd = " (a core has 1 thread here)" * (single and resource == CPU and nano // NANO % 2 and not nano % NANO)
        less.append(f"{most}{ask} instead of {old}{where}{odd}{own}")
    if less:
        yield "ask for " + " and ".join(less)
    if left_out:
        yield "leave out " + " and ".join(left_out)


def _or_in(change: WayOut, names: Sequence[str], resource: str) -> str:
    """Name the container that leaves a resource out, and those that may do so instead."""
    others = change.or_in.get((names[0], resource), ()) if len(names) == 1 else ()
    asked = change.asked[names[0], resource]
    same = sorted([*names, *(name for name, kept in others if kept == asked)])
    fewer = "; ".join(
        f"or in {name}: {names[0]} may ask for {amount_text(resource, kept // NANO)} then"
        for name, kept in others
        if kept < asked
    )
    keeps = " (the other may keep it)" if len(same) == 2 else " (the others may keep it)"
    where = _containers(names) if len(same) == len(names) else f"container {' or '.join(same)}{keeps}"
    return f" in {where}{f' ({fewer})' * bool(fewer)}"


def _in_all(change: WayOut, keys: Sequence[tuple[str, str]]) -> str:
    """Say what containers may ask for together, and one way to share it."""
    resource, names = keys[0][1], [name for name, _ in keys]
    total = readable_text(resource, sum(map(change.ask, keys)), down=True)
    shares = []
    for key in keys:
        instead = f"instead of {readable_text(resource, change.asked[key])}" if key in change.amounts else "as it is"
        shares.append(f"{readable_text(resource, change.ask(key), down=True)} {instead} in {key[0]}")
    return f"at most {total} {resource} in {listed(names)} together, for example {listed(shares)}"


def _containers(names: Sequence[str]) -> str:
    """Name containers of which the same is told: `container a`, `each of a and b`."""
    return f"container {names[0]}" if len(names) == 1 else f"each of {listed(names)}"
