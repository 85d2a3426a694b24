"""Why the parts of changes are needed, line by line, and what other settings of the kubelet do, in words."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from numalign.analysis.reasons.asked import Asked
from numalign.analysis.reasons.change_facts import PodHolds, TooLittleThere
from numalign.analysis.reasons.facts import with_asked
from numalign.analysis.reasons.refusal import in_short
from numalign.analysis.reasons.shortage import no_others_count
from numalign.analysis.reasons.steps import Above, AsIn, Step, of_pods, of_the_state
from numalign.analysis.settings import (
    CPU_POLICY_OPTIONS,
    MEMORY_POLICY,
    POLICY,
    SCOPE,
    TOPOLOGY_POLICY_OPTIONS,
    switched,
)
from numalign.kubelet.cpu.checkpoint import FILE as CPU_FILE
from numalign.kubelet.memory.checkpoint import FILE as MEMORY_FILE
from numalign.model.quantity import NANO
from numalign.model.resources import CPU
from numalign.render.text.amounts import amount_text, listed, quantity_text
from numalign.render.text.words import reason_text, words
from numalign.render.text.words.pods import held_places

if TYPE_CHECKING:
    from numalign.analysis.refusal import Refusal
    from numalign.analysis.whatif.change import Part, WayOut
    from numalign.analysis.whatif.past import Anew, Held
    from numalign.kubelet.config import KubeletConfig
    from numalign.results.explain import ExplainedPod


LONG = 72
"""Texts of so many characters, about a line of a terminal, are told once."""

MANY_PODS = 4
"""So many pods that are moved are not named once more."""


def long(texts: Sequence[str]) -> bool:
    """Tell whether a text is so long that to look it up is quicker than to read it again."""
    return len(texts) > 1 or sum(map(len, texts)) > LONG


def reason_lines(step: Step, whole: WayOut) -> Iterator[str]:
    """Write why a part, or so many of them, are needed; what is free is told as it is without pods that are moved."""
    texts = list(map(reason_text, step.reasons))
    told = step.told if long(texts) else None
    reasons = () if told is not None else step.reasons
    head = _head(step)
    if whole.pods and not step.part.change.pods and any(of_the_state(one.fact) for one in reasons):
        names = listed([pod.name for pod in whole.pods]) if len(whole.pods) < MANY_PODS else "these pods"
        head = f"{head}, once {names} {'is' if len(whole.pods) == 1 else 'are'} gone"
    if told is not None:
        texts = [_referred(told)]
    elif step.part.change.pods:
        texts = list(_while_there(step, several=len(whole.parts) > 1))
    yield from (f"{'     ' if place else f'{head}: '}{text}" for place, text in enumerate(texts))
    if POLICY in step.part.change.flags and whole.too_strict:
        yield from (f"     {policy} {_still(one)}" for policy, one in whole.too_strict.items())


def _head(step: Step) -> str:
    """Write of how many containers it is told, and of which amount."""
    part, of = step.part, len(step.changes)
    whose = {1: "", 2: " both"}.get(of, f" all {of}")
    of_whom = f" of{whose}" * bool(whose)
    if part.larger and (not all(part.change.amounts.values()) or _to_whole_ones(part)):
        [(_, resource)] = part.change.amounts
        return f"why not even {amount_text(resource, part.larger // NANO)}{of_whom}"
    if part.larger:
        return f"why no more{of_whom}{_next_cores(part)}"
    return f"why{whose}{_next_cores(part)}"


def _referred(told: Above | AsIn) -> str:
    """Say where a reason is told, and of a setting what it does about it."""
    if isinstance(told, AsIn):
        return f"as in {told.number}."
    of = f" of {listed(told.resources)}" if told.resources else ""
    return "; ".join([f"as told above{of}", *map(words, told.effects)])


def _while_there(step: Step, *, several: bool) -> Iterator[str]:
    """Say of what follows what pods to move hold that it is so as long as they stay, where that is not said of each."""
    pods, facts = step.part.change.pods, [one.fact for one in step.reasons]
    told = any(isinstance(one, TooLittleThere) or (isinstance(one, PodHolds) and one.stays) for one in facts)
    for one in step.reasons:
        held = of_pods(one.fact)
        text = reason_text(one._replace(fact=with_asked(one.fact, _below)) if several else one)
        yield text if told or held else f"as long as {'it stays' if len(pods) == 1 else 'they stay'}: {text}"
        told = told or not held


def _below(asked: Asked) -> Asked:
    """Tell that what is asked is cut below: pods to move come first."""
    return asked._replace(reduced="below" if asked.reduced else "")


def _still(refusal: Refusal) -> str:
    """Say what becomes of a pod under a policy that does not do, and why."""
    if refusal.crash is not None:
        return f"{'hangs' if refusal.stage == 'hang' else 'crashes'} the kubelet, too"
    return f"still refuses it{_in_a_word(refusal)}"


def _in_a_word(refusal: Refusal) -> str:
    """Say why a policy refuses a pod, as short as can be."""
    rows = {row.resource: row.width for row in refusal.culprits}
    joint = refusal.around.joint
    together = [f"{listed(list(joint.resources))} together take {joint.width}"] if joint is not None else []
    rows = {name: width for name, width in rows.items() if joint is None or name not in joint.resources}
    if refusal.stage == "policy" and (together or len(set(rows.values())) > 1):
        few = [name for name, width in rows.items() if width == 1]
        many = [*(f"{name} takes {width}" for name, width in rows.items() if width > 1), *together]
        return f": {listed(few)} {'fits' if len(few) == 1 else 'fit'} one node, {listed(many)}" if few else ""
    if refusal.stage == "policy" and len(rows) == 1:
        [(name, width)] = rows.items()
        return f": it takes {name} from {'one node' if width == 1 else f'{width} nodes'} only"
    if refusal.stage == "merge":
        return f": {listed(list(rows))} are not free on the same nodes"
    if refusal.stage == "allocation" and rows:
        return f": the nodes chosen cannot give it {listed(list(rows))}"
    unknown = [
        row.resource for row in refusal.culprits if row.loose is not None and no_others_count(row, row.loose, refusal)
    ]
    return f": it counts no {listed(unknown)} of an unknown node, either" if unknown else ""


def _to_whole_ones(part: Part) -> bool:
    """Tell whether a part asks for a share of a CPU, and more would be whole ones."""
    shares = any(key[1] == CPU and nano % NANO for key, nano in part.change.amounts.items())
    return shares and not part.larger % NANO and len(part.change.amounts) == 1 and part.change.own_cpus


def _next_cores(part: Part) -> str:
    """Name the next larger number of CPUs where only whole cores are given out; that may be what is asked."""
    keys, cores = list(part.change.amounts), part.change.cores
    if len(keys) != 1 or keys[0][1] != CPU or cores < 2:
        return ""
    nano, asked = part.change.amounts[keys[0]], part.change.asked[keys[0]]
    if nano % NANO:
        return ""
    if not part.larger and asked - nano != cores * NANO:
        return ""
    return f" (the next whole core makes {quantity_text(part.larger or asked)})"


MAX_PODS_NAMED = 4
"""How many pods are named that get something else under other settings."""

STRICT = "strict-cpu-reservation"

ELSEWHERE = "other CPUs, devices or nodes then: the table shows today's places"
"""What pods get that are admitted anew under other settings."""


def settings_text(change: WayOut, config: KubeletConfig) -> Iterator[str]:
    """Say what to set, each by the kubelet's own flag, and what is set now."""
    for flag, text in change.flags.items():
        if flag in (CPU_POLICY_OPTIONS, TOPOLOGY_POLICY_OPTIONS):
            yield from (f"set {name}={value} in --{flag}" for name, value in switched(flag, text, config))
            continue
        now = {POLICY: config.topology_manager_policy, SCOPE: config.topology_manager_scope}
        now[MEMORY_POLICY] = config.memory_manager_policy
        yield f"set --{flag} {text}" + (f" (now {now[flag]})" if flag in now else "")


