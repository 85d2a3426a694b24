"""Other settings of the kubelet in words: what to set, what it does, and what it means for the node's other pods."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from numalign.analysis.whatif.settings import (
    CPU_POLICY_OPTIONS,
    MEMORY_POLICY,
    POLICY,
    SCOPE,
    TOPOLOGY_POLICY_OPTIONS,
)
from numalign.kubelet.cpu.checkpoint import FILE as CPU_FILE
from numalign.kubelet.memory.checkpoint import FILE as MEMORY_FILE
from numalign.render.text.amounts import listed
from numalign.render.text.held import held_places
from numalign.render.text.refusal.why import in_short

if TYPE_CHECKING:
    from numalign.analysis.whatif.change import WayOut
    from numalign.analysis.whatif.past import Anew, Held
    from numalign.kubelet.config import KubeletConfig
    from numalign.results.explain import ExplainedPod

MAX_PODS_NAMED = 4
"""How many pods are named that get something else under other settings."""

STRICT = "strict-cpu-reservation"

EFFECTS: Mapping[tuple[str, str], str] = {
    (POLICY, "restricted"): "it takes several NUMA nodes where one is too small even when empty",
    (POLICY, "best-effort"): "it takes the nodes that the kubelet ranks first, and refuses nothing for being apart",
    (POLICY, "none"): "it does not look at NUMA nodes",
    (SCOPE, "container"): "each container may then be on other NUMA nodes than the rest of the pod",
    (SCOPE, "pod"): "NUMA nodes are then chosen once, for the whole pod",
    (MEMORY_POLICY, "None"): "memory is then not counted and not kept on any NUMA node",
    ("full-pcpus-only", "false"): "CPUs are then given out one by one, also those of a core that others have a part of",
    ("full-pcpus-only", "true"): "CPUs are then given out as whole cores only",
    ("align-by-socket", "true"): "all NUMA nodes of one socket are then as good as one for CPUs",
    ("align-by-socket", "false"): "CPUs are then wanted on as few NUMA nodes as will do, not on one socket",
    ("distribute-cpus-across-numa", "true"): "CPUs that take several NUMA nodes are then spread evenly over them",
    ("distribute-cpus-across-numa", "false"): "CPUs then fill one NUMA node before they take from the next",
    ("distribute-cpus-across-cores", "true"): "CPUs are then taken from as many cores as there are",
    ("distribute-cpus-across-cores", "false"): "CPUs are then taken core by core",
    (STRICT, "true"): "CPUs that share with others then never run on reserved ones",
    (STRICT, "false"): "reserved CPUs then count among those that are shared",
    ("prefer-align-cpus-by-uncorecache", "true"): "CPUs are then taken from as few last-level caches as will do",
    ("prefer-align-cpus-by-uncorecache", "false"): "CPUs are then taken without a look at last-level caches",
    ("prefer-closest-numa-nodes", "true"): "of several sets of NUMA nodes those closest to each other are then taken",
    ("prefer-closest-numa-nodes", "false"): "distances between NUMA nodes then do not matter",
}
"""(flag or option, value) -> what it does to a pod that was refused without it."""

ELSEWHERE = "other CPUs, devices or nodes then: the table shows today's places"
"""What pods get that are admitted anew under other settings."""


def settings_text(change: WayOut, config: KubeletConfig) -> Iterator[str]:
    """Say what to set, each by the kubelet's own flag, and what is set now."""
    for flag, text in change.flags.items():
        if flag in (CPU_POLICY_OPTIONS, TOPOLOGY_POLICY_OPTIONS):
            for name, value in _switched(flag, text, config):
                yield f"set {name}={value} in --{flag}"
            continue
        now = {POLICY: config.topology_manager_policy, SCOPE: config.topology_manager_scope}
        now[MEMORY_POLICY] = config.memory_manager_policy
        yield f"set --{flag} {text}" + (f" (now {now[flag]})" if flag in now else "")


def effects(change: WayOut, config: KubeletConfig) -> list[str]:
    """Say what settings do to a pod that was refused without them."""
    pairs = [
        pair
        for flag, text in change.flags.items()
        for pair in (
            _switched(flag, text, config) if flag in (CPU_POLICY_OPTIONS, TOPOLOGY_POLICY_OPTIONS) else [(flag, text)]
        )
    ]
    return [EFFECTS[pair] for pair in pairs if pair in EFFECTS]


def _switched(flag: str, text: str, config: KubeletConfig) -> list[tuple[str, str]]:
    """List the options that a flag turns on or off; it has those that stay, too."""
    topology = flag == TOPOLOGY_POLICY_OPTIONS
    old = (config.topology_manager_policy_options if topology else config.cpu_manager_policy_options) or {}
    pairs = (pair.partition("=") for pair in text.split(",") if pair)
    return [(name, value) for name, _, value in pairs if old.get(name) != value]


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
        yield f"{without} this pod is refused: {next(iter(in_short(fare.otherwise)), fare.otherwise.reason)}"


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
    options = dict(_switched(CPU_POLICY_OPTIONS, change.flags.get(CPU_POLICY_OPTIONS, ""), config))
    return [CPU_FILE] * (STRICT in options) + [MEMORY_FILE] * (MEMORY_POLICY in change.flags)
