"""What would admit a refused pod, in words: what to change, why each part is needed, what to type to see it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from numalign.analysis.whatif.settings import CPU_POLICY_OPTIONS, POLICY, SCOPE, TOPOLOGY_POLICY_OPTIONS
from numalign.model.quantity import NANO
from numalign.model.resources import CPU
from numalign.render.page.document import Line
from numalign.render.text.amounts import amount_text, as_asked_text, bytes_text, listed, nodes_text, quantity_text
from numalign.render.text.because import bare, because, unaligned
from numalign.render.text.refusal.why import why
from numalign.values import NamedTuple

if TYPE_CHECKING:
    from numalign.analysis.whatif.change import Part, WayOut
    from numalign.kubelet.config import KubeletConfig
    from numalign.results.admit import PodResult
    from numalign.results.explain import ExplainedPod

MAX_CONTAINERS_PLACED = 4
"""Of how many containers the nodes are told apart; of more none are."""

MANY_PARTS = 5
"""Where no fewer changes will do, a machine suits a pod badly."""

MAX_PODS_NAMED = 4
"""How many pods are named that get something else under other settings."""

ELSEWHERE = "other CPUs, devices or nodes than now: the table is about now"
"""What pods get that are admitted anew under other settings."""

COUNTS = {2: "Two", 3: "Three", 4: "Four", 5: "Five", 6: "Six", 7: "Seven", 8: "Eight"}


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
    yield from _badly_suited(told)
    yield Line("  Each of these admits it (tried, the nearest first):")
    for number, (change, after, command) in enumerate(
        zip(told.changes, told.after, advice.changes, strict=True), start=1
    ):
        yield from _change(number, change, after, config, told)
        yield Line(f"     {command}", "dim")


def _badly_suited(told: ExplainedPod) -> Iterator[Line]:
    """Say so where only very many changes together do on this machine; name one that admits the pod as it is."""
    here = [change for change in told.changes if not change.machine and not change.hardware]
    least = min(here, key=lambda change: len(change.parts), default=None)
    if least is None or len(least.parts) < MANY_PARTS:
        return
    what = listed(list(dict.fromkeys(name for _, name in least.amounts)))
    elsewhere = ((number, one) for number, one in enumerate(told.changes, start=1) if one.machine)
    number, other = next(elsewhere, (0, None))
    better = (
        f"machine {other.machine} admits it as it is (see {number}.)" if other else "another machine would be better"
    )
    count = COUNTS.get(len(least.parts), str(len(least.parts))).lower()
    yield Line(f"  This machine suits this pod badly: no way with fewer than {count} changes was found", "warn")
    yield Line(f"  ({what}); {better}", "warn")


def _change(
    number: int, change: WayOut, after: PodResult | None, config: KubeletConfig, told: ExplainedPod
) -> Iterator[Line]:
    many, aligned = told.containers, ALIGNED[change.aligned] + _where(change, after, told)
    if (
        change.aligned is None
        and after is not None
        and any(one.alignment.verdict == "unknown" for one in after.containers)
    ):
        aligned = "; aligned or not, nobody knows then"
    elif after is not None and all(one.alignment.verdict == "none" for one in after.containers):
        aligned = "; it has nothing to align then"
    if len(change.parts) < 2:
        yield Line(f"  {number}. {what_text(change, config, many)}{aligned}")
        for part in change.parts:
            yield from _reason("     ", part, because(part, told.refusal, after))
    else:
        count = COUNTS.get(len(change.parts), str(len(change.parts)))
        yield Line(f"  {number}. {count} changes together{aligned}")
        known = set(map(bare, why(told.refusal))) if told.refusal else set()
        here: set[str] = set()
        for part in change.parts:
            sentences = because(part, told.refusal, after)
            yield Line(f"     - {what_text(part.change, config, many)}")
            new = [one for one in sentences if bare(one) not in known | here]
            if _leaves_out(part) and not here.issuperset(map(bare, sentences)):
                new = sentences  # who is to do without something wants to see the numbers right there
            yield from _reason("       ", part, new or list(_holding(part)) or ["said above"])
            here.update(map(bare, sentences))
    for text in _anew(change, told):
        yield Line(f"     {text}")
    for text in unaligned(change, after, config):
        yield Line(f"     {text}", "warn")


def _leaves_out(part: Part) -> bool:
    """Tell whether a part leaves a resource out."""
    return not all(part.change.amounts.values())


def _holding(part: Part) -> Iterator[str]:
    """Say what pods to move hold of what is in the way."""
    names = set(part.otherwise.resources) if part.otherwise else set()
    texts = []
    for one in part.held[:MAX_PODS_NAMED]:
        held = [f"{amount_text(name, amount)} {name}" for name, amount in one.amounts if name in names]
        if held:
            texts.append(f"{one.name} holds {listed(held)}")
    if texts:
        yield ", ".join(texts) + ", …" * (len(part.held) > MAX_PODS_NAMED)


def _anew(change: WayOut, told: ExplainedPod) -> Iterator[str]:
    """Say what other settings do to the pods before: they were admitted anew under them when the change was tried."""
    if change.anew is None:
        return
    asked = {row.resource for table in told.matrices for row in table.rows}
    for one in change.anew.newcomers:
        held = [f"{amount_text(name, amount)} {name}" for name, amount in one.amounts if name in asked]
        holds = f" and holds {listed(held)}" if held else ""
        yield f"with that setting {one.name}, refused before, is admitted before this pod{holds}"
    if change.anew.moved:
        names = change.anew.moved[:MAX_PODS_NAMED]
        more = len(change.anew.moved) - len(names)
        who = listed([*names, *([f"{more} more"] if more else [])])
        yield f"with that setting {who} {'get' if len(change.anew.moved) > 1 else 'gets'} {ELSEWHERE}"


def _where(change: WayOut, after: PodResult | None, told: ExplainedPod) -> str:
    """Name the nodes of an aligned pod, where there are several to choose from."""
    one_node = bool(told.matrices) and len(told.matrices[0].nodes) == 1
    if not change.aligned or after is None or change.machine or one_node:
        return ""
    nodes = {one.name: one.alignment.nodes for one in after.containers if one.alignment.aligned}
    if len(set(nodes.values())) == 1:
        return f", on {nodes_text(next(iter(nodes.values())))}"
    if len(nodes) > MAX_CONTAINERS_PLACED:
        return ""
    return f", {', '.join(f'{name} on {nodes_text(mask)}' for name, mask in nodes.items())}"


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


def change_text(change: WayOut, config: KubeletConfig, containers: int = 1) -> str:
    """Say what to change, and whether the pod is aligned then."""
    return f"{what_text(change, config, containers)}{ALIGNED[change.aligned]}"


ALIGNED: Mapping[bool | None, str] = {
    True: "; it is aligned then",
    False: "; it is NOT aligned then",
    None: "",
}


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
            share = resource == CPU and nano % NANO and not asked % NANO
            most = "only " if share else "at most " * (nano < asked)
            own = ", without CPUs of its own," if share else ""
            less.append(
                f"{most}{quantity_text(nano)} {resource}{own} instead of {as_asked_text(resource, asked)}{where}"
            )
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