def admitted_anew(change: WayOut, told: ExplainedPod) -> Iterator[str]:
    """Say what other settings do to the pods before: they were admitted anew under them when the change was tried."""
    if change.anew is None:
        return
    asked = {row.resource for table in told.matrices for row in table.rows}
    short = set(told.refusal.resources) if told.refusal is not None else set()
    for one in change.anew.rivals:
        first = f"only while {one.name}, refused so far, stays away: if it were started before this pod, it would be"
        hold = _hold(one, short & {each.resource for each in one.amounts} or asked, "hold")
        yield f"{first} admitted{hold}{'; this pod is refused then' * (len(change.anew.rivals) == 1)}"
    for one in change.anew.newcomers:
        if change.needs_newcomers:
            first = f"only if {one.name}, refused so far, is started before this pod: it is admitted then"
            yield f"{first}{_hold(one, asked, 'holds')}"
            continue
        hold = _hold(one, asked, "hold")
        yield f"after the restart {one.name}, refused so far, would be admitted if it is started before this pod{hold}"
    yield from _without_them(change.anew)
    for name, cpus, then in change.anew.fewer:
        why = "its containers take over more of what its init containers had"
        yield f"{name} holds {then} cpu then instead of {cpus}: {why}"
    if change.anew.moved:
        names = change.anew.moved[:MAX_PODS_NAMED]
        more = len(change.anew.moved) - len(names)
        who = listed([*names, *([f"{more} more"] if more else [])])
        yield f"{who} {'get' if len(change.anew.moved) > 1 else 'gets'} {ELSEWHERE}"


