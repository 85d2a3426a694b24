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
    CPU_POLICY,
    CPU_POLICY_OPTIONS,
    GATES,
    MEMORY_POLICY,
    POLICY,
    RESERVED_CPUS,
    SCOPE,
    TOPOLOGY_POLICY_OPTIONS,
    switched,
)
from numalign.kubelet.cpu.checkpoint import FILE as CPU_FILE
from numalign.kubelet.memory.checkpoint import FILE as MEMORY_FILE
from numalign.model.quantity import NANO
from numalign.model.resources import CPU
from numalign.render.text.amounts import amount_text, listed, nodes_count, quantity_text
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
    told = step.told if isinstance(step.told, Above) or long(texts) else None
    reasons = () if told is not None else step.reasons
    head = _head(step)
    if whole.pods and not step.part.change.pods and any(of_the_state(one.fact) for one in reasons):
        names = listed([pod.name for pod in whole.pods]) if len(whole.pods) < MANY_PODS else "these pods"
        head = ": ".join(filter(None, [f"Without {names}", head]))
    if told is not None:
        texts = [_referred(told)]
    elif step.part.change.pods:
        texts = list(_while_there(step, several=len(whole.parts) > 1))
    yield from (f"{f'{head}: ' * bool(head and not place)}{text}" for place, text in enumerate(texts) if text)
    if POLICY in step.part.change.flags and whole.too_strict:
        yield from (f"{policy} {_still(one)}." for policy, one in whole.too_strict.items())


def _head(step: Step) -> str:
    """Write of how many containers it is told, and of which amount."""
    part, of = step.part, len(step.changes)
    whose = {1: "", 2: " both"}.get(of, f" all {of}")
    of_whom = f" of{whose}" * bool(whose)
    if part.larger and (not all(part.change.amounts.values()) or _to_whole_ones(part)):
        [(_, resource)] = part.change.amounts
        return f"Not even {amount_text(resource, part.larger // NANO)}{of_whom}"
    if part.larger:
        return f"Limit{of_whom}{_next_cores(part)}"
    return f"{whose.strip().capitalize()}{_next_cores(part)}".strip()


def _referred(told: Above | AsIn) -> str:
    """Say where a reason is told, and of a setting what it does about it."""
    if isinstance(told, AsIn):
        return f"same reason as fix {told.number}"
    return " ".join(map(words, told.effects))


def _while_there(step: Step, *, several: bool) -> Iterator[str]:
    """Say of what follows what pods to move hold that it is so as long as they stay, where that is not said of each."""
    pods, facts = step.part.change.pods, [one.fact for one in step.reasons]
    told = any(isinstance(one, TooLittleThere) or (isinstance(one, PodHolds) and one.stays) for one in facts)
    for one in step.reasons:
        held = of_pods(one.fact)
        text = reason_text(one._replace(fact=with_asked(one.fact, _below)) if several else one)
        who = f"{pods[0].name} stays" if len(pods) == 1 else "these pods stay"
        yield text if told or held else f"While {who}: {text}"
        told = told or not held


def _below(asked: Asked) -> Asked:
    """Tell that what is asked is cut below: pods to move come first."""
    return asked._replace(reduced="below" if asked.reduced else "")


def _still(refusal: Refusal) -> str:
    """Say what becomes of a pod under a policy that does not do, and why."""
    if refusal.crash is not None:
        return f"also {'hangs' if refusal.stage == 'hang' else 'crashes'} the kubelet"
    return f"also rejects{_in_a_word(refusal) or ' the pod'}"


def _in_a_word(refusal: Refusal) -> str:
    """Say why a policy refuses a pod, as short as can be."""
    rows = {row.resource: row.width for row in refusal.culprits}
    joint = refusal.around.joint
    together = [f"{listed(list(joint.resources))} together need {joint.width}"] if joint is not None else []
    rows = {name: width for name, width in rows.items() if joint is None or name not in joint.resources}
    if refusal.stage == "policy" and (together or len(set(rows.values())) > 1):
        few = [name for name, width in rows.items() if width == 1]
        many = [*(f"{name} needs {width}" for name, width in rows.items() if width > 1), *together]
        return f": {listed(few)} {'fits' if len(few) == 1 else 'fit'} on 1 NUMA node, {listed(many)}" if few else ""
    if refusal.stage == "policy" and len(rows) == 1:
        [(name, width)] = rows.items()
        return f", taking {name} from {nodes_count(width)} only"
    if refusal.stage == "merge":
        return f": {listed(list(rows))} are not free on the same NUMA nodes"
    if refusal.stage == "allocation" and rows:
        return f": too little {listed(list(rows))} on the chosen NUMA nodes"
    unknown = [
        row.resource for row in refusal.culprits if row.loose is not None and no_others_count(row, row.loose, refusal)
    ]
    return f": {listed(unknown)} with an unknown NUMA node do not count" if unknown else ""


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
    return f" (next whole core: {quantity_text(part.larger or asked)})"


MAX_PODS_NAMED = 4
"""How many pods are named that get something else under other settings."""

STRICT = "strict-cpu-reservation"

SETTINGS = {
    POLICY: "the policy",
    SCOPE: "the scope",
    CPU_POLICY: "cpuManagerPolicy",
    RESERVED_CPUS: "reservedSystemCPUs",
    MEMORY_POLICY: "memoryManagerPolicy",
    GATES: "feature gate",
}
"""Flag -> how a setting is called."""

ELSEWHERE = "other CPUs, devices or NUMA nodes"
"""What pods get that are admitted anew under other settings."""


def settings_text(change: WayOut, config: KubeletConfig) -> Iterator[str]:
    """Say what to set, each by the kubelet's own flag, and what is set now."""
    for flag, text in change.flags.items():
        if flag in (CPU_POLICY_OPTIONS, TOPOLOGY_POLICY_OPTIONS):
            yield from (f"Set option {name} to {value}" for name, value in switched(flag, text, config))
            continue
        now = {POLICY: config.topology_manager_policy, SCOPE: config.topology_manager_scope}
        now |= {MEMORY_POLICY: config.memory_manager_policy, CPU_POLICY: config.cpu_manager_policy}
        yield f"Set {SETTINGS.get(flag, flag)} to {text}" + (f" (now {now[flag]})" if flag in now else "")


def admitted_anew(change: WayOut, told: ExplainedPod) -> Iterator[str]:
    """Say what other settings do to the pods before: they were admitted anew under them when the change was tried."""
    if change.anew is None:
        return
    asked = {row.resource for table in told.matrices for row in table.rows}
    short = set(told.refusal.resources) if told.refusal is not None else set()
    for one in change.anew.rivals:
        hold = _hold(one, short & {each.resource for each in one.amounts} or asked)
        yield f"Valid only if {one.name} (rejected so far) does not start before this pod{hold}."
    for one in change.anew.newcomers:
        if change.needs_newcomers:
            yield f"Valid only if {one.name} (rejected so far) starts before this pod{_hold(one, asked)}."
            continue
        yield f"If {one.name} (rejected so far) starts before this pod, the kubelet admits both."
        if held := [each for each in one.amounts if each.resource in asked]:
            yield f"{one.name} would hold {held_places(held)}."
    yield from _without_them(change.anew)
    for name, cpus, then in change.anew.fewer:
        yield f"{name} would hold {then} CPUs (now {cpus}): containers reuse more CPUs of init containers."
    if change.anew.moved:
        names = change.anew.moved[:MAX_PODS_NAMED]
        more = len(change.anew.moved) - len(names)
        who = listed([*names, *([f"{more} more"] if more else [])])
        yield f"After the restart {who} {'get' if len(change.anew.moved) > 1 else 'gets'} {ELSEWHERE}."


def _without_them(fare: Anew) -> Iterator[str]:
    """Say what comes where the pods that have to be admitted first are not there."""
    if fare.otherwise is None:
        return
    without, short = f"Without {listed([one.name for one in fare.newcomers])},", set(fare.otherwise.resources)
    for one in fare.instead:
        first = f"{without} {one.name} (rejected so far) starts first{_hold(one, short)},"
        yield f"{first} and the kubelet rejects this pod."
    if not fare.instead:
        why = next(map(words, in_short(fare.otherwise)), fare.otherwise.reason)
        yield f"{without} the kubelet rejects this pod: {why}"


def _hold(one: Held, asked: Collection[str]) -> str:
    """Say what a pod would hold of what the rejected one requests: ` (holds 1 nvidia.com/gpu on NUMA 0)`."""
    held = [each for each in one.amounts if each.resource in asked]
    return f" (holds {held_places(held)})" if held else ""


def for_the_whole_node(changes: Sequence[WayOut], config: KubeletConfig) -> Iterator[str]:
    """Say what it takes to change settings of a kubelet, where a change does (docs/rules/kubelet-files.md 12, 17)."""
    numbers = [number for number, change in enumerate(changes, start=1) if change.flags]
    if not numbers:
        return
    which, one = listed(list(map(str, numbers))), len(numbers) == 1
    verb = f"Fix {which} affects" if one else f"Fixes {which} affect"
    files = {number: stale_files(change, config) for number, change in enumerate(changes, start=1)}
    yield f"{verb} all pods: drain the node, change the setting, restart the kubelet."
    for number, names in files.items():
        if names:
            which = "" if one else f" with fix {number}"
            yield f"Before the kubelet starts{which}, delete {listed(names)} in its root directory."


def stale_files(change: WayOut, config: KubeletConfig) -> list[str]:
    """Name the state files with which a kubelet does not start under other settings (docs/rules/cpu-manager.md 4.6)."""
    options = dict(switched(CPU_POLICY_OPTIONS, change.flags.get(CPU_POLICY_OPTIONS, ""), config))
    return [CPU_FILE] * (STRICT in options or CPU_POLICY in change.flags) + [MEMORY_FILE] * (
        MEMORY_POLICY in change.flags
    )


def field_text(flag: str, text: str) -> str:
    """Write a setting as a KubeletConfiguration has it: `topologyManagerPolicy: best-effort`."""
    first, *rest = flag.split("-")
    pairs = ", ".join(f'{name}: "{on}"' for name, _, on in (pair.partition("=") for pair in text.split(",")))
    name = first + "".join("CPUs" if one == "cpus" else one.capitalize() for one in rest)
    return f"{name}: {f'{{{pairs}}}' if '=' in text else text}"