def _without_them(fare: Anew) -> Iterator[str]:
    """Say what comes where the pods that have to be admitted first are not there."""
    if fare.otherwise is None:
        return
    without, short = f"without {listed([one.name for one in fare.newcomers])}", set(fare.otherwise.resources)
    for one in fare.instead:
        first = f"{without} {one.name}, refused so far, is admitted first{_hold(one, short, 'holds')}"
        yield f"{first}: this pod is refused then"
    if not fare.instead:
        yield f"{without} this pod is refused: {next(map(words, in_short(fare.otherwise)), fare.otherwise.reason)}"


def _hold(one: Held, asked: Collection[str], verb: str) -> str:
    """Say what a pod would hold of what the refused one asks for: `, and hold 1 nvidia.com/gpu on node 0`."""
    held = [each for each in one.amounts if each.resource in asked]
    return f", and {verb} {held_places(held)}" if held else ""


def for_the_whole_node(changes: Sequence[WayOut], config: KubeletConfig) -> Iterator[str]:
    """Say what it takes to change settings of a kubelet, where a change does (docs/rules/kubelet-files.md 12, 17)."""
    numbers = [number for number, change in enumerate(changes, start=1) if change.flags]
    if not numbers:
        return
    which, one = listed([f"{number}." for number in numbers]), len(numbers) == 1
    yield f"{'A setting' if one else 'Settings'} of the kubelet ({which}) hold{'s' * one} for every pod of the node:"
    files = {number: stale_files(change, config) for number, change in enumerate(changes, start=1)}
    delete = [
        f"delete {listed(names)} in its root directory{f' (for {number}.)' * (not one)}, "
        for number, names in files.items()
        if names
    ]
    first = f"to change {'it' if one else 'them'}, drain the node, stop the kubelet, change its configuration"
    yield f"{first}, {''.join(delete)}start it again"


def stale_files(change: WayOut, config: KubeletConfig) -> list[str]:
    """Name the state files with which a kubelet does not start under other settings (docs/rules/cpu-manager.md 4.6)."""
    options = dict(switched(CPU_POLICY_OPTIONS, change.flags.get(CPU_POLICY_OPTIONS, ""), config))
    return [CPU_FILE] * (STRICT in options) + [MEMORY_FILE] * (MEMORY_POLICY in change.flags)
